/* insts.c -- a row for each instruction, opcode or kind of collective, and sums over the stream. Holds the metadata of
 * instructions and exact sums for each that was executed. */
#include <inttypes.h>
#include <stdlib.h>

#include "table/summary/axes.h"
#include "table/summary/moments.h"
#include "table/summary/summary.h"
#include "table/summary/totals.h"
#include "job/program_time.h"
#include "base/stat.h"
#include "job/catalogue.h"
#include "job/hidden.h"
#include "job/scope.h"
#include "table/sums.h"

/* Deviations above this share of the mean are reported. */
#define VARIES 0.1

/* The sums of one label. last: below the others. of: what hidden is a share of. phase: by source, parts of exposed. */
struct row {
	struct { uint32_t label, none; int64_t last; } key;
	int64_t  count;
	uint32_t axis;      /* by collective */
	nsx_u128 exposed, hidden, total, of, phase[NSX_NPHASES];
};

/* An instruction that was executed. exposed: known of communication only. */
struct thunk {
	uint32_t inst, none;        /* the key: in the catalogue */
	uint32_t program_name, name, opcode, op_name;   /* in the catalogue's strings */
	int64_t  id, program, comm;
	struct nsx_stat time;
	nsx_u128 exposed;
};

#define NSX_ROW struct thunk
static const struct nsx_sum_col thunk_cols[] = {
	NSX_COL("id", ID, id), NSX_COL("program", STRING, program_name), NSX_COL("name", STRING, name),
	NSX_COL("opcode", STRING, opcode), NSX_COL("comm", INT, comm), NSX_COL("count", INT, time.n),
	NSX_COL("total", NS, time.sum), NSX_COL_MEAN("mean", MEAN_NS, time), NSX_COL_STAT("std", MEAN_NS, STD, time),
	NSX_COL_STAT("relstd", SHARE, RELSTD, time), NSX_COL_SHARE("share", time.sum),
	NSX_COL("op_name", STRING, op_name), NSX_COL("exposed", NS, exposed), NSX_COL("number", INT, program),
};
#define THUNKS \
	NSX_ROWS(thunk_cols), .key = sizeof(uint64_t), \
	.shown = "id program name opcode comm count total mean std relstd share op_name exposed"
static const struct nsx_sum_def instructions = {
	THUNKS, .order = "-total number name", .rank = "name total share id program count opcode mean op_name",
	.adds = "total"
}, variable = {
	THUNKS, .order = "-mean number name", .rank = "name total relstd mean id program count share"
};

#undef NSX_ROW
#define NSX_ROW struct row
static const struct nsx_sum_col opcode_cols[] = {
	NSX_COL("opcode", STRING, key.label), NSX_COL("total", NS, exposed), NSX_COL_SHARE("share", exposed),
	NSX_COL("last", INT, key.last),
};
static const struct nsx_sum_col source_cols[] = {
	NSX_COL("source", STRING, key.label), NSX_COL("count", INT, count), NSX_COL("total", NS, exposed),
	NSX_COL_SHARE("share", exposed), NSX_COL("forward", NS, phase[NSX_PHASE_FORWARD]),
	NSX_COL("backward", NS, phase[NSX_PHASE_BACKWARD]), NSX_COL("recompute", NS, phase[NSX_PHASE_RECOMPUTE]),
	NSX_COL("optimizer", NS, phase[NSX_PHASE_OPTIMIZER]),
};
static const struct nsx_sum_col total_cols[] = {
	NSX_COL("quantity", STRING, key.label), NSX_COL("total", NS, exposed), NSX_COL_SHARE("share", exposed),
};
static const struct nsx_sum_col collective_cols[] = {
	NSX_COL("collective", STRING, key.label), NSX_COL("count", INT, count), NSX_COL("total", NS, total),
	NSX_COL("exposed", NS, exposed), NSX_COL("hidden", NS, hidden), NSX_COL_PER("hidden_share", SHARE, hidden, of),
	NSX_COL("axis", STRING, axis),
};

#define ROWS(list) NSX_ROWS(list), .key = sizeof((struct row *)0)->key

