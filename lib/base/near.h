/* near.h -- the name that was probably meant where the one asked for does not occur.
 *
 *   asked for aten::liner, there are aten::linear, aten::mm   ->  aten::linear (one letter more)
 *   asked for all_reduce,  there is  c10d::all_reduce_        ->  that (it holds what was asked for) */
#ifndef NSX_BASE_NEAR_H
#define NSX_BASE_NEAR_H

#include "base/map.h"
#include "base/str.h"

enum {
	NSX_NEAR_BYTES = 128,     /* longer names are not compared */
	NSX_NEAR_NAMES = 16384    /* nor are more of them than this: what a mistake costs is bounded */
};

/* { .want = ... } to begin with; want is the caller's, and stays. */
struct nsx_near {
	struct nsx_str    want;
	struct nsx_intern seen;
	uint32_t          best;     /* number of it in seen */
	unsigned          cost;     /* 1 + letters to change, add or take away; 0: none is near */
};

/* A name that occurs, any number of times. Without memory for it, it is not looked at. */
void nsx_near_offer(struct nsx_near *n, struct nsx_str name);

/* Of the names that hold the wanted one or differ from it in a third of its letters at most, whatever their case: the
 * one that differs least, then the shorter, then the first bytewise. Empty if there is none. Lives as long as n. */
struct nsx_str nsx_near_best(const struct nsx_near *n);

void nsx_near_free(struct nsx_near *n);

#endif
