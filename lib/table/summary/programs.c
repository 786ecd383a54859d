/* programs.c -- a row for each program: the time of its modules, and of the communication in an execution how long a
 * device waited for others, and how far exposed times differ between devices.
 *
 * Both are known of an instance of a collective when all its devices have recorded it. The wait of a device is the last
 * start of the instance minus its own (as in collectives and stragglers); of an execution the sum over its instances.
 * The spread is the longest exposed time minus the shortest; groups that run an instruction side by side count once,
 * with the largest. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "job/comm/communication.h"
#include "job/instances.h"
#include "table/summary/summary.h"
#include "job/program_time.h"
#include "table/sums.h"
#include "base/stat.h"

/* A program: of its modules. apart: instances on clocks that cannot be compared, so its waits are not known. Below
 * that what is set at the end. */
struct module {
	uint32_t program, none;             /* the key: in the catalogue */
	struct nsx_stat dur, thunks, wait, spread;
	int64_t  apart;
	uint32_t name, key;                 /* in the catalogue's strings */
	int64_t  id, number;
	nsx_u128 total;
	double   wait_share;
};

#define NSX_ROW struct module
static const struct nsx_sum_col cols[] = {
	NSX_COL("id", ID, id), NSX_COL("name", STRING, name), NSX_COL("key", STRING, key), NSX_COL("execs", INT, dur.n),
	NSX_COL_MEAN("thunks_mean", DOUBLE, thunks), NSX_COL_STAT("thunks_std", DOUBLE, STD, thunks),
	NSX_COL("total", NS, total), NSX_COL_MEAN("mean", MEAN_NS, dur), NSX_COL_STAT("std", MEAN_NS, STD, dur),
	NSX_COL_SHARE("share", total), NSX_COL_MEAN("wait_mean", MEAN_NS, wait),
	NSX_COL_STAT("wait_std", MEAN_NS, STD, wait), NSX_COL("wait_share", SHARE, wait_share),
	NSX_COL_MEAN("spread_mean", MEAN_NS, spread), NSX_COL_STAT("spread_std", MEAN_NS, STD, spread),
	NSX_COL("number", INT, number),
};
static const struct nsx_sum_def def = {
	NSX_ROWS(cols), .key = sizeof(uint64_t),
	.shown = "id name key execs thunks_mean thunks_std total mean std share wait_mean wait_std wait_share "
	         "spread_mean spread_std",
	.order = "-total key number", .adds = "total",
	.rank = "key total share execs mean wait_share std wait_mean spread_mean thunks_mean"
};

/* One execution of a program, on all devices. The key: up to `number`. */
struct execution { uint32_t program, none; int64_t number; bool communicates; int64_t spread; };

/* One execution of a program on one device, these being the key; a module record: ran. */
struct run { uint32_t execution, device; bool ran; int64_t wait; };

/* One execution of a collective by all groups, the key up to its occurrence: the largest spread so far of a group. */
struct thing { uint32_t execution, inst; int64_t occurrence, spread; };

static const struct nsx_sum_def of_executions = { .size = sizeof(struct execution),
                                                  .key = offsetof(struct execution, communicates) },
    of_runs = { .size = sizeof(struct run), .key = offsetof(struct run, ran) },
    of_things = { .size = sizeof(struct thing), .key = offsetof(struct thing, spread) };

/* A device's record of a collective. exposed: ns that were not hidden; thing, run: indices. */
struct waited { int64_t start, exposed; uint32_t clock, thing, run; };

struct programs {
	NSX_STATE;
	struct nsx_top  top;
	struct nsx_comm comm;
	struct nsx_instances instances;   /* keys: nsx_comm_instance */
	struct nsx_sums executions, runs, things;
	int64_t         partial, apart;
};

/* The module of a program; NULL when out of memory. */
static struct module *
module_at(struct programs *f, uint32_t program)
{
	return program == NSX_NONE ? NULL : nsx_sums_row(&f->rows, &(uint32_t[2]){ program, 0 });
}

