/* escape.c -- strings as text that holds no control character and no byte that is not UTF-8. */
#include "base/escape.h"

#include <stdint.h>
#include <string.h>

#include "base/num.h"

#define ONES  0x0101010101010101ULL
#define HIGHS 0x8080808080808080ULL

size_t
nsx_utf8_char(struct nsx_str s)
{
	const unsigned char *p = (const unsigned char *)s.ptr;
	unsigned char low = 0x80, high = 0xbf;
	size_t len;

	if (s.len == 0)
		return 0;
	if (p[0] < 0x80)
		return 1;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	len = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	/* Overlong forms, surrogates and values above U+10FFFF are recognised by the second byte. */
	switch (p[0]) {
	case 0xe0: low = 0xa0; break;
	case 0xed: high = 0x9f; break;
	case 0xf0: low = 0x90; break;
	case 0xf4: high = 0x8f; break;
	}
	if (s.len < len || p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < len; i++)
		if (p[i] < 0x80 || p[i] > 0xbf)
			return 0;
	return len;
}

/* The letter after the backslash of c's short form, 0 if it has none. */
static char
letter(unsigned char c)
{
	return c == '\t' ? 't' : c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\\' ? '\\' : '\0';
}

/* Copy s to out: false if it needs escapes (or has any byte from 0x7f on). */
static bool
copy_plain(char *out, struct nsx_str s)
{
	uint64_t odd = 0, w;
	size_t i = 0;

	/* Any byte below 0x20, from 0x7f on, or a backslash? A false positive only costs time. */
	for (; s.len - i >= 8; i += 8) {
		memcpy(&w, s.ptr + i, sizeof w);
		memcpy(out + i, &w, sizeof w);
		uint64_t slash = w ^ ONES * '\\';
		odd |= (w - ONES * 0x20) | (w + ONES) | w | (slash - ONES);
	}
	for (; i < s.len; i++) {
		unsigned char c = (unsigned char)(out[i] = s.ptr[i]);

		odd |= c < 0x20 || c >= 0x7f || c == '\\' ? HIGHS : 0;
	}
	return !(odd & HIGHS);
}

/* Write s with its escapes to out, which has space for four bytes per byte; returns the end. */
static char *
put_escaped(char *out, struct nsx_str s)
{
	static const char digits[] = "0123456789ABCDEF";

	while (s.len) {
		unsigned char c = (unsigned char)*s.ptr;
		size_t n = nsx_utf8_char(s), used = n + !n;

		if (letter(c)) {
			*out++ = '\\';
			*out++ = letter(c);
		} else if (n == 0 || c < 0x20 || c == 0x7f || (n > 1 && nsx_utf8_steers(s.ptr, n))) {
			for (size_t i = 0; i < used; i++) {
				c = (unsigned char)s.ptr[i];
				*out++ = '\\';
				*out++ = 'x';
				*out++ = digits[c >> 4];
				*out++ = digits[c & 15];
			}
		} else {
			memcpy(out, s.ptr, n);
			out += n;
		}
		s.ptr += used;
		s.len -= used;
	}
	return out;
}

void
nsx_buf_escaped(struct nsx_buf *b, struct nsx_str s)
{
	if (s.len == 0 || !nsx_buf_room(b, s.len))
		return;
	if (copy_plain(b->ptr + b->len, s)) {
		b->len += s.len;
		return;
	}
	if (s.len > SIZE_MAX / 8)
		b->failed = true;
	if (nsx_buf_room(b, s.len * 4))
		b->len = (size_t)(put_escaped(b->ptr + b->len, s) - b->ptr);
}

/* Bytes that are not UTF-8 stay from `kept` on. */
static void
make_line(char *s, size_t n, unsigned kept)
{
	for (size_t i = 0, used; i < n; i += used) {
		size_t len = nsx_utf8_char((struct nsx_str){ s + i, n - i });
		unsigned char c = (unsigned char)s[i];

		used = len ? len : 1;
		if (c < 0x20 || c == 0x7f || (!len && c < kept) || nsx_utf8_steers(s + i, len))
			memset(s + i, '?', used);
	}
}

