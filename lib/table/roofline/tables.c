/* tables.c -- the tables of nsysx-roofline. */
#include <stdlib.h>

#include "base/sort.h"
#include "table/roofline/rows.h"

/* ---- cells */

/* A sum of operations or bytes, absent if 64 bits do not hold it. */
static void
put_work(struct nsx_roof *f, struct nsx_table *t, int col, nsx_u128 work)
{
	if (work > INT64_MAX)
		f->too_large++;
	else
		nsx_table_int(t, col, (int64_t)work);
}

/* a / b, absent if b is 0. */
static void
put_ratio(struct nsx_table *t, int col, double a, double b)
{
	if (b > 0)
		nsx_table_double(t, col, a / b);
}

/* Absent if no time is modelled. */
static void
put_efficiency(struct nsx_table *t, int col, const struct nsx_roof_sum *s)
{
	if (s->modelled)
		nsx_table_double(t, col, nsx_roof_efficiency(s));
}

static const char *
math_of(const struct nsx_roof_row *r)
{
	return r->math == NSX_NMATHS ? "" : nsx_math_name(r->math);
}

static const char *const bounds[NSX_NBOUNDS] = { "matrix", "vector", "memory" };
static const char *const notes[NSX_NNOTES] = { "", "cache", "peak", "no-peak", "unmodelled" };

/* id, program, name, opcode: the first columns of tables with a row for each instruction. */
enum { I_ID, I_PROGRAM, I_NAME, I_OPCODE };

static void
put_inst(const struct nsx_roof *f, struct nsx_table *t, const struct nsx_roof_row *r)
{
	const struct nsx_cat_program *p = &f->cat.programs.p[r->program];
	const struct nsx_cat_inst *i = &f->cat.insts.p[r->inst];

	if (p->id != NSX_ABSENT)
		nsx_table_int(t, I_ID, p->id);
	nsx_table_str(t, I_PROGRAM, nsx_cat_str(&f->cat, p->name));
	nsx_table_str(t, I_NAME, nsx_cat_str(&f->cat, i->name));
	nsx_table_str(t, I_OPCODE, nsx_cat_str(&f->cat, i->opcode));
}

static double tflops_of(const struct nsx_roof_row *r) { return (double)nsx_roof_ops(r) * (double)r->count / 1000; }

/* ---- by instruction */

enum {
	T_MATH = I_OPCODE + 1, T_BOUND, T_COUNT, T_TOTAL, T_LIMIT, T_HEADROOM, T_EFFICIENCY, T_FLOPS, T_VECTOR, T_BYTES,
	T_INTENSITY, T_TFLOPS, T_GBPS, T_SHARE, T_NOTE, T_OP_NAME, T_GAIN, T_NCOLS
};

static const struct nsx_table_col inst_cols[T_NCOLS] = {
	[I_ID] = { "id", NSX_CELL_ID }, [I_PROGRAM] = { "program", NSX_CELL_STRING },
	[I_NAME] = { "name", NSX_CELL_STRING }, [I_OPCODE] = { "opcode", NSX_CELL_STRING },
	[T_MATH] = { "math", NSX_CELL_STRING }, [T_BOUND] = { "bound", NSX_CELL_STRING },
	[T_COUNT] = { "count", NSX_CELL_INT }, [T_TOTAL] = { "total", NSX_CELL_NS },
	[T_LIMIT] = { "limit", NSX_CELL_MEAN_NS }, [T_HEADROOM] = { "headroom", NSX_CELL_MEAN_NS },
	[T_EFFICIENCY] = { "efficiency", NSX_CELL_SHARE }, [T_FLOPS] = { "flops", NSX_CELL_FLOPS },
	[T_VECTOR] = { "vector", NSX_CELL_FLOPS }, [T_BYTES] = { "bytes", NSX_CELL_BYTES },
	[T_INTENSITY] = { "intensity", NSX_CELL_DOUBLE }, [T_TFLOPS] = { "tflops", NSX_CELL_DOUBLE },
	[T_GBPS] = { "gbps", NSX_CELL_GBPS }, [T_SHARE] = { "share", NSX_CELL_SHARE },
	[T_NOTE] = { "note", NSX_CELL_STRING }, [T_OP_NAME] = { "op_name", NSX_CELL_STRING },
	[T_GAIN] = { "gain", NSX_CELL_MEAN_NS }
};

