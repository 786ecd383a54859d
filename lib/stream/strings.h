/* strings.h -- the strings of one binary block, assembled only if needed; private to lib/stream. */
#ifndef NSX_STREAM_STRINGS_H
#define NSX_STREAM_STRINGS_H

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
	struct nsx_unread span[3], text;
	char           *bytes;
	size_t          bytes_cap;
};

/* Begin a block: s is its Strings message, which must stay in place, with NSX_SLACK readable bytes after it, until the
 * next one; an empty one if it has none. NULL, or what is wrong; "" when out of memory. */
const char *nsx_strings_open(struct nsx_strings *t, struct nsx_unread s);

/* Assemble the requested strings, with `all` every string; with `check` the strings that are not requested are checked.
 * NULL, or what is wrong; "" when out of memory. */
const char *nsx_strings_join(struct nsx_strings *t, bool all, bool check);

void nsx_strings_free(struct nsx_strings *t);

#endif
