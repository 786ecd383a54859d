/* slack.c -- how much longer operations could take without moving the start of the last step of any device: the
 * latest time of each event, from the last ones back. */
#include <stdlib.h>

#include "base/sort.h"
#include "base/stat.h"
#include "table/sums.h"
#include "table/whatif/tables.h"

enum { CRITICAL = 1000 };            /* ns: operations with less are critical */
#define NEVER (INT64_MAX / 2)        /* of events that hold nothing up */

/* The latest times of events. */
static void
latest(const struct wi_graph *g, int64_t *late)
{
	for (size_t i = 0; i < g->nevents; i++, wi_pause(g, i))
		late[i] = NEVER;
	for (size_t i = 0; i < g->steps.n; i += wi_run(g, i)) {
		uint32_t e = wi_start(g->steps.p[i + wi_run(g, i) - 1].next);

		late[e] = wi_time(g, e);
	}
	for (size_t i = g->nevents; i-- > 0;) {
		uint32_t e = g->order[i];

		wi_pause(g, i);
		for (uint32_t k = g->first[e]; k != NSX_NONE && late[e] != NEVER; k = wi_next(g, k)) {
			int64_t t = late[e] - wi_lag(g, k);

			if (t < late[g->edges.p[k].from])
				late[g->edges.p[k].from] = t;
		}
	}
}

/* ---- tables */

enum { PROFILE, OP, DEVICE, NAME, SLACK };
static const struct nsx_table_col each_cols[] = {
	{ "profile", NSX_CELL_ID }, { "op", NSX_CELL_ID }, { "device", NSX_CELL_ID }, { "name", NSX_CELL_STRING },
	{ "slack", NSX_CELL_NS }
};

static void
number(struct nsx_table *t, int col, int64_t v)
{
	if (v != NSX_ABSENT)
		nsx_table_int(t, col, v);
}

static struct nsx_table *
each_op(const struct wi_graph *g, const int64_t *late)
{
	struct nsx_table *t = nsx_table_new(each_cols, sizeof each_cols / sizeof *each_cols);
	const struct nsx_catalogue *cat = &g->pairing.comm.cat;

	for (size_t i = 0; t && i < g->ops.n; i++) {
		const struct wi_op *o = &g->ops.p[i];

		if (late[wi_end(i)] == NEVER)
			continue;
		nsx_table_row(t);
		number(t, PROFILE, cat->profiles.p[g->lanes.p[o->lane].profile].number);
		number(t, OP, g->op_numbers.p[i]);
		number(t, DEVICE, cat->devices.p[wi_device(g, o)].number);
		nsx_table_str(t, NAME, nsx_intern_str(&g->names, wi_task(g, o)->name));
		nsx_table_int(t, SLACK, late[wi_end(i)] - o->end);
	}
	nsx_table_rank(t, "slack name device");
	return t;
}

struct row { int64_t device, step, class, ops, critical, p10, p50, p90; uint32_t name; };
#define COL(name, type) { #name, type, NSX_SUM_INT, offsetof(struct row, name), 0, NULL }
static const struct nsx_sum_col cols[] = {
	COL(device, NSX_CELL_ID), { "class", NSX_CELL_STRING, NSX_SUM_TEXT, offsetof(struct row, name), 0, NULL },
	COL(step, NSX_CELL_ID), COL(ops, NSX_CELL_INT), COL(critical, NSX_CELL_INT),
	COL(p10, NSX_CELL_NS), COL(p50, NSX_CELL_NS), COL(p90, NSX_CELL_NS)
};
#undef COL
static const struct nsx_sum_def of_steps = { .size = sizeof(struct row),
					     .key = 3 * sizeof(int64_t),
					     .cols = cols,
					     .ncols = sizeof cols / sizeof *cols,
					     .order = "device class step",
					     .rank = "device step class p50 critical ops" };

/* The steps of a device and class, of which `step` is the one that time has come to, with what is known of it. */
struct cursor { size_t step, end; uint32_t next; NSX_VEC(int64_t) slacks; };

struct by_step {
	const struct wi_graph *g;
	struct nsx_sums *sums;
	NSX_VEC(struct cursor) cursors;
	uint32_t *of;            /* by device: the first of its cursors; they are linked by `next` */
};