static const struct nsx_sum_def opcodes = {
	ROWS(opcode_cols), .shown = "opcode total share", .order = "last -total opcode", .adds = "total"
}, sources = {
	ROWS(source_cols), .order = "-total source", .adds = "total",
	.rank = "source total share count forward backward recompute optimizer"
}, totals = {
	ROWS(total_cols)
}, collectives = {
	ROWS(collective_cols), .order = "-total collective", .adds = "total"
};

/* The time of an instruction, or of the operations of one kind of collective. */
struct inst {
	uint32_t name, none;   /* of its first thunk, in the catalogue's strings, where no record names it; NSX_NONE:
	                        * absent. Of a kind of collective the key */
	struct nsx_stat exposed;
	nsx_u128 hidden;
	nsx_u128 copies;   /* of exposed: thunks that only copy */
	bool     comm;
	bool     no_hidden;   /* some of its communication has no `hidden` */
};

static const struct nsx_sum_def of_kinds = { .size = sizeof(struct inst), .key = sizeof(uint64_t) };

struct insts {
	NSX_STATE;
	struct nsx_summary_options options;
	struct nsx_top  top;
	NSX_VEC(struct inst) insts;      /* by index of the catalogue, up to the last one that ran */
	struct nsx_sums op_kinds;        /* of struct inst: operations by kind of collective */
	struct nsx_all_moments moments;  /* with NSX_SUMMARY_TOTAL */
	bool            any_op;  /* within reach */
	int64_t         timeless_ops;
	bool            no_hidden; /* some communication has no `hidden` */
	struct nsx_kind_axes axes; /* with NSX_SUMMARY_COLLECTIVE */
	struct nsx_stacks tree;    /* by source: what follows is of it */
	struct nsx_scopes scopes;
	bool              any_frames;      /* by source: an instruction that ran has a stack */
};

static int
insts_begin(void *state, const void *given, const struct nsx_analysis_at *at)
{
	const struct nsx_summary_options *options = given;
	struct insts *f = state;

	f->op_kinds.def = &of_kinds;
	f->options = *options;
	f->cat = f->top.given = at->cat;
	f->cat->keep |= options->by == NSX_SUMMARY_THUNK ? NSX_CAT_NAMES | NSX_CAT_OP_NAMES
	    : options->by == NSX_SUMMARY_SOURCE ? NSX_CAT_NAMES | NSX_CAT_PLACES : NSX_CAT_NAMES;
	return NSX_OK;
}

static void
insts_need(void *state, struct nsx_reader *in)
{
	const struct insts *f = state;

	nsx_reader_need(in, NSX_MODULE, NSX_EVERY);
	nsx_reader_need(in, NSX_THUNK, NSX_EVERY);
	if (f->options.by == NSX_SUMMARY_COLLECTIVE || f->options.by == NSX_SUMMARY_TOTAL)
		nsx_reader_need(in, NSX_OP, NSX_EVERY);
	if (f->options.by == NSX_SUMMARY_COLLECTIVE)
		nsx_kind_axes_need(in);
	if (f->options.by == NSX_SUMMARY_TOTAL)
		nsx_moments_need(in);
}

static void
insts_free(void *state)
{
	struct insts *f = state;

	nsx_top_free(&f->top);
	nsx_sums_free(&f->op_kinds);
	nsx_moments_free(&f->moments);
	nsx_kind_axes_free(&f->axes);
	nsx_scopes_free(&f->scopes);
	nsx_stacks_free(&f->tree);
	free(f->insts.p);
}

