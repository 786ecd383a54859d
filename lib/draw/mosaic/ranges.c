/* ranges.c -- a Mosaic GPU profile as a stream: ranges nested within a trace, and the time of each outside the
 * ranges in it. */
#include <stdlib.h>

#include "draw/mosaic.h"
#include "base/sort.h"
#include "job/metadata.h"

enum { NONE = UINT32_MAX };

struct range { int64_t start, dur; uint32_t track, name, parent, level; };
struct op { int64_t start, dur; uint32_t range; };

struct ranging {
	const struct nsx_mosaic *m;
	struct nsx_err          *err;
	NSX_VEC(struct range)    ranges;
	NSX_VEC(struct op)       ops;
	NSX_VEC(uint32_t)        open;    /* of the current track, innermost last */
	int64_t                  at;      /* its time up to here has been assigned to ranges */
	int64_t                  stray, unended;
};

static uint32_t
innermost(const struct ranging *r)
{
	return r->open.n ? r->open.p[r->open.n - 1] : NONE;
}

/* The time since the last event belongs to the innermost range. */
static int
pass_time(struct ranging *r, int64_t now)
{
	uint32_t range = innermost(r);

	if (range != NONE && now > r->at && !nsx_vec_push(&r->ops, ((struct op){ r->at, now - r->at, range })))
		return nsx_err_nomem(r->err, NULL);
	r->at = now;
	return NSX_OK;
}

static int
begin(struct ranging *r, uint32_t track, const struct nsx_mosaic_event *e)
{
	struct range g = { e->time, 0, track, e->name, innermost(r), (uint32_t)r->open.n };

	if (r->ranges.n >= NONE)
		return nsx_err_set(r->err, "more than %u ranges", (unsigned)NONE);
	if (!nsx_vec_push(&r->ranges, g) || !nsx_vec_push(&r->open, (uint32_t)(r->ranges.n - 1)))
		return nsx_err_nomem(r->err, NULL);
	return NSX_OK;
}

static void
close_innermost(struct ranging *r, int64_t now)
{
	struct range *g = &r->ranges.p[r->open.p[--r->open.n]];

	g->dur = now - g->start;
}

/* End the innermost range of that name, and the open ranges inside it. */
static void
end(struct ranging *r, const struct nsx_mosaic_event *e)
{
	size_t n = r->open.n;

	while (n && r->ranges.p[r->open.p[n - 1]].name != e->name)
		n--;
	if (!n) {
		r->stray++;
		return;
	}
	r->unended += (int64_t)(r->open.n - n);
	while (r->open.n >= n)
		close_innermost(r, e->time);
}

static int
take_track(struct ranging *r, uint32_t track)
{
	const struct nsx_mosaic_track *t = &r->m->tracks.p[track];

	r->open.n = 0;
	for (size_t k = t->first; k < t->first + t->n; k++) {
		const struct nsx_mosaic_event *e = &r->m->events.p[k];
		if (pass_time(r, e->time) != NSX_OK)
			return NSX_ERR;
		if (e->end)
			end(r, e);
		else if (begin(r, track, e) != NSX_OK)
			return NSX_ERR;
	}
	r->unended += (int64_t)r->open.n;
	while (r->open.n)
		close_innermost(r, r->at);
	return NSX_OK;
}

/* ---- records */

static int
write_range(const struct ranging *r, uint32_t i, struct nsx_writer *out)
{
	const struct range *g = &r->ranges.p[i];
	const struct nsx_mosaic_track *t = &r->m->tracks.p[g->track];
	union nsx_val v[NSX_MAX_COLS];
	struct nsx_rec rec = { nsx_kind_builtin(NSX_RANGE), 0, v };

	nsx_set_i(&rec, NSX_RANGE_profile, 0);
	nsx_set_i(&rec, NSX_RANGE_range, i);
	if (g->parent != NONE)
		nsx_set_i(&rec, NSX_RANGE_parent, g->parent);
	nsx_set_i(&rec, NSX_RANGE_level, g->level);
	nsx_set_i(&rec, NSX_RANGE_pid, 1 + t->sm);
	nsx_set_i(&rec, NSX_RANGE_tid, 1 + t->slot);
	nsx_set_i(&rec, NSX_RANGE_device, 0);
	nsx_set_s(&rec, NSX_RANGE_name, r->m->names->list.p[g->name]);
	nsx_set_i(&rec, NSX_RANGE_start, g->start);
	nsx_set_i(&rec, NSX_RANGE_dur, g->dur);
	return nsx_write(out, &rec);
}

