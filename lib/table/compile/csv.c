/* csv.c -- compile ranges from the CSV of nsys's nvtx_pushpop_trace. Its rows become a trace, in which extraction finds
 * compilations just as in an export. Holds all rows. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "table/compile/compile.h"
#include "extract/profile.h"
#include "base/num.h"
#include "base/sort.h"
#include "nsys/csv.h"
#include "stream/raw.h"

enum { START, DURATION, NAME, PID, TID, ID, PARENT, NCOLUMNS };
static const char *const columns[NCOLUMNS] = { "Start (ns)", "Duration (ns)", "Name", "PID", "TID", "RangeId",
                                               "ParentId" };

struct csv_row { int64_t start, dur, pid, tid, id, parent; uint32_t name; bool xla, has_parent; };

struct csv_load {
	struct compiling        *c;
	struct nsx_csv    *csv;
	struct ex_profile  p;
	NSX_VEC(struct csv_row) rows;
	NSX_VEC(struct nsx_sort_key) keys;   /* rows by thread, then start */
	struct nsx_map     at;      /* RangeId -> range of the trace */
};

static int
fail_nomem(struct csv_load *l)
{
	return nsx_err_nomem(l->c->err, l->c->where);
}

/* The fields of a row: NSX_EOF if they are not what they should be. */
static int
take_row(struct csv_load *l, const struct nsx_str *fields, const int *at)
{
	static const char domain[] = NSX_XLA_DOMAIN ":";
	struct csv_row r = { .name = NSX_NONE };
	struct nsx_str name = fields[at[NAME]];
	struct cmp_range times = { 0 };

	if (!nsx_get_int(fields[at[START]], &r.start) || !nsx_get_int(fields[at[DURATION]], &r.dur) ||
	    !nsx_get_int(fields[at[PID]], &r.pid) ||
	    !nsx_get_int(fields[at[TID]], &r.tid) || !nsx_get_int(fields[at[ID]], &r.id))
		return NSX_EOF;
	r.has_parent = nsx_get_int(fields[at[PARENT]], &r.parent);
	times.start = r.start;
	times.dur = r.dur;
	/* 2022.4 spells what is absent "None". */
	if (!nsx_compare_sound(&times) || r.pid < 0 || r.pid > UINT32_MAX || r.tid < 0 || r.tid > UINT32_MAX ||
	    (!r.has_parent && fields[at[PARENT]].len && !nsx_str_eq(fields[at[PARENT]], NSX_STR("None"))))
		return NSX_EOF;
	r.xla = nsx_str_starts(name, domain);
	if (r.xla)
		name = (struct nsx_str){ name.ptr + sizeof domain - 1, name.len - (sizeof domain - 1) };
	r.name = nsx_intern(&l->p.trace.names, name);
	if (r.name == NSX_NONE || l->rows.n >= UINT32_MAX / 2 || !nsx_vec_push(&l->rows, r))
		return fail_nomem(l);
	nsx_compare_span(&l->c->profiles.p[0], r.start, r.dur);
	return NSX_OK;
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

/* Rows by thread, in a thread by start, the longer first. */
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

/* Range n of the trace is that row, on the last thread. */
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
		/* What is inside a range follows it on its thread. */
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
add_programs(struct csv_load *l)
{
	struct compiling *c = l->c;

	for (size_t i = 0; i < l->p.programs.n; i++) {
		const struct nsx_extract_program *from = &l->p.programs.p[i];
		struct nsx_buf key = { 0 };

		nsx_buf_str(&key, from->name);
		nsx_buf_fmt(&key, "@%" PRId64, from->id);
		struct compiling_program p = { from->id, true, nsx_arena_str(&c->arena, from->name),
		                               nsx_arena_str(&c->arena,
			nsx_buf_view(&key)) };
		uint32_t *at = nsx_map_at(&c->program_at, (struct nsx_key){ (uint64_t)i, 0 });
		bool good = at && !key.failed && p.name.ptr && p.key.ptr && nsx_vec_push(&c->programs, p);
		nsx_buf_free(&key);
		if (!good)
			return fail_nomem(l);
		*at = (uint32_t)i;
	}
	return NSX_OK;
}

/* Compile records by start, the longer first, the order they were found in among equals: a parent comes before what is
 * in it. */
static int
add_ranges(struct csv_load *l)
{
	struct compiling *c = l->c;
	const struct nsx_trace *t = &l->p.trace;
	uint32_t *place = malloc((t->nranges + 1) * sizeof *place);

	l->keys.n = 0;
	if (!place || !nsx_vec_room(&l->keys, l->p.compiles.n + 1) || !nsx_vec_room(&c->ranges, l->p.compiles.n + 1)) {
		free(place);
		return fail_nomem(l);
	}
	for (size_t i = 0; i < l->p.compiles.n; i++) {
		const struct nsx_range *r = &t->ranges[l->p.compiles.p[i].range];
		l->keys.p[l->keys.n++] = (struct nsx_sort_key){ { r->start, r->start - r->end, 0 }, (uint32_t)i };
	}
	nsx_sort_keys(l->keys.p, l->keys.n);
	memset(place, 0xff, (t->nranges + 1) * sizeof *place);
	for (size_t k = 0; k < l->keys.n; k++) {
		const struct ex_compile *x = &l->p.compiles.p[l->keys.p[k].i];
		const struct nsx_range *range = &t->ranges[x->range];
		const struct nsx_thread *thread = nsx_trace_thread(t, x->range);
		struct cmp_range r = {
			.pid = t->processes[thread->process].pid, .tid = thread->tid, .start = range->start,
			.dur = range->end - range->start,
			.child = x->child, .program = x->program == NSX_NONE ? -1 : (int64_t)x->program,
			.parent = x->parent == NSX_NONE ? NSX_NONE : place[x->parent], .inner = x->children > 0,
			.name = nsx_intern(&c->names, nsx_intern_str(&l->p.strings, x->name))
		};

		r.self = r.dur - r.child;
		place[x->range] = (uint32_t)k;
		if (r.name == NSX_NONE || !nsx_compare_sound(&r)) {
			free(place);
			return r.name == NSX_NONE ? fail_nomem(l) : nsx_err_set(c->err,
				"%s: more time than ranges can take", c->where);
		}
		c->ranges.p[c->ranges.n++] = r;
	}
	free(place);
	return NSX_OK;
}

int
nsx_compare_load_csv(struct compiling *c, struct nsx_reader *in)
{
	static const struct nsx_extract_opts opts = { .ranges = NSX_RANGES_NONE };
	const struct nsx_extract_input input = { c->where, NULL };
	struct csv_load l = { .c = c, .p = { .input = &input, .opts = &opts } };
	int rc = NSX_ERR;

	if (nsx_compare_profile(c, 0) == SIZE_MAX)
		fail_nomem(&l);
	else if ((l.csv = nsx_csv_open(in, c->err)) && (rc = read_rows(&l)) == NSX_OK && (rc = sort_rows(&l)) ==
	         NSX_OK &&
	         (rc = make_trace(&l)) == NSX_OK) {
		rc = nsx_extract_find_compiles(&l.p);
		if (rc != NSX_OK)
			nsx_err_set(c->err, "%s", l.p.err.msg);
	}
	if (rc == NSX_OK && (rc = add_programs(&l)) == NSX_OK && (rc = add_ranges(&l)) == NSX_OK) {
		nsx_diag_add(c->diags, NSX_WARNING, "", nsx_csv_rejected(l.csv), NSX_CSV_REJECTED);
		rc = nsx_compare_tally(c);
	}
	nsx_csv_close(l.csv);
	nsx_extract_free(&l.p);
	free(l.rows.p);
	free(l.keys.p);
	nsx_map_free(&l.at);
	return rc;
}
