/* num.c -- numbers go to text and back unchanged, in as few digits as that takes. */
#include "base/num.h"

#include <float.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "tap.h"

static const char *
int_text(int64_t v)
{
	static char text[NSX_INT_CHARS + 1];

	*nsx_put_int(text, v) = '\0';
	return text;
}

static const char *
double_text(double v)
{
	static char text[NSX_DOUBLE_CHARS + 1];

	*nsx_put_double(text, v) = '\0';
	return text;
}

static bool
reads_int(const char *s, int64_t want)
{
	int64_t v = 12345;

	return nsx_get_int(nsx_str_c(s), &v) && v == want;
}

static bool
refuses_int(const char *s)
{
	int64_t v;

	return !nsx_get_int(nsx_str_c(s), &v);
}

static bool
reads_double(const char *s, double want)
{
	double v = 12345;

	return nsx_get_double(nsx_str_c(s), &v) && memcmp(&v, &want, sizeof v) == 0;
}

static bool
refuses_double(const char *s)
{
	double v;

	return !nsx_get_double(nsx_str_c(s), &v);
}

/* A fixed sequence that visits all magnitudes. */
static uint64_t
next_bits(void)
{
	static uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

static void
ints(void)
{
	char want[32];
	bool same = true;

	is_str(int_text(0), "0", "zero");
	is_str(int_text(9), "9", "one digit");
	is_str(int_text(-10), "-10", "a negative number");
	is_str(int_text(100), "100", "three digits");
	is_str(int_text(INT64_MAX), "9223372036854775807", "the largest");
	is_str(int_text(INT64_MIN), "-9223372036854775808", "the smallest");
	for (int i = 0; i < 100000; i++) {
		int64_t v = (int64_t)next_bits() >> (i % 64);
		snprintf(want, sizeof want, "%" PRId64, v);
		same &= strcmp(int_text(v), want) == 0 && reads_int(want, v);
	}
	ok(same, "100000 integers of every magnitude print as printf prints them and read back");

	ok(reads_int("9223372036854775807", INT64_MAX), "the largest is read");
	ok(reads_int("-9223372036854775808", INT64_MIN), "the smallest is read");
	ok(reads_int("007", 7), "leading zeros are read");
	ok(reads_int("-0", 0), "minus zero is zero");
	ok(refuses_int("9223372036854775808"), "one more than the largest is refused");
	ok(refuses_int("-9223372036854775809"), "one less than the smallest is refused");
	ok(refuses_int("99999999999999999999999"), "far too many digits are refused");
	ok(refuses_int(""), "an empty string is not a number");
	ok(refuses_int("-"), "a sign alone is no number");
	ok(refuses_int("+1") && refuses_int(" 1") && refuses_int("1 ") && refuses_int("1.0") && refuses_int("0x1"),
	   "plus signs, spaces, points and hexadecimal are refused");
}

static bool
is_shortest(double v)
{
	const char *text = double_text(v);
	char fewer[64];

	if (!reads_double(text, v))
		return false;
	/* Zeros that only hold places, before or after, are no digits. */
	int digits = 0, zeros = 0;
	for (const char *p = text; *p && *p != 'e'; p++) {
		if (*p < '0' || *p > '9' || (*p == '0' && digits == 0))
			continue;
		zeros = *p == '0' ? zeros + 1 : 0;
		digits++;
	}
	digits -= zeros;
	/* No decimal of one digit less reads back, neither the nearest nor its neighbours. */
	if (digits < 2)
		return true;
	snprintf(fewer, sizeof fewer, "%.*e", digits - 2, v);
	double near = strtod(fewer, NULL);
	snprintf(fewer, sizeof fewer, "1e%d", (int)floor(log10(fabs(v))) - (digits - 2));
	double step = strtod(fewer, NULL);
	return near != v && near + step != v && near - step != v;
}

/* What printf and strtod make of v: the fewest digits from 15 on that read back. */
static bool
is_as_printed(double v)
{
	char text[64];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	return strcmp(double_text(v), text) == 0 && reads_double(text, v);
}

/* Doubles of usual magnitudes are written and read without printf and strtod. */
static void
usual_doubles(void)
{
	static const char *const texts[] = { "9007199254740993.5", "4503599627370497.5", "4503599627370498.5", "0.3",
	                                     "0000000.0000000000000000001", "1.00000000000000011102230246251565",
	                                     "1234567890123456789", "9999999999999999999", "17.", "-0.0" };
	bool printed = true, read = true;

	for (int i = 0; i < 300000; i++) {
		uint64_t bits = (next_bits() >> 12) | (uint64_t)(1007 + i % 66) << 52;
		double v, ratio = (double)(bits % 1000003) / (double)(1 + bits % 8191);

		/* A power of two has neighbours at two distances. */
		if (!(bits << 12))
			continue;
		memcpy(&v, &bits, sizeof v);
		printed &= is_as_printed(v);
		printed &= ratio == floor(ratio) || is_as_printed(-ratio);
	}
	ok(printed, "doubles from 1e-5 to 1e15 are written as printf writes them, and read as strtod reads them");
	for (int e = -5; e < 16; e++)
		for (int64_t near = -20; near <= 20; near++) {
			double v = pow(10, e);
			int64_t bits;

			memcpy(&bits, &v, sizeof bits);
			bits += near;
			memcpy(&v, &bits, sizeof v);
			printed &= (v == floor(v) && v < 1e15) || is_as_printed(v);
		}
	ok(printed, "and doubles beside powers of ten");
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		read &= reads_double(texts[i], strtod(texts[i], NULL));
	ok(read, "ties, many digits, points at the end");
}

static void
doubles(void)
{
	bool back = true;
	int longer = 0;

	is_str(double_text(0), "0", "zero has no point");
	is_str(double_text(-0.0), "-0", "minus zero keeps its sign");
	is_str(double_text(1500000000), "1500000000", "a whole double has no point");
	is_str(double_text(0.1), "0.1", "a tenth is short");
	is_str(double_text(-2.5), "-2.5", "a negative double");
	is_str(double_text(0.1 + 0.2), "0.30000000000000004", "17 digits where they are needed");
	is_str(double_text(5e-324), "5e-324", "the smallest subnormal takes one digit");
	is_str(double_text(DBL_MAX), "1.7976931348623157e+308", "the largest");
	is_str(double_text(DBL_MIN), "2.2250738585072014e-308", "the smallest normal");
	is_str(double_text(1e15), "1e+15", "1e15");
	is_str(double_text(1e23), "1e+23", "1e23, whose nearest double is below it");
	is_str(double_text(ldexp(1, -44)), "5.684341886080802e-14", "a power of two whose nearest short decimal does not read back");
	is_str(double_text(NAN), "nan", "not a number");
	is_str(double_text(INFINITY), "inf", "infinity");
	is_str(double_text(-INFINITY), "-inf", "minus infinity");
	for (int i = 0; i < 200000; i++) {
		uint64_t bits = next_bits();
		double v;
		memcpy(&v, &bits, sizeof v);
		if (!isfinite(v))
			continue;
		back &= reads_double(double_text(v), v);
		/* Sums of decimals near 1: the usual case. */
		double mean = (double)(bits % 1000000007) / 1000;
		longer += !is_shortest(mean);
	}
	ok(back, "200000 doubles of every magnitude read back");
	is_int(longer, 0, "no shorter decimal would have read back");
	back = true;
	for (int e = -1074; e < 1024; e++)
		back &= reads_double(double_text(ldexp(1, e)), ldexp(1, e));
	ok(back, "every power of two reads back");

	ok(reads_double("1e3", 1000) && reads_double("-.5", -0.5) && reads_double("+2", 2), "strtod's forms are read");
	ok(reads_double("inf", INFINITY), "infinity is read");
	ok(reads_double("1e-400", 0), "a number too small is zero");
	ok(refuses_double("1e400") && refuses_double("-1e400"), "a number too large is refused");
	ok(refuses_double("") && refuses_double(" 1") && refuses_double("1 ") && refuses_double("1,5") && refuses_double("x"),
	   "an empty string, spaces, commas and words are refused");
	ok(!nsx_get_double((struct nsx_str){ "1\0", 2 }, &(double){ 0 }), "a NUL byte is not the end");
	char many[300] = "0.";
	memset(many + 2, '0', 250);
	strcpy(many + 252, "1e250");
	ok(reads_double(many, 0.1), "a number of 257 characters is read");
}

static void
other_locale(void)
{
	if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "de_DE") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8")) {
		skip("a locale with decimal commas has no effect", "no such locale is installed");
		return;
	}
	ok(strcmp(double_text(0.5), "0.5") == 0 && reads_double("0.5", 0.5), "a locale with decimal commas has no effect");
	setlocale(LC_NUMERIC, "C");
}