static int
put_rows(struct nsx_roof *f, struct nsx_table *t)
{
	for (size_t i = 0; i < f->rows.n; i++) {
		const struct nsx_roof_row *r = &f->rows.p[i];
		double time = (double)r->total;
		struct nsx_roof_sum s = { 0 };

		nsx_roof_add(&s, r);
		nsx_table_row(t);
		put_inst(f, t, r);
		nsx_table_str(t, T_MATH, nsx_str_c(math_of(r)));
		nsx_table_int(t, T_COUNT, r->count);
		if (nsx_table_sum(t, T_TOTAL, r->total, f->err) != NSX_OK)
			return NSX_ERR;
		put_ratio(t, T_SHARE, time, (double)f->total);
		nsx_table_str(t, T_NOTE, nsx_str_c(notes[r->note]));
		nsx_table_str(t, T_OP_NAME, nsx_cat_str(&f->cat, f->cat.insts.p[r->inst].op_name));
		if (r->limited) {
			nsx_table_str(t, T_BOUND, nsx_str_c(bounds[r->bound]));
			nsx_table_double(t, T_LIMIT, r->limit);
			nsx_table_double(t, T_HEADROOM, r->headroom);
			nsx_table_double(t, T_GAIN, r->gain);
			put_efficiency(t, T_EFFICIENCY, &s);
		}
		if (r->modelled) {
			nsx_table_int(t, T_FLOPS, r->flops);
			nsx_table_int(t, T_VECTOR, r->vector);
			nsx_table_int(t, T_BYTES, r->bytes);
			put_ratio(t, T_INTENSITY, (double)nsx_roof_ops(r), (double)r->bytes);
			put_ratio(t, T_TFLOPS, tflops_of(r), time);
			put_ratio(t, T_GBPS, (double)r->bytes * (double)r->count, time);
		}
	}
	return NSX_OK;
}

/* ---- points of a plot */

enum { P_MATH = I_OPCODE + 1, P_BOUND, P_INTENSITY, P_TFLOPS, P_GBPS, P_PEAK, P_BANDWIDTH, P_TOTAL, P_NCOLS };

static const struct nsx_table_col point_cols[P_NCOLS] = {
	[I_ID] = { "id", NSX_CELL_ID }, [I_PROGRAM] = { "program", NSX_CELL_STRING },
	[I_NAME] = { "name", NSX_CELL_STRING }, [I_OPCODE] = { "opcode", NSX_CELL_STRING },
	[P_MATH] = { "math", NSX_CELL_STRING }, [P_BOUND] = { "bound", NSX_CELL_STRING },
	[P_INTENSITY] = { "intensity", NSX_CELL_DOUBLE }, [P_TFLOPS] = { "tflops", NSX_CELL_DOUBLE },
	[P_GBPS] = { "gbps", NSX_CELL_GBPS }, [P_PEAK] = { "peak", NSX_CELL_DOUBLE },
	[P_BANDWIDTH] = { "bandwidth", NSX_CELL_GBPS }, [P_TOTAL] = { "total", NSX_CELL_NS }
};

