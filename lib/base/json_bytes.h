/* json_bytes.h -- the pieces of a JSON text: white space, strings, bare words. For json.c, and for readers of one form
 * of a text that is millions of values long. */
#ifndef NSX_BASE_JSON_BYTES_H
#define NSX_BASE_JSON_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A word of eight times the byte. */
#define NSX_JSON_EACH(byte) (0x0101010101010101ULL * (unsigned char)(byte))

/* The first byte from p on that is not white space; end: there is none. What follows a newline is indented, so that is
 * done eight bytes at a time. */
static inline const char *
nsx_json_blanks(const char *p, const char *end)
{
	while (p < end && (unsigned char)*p <= ' ' && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')) {
		bool newline = *p++ == '\n';
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
		for (uint64_t w = 0; newline && !w && end - p >= 8; p += w ? __builtin_ctzll(w) / 8 : 8) {
			memcpy(&w, p, 8);
			w ^= NSX_JSON_EACH(' ');
		}
#else
		(void)newline;
#endif
	}
	return p;
}

/* A word in which the top bit of the first byte that is a quote or a backslash is set, and no bit before it. */
static inline uint64_t
nsx_json_stops_(uint64_t w)
{
	const uint64_t ones = NSX_JSON_EACH(1), tops = ones << 7;
	uint64_t quote = w ^ NSX_JSON_EACH('"'), backslash = w ^ NSX_JSON_EACH('\\');

	return ((quote - ones) & ~quote & tops) | ((backslash - ones) & ~backslash & tops);
}

/* The quote that ends a string of which p is the first byte; end: there is none. */
static inline const char *
nsx_json_quote(const char *p, const char *end)
{
	for (;;) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
		uint64_t w, stop = 0;

		for (; end - p >= 8 && !stop; p += stop ? __builtin_ctzll(stop) / 8 : 8) {
			memcpy(&w, p, 8);
			stop = nsx_json_stops_(w);
		}
#endif
		while (p < end && *p != '"' && *p != '\\')
			p++;
		if (p == end || *p == '"')
			return p;
		if (end - p < 2)
			return end;
		p += 2;
	}
}

/* The first byte from p on that is not part of a number or a word. */
static inline const char *
nsx_json_bare(const char *p, const char *end)
{
	while (p < end && (nsx_is_digit(*p) || (unsigned char)((*p | 32) - 'a') < 26 || *p == '.'
	                   || *p == '-' || *p == '+'))
		p++;
	return p;
}

#endif
