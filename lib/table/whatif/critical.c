/* critical.c -- the critical path by part, device, operation or edge. */
#include <math.h>
#include <stdlib.h>

#include "base/num.h"
#include "table/sums.h"
#include "table/whatif/gains.h"
#include "table/whatif/plan.h"
#include "table/whatif/tables.h"

static int64_t
device_number(const struct wi_graph *g, uint32_t device)
{
	return g->pairing.comm.cat.devices.p[device].number;
}

/* ---- by part, and by device */

struct row { int64_t step, device, which, class; int64_t ns, period; uint32_t name; };
static const char *
say_part(const void *row)
{
	return nsx_wi_part_names[((const struct row *)row)->which];
}

#define INT(name, type, member) { name, type, NSX_SUM_INT, offsetof(struct row, member), 0, NULL }
#define SHARE { "share", NSX_CELL_SHARE, NSX_SUM_RATIO, offsetof(struct row, ns), offsetof(struct row, period), NULL }
#define CLASS { "class", NSX_CELL_STRING, NSX_SUM_TEXT, offsetof(struct row, name), 0, NULL }
static const struct nsx_sum_col part_cols[] = {
	INT("step", NSX_CELL_ID, step), INT("device", NSX_CELL_ID, device), CLASS,
	{ "part", NSX_CELL_STRING, NSX_SUM_SAID, 0, 0, say_part }, INT("ns", NSX_CELL_NS, ns), SHARE
};
static const struct nsx_sum_col device_cols[] = {
	INT("step", NSX_CELL_ID, step), INT("device", NSX_CELL_ID, device), CLASS, INT("on", NSX_CELL_ID, which),
	INT("ns", NSX_CELL_NS, ns), SHARE
};
#undef INT
#undef SHARE
#undef CLASS
static const struct nsx_sum_def part_def = { .size = sizeof(struct row), .key = 4 * sizeof(int64_t), .cols = part_cols,
	.ncols = 6, .order = "class step device -ns part", .rank = "step device class part share ns",
	.heads = { { "ns", "time" } } };
static const struct nsx_sum_def device_def = { .size = sizeof(struct row), .key = 4 * sizeof(int64_t),
	.cols = device_cols, .ncols = 6, .order = "class step device -ns on", .rank = "step device class on share ns",
	.heads = { { "ns", "time" } } };

static void
note_parts(struct nsx_table *t, bool unseen)
{
	nsx_table_note(t, "of the critical path, on which the host may be while devices compute: no share of idle "
	               "time, which nsysx-idle has");
	if (unseen)
		nsx_table_note(t, "unseen: between calls while the device has work, the host works, or waits for it in "
		               "no call");
}

struct summing { const struct wi_graph *g; struct nsx_sums *sums; bool part, unseen; };

static bool
add_hop(void *state, const struct wi_hop *h)
{
	struct summing *by = state;
	const struct wi_graph *g = by->g;
	const struct wi_step *s = &g->steps.p[h->step];
	int64_t key[4] = { s->number, device_number(g, s->device), by->part ? h->part : device_number(g, h->on),
	                   s->class };
	struct row *r = nsx_sums_row(by->sums, key);

	if (!r)
		return false;
	by->unseen |= h->part == WI_UNSEEN_PART;
	r->name = s->class;
	r->ns += h->ns;
	r->period = g->ops.p[s->next].start - g->ops.p[s->first].start;
	return true;
}

static struct nsx_table *
by_step(const struct wi_graph *g, bool part)
{
	struct nsx_sum_def def = part ? part_def : device_def;
	struct nsx_sums sums = { .def = &def, .text = wi_text, .state = &g->names };
	struct summing by = { g, &sums, part, false };
	struct nsx_table *t = NULL;

	if (!g->classed) {
		def.shown = part ? "step device part ns share" : "step device on ns share";
		def.rank = part ? "step device part share ns" : "step device on share ns";
	}
	if (nsx_wi_walk_all(g, add_hop, &by))
		t = nsx_sums_table(&sums, g->err);
	nsx_sums_free(&sums);
	if (t && part)
		note_parts(t, by.unseen);
	return t;
}

/* ---- by part, of all steps */

struct mean_row { int64_t which, ns, all, steps, all_steps; double mean, all_period; };
static const char *
say_mean(const void *row)
{
	return nsx_wi_part_names[((const struct mean_row *)row)->which];
}

static const struct nsx_sum_col mean_cols[] = {
	{ "part", NSX_CELL_STRING, NSX_SUM_SAID, 0, 0, say_mean },
	{ "ns", NSX_CELL_MEAN_NS, NSX_SUM_REAL, offsetof(struct mean_row, mean), 0, NULL },
	{ "share", NSX_CELL_SHARE, NSX_SUM_RATIO, offsetof(struct mean_row, ns), offsetof(struct mean_row, all), NULL },
	{ "steps", NSX_CELL_INT, NSX_SUM_INT, offsetof(struct mean_row, steps), 0, NULL },
	{ "all_steps", NSX_CELL_INT, NSX_SUM_INT, offsetof(struct mean_row, all_steps), 0, NULL },
	{ "all_period", NSX_CELL_MEAN_NS, NSX_SUM_REAL, offsetof(struct mean_row, all_period), 0, NULL }
};
static const struct nsx_sum_def mean_def = { .size = sizeof(struct mean_row), .key = sizeof(int64_t), .cols = mean_cols,
	.ncols = 6, .order = "-ns part", .rank = "part ns share steps",
	.heads = { { "ns", "time" } } };

