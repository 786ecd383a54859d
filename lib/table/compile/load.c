/* load.c -- a stream's compile records, a profile at a time. Holds those of one profile, the names and the programs. */
#include <inttypes.h>
#include <stdlib.h>

#include "table/compile/compile.h"
#include "base/num.h"
#include "base/csv.h"
#include "stream/fields.h"
#include "stream/run.h"
#include "job/metadata.h"

struct loading {
	struct compiling        *c;
	struct nsx_reader *in;
	struct nsx_map     range_at;   /* id -> index in c->ranges; MISSING: an earlier range has it as its parent */
	bool               open;       /* c->profile is set */
};

enum { MISSING = NSX_NONE - 1 };

static int
fail_nomem(struct loading *l)
{
	return nsx_err_nomem(l->c->err, l->c->where);
}

static int
load_profile(struct loading *l, const struct nsx_rec *rec)
{
	size_t i = nsx_compile_profile(l->c, nsx_field_int(rec, NSX_ROLE_PROFILE, 0));
	struct nsx_str name = nsx_arena_str(&l->c->arena, nsx_profile_name_of(rec));

	if (i == SIZE_MAX || !name.ptr)
		return fail_nomem(l);
	l->c->profiles.p[i].name = name;
	return NSX_OK;
}

/* The profile is complete. */
static int
flush(struct loading *l)
{
	nsx_map_free(&l->range_at);
	return l->open ? nsx_compile_tally(l->c) : NSX_OK;
}

/* r's parent: an index, or NSX_NONE; it comes earlier in the order of the stream. */
static int
find_parent(struct loading *l, struct compile_range *r, int64_t id)
{
	uint32_t *at = nsx_map_at(&l->range_at, (struct nsx_key){ (uint64_t)id, 0 });

	if (!at)
		return fail_nomem(l);
	r->orphan = *at == NSX_NONE || *at == MISSING;
	if (r->orphan)
		*at = MISSING;
	else
		r->parent = *at;
	return NSX_OK;
}

static int
load_compile(struct loading *l, const struct nsx_rec *rec)
{
	struct compiling *c = l->c;
	size_t profile = nsx_compile_profile(c, nsx_int(rec, NSX_COMPILE_profile, 0));
	int64_t id = nsx_int(rec, NSX_COMPILE_range, 0);

	if (profile == SIZE_MAX)
		return fail_nomem(l);
	if (!l->open || profile != c->profile) {
		if (flush(l) != NSX_OK)
			return NSX_ERR;
		c->profile = profile;
		l->open = true;
	}
	struct compile_range r = {
		.pid = nsx_int(rec, NSX_COMPILE_pid, -1), .tid = nsx_int(rec, NSX_COMPILE_tid, -1),
		.start = nsx_int(rec, NSX_COMPILE_start, 0), .dur = nsx_int(rec, NSX_COMPILE_dur, 0),
		.child = nsx_int(rec, NSX_COMPILE_child, 0), .program = nsx_int(rec, NSX_COMPILE_program, -1),
		.inner = nsx_int(rec, NSX_COMPILE_children, 0) > 0,
		.name = nsx_intern(&c->names, nsx_string(rec, NSX_COMPILE_name)), .parent = NSX_NONE
	};
	r.self = nsx_int(rec, NSX_COMPILE_self, nsx_sub_sat(r.dur, r.child, NULL));
	if (r.program < 0)
		r.program = -1;
	if (r.name == NSX_NONE || c->ranges.n >= MISSING)
		return fail_nomem(l);
	if (!nsx_compile_sound(&r))
		return nsx_err_set(c->err, "%s: compile: a time that is negative or beyond 73 years",
		                   nsx_reader_where(l->in));
	if (nsx_has(rec, NSX_COMPILE_parent) && find_parent(l, &r, rec->v[NSX_COMPILE_parent].i) != NSX_OK)
		return NSX_ERR;
	uint32_t *at = nsx_map_at(&l->range_at, (struct nsx_key){ (uint64_t)id, 0 });
	if (!at || !nsx_vec_push(&c->ranges, r))
		return fail_nomem(l);
	if (*at != NSX_NONE)
		return nsx_err_set(c->err, *at == MISSING ? "%s: compile: range %" PRId64
		                   " comes after one of its children"
		                                          : "%s: compile: range %" PRId64 " comes twice",
		                                          nsx_reader_where(l->in), id);
	*at = (uint32_t)c->ranges.n - 1;
	return NSX_OK;
}

/* The time covered by a profile, on host and GPU. */
static const enum nsx_role times[][2] = {
	{ NSX_ROLE_START, NSX_ROLE_DUR }, { NSX_ROLE_HOST_START, NSX_ROLE_HOST_DUR }
};

static int
load_span(struct loading *l, const struct nsx_rec *rec)
{
	for (int i = 0; i < 2; i++) {
		if (!nsx_field_has(rec, times[i][0]))
			continue;
		size_t p = nsx_compile_profile(l->c, nsx_field_int(rec, NSX_ROLE_PROFILE, 0));
		if (p == SIZE_MAX)
			return fail_nomem(l);
		nsx_compile_span(&l->c->profiles.p[p], nsx_field_int(rec, times[i][0], 0),
		                 nsx_field_int(rec, times[i][1], 0));
	}
	return NSX_OK;
}

