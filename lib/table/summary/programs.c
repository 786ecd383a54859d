/* programs.c -- a row for each program: the time of its modules, and how long devices waited for each other in it.
 *
 * The time that devices waited in one execution of a communicating instruction is known when all of them have recorded
 * it: the longest exposed time minus the shortest, among the devices of a group. Groups that run it concurrently also
 * wait concurrently, so the longest of their waits is used. */
#include <stdlib.h>

#include "job/communication.h"
#include "job/instances.h"
#include "table/summary/summary.h"
#include "job/program_time.h"
#include "base/stat.h"

enum { ID, NAME, KEY, EXECS, THUNKS_MEAN, THUNKS_STD, TOTAL, MEAN, STD, SHARE, WAIT_MEAN, WAIT_STD, WAIT_PERCENT,
       WAIT_SHARE, NCOLS };

static const struct nsx_table_col cols[NCOLS] = {
	[ID]           = { "id", NSX_CELL_INT },
	[NAME]         = { "name", NSX_CELL_STRING },
	[KEY]          = { "key", NSX_CELL_STRING },
	[EXECS]        = { "execs", NSX_CELL_INT },
	[THUNKS_MEAN]  = { "thunks_mean", NSX_CELL_DOUBLE },
	[THUNKS_STD]   = { "thunks_std", NSX_CELL_DOUBLE },
	[TOTAL]        = { "total", NSX_CELL_NS },
	[MEAN]         = { "mean", NSX_CELL_MEAN_NS },
	[STD]          = { "std", NSX_CELL_MEAN_NS },
	[SHARE]        = { "share", NSX_CELL_SHARE },
	[WAIT_MEAN]    = { "wait_mean", NSX_CELL_MEAN_NS },
	[WAIT_STD]     = { "wait_std", NSX_CELL_MEAN_NS },
	[WAIT_PERCENT] = { "wait_percent", NSX_CELL_PERCENT },
	[WAIT_SHARE]   = { "wait_share", NSX_CELL_SHARE },
};

struct module { struct nsx_stat dur, thunks, wait, longest; };   /* by index of the program in the catalogue */

/* One execution of a program, on all devices; the time of the slowest device. */
struct execution { uint32_t program; bool communicates; int64_t wait, longest; };

/* A device's record of a collective. */
struct waited { int64_t group, exposed; };   /* exposed: ns that were not hidden */

struct programs {
	struct nsx_err *err;
	struct nsx_top  top;
	struct nsx_comm comm;
	struct nsx_instances instances;   /* keys: number of (execution, inst), occurrence */
	NSX_VEC(struct module) modules;
	NSX_VEC(struct execution) executions;
	struct nsx_map  execution_of;  /* (program, execution) -> executions */
	struct nsx_map  thing_of;      /* (executions, inst) -> a dense number */
	NSX_VEC(uint32_t) things;      /* executions by that number */
	int64_t         partial;
};

static int
group_cmp(const void *pa, const void *pb)
{
	const struct waited *a = pa, *b = pb;

	return (a->group > b->group) - (a->group < b->group);
}

static int
complete(void *state, struct nsx_key key, void *records, size_t n)
{
	struct programs *f = state;
	struct waited *of = records;
	struct execution *e = &f->executions.p[f->things.p[key.a]];
	int64_t longest = 0;

	qsort(of, n, sizeof *of, group_cmp);
	for (size_t i = 0; i < n;) {
		int64_t group = of[i].group, least = of[i].exposed, most = least;

		for (; i < n && of[i].group == group; i++) {
			least = of[i].exposed < least ? of[i].exposed : least;
			most = of[i].exposed > most ? of[i].exposed : most;
		}
		longest = most - least > longest ? most - least : longest;
	}
	e->wait = nsx_add_sat(e->wait, longest, NULL);
	return NSX_OK;
}

static void *
programs_open(const struct nsx_summary_options *options, struct nsx_err *err)
{
	struct programs *f = calloc(1, sizeof *f);

	(void)options;
	if (!f) {
		nsx_err_nomem(err, NULL);
		return NULL;
	}
	f->err = err;
	f->comm.cat.keep = NSX_CAT_RUNNERS;
	f->top.given = &f->comm.cat;
	f->instances = (struct nsx_instances){ .size = sizeof(struct waited), .complete = complete, .state = f };
	return f;
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

	if (!f)
		return;
	nsx_top_free(&f->top);
	nsx_comm_free(&f->comm);
	nsx_instances_free(&f->instances);
	nsx_map_free(&f->execution_of);
	nsx_map_free(&f->thing_of);
	free(f->modules.p);
	free(f->executions.p);
	free(f->things.p);
	free(f);
}

