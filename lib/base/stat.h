/* stat.h -- mean and standard deviation of integers, from exact sums: the results do not depend on the order of the
 * values. */
#ifndef NSX_BASE_STAT_H
#define NSX_BASE_STAT_H

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

#endif
