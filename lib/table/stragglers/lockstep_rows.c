/* lockstep_rows.c -- the tables of devices in lockstep: a row for each device, or the curve of its biases. */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "table/stragglers/lockstep.h"

enum { D_PROGRAM, D_ID, D_DEVICE, D_EXECUTIONS, D_BIAS_MEAN, D_BIAS_MAX, D_BIAS_SUM, D_RANK, D_NCOLS };

static const struct nsx_table_col device_cols[D_NCOLS] = {
	[D_PROGRAM]    = { "program", NSX_CELL_STRING },
	[D_ID]         = { "id", NSX_CELL_ID },
	[D_DEVICE]     = { "device", NSX_CELL_ID },
	[D_EXECUTIONS] = { "executions", NSX_CELL_INT },
	[D_BIAS_MEAN]  = { "bias_mean", NSX_CELL_MEAN_NS },
	[D_BIAS_MAX]   = { "bias_max", NSX_CELL_MEAN_NS },
	[D_BIAS_SUM]   = { "bias_sum", NSX_CELL_MEAN_NS },
	[D_RANK]       = { "rank", NSX_CELL_ID },
};

enum { C_PROGRAM, C_ID, C_NAME, C_OCCURRENCE, C_EDGE, C_TIME, C_MIN, C_MAX, C_STD, C_NCOLS };

static const struct nsx_table_col curve_cols[C_NCOLS] = {
	[C_PROGRAM]    = { "program", NSX_CELL_STRING },
	[C_ID]         = { "id", NSX_CELL_ID },
	[C_NAME]       = { "name", NSX_CELL_STRING },
	[C_OCCURRENCE] = { "occurrence", NSX_CELL_INT },
	[C_EDGE]       = { "edge", NSX_CELL_STRING },
	[C_TIME]       = { "time", NSX_CELL_MEAN_NS },
	[C_MIN]        = { "min", NSX_CELL_MEAN_NS },
	[C_MAX]        = { "max", NSX_CELL_MEAN_NS },
	[C_STD]        = { "std", NSX_CELL_MEAN_NS },
};

static int
nomem(struct lockstep *f)
{
	return nsx_err_nomem(f->begin.late->err, NULL);
}

/* The order of peers: the longest program first, then the lowest device. */
struct order { nsx_u128 time; struct nsx_str key; int64_t program, device; uint32_t peers; };

static int
order_cmp(const void *pa, const void *pb)
{
	const struct order *a = pa, *b = pb;
	int c = nsx_str_cmp(a->key, b->key);

	if (a->time != b->time)
		return a->time > b->time ? -1 : 1;
	if (c == 0)
		c = (a->program > b->program) - (a->program < b->program);
	return c ? c : (a->device > b->device) - (a->device < b->device);
}

static int
rank_cmp(const void *pa, const void *pb)
{
	const struct lag_member *a = pa, *b = pb;

	if (a->worst_sum != b->worst_sum)
		return a->worst_sum > b->worst_sum ? -1 : 1;
	/* With two devices the sums are always equal: then the later one comes first. */
	double x = (double)a->sum / (double)a->biases, y = (double)b->sum / (double)b->biases;
	if (x != y)
		return x > y ? -1 : 1;
	return (a->device > b->device) - (a->device < b->device);
}

/* The latest on average first, though one that is early may deviate more. */
static int
late_cmp(const void *pa, const void *pb)
{
	const struct lag_member *a = pa, *b = pb;
	double x = (double)a->sum / (double)a->biases, y = (double)b->sum / (double)b->biases;

	if (x != y)
		return x > y ? -1 : 1;
	return (a->device > b->device) - (a->device < b->device);
}

/* Peers that have members, in the order of rows; NULL when out of memory. */
static struct order *
order_peers(const struct lockstep *f, size_t *n)
{
	struct order *rows = malloc((f->peers.n + 1) * sizeof *rows);

	*n = 0;
	for (size_t i = 0; rows && i < f->peers.n; i++) {
		const struct lag_peers *u = &f->peers.p[i];
		const struct nsx_cat_program *p = &f->begin.late->comm.cat.programs.p[u->program];
		struct order o = { f->begin.late->top.programs.p[u->program].modules,
		                   nsx_cat_str(&f->begin.late->comm.cat, p->key),
		                   p->number, INT64_MAX, (uint32_t)i };

		for (size_t k = 0; k < u->members.n; k++)
			o.device = u->members.p[k].device < o.device ? u->members.p[k].device : o.device;
		if (u->members.n)
			rows[(*n)++] = o;
	}
	if (*n > 1)
		qsort(rows, *n, sizeof *rows, order_cmp);
	return rows;
}