static int
write_op(const struct ranging *r, uint32_t i, struct nsx_writer *out)
{
	const struct op *o = &r->ops.p[i];
	const struct range *g = &r->ranges.p[o->range];
	union nsx_val v[NSX_MAX_COLS];
	struct nsx_rec rec = { nsx_kind_builtin(NSX_OP), 0, v };

	nsx_set_i(&rec, NSX_OP_profile, 0);
	nsx_set_i(&rec, NSX_OP_op, i);
	nsx_set_s(&rec, NSX_OP_type, NSX_STR("mosaic"));
	nsx_set_i(&rec, NSX_OP_device, 0);
	nsx_set_i(&rec, NSX_OP_stream, 1 + r->m->tracks.p[g->track].slot);
	nsx_set_s(&rec, NSX_OP_name, r->m->names->list.p[g->name]);
	nsx_set_i(&rec, NSX_OP_start, o->start);
	nsx_set_i(&rec, NSX_OP_dur, o->dur);
	nsx_set_i(&rec, NSX_OP_range, o->range);
	return nsx_write(out, &rec);
}

static int
write_head(struct nsx_str profile, struct nsx_writer *out)
{
	union nsx_val v[NSX_MAX_COLS];
	struct nsx_rec rec = { nsx_kind_builtin(NSX_PROFILE), 0, v };

	nsx_profile_set(&rec, 0, profile);
	if (nsx_write(out, &rec) != NSX_OK)
		return NSX_ERR;
	rec = (struct nsx_rec){ nsx_kind_builtin(NSX_DEVICE), 0, v };
	nsx_device_set(&rec, 0, 0);
	return nsx_write(out, &rec);
}

/* Ranges and operations in the order of a stream: of those that start together, ranges first, the longer first. */
static int
write_all(const struct ranging *r, struct nsx_writer *out)
{
	size_t n = r->ranges.n + r->ops.n;
	struct nsx_sort_key *keys = malloc((n + 1) * sizeof *keys);
	int rc = NSX_OK;

	if (!keys)
		return nsx_err_nomem(r->err, NULL);
	for (size_t i = 0; i < r->ranges.n; i++)
		keys[i] = (struct nsx_sort_key){ { r->ranges.p[i].start, 0, -r->ranges.p[i].dur }, (uint32_t)i };
	for (size_t i = 0; i < r->ops.n; i++)
		keys[r->ranges.n + i] = (struct nsx_sort_key){ { r->ops.p[i].start, 1, -r->ops.p[i].dur },
		                                               (uint32_t)i };
	nsx_sort_keys(keys, n);
	for (size_t i = 0; rc == NSX_OK && i < n; i++)
		rc = keys[i].k[1] ? write_op(r, keys[i].i, out) : write_range(r, keys[i].i, out);
	free(keys);
	return rc;
}

int
nsx_mosaic_stream(const struct nsx_mosaic *m, struct nsx_str profile, struct nsx_writer *out, struct nsx_diags *diags,
                  struct nsx_err *err)
{
	struct ranging r = { .m = m, .err = err };
	int rc = NSX_OK;

	if (m->events.n >= NONE)
		rc = nsx_err_set(err, "more than %u events", (unsigned)NONE);
	for (size_t i = 0; rc == NSX_OK && i < m->tracks.n; i++)
		rc = take_track(&r, (uint32_t)i);
	if (rc == NSX_OK)
		rc = write_head(profile, out);
	if (rc == NSX_OK)
		rc = write_all(&r, out);
	nsx_diag_add(diags, NSX_WARNING, "", r.stray, "ends of ranges that had not begun: ignored");
	nsx_diag_add(diags, NSX_WARNING, "", r.unended,
		"ranges without an end of their own: they end with the range around them, or with the trace's last "
		"event");
	free(r.ranges.p);
	free(r.ops.p);
	free(r.open.p);
	return rc;
}
