/* windows.h -- the part of each device's time that is analysed by steps: the union of the periods that count
 * (periods.h), of the class in which they take the most time. So it includes the time between steps, and its parts
 * add up to its steps, each measured from its start to the next start.
 *
 *   step 0   step 1   another   step 2   step 3        of one device
 *   |<-- window --->|           |<---->|               two windows: of 0, and of 2; the period of 1 is mixed
 *
 * If there are no steps, the window is all of each device's time and counts as one step. */
#ifndef NSX_JOB_STEPS_WINDOWS_H
#define NSX_JOB_STEPS_WINDOWS_H

#include "job/steps/set.h"

/* Of a device: [from, to) in ns, from < to; of consecutive steps whose periods count. */
struct nsx_step_window {
	uint32_t device;        /* in the catalogue of the steps */
	int64_t  number;        /* of the device */
	int64_t  from, to;
	int64_t  removed;       /* ns of it that nsysx-warmup removed */
	int64_t  steps;         /* number of steps in it; 1 if there are no steps */
	size_t   first;         /* index of the first of these in nsx_step_set.list, the others follow it; 0 if there
	                         * are no steps */
};

/* {0} is empty. */
struct nsx_step_windows {
	uint32_t class;                             /* in nsx_step_set.names; NSX_NONE: there are no steps */
	NSX_VEC(struct nsx_step_window) list;       /* by number of the device, then time; they do not overlap */
};

/* The time of periods of the class of the i-th step of the list, which is by class: of those without a step of another,
 * and of all. The number of its steps. */
size_t nsx_step_class_time(const struct nsx_step_set *s, size_t i, int64_t pure[2]);

/* Make the windows of the set, after nsx_steps_finish. NSX_OK, or NSX_ERR with s->err filled; the caller frees list.p
 * in both cases. */
int nsx_step_windows(const struct nsx_step_set *s, struct nsx_step_windows *w);

/* The window of the device that contains the time; NULL: none. */
const struct nsx_step_window *nsx_step_window_at(const struct nsx_step_windows *w, int64_t device, int64_t time);
/* The first window of the device of which [start, end) takes a part, or that contains start; NULL: none. */
const struct nsx_step_window *nsx_step_window_over(const struct nsx_step_windows *w, int64_t device, int64_t start,
                                                   int64_t end);

#endif
