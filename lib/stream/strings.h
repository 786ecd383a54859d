/* strings.h -- the strings of one binary block, assembled only if needed; private to lib/stream. */
#ifndef NSX_STREAM_STRINGS_H
#define NSX_STREAM_STRINGS_H

#include "base/arena.h"
#include "stream/wire.h"

struct nsx_numbers32 { uint32_t *p; size_t n, cap; };

/* Memory that is reused for every block; {0} is empty. */
struct nsx_strings {
	size_t          n;                       /* strings of the block */
	struct nsx_str *p;                       /* those that were needed; the others are undefined */
	unsigned char  *wanted;                  /* n of them, initially 0: 1 requests the string */
	/* Private. */
	size_t          cap;
	struct nsx_numbers32 back, shared, length;
	bool            listed;                  /* the lists have been read */
	struct nsx_unread span[3], text;
	char           *bytes;
	size_t          bytes_cap;
	struct nsx_numbers32 first, stem, at;    /* of strings whose first one was found: where the digits at its end
	                                          * begin, if there are not more of them before; where its own bytes
	                                          * begin */
	char           *kept;                    /* a copy of the text, for nsx_strings_get */
	size_t          kept_cap;
	struct nsx_arena late;                   /* what that assembled */
	size_t          late_bytes;
};

/* Begin a block: s is its Strings message, which must stay in place, with NSX_SLACK readable bytes after it, until the
 * next one; an empty one if it has none. NULL, or what is wrong; "" when out of memory. */
const char *nsx_strings_open(struct nsx_strings *t, struct nsx_unread s);

/* Prepare what the functions below need. NULL, or what is wrong; "" when out of memory. */
const char *nsx_strings_compare(struct nsx_strings *t);

/* Find, in t->first, the first string of those from which the bytes of one come that is equal to it except for digits
 * at the end of both; itself if there is none. It is assembled, so it is no part of a damaged block. NULL, or what is
 * wrong; "" when out of memory. nsx_strings_first: only if that is not known. */
const char *nsx_strings_find_first(struct nsx_strings *t, uint32_t number);
enum { NSX_STRINGS_UNSEEN = INT32_MAX };   /* more than a block has */

static inline const char *
nsx_strings_first(struct nsx_strings *t, uint64_t number)
{
	return t->first.p[number] == NSX_STRINGS_UNSEEN ? nsx_strings_find_first(t, (uint32_t)number) : NULL;
}

/* Assemble one string, whether it was requested or not, whose first one was found. Until the next block; ptr is NULL
 * when out of memory, or of what a block may take. */
struct nsx_str nsx_strings_get(struct nsx_strings *t, size_t number);

/* Assemble the requested strings, with `all` every string; with `check` the strings that are not requested are checked.
 * NULL, or what is wrong; "" when out of memory. */
const char *nsx_strings_join(struct nsx_strings *t, bool all, bool check);

void nsx_strings_free(struct nsx_strings *t);

#endif
