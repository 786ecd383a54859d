/* project.h -- the sweep that gives ranges their parents and projects them onto the GPU. Pure: arrays in, arrays
 * out. */
#ifndef NSX_NSYS_PROJECT_H
#define NSX_NSYS_PROJECT_H

#include "base/err.h"
#include "nsys/trace.h"

/* A CUDA call that launched GPU work: its host interval and what it launched, folded. */
struct nsx_call {
	int64_t  start, end;          /* host ns; end >= start */
	int64_t  gpu_start, gpu_end;  /* first start and last end of its operations */
	uint32_t device;              /* index of their device, NSX_NONE: several */
	int32_t  weight;              /* 1; 0 and -1 keep calls that share a correlation id from being counted twice
	                               * (see project.c) */
	uint32_t range;               /* out: index of the innermost range around it, NSX_NONE: none */
};

/* Fill `parent` of the n ranges of one thread (sorted by start, longer first, id) with indices counted from `base`, set
 * `range` of each call (sorted by start, longer first), and write to spans[i] the projection of range i; spans[i].ops
 * is 0 where nothing was launched. Containment is inclusive at both ends; the tightest container is the parent, among
 * equals the lowest id; of ranges with the same interval the lower id is outside. O((n + ncalls) log) whatever the
 * ranges' nesting. NSX_OK, or NSX_ERR when out of memory. */
int nsx_project(struct nsx_range *ranges, uint32_t n, uint32_t base, struct nsx_call *calls, uint32_t ncalls,
                struct nsx_span *spans);

#endif
