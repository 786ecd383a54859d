/* counts.h -- the k-th smallest of many durations, most of which are short: those are counted; the others are kept,
 * eight bytes each. */
#ifndef NSX_TABLE_WHATIF_COUNTS_H
#define NSX_TABLE_WHATIF_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

enum { WI_COUNTED = 65536 };

/* {0} is empty. */
struct wi_counts {
	size_t    n;                 /* all of them */
	uint32_t *counts;            /* of each ns below WI_COUNTED; NULL: none yet */
	size_t    ncounted;
	NSX_VEC(int64_t) others;
};

/* Add one. False when out of memory. */
bool nsx_wi_count(struct wi_counts *c, int64_t ns);
/* The k-th smallest, from 0, of n > k. */
int64_t nsx_wi_nth(struct wi_counts *c, size_t k);
/* The number of those that are at most that long, and their sum. */
size_t nsx_wi_sum_to(const struct wi_counts *c, int64_t most, int64_t *sum);
void nsx_wi_counts_free(struct wi_counts *c);

#endif
