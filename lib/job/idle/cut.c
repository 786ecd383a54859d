/* cut.c -- the time of a stream that nsysx-steps --cut made (job/steps/excerpt.h): what is outside the windows is
 * removed time, and the time of a window behind the last operation in it is idle, of the cause `after`, as the
 * operation that ended that wait was taken away.
 *
 *   window [0,100)   operation [80,95)   operation [400,420) at the start of the next window
 *   ->  the gap [95,400): after [95,100), removed [100,400) */
#include "base/num.h"
#include "job/idle/own.h"

/* Take away [s->start, until). */
static int
skip(struct nsx_idle_finder *f, struct nsx_stretch *s, int64_t until)
{
	return s->start < until ? nsx_idle_tell_removed(f, s, until) : NSX_OK;
}

/* The window of the device that ends after `at`; a new one has its own removed time. */
static const struct nsx_excerpt_window *
window_at(struct nsx_idle_finder *f, struct nsx_idle_device *d, int64_t at)
{
	const struct nsx_excerpt_window *w = nsx_excerpt_at(&f->excerpt, d->index, at);

	if (w && w->from >= d->left)
		d->removed_in = 0;
	if (w)
		d->left = w->to;
	return w;
}

int
nsx_idle_cut_run(struct nsx_idle_finder *f, struct nsx_idle_device *d, const struct nsx_stretch *run)
{
	struct nsx_stretch rest = *run;
	const struct nsx_excerpt_window *w;

	rest.blocked_to = rest.start;
	while (rest.start < rest.end && (w = window_at(f, d, rest.start))) {
		struct nsx_stretch part;

		if (skip(f, &rest, nsx_min(w->from, rest.end)) != NSX_OK)
			return NSX_ERR;
		part = rest;
		part.end = nsx_min(w->to, rest.end);
		if (part.start < part.end && f->add(f->state, &part) != NSX_OK)
			return NSX_ERR;
		rest.start = part.end;
	}
	return skip(f, &rest, rest.end);
}

/* The end of a window, from gap->start on, behind its last operation: part of it may be removed, as the window says, of
 * which no operation is left that would tell. None ends the wait: that before gap->end is in another window. */
static int
wait_after(struct nsx_idle_finder *f, struct nsx_idle_device *d, const struct nsx_excerpt_window *w,
           struct nsx_stretch *gap)
{
	uint32_t profile = f->cat->devices.p[d->index].profile;
	struct nsx_idle_op none = { .start = w->to, .end = w->to, .name = NSX_NONE, .path = f->host_paths.root,
	                            .call = NSX_ABSENT, .tid = NSX_ABSENT, .host_start = NSX_ABSENT,
	                            .host_end = NSX_ABSENT, .pid = NSX_ABSENT, .op = NSX_ABSENT, .range = NSX_ABSENT,
	                            .profile = profile == NSX_NONE ? NSX_ABSENT : f->cat->profiles.p[profile].number };
	struct nsx_stretch after = { .device = d->index, .part = NSX_PART_IDLE, .start = gap->start, .end = w->to,
	                             .next = &none, .prev = gap->prev,
	                             .read = gap->read };
	struct nsx_idle_piece piece = { .call = NSX_ABSENT, .range = NSX_ABSENT, .path = f->host_paths.root,
	                                .leaf = NSX_NONE, .cause = NSX_CAUSE_AFTER };

	if (f->marked)
		nsx_idle_forget_marks(d, w->to);
	gap->start = w->to;
	if (skip(f, &after, nsx_min(after.end, after.start + nsx_max(0, w->removed - d->removed_in))) != NSX_OK)
		return NSX_ERR;
	piece.start = after.start;
	piece.end = after.end;
	after.pieces = &piece;
	after.n = 1;
	after.blocked_to = after.start;
	return after.start < after.end ? f->add(f->state, &after) : NSX_OK;
}

int
nsx_idle_cut_gap(struct nsx_idle_finder *f, struct nsx_idle_device *d, struct nsx_stretch *gap)
{
	const struct nsx_excerpt_window *w;

	while (gap->start < gap->end && (w = window_at(f, d, gap->start))) {
		if (skip(f, gap, nsx_min(w->from, gap->end)) != NSX_OK)
			return NSX_ERR;
		if (w->to >= gap->end || gap->start == gap->end)
			return NSX_OK;
		if (wait_after(f, d, w, gap) != NSX_OK)
			return NSX_ERR;
	}
	return skip(f, gap, gap->end);
}

int
nsx_idle_cut_rest(struct nsx_idle_finder *f, struct nsx_idle_device *d)
{
	const struct nsx_excerpt_window *w = d->begun ? window_at(f, d, d->busy) : NULL;
	struct nsx_stretch gap = { .start = d->busy, .prev = d->prev };

	if (!w || w->from > d->busy)
		return NSX_OK;
	return wait_after(f, d, w, &gap);
}
