/* catalogue_index.h -- the indices that a catalogue gives to the numbers of records. */
#ifndef NSX_JOB_CATALOGUE_INDEX_H
#define NSX_JOB_CATALOGUE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

/* Numbers to indices; numbers that are nearly dense take 4 bytes each. {0} is empty. */
struct nsx_cat_index { uint32_t *dense; uint32_t ndense, known; struct nsx_map sparse; };

/* The index of a number, NSX_NONE if it has none. */
static inline uint32_t
nsx_cat_index_find(const struct nsx_cat_index *x, int64_t number)
{
	if (number >= 0 && number < x->ndense && x->dense[number] != NSX_NONE)
		return x->dense[number];
	return nsx_map_get(&x->sparse, (struct nsx_key){ (uint64_t)number, 0 });
}

/* Assign an index to a number that has none; false when out of memory. */
bool nsx_cat_index_set(struct nsx_cat_index *x, int64_t number, uint32_t index);

void nsx_cat_index_free(struct nsx_cat_index *x);

#endif
