/* insts.c -- a row for each instruction, opcode or kind of collective, and sums over the stream. Holds the metadata of
 * instructions and exact sums for each that was executed. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "table/summary/moments.h"
#include "table/summary/summary.h"
#include "job/program_time.h"
#include "base/stat.h"
#include "job/catalogue.h"

/* Deviations above this share of the mean are reported. */
#define VARIES 0.1

enum { T_ID, T_PROGRAM, T_NAME, T_OPCODE, T_COMM, T_COUNT, T_TOTAL, T_MEAN, T_STD, T_RELSTD, T_SHARE, T_OP_NAME,
       T_EXPOSED, T_NCOLS };

static const struct nsx_table_col thunk_cols[T_NCOLS] = {
	[T_ID]      = { "id", NSX_CELL_ID },
	[T_PROGRAM] = { "program", NSX_CELL_STRING },
	[T_NAME]    = { "name", NSX_CELL_STRING },
	[T_OPCODE]  = { "opcode", NSX_CELL_STRING },
	[T_COMM]    = { "comm", NSX_CELL_INT },
	[T_COUNT]   = { "count", NSX_CELL_INT },
	[T_TOTAL]   = { "total", NSX_CELL_NS },
	[T_MEAN]    = { "mean", NSX_CELL_MEAN_NS },
	[T_STD]     = { "std", NSX_CELL_MEAN_NS },
	[T_RELSTD]  = { "relstd", NSX_CELL_SHARE },
	[T_SHARE]   = { "share", NSX_CELL_SHARE },
	[T_OP_NAME] = { "op_name", NSX_CELL_STRING },
	[T_EXPOSED] = { "exposed", NSX_CELL_NS },
};

enum { O_OPCODE, O_TOTAL, O_SHARE, O_NCOLS };

static const struct nsx_table_col opcode_cols[O_NCOLS] = {
	[O_OPCODE]  = { "opcode", NSX_CELL_STRING },
	[O_TOTAL]   = { "total", NSX_CELL_NS },
	[O_SHARE]   = { "share", NSX_CELL_SHARE },
};

enum { S_SOURCE, S_COUNT, S_TOTAL, S_SHARE, S_NCOLS };

static const struct nsx_table_col source_cols[S_NCOLS] = {
	[S_SOURCE]  = { "source", NSX_CELL_STRING },
	[S_COUNT]   = { "count", NSX_CELL_INT },
	[S_TOTAL]   = { "total", NSX_CELL_NS },
	[S_SHARE]   = { "share", NSX_CELL_SHARE },
};

static const struct nsx_table_col total_cols[O_NCOLS] = {
	[O_OPCODE]  = { "quantity", NSX_CELL_STRING },
	[O_TOTAL]   = { "total", NSX_CELL_NS },
	[O_SHARE]   = { "share", NSX_CELL_SHARE },
};

enum { C_COLLECTIVE, C_COUNT, C_TOTAL, C_EXPOSED, C_HIDDEN, C_HIDDEN_SHARE, C_NCOLS };

static const struct nsx_table_col collective_cols[C_NCOLS] = {
	[C_COLLECTIVE]   = { "collective", NSX_CELL_STRING },
	[C_COUNT]        = { "count", NSX_CELL_INT },
	[C_TOTAL]        = { "total", NSX_CELL_NS },
	[C_EXPOSED]      = { "exposed", NSX_CELL_NS },
	[C_HIDDEN]       = { "hidden", NSX_CELL_NS },
	[C_HIDDEN_SHARE] = { "hidden_share", NSX_CELL_SHARE },
};

/* The time of an instruction, or of the operations of one kind of collective. */
struct inst {
	struct nsx_stat exposed;
	nsx_u128 hidden;
	nsx_u128 copies;   /* of exposed: thunks that only copy */
	uint32_t name;   /* of its first thunk, in the catalogue's strings, where no record names it; NSX_NONE:
	                  * absent */
	bool     comm;
	bool     no_hidden;   /* some of its communication has no `hidden` */
};

