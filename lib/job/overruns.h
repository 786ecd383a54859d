/* overruns.h -- operations that are still running when the next one of their stream begins. A stream runs its
 * operations one after the other: only kernels of programmatic dependent launch begin a little earlier, and nodes of
 * one graph, which are not examined, run in parallel. If an operation is still running when a later one of its stream
 * has already ended, its recorded time is wrong, and idle time during it is not detected.
 *
 * A later operation is one that is added later. An operation overruns by its end minus the start of the next one; it
 * outlasts any later operation that ends before it. Each operation is counted once, with the ns by which it overruns
 * the next one: where several run at the same time, the sums contain that time once for each of them.
 *
 *   stream 7   a [0,100)   b [90,120)   c [130,500)   d [140,150)   e [160,600)
 *   ->  a, c overrun by 10 and 360 ns; c outlasts d
 *   stream 8   a [0,100)   b [10,50)   c [20,30)
 *   ->  a, b overrun by 90 and 30 ns; a outlasts b and c, b outlasts c */
#ifndef NSX_JOB_OVERRUNS_H
#define NSX_JOB_OVERRUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/map.h"
#include "base/vec.h"
#include "stream/kinds.h"

/* An operation that has outlasted no later one so far. over: ns by which it overruns, 0 for the last one added; nth:
 * its number among all operations added. */
struct nsx_overrun { int64_t end, over, nth; uint64_t op; };

/* The operations of a stream that were still running at the last start, from index `from` on: in the order in which
 * they were added, which is also the order of their ends. Memory grows with the number that run at the same time. */
struct nsx_overrun_stream { NSX_VEC(struct nsx_overrun) running; size_t from; };

/* {0} has no operations. */
struct nsx_overruns {
	struct nsx_map of;                       /* (device, stream) -> streams; */
	struct nsx_recent recent[NSX_RECENT];    /* those of it that were asked for lately */
	NSX_VEC(struct nsx_overrun_stream) streams;
	int64_t  met;
	int64_t  early, early_ns;                /* operations that overrun, and the sum of their ns */
	int64_t  outlasting, outlasting_ns;      /* those of them that outlast a later one */
	int64_t  longest;                        /* the maximum of one operation in outlasting_ns; of equal ones the
	                                          * first */
	int64_t  longest_nth;
	uint64_t longest_op;
};

/* Add an operation that is not part of a graph, in order of start; op: the caller's number for it. An end before the
 * start counts as the start. False when out of memory. */
bool nsx_overruns_take(struct nsx_overruns *o, uint64_t device, int64_t stream, int64_t start, int64_t end,
                       uint64_t op);

/* The same for an `op` record that has a start and an end no earlier than that; device: a number for its device. A
 * record without a stream, or of a graph, is ignored. */
bool nsx_overruns_take_op(struct nsx_overruns *o, uint64_t device, const struct nsx_rec *op);

/* Add a warning with the number of operations that outlast a later one, and their ns; effect: what is wrong because of
 * them. */
void nsx_overruns_report(const struct nsx_overruns *o, struct nsx_diags *diags, const char *effect);

/* The effect where times of operations are added up. */
#define NSX_OVERRUNS_COUNT "they count whole, how much computes and how much is idle is not sure"

void nsx_overruns_free(struct nsx_overruns *o);

#endif
