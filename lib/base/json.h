/* json.h -- iterate over the values of a JSON text: nothing is built, nothing is copied. */
#ifndef NSX_BASE_JSON_H
#define NSX_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

NSX_BEGIN_C

enum nsx_json_type {
	NSX_JSON_END,       /* the end of the object or array, or of the text */
	/* word: true, false, null */
	NSX_JSON_OBJECT, NSX_JSON_ARRAY, NSX_JSON_STRING, NSX_JSON_NUMBER, NSX_JSON_WORD,
	NSX_JSON_BAD        /* not JSON, or nested too deep; every later call returns it too */
};

enum { NSX_JSON_DEPTH = 64 };

/* Set text, the rest is {0}. key and value belong to the value returned last: key is the name of a member (empty in an
 * array); both are the bytes between the quotes, with escapes. They point into text. */
struct nsx_json {
	struct nsx_str     text;
	size_t             pos;
	int                depth;
	char               open[NSX_JSON_DEPTH];   /* '{' or '[' */
	bool               begun, first, bad;      /* first: nothing was returned yet within the innermost object or
	                                            * array */
	struct nsx_str     key, value;             /* value: of a string, number or word */
};

/* The next value. After NSX_JSON_OBJECT or NSX_JSON_ARRAY come its members, up to its NSX_JSON_END. */
enum nsx_json_type nsx_json_next(struct nsx_json *j);

/* Skip the members of the object or array that was returned last. False when it is not JSON. */
bool nsx_json_skip(struct nsx_json *j);

/* Append a string's bytes between the quotes without escapes, as UTF-8: of half a surrogate pair, and of an escape that
 * JSON does not have, the bytes as they are. */
void nsx_json_unescape(struct nsx_buf *b, struct nsx_str s);

/* The value as a number, bare or quoted; false if it is not a number. */
bool nsx_json_int(const struct nsx_json *j, enum nsx_json_type type, int64_t *v);

NSX_END_C

#endif