/* The sums of one label. */
struct row { struct nsx_str label; int64_t count; nsx_u128 exposed, hidden; };
struct rows { struct row *p; size_t n, cap; };

struct insts {
	struct nsx_err *err;
	struct nsx_summary_options options;
	struct nsx_top  top;
	NSX_VEC(struct inst) insts;      /* by index of the catalogue, up to the last one that ran */
	struct nsx_map  op_kind_of;      /* kind of collective, in the catalogue's strings -> op_kinds */
	NSX_VEC(struct inst) op_kinds;   /* operations; `name` is the kind */
	struct nsx_all_moments moments;  /* with NSX_SUMMARY_TOTAL */
	bool            any_op;
	int64_t         timeless_ops;
	bool            no_hidden; /* some communication has no `hidden` */
};

static void *
insts_open(const struct nsx_summary_options *options, struct nsx_err *err)
{
	struct insts *f = calloc(1, sizeof *f);

	if (!f) {
		nsx_err_nomem(err, NULL);
		return NULL;
	}
	f->err = err;
	f->options = *options;
	f->top.cat.keep = options->by == NSX_SUMMARY_THUNK ? NSX_CAT_NAMES | NSX_CAT_OP_NAMES
	    : options->by == NSX_SUMMARY_SOURCE ? NSX_CAT_NAMES | NSX_CAT_PLACES : NSX_CAT_NAMES;
	return f;
}

static void
insts_need(void *state, struct nsx_reader *in)
{
	const struct insts *f = state;

	nsx_cat_need(&f->top.cat, in);
	nsx_reader_need(in, NSX_MODULE, NSX_EVERY);
	nsx_reader_need(in, NSX_THUNK, NSX_EVERY);
	if (f->options.by == NSX_SUMMARY_COLLECTIVE || f->options.by == NSX_SUMMARY_TOTAL)
		nsx_reader_need(in, NSX_OP, NSX_EVERY);
}

static void
insts_free(void *state)
{
	struct insts *f = state;

	if (!f)
		return;
	nsx_top_free(&f->top);
	nsx_map_free(&f->op_kind_of);
	nsx_moments_free(&f->moments);
	free(f->op_kinds.p);
	free(f->insts.p);
	free(f);
}

static bool
take_thunk(struct insts *f, const struct nsx_rec *rec)
{
	uint32_t at = nsx_cat_inst(&f->top.cat, rec);
	bool comm = nsx_cat_communicates(&f->top.cat, rec);
	int64_t dur, hidden;

	while (at != NSX_NONE && f->insts.n <= at)
		if (!nsx_vec_push(&f->insts, ((struct inst){ .name = NSX_NONE })))
			return false;
	if (at == NSX_NONE)
		return false;
	struct inst *i = &f->insts.p[at];
	/* For instructions without a record the column of each thunk counts. */
	i->comm |= comm;
	if (i->name == NSX_NONE && f->options.by == NSX_SUMMARY_THUNK && f->top.cat.insts.p[at].name == NSX_NONE &&
	    nsx_string(rec, NSX_THUNK_name).len &&
	    (i->name = nsx_cat_intern(&f->top.cat, rec->v[NSX_THUNK_name].s, f->err)) == NSX_NONE)
		return false;
	if (!nsx_top_thunk(&f->top, rec, comm, &dur, &hidden))
		return true;
	i->no_hidden |= comm && !nsx_has(rec, NSX_THUNK_hidden);
	f->no_hidden |= i->no_hidden;
	nsx_stat_add(&i->exposed, dur - hidden);
	i->hidden += (nsx_u128)hidden;
	if (!comm && nsx_int(rec, NSX_THUNK_copy, 0) == 1)
		i->copies += (nsx_u128)(dur - hidden);
	return true;
}

