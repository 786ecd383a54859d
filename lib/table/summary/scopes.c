/* scopes.c -- a row for each phase of a training step, or for each module or named scope, of which each holds those
 * inside it (job/scope.h). The time is that of operations, each counted once; in a stream without them of thunks.
 *
 *   scope        total  self  forward  backward
 *   step          100     5       30        50      the optimizer has 20
 *   step/layer_0   75    75       30        45
 *
 * What instructions have to compute is that of nsysx-roofline: floating-point operations at the peaks of the devices.
 * Holds a sum for each instruction, or scope and phase. */
#include <math.h>
#include <stdlib.h>

#include "job/hidden.h"
#include "job/scope.h"
#include "table/roofline/rows.h"
#include "table/sums.h"
#include "table/summary/operators.h"
#include "table/summary/summary.h"

/* What operations of one place, which is the key, took. exposed: of those that communicate. */
struct cell { struct nsx_scope_place place; int64_t count; nsx_u128 of[NSX_NPARTS], exposed; };

static const struct nsx_sum_def of_cells = { .size = sizeof(struct cell), .key = sizeof(struct nsx_scope_place) };

/* Of a phase or scope. flops: NSX_SUM_NONE if no instruction has any. at_peak, needed: ns that the work takes at the
 * peaks of the devices, with and without recomputation; less than 0: a peak is not known. */
struct row {
	int64_t  key;              /* phase, or node of the tree */
	struct nsx_str name;
	int64_t  depth, count;
	nsx_u128 total, self, of[NSX_NPARTS], exposed, phase[NSX_NPHASES], flops;
	double   at_peak, needed;
	bool     lost;             /* there is matrix work that is not known */
	double   hfu, mfu;         /* set at the end */
};

#define NSX_ROW struct row
static const struct nsx_sum_col cols[] = {
	NSX_COL("phase", STRING, name), NSX_COL("scope", STRING, name), NSX_COL("depth", INT, depth),
	NSX_COL("count", INT, count), NSX_COL("total", NS, total), NSX_COL("self", NS, self),
	NSX_COL_SHARE("share", total), NSX_COL("forward", NS, phase[NSX_PHASE_FORWARD]),
	NSX_COL("backward", NS, phase[NSX_PHASE_BACKWARD]), NSX_COL("recompute", NS, phase[NSX_PHASE_RECOMPUTE]),
	NSX_COL("optimizer", NS, phase[NSX_PHASE_OPTIMIZER]), NSX_COL("compute", NS, of[NSX_PART_COMPUTE]),
	NSX_COL("comm", NS, of[NSX_PART_COMM]), NSX_COL("exposed", NS, exposed), NSX_COL("copy", NS, of[NSX_PART_COPY]),
	NSX_COL("flops", INT, flops), NSX_COL("hfu", SHARE, hfu), NSX_COL("mfu", SHARE, mfu), NSX_COL("key", INT, key),
};

#define ROWS NSX_ROWS(cols), .key = sizeof(int64_t)

/* People compare these with those of others. hfu is of another time there: that of executions, or of steps; and the
 * compute and copy of devices and steps count each moment once, these are sums of operations. */
static const struct nsx_sum_def phases = {
	ROWS, .order = "key", .shown = "phase count total share compute comm exposed copy flops hfu", .adds = "total",
	.rank = "phase total share count compute comm exposed copy hfu flops",
	.heads = { { "hfu", "hfu_of_total" }, { "compute", "compute_total" }, { "copy", "copy_total" } }
}, scopes = {
	ROWS, .order = "-total scope",
	.shown = "scope depth count total self share forward backward recompute optimizer comm exposed copy flops hfu "
	         "mfu",
	.rank = "scope total share self forward backward recompute optimizer mfu hfu comm exposed copy count flops "
	        "depth",
	.adds = "self", .heads = { { "hfu", "hfu_of_total" }, { "mfu", "mfu_of_total" }, { "copy", "copy_total" } }
};

/* From this share of the time on it is told. */
#define TOLD 0.01

static const struct nsx_roofline_options peaks = { .by = NSX_ROOFLINE_OPCODE };

