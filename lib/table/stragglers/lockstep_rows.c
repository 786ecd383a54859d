/* lockstep_rows.c -- the tables of devices in lockstep: a row for each device, or the curve of its biases. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/sort.h"
#include "table/stragglers/lockstep.h"
#include "table/sums.h"

/* A device, or an edge of an occurrence. */
struct row {
	struct nsx_str program, name;
	int64_t  id, peers;                          /* peers: their place in the order of programs */
	int64_t  device, executions, rank;
	int64_t  inst, occurrence, edge;
	double   mean, worst, sum;                   /* of the device's biases */
	double   at, time, min, max, std;            /* at: time, 0 where that is not known */
	const struct lag_biases *biases;             /* of the edge */
};

static const char *
edge_text(const void *row)
{
	return ((const struct row *)row)->edge == NSX_EDGE_START ? "start" : "end";
}

#define NSX_ROW struct row
static const struct nsx_sum_col cols[] = {
	NSX_COL("program", STRING, program), NSX_COL("id", ID, id), NSX_COL("device", ID, device),
	NSX_COL("executions", INT, executions), NSX_COL("bias_mean", MEAN_NS, mean),
	NSX_COL("bias_max", MEAN_NS, worst), NSX_COL("bias_sum", MEAN_NS, sum), NSX_COL("rank", ID, rank),
	NSX_COL("name", STRING, name), NSX_COL("occurrence", ID, occurrence), NSX_COL_SAID("edge", edge_text),
	NSX_COL("time", MEAN_NS, time), NSX_COL("min", MEAN_NS, min), NSX_COL("max", MEAN_NS, max),
	NSX_COL("std", MEAN_NS, std), NSX_COL("by_peers", INT, peers), NSX_COL("by_time", MEAN_NS, at),
	NSX_COL("by_inst", INT, inst), NSX_COL("by_edge", INT, edge),
};
/* The latest on average first, though one that is early may deviate more; a curve by time. */
static const struct nsx_sum_def of_devices = {
	NSX_ROWS(cols), .shown = "program id device executions bias_mean bias_max bias_sum rank",
	.order = "by_peers -bias_mean device", .rank = "program device bias_mean rank bias_max executions"
}, of_edges = {
	NSX_ROWS(cols), .shown = "program id name occurrence edge time min max std",
	.order = "by_peers by_time by_inst occurrence by_edge", .rank = "name occurrence edge time min max std"
};

/* The order of peers: the longest program first, then the lowest device. */
struct order { nsx_u128 time; struct nsx_str key; int64_t program, device; uint32_t peers; };

NSX_ORDER(order_cmp, struct order, NSX_CMP(b->time, a->time), nsx_str_cmp(a->key, b->key),
          NSX_CMP(a->program, b->program), NSX_CMP(a->device, b->device))

/* By bias_sum; with two devices these are equal: then the later one comes first. */
static int
rank_cmp(const void *pa, const void *pb)
{
	const struct lag_member *a = pa, *b = pb;
	double x = (double)a->sum / (double)a->biases, y = (double)b->sum / (double)b->biases;

	return NSX_FIRST(NSX_CMP(b->worst_sum, a->worst_sum), NSX_CMP(y, x), NSX_CMP(a->device, b->device));
}

int
nsx_lockstep_order(struct lockstep *f, size_t *n)
{
	struct order *rows = malloc((f->peers.n + 1) * sizeof *rows);

	*n = 0;
	for (size_t i = 0; rows && i < f->peers.n; i++) {
		const struct lag_peers *u = &f->peers.p[i];
		const struct nsx_cat_program *p = &f->comm.cat.programs.p[u->program];
		struct order o = { f->top.programs.p[u->program].modules, nsx_cat_str(&f->comm.cat, p->key),
		                   p->number, INT64_MAX, (uint32_t)i };

		for (size_t k = 0; k < u->members.n; k++)
			o.device = u->members.p[k].device < o.device ? u->members.p[k].device : o.device;
		if (u->members.n)
			rows[(*n)++] = o;
	}
	nsx_sort(rows, *n, order_cmp);
	for (size_t i = 0; i < *n; i++)
		f->peers.p[rows[i].peers].place = (int64_t)i;
	free(rows);
	return rows ? NSX_OK : NSX_NOMEM(f);
}

static struct row
row_of(const struct lockstep *f, const struct lag_peers *u)
{
	return (struct row){ .program = nsx_cat_str(&f->comm.cat, nsx_top_name(&f->top, u->program)),
	                     .id = f->comm.cat.programs.p[u->program].id, .peers = u->place };
}

static bool
add_devices(const struct lockstep *f, struct nsx_sums *sums)
{
	for (size_t i = 0; i < f->biases.n; i++) {
		const struct lag_biases *s = &f->biases.p[i];

		for (size_t k = 0; k < 2 * (size_t)s->cap; k++)
			f->peers.p[s->peers].members.p[k / 2].worst_sum += s->worst[k];
	}
	for (size_t i = 0; i < f->peers.n; i++) {
		struct lag_peers *u = &f->peers.p[i];

		nsx_sort(u->members.p, u->members.n, rank_cmp);
		for (size_t k = 0; k < u->members.n; k++) {
			const struct lag_member *m = &u->members.p[k];
			struct row *r = nsx_sums_add(sums);

			if (!r)
				return false;
			*r = row_of(f, u);
			r->device = m->device;
			r->executions = m->executions;
			r->mean = (double)m->sum / (double)m->biases / NSX_BIAS_UNIT;
			r->worst = (double)m->worst / NSX_BIAS_UNIT;
			r->sum = (double)m->worst_sum / NSX_BIAS_UNIT;
			r->rank = (int64_t)k + 1;
		}
	}
	return true;
}