/* An operation that communicates, and whose time is in no thunk that does: counted by kind of collective only. */
static bool
take_op(struct insts *f, const struct nsx_rec *rec)
{
	int64_t dur = nsx_int(rec, NSX_OP_dur, -1), hidden = nsx_int(rec, NSX_OP_hidden, 0);
	struct nsx_str collective = nsx_string(rec, NSX_OP_collective);
	uint32_t kind, *at;

	f->any_op = true;
	if (!nsx_cat_communicates(&f->top.cat, rec) || nsx_cat_inst_communicates(&f->top.cat, rec))
		return true;
	if (dur < 0) {
		f->timeless_ops++;
		return true;
	}
	kind = nsx_cat_intern(&f->top.cat, collective, f->err);
	if (kind == NSX_NONE && collective.len)
		return false;
	at = nsx_map_at(&f->op_kind_of, (struct nsx_key){ kind, 0 });
	if (!at || (*at == NSX_NONE && !nsx_vec_push(&f->op_kinds, ((struct inst){ .comm = true, .name = kind }))))
		return false;
	if (*at == NSX_NONE)
		*at = (uint32_t)(f->op_kinds.n - 1);
	struct inst *k = &f->op_kinds.p[*at];
	if (hidden < 0 || hidden > dur) {
		f->top.over_hidden++;
		hidden = hidden < 0 ? 0 : dur;
	}
	f->top.any_comm = true;
	f->top.any_hidden |= nsx_has(rec, NSX_OP_hidden);
	f->no_hidden |= !nsx_has(rec, NSX_OP_hidden);
	nsx_stat_add(&k->exposed, dur - hidden);
	k->hidden += (nsx_u128)hidden;
	return true;
}

static int
insts_take(void *state, const struct nsx_rec *rec)
{
	struct insts *f = state;
	bool good = true;

	if (nsx_cat_take(&f->top.cat, rec, f->err) != NSX_OK)
		return NSX_ERR;
	switch (rec->kind->id) {
	case NSX_MODULE: good = nsx_top_module(&f->top, rec) != NSX_NONE; break;
	case NSX_THUNK:  good = take_thunk(f, rec); break;
	case NSX_OP:
		if (f->options.by == NSX_SUMMARY_COLLECTIVE)
			good = take_op(f, rec);
		else if (f->options.by == NSX_SUMMARY_TOTAL)
			good = nsx_moments_take(&f->moments, &f->top.cat, nsx_cat_device(&f->top.cat, rec), rec);
		break;
	default: break;
	}
	return good ? NSX_OK : nsx_err_nomem(f->err, NULL);
}

/* Whether any of the kept programs executed it. */
static bool
counts(const struct insts *f, size_t at)
{
	return f->insts.p[at].exposed.n > 0 && f->top.programs.p[f->top.cat.insts.p[at].program].kept;
}

static struct nsx_str
name_of(const struct insts *f, size_t at)
{
	const struct nsx_cat_inst *i = &f->top.cat.insts.p[at];

	return nsx_cat_str(&f->top.cat, i->name != NSX_NONE ? i->name : f->insts.p[at].name);
}

static nsx_u128
all_thunks(const struct insts *f)
{
	nsx_u128 sum = 0;

	for (size_t k = 0; k < f->insts.n; k++)
		sum += (nsx_u128)f->insts.p[k].exposed.sum;
	return sum;
}

/* What shares are of: the time of all modules, or if thunks run side by side for longer than that, theirs; 0 without
 * modules. */
static nsx_u128
whole(const struct insts *f)
{
	nsx_u128 modules = nsx_top_all_modules(&f->top), thunks = all_thunks(f);

	return modules && thunks > modules ? thunks : modules;
}

/* ---- instructions ---- */

/* The sort key of rows of instructions. */
struct order { nsx_u128 time; double mean; int64_t program; struct nsx_str name; size_t inst; };

