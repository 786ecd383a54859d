/* hidden.h -- the part of a communication that computation hides, from the column `hidden` of its record. */
#ifndef NSX_JOB_HIDDEN_H
#define NSX_JOB_HIDDEN_H

#include <stdint.h>

#include "stream/kinds.h"

/* That part of dur ns, 0 <= dur, for the `hidden` that was recorded: none if it is negative (or NSX_ABSENT, unknown),
 * at most all. *over is counted up if it is known and was cut. */
static inline int64_t
nsx_hidden_of(int64_t dur, int64_t hidden, int64_t *over)
{
	if (hidden >= 0 && hidden <= dur)
		return hidden;
	*over += hidden != NSX_ABSENT;
	return hidden < 0 ? 0 : dur;
}

#endif
