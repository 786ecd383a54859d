/* overruns.h -- operations that still run when the next one of their stream begins. A stream runs its operations one
 * after the other: only kernels of programmatic dependent launch begin a little earlier, and nodes of one graph, which
 * are not looked at, run side by side. An operation that still runs when a later one of its stream has even ended has
 * a wrong time, and idle time under it is not seen.
 *
 *   stream 7   a [0,100)   b [90,120)   c [130,500)   d [140,150)   e [160,600)
 *   ->  a and c still run at the next start, 10 and 360 ns; c still runs when d has ended */
#ifndef NSX_JOB_OVERRUNS_H
#define NSX_JOB_OVERRUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

/* The operation of a stream that ends last so far. over: ns of it after the next start. */
struct nsx_overrun_stream { int64_t end, over; uint64_t op; bool counted, outlasts; };

/* {0} has met no operation. */
struct nsx_overruns {
	struct nsx_map of;                       /* (device, stream) -> streams */
	NSX_VEC(struct nsx_overrun_stream) streams;
	int64_t  early, early_ns;                /* still run at the next start */
	int64_t  outlasting, outlasting_ns;      /* of these, still run at the end of a later one */
	int64_t  longest;                        /* of outlasting_ns that of one operation; of equal ones the first */
	uint64_t longest_op;
};

/* Take in an operation that is of no graph, in order of start; op: what the caller calls it. False when out of
 * memory. */
bool nsx_overruns_take(struct nsx_overruns *o, uint64_t device, int64_t stream, int64_t start, int64_t end,
                       uint64_t op);

void nsx_overruns_free(struct nsx_overruns *o);

#endif