static int
tie(const struct order *a, const struct order *b)
{
	if (a->program != b->program)
		return a->program < b->program ? -1 : 1;
	return nsx_str_cmp(a->name, b->name);
}

static int
by_time(const void *pa, const void *pb)
{
	const struct order *a = pa, *b = pb;

	return a->time != b->time ? a->time > b->time ? -1 : 1 : tie(a, b);
}

static int
by_mean(const void *pa, const void *pb)
{
	const struct order *a = pa, *b = pb;

	return a->mean != b->mean ? a->mean > b->mean ? -1 : 1 : tie(a, b);
}

static bool
varies(const struct inst *i)
{
	return !i->comm && i->exposed.n > 1 && nsx_stat_std(&i->exposed) > VARIES * nsx_stat_mean(&i->exposed);
}

static int
put_inst(struct insts *f, struct nsx_table *t, size_t at, nsx_u128 all)
{
	const struct nsx_catalogue *cat = &f->top.cat;
	const struct nsx_cat_inst *of = &cat->insts.p[at];
	const struct inst *i = &f->insts.p[at];
	int64_t id = cat->programs.p[of->program].id;
	double mean = nsx_stat_mean(&i->exposed), std = i->exposed.n > 1 ? nsx_stat_std(&i->exposed) : 0;

	nsx_table_row(t);
	if (id != NSX_ABSENT)
		nsx_table_int(t, T_ID, id);
	nsx_table_str(t, T_PROGRAM, nsx_cat_str(cat, nsx_top_name(&f->top, of->program)));
	nsx_table_str(t, T_NAME, name_of(f, at));
	nsx_table_str(t, T_OPCODE, nsx_cat_str(cat, of->opcode));
	nsx_table_int(t, T_COMM, i->comm);
	nsx_table_int(t, T_COUNT, i->exposed.n);
	nsx_table_double(t, T_MEAN, mean);
	if (i->exposed.n > 1)
		nsx_table_double(t, T_STD, std);
	if (i->exposed.n > 1 && mean > 0)
		nsx_table_double(t, T_RELSTD, std / mean);
	if (all)
		nsx_table_double(t, T_SHARE, nsx_sum_share((nsx_u128)i->exposed.sum, all));
	nsx_table_str(t, T_OP_NAME, nsx_cat_str(cat, of->op_name));
	if (i->comm && !i->no_hidden && nsx_table_sum(t, T_EXPOSED, (nsx_u128)i->exposed.sum, f->err) != NSX_OK)
		return NSX_ERR;
	return nsx_table_sum(t, T_TOTAL, (nsx_u128)i->exposed.sum, f->err);
}

static int
put_insts(struct insts *f, struct nsx_table *t)
{
	struct order *rows = malloc((f->insts.n + 1) * sizeof *rows);
	nsx_u128 all = whole(f);
	int64_t most = f->options.variable;
	size_t n = 0, beyond = 0;
	int rc = NSX_OK;

	if (!rows)
		return nsx_err_nomem(f->err, NULL);
	for (size_t k = 0; k < f->insts.n; k++) {
		const struct inst *i = &f->insts.p[k];

		if (counts(f, k) && (!most || varies(i)))
			rows[n++] = (struct order){ (nsx_u128)i->exposed.sum, nsx_stat_mean(&i->exposed),
			                            f->top.cat.programs.p[f->top.cat.insts.p[k].program].number,
			                            name_of(f, k), k };
		else if (!most && i->exposed.n > 0)
			beyond++;
	}
	nsx_table_uncovered(t, beyond);
	if (n > 1)
		qsort(rows, n, sizeof *rows, most ? by_mean : by_time);
	for (size_t k = 0; k < n && (!most || k < (size_t)most) && rc == NSX_OK; k++)
		rc = put_inst(f, t, rows[k].inst, all);
	free(rows);
	return rc;
}

/* ---- labels ---- */