static bool
take_thunk(struct insts *f, const struct nsx_event *e)
{
	const struct nsx_rec *rec = e->rec;
	uint32_t at = nsx_cat_inst(f->cat, rec);
	bool comm = e->communicates;
	int64_t dur, hidden;

	if (at == NSX_NONE || !nsx_vec_reach(&f->insts, at, &(struct inst){ .name = NSX_NONE }))
		return false;
	struct inst *i = &f->insts.p[at];
	/* For instructions without a record the column of each thunk counts. */
	i->comm |= comm;
	if (i->name == NSX_NONE && f->options.by == NSX_SUMMARY_THUNK && f->cat->insts.p[at].name == NSX_NONE &&
	    nsx_string(rec, NSX_THUNK_name).len &&
	    (i->name = nsx_cat_intern(f->cat, rec->v[NSX_THUNK_name].s, f->err)) == NSX_NONE)
		return false;
	if (!nsx_top_thunk(&f->top, rec, comm, &dur, &hidden))
		return true;
	i->no_hidden |= comm && !nsx_has(rec, NSX_THUNK_hidden);
	f->no_hidden |= i->no_hidden;
	nsx_stat_add(&i->exposed, dur - hidden);
	i->hidden += (nsx_u128)hidden;
	if (!comm && nsx_int(rec, NSX_THUNK_copy, 0) == 1)
		i->copies += (nsx_u128)(dur - hidden);
	return !comm || f->options.by != NSX_SUMMARY_COLLECTIVE
	       || nsx_kind_axes_add(&f->axes, f->cat, f->cat->insts.p[at].collective, rec, at, NSX_STR(""),
	                            dur);
}

/* An operation that communicates, and whose time is in no thunk that does: counted by kind of collective only. */
static bool
take_op(struct insts *f, const struct nsx_event *e)
{
	const struct nsx_rec *rec = e->rec;
	int64_t dur = nsx_int(rec, NSX_OP_dur, -1), hidden;
	struct nsx_str collective = nsx_string(rec, NSX_OP_collective);
	uint32_t kind;

	f->any_op = true;
	if (!e->communicates || nsx_cat_inst_communicates(f->cat, rec))
		return true;
	if (dur < 0) {
		f->timeless_ops++;
		return true;
	}
	kind = nsx_cat_intern(f->cat, collective, f->err);
	if (kind == NSX_NONE && collective.len)
		return false;
	struct inst *k = nsx_sums_row(&f->op_kinds, &(uint32_t[2]){ kind, 0 });

	if (!k)
		return false;
	k->comm = true;
	hidden = nsx_hidden_of(dur, nsx_int(rec, NSX_OP_hidden, NSX_ABSENT), &f->top.over_hidden);
	f->top.any_comm = true;
	f->top.any_hidden |= nsx_has(rec, NSX_OP_hidden);
	f->no_hidden |= !nsx_has(rec, NSX_OP_hidden);
	nsx_stat_add(&k->exposed, dur - hidden);
	k->hidden += (nsx_u128)hidden;
	return nsx_kind_axes_add(&f->axes, f->cat, kind, rec, NSX_NONE, nsx_string(rec, NSX_OP_comm_id), dur);
}

static int
insts_take(void *state, const struct nsx_event *e)
{
	struct insts *f = state;
	const struct nsx_rec *rec = e->rec;
	bool good = true;

	if (f->options.by == NSX_SUMMARY_COLLECTIVE && nsx_kind_axes_metadata(&f->axes, f->cat, rec, f->err) != NSX_OK)
		return NSX_ERR;
	switch (rec->kind->id) {
	case NSX_MODULE: good = nsx_top_module(&f->top, rec) != NSX_NONE; break;
	case NSX_THUNK:  good = take_thunk(f, e); break;
	case NSX_OP:
		if (f->options.by == NSX_SUMMARY_COLLECTIVE)
			good = take_op(f, e);
		else if (f->options.by == NSX_SUMMARY_TOTAL)
			good = nsx_moments_take(&f->moments, e);
		break;
	case NSX_STEP:
		good = f->options.by != NSX_SUMMARY_TOTAL || nsx_moments_take_step(&f->moments, f->cat, rec);
		break;
	default: break;
	}
	return good ? NSX_OK : nsx_err_nomem(f->err, NULL);
}