struct scopes {
	NSX_STATE;
	bool              phases;
	struct nsx_roof   roof;
	struct nsx_stacks tree;
	struct nsx_scopes scopes;
	struct nsx_sums   cells;
	NSX_VEC(struct cell) thunks;       /* by index of the catalogue, as far as it goes */
	struct nsx_operators operators;
	bool              any_op, any_comm, no_hidden;   /* no_hidden: of some communication it is not known */
	int64_t           timeless, over_hidden;
	nsx_u128          cut;             /* ns of unknown phase, since the op_name is cut */
	nsx_u128          all, unseen;     /* ns of operations; of those in no range and of no instruction */
};

static int
scopes_begin(void *state, const void *given, const struct nsx_analysis_at *at)
{
	const struct nsx_summary_options *options = given;
	struct scopes *f = state;

	f->cells.def = &of_cells;
	f->phases = options->by == NSX_SUMMARY_PHASE;
	if (nsx_roofline_analysis.begin(&f->roof, &peaks, at) != NSX_OK)
		return NSX_ERR;
	f->cat->keep |= NSX_SCOPES_KEEP;
	f->scopes = (struct nsx_scopes){ .tree = &f->tree, .cat = f->cat, .form = options->names,
	                                 .err = at->err };
	return NSX_OK;
}

static void
scopes_need(void *state, struct nsx_reader *in)
{
	struct scopes *f = state;

	nsx_roofline_analysis.need(&f->roof, in);
	nsx_scopes_need(in);
	nsx_event_need(in, NSX_OP);
	nsx_reach_need(in, NSX_RANGE);
	nsx_reader_need(in, NSX_OP, NSX_C(OP, dur) | NSX_C(OP, hidden) | NSX_C(OP, name) | NSX_C(OP, range));
	nsx_reader_need(in, NSX_THUNK, NSX_C(THUNK, dur) | NSX_C(THUNK, hidden) | NSX_C(THUNK, copy));
}

static void
scopes_free(void *state)
{
	struct scopes *f = state;

	nsx_roofline_analysis.free(&f->roof);
	nsx_scopes_free(&f->scopes);
	nsx_stacks_free(&f->tree);
	nsx_operators_free(&f->operators);
	nsx_sums_free(&f->cells);
	free(f->thunks.p);
}

static void
add(struct cell *c, enum nsx_part part, int64_t dur, int64_t hidden)
{
	c->count++;
	c->of[part] += (nsx_u128)dur;
	c->exposed += part == NSX_PART_COMM ? (nsx_u128)(dur - hidden) : 0;
}

/* The part of a record's duration that is hidden, if it communicates. */
static int64_t
hidden_of(struct scopes *f, const struct nsx_rec *rec, bool comm, int64_t dur)
{
	int64_t hidden = nsx_field_int(rec, NSX_ROLE_HIDDEN, NSX_ABSENT);

	f->any_comm |= comm;
	f->no_hidden |= comm && hidden == NSX_ABSENT;
	return comm ? nsx_hidden_of(dur, hidden, &f->over_hidden) : 0;
}

static int
take_op(struct scopes *f, const struct nsx_event *e)
{
	const struct nsx_rec *rec = e->rec;
	int64_t dur = nsx_int(rec, NSX_OP_dur, -1);
	struct nsx_scope_place place = nsx_scopes_op(&f->scopes, rec);
	struct cell *cell;

	f->any_op = true;
	f->timeless += dur < 0;
	if (place.node == NSX_NONE || dur < 0)
		return place.node == NSX_NONE ? NSX_ERR : NSX_OK;
	cell = nsx_sums_row(&f->cells, &place);
	if (!cell || (place.inst == NSX_NONE && !nsx_operators_take(&f->operators, &f->scopes, rec,
	                                                            e->device, place)))
		return nsx_err_nomem(f->err, NULL);
	add(cell, e->part, dur, hidden_of(f, rec, e->communicates, dur));
	f->all += (nsx_u128)dur;
	if (place.inst == NSX_NONE && nsx_int(rec, NSX_OP_range, NSX_ABSENT) == NSX_ABSENT)
		f->unseen += (nsx_u128)dur;
	return NSX_OK;
}