static int
put_points(struct nsx_roof *f, struct nsx_table *t)
{
	for (size_t i = 0; i < f->rows.n; i++) {
		const struct nsx_roof_row *r = &f->rows.p[i];
		double time = (double)r->total;

		if (!r->limited || !r->bytes || !nsx_roof_ops(r))
			continue;
		nsx_table_row(t);
		put_inst(f, t, r);
		nsx_table_str(t, P_MATH, nsx_str_c(r->flops ? math_of(r) : "vector"));
		nsx_table_str(t, P_BOUND, nsx_str_c(bounds[r->bound]));
		put_ratio(t, P_INTENSITY, (double)nsx_roof_ops(r), (double)r->bytes);
		put_ratio(t, P_TFLOPS, tflops_of(r), time);
		put_ratio(t, P_GBPS, (double)r->bytes * (double)r->count, time);
		if (r->peak > 0)
			nsx_table_double(t, P_PEAK, r->peak);
		nsx_table_double(t, P_BANDWIDTH, r->bandwidth);
		if (nsx_table_sum(t, P_TOTAL, r->total, f->err) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

/* ---- by opcode and math, or by op_name */

/* Without math the columns are the same except one; they are placed after `keys` columns. */
enum { G_INSTRUCTIONS, G_COUNT, G_TOTAL, G_MODELLED, G_LIMIT, G_HEADROOM, G_EFFICIENCY, G_FLOPS, G_BYTES, G_TFLOPS,
       G_GBPS, G_SHARE, G_NCOLS };

#define GROUP_COLS \
	{ "instructions", NSX_CELL_INT }, { "count", NSX_CELL_INT }, { "total", NSX_CELL_NS }, \
	{ "modelled", NSX_CELL_NS }, { "limit", NSX_CELL_MEAN_NS }, \
	{ "headroom", NSX_CELL_MEAN_NS }, { "efficiency", NSX_CELL_SHARE }, { "flops", NSX_CELL_FLOPS }, \
	{ "bytes", NSX_CELL_BYTES }, \
	{ "tflops", NSX_CELL_DOUBLE }, { "gbps", NSX_CELL_GBPS }, { "share", NSX_CELL_SHARE }

static const struct nsx_table_col opcode_cols[] = { { "opcode", NSX_CELL_STRING }, { "math", NSX_CELL_STRING },
                                                    GROUP_COLS };
static const struct nsx_table_col op_name_cols[] = { { "op_name", NSX_CELL_STRING }, GROUP_COLS };

/* key: of the catalogue's strings. */
struct group { uint32_t key; enum nsx_math math; struct nsx_roof_sum sum; };
struct groups { NSX_VEC(struct group) list; struct nsx_map at; };

static int
by_headroom(const void *a, const void *b, const void *catalogue)
{
	const struct nsx_catalogue *cat = catalogue;
	const struct group *x = a, *y = b;
	int c;

	if (x->sum.headroom != y->sum.headroom)
		return x->sum.headroom > y->sum.headroom ? -1 : 1;
	if (x->sum.total != y->sum.total)
		return x->sum.total > y->sum.total ? -1 : 1;
	if ((c = nsx_str_cmp(nsx_cat_str(cat, x->key), nsx_cat_str(cat, y->key))) != 0)
		return c;
	const char *mx = x->math == NSX_NMATHS ? "" : nsx_math_name(x->math);
	const char *my = y->math == NSX_NMATHS ? "" : nsx_math_name(y->math);

	return nsx_str_cmp(nsx_str_c(mx), nsx_str_c(my));
}

static bool
gather(const struct nsx_roof *f, struct groups *g, bool op_name)
{
	for (size_t i = 0; i < f->rows.n; i++) {
		const struct nsx_roof_row *r = &f->rows.p[i];
		const struct nsx_cat_inst *inst = &f->cat.insts.p[r->inst];
		struct group fresh = { .key = op_name ? inst->op_name : inst->opcode,
		                       .math = op_name ? NSX_NMATHS : r->math };
		uint32_t *at = nsx_map_at(&g->at, (struct nsx_key){ fresh.key, (uint64_t)fresh.math });

		if (at && *at == NSX_NONE && nsx_vec_push(&g->list, fresh))
			*at = (uint32_t)(g->list.n - 1);
		if (!at || *at == NSX_NONE)
			return false;
		nsx_roof_add(&g->list.p[*at].sum, r);
	}
	nsx_sort_with(g->list.p, g->list.n, sizeof *g->list.p, by_headroom, &f->cat);
	return true;
}

static int
put_groups(struct nsx_roof *f, struct nsx_table *t)
{
	bool op_name = f->options->by == NSX_ROOFLINE_OP_NAME;
	int k = op_name ? 1 : 2, rc = NSX_OK;
	struct groups g = { .at = { 0 } };

	if (!gather(f, &g, op_name))
		rc = nsx_err_nomem(f->err, NULL);
	for (size_t i = 0; rc == NSX_OK && i < g.list.n; i++) {
		const struct nsx_roof_sum *s = &g.list.p[i].sum;
		double time = (double)s->modelled;

		nsx_table_row(t);
		nsx_table_str(t, 0, nsx_cat_str(&f->cat, g.list.p[i].key));
		if (!op_name && g.list.p[i].math != NSX_NMATHS)
			nsx_table_str(t, 1, nsx_str_c(nsx_math_name(g.list.p[i].math)));
		nsx_table_int(t, k + G_INSTRUCTIONS, s->instructions);
		nsx_table_int(t, k + G_COUNT, s->count);
		if (nsx_table_sum(t, k + G_TOTAL, s->total, f->err) != NSX_OK ||
		    nsx_table_sum(t, k + G_MODELLED, s->modelled, f->err) != NSX_OK)
			rc = NSX_ERR;
		nsx_table_double(t, k + G_LIMIT, s->limit);
		nsx_table_double(t, k + G_HEADROOM, s->headroom);
		put_efficiency(t, k + G_EFFICIENCY, s);
		put_work(f, t, k + G_FLOPS, s->flops);
		put_work(f, t, k + G_BYTES, s->bytes);
		put_ratio(t, k + G_TFLOPS, (double)s->flops / 1000, time);
		put_ratio(t, k + G_GBPS, (double)s->bytes, time);
		put_ratio(t, k + G_SHARE, (double)s->total, (double)f->total);
	}
	free(g.list.p);
	nsx_map_free(&g.at);
	return rc;
}

/* ---- by program */

enum {
	M_ID, M_PROGRAM, M_KEY, M_EXECUTIONS, M_TIME, M_COMPUTE, M_MODELLED, M_MATRIX, M_VECTOR, M_MEMORY, M_LIMIT,
	M_HEADROOM, M_EFFICIENCY, M_SHARE, M_FLOPS, M_TFLOPS, M_HFU, M_NCOLS
};

static const struct nsx_table_col program_cols[M_NCOLS] = {
	[M_ID] = { "id", NSX_CELL_ID }, [M_PROGRAM] = { "program", NSX_CELL_STRING },
	[M_KEY] = { "key", NSX_CELL_STRING }, [M_EXECUTIONS] = { "executions", NSX_CELL_INT },
	[M_TIME] = { "time", NSX_CELL_NS }, [M_COMPUTE] = { "compute", NSX_CELL_NS },
	[M_MODELLED] = { "modelled", NSX_CELL_NS }, [M_MATRIX] = { "matrix", NSX_CELL_NS },
	[M_VECTOR] = { "vector", NSX_CELL_NS }, [M_MEMORY] = { "memory", NSX_CELL_NS },
	[M_LIMIT] = { "limit", NSX_CELL_MEAN_NS }, [M_HEADROOM] = { "headroom", NSX_CELL_MEAN_NS },
	[M_EFFICIENCY] = { "efficiency", NSX_CELL_SHARE }, [M_SHARE] = { "share", NSX_CELL_SHARE },
	[M_FLOPS] = { "flops", NSX_CELL_FLOPS }, [M_TFLOPS] = { "tflops", NSX_CELL_DOUBLE },
	[M_HFU] = { "hfu", NSX_CELL_SHARE }
};

static int
put_programs(struct nsx_roof *f, struct nsx_table *t)
{
	struct nsx_roof_total *all;
	size_t n;
	int rc = nsx_roof_programs(f, &all, &n);

	if (rc != NSX_OK)
		return rc;
	for (size_t i = 0; rc == NSX_OK && i < n; i++) {
		const struct nsx_cat_program *p = &f->cat.programs.p[all[i].program];
		const struct nsx_roof_sum *s = &all[i].sum;
		double time = (double)all[i].ran.time;

		nsx_table_row(t);
		if (p->id != NSX_ABSENT)
			nsx_table_int(t, M_ID, p->id);
		nsx_table_str(t, M_PROGRAM, nsx_cat_str(&f->cat, p->name));
		nsx_table_str(t, M_KEY, nsx_cat_str(&f->cat, p->key));
		nsx_table_int(t, M_EXECUTIONS, all[i].ran.executions);
		if (nsx_table_sum(t, M_TIME, all[i].ran.time, f->err) != NSX_OK ||
		    nsx_table_sum(t, M_COMPUTE, s->total, f->err) != NSX_OK ||
		    nsx_table_sum(t, M_MODELLED, s->modelled, f->err) != NSX_OK ||
		    nsx_table_sum(t, M_MATRIX, s->by_bound[NSX_BOUND_MATRIX], f->err) != NSX_OK ||
		    nsx_table_sum(t, M_VECTOR, s->by_bound[NSX_BOUND_VECTOR], f->err) != NSX_OK ||
		    nsx_table_sum(t, M_MEMORY, s->by_bound[NSX_BOUND_MEMORY], f->err) != NSX_OK)
			rc = NSX_ERR;
		nsx_table_double(t, M_LIMIT, s->limit);
		nsx_table_double(t, M_HEADROOM, s->headroom);
		put_efficiency(t, M_EFFICIENCY, s);
		put_ratio(t, M_SHARE, (double)s->modelled, (double)s->total);
		put_work(f, t, M_FLOPS, s->known_flops);
		put_ratio(t, M_TFLOPS, (double)s->known_flops / 1000, time);
		if (s->at_peak >= 0)
			put_ratio(t, M_HFU, s->at_peak, time);
	}
	free(all);
	return rc;
}

/* ---- peaks */

enum { D_DEVICE, D_NAME, D_MATH, D_TFLOPS, D_RIDGE, D_GBPS, D_PEAK_FROM, D_BANDWIDTH_FROM, D_NCOLS };

static const struct nsx_table_col peak_cols[D_NCOLS] = {
	[D_DEVICE] = { "device", NSX_CELL_ID }, [D_NAME] = { "name", NSX_CELL_STRING },
	[D_MATH] = { "math", NSX_CELL_STRING }, [D_TFLOPS] = { "tflops", NSX_CELL_DOUBLE },
	[D_RIDGE] = { "ridge", NSX_CELL_DOUBLE }, [D_GBPS] = { "gbps", NSX_CELL_GBPS },
	[D_PEAK_FROM] = { "peak_from", NSX_CELL_STRING }, [D_BANDWIDTH_FROM] = { "bandwidth_from", NSX_CELL_STRING }
};

static int
by_number(const void *a, const void *b, const void *catalogue)
{
	const struct nsx_catalogue *cat = catalogue;
	int64_t x = cat->devices.p[*(const uint32_t *)a].number, y = cat->devices.p[*(const uint32_t *)b].number;

	return (x > y) - (x < y);
}

static int
put_peaks(struct nsx_roof *f, struct nsx_table *t)
{
	size_t n = 0;
	uint32_t *order = calloc(f->cat.devices.n + 1, sizeof *order);

	if (!order)
		return nsx_err_nomem(f->err, NULL);
	for (size_t i = 0; i < f->cat.devices.n; i++)
		if (f->cat.devices.p[i].listed)
			order[n++] = (uint32_t)i;
	nsx_sort_with(order, n, sizeof *order, by_number, &f->cat);
	for (size_t i = 0; i < n; i++) {
		const struct nsx_cat_device *d = &f->cat.devices.p[order[i]];
		const struct nsx_peaks *p = &f->peaks.p[order[i]];

		for (int m = 0; m < NSX_NMATHS; m++) {
			if (p->from[m] == NSX_FROM_NOWHERE)
				continue;
			nsx_table_row(t);
			nsx_table_int(t, D_DEVICE, d->number);
			nsx_table_str(t, D_NAME, nsx_cat_str(&f->cat, d->name));
			nsx_table_str(t, D_MATH, nsx_str_c(nsx_math_name((enum nsx_math)m)));
			nsx_table_double(t, D_TFLOPS, p->tflops[m]);
			nsx_table_str(t, D_PEAK_FROM, nsx_str_c(nsx_peak_from_name(p->from[m])));
			nsx_table_str(t, D_BANDWIDTH_FROM, nsx_str_c(nsx_peak_from_name(p->gbps_from)));
			put_ratio(t, D_RIDGE, p->tflops[m] * 1000, p->gbps);
			if (p->gbps > 0)
				nsx_table_double(t, D_GBPS, p->gbps);
		}
	}
	free(order);
	return NSX_OK;
}

/* ---- */

int
nsx_roof_table(struct nsx_roof *f, struct nsx_table **table)
{
	static const struct {
		const struct nsx_table_col *cols;
		int    ncols;
		int  (*put)(struct nsx_roof *f, struct nsx_table *t);
		bool   words;
		const char *rank, *adds;
	} kinds[] = {
		[NSX_ROOFLINE_INST]    = { inst_cols, T_NCOLS, put_rows, true,
		                           "name total headroom efficiency bound share program", "total" },
		[NSX_ROOFLINE_OPCODE]  = { opcode_cols, 2 + G_NCOLS, put_groups, true,
		                           "opcode math total headroom efficiency share", "total" },
		[NSX_ROOFLINE_OP_NAME] = { op_name_cols, 1 + G_NCOLS, put_groups, true,
		                           "op_name total headroom efficiency share", "total" },
		[NSX_ROOFLINE_PROGRAM] = { program_cols, M_NCOLS, put_programs, true,
		                           "key time hfu efficiency share headroom executions", "time" },
		[NSX_ROOFLINE_POINTS]  = { point_cols, P_NCOLS, put_points, false,
		                           "name intensity tflops bound peak bandwidth math total", NULL },
		[NSX_ROOFLINE_PEAKS]   = { peak_cols, D_NCOLS, put_peaks, false,
		                           "device name math tflops gbps ridge", NULL },
	};
	enum nsx_roofline_by by = f->options->by;
	struct nsx_table *t = nsx_table_new(kinds[by].cols, kinds[by].ncols);
	int rc = t ? kinds[by].put(f, t) : nsx_err_nomem(f->err, NULL);

	nsx_table_rank(t, kinds[by].rank);
	if (by != NSX_ROOFLINE_PROGRAM)
		nsx_table_head(t, "gbps", "GB/s");
	/* Elsewhere these are of all executions. */
	if (by == NSX_ROOFLINE_INST) {
		nsx_table_head(t, "flops", "flops_each");
		nsx_table_head(t, "vector", "vector_each");
		nsx_table_head(t, "bytes", "bytes_each");
	}
	if (kinds[by].adds)
		nsx_table_adds(t, kinds[by].adds);
	if (rc == NSX_OK && kinds[by].words && f->options->words)
		rc = nsx_roof_words(f, t);
	if (rc != NSX_OK) {
		nsx_table_free(t);
		t = NULL;
	}
	*table = t;
	return rc;
}
