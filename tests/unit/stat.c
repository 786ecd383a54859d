/* stat.c -- exact means and deviations. */
#include "base/stat.h"

#include <math.h>

#include "tap.h"

static struct nsx_stat
of(const int64_t *v, int n)
{
	struct nsx_stat s = { 0 };

	for (int i = 0; i < n; i++)
		nsx_stat_add(&s, v[i]);
	return s;
}

int
main(void)
{
	/* Deviations -15 -5 5 15. */
	struct nsx_stat s = of((int64_t[]){ 100, 110, 120, 130 }, 4);
	ok(s.n == 4 && s.min == 100 && s.max == 130 && nsx_stat_mean(&s) == 115, "count, minimum, maximum, mean");
	ok(fabs(nsx_stat_std(&s) - sqrt(500.0 / 3)) < 1e-12, "deviation of a sample");
	ok(fabs(nsx_stat_std_all(&s) - sqrt(125)) < 1e-12, "deviation of all");

	s = of((int64_t[]){ -3, 3 }, 2);
	ok(s.min == -3 && s.max == 3 && nsx_stat_mean(&s) == 0 && nsx_stat_std_all(&s) == 3, "below 0");
	s = of((int64_t[]){ 7, 7, 7 }, 3);
	ok(nsx_stat_std(&s) == 0, "equal values do not deviate");

	/* Doubles of these squares differ by 2^70 at least. */
	int64_t far = INT64_C(4611686018427387904);
	s = of((int64_t[]){ far, far + 2, far + 4 }, 3);
	ok(nsx_stat_std(&s) == 2, "small deviations far from 0 are exact");
	s = of((int64_t[]){ INT64_MIN, INT64_MIN }, 2);
	ok(nsx_stat_std(&s) == 0 && nsx_stat_mean(&s) == -9223372036854775808.0, "the smallest integer");
	s = of((int64_t[]){ INT64_MIN, INT64_MAX }, 2);
	ok(fabs(nsx_stat_std_all(&s) / 9223372036854775807.5 - 1) < 1e-15, "the greatest deviation");

	/* n * sum of squares beyond 192 bits: 4096 of each end. */
	s = (struct nsx_stat){ 0 };
	for (int i = 0; i < 4096; i++) {
		nsx_stat_add(&s, INT64_MIN);
		nsx_stat_add(&s, INT64_MAX);
	}
	ok(fabs(nsx_stat_std_all(&s) / 9223372036854775807.5 - 1) < 1e-15, "sums of squares beyond 128 bits");
	return done();
}