static int
take_thunk(struct scopes *f, const struct nsx_event *e)
{
	const struct nsx_rec *rec = e->rec;
	int64_t dur = nsx_int(rec, NSX_THUNK_dur, -1);
	uint32_t at = nsx_cat_inst(f->cat, rec);
	bool comm = e->communicates;

	while (at != NSX_NONE && f->thunks.n <= at) {
		struct cell fresh = { .place = { .inst = (uint32_t)f->thunks.n } };

		if (!nsx_vec_push(&f->thunks, fresh))
			return nsx_err_nomem(f->err, NULL);
	}
	if (at == NSX_NONE)
		return nsx_err_nomem(f->err, NULL);
	/* The work of instructions is that of their thunks. */
	if (nsx_roofline_analysis.take(&f->roof, e) != NSX_OK)
		return NSX_ERR;
	if (dur < 0)
		return NSX_OK;
	add(&f->thunks.p[at], comm ? NSX_PART_COMM : nsx_int(rec, NSX_THUNK_copy, 0) == 1 ? NSX_PART_COPY
	                                           : NSX_PART_COMPUTE, dur, hidden_of(f, rec, comm, dur));
	return NSX_OK;
}

static int
scopes_take(void *state, const struct nsx_event *e)
{
	struct scopes *f = state;

	switch (e->rec->kind->id) {
	case NSX_OP:    return take_op(f, e);
	case NSX_THUNK: return take_thunk(f, e);
	default:        return nsx_scopes_range(&f->scopes, e->rec);
	}
}

/* ---- rows ---- */

/* The row of a phase or of a node of the tree; NULL when out of memory. */
static struct row *
row_at(struct scopes *f, int64_t key)
{
	size_t before = nsx_sums_count(&f->rows);
	struct row *r = nsx_sums_row(&f->rows, &key);

	if (r && nsx_sums_count(&f->rows) > before)
		r->flops = NSX_SUM_NONE;
	return r;
}

static struct row *
row_of(struct scopes *f, struct nsx_scope_place place)
{
	return row_at(f, f->phases ? (int64_t)nsx_scopes_phase(&f->scopes, place) : (int64_t)place.node);
}

static bool
add_cell(struct scopes *f, const struct cell *c)
{
	struct row *r = row_of(f, c->place);
	nsx_u128 ns = 0;

	if (!r)
		return false;
	for (int p = 0; p < NSX_NPARTS; p++) {
		r->of[p] += c->of[p];
		ns += c->of[p];
	}
	r->count += c->count;
	r->self += ns;
	r->exposed += c->exposed;
	r->phase[nsx_scopes_phase(&f->scopes, c->place)] += ns;
	if (c->place.phase == NSX_PHASE_CUT && nsx_scopes_phase(&f->scopes, c->place) == NSX_PHASE_UNKNOWN)
		f->cut += ns;
	f->rows.whole += ns;
	return true;
}

/* Sum to with what another row has of work, which takes ns at the peaks. */
static void
add_work(struct row *to, nsx_u128 flops, double at_peak, double needed)
{
	to->flops = (to->flops == NSX_SUM_NONE ? 0 : to->flops) + flops;
	to->at_peak = to->at_peak < 0 || at_peak < 0 ? -1 : to->at_peak + at_peak;
	to->needed = to->needed < 0 || needed < 0 ? -1 : to->needed + needed;
}

/* The work of instructions, in their places. */
static bool
add_works(struct scopes *f)
{
	for (size_t i = 0; i < f->roof.rows.n; i++) {
		const struct nsx_roof_row *w = &f->roof.rows.p[i];
		struct nsx_scope_place place = nsx_scopes_inst(&f->scopes, w->inst);
		struct row *r;

		if (place.node == NSX_NONE)
			return false;
		bool again = nsx_scopes_phase(&f->scopes, place) == NSX_PHASE_RECOMPUTE;

		if (!w->modelled || !w->flops)
			continue;
		if (!(r = row_of(f, place)))
			return false;
		add_work(r, (nsx_u128)w->count * (nsx_u128)w->flops, w->at_peak, again ? 0 : w->at_peak);
	}
	return true;
}

