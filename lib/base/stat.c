/* stat.c -- mean and standard deviation of integers, from exact sums, and percentiles. */
#include "base/stat.h"

#include <math.h>

typedef unsigned __int128 u128;

void
nsx_stat_add(struct nsx_stat *s, int64_t v)
{
	uint64_t size = v < 0 ? -(uint64_t)v : (uint64_t)v;
	u128 square = (u128)size * size, low = (u128)s->squares[1] << 64 | s->squares[0];

	s->min = s->n == 0 || v < s->min ? v : s->min;
	s->max = s->n == 0 || v > s->max ? v : s->max;
	s->n++;
	s->sum += v;
	low += square;
	s->squares[0] = (uint64_t)low;
	s->squares[1] = (uint64_t)(low >> 64);
	s->squares[2] += low < square;
}

double
nsx_stat_mean(const struct nsx_stat *s)
{
	return (double)s->sum / (double)s->n;
}

/* n * (sum of squares) - sum^2, which is n^2 times the variance, in four digits of 64 bits: the difference is computed
 * in integers, since its terms may agree in almost all digits. */
static double
spread(const struct nsx_stat *s)
{
	u128 sum = s->sum < 0 ? -(u128)s->sum : (u128)s->sum, carry = 0;
	uint64_t low = (uint64_t)sum, high = (uint64_t)(sum >> 64), digits[4];
	u128 ll = (u128)low * low, lh = (u128)low * high, hh = (u128)high * high;
	uint64_t square[4], borrow = 0;
	double out = 0;

	for (int i = 0; i < 3; i++) {
		carry += (u128)s->squares[i] * (uint64_t)s->n;
		digits[i] = (uint64_t)carry;
		carry >>= 64;
	}
	digits[3] = (uint64_t)carry;
	square[0] = (uint64_t)ll;
	carry = (ll >> 64) + (uint64_t)lh + (uint64_t)lh;
	square[1] = (uint64_t)carry;
	carry = (carry >> 64) + (lh >> 64) + (lh >> 64) + (uint64_t)hh;
	square[2] = (uint64_t)carry;
	square[3] = (uint64_t)((carry >> 64) + (hh >> 64));
	for (int i = 0; i < 4; i++) {
		u128 d = (u128)digits[i] - square[i] - borrow;

		digits[i] = (uint64_t)d;
		borrow = (uint64_t)(d >> 64) & 1;
	}
	for (int i = 4; i-- > 0;)
		out += ldexp((double)digits[i], 64 * i);
	return out;
}

double
nsx_stat_std(const struct nsx_stat *s)
{
	return sqrt(spread(s) / (double)s->n / (double)(s->n - 1));
}

double
nsx_stat_std_all(const struct nsx_stat *s)
{
	return sqrt(spread(s)) / (double)s->n;
}

size_t
nsx_percentile_rank(size_t n, int p)
{
	size_t rank = ((size_t)p * n + 99) / 100;

	return (rank ? rank : 1) - 1;
}

int64_t
nsx_percentile(const int64_t *sorted, size_t n, int p)
{
	return sorted[nsx_percentile_rank(n, p)];
}
