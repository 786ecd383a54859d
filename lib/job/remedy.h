/* remedy.h -- what to do about what a stream does not have, by the profiler that its profiles are of: the options of
 * one mean nothing to the users of another. */
#ifndef NSX_JOB_REMEDY_H
#define NSX_JOB_REMEDY_H

#include "job/catalogue.h"

enum nsx_lack {
	NSX_LACK_WORK,      /* anything on a GPU */
	NSX_LACK_CALLS,     /* calls of the host */
	NSX_LACK_SIZES,     /* of collectives of NCCL */
	NSX_LACK_TOGETHER,  /* which operations are one of these */
	NSX_LACK_MEMBERS,   /* the same, without what it is that is not known */
	NSX_LACK_METRICS,   /* samples of GPU metrics */
	NSX_LACKS
};

/* A clause for a message, without a full stop. Of a stream with profiles of several profilers that of Nsight Systems,
 * if it is among them, for its options record the most; also of one without profiles. */
const char *nsx_remedy(const struct nsx_catalogue *cat, enum nsx_lack of);

/* `text`, which is about calls that were not recorded; of a job on CPUs that there are none. */
const char *nsx_no_calls(const struct nsx_catalogue *cat, const char *text);

#endif