/* The work of operators without instructions, in their places. */
static bool
add_operators(struct scopes *f)
{
	for (size_t i = 0; i < f->operators.works.n; i++) {
		const struct nsx_operator_work *w = &f->operators.works.p[i];
		double at_peak = nsx_operators_at_peak(&f->roof, w);
		struct row *r = row_of(f, w->place);

		if (!r)
			return false;
		r->lost |= w->lost;
		if (w->flops)
			add_work(r, w->flops, at_peak, nsx_scopes_phase(&f->scopes, w->place) == NSX_PHASE_RECOMPUTE
			         ? 0 : at_peak);
	}
	return true;
}

/* Add each scope to the one around it, which has a smaller number. */
static bool
add_up(struct scopes *f)
{
	for (size_t node = f->tree.nodes.n; node-- > 1;) {
		uint32_t number = nsx_sums_find(&f->rows, &(int64_t){ (int64_t)node });
		struct row *up, *r;

		if (number == NSX_NONE)
			continue;
		r = nsx_sums_at(&f->rows, number);
		r->total += r->self;
		if (f->tree.nodes.p[node].parent == NSX_STACKS_ROOT)
			continue;
		if (!(up = row_at(f, f->tree.nodes.p[node].parent)))
			return false;
		r = nsx_sums_at(&f->rows, number);
		up->count += r->count;
		up->total += r->total;
		up->exposed += r->exposed;
		for (int p = 0; p < NSX_NPARTS; p++)
			up->of[p] += r->of[p];
		for (int p = 0; p < NSX_NPHASES; p++)
			up->phase[p] += r->phase[p];
		up->lost |= r->lost;
		if (r->flops != NSX_SUM_NONE)
			add_work(up, r->flops, r->at_peak, r->needed);
	}
	return true;
}

/* The path of a node, its names separated by slashes, in the tree's strings, and its depth. */
static bool
name_node(struct scopes *f, struct row *r, struct nsx_buf *b)
{
	const struct nsx_stacks_node *nodes = f->tree.nodes.p;
	uint32_t path[64], n = 0, id;

	r->depth = 0;
	for (uint32_t at = (uint32_t)r->key; at != NSX_STACKS_ROOT; at = nodes[at].parent) {
		if (n < sizeof path / sizeof *path)
			path[n++] = at;
		r->depth++;
	}
	b->len = 0;
	if (r->depth > n)
		nsx_buf_c(b, ".../");
	while (n-- > 0) {
		nsx_buf_str(b, nsx_intern_str(&f->tree.frames, nodes[path[n]].frame));
		if (n)
			nsx_buf_char(b, '/');
	}
	id = b->failed ? NSX_NONE : nsx_intern(&f->tree.frames, nsx_buf_view(b));
	if (id != NSX_NONE)
		r->name = nsx_intern_str(&f->tree.frames, id);
	return id != NSX_NONE;
}

static bool
complete(struct scopes *f)
{
	struct nsx_buf b = { 0 };
	bool good = f->phases || add_up(f);

	for (size_t i = 0; good && i < nsx_sums_count(&f->rows); i++) {
		struct row *r = nsx_sums_at(&f->rows, i);

		if (f->phases) {
			r->name = nsx_str_c(nsx_phase_name((enum nsx_phase)r->key));
			r->total = r->self;
		} else {
			good = name_node(f, r, &b);
		}
		bool known = r->flops != NSX_SUM_NONE && r->total > 0 && !r->lost;

		r->hfu = known && r->at_peak >= 0 ? r->at_peak / (double)r->total : NAN;
		r->mfu = known && r->needed >= 0 ? r->needed / (double)r->total : NAN;
		if (f->any_comm && f->no_hidden)
			r->exposed = NSX_SUM_NONE;
	}
	nsx_buf_free(&b);
	return good;
}

static bool
any_op_name(const struct nsx_catalogue *cat)
{
	bool any = cat->locs.n > 0;

	for (size_t i = 0; i < cat->insts.n && !any; i++)
		any = cat->insts.p[i].op_name != NSX_NONE;
	return any;
}

