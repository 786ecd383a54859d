/* catalogue_index.c -- see catalogue_index.h. */
#include "job/catalogue_index.h"

#include <stdlib.h>
#include <string.h>

/* Numbers up to a little more than the count of entries are stored in an array; a stream that skips many numbers uses
 * the map. */
static bool
is_dense(const struct nsx_cat_index *x, int64_t number)
{
	return number >= 0 && number < (int64_t)x->known * 2 + 64;
}

bool
nsx_cat_index_set(struct nsx_cat_index *x, int64_t number, uint32_t index)
{
	if (is_dense(x, number) && number >= x->ndense) {
		uint32_t n = (uint32_t)number * 2 + 64, *dense = realloc(x->dense, n * sizeof *dense);

		if (!dense)
			return false;
		memset(dense + x->ndense, 0xff, (n - x->ndense) * sizeof *dense);
		x->dense = dense;
		x->ndense = n;
	}
	x->known++;
	if (number >= 0 && number < x->ndense) {
		x->dense[number] = index;
		return true;
	}
	uint32_t *at = nsx_map_at(&x->sparse, (struct nsx_key){ (uint64_t)number, 0 });

	if (at)
		*at = index;
	return at != NULL;
}

void
nsx_cat_index_free(struct nsx_cat_index *x)
{
	free(x->dense);
	nsx_map_free(&x->sparse);
}
