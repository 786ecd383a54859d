/* steps.c -- percentiles of steps are nearest ranks: compared with a count of values. */
#include "base/stat.h"

#include "tap.h"

enum { N = 1000 };

int
main(void)
{
	int64_t v[N];
	bool good = true;

	for (int i = 0; i < N; i++)
		v[i] = i / 3 * 7;
	for (size_t n = 1; n <= N; n++)
		for (int p = 1; p <= 100; p++) {
			int64_t got = nsx_percentile(v, n, p);
			size_t below = 0, up_to = 0;

			for (size_t i = 0; i < n; i++) {
				below += v[i] < got;
				up_to += v[i] <= got;
			}
			/* The smallest value that p percent do not exceed. */
			good = good && up_to * 100 >= (size_t)p * n && below * 100 < (size_t)p * n;
		}
	ok(good, "the p-th percentile of n is the smallest value that p percent of them do not exceed, for n from 1 to 1000");
	is_int(nsx_percentile((int64_t[]){ 4, 9 }, 2, 50), 4, "half of two is the first");
	is_int(nsx_percentile((int64_t[]){ 4, 9 }, 2, 51), 9, "more than half is the second");
	is_int(nsx_percentile((int64_t[]){ 4 }, 1, 99), 4, "of one value it is that one");
	return done();
}
