/* tables.c -- the tables of nsysx-roofline. */
#include <math.h>
#include <stdlib.h>

#include "job/names.h"
#include "table/roofline/rows.h"
#include "table/sums.h"

/* A row of any of the tables. */
struct line {
	struct nsx_str program, key, name, opcode, op_name, math, bound, note, peak_from, bandwidth_from;
	int64_t  id, device, instructions, executions, count, flops, vector, bytes, seq;
	nsx_u128 total, time, modelled, by_bound[NSX_NBOUNDS];
	double   limit, headroom, efficiency, gain, intensity, tflops, gbps, share, hfu, peak, bandwidth, ridge;
};
static const struct line blank = {
	.id = NSX_ABSENT, .flops = NSX_ABSENT, .vector = NSX_ABSENT, .bytes = NSX_ABSENT, .limit = NAN,
	.headroom = NAN, .efficiency = NAN, .gain = NAN, .intensity = NAN, .tflops = NAN, .gbps = NAN, .share = NAN,
	.hfu = NAN, .peak = NAN, .bandwidth = NAN, .ridge = NAN
};

#define NSX_ROW struct line
static const struct nsx_sum_col cols[] = {
	/* The first is an instruction's, the other `vector` a program's, which has its columns from the second on. */
	NSX_COL("vector", FLOPS, vector), NSX_COL("id", ID, id), NSX_COL("device", ID, device),
	NSX_COL("program", STRING, program), NSX_COL("key", STRING, key), NSX_COL("name", STRING, name),
	NSX_COL("opcode", STRING, opcode), NSX_COL("op_name", STRING, op_name), NSX_COL("math", STRING, math),
	NSX_COL("bound", STRING, bound), NSX_COL("instructions", INT, instructions),
	NSX_COL("executions", INT, executions), NSX_COL("count", INT, count), NSX_COL("time", NS, time),
	NSX_COL("total", NS, total), NSX_COL("compute", NS, total), NSX_COL("modelled", NS, modelled),
	NSX_COL("matrix", NS, by_bound[NSX_BOUND_MATRIX]), NSX_COL("vector", NS, by_bound[NSX_BOUND_VECTOR]),
	NSX_COL("memory", NS, by_bound[NSX_BOUND_MEMORY]),
	NSX_COL("limit", MEAN_NS, limit), NSX_COL("headroom", MEAN_NS, headroom),
	NSX_COL("efficiency", SHARE, efficiency), NSX_COL("flops", FLOPS, flops), NSX_COL("bytes", BYTES, bytes),
	NSX_COL("intensity", DOUBLE, intensity), NSX_COL("tflops", DOUBLE, tflops), NSX_COL("gbps", GBPS, gbps),
	NSX_COL("peak", DOUBLE, peak), NSX_COL("bandwidth", GBPS, bandwidth), NSX_COL("ridge", DOUBLE, ridge),
	NSX_COL("share", SHARE, share), NSX_COL("hfu", SHARE, hfu), NSX_COL("note", STRING, note),
	NSX_COL("gain", MEAN_NS, gain), NSX_COL("peak_from", STRING, peak_from),
	NSX_COL("bandwidth_from", STRING, bandwidth_from), NSX_COL("seq", ID, seq),
};

#define GROUP " instructions count total modelled limit headroom efficiency flops bytes tflops gbps share gain"

#define GBPS .heads = { { "gbps", "GB/s" } }