static bool
add_mean(void *state, const struct wi_hop *h)
{
	struct mean_row *r = nsx_sums_row(state, &(int64_t){ h->part });

	if (r)
		r->ns += h->ns;
	return r != NULL;
}

static struct nsx_table *
of_all(const struct wi_graph *g)
{
	struct nsx_sums sums = { .def = &mean_def };
	struct nsx_table *t = NULL;
	int64_t all = 0, removed = 0, steps = (int64_t)g->steps.n;
	bool good = nsx_wi_walk_all(g, add_mean, &sums), unseen = false;

	for (size_t i = 0; i < g->steps.n; i++)
		removed += g->steps.p[i].removed;
	for (size_t i = 0; i < nsx_sums_count(&sums); i++)
		all += ((const struct mean_row *)nsx_sums_at(&sums, i))->ns;
	for (size_t i = 0; i < nsx_sums_count(&sums); i++) {
		struct mean_row *r = nsx_sums_at(&sums, i);

		unseen |= r->which == WI_UNSEEN_PART;
		r->all = all;
		r->steps = steps;
		r->all_steps = g->all.periods ? g->all.periods : NSX_ABSENT;
		r->all_period = g->all.periods ? g->all.ns : NAN;
		r->mean = (double)r->ns / (double)steps;
	}
	if (good)
		t = nsx_sums_table(&sums, g->err);
	nsx_sums_free(&sums);
	if (t)
		note_parts(t, unseen);
	if (t && removed > 0)
		nsx_table_note(t, "parts have %s a step that nsysx-warmup removed, and the period has not",
		               NSX_NS((double)removed / (double)steps));
	return t;
}

/* ---- by operation */

enum { GAINS = 64 };     /* rows that are replayed without their operations */

struct op_row { uint32_t name, device; int64_t number, count, ns, all, gain; };
#define INT(name, type, member) { name, type, NSX_SUM_INT, offsetof(struct op_row, member), 0, NULL }
static const struct nsx_sum_col op_cols[] = {
	{ "name", NSX_CELL_STRING, NSX_SUM_TEXT, offsetof(struct op_row, name), 0, NULL },
	INT("device", NSX_CELL_ID, number), INT("count", NSX_CELL_INT, count), INT("ns", NSX_CELL_NS, ns),
	{ "share", NSX_CELL_SHARE, NSX_SUM_RATIO, offsetof(struct op_row, ns), offsetof(struct op_row, all), NULL },
	INT("gain", NSX_CELL_NS, gain)
};
#undef INT
static const struct nsx_sum_def op_def = { .size = sizeof(struct op_row), .key = 2 * sizeof(uint32_t), .cols = op_cols,
	.ncols = 6, .order = "-ns name device", .rank = "name device share gain ns count",
	.heads = { { "ns", "time" } } };

/* What a step saves if the operations of these rows, which are sorted, take no time; absent where there are no
 * forecasts. */
static bool
set_gains(const struct wi_graph *g, struct nsx_sums *sums, struct wi_gains *w)
{
	size_t n = w->refused ? 0 : nsx_sums_count(sums);
	struct wi_trial trials[GAINS] = { 0 };
	bool good = true;

	for (size_t i = 0; i < nsx_sums_count(sums); i++)
		((struct op_row *)nsx_sums_at(sums, i))->gain = NSX_ABSENT;
	n = n < GAINS ? n : GAINS;
	for (size_t i = 0; i < n && good; i++) {
		const struct op_row *r = nsx_sums_at(sums, i);

		good = nsx_wi_plan_remove(&trials[i].plan, g, r->name, r->device) == NSX_OK;
	}
	good = good && nsx_wi_gains(w, trials, n, false) == NSX_OK;
	for (size_t i = 0; i < n; i++) {
		if (good)
			((struct op_row *)nsx_sums_at(sums, i))->gain = (int64_t)(trials[i].gain.saved + 0.5);
		nsx_wi_plan_free(&trials[i].plan);
	}
	return good;
}

/* last: the event of the last part that was taken, of the path of that device and class of steps: paths may share
 * events. */
struct op_sums { const struct wi_graph *g; struct nsx_sums *sums; int64_t all; uint32_t last, device, class; };

static bool
add_op(void *state, const struct wi_hop *h)
{
	struct op_sums *s = state;
	const struct wi_graph *g = s->g;
	const struct wi_op *o = h->edge != NSX_NONE && wi_is_op(g, h->event) ? &g->ops.p[wi_op_of(h->event)] : NULL;
	const struct wi_step *x = &g->steps.p[h->step];
	struct op_row *r;

	s->all += h->ns;
	if (!o || (h->part != WI_COMPUTE && h->part != WI_COMM && h->part != WI_COPY))
		return true;
	r = nsx_sums_row(s->sums, (uint32_t[2]){ wi_task(g, o)->name, wi_device(g, o) });
	if (!r)
		return false;
	r->number = device_number(g, wi_device(g, o));
	r->count += h->event != s->last || x->device != s->device || x->class != s->class;
	r->ns += h->ns;
	s->last = h->event;
	s->device = x->device;
	s->class = x->class;
	return true;
}

