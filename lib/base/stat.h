/* stat.h -- mean and standard deviation of integers, from exact sums: the results do not depend on the order of the
 * values. And percentiles of sorted integers. */
#ifndef NSX_BASE_STAT_H
#define NSX_BASE_STAT_H

#include <stddef.h>
#include <stdint.h>

/* {0} is empty. */
struct nsx_stat {
	int64_t  n, min, max;   /* min and max are undefined without values */
	__int128 sum;
	uint64_t squares[3];    /* sum of squares, lowest digits first */
};

void nsx_stat_add(struct nsx_stat *s, int64_t v);

/* The mean; n must be above 0. */
double nsx_stat_mean(const struct nsx_stat *s);

/* Standard deviations, of a sample (n-1; n must be above 1) and of a whole population (n; n must be above 0). */
double nsx_stat_std(const struct nsx_stat *s);
double nsx_stat_std_all(const struct nsx_stat *s);

/* The p-th percentile, 0 < p <= 100, of n sorted values, n > 0: the ceil(p n / 100)-th smallest (nearest rank), which
 * is one of the values; the median is p = 50. Of 10 20 30 40 50 the 50th is the 3rd smallest, 30, and the 90th the 5th
 * (4.5 rounded up), 50. Of fewer than 100 values the 99th is the largest. */
int64_t nsx_percentile(const int64_t *sorted, size_t n, int p);

/* Its index, from 0. */
size_t nsx_percentile_rank(size_t n, int p);

#endif
