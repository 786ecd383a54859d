/* counts.c -- counted durations, against a sorted list of them. */
#include "tap.h"

#include <stdlib.h>

#include "base/sort.h"
#include "table/whatif/counts.h"

enum { N = 500 };

/* The sum of those of v that are at most that long; *n: their number. */
static int64_t
sum_to(const int64_t *v, int64_t most, size_t *n)
{
	int64_t sum = 0;

	for (*n = 0; *n < N && v[*n] <= most; ++*n)
		sum += v[*n];
	return sum;
}

/* Durations from least on, of a range that is that wide. */
static void
try(int64_t least, int64_t wide)
{
	struct wi_counts c = { 0 };
	int64_t v[N], sum;
	bool kept = true, same = true, sums = true;
	uint64_t x = 88172645463325252u;
	size_t n;

	for (size_t i = 0; i < N; i++) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		v[i] = least + (int64_t)(x % (uint64_t)wide);
		kept &= nsx_wi_count(&c, v[i]);
	}
	qsort(v, N, sizeof *v, nsx_sort_by_int);
	for (size_t i = 0; i < N; i++) {
		same &= nsx_wi_nth(&c, i) == v[i];
		sums &= nsx_wi_sum_to(&c, v[i], &sum) > i && sum == sum_to(v, v[i], &n)
		        && nsx_wi_sum_to(&c, v[i], &sum) == n;
	}
	ok(kept && c.n == N, "%d durations from %lld on are counted", N, (long long)least);
	ok(same, "each has its place");
	ok(sums, "those up to each are as many, and their sum");
	ok(!nsx_wi_sum_to(&c, least - 1, &sum) && !sum, "none is shorter");
	nsx_wi_counts_free(&c);
}

int
main(void)
{
	try(0, 40);
	try(0, 60000);
	try(65000, 1000);
	try(100000, 1000000);
	try(-1000, 200000);
	return done();
}
