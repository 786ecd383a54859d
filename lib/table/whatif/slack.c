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
		for (uint32_t k = g->first[e]; k < g->first[e + 1] && late[e] != NEVER; k++) {
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

/* Operations by device, step and slack. */
static struct nsx_table *
by_step(const struct wi_graph *g, const int64_t *late)
{
	struct nsx_sum_def def = of_steps;
	struct nsx_sums sums = { .def = &def, .text = wi_text, .state = &g->names };
	NSX_VEC(int64_t) slacks = { 0 };
	struct nsx_table *t = NULL;
	bool good = true;

	if (!g->classed) {
		def.shown = "device step ops critical p10 p50 p90";
		def.rank = "device step p50 critical ops";
	}
	for (size_t k = 0; k < g->steps.n && good; k++) {
		const struct wi_step *s = &g->steps.p[k];
		int64_t key[3] = { g->pairing.comm.cat.devices.p[s->device].number, s->number, s->class };
		struct row *r = nsx_sums_row(&sums, key);
		size_t i = nsx_wi_ops_from(g, s->device, g->ops.p[s->first].start);
		size_t end = nsx_wi_ops_from(g, s->device, g->ops.p[s->next].start);

		good = r != NULL;
		slacks.n = 0;
		for (; i < end && good; i++) {
			uint32_t op = g->by_device[i];

			if (late[wi_end(op)] != NEVER)
				good = nsx_vec_push(&slacks, late[wi_end(op)] - g->ops.p[op].end);
		}
		if (!good)
			continue;
		r->name = s->class;
		if (!slacks.n)
			continue;
		qsort(slacks.p, slacks.n, sizeof *slacks.p, nsx_sort_by_int);
		r->ops = (int64_t)slacks.n;
		while ((size_t)r->critical < slacks.n && slacks.p[r->critical] < CRITICAL)
			r->critical++;
		r->p10 = nsx_percentile(slacks.p, slacks.n, 10);
		r->p50 = nsx_percentile(slacks.p, slacks.n, 50);
		r->p90 = nsx_percentile(slacks.p, slacks.n, 90);
	}
	if (good)
		t = nsx_sums_table(&sums, g->err);
	nsx_sums_free(&sums);
	free(slacks.p);
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
