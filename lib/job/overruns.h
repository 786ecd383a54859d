/* overruns.h -- operations that still run when the next one of their stream begins. A stream runs its operations one
 * after the other: only kernels of programmatic dependent launch begin a little earlier, and nodes of one graph, which
 * are not looked at, run side by side. An operation that still runs when a later one of its stream has even ended has
 * a wrong time, and idle time under it is not seen.
 *
 * Later is what is taken in later. An operation overruns by its end minus the start of the next one; it outlasts a
 * later one, of any distance, that ends before it does. Each operation counts once, and its ns are those it overruns
 * by: where several run at a time, the sums count that time for each of them.
 *
 *   stream 7   a [0,100)   b [90,120)   c [130,500)   d [140,150)   e [160,600)
 *   ->  a, c overrun by 10 and 360 ns; c outlasts d
 *   stream 8   a [0,100)   b [10,50)   c [20,30)
 *   ->  a, b overrun by 90 and 30 ns; a outlasts b and c, b outlasts c */
#ifndef NSX_JOB_OVERRUNS_H
#define NSX_JOB_OVERRUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "stream/kinds.h"

/* An operation that no later one ended before. over: ns that it overruns by, 0 for the one met last; nth: of all. */
struct nsx_overrun { int64_t end, over, nth; uint64_t op; };

/* Those of a stream that still ran at the last start, from `from` on: in the order they were met, which is also that of
 * their ends. As many as ran at a time. */
struct nsx_overrun_stream { NSX_VEC(struct nsx_overrun) running; size_t from; };

/* {0} has met no operation. */
struct nsx_overruns {
	struct nsx_map of;                       /* (device, stream) -> streams */
	NSX_VEC(struct nsx_overrun_stream) streams;
	int64_t  met;
	int64_t  early, early_ns;                /* that overrun */
	int64_t  outlasting, outlasting_ns;      /* of these, that outlast a later one */
	int64_t  longest;                        /* of outlasting_ns that of one operation; of equal ones the first */
	int64_t  longest_nth;
	uint64_t longest_op;
};

/* Take in an operation that is of no graph, in order of start; op: what the caller calls it. One that ends before it
 * starts is taken to end there. False when out of memory. */
bool nsx_overruns_take(struct nsx_overruns *o, uint64_t device, int64_t stream, int64_t start, int64_t end,
                       uint64_t op);

/* The same of an `op` record with a start, an end no earlier than that, and a number for its device; without a stream,
 * or of a graph, it is passed over. */
bool nsx_overruns_take_op(struct nsx_overruns *o, uint64_t device, const struct nsx_rec *op);

void nsx_overruns_free(struct nsx_overruns *o);

#endif
