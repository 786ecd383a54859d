/* starved.h -- how long a device had nothing to do before an operation because nobody had finished launching it. */
#ifndef NSX_JOB_STARVED_H
#define NSX_JOB_STARVED_H

#include <stdint.h>

#include "stream/kinds.h"

/* Of the idle time [busy, start) right before an operation, ns that lie before the end of its call: the time in which
 * it was not issued.
 * 0 if there is no idle time. The rest is latency of the launch. */
static inline int64_t
nsx_starved(int64_t busy, int64_t start, int64_t call_end)
{
	int64_t to = call_end < start ? call_end : start;

	return to > busy ? to - busy : 0;
}

#endif