/* Rows of tables without an order come in theirs. Work of instructions is that of one execution, elsewhere of all. */
static const struct nsx_sum_def defs[] = {
	[NSX_ROOFLINE_INST] = {
		NSX_ROWS(cols), .shown = "id program name opcode math bound count total limit headroom efficiency "
		                         "flops vector bytes intensity tflops gbps share note op_name gain",
		.rank = "name total headroom efficiency bound share program", .adds = "total",
		.heads = { { "gbps", "GB/s" }, { "flops", "flops_each" }, { "vector", "vector_each" },
		           { "bytes", "bytes_each" } }
	},
	[NSX_ROOFLINE_OPCODE] = {
		NSX_ROWS(cols), .shown = "opcode math" GROUP, .order = "-headroom -total opcode math",
		.rank = "opcode math total headroom efficiency share", .adds = "total", GBPS
	},
	[NSX_ROOFLINE_OP_NAME] = {
		NSX_ROWS(cols), .shown = "op_name" GROUP, .order = "-headroom -total op_name",
		.rank = "op_name total headroom efficiency share", .adds = "total", GBPS
	},
	[NSX_ROOFLINE_PROGRAM] = {
		.size = sizeof(struct line), .cols = cols + 1, .ncols = sizeof cols / sizeof *cols - 1,
		.shown = "id program key executions time compute modelled matrix vector memory limit headroom "
		         "efficiency share flops tflops hfu",
		.rank = "key time hfu efficiency share headroom executions", .adds = "time",
		/* Has the gaps between kernels: not the computation of other tools. */
		.heads = { { "hfu", "hfu_of_time" }, { "compute", "instructions_total" } }
	},
	[NSX_ROOFLINE_POINTS] = {
		NSX_ROWS(cols), .shown = "id program name opcode math bound intensity tflops gbps peak bandwidth total",
		.rank = "name intensity tflops bound peak bandwidth math total", GBPS
	},
	[NSX_ROOFLINE_PEAKS] = {
		NSX_ROWS(cols), .shown = "device name math tflops ridge gbps peak_from bandwidth_from",
		.order = "device seq", .rank = "device name math tflops gbps ridge", GBPS
	},
};

/* The table that is being made. */
struct making {
	struct nsx_roof *f;
	enum nsx_roofline_by by;
	struct nsx_sums  sums;
	struct nsx_table *table;
	struct nsx_intern alike;       /* names of groups in which numbers do not count */
	struct nsx_buf   scratch;
};

static int
add(struct making *m, const struct line *l)
{
	struct line *kept;

	if (!m->sums.def->order)
		return nsx_sums_put(&m->sums, m->table, l, m->f->err);
	kept = nsx_sums_add(&m->sums);
	if (!kept)
		return nsx_err_nomem(m->f->err, NULL);
	*kept = *l;
	return NSX_OK;
}

/* ---- cells */

/* A sum of operations or bytes, absent if 64 bits do not hold it. */
static int64_t
work(struct nsx_roof *f, nsx_u128 sum)
{
	f->too_large += sum > INT64_MAX;
	return sum > INT64_MAX ? NSX_ABSENT : (int64_t)sum;
}

/* a / b, absent if b is 0. */
static double
ratio(double a, double b)
{
	return b > 0 ? a / b : NAN;
}

static struct nsx_str
math_name(enum nsx_math math)
{
	return math == NSX_NMATHS ? NSX_STR("") : nsx_str_c(nsx_math_name(math));
}

/* The cells of a sum; its efficiency is absent if no time is modelled. */
static struct line
line_of_sum(const struct nsx_roof_sum *s)
{
	struct line l = blank;

	l.instructions = s->instructions;
	l.count = s->count;
	l.total = s->total;
	l.modelled = s->modelled;
	l.limit = s->limit;
	l.headroom = s->headroom;
	l.gain = s->gain;
	l.efficiency = s->modelled ? nsx_roof_efficiency(s) : NAN;
	return l;
}

/* ---- by instruction, and the points of a plot */