static int
row_cmp(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;
	nsx_u128 x = a->exposed + a->hidden, y = b->exposed + b->hidden;

	return x != y ? x > y ? -1 : 1 : nsx_str_cmp(a->label, b->label);
}

/* The row of a label; NULL when out of memory. */
static struct row *
row_at(struct rows *rows, struct nsx_map *row_of, uint32_t label)
{
	uint32_t *at = nsx_map_at(row_of, (struct nsx_key){ label, 0 });

	if (at && *at == NSX_NONE && nsx_vec_push(rows, ((struct row){ .count = 0 })))
		*at = (uint32_t)(rows->n - 1);
	return at && *at != NSX_NONE ? &rows->p[*at] : NULL;
}

/* Add an instruction's executions, unless its program is not kept: then its label may remain without any. */
static void
add_row(struct row *r, const struct inst *i, bool kept)
{
	if (!kept)
		return;
	r->count += i->exposed.n;
	r->exposed += (nsx_u128)i->exposed.sum;
	r->hidden += i->hidden;
}

/* Sort the rows and remove those of programs that are not kept: their number. */
static size_t
sort_rows(struct rows *rows)
{
	size_t n = 0, all = rows->n;

	for (size_t i = 0; i < all; i++)
		if (rows->p[i].count)
			rows->p[n++] = rows->p[i];
	rows->n = n;
	if (n > 1)
		qsort(rows->p, n, sizeof *rows->p, row_cmp);
	return all - n;
}

/* Rows by opcode, or by kind for communication only, not sorted. False when out of memory. */
static bool
add_up(const struct insts *f, bool kinds, struct rows *rows)
{
	const struct nsx_catalogue *cat = &f->top.cat;
	struct nsx_map row_of = { 0 };
	bool good = true;

	for (size_t k = 0; k < f->insts.n + f->op_kinds.n && good; k++) {
		bool op = k >= f->insts.n;
		const struct inst *i = op ? &f->op_kinds.p[k - f->insts.n] : &f->insts.p[k];
		uint32_t label = op ? i->name : kinds ? cat->insts.p[k].collective : cat->insts.p[k].opcode;

		if (i->exposed.n == 0 || (kinds ? !i->comm : op))
			continue;
		struct row *r = row_at(rows, &row_of, label);
		good = r != NULL;
		if (!good)
			break;
		r->label = label != NSX_NONE ? nsx_cat_str(cat, label) : kinds
		    ? NSX_STR("[unknown]") : NSX_STR("[no instruction]");
		add_row(r, i, kinds || counts(f, k));
	}
	nsx_map_free(&row_of);
	return good;
}

/* A row of a name, a sum and its share of the whole. */
static int
put_sum(struct insts *f, struct nsx_table *t, struct nsx_str name, nsx_u128 ns, nsx_u128 of)
{
	nsx_table_row(t);
	nsx_table_str(t, O_OPCODE, name);
	if (of)
		nsx_table_double(t, O_SHARE, nsx_sum_share(ns, of));
	return nsx_table_sum(t, O_TOTAL, ns, f->err);
}

