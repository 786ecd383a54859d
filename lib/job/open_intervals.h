/* open_intervals.h -- the intervals of one thread that are open at the current time of a sweep: its NVTX ranges, its
 * CUDA calls, its overheads.
 *
 * They are sorted by (start, the longer first, id), so the innermost is the last; each stores the earliest end among
 * itself and those before it, so the next end needs no search, and intervals that nest are added and closed in constant
 * time. For overlapping intervals the time is proportional to the number of open ones.
 *
 *   a [0,9)  b [2,5)  c [4,7)      at 4: a b c   next end 5      at 5: a c   next end 7      at 7: a */
#ifndef NSX_JOB_OPEN_INTERVALS_H
#define NSX_JOB_OPEN_INTERVALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/* start <= t < end, in ns. `what`, `name` and `path` belong to the caller. */
struct nsx_open_interval {
	int64_t  start, end, id;
	int64_t  first_end;      /* earliest end of this and those before it */
	uint32_t what, name, path;
	bool     within;         /* belongs to the caller, as `path` does */
};

/* {0} is empty; free(o.list.p) ends it. */
struct nsx_open_intervals { NSX_VEC(struct nsx_open_interval) list; };

/* Add one; *at is its position; `path`s from there on that depend on earlier ones must be computed again. False when
 * out of memory. */
bool nsx_open_add(struct nsx_open_intervals *o, struct nsx_open_interval i, size_t *at);

/* The earliest end, INT64_MAX if nothing is open. */
int64_t nsx_open_next_end(const struct nsx_open_intervals *o);

/* Close those that end at t or before. Returns the position from which on the list has changed; its new length if only
 * elements at its end were removed. */
size_t nsx_open_close(struct nsx_open_intervals *o, int64_t t);

/* The innermost: the latest start, of equal ones the shorter, then the higher id; NULL if nothing is open. */
static inline const struct nsx_open_interval *
nsx_open_innermost(const struct nsx_open_intervals *o)
{
	return o->list.n ? &o->list.p[o->list.n - 1] : NULL;
}

#endif