static struct line
line_of_row(const struct nsx_roof *f, const struct nsx_roof_row *r)
{
	static const char *const bounds[NSX_NBOUNDS] = { "matrix", "vector", "memory" };
	static const char *const notes[NSX_NNOTES] = { "", "cache", "peak", "no-peak", "unmodelled" };
	const struct nsx_cat_program *p = &f->cat->programs.p[r->program];
	const struct nsx_cat_inst *i = &f->cat->insts.p[r->inst];
	double time = (double)r->total, ops = (double)nsx_roof_ops(r), n = (double)r->count;
	struct line l = blank;

	if (r->limited) {
		struct nsx_roof_sum s = { 0 };

		nsx_roof_add(&s, r);
		l = line_of_sum(&s);
		l.bound = nsx_str_c(bounds[r->bound]);
		l.gain = r->gain;
		l.peak = r->peak > 0 ? r->peak : NAN;
		l.bandwidth = r->bandwidth;
	}
	if (r->modelled) {
		l.flops = r->flops;
		l.vector = r->vector;
		l.bytes = r->bytes;
		l.intensity = ratio(ops, (double)r->bytes);
		l.tflops = ratio(ops * n / 1000, time);
		l.gbps = ratio((double)r->bytes * n, time);
	}
	l.id = p->id;
	l.program = nsx_cat_str(f->cat, p->name);
	l.name = nsx_cat_str(f->cat, i->name);
	l.opcode = nsx_cat_str(f->cat, i->opcode);
	l.op_name = nsx_cat_str(f->cat, i->op_name);
	l.math = math_name(r->math);
	l.count = r->count;
	l.total = r->total;
	l.share = ratio(time, (double)f->total);
	l.note = nsx_str_c(notes[r->note]);
	return l;
}

static int
put_rows(struct making *m)
{
	const struct nsx_roof *f = m->f;
	int rc = NSX_OK;

	for (size_t i = 0; i < f->rows.n && rc == NSX_OK; i++) {
		const struct nsx_roof_row *r = &f->rows.p[i];
		struct line l = line_of_row(f, r);

		if (m->by == NSX_ROOFLINE_POINTS) {
			if (!r->limited || !r->bytes || !nsx_roof_ops(r))
				continue;
			l.math = r->flops ? l.math : NSX_STR("vector");
		}
		rc = add(m, &l);
	}
	return rc;
}

/* ---- by opcode and math, or by op_name */

/* The key: name, of the catalogue's strings or those that are alike, and math. */
struct group { uint32_t name, math; struct nsx_roof_sum sum; };

/* The number of the name by which an instruction is grouped; *good false when out of memory. */
static uint32_t
group_name(struct making *m, const struct nsx_roof_row *r, bool *good)
{
	const struct nsx_cat_inst *inst = &m->f->cat->insts.p[r->inst];
	uint32_t name = m->by == NSX_ROOFLINE_OP_NAME ? inst->op_name : inst->opcode;

	if (m->by != NSX_ROOFLINE_OP_NAME || !m->f->options->digits)
		return name;
	name = nsx_intern(&m->alike, nsx_roof_alike(m->f, r->inst, &m->scratch));
	*good = !m->scratch.failed && name != NSX_NONE;
	return name;
}

static int
put_groups(struct making *m)
{
	static const struct nsx_sum_def def = { .size = sizeof(struct group), .key = 2 * sizeof(uint32_t) };
	struct nsx_roof *f = m->f;
	bool op_name = m->by == NSX_ROOFLINE_OP_NAME, good = true;
	struct nsx_sums groups = { .def = &def };
	int rc = NSX_OK;

	for (size_t i = 0; i < f->rows.n && rc == NSX_OK; i++) {
		struct group key = { .name = group_name(m, &f->rows.p[i], &good),
		                     .math = op_name ? NSX_NMATHS : f->rows.p[i].math };
		struct group *g = good ? nsx_sums_row(&groups, &key) : NULL;

		if (g)
			nsx_roof_add(&g->sum, &f->rows.p[i]);
		else
			rc = nsx_err_nomem(f->err, NULL);
	}
	for (size_t i = 0; i < nsx_sums_count(&groups) && rc == NSX_OK; i++) {
		const struct group *g = nsx_sums_at(&groups, i);
		double time = (double)g->sum.modelled;
		struct line l = line_of_sum(&g->sum);

		l.opcode = l.op_name = op_name && f->options->digits ? nsx_intern_str(&m->alike, g->name)
		                                                       : nsx_cat_str(f->cat, g->name);
		l.math = math_name((enum nsx_math)g->math);
		l.flops = work(f, g->sum.flops);
		l.bytes = work(f, g->sum.bytes);
		l.tflops = ratio((double)g->sum.flops / 1000, time);
		l.gbps = ratio((double)g->sum.bytes, time);
		l.share = ratio((double)g->sum.total, (double)f->total);
		rc = add(m, &l);
	}
	nsx_sums_free(&groups);
	return rc;
}