/* A row of each source line that executed instructions came from. */
static int
put_sources(struct insts *f, struct nsx_table *t)
{
	struct nsx_catalogue *cat = &f->top.cat;
	nsx_u128 all = whole(f);
	struct nsx_map row_of = { 0 };
	struct rows rows = { 0 };
	NSX_VEC(uint32_t) labels = { 0 };
	bool good = true;

	for (size_t k = 0; k < f->insts.n && good; k++) {
		uint32_t op_name, frames, label;

		if (f->insts.p[k].exposed.n == 0)
			continue;
		nsx_cat_place(cat, &cat->insts.p[k], &op_name, &frames);
		label = nsx_cat_intern(cat, nsx_cat_source(nsx_cat_str(cat, frames), nsx_cat_str(cat, op_name)),
		                       f->err);
		struct row *r = label == NSX_NONE ? NULL : row_at(&rows, &row_of, label);
		good = r && (labels.n == rows.n || nsx_vec_push(&labels, label));
		if (good)
			add_row(r, &f->insts.p[k], counts(f, k));
	}
	for (size_t i = 0; i < rows.n && good; i++)
		rows.p[i].label = nsx_cat_str(cat, labels.p[i]), rows.p[i].hidden = 0;
	nsx_table_uncovered(t, sort_rows(&rows));
	int rc = good ? NSX_OK : nsx_err_nomem(f->err, NULL);
	for (size_t i = 0; i < rows.n && rc == NSX_OK; i++) {
		nsx_table_row(t);
		nsx_table_str(t, S_SOURCE, rows.p[i].label);
		nsx_table_int(t, S_COUNT, rows.p[i].count);
		if (all)
			nsx_table_double(t, S_SHARE, nsx_sum_share(rows.p[i].exposed, all));
		rc = nsx_table_sum(t, S_TOTAL, rows.p[i].exposed, f->err);
	}
	nsx_map_free(&row_of);
	free(rows.p);
	free(labels.p);
	return rc;
}

static int
put_opcodes(struct insts *f, struct nsx_table *t)
{
	nsx_u128 modules = nsx_top_modules(&f->top), all = whole(f), exposed = 0;
	struct rows rows = { 0 };
	int rc = add_up(f, false, &rows) ? NSX_OK : nsx_err_nomem(f->err, NULL);

	/* Hidden time is in no opcode's time, nor does it affect the order. */
	for (size_t i = 0; i < rows.n; i++)
		rows.p[i].hidden = 0;
	nsx_table_uncovered(t, sort_rows(&rows));
	for (size_t i = 0; i < rows.n && rc == NSX_OK; i++) {
		exposed += rows.p[i].exposed;
		rc = put_sum(f, t, rows.p[i].label, rows.p[i].exposed, all);
	}
	if (rc == NSX_OK && f->top.any_module && f->top.any_thunk)
		rc = put_sum(f, t, NSX_STR("[GPU idle during module execution]"), modules > exposed ? modules - exposed
		             : 0, all);
	free(rows.p);
	return rc;
}

/* The sums over all kinds, below the rows. */
static void
note_all(const struct insts *f, struct nsx_table *t, const struct row *all)
{
	nsx_u128 time = all->exposed + all->hidden;
	struct nsx_buf b = { 0 };

	nsx_buf_fmt(&b, "[all]: %" PRId64 " record%s, total ", all->count, all->count == 1 ? "" : "s");
	nsx_buf_ns(&b, (double)time);
	nsx_buf_c(&b, ", exposed ");
	nsx_buf_ns(&b, (double)all->exposed);
	nsx_buf_c(&b, ", hidden ");
	nsx_buf_ns(&b, (double)all->hidden);
	if (!f->no_hidden && time)
		nsx_buf_fmt(&b, " (%.1f%%)", 100 * nsx_sum_share(all->hidden, time));
	if (!b.failed)
		nsx_table_note(t, "%.*s", (int)b.len, b.ptr);
	nsx_buf_free(&b);
}

static int
put_collectives(struct insts *f, struct nsx_table *t)
{
	struct rows rows = { 0 };
	struct row all = { .count = 0 };
	int rc = add_up(f, true, &rows) ? NSX_OK : nsx_err_nomem(f->err, NULL);

	sort_rows(&rows);
	for (size_t i = 0; i < rows.n && rc == NSX_OK; i++) {
		const struct row *r = &rows.p[i];
		nsx_u128 time = r->exposed + r->hidden;

		all.count += r->count;
		all.exposed += r->exposed;
		all.hidden += r->hidden;
		nsx_table_row(t);
		nsx_table_str(t, C_COLLECTIVE, r->label);
		nsx_table_int(t, C_COUNT, r->count);
		if (nsx_table_sum(t, C_TOTAL, time, f->err) != NSX_OK ||
		    nsx_table_sum(t, C_EXPOSED, r->exposed, f->err) != NSX_OK ||
		    nsx_table_sum(t, C_HIDDEN, r->hidden, f->err) != NSX_OK)
			rc = NSX_ERR;
		if (!f->no_hidden && time)
			nsx_table_double(t, C_HIDDEN_SHARE, nsx_sum_share(r->hidden, time));
	}
	if (rows.n > 0)
		note_all(f, t, &all);
	free(rows.p);
	return rc;
}