void
nsx_one_line(char *s, size_t n)
{
	make_line(s, n, 0xa0);
}

void
nsx_utf8_line(char *s, size_t n)
{
	make_line(s, n, 0x100);
}

/* The number of a character of 2 or 3 bytes. */
static unsigned
code_of(const char *character, size_t n)
{
	const unsigned char *p = (const unsigned char *)character;

	if (n == 2)
		return (p[0] & 0x1fU) << 6 | (p[1] & 0x3fU);
	return (p[0] & 0x0fU) << 12 | (p[1] & 0x3fU) << 6 | (p[2] & 0x3fU);
}

size_t
nsx_unescape(char *field, size_t at, size_t len)
{
	size_t to = at;

	while (at < len) {
		char c = field[at++];

		if (c == '\\') {
			if (at == len)
				return SIZE_MAX;
			c = field[at++];
			if (c == 't')
				c = '\t';
			else if (c == 'n')
				c = '\n';
			else if (c == 'r')
				c = '\r';
			else if (c == 'x' && len - at >= 2 && nsx_hex(field[at]) >= 0 && nsx_hex(field[at + 1]) >= 0) {
				c = (char)(nsx_hex(field[at]) << 4 | nsx_hex(field[at + 1]));
				at += 2;
			} else if (c != '\\')
				return SIZE_MAX;
		}
		field[to++] = c;
	}
	return to;
}

void
nsx_buf_json(struct nsx_buf *b, struct nsx_str s)
{
	nsx_buf_char(b, '"');
	while (s.len) {
		unsigned char c = (unsigned char)*s.ptr;
		size_t n = nsx_utf8_char(s);

		if (n == 0)
			nsx_buf_fmt(b, "\\\\x%02X", c);
		else if (c == '"' || letter(c))
			nsx_buf_fmt(b, "\\%c", c == '"' ? '"' : letter(c));
		else if (c < 0x20 || c == 0x7f)
			nsx_buf_fmt(b, "\\u%04x", c);
		else if (nsx_utf8_steers(s.ptr, n))
			nsx_buf_fmt(b, "\\u%04x", code_of(s.ptr, n));
		else
			nsx_buf_add(b, s.ptr, n);
		n += !n;
		s.ptr += n;
		s.len -= n;
	}
	nsx_buf_char(b, '"');
}

void
nsx_buf_code(struct nsx_buf *b, struct nsx_str s)
{
	size_t run = 0, most = 0;

	for (size_t i = 0; i < s.len; i++) {
		run = s.ptr[i] == '`' ? run + 1 : 0;
		most = run > most ? run : most;
	}
	for (size_t i = 0; i <= most; i++)
		nsx_buf_char(b, '`');
	nsx_buf_c(b, most ? " " : "");
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] == '|')
			nsx_buf_char(b, '\\');
		nsx_buf_char(b, s.ptr[i]);
	}
	nsx_buf_c(b, most ? " " : "");
	for (size_t i = 0; i <= most; i++)
		nsx_buf_char(b, '`');
}

void
nsx_buf_shell(struct nsx_buf *b, struct nsx_str s)
{
	bool plain = s.len > 0;

	for (size_t i = 0; i < s.len; i++) {
		char c = s.ptr[i];

		plain &= nsx_is_word(c) || c == '.' || c == '/' || c == ':' || c == ',' || c == '+' || c == '@'
		         || c == '%' || (c == '-' && i > 0);
	}
	nsx_buf_c(b, plain ? "" : "'");
	for (size_t i = 0; i < s.len; i++)
		if (s.ptr[i] == '\'')
			nsx_buf_c(b, "'\\''");
		else
			nsx_buf_char(b, s.ptr[i]);
	nsx_buf_c(b, plain ? "" : "'");
}
