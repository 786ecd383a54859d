/* track.h -- what one thread did of one sort at each time: a value from each change to the next. Intervals come in
 * order of start and may nest; the innermost one counts (job/open_intervals.h).
 *
 *   a [0, 9)   b [2, 5)      ->   a from 0, b from 2, a from 5, nothing from 9
 *
 * Changes are kept as long as they may be queried. */
#ifndef NSX_JOB_DOING_TRACK_H
#define NSX_JOB_DOING_TRACK_H

#include "job/open_intervals.h"

/* The values of an interval, which belong to the caller; NSX_NONE and NSX_ABSENT where there is none. */
struct nsx_doing_value { uint32_t what; int64_t ref, id; };

struct nsx_change { int64_t start; struct nsx_doing_value value; };

/* {0} is empty. */
struct nsx_doing_track {
	struct nsx_open_intervals open;              /* `what` is an index of values */
	NSX_VEC(struct nsx_doing_value) values;      /* of open intervals */
	NSX_VEC(uint32_t) unused;
	NSX_VEC(struct nsx_change) list;             /* from head on */
	size_t  head;
	int64_t settled;
	int64_t crowded;                             /* intervals that were ignored because too many were open */
};

/* Add an interval. id decides between intervals of equal times: the higher one is inside. False when out of memory. */
bool nsx_track_add(struct nsx_doing_track *t, int64_t start, int64_t end, struct nsx_doing_value value);

/* The changes up to `to` are final. False when out of memory. */
bool nsx_track_settle(struct nsx_doing_track *t, int64_t to);

/* The index in `list` of the change that is in force at the time: its value is nothing (what NSX_NONE, ref and id
 * NSX_ABSENT) before the first, for which this returns SIZE_MAX. Settled that far. */
size_t nsx_track_at(const struct nsx_doing_track *t, int64_t time);

/* No time before this will be queried any more. */
void nsx_track_forget(struct nsx_doing_track *t, int64_t time);

void nsx_track_free(struct nsx_doing_track *t);

#endif
