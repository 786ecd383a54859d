/* timeline.h -- the activity of a device over all of its time (job/parts), stored so that the sums of any window can be
 * computed. Takes about 10 bytes per run. */
#ifndef NSX_JOB_TIMELINE_H
#define NSX_JOB_TIMELINE_H

#include "base/vec.h"
#include "job/parts.h"
#include "job/removed.h"

/* ns of a window by activity; with `removed`, which is no activity (removed.h), they add up to the part of the window
 * that is within the device's own time. hidden: part of compute during which the device also communicated. */
struct nsx_timeline_sums { int64_t part[NSX_NPARTS], hidden, removed; };

struct nsx_timeline_mark { struct nsx_timeline_sums before; };

/* {0} is empty. Run i is [start[i], start[i + 1]) of one part; the last ends at `end`. */
struct nsx_timeline {
	struct nsx_parts parts;
	NSX_VEC(int64_t) start;
	NSX_VEC(uint8_t) what;                      /* enum nsx_part, or one more value: compute that hides
	                                             * communication, removed time */
	NSX_VEC(struct nsx_timeline_mark) marks;    /* sums before every 64th run */
	struct nsx_timeline_sums sums;              /* of the runs that are complete */
	int64_t end;
};

/* Add an operation, in order of start. removed: of its device, as it is at this operation; NULL: nothing is removed.
 * False when out of memory. */
bool nsx_timeline_add(struct nsx_timeline *t, enum nsx_part part, int64_t start, int64_t end,
                      const struct nsx_removed *removed);

/* After the last operation: add the rest. False when out of memory. */
bool nsx_timeline_finish(struct nsx_timeline *t);

/* Sums over [from, to), clipped to the device's own time. Call after nsx_timeline_finish. */
struct nsx_timeline_sums nsx_timeline_between(const struct nsx_timeline *t, int64_t from, int64_t to);

void nsx_timeline_free(struct nsx_timeline *t);

#endif