static void
put_program(const struct lockstep *f, struct nsx_table *t, const struct lag_peers *u)
{
	int64_t id = f->begin.late->comm.cat.programs.p[u->program].id;

	/* Both tables begin with these. */
	nsx_table_row(t);
	nsx_table_str(t, D_PROGRAM, nsx_cat_str(&f->begin.late->comm.cat, nsx_top_name(&f->begin.late->top,
		u->program)));
	if (id != NSX_ABSENT)
		nsx_table_int(t, D_ID, id);
}

static void
put_members(const struct lockstep *f, struct nsx_table *t, struct lag_peers *u)
{
	qsort(u->members.p, u->members.n, sizeof *u->members.p, rank_cmp);
	for (size_t i = 0; i < u->members.n; i++)
		u->members.p[i].rank = (int64_t)i + 1;
	qsort(u->members.p, u->members.n, sizeof *u->members.p, late_cmp);
	for (size_t i = 0; i < u->members.n; i++) {
		const struct lag_member *m = &u->members.p[i];

		put_program(f, t, u);
		if (m->device != NSX_ABSENT)
			nsx_table_int(t, D_DEVICE, m->device);
		nsx_table_int(t, D_EXECUTIONS, m->executions);
		nsx_table_double(t, D_BIAS_MEAN, (double)m->sum / (double)m->biases / NSX_BIAS_UNIT);
		nsx_table_double(t, D_BIAS_MAX, (double)m->worst / NSX_BIAS_UNIT);
		nsx_table_double(t, D_BIAS_SUM, (double)m->worst_sum / NSX_BIAS_UNIT);
		nsx_table_int(t, D_RANK, m->rank);
	}
}

static int
put_devices(struct lockstep *f, struct nsx_stragglers *out, const struct order *rows, size_t n)
{
	out->table = nsx_table_new(device_cols, D_NCOLS);
	nsx_table_rank(out->table, "program device bias_mean rank bias_max executions");
	if (!out->table)
		return nomem(f);
	for (size_t i = 0; i < f->biases.n; i++) {
		const struct lag_biases *s = &f->biases.p[i];

		for (size_t k = 0; k < 2 * (size_t)s->cap; k++)
			f->peers.p[s->peers].members.p[k / 2].worst_sum += s->worst[k];
	}
	for (size_t i = 0; i < n; i++)
		put_members(f, out->table, &f->peers.p[rows[i].peers]);
	return NSX_OK;
}

/* The devices of the curve's columns: all members of all peers, each once, ascending. */
struct columns { NSX_VEC(int64_t) devices; };

static int
int_cmp(const void *pa, const void *pb)
{
	int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;

	return (a > b) - (a < b);
}

static bool
list_devices(const struct lockstep *f, struct columns *c)
{
	size_t n = 0;

	for (size_t i = 0; i < f->peers.n; i++)
		for (size_t k = 0; k < f->peers.p[i].members.n; k++)
			if (!nsx_vec_push(&c->devices, f->peers.p[i].members.p[k].device))
				return false;
	if (c->devices.n)
		qsort(c->devices.p, c->devices.n, sizeof *c->devices.p, int_cmp);
	for (size_t i = 0; i < c->devices.n; i++)
		if (i == 0 || c->devices.p[i] != c->devices.p[n - 1])
			c->devices.p[n++] = c->devices.p[i];
	c->devices.n = n;
	return true;
}

/* The table's columns: the fixed ones, then bias_DEVICE for each; their names follow them in one block. NULL when out
 * of memory. */
static struct nsx_table_col *
make_columns(const struct columns *c)
{
	enum { LONGEST = sizeof "bias_" + NSX_INT_CHARS };
	size_t ncols = C_NCOLS + c->devices.n;
	struct nsx_table_col *cols = malloc(ncols * sizeof *cols + c->devices.n * LONGEST);

	if (!cols)
		return NULL;
	memcpy(cols, curve_cols, sizeof curve_cols);
	for (size_t i = 0; i < c->devices.n; i++) {
		char *name = (char *)(cols + ncols) + i * LONGEST;

		memcpy(name, "bias_", 5);
		*(c->devices.p[i] == NSX_ABSENT ? name + 5 : nsx_put_int(name + 5, c->devices.p[i])) = '\0';
		cols[C_NCOLS + i] = (struct nsx_table_col){ name, NSX_CELL_MEAN_NS };
	}
	return cols;
}