static void
report(const struct scopes *f, struct nsx_diags *diags)
{
	if (!f->came[NSX_OP] && !f->came[NSX_THUNK])
		nsx_diag_add(diags, NSX_WARNING, "", 1,
		             "no op and no thunk records: extract with --ops, and of PyTorch with --ranges");
	else if (!f->any_op && f->came[NSX_THUNK])
		nsx_sum_thunk_view(f->came, false, diags);
	if (nsx_sums_count(&f->rows) && f->cat->insts.n && !any_op_name(f->cat))
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no instruction has an op_name: extract with -x DIR");
	if (f->cut)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
			"%.1f%% of the time is of instructions whose op_name is cut, as \"jit(f)/jit(main)\": their "
			"phase is not known: extract with -x DIR", 100 * (double)f->cut / (double)f->rows.whole);
	nsx_diag_add(diags, NSX_WARNING, "", f->timeless, "operations without a duration: ignored");
	nsx_diag_add(diags, NSX_WARNING, "", f->scopes.lost,
	             "operations whose range is not in the stream: in no scope, and their phase is not known");
	nsx_diag_add(diags, NSX_WARNING, "", f->over_hidden, "hidden time is longer than the record: cut to it");
	if (f->any_comm && f->no_hidden)
		nsx_diag_add(diags, NSX_INFO, "", 1, "exposed communication is not known: run nsysx-overlap first");
}

/* What hfu is of; a share of all time is of less where the work of some of it cannot be known. */
static void
note_work(const struct scopes *f, struct nsx_table *t)
{
	double part = f->all ? (double)f->unseen / (double)f->all : 0;
	bool any = false;

	for (size_t i = 0; i < nsx_sums_count(&f->rows); i++)
		any |= ((const struct row *)nsx_sums_at(&f->rows, i))->flops != NSX_SUM_NONE;
	if (any)
		nsx_table_note(t, "%s of total, the time of %s, and not of the period of a step, of which "
		               "idle time is a part%s", f->phases ? "hfu is" : "hfu and mfu are",
		               f->any_op ? "the operations" : "the thunks",
		               f->roof.cat->insts.n ? "; the HFU of nsysx-roofline is of the time of executions" : "");
	if (any && part >= TOLD)
		nsx_table_note(t, "flops are known of %.0f%% of the GPU's time at most: %.0f%% is of work that no "
		               "operator is known to have launched, which hfu and mfu count as time without flops",
		               100 * (1 - part), 100 * part);
}

static int
scopes_finish(void *state, struct nsx_table **table, struct nsx_diags *diags)
{
	struct scopes *f = state;
	struct nsx_diags own = { .failed = false };
	bool good = true;
	int rc = nsx_roof_rows(&f->roof, &own);

	nsx_diags_free(&own);
	if (rc != NSX_OK)
		return rc;
	f->rows = (struct nsx_sums){ .def = f->phases ? &phases : &scopes };
	/* First all places: they tell which programs have a backward pass, of what ran. */
	for (size_t i = 0; !f->any_op && good && i < f->thunks.n; i++) {
		if (!f->thunks.p[i].count)
			continue;
		f->thunks.p[i].place = nsx_scopes_inst(&f->scopes, (uint32_t)i);
		good = f->thunks.p[i].place.node != NSX_NONE;
	}
	for (size_t i = 0; f->any_op && good && i < nsx_sums_count(&f->cells); i++)
		good = add_cell(f, nsx_sums_at(&f->cells, i));
	for (size_t i = 0; !f->any_op && good && i < f->thunks.n; i++)
		good = !f->thunks.p[i].count || add_cell(f, &f->thunks.p[i]);
	good = good && add_works(f) && add_operators(f) && complete(f);
	*table = good ? nsx_sums_table(&f->rows, f->err) : NULL;
	if (*table)
		note_work(f, *table);
	report(f, diags);
	return good ? *table ? NSX_OK : NSX_ERR : nsx_err_nomem(f->err, NULL);
}

const struct nsx_analysis nsx_sum_scopes = {
	sizeof(struct scopes), NSX_K(OP) | NSX_K(THUNK) | NSX_K(RANGE), true | NSX_REACHING | NSX_STATED,
	scopes_begin, scopes_need, scopes_take, scopes_finish, scopes_free
};