struct total { const char *name; bool known; nsx_u128 ns; };

static int
put_total_rows(struct insts *f, struct nsx_table *t, const struct total *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].known && put_sum(f, t, nsx_str_c(rows[i].name), rows[i].ns, rows[0].ns) != NSX_OK)
			return NSX_ERR;
	return NSX_OK;
}

/* Of the operations of all devices: each moment of a device once. */
static int
put_moments(struct insts *f, struct nsx_table *t)
{
	nsx_u128 wall = 0, of[NSX_NPARTS] = { 0 }, hidden = 0;

	nsx_moments_finish(&f->moments);
	for (size_t i = 0; i < f->moments.devices.n; i++) {
		const struct nsx_moments *m = &f->moments.devices.p[i];

		wall += nsx_moments_window(m);
		for (int p = 0; p < NSX_NPARTS; p++)
			of[p] += m->of[p];
		hidden += m->whole[NSX_PART_COMM] - m->of[NSX_PART_COMM];
	}
	const struct total rows[] = {
		{ "wall",                  true, wall },
		{ "modules",               f->top.any_module, nsx_top_modules(&f->top) },
		{ "computation",           true, of[NSX_PART_COMPUTE] },
		{ "exposed communication", true, of[NSX_PART_COMM] },
		{ "hidden communication",  true, hidden },
		{ "copies",                true, of[NSX_PART_COPY] },
		{ "idle",                  true, of[NSX_PART_IDLE] },
	};
	return put_total_rows(f, t, rows, sizeof rows / sizeof *rows);
}

/* Of thunks and modules, in a stream without operations. */
static int
put_totals(struct insts *f, struct nsx_table *t)
{
	nsx_u128 compute = 0, exposed = 0, hidden = 0, copies = 0, modules = nsx_top_modules(&f->top),
	    wall = nsx_top_span(&f->top);

	if (f->moments.any)
		return put_moments(f, t);
	if (!f->top.any_thunk && !f->top.any_module)
		return NSX_OK;
	for (size_t k = 0; k < f->insts.n; k++) {
		const struct inst *i = &f->insts.p[k];

		if (!counts(f, k))
			continue;
		*(i->comm ? &exposed : &compute) += (nsx_u128)i->exposed.sum - i->copies;
		copies += i->copies;
		hidden += i->hidden;
	}
	nsx_u128 thunks = compute + exposed + copies;
	const struct total rows[] = {
		{ "wall",                            f->top.any_module, wall },
		{ "modules",                         f->top.any_module, modules },
		{ "thunks",                          f->top.any_thunk,  thunks },
		{ "computation",                     f->top.any_thunk,  compute },
		{ "exposed communication",           f->top.any_thunk,  exposed },
		{ "hidden communication",            f->top.any_thunk,  hidden },
		{ "copies",                          f->top.any_thunk,  copies },
		{ "idle during module executions",   f->top.any_module && f->top.any_thunk, modules > thunks ? modules -
		  thunks : 0 },
		{ "idle between module executions",  f->top.any_module, wall > modules ? wall - modules : 0 },
	};
	return put_total_rows(f, t, rows, sizeof rows / sizeof *rows);
}

/* ---- */

