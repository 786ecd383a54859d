/* differences.h -- the numbers that a binary column is stored as, found and put into runs; private to lib/stream. */
#ifndef NSX_STREAM_DIFFERENCES_H
#define NSX_STREAM_DIFFERENCES_H

#include "stream/binary.h"

/* A column to be stored: a number per record, 0 where it is absent, and bit `bit` of has[r] to say so. */
struct nsx_numbers {
	const uint64_t *v, *has;
	int             bit;
	size_t          rows;
	bool            partial;   /* absent somewhere */
};

/* What the differences of a column from what is expected come to, as zigzag numbers, one for each value: into diff, as
 * many as are returned. top: by record, one more than the greatest value before it; NULL where the base does not
 * ask. */
size_t nsx_differences(uint64_t *diff, const struct nsx_numbers *c, const struct nsx_expect *e, const uint64_t *top);

/* Numbers as runs, and the bytes that either way of writing them takes. */
struct nsx_runs { size_t n, plain_size, run_size; };

/* Whether so many neighbours are equal, in a sample, that runs might be the shorter way. */
bool nsx_runs_likely(const uint64_t *diff, size_t n);
struct nsx_runs nsx_find_runs(const uint64_t *diff, size_t n, uint64_t *value, uint64_t *count);

/* Bytes of n numbers one after the other. */
size_t nsx_plain_size(const uint64_t *diff, size_t n);

#endif
