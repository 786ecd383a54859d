/* step_windows.h -- what of each device's time is looked at where steps are: from the start of its first step to the
 * start of its last, of the class that covers the most time. So the time between steps is in it, and the parts of a
 * window add up to its steps, from start to start.
 *
 *   step 0   step 1   step 2   step 3        of one device
 *   |<------- the window ----->|             three steps
 *
 * Where there are no steps it is all of each device's time, which counts as one. */
#ifndef NSX_JOB_STEP_WINDOWS_H
#define NSX_JOB_STEP_WINDOWS_H

#include "job/steps.h"

/* Of a device: [from, to) in ns, from < to. */
struct nsx_step_window {
	uint32_t device;        /* in the catalogue of the steps */
	int64_t  number;        /* of the device */
	int64_t  from, to;
	int64_t  steps;         /* that it holds; 1 where it is no steps' */
	size_t   first;         /* of these in nsx_step_set.list, the others follow; of no steps: 0 */
};

/* {0} is empty. */
struct nsx_step_windows {
	uint32_t class;                             /* in nsx_step_set.names; NSX_NONE: there are no steps */
	NSX_VEC(struct nsx_step_window) list;       /* by number of the device */
};

/* Make the windows of the set, which nsx_steps_finish has ended. NSX_OK, or NSX_ERR with s->err filled; list.p is to be
 * freed in both cases. */
int nsx_step_windows(const struct nsx_step_set *s, struct nsx_step_windows *w);

#endif
