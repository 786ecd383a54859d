/* differences.h -- the numbers as which a binary column is stored, and their runs; private to lib/stream. */
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

/* The differences of a column from its predictions, as zigzag numbers, one for each value: into diff; returns how many.
 * top: by record, one more than the maximum before it; NULL if the base does not use it. */
size_t nsx_differences(uint64_t *diff, const struct nsx_numbers *c, const struct nsx_expect *e, const uint64_t *top);

/* Numbers as runs, and the bytes of both encodings. */
struct nsx_runs { size_t n, plain_size, run_size; };

/* Whether so many neighbours are equal, in a sample, that runs may be shorter. */
bool nsx_runs_likely(const uint64_t *diff, size_t n);
struct nsx_runs nsx_find_runs(const uint64_t *diff, size_t n, uint64_t *value, uint64_t *count);

/* Bytes of n numbers one after the other. */
size_t nsx_plain_size(const uint64_t *diff, size_t n);

#endif
