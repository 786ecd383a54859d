/* around.h -- the innermost range around each call. */
#ifndef NSX_SOURCE_AROUND_H
#define NSX_SOURCE_AROUND_H

#include "source/trace.h"

/* Fill `range` of the n calls (sorted by start, longer first) with the innermost of the ranges of a
 * thread, which are r[first] up to first + nranges of all, sorted and with parents. False when out of memory. */
bool nsx_around(struct nsx_range *r, uint32_t first, uint32_t nranges, struct nsx_host_call *calls, uint32_t n);

#endif
