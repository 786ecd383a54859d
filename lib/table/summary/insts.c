/* insts.c -- a row an instruction, an opcode or a kind of collective, and sums over the stream. Holds what the metadata
 * say of instructions and exact sums for each that was executed. */
#include <math.h>
#include <stdlib.h>

#include "table/summary/summary.h"
#include "job/program_time.h"
#include "base/stat.h"
#include "job/communicates.h"

/* Deviations of more than this share of the mean are worth a look. */
#define VARIES 0.1

enum { T_ID, T_PROGRAM, T_NAME, T_OPCODE, T_COMM, T_COUNT, T_TOTAL, T_MEAN, T_STD, T_RELSTD, T_PERCENT, T_OP_NAME, T_NCOLS };

static const struct nsx_table_col thunk_cols[T_NCOLS] = {
	[T_ID]      = { "id", NSX_CELL_INT },
	[T_PROGRAM] = { "program", NSX_CELL_STRING },
	[T_NAME]    = { "name", NSX_CELL_STRING },
	[T_OPCODE]  = { "opcode", NSX_CELL_STRING },
	[T_COMM]    = { "comm", NSX_CELL_INT },
	[T_COUNT]   = { "count", NSX_CELL_INT },
	[T_TOTAL]   = { "total", NSX_CELL_NS },
	[T_MEAN]    = { "mean", NSX_CELL_MEAN_NS },
	[T_STD]     = { "std", NSX_CELL_MEAN_NS },
	[T_RELSTD]  = { "relstd", NSX_CELL_SHARE },
	[T_PERCENT] = { "percent", NSX_CELL_PERCENT },
	[T_OP_NAME] = { "op_name", NSX_CELL_STRING },
};

enum { O_OPCODE, O_TOTAL, O_PERCENT, O_NCOLS };

static const struct nsx_table_col opcode_cols[O_NCOLS] = {
	[O_OPCODE]  = { "opcode", NSX_CELL_STRING },
	[O_TOTAL]   = { "total", NSX_CELL_NS },
	[O_PERCENT] = { "percent", NSX_CELL_PERCENT },
};

