/* step_windows.h -- the part of each device's time that is analysed by steps: from the start of its first step to the
 * start of its last one, of the class that covers the most time. So a window includes the time between steps, and its
 * parts add up to its steps, each measured from its start to the next start.
 *
 *   step 0   step 1   step 2   step 3        of one device
 *   |<------- the window ----->|             three steps
 *
 * If there are no steps, the window is all of each device's time and counts as one step. */
#ifndef NSX_JOB_STEP_WINDOWS_H
#define NSX_JOB_STEP_WINDOWS_H

#include "job/steps.h"

/* Of a device: [from, to) in ns, from < to. */
struct nsx_step_window {
	uint32_t device;        /* in the catalogue of the steps */
	int64_t  number;        /* of the device */
	int64_t  from, to;
	int64_t  steps;         /* number of steps in it; 1 if there are no steps */
	size_t   first;         /* index of the first of these in nsx_step_set.list, the others follow it; 0 if there
	                         * are no steps */
};

/* {0} is empty. */
struct nsx_step_windows {
	uint32_t class;                             /* in nsx_step_set.names; NSX_NONE: there are no steps */
	NSX_VEC(struct nsx_step_window) list;       /* by number of the device */
};

/* Make the windows of the set, after nsx_steps_finish. NSX_OK, or NSX_ERR with s->err filled; the caller frees list.p
 * in both cases. */
int nsx_step_windows(const struct nsx_step_set *s, struct nsx_step_windows *w);

#endif
