/* activity.c -- see activity.h. */
#include "job/activity.h"

#include <stdlib.h>

#include "base/sort.h"

/* ---- the parts of a device's time, in one pass ---- */

const char *
nsx_part_name(enum nsx_part part)
{
	static const char *const names[NSX_NPARTS] = { "compute", "comm", "copy", "idle" };

	return names[part];
}

enum nsx_type
nsx_type_of(const struct nsx_rec *op)
{
	struct nsx_str type = nsx_string(op, NSX_OP_type);

	return nsx_str_eq(type, NSX_STR("kernel")) ? NSX_TYPE_KERNEL
	     : nsx_str_eq(type, NSX_STR("graph"))  ? NSX_TYPE_GRAPH
	     : nsx_str_eq(type, NSX_STR("memcpy")) ? NSX_TYPE_MEMCPY
	     : nsx_str_eq(type, NSX_STR("memset")) ? NSX_TYPE_MEMSET : NSX_TYPE_OTHER;
}

int64_t
nsx_parts_end(const struct nsx_parts *p)
{
	int64_t end = INT64_MIN;

	for (int i = 0; p->begun && i < NSX_PART_IDLE; i++)
		end = p->of[i].end > end ? p->of[i].end : end;
	return end;
}

/* Report the runs from p->at to `to`, given the operations that have started. */
static int
report(struct nsx_parts *p, int64_t to, nsx_part_fn *run, void *state)
{
	int rc = NSX_OK;

	for (int i = 0; i < NSX_NPARTS && rc == NSX_OK && p->at < to; i++) {
		int64_t end = i < NSX_PART_IDLE && p->of[i].end < to ? p->of[i].end : to;

		if (end > p->at) {
			rc = run(state, (enum nsx_part)i, p->at, end);
			p->at = end;
		}
	}
	return rc;
}

int
nsx_parts_add_thing(struct nsx_parts *p, enum nsx_part part, uint32_t thing, int64_t start, int64_t end,
                    nsx_part_fn *run, void *state)
{
	if (!p->begun) {
		*p = (struct nsx_parts){ .begun = true, .first = start, .at = start };
		for (int i = 0; i < NSX_PART_IDLE; i++)
			nsx_union_add(&p->of[i], start, start);
	} else {
		int rc = report(p, start, run, state);

		if (rc != NSX_OK)
			return rc;
	}
	/* An operation of no length takes no time, but the device's own time extends to it. */
	if (nsx_union_add(&p->of[part], start, end))
		p->thing[part] = thing;
	return NSX_OK;
}

int
nsx_parts_finish(struct nsx_parts *p, nsx_part_fn *run, void *state)
{
	return p->begun ? report(p, nsx_parts_end(p), run, state) : NSX_OK;
}

int64_t
nsx_parts_hidden_end(const struct nsx_parts *p, int64_t start, int64_t end)
{
	int64_t comm = p->of[NSX_PART_COMM].end;

	return comm > start ? comm < end ? comm : end : start;
}

/* ---- all of a device's time ---- */

enum { HIDING = NSX_NPARTS, GONE, EVERY = 64 };

static void
add_sum(struct nsx_timeline_sums *s, int what, int64_t ns)
{
	if (what == GONE) {
		s->removed += ns;
		return;
	}
	s->part[what == HIDING ? NSX_PART_COMPUTE : what] += ns;
	s->hidden += what == HIDING ? ns : 0;
}

/* A run of activity `what` begins at `start`. */
static bool
begin_run(struct nsx_timeline *t, int what, int64_t start)
{
	if (t->removed_only && what != GONE)
		what = NSX_PART_IDLE;
	if (t->what.n && t->what.p[t->what.n - 1] == what)
		return true;
	if (t->what.n)
		add_sum(&t->sums, t->what.p[t->what.n - 1], start - t->start.p[t->start.n - 1]);
	if (t->what.n % EVERY == 0 && !nsx_vec_push(&t->marks, ((struct nsx_timeline_mark){ t->sums })))
		return false;
	return nsx_vec_push(&t->start, start) && nsx_vec_push(&t->what, (uint8_t)what);
}

/* A timeline and what is removed before the operation that is being added. */
struct timeline_adding { struct nsx_timeline *t; const struct nsx_removed *removed; };

static bool
begin_idle(const struct timeline_adding *a, int64_t start, int64_t end)
{
	int64_t gone = a->removed ? nsx_removed_end(a->removed, start, end) : start;

	return (gone == start || begin_run(a->t, GONE, start)) && (gone == end || begin_run(a->t, NSX_PART_IDLE, gone));
}

static int
keep_run(void *state, enum nsx_part part, int64_t start, int64_t end)
{
	struct timeline_adding *a = state;
	struct nsx_timeline *t = a->t;
	int64_t hidden = part == NSX_PART_COMPUTE ? nsx_parts_hidden_end(&t->parts, start, end) : start;
	bool good;

	if (part == NSX_PART_IDLE)
		good = begin_idle(a, start, end);
	else
		good = (hidden == start || begin_run(t, HIDING, start))
		       && (hidden == end || begin_run(t, (int)part, hidden));
	t->end = end;
	return good ? NSX_OK : NSX_ERR;
}

bool
nsx_timeline_add(struct nsx_timeline *t, enum nsx_part part, int64_t start, int64_t end,
                 const struct nsx_removed *removed)
{
	return nsx_parts_add(&t->parts, part, start, end, keep_run, &(struct timeline_adding){ t, removed }) == NSX_OK;
}

bool
nsx_timeline_finish(struct nsx_timeline *t)
{
	return nsx_parts_finish(&t->parts, keep_run, &(struct timeline_adding){ t, NULL }) == NSX_OK;
}

/* Sums from the beginning up to `to`. */
static struct nsx_timeline_sums
before(const struct nsx_timeline *t, int64_t to)
{
	struct nsx_timeline_sums s = { { 0 }, 0, 0 };
	size_t lo;

	if (!t->start.n || to <= t->start.p[0])
		return s;
	to = to < t->end ? to : t->end;
	NSX_BISECT(lo, 1, t->start.n, t->start.p[lo] >= to);
	lo--;
	s = t->marks.p[lo / EVERY].before;
	for (size_t i = lo / EVERY * EVERY; i < lo; i++)
		add_sum(&s, t->what.p[i], t->start.p[i + 1] - t->start.p[i]);
	add_sum(&s, t->what.p[lo], to - t->start.p[lo]);
	return s;
}

struct nsx_timeline_sums
nsx_timeline_between(const struct nsx_timeline *t, int64_t from, int64_t to)
{
	struct nsx_timeline_sums a = before(t, from), b = before(t, to);

	if (from >= to)
		return (struct nsx_timeline_sums){ { 0 }, 0, 0 };
	for (int i = 0; i < NSX_NPARTS; i++)
		b.part[i] -= a.part[i];
	b.hidden -= a.hidden;
	b.removed -= a.removed;
	return b;
}

void
nsx_timeline_free(struct nsx_timeline *t)
{
	free(t->start.p);
	free(t->what.p);
	free(t->marks.p);
	*t = (struct nsx_timeline){ 0 };
}
