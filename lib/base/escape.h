/* escape.h -- strings as text that holds no control character and no byte that is not UTF-8. */
#ifndef NSX_BASE_ESCAPE_H
#define NSX_BASE_ESCAPE_H

#include "base/str.h"

NSX_BEGIN_C

/* Append s as the stream's text spells it: \t \n \r \\, and \xHH for other control characters and for
 * bytes that are not UTF-8. */
void nsx_buf_escaped(struct nsx_buf *b, struct nsx_str s);

/* Append s as a JSON string, quotes included. Bytes that are not UTF-8, which JSON cannot hold, become the four
 * characters \xHH. */
void nsx_buf_json(struct nsx_buf *b, struct nsx_str s);

/* Bytes at the start of s that are one character of UTF-8 (no overlong forms, no surrogates, at most
 * U+10FFFF); 0 if they are none. */
size_t nsx_utf8_char(struct nsx_str s);

NSX_END_C

#endif