static const struct nsx_table_col total_cols[O_NCOLS] = {
	[O_OPCODE]  = { "quantity", NSX_CELL_STRING },
	[O_TOTAL]   = { "total", NSX_CELL_NS },
	[O_PERCENT] = { "percent", NSX_CELL_PERCENT },
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

struct inst {
	uint32_t program;               /* in nsx_top */
	bool     comm;
	uint32_t name, label, op_name;  /* label: opcode, by collective its kind; NSX_NONE: absent */
	struct nsx_stat exposed;
	nsx_u128 hidden;
};

/* What has one label. */
struct row { struct nsx_str label; int64_t count; nsx_u128 exposed, hidden; };

struct insts {
	struct nsx_err *err;
	struct nsx_summary_options options;
	struct nsx_top  top;
	struct nsx_intern strs;
	NSX_VEC(struct inst) insts;
	struct nsx_map  inst_of;   /* (program, inst) -> insts */
	NSX_VEC(struct inst) op_kinds;   /* operations by kind of collective */
	struct nsx_map  op_kind_of;      /* label -> op_kinds */
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
	return f;
}

static void
insts_free(void *state)
{
	struct insts *f = state;

	if (!f)
		return;
	nsx_top_free(&f->top);
	nsx_map_free(&f->op_kind_of);
	free(f->op_kinds.p);
	nsx_intern_free(&f->strs);
	nsx_map_free(&f->inst_of);
	free(f->insts.p);
	free(f);
}

/* The string's number in *id if there is one; false when out of memory. */
static bool
string_of(struct insts *f, const struct nsx_rec *rec, int slot, uint32_t *id)
{
	if (!nsx_has(rec, slot))
		return true;
	*id = nsx_intern(&f->strs, rec->v[slot].s);
	return *id != NSX_NONE;
}

/* The instruction of that number, made if it is new; NULL when out of memory. */
static struct inst *
inst_at(struct insts *f, int64_t program, int64_t inst)
{
	uint32_t *at = nsx_map_at(&f->inst_of, (struct nsx_key){ (uint64_t)program, (uint64_t)inst });

	if (at && *at == NSX_NONE) {
		struct inst fresh = { .program = nsx_top_at(&f->top, program), .name = NSX_NONE, .label = NSX_NONE, .op_name = NSX_NONE };

		if (fresh.program == NSX_NONE || !nsx_vec_push(&f->insts, fresh))
			return NULL;
		*at = (uint32_t)(f->insts.n - 1);
	}
	return at ? &f->insts.p[*at] : NULL;
}

static bool
take_inst(struct insts *f, const struct nsx_rec *rec)
{
	struct inst *i = inst_at(f, nsx_int(rec, NSX_INST_program, INT64_MIN), nsx_int(rec, NSX_INST_inst, INT64_MIN));
	bool kinds = f->options.by == NSX_SUMMARY_COLLECTIVE;

	if (!i)
		return false;
	i->comm = nsx_int(rec, NSX_INST_comm, 0) == 1;
	if (!string_of(f, rec, kinds ? NSX_INST_collective : NSX_INST_opcode, &i->label))
		return false;
	return f->options.by != NSX_SUMMARY_THUNK
	       || (string_of(f, rec, NSX_INST_name, &i->name) && string_of(f, rec, NSX_INST_op_name, &i->op_name));
}

static bool
take_thunk(struct insts *f, const struct nsx_rec *rec)
{
	struct inst *i = inst_at(f, nsx_int(rec, NSX_THUNK_program, INT64_MIN), nsx_int(rec, NSX_THUNK_inst, INT64_MIN));
	int64_t dur, hidden;

	if (!i)
		return false;
	bool comm = nsx_cat_communicates(&f->top.cat, rec);
	/* Of instructions without a record each thunk speaks for itself. */
	i->comm |= comm;
	if (i->name == NSX_NONE && f->options.by == NSX_SUMMARY_THUNK && !string_of(f, rec, NSX_THUNK_name, &i->name))
		return false;
	if (!nsx_top_thunk(&f->top, rec, comm, &dur, &hidden))
		return true;
	f->no_hidden |= comm && !nsx_has(rec, NSX_THUNK_hidden);
	nsx_stat_add(&i->exposed, dur - hidden);
	i->hidden += (nsx_u128)hidden;
	return true;
}

/* An operation that communicates, and whose time is in no thunk that does: by kind of collective alone. */
static bool
take_op(struct insts *f, const struct nsx_rec *rec)
{
	int64_t dur = nsx_int(rec, NSX_OP_dur, -1), hidden = nsx_int(rec, NSX_OP_hidden, 0);
	uint32_t label = NSX_NONE, *at;

	f->any_op = true;
	if (!nsx_cat_communicates(&f->top.cat, rec) || nsx_cat_inst_communicates(&f->top.cat, rec))
		return true;
	if (dur < 0) {
		f->timeless_ops++;
		return true;
	}
	if (!string_of(f, rec, NSX_OP_collective, &label))
		return false;
	at = nsx_map_at(&f->op_kind_of, (struct nsx_key){ label, 0 });
	if (!at || (*at == NSX_NONE && !nsx_vec_push(&f->op_kinds, ((struct inst){ .comm = true, .label = label }))))
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
	case NSX_PROGRAM: good = nsx_top_program(&f->top, rec) != NSX_NONE; break;
	case NSX_MODULE:  good = nsx_top_module(&f->top, rec) != NSX_NONE; break;
	case NSX_INST:    good = take_inst(f, rec); break;
	case NSX_THUNK:   good = take_thunk(f, rec); break;
	case NSX_OP:      good = f->options.by != NSX_SUMMARY_COLLECTIVE || take_op(f, rec); break;
	default: break;
	}
	return good ? NSX_OK : nsx_err_nomem(f->err, NULL);
}

static struct nsx_str
string(const struct insts *f, uint32_t id)
{
	return id == NSX_NONE ? NSX_STR("") : nsx_intern_str(&f->strs, id);
}

/* Whether any of the kept programs executed it. */
static bool
counts(const struct insts *f, const struct inst *i)
{
	return i->exposed.n > 0 && f->top.programs.p[i->program].kept;
}

/* ---- instructions ---- */

/* What orders the rows of instructions. */
struct order { nsx_u128 time; double mean; int64_t program; struct nsx_str name; const struct inst *inst; };

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
put_inst(struct insts *f, struct nsx_table *t, const struct inst *i, nsx_u128 modules)
{
	const struct nsx_top_program *p = &f->top.programs.p[i->program];
	double mean = nsx_stat_mean(&i->exposed), std = i->exposed.n > 1 ? nsx_stat_std(&i->exposed) : 0;

	nsx_table_row(t);
	if (p->has_id)
		nsx_table_int(t, T_ID, p->id);
	nsx_table_str(t, T_PROGRAM, nsx_top_str(&f->top, p->name));
	nsx_table_str(t, T_NAME, string(f, i->name));
	nsx_table_str(t, T_OPCODE, string(f, i->label));
	nsx_table_int(t, T_COMM, i->comm);
	nsx_table_int(t, T_COUNT, i->exposed.n);
	nsx_table_double(t, T_MEAN, mean);
	if (i->exposed.n > 1)
		nsx_table_double(t, T_STD, std);
	if (i->exposed.n > 1 && mean > 0)
		nsx_table_double(t, T_RELSTD, std / mean);
	if (modules)
		nsx_table_double(t, T_PERCENT, nsx_sum_percent((nsx_u128)i->exposed.sum, modules));
	nsx_table_str(t, T_OP_NAME, string(f, i->op_name));
	return nsx_sum_ns(t, T_TOTAL, (nsx_u128)i->exposed.sum, f->err);
}

