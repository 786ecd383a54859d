/* step_of.h -- a step as one device ran it. */
#ifndef NSX_JOB_STEP_OF_H
#define NSX_JOB_STEP_OF_H

#include "job/timeline.h"

/* A step on a device. */
struct nsx_step_of {
	uint32_t class;            /* in nsx_step_set.names */
	uint32_t device;           /* in the catalogue */
	uint32_t step;             /* in nsx_step_set.steps */
	int64_t  number;           /* 0, 1, ... of its class in the job, by start (step_numbers.h) */
	int64_t  first, last;      /* start of its first operation, end of its last */
	int64_t  period;           /* from its start to the start of the next one; NSX_ABSENT for the last */
	int64_t  ops, helper;      /* number of operations; those launched by other threads */
	struct nsx_timeline_sums sums;   /* over [first, last): all activity of the device; NSX_ABSENT if it has no
	                                  * operations */
};

#endif
