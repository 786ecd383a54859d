/* starved.h -- how long a device was idle before an operation because its launch had not finished. */
#ifndef NSX_JOB_STARVED_H
#define NSX_JOB_STARVED_H

#include <stdint.h>

#include "stream/kinds.h"

/* Of the idle time [busy, start) before an operation, the ns before the end of its call: the time in which the
 * operation had not been issued. 0 if there is no idle time. The rest is launch latency. For example, the device is
 * busy until 100, the call of the next operation ends at 130, the operation starts at 140: of the 40 ns idle, 30 are
 * starvation and 10 are latency. */
static inline int64_t
nsx_starved(int64_t busy, int64_t start, int64_t call_end)
{
	int64_t to = call_end < start ? call_end : start;

	return to > busy ? to - busy : 0;
}

#endif