/* Whether any of the kept programs executed it. */
static bool
counts(const struct insts *f, size_t at)
{
	return f->insts.p[at].exposed.n > 0 && f->top.programs.p[f->cat->insts.p[at].program].kept;
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

static bool
varies(const struct inst *i)
{
	return !i->comm && i->exposed.n > 1 && nsx_stat_std(&i->exposed) > VARIES * nsx_stat_mean(&i->exposed);
}

/* A row of each instruction that was executed, *beyond of them not counted. False when out of memory. */
static bool
add_insts(struct insts *f, size_t *beyond)
{
	const struct nsx_catalogue *cat = f->cat;
	int64_t most = f->options.variable;

	for (size_t k = 0; k < f->insts.n; k++) {
		const struct nsx_cat_inst *of = &cat->insts.p[k];
		const struct inst *i = &f->insts.p[k];

		if (!counts(f, k) || (most && !varies(i))) {
			*beyond += !most && i->exposed.n > 0;
			continue;
		}
		struct thunk *t = nsx_sums_row(&f->rows, &(uint32_t[2]){ (uint32_t)k, 0 });

		if (!t)
			return false;
		t->program_name = nsx_top_name(&f->top, of->program);
		t->name = of->name != NSX_NONE ? of->name : i->name;
		t->opcode = of->opcode;
		t->op_name = of->op_name;
		t->id = cat->programs.p[of->program].id;
		t->program = cat->programs.p[of->program].number;
		t->comm = i->comm;
		t->time = i->exposed;
		t->exposed = i->comm && !i->no_hidden ? (nsx_u128)i->exposed.sum : NSX_SUM_NONE;
	}
	if (most)
		nsx_sums_cut(&f->rows, (size_t)most);
	return true;
}

/* ---- labels ---- */

/* The row of a label; NULL when out of memory. */
static struct row *
row_at(struct insts *f, uint32_t label, bool last)
{
	struct row key = { .key = { label, 0, last } };

	return nsx_sums_row(&f->rows, &key);
}

static bool
add_named(struct insts *f, const char *name, bool last, nsx_u128 ns)
{
	uint32_t label = nsx_cat_intern(f->cat, nsx_str_c(name), f->err);
	struct row *r = label == NSX_NONE ? NULL : row_at(f, label, last);

	if (r)
		r->exposed = ns;
	return r != NULL;
}

/* The source line that an instruction came from; NSX_NONE when out of memory. */
static uint32_t
source_of(struct insts *f, size_t k)
{
	struct nsx_catalogue *cat = f->cat;
	uint32_t op_name, frames;

	nsx_cat_place(cat, &cat->insts.p[k], &op_name, &frames);
	f->any_frames |= frames != NSX_NONE;
	return nsx_cat_intern(cat, nsx_cat_source(nsx_cat_str(cat, frames), nsx_cat_str(cat, op_name)), f->err);
}

/* Find the phases of all instructions that ran, by source. False when out of memory. */
static bool
find_phases(struct insts *f)
{
	f->scopes = (struct nsx_scopes){ .tree = &f->tree, .cat = f->cat, .err = f->err };
	for (size_t k = 0; k < f->insts.n; k++)
		if (f->insts.p[k].exposed.n && nsx_scopes_inst(&f->scopes, (uint32_t)k).node == NSX_NONE)
			return false;
	return true;
}

/* Rows by opcode, by source line, or by kind for communication only. The executions of programs that are not kept count
 * in none, but their labels have rows. False when out of memory. */
static bool
add_labels(struct insts *f)
{
	bool kinds = f->options.by == NSX_SUMMARY_COLLECTIVE, source = f->options.by == NSX_SUMMARY_SOURCE;

	if (source && !find_phases(f))
		return false;
	for (size_t k = 0; k < f->insts.n + nsx_sums_count(&f->op_kinds); k++) {
		bool op = k >= f->insts.n;
		const struct inst *i = op ? nsx_sums_at(&f->op_kinds, k - f->insts.n) : &f->insts.p[k];
		const struct nsx_cat_inst *of = op ? NULL : &f->cat->insts.p[k];

		if (i->exposed.n == 0 || (kinds && !i->comm))
			continue;
		uint32_t label = op ? i->name : kinds ? of->collective : source ? source_of(f, k) : of->opcode;
		struct row *r = source && label == NSX_NONE ? NULL : row_at(f, label, false);

		if (!r)
			return false;
		if (!kinds && !counts(f, k))
			continue;
		r->count += i->exposed.n;
		r->exposed += (nsx_u128)i->exposed.sum;
		r->hidden += i->hidden;
		r->total = r->exposed + r->hidden;
		r->of = f->no_hidden ? 0 : r->total;
		if (source)
			r->phase[nsx_scopes_phase(&f->scopes, nsx_scopes_inst(&f->scopes, (uint32_t)k))] +=
			    (nsx_u128)i->exposed.sum;
	}
	return true;
}

static bool
is_shown(void *state, const void *row)
{
	const struct row *r = row;

	(void)state;
	return r->count > 0 || r->key.last;
}

/* The axes of each row. False when out of memory. */
static bool
add_axes(struct insts *f)
{
	struct nsx_buf text = { 0 };
	bool good = nsx_kind_axes_settle(&f->axes, f->cat);

	for (size_t i = 0; i < nsx_sums_count(&f->rows) && good; i++) {
		struct row *r = nsx_sums_at(&f->rows, i);

		text.len = 0;
		good = nsx_kind_axes_text(&f->axes, r->key.label, &text);
		r->axis = good ? nsx_intern(&f->cat->strings, text.len ? nsx_buf_view(&text) : NSX_STR(""))
		               : NSX_NONE;
		good = r->axis != NSX_NONE;
	}
	nsx_buf_free(&text);
	return good;
}

/* The time of modules in which no thunk ran, below the opcodes. */
static bool
add_idle(struct insts *f)
{
	nsx_u128 modules = nsx_top_modules(&f->top), exposed = 0;

	for (size_t i = 0; i < nsx_sums_count(&f->rows); i++)
		exposed += ((struct row *)nsx_sums_at(&f->rows, i))->exposed;
	return !f->top.any_module || !f->top.any_thunk
	       || add_named(f, "[GPU idle during module execution]", true, modules > exposed ? modules - exposed : 0);
}

/* The sums over all kinds, below the rows. */
static void
note_all(const struct insts *f, struct nsx_table *t)
{
	struct row all = { .count = 0 };

	NSX_SUMS_EACH(const struct row, r, &f->rows) {
		all.count += r->count;
		all.exposed += r->exposed;
		all.hidden += r->hidden;
	}
	if (nsx_sums_count(&f->rows))
		nsx_kind_note(t, all.count, all.exposed, all.hidden, !f->no_hidden);
}

/* ---- totals ---- */

/* Rows of those that are known, and their shares of the first. */
static bool
add_totals(struct insts *f)
{
	struct nsx_total rows[NSX_TOTALS];
	struct nsx_thunk_sums sums = { 0, 0, 0, 0 };
	int n;

	for (size_t k = 0; k < f->insts.n && !f->moments.any; k++) {
		const struct inst *i = &f->insts.p[k];

		if (!counts(f, k))
			continue;
		*(i->comm ? &sums.exposed : &sums.compute) += (nsx_u128)i->exposed.sum - i->copies;
		sums.copies += i->copies;
		sums.hidden += i->hidden;
	}
	n = f->moments.any ? nsx_totals_of_moments(&f->moments, &f->top, rows)
	                   : nsx_totals_of_thunks(&sums, &f->top, &f->moments.excerpt, rows);
	f->rows.whole = rows[0].ns;
	for (int i = 0; i < n; i++)
		if (rows[i].known && !add_named(f, rows[i].name, false, rows[i].ns))
			return false;
	return true;
}

/* ---- */

static void
report(struct insts *f, struct nsx_diags *diags)
{
	bool kinds = f->options.by == NSX_SUMMARY_COLLECTIVE, total = f->options.by == NSX_SUMMARY_TOTAL;

	if (!f->came[NSX_THUNK] && !((kinds || total) && f->came[NSX_OP]))
		nsx_diag_add(diags, NSX_WARNING, "", 1, kinds ? "no thunk and no op records: extract with --ops"
			: "no thunk records, which come from XLA's NVTX ranges: --by kernel and --by range work "
			    "without them");
	if (total) {
		if (f->top.any_thunk && !f->moments.any)
			nsx_sum_thunk_view(f->came, true, diags);
	} else if (f->top.any_thunk && !f->came[NSX_MODULE] && !kinds)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
		             "no module records: every program counts; idle time and shares are not known");
	if (kinds && (f->top.any_thunk || f->any_op) && !f->top.any_comm)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no communication");
	if (f->options.by == NSX_SUMMARY_SOURCE && nsx_sums_count(&f->rows) && f->insts.n && !f->any_frames)
		nsx_diag_add(diags, NSX_INFO, "", 1, "no instruction has a stack: rows are the ends of op_names, not "
		             "source lines; extract with -x DIR");
	nsx_diag_add(diags, NSX_WARNING, "", f->timeless_ops, "operations without a duration: ignored");
	nsx_moments_diags(&f->moments, diags);
	/* These are counted without `hidden`. */
	f->top.any_comm &= !f->moments.any;
	nsx_cat_comm_diags(f->cat, "", diags);
	nsx_top_diags(&f->top, diags);
}

