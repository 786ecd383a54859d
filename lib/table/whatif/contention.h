/* contention.h -- how much longer kernels take beside communication, and forecasts that heed it. */
#ifndef NSX_TABLE_WHATIF_CONTENTION_H
#define NSX_TABLE_WHATIF_CONTENTION_H

#include "table/whatif/plan.h"

struct wi_contention {
	const struct wi_graph *g;
	struct wi_shares  shares;    /* k 0: no contention was found */
	uint32_t *comm;              /* ncomm operations that communicate, by device and start of their transfers */
	int64_t  *took;              /* of these after each plan */
	struct transfer  *transfers; /* of a plan after the other, room for ncomm: by device and start */
	size_t    ncomm, ndevices, *first;   /* first: of each plan and ndevices + 1, in its transfers */
	/* By device and plan, of the operation that was looked at last: how many transfers begin before it; the time
	 * around its start with no transfer in it, or in one, and the share of what is in that time, 0 or 1. */
	struct wi_beside { size_t next; int64_t from, to; double share; } *last;
};

/* Measure it. NSX_OK or NSX_ERR; free c in both cases. */
int nsx_wi_contention_begin(struct wi_contention *c, const struct wi_graph *g);

/* From the times that nsx_wi_sweep has after changes, at most nsx_wi_at_once, to those that heed it. roughly: they are
 * only ends of ranges. */
void nsx_wi_contention_sweep(struct wi_contention *c, const struct wi_together *w, bool roughly, int64_t *times);

void nsx_wi_contention_free(struct wi_contention *c);

#endif
