/* sort.c -- sorting by integer keys. */
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

static int
compare_keys(const void *a, const void *b)
{
	const struct nsx_sort_key *x = a, *y = b;

	for (int i = 0; i < 3; i++)
		if (x->k[i] != y->k[i])
			return x->k[i] < y->k[i] ? -1 : 1;
	return (x->i > y->i) - (x->i < y->i);
}

void
nsx_sort_keys(struct nsx_sort_key *keys, size_t n)
{
	if (n > 1)
		qsort(keys, n, sizeof *keys, compare_keys);
}

enum { BITS = 11, BUCKETS = 1 << BITS };

/* Radix sort, least significant digit first, of the digits in which starts differ at all. */
bool
nsx_sort_starts(struct nsx_sort_start *a, size_t n)
{
	uint64_t all = 0;
	bool sorted = true;

	for (size_t i = 1; i < n; i++) {
		all |= (uint64_t)a[i].start ^ (uint64_t)a[0].start;
		sorted = sorted && a[i - 1].start <= a[i].start;
	}
	if (sorted)
		return true;
	struct nsx_sort_start *tmp = malloc(n * sizeof *tmp), *from = a, *to = tmp;
	if (!tmp)
		return false;
	for (int shift = 0; shift < 64; shift += BITS) {
		size_t count[BUCKETS] = { 0 }, at = 0;
		if (!(all >> shift & (BUCKETS - 1)))
			continue;
		/* Flipping the sign bit makes signed order unsigned order. */
		for (size_t i = 0; i < n; i++)
			count[((uint64_t)from[i].start ^ 1ULL << 63) >> shift & (BUCKETS - 1)]++;
		for (size_t b = 0; b < BUCKETS; b++) {
			size_t c = count[b];
			count[b] = at;
			at += c;
		}
		for (size_t i = 0; i < n; i++)
			to[count[((uint64_t)from[i].start ^ 1ULL << 63) >> shift & (BUCKETS - 1)]++] = from[i];
		struct nsx_sort_start *swap = from;
		from = to;
		to = swap;
	}
	if (from != a)
		memcpy(a, from, n * sizeof *a);
	free(tmp);
	return true;
}
