/* critical.c -- the critical path by part, device, operation or edge. */
#include <stdlib.h>

#include "table/sums.h"
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
	.ncols = 6, .order = "class step device -ns part", .rank = "step device class part share ns" };
static const struct nsx_sum_def device_def = { .size = sizeof(struct row), .key = 4 * sizeof(int64_t),
	.cols = device_cols, .ncols = 6, .order = "class step device -ns on", .rank = "step device class on share ns" };

static struct nsx_table *
by_step(const struct wi_graph *g, const wi_path *path, bool part)
{
	struct nsx_sum_def def = part ? part_def : device_def;
	struct nsx_sums sums = { .def = &def, .text = wi_text, .state = &g->names };
	struct nsx_table *t = NULL;
	size_t i = 0;

	if (!g->classed) {
		def.shown = part ? "step device part ns share" : "step device on ns share";
		def.rank = part ? "step device part share ns" : "step device on share ns";
	}
	for (; i < path->n; i++) {
		const struct wi_hop *h = &path->p[i];
		const struct wi_step *s = &g->steps.p[h->step];
		int64_t key[4] = { s->number, device_number(g, s->device), part ? h->part : device_number(g, h->on),
		                   s->class };
		struct row *r = nsx_sums_row(&sums, key);

		if (!r)
			break;
		r->name = s->class;
		r->ns += h->ns;
		r->period = g->ops.p[s->next].start - g->ops.p[s->first].start;
	}
	if (i == path->n)
		t = nsx_sums_table(&sums, g->err);
	nsx_sums_free(&sums);
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
	.ncols = 6, .order = "-ns name device", .rank = "name device share gain ns count" };

/* What a step saves if the operations of these rows, which are sorted, take no time. */
static bool
set_gains(const struct wi_graph *g, struct nsx_sums *sums)
{
	int64_t *lags = malloc((g->edges.n + 1) * sizeof *lags), *times = malloc((g->nevents + 1) * sizeof *times);
	double period = nsx_wi_period(g, g->times, NULL);
	bool good = lags && times;

	for (size_t i = 0; i < nsx_sums_count(sums) && good; i++) {
		struct op_row *r = nsx_sums_at(sums, i);

		r->gain = NSX_ABSENT;
		if (i >= GAINS)
			continue;
		for (size_t k = 0; k < g->edges.n; k++)
			lags[k] = g->lags.p[k];
		for (size_t o = 0; o < g->ops.n; o++)
			if (g->ops.p[o].name == r->name && g->ops.p[o].device == r->device)
				for (uint32_t k = g->first[wi_end(o)]; k < g->first[wi_end(o) + 1]; k++)
					lags[k] = 0;
		nsx_wi_sweep(g, lags, times);
		r->gain = (int64_t)(period - nsx_wi_period(g, times, NULL) + 0.5);
	}
	free(lags);
	free(times);
	return good;
}

static struct nsx_table *
by_op(const struct wi_graph *g, const wi_path *path)
{
	struct nsx_sums sums = { .def = &op_def, .text = wi_text, .state = &g->names };
	struct nsx_table *t = NULL;
	int64_t all = 0;
	uint32_t last = NSX_NONE;
	bool good = true;

	for (size_t i = 0; i < path->n && good; i++) {
		const struct wi_hop *h = &path->p[i];
		const struct wi_op *o = h->edge != NSX_NONE && wi_is_op(g, h->event) ? &g->ops.p[wi_op_of(h->event)]
		                        : NULL;
		struct op_row *r;

		all += h->ns;
		if (!o || (h->part != WI_COMPUTE && h->part != WI_COMM && h->part != WI_COPY))
			continue;
		r = nsx_sums_row(&sums, (uint32_t[2]){ o->name, o->device });
		good = r != NULL;
		if (!good)
			break;
		r->number = device_number(g, o->device);
		r->count += h->event != last;
		r->ns += h->ns;
		last = h->event;
	}
	for (size_t i = 0; i < nsx_sums_count(&sums); i++)
		((struct op_row *)nsx_sums_at(&sums, i))->all = all;
	nsx_sums_sort(&sums);
	good = good && set_gains(g, &sums);
	if (good)
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
	int64_t number = op ? g->ops.p[wi_op_of(h->event)].number : g->calls.p[wi_call_of(g, h->event)].number;

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

/* Device by device in order of time: a path is found backwards. */
static struct nsx_table *
each_edge(const struct wi_graph *g, const wi_path *path)
{
	struct nsx_table *t = nsx_table_new(edge_cols, sizeof edge_cols / sizeof *edge_cols);

	for (size_t i = 0, n; t && i < path->n; i += n) {
		const struct wi_step *s = &g->steps.p[path->p[i].step];

		for (n = 1; i + n < path->n && g->steps.p[path->p[i + n].step].device == s->device
		     && g->steps.p[path->p[i + n].step].class == s->class;)
			n++;
		for (size_t k = n; k-- > 0;)
			put_edge(g, &path->p[i + k], t);
	}
	return t;
}

int
nsx_wi_critical(const struct wi_graph *g, const wi_path *path, enum nsx_whatif_form form, struct nsx_table **table)
{
	*table = form == NSX_WHATIF_OP ? by_op(g, path) : form == NSX_WHATIF_EDGES ? each_edge(g, path)
	         : by_step(g, path, form == NSX_WHATIF_PART);
	return *table ? NSX_OK : nsx_err_nomem(g->err, NULL);
}
