/* gone.c -- see gone.h. A device has as many gaps as warm-up left pieces of its operations: few. */
#include "job/gone.h"

#include <stdlib.h>

#include "base/map.h"
#include "stream/kinds.h"

void
nsx_gone_need(struct nsx_reader *in)
{
	nsx_reader_need(in, NSX_OP, NSX_C(OP, device) | NSX_C(OP, start) | NSX_C(OP, dur) | NSX_C(OP, removed));
}

bool
nsx_gone_take(struct nsx_gone *g, const struct nsx_rec *op, uint32_t device)
{
	int64_t start = nsx_int(op, NSX_OP_start, NSX_ABSENT), end;

	if (start == NSX_ABSENT || nsx_int(op, NSX_OP_dur, -1) < 0)
		return true;
	if (device == NSX_NONE
	    || !nsx_vec_reach(&g->devices, device, &(struct nsx_gone_device){ .removed = NSX_REMOVED_NONE }))
		return false;
	struct nsx_gone_device *d = &g->devices.p[device];

	nsx_removed_take(&d->removed, op);
	if (d->begun && start > d->busy) {
		int64_t to = nsx_removed_end(&d->removed, d->busy, start);

		if (to > d->busy && !nsx_vec_push(&d->gaps, ((struct nsx_gone_gap){ d->busy, to })))
			return false;
	}
	end = nsx_add_sat(start, nsx_int(op, NSX_OP_dur, 0), NULL);
	d->busy = !d->begun || end > d->busy ? end : d->busy;
	d->begun = true;
	return true;
}

uint64_t
nsx_gone_within(const struct nsx_gone *g, uint32_t device, int64_t from, int64_t to)
{
	uint64_t sum = 0;

	for (size_t i = 0; device < g->devices.n && i < g->devices.p[device].gaps.n; i++) {
		const struct nsx_gone_gap *gap = &g->devices.p[device].gaps.p[i];
		int64_t start = nsx_max(gap->from, from), end = nsx_min(gap->to, to);

		sum += end > start ? (uint64_t)end - (uint64_t)start : 0;
	}
	return sum;
}

void
nsx_gone_free(struct nsx_gone *g)
{
	for (size_t i = 0; i < g->devices.n; i++)
		free(g->devices.p[i].gaps.p);
	free(g->devices.p);
	*g = (struct nsx_gone){ 0 };
}
