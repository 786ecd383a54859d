/* open_intervals.h -- intervals of one thread that hold the present moment: its NVTX ranges, its CUDA calls, its
 * overheads.
 *
 * They are kept by (start, the longer first, id), so the innermost is the last; each knows the earliest end among
 * itself and those before it, so the next end is known at once and intervals that nest are added and closed in constant
 * time. Those that overlap take time in proportion to how many are open.
 *
 *   a [0,9)  b [2,5)  c [4,7)      at 4: a b c   next end 5      at 5: a c   next end 7      at 7: a */
#ifndef NSX_JOB_OPEN_INTERVALS_H
#define NSX_JOB_OPEN_INTERVALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/* start <= t < end, in ns. `what`, `name` and `path` are the caller's. */
struct nsx_open_interval {
	int64_t  start, end, id;
	int64_t  first_end;      /* earliest end of this and those before it */
	uint32_t what, name, path;
	bool     within;         /* the caller's, as `path` is */
};

/* {0} is empty; free(o.list.p) ends it. */
struct nsx_open_intervals { NSX_VEC(struct nsx_open_interval) list; };

/* Add one; *at is its place, from which on `path`s that rest on those before them are to be made anew. False when out
 * of memory. */
bool nsx_open_add(struct nsx_open_intervals *o, struct nsx_open_interval i, size_t *at);

/* The earliest end, INT64_MAX if nothing is open. */
int64_t nsx_open_next_end(const struct nsx_open_intervals *o);

/* Close those that end at t or before. Returns the place from which on the list has changed; its new length if only its
 * end has gone. */
size_t nsx_open_close(struct nsx_open_intervals *o, int64_t t);

/* The innermost: the latest start, of equal ones the shorter, then the higher id; NULL if nothing is open. */
static inline const struct nsx_open_interval *
nsx_open_innermost(const struct nsx_open_intervals *o)
{
	return o->list.n ? &o->list.p[o->list.n - 1] : NULL;
}

#endif
