/* times.c -- see times.h. */
#include "kineto/times.h"

#include "base/num.h"

/* The exponent at s[i]; false if it is none. */
static bool
exponent(struct nsx_str s, size_t i, int *exp)
{
	bool minus = i < s.len && s.ptr[i] == '-';
	int v = 0;

	if (i < s.len && (s.ptr[i] == '-' || s.ptr[i] == '+'))
		i++;
	if (i == s.len)
		return false;
	for (; i < s.len; i++) {
		if (!nsx_is_digit(s.ptr[i]) || v > 1000)
			return false;
		v = v * 10 + (s.ptr[i] - '0');
	}
	*exp = minus ? -v : v;
	return true;
}

bool
nsx_kineto_ns(struct nsx_str s, int64_t *ns, int *whole, int *part)
{
	const int64_t most = INT64_MAX / 10 - 1;
	size_t i = s.len && s.ptr[0] == '-';
	bool minus = i != 0;
	int64_t v = 0;
	int shift = 3, exp = 0;

	*whole = *part = 0;
	for (; i < s.len && nsx_is_digit(s.ptr[i]); i++, ++*whole) {
		if (v > most)
			return false;
		v = v * 10 + (s.ptr[i] - '0');
	}
	if (!*whole)
		return false;
	if (i < s.len && s.ptr[i] == '.')
		for (i++; i < s.len && nsx_is_digit(s.ptr[i]); i++, ++*part)
			/* More digits than fit are far below a nanosecond. */
			if (v <= most) {
				v = v * 10 + (s.ptr[i] - '0');
				shift--;
			}
	if (i < s.len && ((s.ptr[i] | 0x20) != 'e' || !exponent(s, i + 1, &exp)))
		return false;
	for (shift += exp; shift > 0 && v; shift--)
		if (__builtin_mul_overflow(v, (int64_t)10, &v))
			return false;
	for (; shift < 0 && v; shift++)
		v /= 10;
	*ns = minus ? -v : v;
	return true;
}