/* The number of that execution of the program; NSX_NONE when out of memory. */
static uint32_t
execution_at(struct programs *f, uint32_t program, int64_t number)
{
	uint32_t *at = nsx_map_at(&f->execution_of, (struct nsx_key){ program, (uint64_t)number });

	if (at && *at == NSX_NONE && nsx_vec_push(&f->executions, ((struct execution){ .program = program })))
		*at = (uint32_t)(f->executions.n - 1);
	return at ? *at : NSX_NONE;
}

static int
take_module(struct programs *f, const struct nsx_rec *rec)
{
	uint32_t program = nsx_top_module(&f->top, rec);

	while (program != NSX_NONE && f->modules.n <= program)
		if (!nsx_vec_push(&f->modules, ((struct module){ .dur = { 0 } })))
			program = NSX_NONE;
	if (program == NSX_NONE)
		return nsx_err_nomem(f->err, NULL);
	/* A module without start or duration is not an execution: it was counted by nsx_top. */
	if (!nsx_has(rec, NSX_MODULE_start) || nsx_int(rec, NSX_MODULE_dur, -1) < 0)
		return NSX_OK;
	int64_t dur = rec->v[NSX_MODULE_dur].i;
	uint32_t at = execution_at(f, program, nsx_int(rec, NSX_MODULE_execution, -1));
	if (at == NSX_NONE)
		return nsx_err_nomem(f->err, NULL);
	if (dur > f->executions.p[at].longest)
		f->executions.p[at].longest = dur;
	nsx_stat_add(&f->modules.p[program].dur, dur);
	if (nsx_has(rec, NSX_MODULE_thunks))
		nsx_stat_add(&f->modules.p[program].thunks, rec->v[NSX_MODULE_thunks].i);
	return NSX_OK;
}

/* The number of the instruction's execution; NSX_NONE when out of memory. */
static uint32_t
thing_at(struct programs *f, const struct nsx_rec *thunk, uint32_t inst)
{
	uint32_t program = nsx_top_program(&f->top, thunk);
	uint32_t execution, *at;

	if (program == NSX_NONE)
		return NSX_NONE;
	execution = execution_at(f, program, nsx_int(thunk, NSX_THUNK_execution, -1));
	if (execution == NSX_NONE)
		return NSX_NONE;
	f->executions.p[execution].communicates = true;
	at = nsx_map_at(&f->thing_of, (struct nsx_key){ execution, inst });
	if (at && *at == NSX_NONE && nsx_vec_push(&f->things, execution))
		*at = (uint32_t)(f->things.n - 1);
	return at ? *at : NSX_NONE;
}

static int
take_thunk(struct programs *f, const struct nsx_rec *rec)
{
	bool comm = nsx_is_comm(&f->comm, rec);
	struct nsx_comm_record r;
	int64_t dur, hidden;
	uint32_t thing;

	if (!nsx_top_thunk(&f->top, rec, comm, &dur, &hidden) || !comm)
		return NSX_OK;
	if (nsx_comm_describe(&f->comm, rec, &r, f->err) != NSX_OK)
		return NSX_ERR;
	f->partial += r.incomplete;
	thing = thing_at(f, rec, r.inst);
	if (thing == NSX_NONE)
		return nsx_err_nomem(f->err, NULL);
	struct nsx_key key = { thing, (uint64_t)nsx_int(rec, NSX_THUNK_occurrence, -1) };
	struct waited w = { r.group_at, dur - hidden };
	return nsx_instances_add(&f->instances, key, &w, nsx_cat_runners(&f->comm.cat,
		f->comm.cat.insts.p[r.inst].program), f->err);
}

static int
programs_take(void *state, const struct nsx_rec *rec)
{
	struct programs *f = state;

	switch (rec->kind->id) {
	case NSX_MODULE: return take_module(f, rec);
	case NSX_THUNK:  return take_thunk(f, rec);
	default: break;
	}
	return nsx_comm_take(&f->comm, rec, f->err);
}

