/* escape.h -- strings as text that holds no control character and no byte that is not UTF-8. */
#ifndef NSX_BASE_ESCAPE_H
#define NSX_BASE_ESCAPE_H

#include <stdbool.h>

#include "base/str.h"

NSX_BEGIN_C

/* Append s as the text encoding of the stream writes it: \t \n \r \\, and \xHH for other control characters, for
 * characters that control a terminal and for bytes that are not UTF-8. */
void nsx_buf_escaped(struct nsx_buf *b, struct nsx_str s);

/* Decode that in place: `len` bytes, of which those before `at` have no backslash. The new length; SIZE_MAX for an
 * invalid escape. */
size_t nsx_unescape(char *field, size_t at, size_t len);

/* Append s as a JSON string, quotes included; control characters, and characters that steer a terminal, as \uHHHH.
 * Bytes that are not UTF-8, which JSON cannot hold, become the four characters \xHH. */
void nsx_buf_json(struct nsx_buf *b, struct nsx_str s);

/* Append s, which is one line, as code in GitHub's Markdown, also in a table cell: enclosed in more backquotes than any
 * run of them in s, and with '|' as "\\|", as tables require. */
void nsx_buf_code(struct nsx_buf *b, struct nsx_str s);

/* Append s as one word of a shell's command: as it is if no shell reads anything else in it, otherwise in single
 * quotes, with ' as '\\''. */
void nsx_buf_shell(struct nsx_buf *b, struct nsx_str s);

/* Bytes at the start of s that are one character of UTF-8 (no overlong forms, no surrogates, at most
 * U+10FFFF); 0 if they are none. */
size_t nsx_utf8_char(struct nsx_str s);

/* Whether a character of n > 1 bytes is a control character (U+0080 to U+009F) or changes the direction of text
 * (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069): a name must not do that to a terminal. */
static inline bool
nsx_utf8_steers(const void *character, size_t n)
{
	const unsigned char *p = (const unsigned char *)character;

	if (n == 2)
		return (p[0] == 0xc2 && p[1] < 0xa0) || (p[0] == 0xd8 && p[1] == 0x9c);
	if (n != 3 || p[0] != 0xe2)
		return false;
	return (p[1] == 0x80 && (p[2] == 0x8e || p[2] == 0x8f || (p[2] >= 0xaa && p[2] <= 0xae)))
	       || (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9);
}

/* Make n bytes of text one printable line: replace by '?' each byte that nsx_buf_escaped would escape. Backslashes
 * stay, and in nsx_one_line, for messages, also bytes from 0xa0 on that are not UTF-8, as in the name of a file; text
 * of nsx_utf8_line is UTF-8. */
void nsx_one_line(char *s, size_t n);
void nsx_utf8_line(char *s, size_t n);

NSX_END_C

#endif
