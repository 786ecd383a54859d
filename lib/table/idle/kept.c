/* kept.c -- restrictions of the time examined: the steps of each device, and selected causes of gaps. */

#include "table/idle/idle.h"

/* ---- names */

static const char *
group_name(const void *cause)
{
	return nsx_cause_group_name(((const struct nsx_cause_known *)cause)->group);
}

struct nsx_table *
nsx_idle_known(struct nsx_err *err)
{
#define NSX_ROW struct nsx_cause_known
	static const struct nsx_sum_col cols[] = {
		NSX_COL("cause", STRING, name), NSX_COL_SAID("group", group_name), NSX_COL("tint", STRING, tint),
		NSX_COL("stripes", ID, stripes), NSX_COL("meaning", STRING, says),
	};
	static const struct nsx_sum_def def = { NSX_ROWS(cols), .rank = "cause group meaning" };

	return nsx_sums_list(&def, nsx_causes, NSX_NCAUSES, err);
}

/* ---- times */

/* The first window of the device that is examined and ends after `at`, which never decreases; NULL if there is none.
 * The device's first stretch was added. */
static const struct nsx_window_given *
window_at(struct idle *f, uint32_t device, int64_t at)
{
	const struct nsx_idle_options *o = f->options;

	return nsx_window_given_at(o->steps ? f->within.p : o->given, o->steps ? f->within.n : o->ngiven,
	                           f->cat->devices.p[device].number, at, &f->within_at.p[device]);
}

bool
nsx_idle_is_cut(void *idle, uint32_t device, int64_t start, int64_t end)
{
	struct idle *f = idle;
	const struct nsx_window_given *w = f->options->steps || f->options->by == NSX_WINDOWS_GIVEN
	    ? window_at(f, device, start) : NULL;

	return w && w->start <= start && w->end < end;
}

bool
nsx_idle_clip(struct idle *f, uint32_t device, int64_t start, int64_t end, int64_t *from, int64_t *to)
{
	const struct nsx_window_given *w;

	*from = start;
	*to = end;
	if (!f->options->steps || start >= end)
		return start < end;
	w = window_at(f, device, start);
	if (!w)
		return false;
	*from = start > w->start ? start : w->start;
	*to = end < w->end ? end : w->end;
	return *from < *to;
}

bool
nsx_idle_clip_gap(struct idle *f, const struct nsx_stretch *gap, int64_t from, int64_t to, struct nsx_stretch *part)
{
	uint32_t causes = f->options->causes ? f->options->causes : UINT32_MAX;

	*part = *gap;
	part->start = from;
	part->end = to;
	/* Removed time is of no cause that is kept or not. */
	if (!gap->next)
		return true;
	f->pieces.n = 0;
	for (size_t i = 0; i < gap->n && (gap->drained || !f->options->drained); i++) {
		struct nsx_idle_piece p = gap->pieces[i];

		p.start = p.start > from ? p.start : from;
		p.end = p.end < to ? p.end : to;
		if (p.start < p.end && causes >> p.cause & 1 && !nsx_vec_push(&f->pieces, p))
			return false;
	}
	part->pieces = f->pieces.p;
	part->n = f->pieces.n;
	return true;
}
