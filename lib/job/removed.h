/* removed.h -- the time of a device that nsysx-warmup took away: it ran operations that were removed, or waited for
 * one. It is no part of any window and of no period, and it is not idle time.
 *
 * `op.removed` of an operation says how long before its start the removed ones ended. A gap before an operation is
 * removed up to that end:
 *
 *   operation ends at 100     operation starts at 200, removed 30     the gap [100, 200) is removed up to 170
 *   less than 0: they ended after its start, so later gaps are removed, too, up to that end
 *
 * A later operation may say that they ended earlier. */
#ifndef NSX_JOB_REMOVED_H
#define NSX_JOB_REMOVED_H

#include <stdint.h>

#include "base/num.h"
#include "stream/kinds.h"

/* Of a device: ns, until when it was busy with removed work as far as is known. */
struct nsx_removed { int64_t until; };

#define NSX_REMOVED_NONE ((struct nsx_removed){ INT64_MIN })

/* Note what an operation says, before the gap in front of it is examined. */
static inline void
nsx_removed_take(struct nsx_removed *r, const struct nsx_rec *op)
{
	if (nsx_has(op, NSX_OP_removed))
		r->until = nsx_sub_sat(nsx_int(op, NSX_OP_start, 0), op->v[NSX_OP_removed].i, NULL);
}

/* The end of the removed part of a gap [from, to), which begins at `from`; `from` if there is none. */
static inline int64_t
nsx_removed_end(const struct nsx_removed *r, int64_t from, int64_t to)
{
	int64_t end = r->until < to ? r->until : to;

	return end > from ? end : from;
}

#endif
