/* compile_csv.c -- compile records from the CSV of nsys's nvtx_pushpop_trace. Its rows become a trace, in which
 * compilations are found as in an export. Holds all rows in memory. */
#include "extract/compile_csv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/num.h"
#include "base/sort.h"
#include "extract/profile.h"

enum { START, DURATION, NAME, PID, TID, ID, PARENT, NCOLUMNS };
static const char *const columns[NCOLUMNS] = { "Start (ns)", "Duration (ns)", "Name", "PID", "TID", "RangeId",
                                               "ParentId" };

/* Beyond 73 years of nanoseconds sums could overflow. */
#define TIME_MAX (INT64_MAX / 4)

struct csv_row { int64_t start, dur, pid, tid, id, parent; uint32_t name; bool xla, has_parent; };

struct csv_load {
	const char        *where;   /* the input's name */
	struct nsx_err    *err;
	nsx_take_fn       *take;
	void              *state;
	struct nsx_csv    *csv;
	struct ex_profile  p;
	NSX_VEC(struct csv_row) rows;
	NSX_VEC(struct nsx_sort_key) keys;   /* rows by thread, then start */
	struct nsx_map     at;      /* RangeId -> range of the trace */
};

static int
fail_nomem(struct csv_load *l)
{
	return nsx_err_nomem(l->err, l->where);
}

/* The fields of a row: NSX_EOF if they are invalid. */
static int
take_row(struct csv_load *l, const struct nsx_str *fields, const int *at)
{
	static const char domain[] = NSX_XLA_DOMAIN ":";
	struct csv_row r = { .name = NSX_NONE };
	struct nsx_str name = fields[at[NAME]];

	if (!nsx_get_int(fields[at[START]], &r.start) || !nsx_get_int(fields[at[DURATION]], &r.dur) ||
	    !nsx_get_int(fields[at[PID]], &r.pid) ||
	    !nsx_get_int(fields[at[TID]], &r.tid) || !nsx_get_int(fields[at[ID]], &r.id))
		return NSX_EOF;
	r.has_parent = nsx_get_int(fields[at[PARENT]], &r.parent);
	/* 2022.4 writes "None" for absent values. */
	if (r.start > TIME_MAX || r.start < -TIME_MAX || r.dur < 0 || r.dur > TIME_MAX ||
	    r.pid < 0 || r.pid > UINT32_MAX || r.tid < 0 || r.tid > UINT32_MAX ||
	    (!r.has_parent && fields[at[PARENT]].len && !nsx_str_eq(fields[at[PARENT]], NSX_STR("None"))))
		return NSX_EOF;
	r.xla = nsx_str_starts(name, domain);
	if (r.xla)
		name = (struct nsx_str){ name.ptr + sizeof domain - 1, name.len - (sizeof domain - 1) };
	r.name = nsx_intern(&l->p.trace.names, name);
	if (r.name == NSX_NONE || l->rows.n >= UINT32_MAX / 2 || !nsx_vec_push(&l->rows, r))
		return fail_nomem(l);

	/* A range of any name shows that the profile has data at this time. */
	union nsx_val v[NSX_MAX_COLS] = { 0 };
	struct nsx_rec range = { nsx_kind_builtin(NSX_RANGE), 0, v };
	nsx_set_i(&range, NSX_RANGE_host_start, r.start);
	nsx_set_i(&range, NSX_RANGE_host_dur, r.dur);
	return l->take(l->state, &range);
}

