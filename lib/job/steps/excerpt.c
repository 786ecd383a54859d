/* excerpt.c -- see excerpt.h. */
#include "job/steps/excerpt.h"

#include <stdlib.h>

#include "base/num.h"
#include "job/catalogue.h"
#include "job/reach.h"

void
nsx_excerpt_need(struct nsx_reader *in)
{
	nsx_reader_need(in, NSX_STEP, nsx_field_slots(NSX_STEP, NSX_REACH_ROLES) | NSX_C(STEP, device)
	                              | NSX_C(STEP, period) | NSX_C(STEP, removed) | NSX_C(STEP, cut));
}

bool
nsx_excerpt_take(struct nsx_excerpt *x, const struct nsx_rec *rec, uint32_t device)
{
	int64_t start, period, removed;

	if (rec->kind->id != NSX_STEP || nsx_int(rec, NSX_STEP_cut, 0) != 1 || !nsx_has(rec, NSX_STEP_period)
	    || !nsx_has(rec, NSX_STEP_start) || !nsx_in_reach(rec))
		return true;
	start = nsx_int(rec, NSX_STEP_start, 0);
	period = nsx_int(rec, NSX_STEP_period, 0);
	removed = nsx_int(rec, NSX_STEP_removed, 0);
	if (period < 0 || period > NSX_REACH || removed < 0 || removed > NSX_REACH)
		return true;
	x->on = true;
	if (device == NSX_NONE || !nsx_vec_reach(&x->devices, device, NULL))
		return false;
	struct nsx_excerpt_device *d = &x->devices.p[device];
	struct nsx_excerpt_window *last = d->windows.n ? &d->windows.p[d->windows.n - 1] : NULL;
	int64_t end = start + period + removed;

	d->length = nsx_add_sat(d->length, period, NULL);
	if (!last || start > last->to)
		return nsx_vec_push(&d->windows, ((struct nsx_excerpt_window){ start, end, removed }));
	last->to = nsx_max(last->to, end);
	last->removed += removed;
	return true;
}

const struct nsx_excerpt_window *
nsx_excerpt_at(struct nsx_excerpt *x, uint32_t device, int64_t at)
{
	struct nsx_excerpt_device *d = device < x->devices.n ? &x->devices.p[device] : NULL;

	while (d && d->first < d->windows.n && d->windows.p[d->first].to <= at)
		d->first++;
	return d && d->first < d->windows.n ? &d->windows.p[d->first] : NULL;
}

int64_t
nsx_excerpt_gap(struct nsx_excerpt *x, uint32_t device, int64_t from, int64_t to)
{
	const struct nsx_excerpt_window *w;

	if (!x->on || from >= to)
		return from;
	w = nsx_excerpt_at(x, device, from);
	return w && w->from < to && w->to >= to ? nsx_max(from, w->from) : to;
}

int64_t
nsx_excerpt_length(const struct nsx_excerpt *x, uint32_t device)
{
	return device < x->devices.n ? x->devices.p[device].length : 0;
}

void
nsx_excerpt_free(struct nsx_excerpt *x)
{
	for (size_t i = 0; i < x->devices.n; i++)
		free(x->devices.p[i].windows.p);
	free(x->devices.p);
}