static void
saturation(void)
{
	bool clipped = false;

	is_int(nsx_add_sat(INT64_MAX - 1, 1, &clipped), INT64_MAX, "a sum that just fits");
	is_int(nsx_sub_sat(INT64_MIN + 1, 1, &clipped), INT64_MIN, "a difference that just fits");
	ok(!clipped, "neither is clipped");
	is_int(nsx_add_sat(INT64_MAX, 1, &clipped), INT64_MAX, "a sum too large");
	ok(clipped, "it is clipped");
	is_int(nsx_add_sat(INT64_MIN, -1, NULL), INT64_MIN, "a sum too small");
	is_int(nsx_sub_sat(INT64_MIN, 1, NULL), INT64_MIN, "a difference too small");
	clipped = false;
	is_int(nsx_sub_sat(0, INT64_MIN, &clipped), INT64_MAX, "a difference too large");
	ok(clipped, "it is clipped");
}

static const char *
thousandths(int64_t n)
{
	static char out[2][NSX_DOUBLE_CHARS + 1];
	static int next;

	next = !next;
	*nsx_put_thousandths(out[next], n) = '\0';
	return out[next];
}

static void
fractions(void)
{
	is_str(thousandths(0), "0.0", "a whole number has one digit behind the point");
	is_str(thousandths(12500), "12.5", "trailing zeros are omitted");
	is_str(thousandths(1010), "1.01", "two digits");
	is_str(thousandths(7), "0.007", "three, zeros before them");
	is_str(thousandths(-1), "-0.001", "negative numbers");
	is_str(thousandths(INT64_MAX), "9223372036854775.807", "the largest number is exact");
	is_str(thousandths(INT64_MIN), "-9223372036854775.808", "so is the smallest");
}