/* Gains of rows, or a warning why there are none. */
static int
add_gains(const struct wi_graph *g, struct nsx_sums *sums, struct nsx_diags *diags)
{
	struct wi_path path = { 0 };
	struct wi_gains gains = { 0 };
	int rc = nsx_wi_find_path(g, &path);

	if (rc == NSX_OK)
		rc = nsx_wi_gains_begin(&gains, g, &path);
	if (rc == NSX_OK && !(nsx_wi_say_doubts(&gains, false, diags) && set_gains(g, sums, &gains)))
		rc = NSX_ERR;
	nsx_wi_gains_free(&gains);
	nsx_wi_path_free(&path);
	return rc;
}

static struct nsx_table *
by_op(const struct wi_graph *g, struct nsx_diags *diags)
{
	struct nsx_sums sums = { .def = &op_def, .text = wi_text, .state = &g->names };
	struct op_sums s = { g, &sums, 0, NSX_NONE, NSX_NONE, NSX_NONE };
	struct nsx_table *t = NULL;
	bool good = nsx_wi_walk_all(g, add_op, &s);

	for (size_t i = 0; i < nsx_sums_count(&sums); i++)
		((struct op_row *)nsx_sums_at(&sums, i))->all = s.all;
	nsx_sums_sort(&sums);
	if (good && add_gains(g, &sums, diags) == NSX_OK)
		t = nsx_sums_table(&sums, g->err);
	nsx_sums_free(&sums);
	return t;
}

/* ---- edges */

enum { STEP, DEVICE, START, DUR, CLASS, PART, OP, CALL, ON };
static const struct nsx_table_col edge_cols[] = {
	{ "step", NSX_CELL_ID }, { "device", NSX_CELL_ID }, { "start", NSX_CELL_TIME }, { "dur", NSX_CELL_NS },
	{ "class", NSX_CELL_STRING }, { "part", NSX_CELL_STRING }, { "op", NSX_CELL_ID }, { "call", NSX_CELL_ID },
	{ "on", NSX_CELL_ID }
};

static void
put_edge(const struct wi_graph *g, const struct wi_hop *h, struct nsx_table *t)
{
	const struct wi_step *s = &g->steps.p[h->step];
	bool op = wi_is_op(g, h->event);
	int64_t number = op ? g->op_numbers.p[wi_op_of(h->event)] : g->call_numbers.p[wi_call_of(g, h->event)];

	nsx_table_row(t);
	nsx_table_int(t, STEP, s->number);
	nsx_table_int(t, DEVICE, device_number(g, s->device));
	nsx_table_int(t, START, h->start);
	nsx_table_int(t, DUR, h->ns);
	if (h->edge != NSX_NONE)
		nsx_table_str(t, CLASS, nsx_str_c(nsx_wi_class_names[g->edges.p[h->edge].class]));
	nsx_table_str(t, PART, nsx_str_c(nsx_wi_part_names[h->part]));
	if (number != NSX_ABSENT)
		nsx_table_int(t, op ? OP : CALL, number);
	nsx_table_int(t, ON, device_number(g, h->on));
}

struct hops { const struct wi_graph *g; struct nsx_table *t; NSX_VEC(struct wi_hop) list; };

/* Those of one device, which were found backwards, in order of time. */
static void
put_edges(struct hops *s)
{
	while (s->list.n)
		put_edge(s->g, &s->list.p[--s->list.n], s->t);
}

static bool
keep_hop(void *state, const struct wi_hop *h)
{
	struct hops *s = state;
	const struct wi_step *x = &s->g->steps.p[h->step];
	const struct wi_step *last = s->list.n ? &s->g->steps.p[s->list.p[0].step] : NULL;

	if (last && (last->device != x->device || last->class != x->class))
		put_edges(s);
	return nsx_vec_push(&s->list, *h);
}

static struct nsx_table *
each_edge(const struct wi_graph *g)
{
	struct hops s = { .g = g, .t = nsx_table_new(edge_cols, sizeof edge_cols / sizeof *edge_cols) };

	if (s.t && nsx_wi_walk(g, keep_hop, &s)) {
		put_edges(&s);
	} else {
		nsx_table_free(s.t);
		s.t = NULL;
	}
	free(s.list.p);
	return s.t;
}

int
nsx_wi_critical(const struct wi_graph *g, enum nsx_whatif_form form, struct nsx_table **table,
                struct nsx_diags *diags)
{
	*table = form == NSX_WHATIF_OP ? by_op(g, diags) : form == NSX_WHATIF_EDGES ? each_edge(g)
	         : form == NSX_WHATIF_MEAN ? of_all(g) : by_step(g, form == NSX_WHATIF_PART);
	return *table ? NSX_OK : nsx_err_nomem(g->err, NULL);
}