static int
read_rows(struct csv_load *l)
{
	struct nsx_str *fields;
	int at[NCOLUMNS], rc;

	for (int i = 0; i < NCOLUMNS; i++)
		if ((at[i] = nsx_csv_column(l->csv, columns[i])) < 0)
			return NSX_ERR;
	while ((rc = nsx_csv_next(l->csv, &fields)) == NSX_OK) {
		rc = take_row(l, fields, at);
		if (rc == NSX_EOF)
			nsx_csv_reject(l->csv);
		if (rc == NSX_ERR)
			return rc;
	}
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

/* Sort rows by thread, in a thread by start, the longer first. */
static int
sort_rows(struct csv_load *l)
{
	if (!nsx_vec_room(&l->keys, l->rows.n + 1))
		return fail_nomem(l);
	for (size_t i = 0; i < l->rows.n; i++) {
		const struct csv_row *r = &l->rows.p[i];

		l->keys.p[l->keys.n++] = (struct nsx_sort_key){ { r->pid << 32 | r->tid, r->start, -r->dur },
		                                                (uint32_t)i };
	}
	nsx_sort_keys(l->keys.p, l->keys.n);
	return NSX_OK;
}

/* Range n of the trace becomes that row, on the last thread. */
static bool
put_range(struct csv_load *l, uint32_t n, const struct csv_row *row, uint16_t xla)
{
	struct nsx_trace *t = &l->p.trace;
	struct nsx_range *r = &t->ranges[n];

	*r = (struct nsx_range){ .start = row->start, .end = row->start + row->dur, .id = row->id, .name = row->name,
	                         .parent = NSX_NONE,
	                         .gpu = NSX_NONE, .domain = row->xla ? xla : 0, .flags = NSX_RANGE_PUSHPOP };
	if (row->has_parent) {
		uint32_t up = nsx_map_get(&l->at, (struct nsx_key){ (uint64_t)row->parent, 0 });
		/* The ranges inside a range follow it on its thread. */
		if (up != NSX_NONE && up >= t->threads[t->nthreads - 1].first)
			r->parent = up;
	}
	uint32_t *at = nsx_map_at(&l->at, (struct nsx_key){ (uint64_t)row->id, 0 });
	if (at)
		*at = n;
	return at;
}

static int
make_trace(struct csv_load *l)
{
	struct nsx_trace *t = &l->p.trace;
	size_t n = l->rows.n;
	uint32_t xla = nsx_intern(&t->domains, NSX_STR("")) == NSX_NONE ? NSX_NONE : nsx_intern(&t->domains,
		NSX_STR(NSX_XLA_DOMAIN));

	t->ranges = malloc((n + 1) * sizeof *t->ranges);
	t->threads = malloc((n + 1) * sizeof *t->threads);
	t->processes = malloc((n + 1) * sizeof *t->processes);
	l->p.title_of = malloc((t->names.n + 1) * sizeof *l->p.title_of);
	if (xla == NSX_NONE || !t->ranges || !t->threads || !t->processes || !l->p.title_of)
		return fail_nomem(l);
	memset(l->p.title_of, 0xff, (t->names.n + 1) * sizeof *l->p.title_of);
	for (size_t k = 0; k < n; k++) {
		const struct csv_row *row = &l->rows.p[l->keys.p[k].i], *before = k ? &l->rows.p[l->keys.p[k - 1].i]
		    : NULL;

		if (!before || row->pid != before->pid)
			t->processes[t->nprocesses++] = (struct nsx_process){ (uint64_t)row->pid << 24,
				(uint32_t)row->pid };
		if (!before || row->pid != before->pid || row->tid != before->tid)
			t->threads[t->nthreads++] = (struct nsx_thread){ (uint64_t)row->pid << 24 | (uint64_t)row->tid,
				t->nprocesses - 1,
			                                                (uint32_t)row->tid, (uint32_t)k, 0 };
		t->threads[t->nthreads - 1].n++;
		if (!put_range(l, (uint32_t)k, row, (uint16_t)xla))
			return fail_nomem(l);
		t->nranges++;
	}
	return NSX_OK;
}

static int
give_programs(struct csv_load *l)
{
	for (size_t i = 0; i < l->p.programs.n; i++) {
		const struct nsx_extract_program *from = &l->p.programs.p[i];
		union nsx_val v[NSX_MAX_COLS] = { 0 };
		struct nsx_rec rec = { nsx_kind_builtin(NSX_PROGRAM), 0, v };
		struct nsx_buf key = { 0 };

		nsx_buf_str(&key, from->name);
		nsx_buf_fmt(&key, "@%" PRId64, from->id);
		nsx_set_i(&rec, NSX_PROGRAM_program, (int64_t)i);
		nsx_set_i(&rec, NSX_PROGRAM_id, from->id);
		nsx_set_s(&rec, NSX_PROGRAM_name, from->name);
		nsx_set_s(&rec, NSX_PROGRAM_key, nsx_buf_view(&key));
		int rc = key.failed ? fail_nomem(l) : l->take(l->state, &rec);
		nsx_buf_free(&key);
		if (rc != NSX_OK)
			return rc;
	}
	return NSX_OK;
}

/* The k-th record of compilation; place: indices of the range records that were written. */
static int
give_compile(struct csv_load *l, const struct ex_compile *x, size_t k, const uint32_t *place)
{
	const struct nsx_trace *t = &l->p.trace;
	const struct nsx_range *range = &t->ranges[x->range];
	const struct nsx_thread *thread = nsx_trace_thread(t, x->range);
	union nsx_val v[NSX_MAX_COLS] = { 0 };
	struct nsx_rec rec = { nsx_kind_builtin(NSX_COMPILE), 0, v };

	nsx_set_i(&rec, NSX_COMPILE_profile, 0);
	nsx_set_i(&rec, NSX_COMPILE_range, (int64_t)k);
	if (x->parent != NSX_NONE && place[x->parent] != NSX_NONE)
		nsx_set_i(&rec, NSX_COMPILE_parent, place[x->parent]);
	nsx_set_i(&rec, NSX_COMPILE_pid, t->processes[thread->process].pid);
	nsx_set_i(&rec, NSX_COMPILE_tid, thread->tid);
	nsx_set_i(&rec, NSX_COMPILE_start, range->start);
	nsx_set_i(&rec, NSX_COMPILE_dur, range->end - range->start);
	nsx_set_i(&rec, NSX_COMPILE_child, x->child);
	nsx_set_i(&rec, NSX_COMPILE_self, nsx_sub_sat(range->end - range->start, x->child, NULL));
	nsx_set_i(&rec, NSX_COMPILE_children, x->children);
	if (x->program != NSX_NONE)
		nsx_set_i(&rec, NSX_COMPILE_program, x->program);
	nsx_set_s(&rec, NSX_COMPILE_name, nsx_intern_str(&l->p.strings, x->name));
	return l->take(l->state, &rec);
}

/* Sort compile records by start, the longer first, equal ones in the order in which they were found: a parent comes
 * before its children. */
static int
give_compiles(struct csv_load *l)
{
	const struct nsx_trace *t = &l->p.trace;
	uint32_t *place = malloc((t->nranges + 1) * sizeof *place);
	int rc = NSX_OK;

	l->keys.n = 0;
	if (!place || !nsx_vec_room(&l->keys, l->p.compiles.n + 1)) {
		free(place);
		return fail_nomem(l);
	}
	for (size_t i = 0; i < l->p.compiles.n; i++) {
		const struct nsx_range *r = &t->ranges[l->p.compiles.p[i].range];
		l->keys.p[l->keys.n++] = (struct nsx_sort_key){ { r->start, r->start - r->end, 0 }, (uint32_t)i };
	}
	nsx_sort_keys(l->keys.p, l->keys.n);
	memset(place, 0xff, (t->nranges + 1) * sizeof *place);
	for (size_t k = 0; k < l->keys.n && rc == NSX_OK; k++) {
		const struct ex_compile *x = &l->p.compiles.p[l->keys.p[k].i];

		place[x->range] = (uint32_t)k;
		rc = give_compile(l, x, k, place);
	}
	free(place);
	return rc;
}

int
nsx_extract_compile_csv(struct nsx_input *in, nsx_take_fn *take, void *state, struct nsx_diags *diags,
                        struct nsx_err *err)
{
	static const struct nsx_extract_opts opts = { .ranges = NSX_RANGES_NONE };
	const struct nsx_extract_input input = { in->name, NULL };
	struct csv_load l = { .where = in->name, .err = err, .take = take, .state = state,
	                      .p = { .input = &input, .opts = &opts } };
	int rc = NSX_ERR;

	if ((l.csv = nsx_csv_open(in, err)) && (rc = read_rows(&l)) == NSX_OK && (rc = sort_rows(&l)) == NSX_OK
	    && (rc = make_trace(&l)) == NSX_OK && (rc = nsx_extract_find_compiles(&l.p)) != NSX_OK)
		nsx_err_set(err, "%s", l.p.err.msg);
	if (rc == NSX_OK && (rc = give_programs(&l)) == NSX_OK && (rc = give_compiles(&l)) == NSX_OK)
		nsx_diag_add(diags, NSX_WARNING, "", nsx_csv_rejected(l.csv), NSX_CSV_REJECTED);
	nsx_csv_close(l.csv);
	nsx_extract_free(&l.p);
	free(l.rows.p);
	free(l.keys.p);
	nsx_map_free(&l.at);
	return rc;
}
