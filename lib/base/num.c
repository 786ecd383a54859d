/* num.c -- numbers to text and back, exactly and without regard to the locale. */
#include "base/num.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char pairs[] =
	"00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
	"495051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

char *
nsx_put_int(char *out, int64_t v)
{
	uint64_t u = v < 0 ? -(uint64_t)v : (uint64_t)v;
	char digits[NSX_INT_CHARS];
	char *p = digits + sizeof digits;

	while (u >= 100) {
		p -= 2;
		memcpy(p, pairs + u % 100 * 2, 2);
		u /= 100;
	}
	if (u >= 10) {
		p -= 2;
		memcpy(p, pairs + u * 2, 2);
	} else {
		*--p = (char)('0' + u);
	}
	if (v < 0)
		*out++ = '-';
	size_t n = (size_t)(digits + sizeof digits - p);
	memcpy(out, p, n);
	return out + n;
}

/* printf and strtod follow the thread's locale; an embedding program may have set one. */
static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void
make_c_locale(void)
{
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* The locale before, for leave_c_locale. */
static locale_t
enter_c_locale(void)
{
	pthread_once(&c_locale_once, make_c_locale);
	return uselocale(c_locale);
}

static void
leave_c_locale(locale_t before)
{
	if (before != (locale_t)0)
		uselocale(before);
}

/* text (d.ddde[+-]xx) with one added to the last digit of its mantissa; false when that carries out of it. */
static bool
bump_last_digit(char *text)
{
	char *p = strchr(text, 'e');

	while (p && p-- > text) {
		if (*p == '.' || *p == '-')
			continue;
		if (*p != '9') {
			++*p;
			return true;
		}
		*p = '0';
	}
	return false;
}

/* The maximum that printf may write for 17 digits, as the compiler computes it. */
enum { PRINT_CHARS = 64 };

/* v at text with the fewest digits that read back; v is finite. */
static void
shortest(char text[PRINT_CHARS], double v)
{
	int exponent;

	/* Every decimal of 15 digits is unchanged by conversion to a normal double and back, and %g drops zeros at
	 * the end; a subnormal may need any number of digits. */
	for (int digits = fabs(v) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
		snprintf(text, PRINT_CHARS, "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			return;
		/* The doubles above a power of two are twice as far apart as those below it, so a decimal
		 * above may read back when the nearest one, below, does not. */
		if (digits == 16 && fabs(frexp(v, &exponent)) == 0.5) {
			snprintf(text, PRINT_CHARS, "%.15e", v);
			if (bump_last_digit(text) && strtod(text, NULL) == v)
				return;
		}
	}
}

/* 10^0 to 10^19. */
static const uint64_t tens[] = {
	1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000,
	1000000000000, 10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000,
	1000000000000000000, 10000000000000000000U
};

/* v = mantissa / 2^shift; in units of 10^-places it is scaled / 2^shift, a step to the next double unit / 2^shift. */
struct scaled { uint64_t mantissa; int shift, places; unsigned __int128 scaled, unit; };

static void
scale_to(struct scaled *s, int places)
{
	s->places = places;
	s->unit = (unsigned __int128)tens[places / 2] * tens[places - places / 2];
	s->scaled = s->unit * s->mantissa;
}

/* v, from 1e-4 to 1e15, with 17 digits before the point. False of a power of two, below which doubles are closer. */
static bool
scale(struct scaled *s, double v)
{
	uint64_t bits, low;
	int places = 20;

	memcpy(&bits, &v, sizeof bits);
	low = bits & ((UINT64_C(1) << 52) - 1);
	s->mantissa = low | UINT64_C(1) << 52;
	s->shift = 1075 - (int)(bits >> 52);
	for (double top = 1e-3; v >= top && places > 2; top *= 10)
		places--;
	scale_to(s, places);
	/* Where v is that close to a power of 10. */
	if (s->scaled >> s->shift >= tens[17])
		scale_to(s, places - 1);
	else if (s->scaled >> s->shift < tens[16])
		scale_to(s, places + 1);
	return low != 0;
}

/* The nearest number of that many digits, 17 at most: true if it reads back. */
static bool
round_to(const struct scaled *s, int digits, uint64_t *number)
{
	uint64_t all = (uint64_t)(s->scaled >> s->shift), unit = tens[17 - digits];
	unsigned __int128 whole = (unsigned __int128)unit << s->shift;
	unsigned __int128 rest = s->scaled - ((unsigned __int128)(all - all % unit) << s->shift), off = rest;

	*number = all / unit;
	if (2 * rest > whole || (2 * rest == whole && *number & 1)) {
		++*number;
		off = whole - rest;
	}
	/* Less than half a step between doubles away; half a step from an even one. */
	return 2 * off < s->unit || (2 * off == s->unit && !(s->mantissa & 1));
}

/* What `shortest` writes of most numbers, in exact arithmetic. NULL of others. */
static char *
quick(char *out, double v)
{
	struct scaled s;
	uint64_t number;
	int digits = 15, before;
	char text[NSX_INT_CHARS];

	if (!(fabs(v) >= 1e-4 && fabs(v) < 1e14) || !scale(&s, fabs(v)))
		return NULL;
	while (!round_to(&s, digits, &number) && digits < 17)
		digits++;
	before = 17 - s.places;
	if (number == tens[digits]) {
		number /= 10;
		before++;
	}
	for (; digits > 1 && digits > before && number % 10 == 0; digits--)
		number /= 10;
	nsx_put_int(text, (int64_t)number);
	if (v < 0)
		*out++ = '-';
	if (before <= 0)
		*out++ = '0';
	for (int i = 0; i < before; i++)
		*out++ = text[i];
	if (digits > before)
		*out++ = '.';
	for (int i = before; i < 0; i++)
		*out++ = '0';
	for (int i = before < 0 ? 0 : before; i < digits; i++)
		*out++ = text[i];
	return out;
}

char *
nsx_put_thousandths(char *out, int64_t n)
{
	uint64_t u = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
	unsigned rest = (unsigned)(u % 1000);

	if (n < 0)
		*out++ = '-';
	out = nsx_put_int(out, (int64_t)(u / 1000));
	*out++ = '.';
	*out++ = (char)('0' + rest / 100);
	if (rest % 100)
		*out++ = (char)('0' + rest / 10 % 10);
	if (rest % 10)
		*out++ = (char)('0' + rest % 10);
	return out;
}

char *
nsx_put_double(char *out, double v)
{
	char text[PRINT_CHARS];

	if (isnan(v))
		return (char *)memcpy(out, "nan", 3) + 3;
	if (isinf(v)) {
		size_t n = v < 0 ? 4 : 3;
		return (char *)memcpy(out, v < 0 ? "-inf" : "inf", n) + n;
	}
	if (fabs(v) < 1e15 && v == (double)(int64_t)v && !(v == 0 && signbit(v)))
		return nsx_put_int(out, (int64_t)v);
	char *end = quick(out, v);
	if (end)
		return end;

	locale_t before = enter_c_locale();
	shortest(text, v);
	leave_c_locale(before);
	size_t n = strlen(text);
	memcpy(out, text, n);
	return out + n;
}

bool
nsx_get_int(struct nsx_str s, int64_t *v)
{
	const char *p = s.ptr, *end = s.ptr + s.len;
	bool negative = s.len > 0 && *p == '-';
	/* The magnitude of INT64_MIN is one more than INT64_MAX. */
	uint64_t limit = (uint64_t)INT64_MAX + negative, u = 0;

	if (negative)
		p++;
	if (p == end)
		return false;
	for (; p < end; p++) {
		unsigned d = (unsigned)(unsigned char)*p - '0';
		if (d > 9 || u > (limit - d) / 10)
			return false;
		u = u * 10 + d;
	}
	*v = negative ? (int64_t)-u : (int64_t)u;
	return true;
}

/* The double nearest to number / 10^places, number not 0, places 19 at most; of two the even one. */
static double
divided(uint64_t number, int places)
{
	int shift = 64 + __builtin_clzll(number);
	unsigned __int128 all = (unsigned __int128)number << shift, q = all / tens[places];
	bool rest = q * tens[places] != all;
	int more = (q >> 64 ? 128 - __builtin_clzll((uint64_t)(q >> 64)) : 64 - __builtin_clzll((uint64_t)q)) - 53;
	unsigned __int128 half = (unsigned __int128)1 << (more - 1), low = q & (2 * half - 1);
	uint64_t mantissa = (uint64_t)(q >> more);

	mantissa += low > half || (low == half && (rest || mantissa & 1));
	return ldexp((double)mantissa, more - shift);
}

/* What strtod reads of most numbers, in exact arithmetic: of digits with a point, up to 19. False of others. */
static bool
quick_get(struct nsx_str s, double *v)
{
	const char *p = s.ptr, *end = s.ptr + s.len, *point = NULL;
	uint64_t number = 0;
	bool negative = p < end && *p == '-';

	p += negative;
	const char *from = p;
	for (; p < end; p++) {
		unsigned digit = (unsigned)(unsigned char)*p - '0';

		if (*p == '.' && !point)
			point = p;
		else if (digit > 9 || number >= tens[18])
			return false;
		else
			number = number * 10 + digit;
	}
	size_t places = point ? (size_t)(end - point - 1) : 0;
	if (end - from <= (point != NULL) || number == 0 || places > 19)
		return false;
	*v = negative ? -divided(number, (int)places) : divided(number, (int)places);
	return true;
}

bool
nsx_get_double(struct nsx_str s, double *v)
{
	char room[128], *text = room, *end;

	if (quick_get(s, v))
		return true;
	/* strtod would skip white space before the number. */
	if (s.len == 0 || (unsigned char)s.ptr[0] <= ' ')
		return false;
	if (s.len >= sizeof room && !(text = malloc(s.len + 1)))
		return false;
	memcpy(text, s.ptr, s.len);
	text[s.len] = '\0';

	locale_t before = enter_c_locale();
	errno = 0;
	double got = strtod(text, &end);
	bool fits = !(errno == ERANGE && fabs(got) > 1);   /* a tiny one becomes subnormal or 0 */
	leave_c_locale(before);

	bool whole = end == text + s.len;
	if (text != room)
		free(text);
	if (!whole || !fits)
		return false;
	*v = got;
	return true;
}

int64_t
nsx_sub_sat(int64_t a, int64_t b, bool *clipped)
{
	int64_t diff;

	if (!__builtin_sub_overflow(a, b, &diff))
		return diff;
	if (clipped)
		*clipped = true;
	return b < 0 ? INT64_MAX : INT64_MIN;
}

/* Digits at *s, *n of them, as a number; false when it does not fit. */
static bool
digits(const char **s, int64_t *v, int *n)
{
	*v = 0;
	for (*n = 0; nsx_is_digit(**s); ++*s, ++*n)
		if (__builtin_mul_overflow(*v, 10, v) || __builtin_add_overflow(*v, **s - '0', v))
			return false;
	return true;
}

bool
nsx_time_parse(const char *s, int64_t *ns)
{
	static const struct { const char *name; int64_t ns; } units[] = {
		{ "", 1 }, { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
		{ "min", INT64_C(60000000000) }, { "h", INT64_C(3600000000000) },
	};
	bool negative = *s == '-';
	int64_t whole, part = 0, scale = 1, unit = 0;
	int n, decimals = 0;

	s += negative;
	if (!digits(&s, &whole, &n))
		return false;
	if (*s == '.') {
		s++;
		if (!digits(&s, &part, &decimals))
			return false;
	}
	if (n + decimals == 0)
		return false;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(s, units[i].name) == 0)
			unit = units[i].ns;
	for (; decimals > 0 && part % 10 == 0; decimals--)
		part /= 10;
	for (int i = 0; i < decimals; i++)
		if (__builtin_mul_overflow(scale, 10, &scale))
			return false;
	/* Each factor fits 64 bits, so no product exceeds 128. Half a nanosecond is not a valid time. */
	__int128 fraction = (__int128)part * unit, v = (__int128)whole * unit + fraction / scale;
	if (unit == 0 || fraction % scale != 0 || v > INT64_MAX)
		return false;
	*ns = negative ? -(int64_t)v : (int64_t)v;
	return true;
}

bool
nsx_size_parse(const char *s, int64_t *bytes)
{
	static const char units[] = "KMGT";
	const char *unit;
	int n, shift = 0;

	if (!digits(&s, bytes, &n) || n == 0)
		return false;
	if (*s && (unit = strchr(units, *s))) {
		shift = 10 * (int)(unit - units + 1);
		s++;
	}
	if (*s || *bytes > INT64_MAX >> shift)
		return false;
	*bytes <<= shift;
	return true;
}

double
nsx_unsigned_zero(double v, int decimals)
{
	/* Half a unit rounds to the even digit, 0, if it is exact: only 0.5 is. */
	return fabs(v) < 0.5 * pow(10, -decimals) || (!decimals && fabs(v) == 0.5) ? 0 : v;
}

struct nsx_ns_text
nsx_ns_text(double ns)
{
	static const char *const units[] = { "us", "ms", "s" };
	struct nsx_ns_text text;
	double v = ns < 0 ? -ns : ns, scale = 1e3;
	int unit = 0;

	if (v < 999.5) {
		snprintf(text.s, sizeof text.s, "%.0f ns", nsx_unsigned_zero(ns, 0));
		return text;
	}
	/* As in tables: what rounding brings to the next unit is written so. */
	for (; unit < 2 && v / scale >= 999.95; unit++)
		scale *= 1000;
	v /= scale;
	snprintf(text.s, sizeof text.s, "%.*f %s", v < 9.9995 ? 3 : v < 99.995 ? 2 : 1, ns / scale, units[unit]);
	return text;
}

struct nsx_ns_text
nsx_ns_exact(int64_t ns)
{
	struct nsx_ns_text text = { "" };
	int n = 0;

	if (ns >= 10000 || ns <= -10000)
		n = snprintf(text.s, sizeof text.s, "%s, ", nsx_ns_text((double)ns).s);
	snprintf(text.s + n, sizeof text.s - (size_t)n, "%" PRId64 " ns", ns);
	return text;
}

void
nsx_buf_ns(struct nsx_buf *b, double ns)
{
	nsx_buf_c(b, nsx_ns_text(ns).s);
}
