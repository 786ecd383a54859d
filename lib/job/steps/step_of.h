/* step_of.h -- a step as one device ran it. */
#ifndef NSX_JOB_STEPS_STEP_OF_H
#define NSX_JOB_STEPS_STEP_OF_H

#include "job/activity.h"

/* A step on a device. */
struct nsx_step_of {
	uint32_t class;            /* in nsx_step_set.names */
	uint32_t device;           /* in the catalogue */
	uint32_t step;             /* in nsx_step_set.steps */
	int64_t  number;           /* 0, 1, ... of its class in the job, by start (numbers.h) */
	int64_t  first, last;      /* start of its first operation, end of its last */
	int64_t  next;             /* start of the next step of the class on the device; NSX_ABSENT for the last */
	int64_t  period;           /* from first to next, without removed time; NSX_ABSENT for the last */
	int64_t  ops, helper;      /* number of operations; those launched by other threads */
	int64_t  tag;              /* the number that its name carries; NSX_ABSENT: none */
	int64_t  met[2];           /* first and last end of its operations that communicate; NSX_ABSENT: none */
	struct nsx_timeline_sums sums;   /* over [first, next): all activity of the device, which adds up to the
	                                  * period; NSX_ABSENT without a period, or if the device has no operations */
	uint32_t other;            /* in nsx_step_set.names: the class of another step in the period; NSX_NONE: none */
	bool     kept;             /* the period counts (periods.h) */
};

#endif
