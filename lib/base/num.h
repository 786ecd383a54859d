/* num.h -- numbers to text and back. */
#ifndef NSX_BASE_NUM_H
#define NSX_BASE_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

NSX_BEGIN_C

/* Sums of nanoseconds that may exceed 64 bits. */
typedef unsigned __int128 nsx_u128;

enum { NSX_INT_CHARS = 20, NSX_DOUBLE_CHARS = 32 };

/* Write v in decimal at out (at least NSX_INT_CHARS bytes, no NUL); the end. */
char *nsx_put_int(char *out, int64_t v);

/* Write v with the fewest digits that read back exactly (no trailing ".0"; nan, inf, -inf) at
 * out (at least NSX_DOUBLE_CHARS bytes, no NUL); the end. */
char *nsx_put_double(char *out, double v);

static inline int64_t nsx_max(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t nsx_min(int64_t a, int64_t b) { return a < b ? a : b; }

/* v as a text of that many decimals has it, where a zero has no sign: v, or 0 if it rounds to 0. */
double nsx_unsigned_zero(double v, int decimals);

/* Write n / 1000 exactly: nanoseconds as "12.5" microseconds, with one to three digits after the decimal point. out: at
 * least NSX_DOUBLE_CHARS bytes, no NUL; the end. */
char *nsx_put_thousandths(char *out, int64_t n);

/* Nanoseconds for a sentence: "89.28 s", "1.645 ms", "376.5 us", "12 ns". */
struct nsx_ns_text { char s[48]; };
struct nsx_ns_text nsx_ns_text(double ns);
/* The same for a call with %s. */
#define NSX_NS(ns) nsx_ns_text((double)(ns)).s

/* Nanoseconds for a sentence that must also be exact, for example about dropped time: "89.28 s, 89281234567 ns", "12
 * ns". */
struct nsx_ns_text nsx_ns_exact(int64_t ns);

/* Append the same as nsx_ns_text. */
void nsx_buf_ns(struct nsx_buf *b, double ns);

/* The whole of s as a decimal integer (an optional '-', digits) or a double (as strtod reads it in the C
 * locale); false when it is anything else or does not fit. */
bool nsx_get_int(struct nsx_str s, int64_t *v);
bool nsx_get_double(struct nsx_str s, double *v);

/* "1.5ms", "200", "3min" as nanoseconds; false when it is not a time or does not fit. */
bool nsx_time_parse(const char *s, int64_t *ns);

/* "4096", "512M", "64G" as bytes; K, M, G and T are powers of 1024. False when it is not a size or does not fit. */
bool nsx_size_parse(const char *s, int64_t *bytes);

/* The value of a hexadecimal digit of either case, -1 for any other character. */
static inline int
nsx_hex(char c)
{
	return nsx_is_digit(c) ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : c >= 'a' && c <= 'f' ? c - 'a'
	       + 10 : -1;
}

/* a + b, a - b clamped to the range of int64_t; *clipped (may be NULL) is set if the result was clamped. */
static inline int64_t
nsx_add_sat(int64_t a, int64_t b, bool *clipped)
{
	int64_t sum;

	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	if (clipped)
		*clipped = true;
	return b < 0 ? INT64_MIN : INT64_MAX;
}
int64_t nsx_sub_sat(int64_t a, int64_t b, bool *clipped);

NSX_END_C

#endif