/* The row of the step that a cursor is at; it goes on to the next one. */
static bool
end_step(struct by_step *b, struct cursor *c)
{
	const struct wi_graph *g = b->g;
	const struct wi_step *s = &g->steps.p[c->step++];
	int64_t key[3] = { g->pairing.comm.cat.devices.p[s->device].number, s->number, s->class };
	struct row *r = nsx_sums_row(b->sums, key);

	if (!r)
		return false;
	r->name = s->class;
	if (!c->slacks.n)
		return true;
	qsort(c->slacks.p, c->slacks.n, sizeof *c->slacks.p, nsx_sort_by_int);
	r->ops = (int64_t)c->slacks.n;
	while ((size_t)r->critical < c->slacks.n && c->slacks.p[r->critical] < CRITICAL)
		r->critical++;
	r->p10 = nsx_percentile(c->slacks.p, c->slacks.n, 10);
	r->p50 = nsx_percentile(c->slacks.p, c->slacks.n, 50);
	r->p90 = nsx_percentile(c->slacks.p, c->slacks.n, 90);
	c->slacks.n = 0;
	return true;
}

static bool
add_slack(struct by_step *b, struct cursor *c, const struct wi_op *o, int64_t late)
{
	const struct wi_graph *g = b->g;

	while (c->step < c->end && o->start >= g->ops.p[g->steps.p[c->step].next].start)
		if (!end_step(b, c))
			return false;
	if (c->step == c->end || o->start < g->ops.p[g->steps.p[c->step].first].start || late == NEVER)
		return true;
	return nsx_vec_push(&c->slacks, late - o->end);
}

static bool
list_cursors(struct by_step *b)
{
	const struct wi_graph *g = b->g;
	size_t n = g->pairing.comm.cat.devices.n;

	b->of = malloc((n + 1) * sizeof *b->of);
	for (size_t i = 0; b->of && i < n; i++)
		b->of[i] = NSX_NONE;
	for (size_t i = 0; b->of && i < g->steps.n; i += wi_run(g, i)) {
		uint32_t *of = &b->of[g->steps.p[i].device];
		struct cursor c = { .step = i, .end = i + wi_run(g, i), .next = *of };

		*of = (uint32_t)b->cursors.n;
		if (!nsx_vec_push(&b->cursors, c))
			return false;
	}
	return b->of != NULL;
}

/* Operations by device, step and slack. */
static struct nsx_table *
by_step(const struct wi_graph *g, const int64_t *late)
{
	struct nsx_sum_def def = of_steps;
	struct nsx_sums sums = { .def = &def, .text = wi_text, .state = &g->names };
	struct by_step b = { .g = g, .sums = &sums };
	struct nsx_table *t = NULL;
	bool good = list_cursors(&b);

	if (!g->classed) {
		def.shown = "device step ops critical p10 p50 p90";
		def.rank = "device step p50 critical ops";
	}
	for (size_t i = 0; i < g->ops.n && good; i++) {
		const struct wi_op *o = &g->ops.p[i];

		wi_pause(g, i);
		for (uint32_t c = b.of[wi_device(g, o)]; c != NSX_NONE && good; c = b.cursors.p[c].next)
			good = add_slack(&b, &b.cursors.p[c], o, late[wi_end(i)]);
	}
	for (size_t i = 0; i < b.cursors.n; i++) {
		while (good && b.cursors.p[i].step < b.cursors.p[i].end)
			good = end_step(&b, &b.cursors.p[i]);
		free(b.cursors.p[i].slacks.p);
	}
	if (good)
		t = nsx_sums_table(&sums, g->err);
	nsx_sums_free(&sums);
	free(b.cursors.p);
	free(b.of);
	return t;
}

int
nsx_wi_slack(const struct wi_graph *g, bool each, struct nsx_table **table)
{
	int64_t *late = nsx_large_array(wi_large(g), g->nevents, sizeof *late);

	if (!late)
		return nsx_err_nomem(g->err, NULL);
	latest(g, late);
	*table = each ? each_op(g, late) : by_step(g, late);
	nsx_large_free(wi_large(g), late);
	return *table ? NSX_OK : nsx_err_nomem(g->err, NULL);
}