static int
complete(void *state, struct nsx_key key, void *records, size_t n)
{
	struct programs *f = state;
	const struct waited *of = records;
	struct thing *thing = nsx_sums_at(&f->things, of->thing);
	struct execution *e = nsx_sums_at(&f->executions, thing->execution);
	int64_t least = of->exposed, most = least, last = of->start;
	bool apart = false;

	(void)key;
	for (size_t i = 1; i < n; i++) {
		least = of[i].exposed < least ? of[i].exposed : least;
		most = of[i].exposed > most ? of[i].exposed : most;
		last = of[i].start > last ? of[i].start : last;
		apart |= of[i].clock != of->clock;
	}
	if (most - least > thing->spread) {
		e->spread = nsx_add_sat(e->spread, most - least - thing->spread, NULL);
		thing->spread = most - least;
	}
	if (apart) {
		struct module *m = module_at(f, e->program);

		if (!m)
			return nsx_err_nomem(f->err, NULL);
		m->apart++;
		f->apart++;
		return NSX_OK;
	}
	for (size_t i = 0; i < n; i++) {
		struct run *r = nsx_sums_at(&f->runs, of[i].run);

		r->wait = nsx_add_sat(r->wait, nsx_sub_sat(last, of[i].start, NULL), NULL);
	}
	return NSX_OK;
}

static int
programs_begin(void *state, const void *given, const struct nsx_analysis_at *at)
{
	struct programs *f = state;

	(void)given, (void)at;
	f->comm.cat.keep = NSX_CAT_RUNNERS;
	f->top.given = &f->comm.cat;
	f->rows = (struct nsx_sums){ .def = &def, .texts = &f->comm.cat.strings };
	f->executions.def = &of_executions;
	f->runs.def = &of_runs;
	f->things.def = &of_things;
	f->instances = (struct nsx_instances){ .size = sizeof(struct waited), .complete = complete, .state = f };
	return NSX_OK;
}

static void
programs_need(void *state, struct nsx_reader *in)
{
	const struct programs *f = state;

	nsx_comm_need(&f->comm, in);
	nsx_reader_need(in, NSX_MODULE, NSX_EVERY);
	nsx_reader_need(in, NSX_THUNK, NSX_EVERY);
}

static void
programs_free(void *state)
{
	struct programs *f = state;

	nsx_top_free(&f->top);
	nsx_comm_free(&f->comm);
	nsx_instances_free(&f->instances);
	nsx_sums_free(&f->executions);
	nsx_sums_free(&f->runs);
	nsx_sums_free(&f->things);
}

/* The number of that execution of the program; NSX_NONE when out of memory. */
static uint32_t
execution_at(struct programs *f, uint32_t program, int64_t number)
{
	return nsx_sums_number(&f->executions, &(struct execution){ .program = program, .number = number });
}

/* The number of that execution on the record's device; NSX_NONE when out of memory. */
static uint32_t
run_at(struct programs *f, uint32_t execution, const struct nsx_rec *rec)
{
	uint32_t device = nsx_cat_device(&f->comm.cat, rec);

	return execution == NSX_NONE || device == NSX_NONE ? (uint32_t)NSX_NONE
	       : nsx_sums_number(&f->runs, &(struct run){ .execution = execution, .device = device });
}

static int
take_module(struct programs *f, const struct nsx_rec *rec)
{
	uint32_t program = nsx_top_module(&f->top, rec);
	struct module *m = module_at(f, program);

	if (!m)
		return nsx_err_nomem(f->err, NULL);
	/* A module without start or duration is not an execution: it was counted by nsx_top. */
	if (!nsx_has(rec, NSX_MODULE_start) || nsx_int(rec, NSX_MODULE_dur, -1) < 0)
		return NSX_OK;
	uint32_t run = run_at(f, execution_at(f, program, nsx_int(rec, NSX_MODULE_execution, -1)), rec);
	if (run == NSX_NONE)
		return nsx_err_nomem(f->err, NULL);
	((struct run *)nsx_sums_at(&f->runs, run))->ran = true;
	nsx_stat_add(&m->dur, rec->v[NSX_MODULE_dur].i);
	if (nsx_has(rec, NSX_MODULE_thunks))
		nsx_stat_add(&m->thunks, rec->v[NSX_MODULE_thunks].i);
	return NSX_OK;
}