static void
report(struct insts *f, struct nsx_diags *diags)
{
	bool kinds = f->options.by == NSX_SUMMARY_COLLECTIVE;

	if (!f->top.any_thunk && !f->any_op && !f->moments.any)
		nsx_diag_add(diags, NSX_WARNING, "", 1, kinds ? "no thunk and no op records: extract with --ops"
			: "no thunk records, which come from XLA's NVTX ranges: --by kernel and --by range work "
			    "without them");
	if (f->options.by == NSX_SUMMARY_TOTAL) {
		if (f->top.any_thunk && !f->moments.any)
			nsx_sum_thunk_view(&f->top, diags);
	} else if (f->top.any_thunk && !f->top.any_module && !kinds)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
		             "no module records: every program counts; idle time and shares are not known");
	if (kinds && (f->top.any_thunk || f->any_op) && !f->top.any_comm)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no communication");
	nsx_diag_add(diags, NSX_WARNING, "", f->timeless_ops, "operations without a duration: ignored");
	nsx_moments_diags(&f->moments, diags);
	/* These are counted without `hidden`. */
	f->top.any_comm &= !f->moments.any;
	nsx_top_diags(&f->top, diags);
}

static int
insts_finish(void *state, struct nsx_table **table, struct nsx_diags *diags)
{
	struct insts *f = state;
	int rc;

	for (size_t i = 0; i < f->insts.n; i++)
		if (!nsx_top_expose(&f->top, f->top.cat.insts.p[i].program, (nsx_u128)f->insts.p[i].exposed.sum))
			return nsx_err_nomem(f->err, NULL);
	if (f->options.by != NSX_SUMMARY_COLLECTIVE && !nsx_top_pick(&f->top, f->options.cover, diags))
		return nsx_err_nomem(f->err, NULL);
	switch (f->options.by) {
	case NSX_SUMMARY_THUNK:  *table = nsx_table_new(thunk_cols, T_NCOLS); break;
	case NSX_SUMMARY_OPCODE: *table = nsx_table_new(opcode_cols, O_NCOLS); break;
	case NSX_SUMMARY_SOURCE: *table = nsx_table_new(source_cols, S_NCOLS); break;
	case NSX_SUMMARY_TOTAL:  *table = nsx_table_new(total_cols, O_NCOLS); break;
	default:                 *table = nsx_table_new(collective_cols, C_NCOLS); break;
	}
	if (!*table)
		return nsx_err_nomem(f->err, NULL);
	if (f->options.by == NSX_SUMMARY_THUNK)
		nsx_table_rank(*table, f->options.variable ? "name total relstd mean id program count share"
		                                           : "name total share id program count opcode mean op_name");
	if ((f->options.by == NSX_SUMMARY_THUNK && !f->options.variable) || f->options.by == NSX_SUMMARY_OPCODE
	    || f->options.by == NSX_SUMMARY_SOURCE || f->options.by == NSX_SUMMARY_COLLECTIVE)
		nsx_table_adds(*table, "total");
	if (f->top.any_module && !f->options.variable && f->options.by != NSX_SUMMARY_TOTAL
	    && f->options.by != NSX_SUMMARY_COLLECTIVE)
		nsx_table_shares(*table, "share", whole(f) > nsx_top_all_modules(&f->top) ? "the sum of the rows"
		                 : "module time");
	switch (f->options.by) {
	case NSX_SUMMARY_THUNK:  rc = put_insts(f, *table); break;
	case NSX_SUMMARY_OPCODE: rc = put_opcodes(f, *table); break;
	case NSX_SUMMARY_SOURCE: rc = put_sources(f, *table); break;
	case NSX_SUMMARY_TOTAL:  rc = put_totals(f, *table); break;
	default:                 rc = put_collectives(f, *table); break;
	}
	report(f, diags);
	return rc;
}

const struct nsx_summer nsx_sum_insts = { insts_open, insts_need, insts_take, insts_finish, insts_free };