static int
put_insts(struct insts *f, struct nsx_table *t)
{
	struct order *rows = malloc((f->insts.n + 1) * sizeof *rows);
	nsx_u128 modules = nsx_top_modules(&f->top);
	int64_t most = f->options.variable;
	size_t n = 0;
	int rc = NSX_OK;

	if (!rows)
		return nsx_err_nomem(f->err, NULL);
	for (size_t k = 0; k < f->insts.n; k++) {
		const struct inst *i = &f->insts.p[k];

		if (counts(f, i) && (!most || varies(i)))
			rows[n++] = (struct order){ (nsx_u128)i->exposed.sum, nsx_stat_mean(&i->exposed), f->top.programs.p[i->program].number,
			                            string(f, i->name), i };
	}
	if (n > 1)
		qsort(rows, n, sizeof *rows, most ? by_mean : by_time);
	for (size_t k = 0; k < n && (!most || k < (size_t)most) && rc == NSX_OK; k++)
		rc = put_inst(f, t, rows[k].inst, modules);
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

/* Rows by opcode, or by kind for communication alone; *n of them, the caller frees them. NULL when out of memory. */
static struct row *
add_up(const struct insts *f, bool kinds, size_t *n)
{
	struct row *rows = calloc(f->strs.n + 1, sizeof *rows);
	size_t kept = 0;

	if (!rows)
		return NULL;
	for (size_t k = 0; k < f->insts.n + f->op_kinds.n; k++) {
		const struct inst *i = k < f->insts.n ? &f->insts.p[k] : &f->op_kinds.p[k - f->insts.n];

		if (kinds ? !i->comm || i->exposed.n == 0 : !counts(f, i))
			continue;
		struct row *r = &rows[i->label == NSX_NONE ? f->strs.n : i->label];
		r->label = i->label != NSX_NONE ? string(f, i->label) : kinds ? NSX_STR("[unknown]") : NSX_STR("[no instruction]");
		r->count += i->exposed.n;
		r->exposed += (nsx_u128)i->exposed.sum;
		r->hidden += i->hidden;
	}
	for (size_t k = 0; k <= f->strs.n; k++)
		if (rows[k].count)
			rows[kept++] = rows[k];
	*n = kept;
	if (kept > 1)
		qsort(rows, kept, sizeof *rows, row_cmp);
	return rows;
}

/* A row of a name, a sum and what it is of the whole. */
static int
put_sum(struct insts *f, struct nsx_table *t, struct nsx_str name, nsx_u128 ns, nsx_u128 of)
{
	nsx_table_row(t);
	nsx_table_str(t, O_OPCODE, name);
	if (of)
		nsx_table_double(t, O_PERCENT, nsx_sum_percent(ns, of));
	return nsx_sum_ns(t, O_TOTAL, ns, f->err);
}

static int
put_opcodes(struct insts *f, struct nsx_table *t)
{
	nsx_u128 modules = nsx_top_modules(&f->top), exposed = 0;
	size_t n = 0;
	struct row *rows = add_up(f, false, &n);
	int rc = rows ? NSX_OK : nsx_err_nomem(f->err, NULL);

	/* What is hidden shows in no opcode's time, nor in the order. */
	for (size_t i = 0; i < n; i++)
		rows[i].hidden = 0;
	if (n > 1)
		qsort(rows, n, sizeof *rows, row_cmp);
	for (size_t i = 0; i < n && rc == NSX_OK; i++) {
		exposed += rows[i].exposed;
		rc = put_sum(f, t, rows[i].label, rows[i].exposed, modules);
	}
	if (rc == NSX_OK && f->top.any_module && f->top.any_thunk)
		rc = put_sum(f, t, NSX_STR("[GPU idle during module execution]"), modules > exposed ? modules - exposed : 0, modules);
	free(rows);
	return rc;
}

static int
put_collectives(struct insts *f, struct nsx_table *t)
{
	size_t n = 0;
	struct row *rows = add_up(f, true, &n);
	struct row all = { .label = NSX_STR("[all]") };
	int rc = rows ? NSX_OK : nsx_err_nomem(f->err, NULL);

	for (size_t i = 0; i < n; i++) {
		all.count += rows[i].count;
		all.exposed += rows[i].exposed;
		all.hidden += rows[i].hidden;
	}
	for (size_t i = 0; n > 0 && i <= n && rc == NSX_OK; i++) {
		const struct row *r = i < n ? &rows[i] : &all;
		nsx_u128 time = r->exposed + r->hidden;

		nsx_table_row(t);
		nsx_table_str(t, C_COLLECTIVE, r->label);
		nsx_table_int(t, C_COUNT, r->count);
		if (nsx_sum_ns(t, C_TOTAL, time, f->err) != NSX_OK || nsx_sum_ns(t, C_EXPOSED, r->exposed, f->err) != NSX_OK
		    || nsx_sum_ns(t, C_HIDDEN, r->hidden, f->err) != NSX_OK)
			rc = NSX_ERR;
		if (!f->no_hidden && time)
			nsx_table_double(t, C_HIDDEN_SHARE, (double)r->hidden / (double)time);
	}
	free(rows);
	return rc;
}

static int
put_totals(struct insts *f, struct nsx_table *t)
{
	nsx_u128 compute = 0, exposed = 0, hidden = 0, modules = nsx_top_modules(&f->top), wall = nsx_top_span(&f->top);

	if (!f->top.any_thunk && !f->top.any_module)
		return NSX_OK;
	for (size_t k = 0; k < f->insts.n; k++) {
		const struct inst *i = &f->insts.p[k];

		if (!counts(f, i))
			continue;
		*(i->comm ? &exposed : &compute) += (nsx_u128)i->exposed.sum;
		hidden += i->hidden;
	}
	nsx_u128 thunks = compute + exposed;
	const struct { const char *name; bool known; nsx_u128 ns; } rows[] = {
		{ "wall",                            f->top.any_module, wall },
		{ "modules",                         f->top.any_module, modules },
		{ "thunks",                          f->top.any_thunk,  thunks },
		{ "computation",                     f->top.any_thunk,  compute },
		{ "exposed communication",           f->top.any_thunk,  exposed },
		{ "hidden communication",            f->top.any_thunk,  hidden },
		{ "idle during module executions",   f->top.any_module && f->top.any_thunk, modules > thunks ? modules - thunks : 0 },
		{ "idle between module executions",  f->top.any_module, wall > modules ? wall - modules : 0 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].known && put_sum(f, t, nsx_str_c(rows[i].name), rows[i].ns, wall) != NSX_OK)
			return NSX_ERR;
	return NSX_OK;
}

/* ---- */

static void
report(const struct insts *f, struct nsx_diags *diags)
{
	bool kinds = f->options.by == NSX_SUMMARY_COLLECTIVE;

	if (!f->top.any_thunk && !f->any_op)
		nsx_diag_add(diags, NSX_WARNING, "", 1, kinds ? "no thunk or op records: nothing to sum up" : "no thunk records: nothing to sum up");
	if (f->top.any_thunk && !f->top.any_module && !kinds)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no module records: every program counts, idle time and shares are not known");
	if (kinds && (f->top.any_thunk || f->any_op) && !f->top.any_comm)
		nsx_diag_add(diags, NSX_INFO, "", 1, "no communication");
	nsx_diag_add(diags, NSX_WARNING, "", f->timeless_ops, "operations without a duration: left out");
	nsx_top_diags(&f->top, diags);
}

static int
insts_finish(void *state, struct nsx_table **table, struct nsx_diags *diags)
{
	struct insts *f = state;
	int rc;

	for (size_t i = 0; i < f->insts.n; i++)
		f->top.programs.p[f->insts.p[i].program].exposed += (nsx_u128)f->insts.p[i].exposed.sum;
	if (f->options.by != NSX_SUMMARY_COLLECTIVE && !nsx_top_pick(&f->top, f->options.cover, diags))
		return nsx_err_nomem(f->err, NULL);
	switch (f->options.by) {
	case NSX_SUMMARY_THUNK:  *table = nsx_table_new(thunk_cols, T_NCOLS); break;
	case NSX_SUMMARY_OPCODE: *table = nsx_table_new(opcode_cols, O_NCOLS); break;
	case NSX_SUMMARY_TOTAL:  *table = nsx_table_new(total_cols, O_NCOLS); break;
	default:                 *table = nsx_table_new(collective_cols, C_NCOLS); break;
	}
	if (!*table)
		return nsx_err_nomem(f->err, NULL);
	switch (f->options.by) {
	case NSX_SUMMARY_THUNK:  rc = put_insts(f, *table); break;
	case NSX_SUMMARY_OPCODE: rc = put_opcodes(f, *table); break;
	case NSX_SUMMARY_TOTAL:  rc = put_totals(f, *table); break;
	default:                 rc = put_collectives(f, *table); break;
	}
	report(f, diags);
	return rc;
}

const struct nsx_summer nsx_sum_insts = { insts_open, insts_take, insts_finish, insts_free };