static int
put_row(struct programs *f, struct nsx_table *t, uint32_t at, nsx_u128 all)
{
	const struct nsx_catalogue *cat = &f->comm.cat;
	const struct nsx_cat_program *of = &cat->programs.p[at];
	const struct nsx_top_program *p = &f->top.programs.p[at];
	const struct module *m = &f->modules.p[at];

	nsx_table_row(t);
	if (of->id != NSX_ABSENT)
		nsx_table_int(t, ID, of->id);
	nsx_table_str(t, NAME, nsx_cat_str(cat, nsx_top_name(&f->top, at)));
	nsx_table_str(t, KEY, nsx_cat_str(cat, of->key));
	nsx_table_int(t, EXECS, m->dur.n);
	if (m->thunks.n > 0)
		nsx_table_double(t, THUNKS_MEAN, nsx_stat_mean(&m->thunks));
	if (m->thunks.n > 1)
		nsx_table_double(t, THUNKS_STD, nsx_stat_std(&m->thunks));
	if (nsx_table_sum(t, TOTAL, p->modules, f->err) != NSX_OK)
		return NSX_ERR;
	nsx_table_double(t, MEAN, nsx_stat_mean(&m->dur));
	if (m->dur.n > 1)
		nsx_table_double(t, STD, nsx_stat_std(&m->dur));
	if (all)
		nsx_table_double(t, SHARE, nsx_sum_share(p->modules, all));
	if (m->wait.n > 0)
		nsx_table_double(t, WAIT_MEAN, nsx_stat_mean(&m->wait));
	if (m->wait.n > 1)
		nsx_table_double(t, WAIT_STD, nsx_stat_std(&m->wait));
	if (m->wait.n > 0 && p->modules)
		nsx_table_double(t, WAIT_PERCENT, 100 * nsx_stat_mean(&m->wait) / nsx_stat_mean(&m->dur));
	if (m->longest.n > 0 && m->longest.sum > 0)
		nsx_table_double(t, WAIT_SHARE, nsx_stat_mean(&m->wait) / nsx_stat_mean(&m->longest));
	return NSX_OK;
}

static int
programs_finish(void *state, struct nsx_table **table, struct nsx_diags *diags)
{
	struct programs *f = state;
	struct nsx_cover_row *rows = malloc((f->modules.n + 1) * sizeof *rows);
	nsx_u128 all = 0;
	int rc = nsx_instances_finish(&f->instances, f->err);

	*table = nsx_table_new(cols, NCOLS);
	/* Of a mean that includes devices which wait less: it may be more than the whole. */
	nsx_table_head(*table, "wait_percent", "wait_of_mean");
	nsx_table_rank(*table, "key total share execs mean wait_share std wait_mean thunks_mean");
	nsx_table_adds(*table, "total");
	nsx_table_shares(*table, "share", "module time");
	if (!rows || !*table)
		rc = nsx_err_nomem(f->err, NULL);
	/* A program with thunks only has no execution for them. */
	for (size_t i = 0; i < f->executions.n && rc == NSX_OK; i++)
		if (f->executions.p[i].program < f->modules.n && f->executions.p[i].communicates) {
			nsx_stat_add(&f->modules.p[f->executions.p[i].program].wait, f->executions.p[i].wait);
			nsx_stat_add(&f->modules.p[f->executions.p[i].program].longest, f->executions.p[i].longest);
		}
	for (size_t i = 0; i < f->modules.n && rc == NSX_OK; i++) {
		const struct nsx_cat_program *p = &f->comm.cat.programs.p[i];

		rows[i] = (struct nsx_cover_row){ f->top.programs.p[i].modules, nsx_cat_str(&f->comm.cat, p->key),
		                                  p->number, i, false };
		all += f->top.programs.p[i].modules;
	}
	if (rc == NSX_OK)
		nsx_cover_pick(rows, f->modules.n, (struct nsx_cover){ 1, 1 });
	for (size_t i = 0; i < f->modules.n && rc == NSX_OK; i++)
		if (f->modules.p[rows[i].index].dur.n > 0)
			rc = put_row(f, *table, (uint32_t)rows[i].index, all);
	free(rows);
	if (!f->top.any_module)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
			"no module records, which come from XLA's NVTX ranges: --by kernel and --by range work without "
			"them");
	nsx_top_diags(&f->top, diags);
	nsx_comm_flag_diags(&f->comm, diags);
	nsx_comm_group_diags(&f->comm, diags);
	nsx_diag_add(diags, NSX_WARNING, "", f->partial,
		"thunks of collectives whose group has devices that are not in the stream: waits for those are not "
		"known");
	return rc;
}

const struct nsx_summer nsx_sum_programs = {
	programs_open, programs_need, programs_take, programs_finish, programs_free
};