/* ---- by program */

static int
put_programs(struct making *m)
{
	struct nsx_roof *f = m->f;
	struct nsx_roof_total *all;
	size_t n;
	int rc = nsx_roof_programs(f, &all, &n);

	if (rc != NSX_OK)
		return rc;
	for (size_t i = 0; i < n && rc == NSX_OK; i++) {
		const struct nsx_cat_program *p = &f->cat->programs.p[all[i].program];
		const struct nsx_roof_sum *s = &all[i].sum;
		double time = (double)all[i].ran.time;
		struct line l = line_of_sum(s);

		l.id = p->id;
		l.program = nsx_cat_str(f->cat, p->name);
		l.key = nsx_cat_str(f->cat, p->key);
		l.executions = all[i].ran.executions;
		l.time = all[i].ran.time;
		for (int b = 0; b < NSX_NBOUNDS; b++)
			l.by_bound[b] = s->by_bound[b];
		l.share = ratio((double)s->modelled, (double)s->total);
		l.flops = work(f, s->known_flops);
		l.tflops = ratio((double)s->known_flops / 1000, time);
		l.hfu = s->at_peak >= 0 ? ratio(s->at_peak, time) : NAN;
		rc = add(m, &l);
	}
	free(all);
	return rc;
}

/* ---- peaks */

static int
put_peaks(struct making *m)
{
	const struct nsx_roof *f = m->f;
	int rc = NSX_OK;

	for (size_t i = 0; i < f->cat->devices.n * NSX_NMATHS && rc == NSX_OK; i++) {
		const struct nsx_cat_device *d = &f->cat->devices.p[i / NSX_NMATHS];
		const struct nsx_peaks *p = &f->peaks.p[i / NSX_NMATHS];
		enum nsx_math math = (enum nsx_math)(i % NSX_NMATHS);
		struct line l = blank;

		if (!d->listed || p->from[math] == NSX_FROM_NOWHERE)
			continue;
		l.device = d->number;
		l.seq = (int64_t)i;
		l.name = nsx_cat_str(f->cat, d->name);
		l.math = math_name(math);
		l.tflops = p->tflops[math];
		l.peak_from = nsx_str_c(nsx_peak_from_name(p->from[math]));
		l.bandwidth_from = nsx_str_c(nsx_peak_from_name(p->gbps_from));
		l.ridge = ratio(p->tflops[math] * 1000, p->gbps);
		l.gbps = p->gbps > 0 ? p->gbps : NAN;
		rc = add(m, &l);
	}
	return rc;
}

/* ---- */

int
nsx_roof_table(struct nsx_roof *f, enum nsx_roofline_by by, struct nsx_table **table)
{
	static int (*const puts[])(struct making *m) = {
		[NSX_ROOFLINE_INST] = put_rows, [NSX_ROOFLINE_OPCODE] = put_groups,
		[NSX_ROOFLINE_OP_NAME] = put_groups, [NSX_ROOFLINE_PROGRAM] = put_programs,
		[NSX_ROOFLINE_POINTS] = put_rows, [NSX_ROOFLINE_PEAKS] = put_peaks
	};
	struct making m = { .f = f, .by = by, .sums = { .def = &defs[by] } };
	struct nsx_table *t = m.table = nsx_sums_begin(&m.sums, f->err);
	int rc = t ? puts[by](&m) : NSX_ERR;

	nsx_sums_sort(&m.sums);
	for (size_t i = 0; i < nsx_sums_count(&m.sums) && rc == NSX_OK; i++)
		rc = nsx_sums_put(&m.sums, t, nsx_sums_at(&m.sums, i), f->err);
	nsx_sums_free(&m.sums);
	nsx_intern_free(&m.alike);
	nsx_buf_free(&m.scratch);
	if (rc == NSX_OK && by < NSX_ROOFLINE_POINTS && f->options->words)
		rc = nsx_roof_words(f, t);
	if (rc != NSX_OK) {
		nsx_table_free(t);
		t = NULL;
	}
	*table = t;
	return rc;
}