static const struct nsx_sum_def *
def_of(const struct nsx_summary_options *options)
{
	switch (options->by) {
	case NSX_SUMMARY_THUNK:  return options->variable ? &variable : &instructions;
	case NSX_SUMMARY_OPCODE: return &opcodes;
	case NSX_SUMMARY_SOURCE: return &sources;
	case NSX_SUMMARY_TOTAL:  return &totals;
	default:                 return &collectives;
	}
}

/* The table by f->options of a state whose programs were picked. */
static int
make_table(struct insts *f, struct nsx_table **table, struct nsx_diags *diags)
{
	bool shares = f->options.by != NSX_SUMMARY_TOTAL && f->options.by != NSX_SUMMARY_COLLECTIVE, good;
	size_t beyond = 0;

	nsx_sums_free(&f->rows);   /* of the table before */
	f->rows = (struct nsx_sums){ .def = def_of(&f->options), .texts = &f->cat->strings };
	f->rows.none = f->options.by == NSX_SUMMARY_COLLECTIVE ? "[unknown]"
	    : f->options.by == NSX_SUMMARY_OPCODE ? "[no instruction]" : NULL;
	if (shares)
		f->rows.whole = whole(f);
	switch (f->options.by) {
	case NSX_SUMMARY_THUNK: good = add_insts(f, &beyond); break;
	case NSX_SUMMARY_TOTAL: good = add_totals(f); break;
	default:
		good = add_labels(f) && (f->options.by != NSX_SUMMARY_OPCODE || add_idle(f))
		       && (f->options.by != NSX_SUMMARY_COLLECTIVE || add_axes(f));
		beyond = nsx_sums_keep(&f->rows, is_shown, NULL);
	}
	*table = good ? nsx_sums_table(&f->rows, f->err) : NULL;
	nsx_table_uncovered(*table, beyond);
	if (f->top.any_module && !f->options.variable && shares)
		nsx_table_shares(*table, "share", f->rows.whole > nsx_top_all_modules(&f->top) ? "the sum of the rows"
		                                                                               : "module time");
	if (*table && f->options.by == NSX_SUMMARY_COLLECTIVE)
		note_all(f, *table);
	report(f, diags);
	return good ? *table ? NSX_OK : NSX_ERR : nsx_err_nomem(f->err, NULL);
}

static int
insts_finish(void *state, struct nsx_table **table, struct nsx_diags *diags)
{
	struct insts *f = state;

	for (size_t i = 0; i < f->insts.n; i++)
		if (!nsx_top_expose(&f->top, f->cat->insts.p[i].program, (nsx_u128)f->insts.p[i].exposed.sum))
			return nsx_err_nomem(f->err, NULL);
	if (f->options.by != NSX_SUMMARY_COLLECTIVE && !nsx_top_pick(&f->top, f->options.cover, diags))
		return nsx_err_nomem(f->err, NULL);
	return make_table(f, table, diags);
}

int
nsx_sum_insts_again(void *state, const void *options, struct nsx_table **table, struct nsx_diags *diags)
{
	struct insts *f = state;

	f->options = *(const struct nsx_summary_options *)options;
	return make_table(f, table, diags);
}

const struct nsx_analysis nsx_sum_insts = {
	sizeof(struct insts), NSX_SUM_KINDS, true | NSX_REACHING | NSX_STATED,
	insts_begin, insts_need, insts_take, insts_finish, insts_free
};