static void
put_edge(const struct lockstep *f, struct nsx_table *t, const struct lag_biases *s, int edge, const struct columns *c)
{
	const struct lag_peers *u = &f->peers.p[s->peers];
	const struct lag_occurrence *o = &f->occurrences.p[s->occurrence];
	const struct nsx_stat *all = &s->all[edge];

	put_program(f, t, u);
	nsx_table_str(t, C_NAME, nsx_intern_str(&f->names, o->name));
	if (o->number >= 0)
		nsx_table_int(t, C_OCCURRENCE, o->number);
	nsx_table_str(t, C_EDGE, nsx_str_c(edge == NSX_EDGE_START ? "start" : "end"));
	if (s->time[edge].n)
		nsx_table_double(t, C_TIME, nsx_stat_mean(&s->time[edge]) / NSX_BIAS_UNIT);
	nsx_table_double(t, C_MIN, (double)all->min / NSX_BIAS_UNIT);
	nsx_table_double(t, C_MAX, (double)all->max / NSX_BIAS_UNIT);
	nsx_table_double(t, C_STD, nsx_stat_std_all(all) / NSX_BIAS_UNIT);
	for (size_t m = 0; m < s->cap; m++) {
		const int64_t *at = bsearch(&u->members.p[m].device, c->devices.p, c->devices.n, sizeof *at, int_cmp);
		size_t k = 2 * m + (size_t)edge;

		if (s->n[k])
			nsx_table_double(t, C_NCOLS + (int)(at - c->devices.p),
			                 (double)s->sum[k] / (double)s->n[k] / NSX_BIAS_UNIT);
	}
}

/* The order of the edges of all peers. */
struct point { size_t peers; double time; int64_t inst, occurrence; const struct lag_biases *biases; int edge; };

static int
point_cmp(const void *pa, const void *pb)
{
	const struct point *a = pa, *b = pb;

	if (a->peers != b->peers)
		return a->peers < b->peers ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->inst != b->inst)
		return a->inst < b->inst ? -1 : 1;
	if (a->occurrence != b->occurrence)
		return a->occurrence < b->occurrence ? -1 : 1;
	return a->edge - b->edge;
}

static int
put_points(struct lockstep *f, struct nsx_stragglers *out, const struct order *rows, size_t n, const struct columns *c)
{
	struct point *points = malloc((2 * f->biases.n + 1) * sizeof *points);
	size_t *rank = calloc(f->peers.n + 1, sizeof *rank), k = 0;

	out->cols = make_columns(c);
	if (out->cols)
		out->table = nsx_table_new(out->cols, C_NCOLS + (int)c->devices.n);
	nsx_table_rank(out->table, "name occurrence edge time min max std");
	if (!points || !rank || !out->table) {
		free(points);
		free(rank);
		return nomem(f);
	}
	for (size_t i = 0; i < n; i++)
		rank[rows[i].peers] = i;
	for (size_t i = 0; i < f->biases.n; i++)
		for (int edge = NSX_EDGE_START; edge <= NSX_EDGE_END; edge++) {
			const struct lag_biases *s = &f->biases.p[i];
			const struct lag_occurrence *o = &f->occurrences.p[s->occurrence];
			double time = s->time[edge].n ? nsx_stat_mean(&s->time[edge]) : 0;

			points[k++] = (struct point){ rank[s->peers], time,
			                              f->begin.late->comm.cat.insts.p[o->inst].number,
			                              o->number, s, edge };
		}
	if (k > 1)
		qsort(points, k, sizeof *points, point_cmp);
	for (size_t i = 0; i < k; i++)
		put_edge(f, out->table, points[i].biases, points[i].edge, c);
	free(points);
	free(rank);
	return NSX_OK;
}

static int
put_curve(struct lockstep *f, struct nsx_stragglers *out, const struct order *rows, size_t n)
{
	struct columns c = { { 0 } };
	int rc = list_devices(f, &c) ? put_points(f, out, rows, n, &c) : nomem(f);

	free(c.devices.p);
	return rc;
}

int
nsx_lockstep_table(struct lockstep *f, struct nsx_stragglers *out, size_t *n)
{
	struct order *rows = order_peers(f, n);
	int rc = !rows ? nomem(f) : f->begin.late->options.show == NSX_STRAGGLERS_CURVE ? put_curve(f, out, rows, *n)
	    : put_devices(f, out, rows, *n);

	free(rows);
	return rc;
}