static int
take_thunk(struct programs *f, const struct nsx_rec *rec)
{
	bool comm = nsx_is_comm(&f->comm, rec);
	struct nsx_comm_record r;
	struct nsx_key key;
	struct waited w = { .start = nsx_int(rec, NSX_THUNK_start, 0) };
	int64_t dur, hidden;

	if (!nsx_top_thunk(&f->top, rec, comm, &dur, &hidden) || !comm)
		return NSX_OK;
	if (nsx_comm_describe(&f->comm, rec, &r, f->err) != NSX_OK)
		return NSX_ERR;
	f->partial += r.incomplete;
	uint32_t program = nsx_top_program(&f->top, rec), execution = program == NSX_NONE ? NSX_NONE
	    : execution_at(f, program, nsx_int(rec, NSX_THUNK_execution, -1));
	w.exposed = dur - hidden;
	w.run = run_at(f, execution, rec);
	w.thing = execution == NSX_NONE ? NSX_NONE : nsx_sums_number(&f->things, &(struct thing){ execution, r.inst,
		nsx_int(rec, NSX_THUNK_occurrence, -1), 0 });
	w.clock = nsx_comm_clock(&f->comm, rec);
	if (w.run == NSX_NONE || w.thing == NSX_NONE || w.clock == NSX_NONE ||
	    !nsx_comm_instance(&f->comm, rec, &r, &key))
		return nsx_err_nomem(f->err, NULL);
	((struct execution *)nsx_sums_at(&f->executions, execution))->communicates = true;
	return nsx_instances_add(&f->instances, key, &w, r.participants, f->err);
}

static int
programs_take(void *state, const struct nsx_event *e)
{
	struct programs *f = state;
	const struct nsx_rec *rec = e->rec;

	switch (rec->kind->id) {
	case NSX_MODULE: return take_module(f, rec);
	case NSX_THUNK:  return take_thunk(f, rec);
	default: break;
	}
	return nsx_comm_take(&f->comm, rec, f->err);
}

/* The waits and spreads of executions, by program. One with thunks only has no execution for them. False when out of
 * memory. */
static bool
add_up(struct programs *f)
{
	NSX_SUMS_EACH(const struct execution, e, &f->executions) {
		struct module *m = e->communicates ? module_at(f, e->program) : NULL;

		if (m)
			nsx_stat_add(&m->spread, e->spread);
		else if (e->communicates)
			return false;
	}
	NSX_SUMS_EACH(const struct run, r, &f->runs) {
		const struct execution *e = nsx_sums_at(&f->executions, r->execution);
		struct module *m = r->ran && e->communicates ? module_at(f, e->program) : NULL;

		if (m)
			nsx_stat_add(&m->wait, r->wait);
	}
	return true;
}

static bool
has_executions(void *state, const void *row)
{
	(void)state;
	return ((const struct module *)row)->dur.n > 0;
}

/* Complete the rows. */
static void
describe(struct programs *f)
{
	nsx_sums_keep(&f->rows, has_executions, NULL);
	f->rows.whole = nsx_top_all_modules(&f->top);
	NSX_SUMS_EACH(struct module, m, &f->rows) {
		const struct nsx_cat_program *of = &f->comm.cat.programs.p[m->program];

		m->name = nsx_top_name(&f->top, m->program);
		m->key = of->key;
		m->id = of->id;
		m->number = of->number;
		m->total = f->top.programs.p[m->program].modules;
		if (m->apart)
			m->wait = (struct nsx_stat){ 0 };
		m->wait_share = m->wait.n && m->total ? nsx_stat_mean(&m->wait) / nsx_stat_mean(&m->dur) : NAN;
	}
}

static int
programs_finish(void *state, struct nsx_table **table, struct nsx_diags *diags)
{
	struct programs *f = state;
	int rc = nsx_instances_finish(&f->instances, f->err);

	if (rc == NSX_OK && !add_up(f))
		rc = nsx_err_nomem(f->err, NULL);
	if (rc == NSX_OK) {
		describe(f);
		*table = nsx_sums_table(&f->rows, f->err);
		rc = *table ? NSX_OK : NSX_ERR;
	}
	nsx_table_shares(*table, "share", "module time");
	if (!f->came[NSX_MODULE])
		nsx_diag_add(diags, NSX_WARNING, "", 1,
			"no module records, which come from XLA's NVTX ranges: --by kernel and --by range work without "
			"them");
	nsx_top_diags(&f->top, diags);
	nsx_comm_flag_diags(&f->comm, diags);
	nsx_comm_group_diags(&f->comm, diags);
	nsx_diag_add(diags, NSX_INFO, "", f->apart,
		"executions of collectives on devices whose clocks cannot be compared: their programs' waits are not "
		"known; run nsysx-align");
	nsx_diag_add(diags, NSX_WARNING, "", f->partial,
		"thunks of collectives whose group has devices that are not in the stream: waits for those are not "
		"known");
	return rc;
}

const struct nsx_analysis nsx_sum_programs = {
	sizeof(struct programs), NSX_K_METADATA | NSX_K(MODULE) | NSX_K(THUNK), NSX_REACHING | NSX_STATED,
	programs_begin, programs_need, programs_take, programs_finish, programs_free
};