/* The same of records as columns. */
static int
load_spans(void *state, const struct nsx_run *run)
{
	struct loading *l = state;
	int profile = nsx_field(run->kind->id, NSX_ROLE_PROFILE), start[2], dur[2];

	for (int k = 0; k < 2; k++) {
		start[k] = nsx_field(run->kind->id, times[k][0]);
		dur[k] = nsx_field(run->kind->id, times[k][1]);
	}
	for (size_t i = run->from; i < run->end; i++)
		for (int k = 0; k < 2; k++) {
			int64_t from = start[k] < 0 ? NSX_ABSENT : nsx_run_int(run, i, start[k], NSX_ABSENT);
			size_t p;

			if (from == NSX_ABSENT)
				continue;
			p = nsx_compile_profile(l->c, profile < 0 ? 0 : nsx_run_int(run, i, profile, 0));
			if (p == SIZE_MAX)
				return fail_nomem(l);
			nsx_compile_span(&l->c->profiles.p[p], from,
			                 dur[k] < 0 ? 0 : nsx_run_int(run, i, dur[k], 0));
		}
	return NSX_OK;
}

/* Only the times of these matter. */
static struct nsx_run_kinds
timed(void)
{
	struct nsx_run_kinds runs = { .take = load_spans };

	for (enum nsx_kind_id k = 0; k < NSX_NKINDS; k++)
		if (k != NSX_COMPILE && nsx_field_slots(k, NSX_R(START) | NSX_R(HOST_START)))
			runs.kinds |= UINT64_C(1) << k;
	return runs;
}

/* The columns that load reads. */
static void
need(struct nsx_reader *in)
{
	for (enum nsx_kind_id k = 0; k < NSX_NKINDS; k++)
		nsx_reader_need(in, k, nsx_field_slots(k, NSX_R(START) | NSX_R(DUR) | NSX_R(HOST_START)
		                                          | NSX_R(HOST_DUR) | NSX_R(PROFILE)));
	nsx_reader_need(in, NSX_PROFILE, NSX_EVERY);
	nsx_reader_need(in, NSX_PROGRAM, NSX_EVERY);
	nsx_reader_need(in, NSX_COMPILE, NSX_EVERY);
}

static int
load(void *state, const struct nsx_rec *rec)
{
	struct loading *l = state;
	int rc = NSX_OK;

	if (rec->kind->id == NSX_NKINDS)
		return NSX_OK;
	if (rec->kind->id == NSX_PROFILE)
		rc = load_profile(l, rec);
	else if (rec->kind->id == NSX_PROGRAM)
		rc = nsx_cat_take(&l->c->cat, rec, l->c->err);
	else if (rec->kind->id == NSX_COMPILE)
		rc = load_compile(l, rec);
	return rc == NSX_OK ? load_span(l, rec) : rc;
}

/* Read a stream, or (csv) the records that c->opts->csv converts CSV to, into c. */
static int
load_all(struct compiling *c, struct nsx_reader *in, bool csv)
{
	struct loading l = { .c = c, .in = in };

	const struct nsx_run_kinds runs = timed();

	if (!csv) {
		need(in);
		nsx_reader_runs(in, &runs);
	}
	int rc = csv ? c->opts->csv(nsx_reader_input(in), load, &l, c->diags, c->err)
	             : nsx_read_all(in, NULL, load, &l, c->err);

	if (rc == NSX_OK)
		rc = flush(&l);
	nsx_map_free(&l.range_at);
	return rc;
}

int
nsx_compile(struct nsx_reader *in, const void *wanted, struct nsx_table **tables, struct nsx_diags *diags,
            struct nsx_err *err)
{
	const struct nsx_compile_opts *opts = wanted;
	struct compiling c = { .opts = opts, .tables = calloc(opts->nby, sizeof *c.tables),
	                       .diags = diags, .err = err, .where = nsx_reader_input(in)->name };
	bool csv;
	int rc = c.tables ? nsx_csv_is(nsx_reader_input(in), &csv) : nsx_err_nomem(err, c.where);

	for (size_t i = 0; i < opts->nby; i++)
		tables[i] = NULL;
	for (size_t i = 0; i < opts->nby && rc == NSX_OK; i++)
		c.tables[i] = (struct compile_rows){ opts->by[i], { .def = &nsx_compile_rows } };
	if (rc == NSX_OK)
		rc = load_all(&c, in, csv);
	if (rc == NSX_OK) {
		nsx_diag_add(diags, NSX_WARNING, "", c.orphans,
			"compile ranges whose parent is not in the stream: their time is counted, but in no "
			"compilation");
		nsx_diag_add(diags, NSX_INFO, "", c.records == 0,
		             "no compilation: nothing was compiled while the profile was taken");
		for (size_t i = 0; i < opts->nby && rc == NSX_OK; i++) {
			c.at = &c.tables[i];
			tables[i] = nsx_compile_table(&c);
			rc = tables[i] ? NSX_OK : NSX_ERR;
		}
		if (rc == NSX_OK && opts->some && !c.records)
			rc = nsx_err_set(err, "%s: no compile record", c.where);
	}
	nsx_arena_free(&c.arena);
	nsx_intern_free(&c.names);
	nsx_cat_free(&c.cat);
	free(c.profiles.p);
	nsx_map_free(&c.profile_at);
	free(c.processes.p);
	for (size_t i = 0; c.tables && i < opts->nby; i++)
		nsx_sums_free(&c.tables[i].rows);
	free(c.tables);
	free(c.ranges.p);
	return rc;
}