static void
sentences(void)
{
	static const struct { double ns; const char *text; } of[] = {
		{ 0, "0 ns" }, { 999, "999 ns" }, { 999.4, "999 ns" }, { 999.5, "1.000 us" }, { 1000, "1.000 us" },
		{ 999949, "999.9 us" }, { 999950, "1.000 ms" }, { 1e6, "1.000 ms" }, { 999949999, "999.9 ms" },
		{ 999950000, "1.000 s" }, { 9999500000, "10.00 s" }, { 99995000000, "100.0 s" },
		{ -999950, "-1.000 ms" }, { -12, "-12 ns" }, { -0.4, "0 ns" }, { -0.5, "0 ns" }, { -0.6, "-1 ns" }
	};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++)
		is_str(nsx_ns_text(of[i].ns).s, of[i].text, "%.1f ns in a sentence: no four digits before the point",
		       of[i].ns);
}

static void
zeros(void)
{
	static const struct { double v; int decimals; const char *text; } of[] = {
		{ -0.0, 1, "0.0" }, { -0.5, 0, "0" }, { -0.51, 0, "-1" }, { -1.5, 0, "-2" }, { -0.05, 1, "-0.1" },
		{ -0.0499, 1, "0.0" }, { -0.005, 2, "-0.01" }, { -0.0004, 3, "0.000" }, { 0.04, 1, "0.0" }
	};
	char text[32];

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		snprintf(text, sizeof text, "%.*f", of[i].decimals, nsx_unsigned_zero(of[i].v, of[i].decimals));
		is_str(text, of[i].text, "%g with %d decimals: a zero has no sign", of[i].v, of[i].decimals);
	}
}

int
main(void)
{
	fractions();
	zeros();
	ints();
	doubles();
	usual_doubles();
	other_locale();
	saturation();
	sentences();
	return done();
}
