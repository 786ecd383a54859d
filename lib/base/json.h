/* json.h -- a walk over JSON text: value by value, nothing built, nothing copied. */
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
	NSX_JSON_BAD        /* this is no JSON, or it is nested too deep; so is all that follows */
};

enum { NSX_JSON_DEPTH = 64 };

/* Set text; {0} else. What was met last: key is the name of a member (empty in an array), both strings as they stand
 * between their quotes, with escapes. They point into text. */
struct nsx_json {
	struct nsx_str     text;
	size_t             pos;
	int                depth;
	char               open[NSX_JSON_DEPTH];   /* '{' or '[' */
	bool               begun, first, bad;      /* first: nothing was met yet within the innermost */
	struct nsx_str     key, value;             /* value: of a string, number or word */
};

/* The next value. After NSX_JSON_OBJECT or NSX_JSON_ARRAY what is within follows, up to its NSX_JSON_END. */
enum nsx_json_type nsx_json_next(struct nsx_json *j);

/* Pass over what is within the object or array that was met last. False when it is no JSON. */
bool nsx_json_skip(struct nsx_json *j);

/* The number that a value is, bare or quoted; false if it is another thing. */
bool nsx_json_int(const struct nsx_json *j, enum nsx_json_type type, int64_t *v);

NSX_END_C

#endif