/* ---- a curve */

static bool
add_edges(const struct lockstep *f, struct nsx_sums *sums)
{
	for (size_t i = 0; i < 2 * f->biases.n; i++) {
		const struct lag_biases *s = &f->biases.p[i / 2];
		const struct lag_occurrence *o = &f->occurrences.p[s->occurrence];
		int edge = i % 2 ? NSX_EDGE_END : NSX_EDGE_START;
		const struct nsx_stat *all = &s->all[edge], *time = &s->time[edge];
		struct row *r = nsx_sums_add(sums);

		if (!r)
			return false;
		*r = row_of(f, &f->peers.p[s->peers]);
		r->name = nsx_intern_str(&f->names, o->name);
		r->inst = f->comm.cat.insts.p[o->inst].number;
		r->occurrence = o->number >= 0 ? o->number : NSX_ABSENT;
		r->edge = edge;
		r->time = time->n ? nsx_stat_mean(time) / NSX_BIAS_UNIT : NAN;
		r->at = time->n ? r->time : 0;
		r->min = (double)all->min / NSX_BIAS_UNIT;
		r->max = (double)all->max / NSX_BIAS_UNIT;
		r->std = nsx_stat_std_all(all) / NSX_BIAS_UNIT;
		r->biases = s;
	}
	return true;
}

/* The devices of the curve's columns: all members of all peers, each once, ascending. */
struct columns { NSX_VEC(int64_t) devices; };

static bool
list_devices(const struct lockstep *f, struct columns *c)
{
	for (size_t i = 0; i < f->peers.n; i++)
		for (size_t k = 0; k < f->peers.p[i].members.n; k++)
			if (!nsx_vec_push(&c->devices, f->peers.p[i].members.p[k].device))
				return false;
	c->devices.n = nsx_sort_unique(c->devices.p, c->devices.n);
	return true;
}

/* The columns bias_DEVICE; their names follow them in one block. NULL when out of memory. */
static struct nsx_table_col *
make_columns(const struct columns *c)
{
	enum { LONGEST = sizeof "bias_" + NSX_INT_CHARS };
	struct nsx_table_col *own = malloc(c->devices.n * (sizeof *own + LONGEST) + 1);

	for (size_t i = 0; own && i < c->devices.n; i++) {
		char *name = (char *)(own + c->devices.n) + i * LONGEST;

		memcpy(name, "bias_", 5);
		*(c->devices.p[i] == NSX_ABSENT ? name + 5 : nsx_put_int(name + 5, c->devices.p[i])) = '\0';
		own[i] = (struct nsx_table_col){ name, NSX_CELL_MEAN_NS };
	}
	return own;
}

/* The cells of the devices, which begin in that column. */
static void
put_biases(const struct lockstep *f, struct nsx_table *t, int first, const struct row *r, const struct columns *c)
{
	const struct lag_biases *s = r->biases;

	for (size_t m = 0; m < s->cap; m++) {
		const int64_t *at = bsearch(&f->peers.p[s->peers].members.p[m].device, c->devices.p, c->devices.n,
		                            sizeof *at, nsx_sort_by_int);
		size_t k = 2 * m + (size_t)r->edge;

		if (s->n[k])
			nsx_table_double(t, first + (int)(at - c->devices.p),
			                 (double)s->sum[k] / (double)s->n[k] / NSX_BIAS_UNIT);
	}
}

static int
put_curve(struct lockstep *f, struct nsx_sums *sums, const struct columns *c, struct nsx_table **out)
{
	struct nsx_table_col *more = make_columns(c);

	if (!more)
		return NSX_NOMEM(f);
	sums->more = more;
	sums->nmore = (int)c->devices.n;
	*out = nsx_sums_begin(sums, f->err);
	free(more);
	if (!*out)
		return NSX_ERR;
	nsx_sums_sort(sums);
	for (size_t i = 0; i < nsx_sums_count(sums); i++) {
		nsx_sums_put(sums, *out, nsx_sums_at(sums, i), f->err);
		put_biases(f, *out, sums->cells, nsx_sums_at(sums, i), c);
	}
	return NSX_OK;
}

int
nsx_lockstep_edges(struct lockstep *f, struct nsx_table **out)
{
	struct nsx_sums sums = { .def = &of_edges };
	struct columns c = { { 0 } };
	int rc = add_edges(f, &sums) && list_devices(f, &c) ? put_curve(f, &sums, &c, out) : NSX_NOMEM(f);

	free(c.devices.p);
	nsx_sums_free(&sums);
	return rc;
}

int
nsx_lockstep_devices(struct lockstep *f, struct nsx_table **out)
{
	struct nsx_sums sums = { .def = &of_devices };
	int rc = add_devices(f, &sums) ? NSX_OK : NSX_NOMEM(f);

	if (rc == NSX_OK)
		rc = (*out = nsx_sums_table(&sums, f->err)) ? NSX_OK : NSX_ERR;
	nsx_sums_free(&sums);
	return rc;
}
