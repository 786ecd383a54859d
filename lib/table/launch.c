/* launch.c -- the cost of launching. Holds a row for each name, the calls whose operations have not all been read, and
 * the open ranges. */
#include "table/launch.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "job/call_book.h"
#include "job/range_book.h"
#include "job/reach.h"
#include "job/remedy.h"
#include "job/removed.h"
#include "job/steps/excerpt.h"
#include "job/starved.h"
#include "table/analysis.h"
#include "table/idle.h"
#include "table/sums.h"

struct row {
	uint32_t name, none;          /* the key */
	int64_t  kernels, calls, queued, api, queue, kernel, starved;
	int64_t  stalled, loading;    /* at the end NSX_ABSENT if they are not known */
	int64_t  profile;             /* of a call, one with losses if there are any */
};

static const char *verdict_of(const void *row);
#define NSX_ROW struct row
static const struct nsx_sum_col cols[] = {
	NSX_COL("name", STRING, name), NSX_COL("kernels", INT, kernels), NSX_COL("calls", INT, calls),
	NSX_COL("queued", INT, queued), NSX_COL("api", NS, api), NSX_COL("queue", NS, queue),
	NSX_COL("kernel", NS, kernel), NSX_COL("starved", NS, starved), NSX_COL("stalled", NS, stalled),
	NSX_COL("loading", NS, loading), NSX_COL_SAID("verdict", verdict_of),
};
/* Launches wait concurrently: the sum may exceed the length of the profile. */
static const struct nsx_sum_def def = {
	NSX_ROWS(cols), .key = sizeof(uint64_t),
	.order = "-starved -kernel name", .rank = "name verdict starved kernel queue", .adds = "starved",
	.heads = { { "queue", "queue_sum" } }
};

/* A row that a call is counted in; a call's are linked from its mark. */
struct counted { uint32_t row, next; };

/* end: the latest so far; NSX_ABSENT before the first. */
struct busy { int64_t end; struct nsx_removed removed; };

struct launch {
	NSX_STATE;
	const struct nsx_launch_options *options;   /* NULL: only sums of operations are asked for */
	struct nsx_range_book ranges;
	struct nsx_intern     names;      /* of ranges */
	NSX_VEC(uint32_t)     row_of;     /* by name: its row; NSX_NONE: none yet */
	struct nsx_call_book  calls;
	NSX_VEC(struct counted) counted;
	NSX_VEC(uint32_t)     uncounted;  /* unused indices of counted */
	struct nsx_map        counted_in;  /* (index of the call, row): is counted there */
	struct nsx_intern    *of_ops;     /* names of operations; */
	uint32_t              graph;      /* of CUDA graphs there */
	NSX_VEC(struct busy)  busy;       /* by device */
	struct nsx_excerpt    excerpt;
	int64_t no_call;
	bool    clipped;
};

static bool
by_range(const struct launch *f)
{
	return f->options && f->options->by_range;
}

static struct nsx_key
counted_key(const struct nsx_call_entry *c, uint32_t row)
{
	return (struct nsx_key){ c->place, row };
}

/* Whether the call is counted in the row for the first time; *failed when out of memory. */
static bool
first_in_row(struct launch *f, struct nsx_call_entry *c, uint32_t row, bool *failed)
{
	uint32_t at, *in = nsx_map_at(&f->counted_in, counted_key(c, row));

	if (!in || *in != NSX_NONE) {
		*failed = !in;
		return false;
	}
	*in = row;
	if (f->uncounted.n) {
		at = f->uncounted.p[--f->uncounted.n];
		f->counted.p[at] = (struct counted){ row, c->mark };
	} else {
		at = (uint32_t)f->counted.n;
		if (at == NSX_NONE || !nsx_vec_push(&f->counted, ((struct counted){ row, c->mark }))) {
			*failed = true;
			return false;
		}
	}
	c->mark = at;
	return true;
}

/* ---- operations */

static struct row *
row(const struct launch *f, uint32_t number)
{
	return nsx_sums_at(&f->rows, number);
}

static uint32_t
name_of(struct launch *f, const struct nsx_event *e, bool graph)
{
	const struct nsx_rec *rec = e->rec;
	const struct nsx_range_entry *r;

	if (!by_range(f)) {
		if (graph && f->graph == NSX_NONE)
			f->graph = nsx_intern(f->of_ops, NSX_STR("[CUDA graph]"));
		return graph ? f->graph : e->name;
	}
	r = nsx_has(rec, NSX_OP_range) ? nsx_range_book_find(&f->ranges, nsx_int(rec, NSX_OP_profile, NSX_ABSENT),
	                                                     rec->v[NSX_OP_range].i) : NULL;
	return r ? r->name : nsx_intern(&f->names, NSX_STR(""));
}

/* The number of a name's row; NSX_NONE when out of memory. */
static uint32_t
row_of(struct launch *f, uint32_t name)
{
	if (name == NSX_NONE || !nsx_vec_reach(&f->row_of, name, &(uint32_t){ NSX_NONE }))
		return NSX_NONE;
	if (f->row_of.p[name] == NSX_NONE)
		f->row_of.p[name] = nsx_sums_number(&f->rows, &(uint32_t[2]){ name, 0 });
	return f->row_of.p[name];
}

/* Sums that exceed 64 bits are refused at the end. */
static void
add(struct launch *f, int64_t *sum, int64_t ns)
{
	*sum = nsx_add_sat(*sum, ns, &f->clipped);
}

static void
add_losses(struct launch *f, struct row *r, const struct nsx_call_entry *c)
{
	add(f, &r->stalled, c->stalled);
	add(f, &r->loading, c->loading);
	if (r->calls == 1 || !nsx_call_book_knows(&f->calls, r->profile))
		r->profile = c->profile;
}

/* c: its call; NULL: nobody asks what calls cost. */
static int
count(struct launch *f, const struct nsx_event *e, bool graph, int64_t busy, struct nsx_call_entry *c)
{
	const struct nsx_rec *rec = e->rec;
	int64_t start = rec->v[NSX_OP_start].i, dur = rec->v[NSX_OP_dur].i, host_dur = nsx_int(rec, NSX_OP_host_dur, 0);
	int64_t call_end = nsx_add_sat(rec->v[NSX_OP_host_start].i, host_dur, NULL);
	uint32_t at = row_of(f, name_of(f, e, graph));
	bool failed = at == NSX_NONE;

	if (!failed) {
		struct row *r = row(f, at);

		if (c && first_in_row(f, c, at, &failed)) {
			r->calls++;
			add(f, &r->api, host_dur);
			add_losses(f, r, c);
		}
		r->kernels++;
		add(f, &r->kernel, dur);
		if (start >= call_end) {
			r->queued++;
			add(f, &r->queue, start - call_end);
		}
		if (busy != NSX_ABSENT)
			add(f, &r->starved, nsx_starved(busy, start, call_end));
	}
	return failed ? nsx_err_nomem(f->err, NULL) : NSX_OK;
}

/* The call is removed, with the rows in which it counts. */
static int
uncount(struct launch *f, const struct nsx_call_entry *gone)
{
	for (uint32_t i = gone->mark; i != NSX_NONE; i = f->counted.p[i].next) {
		nsx_map_del(&f->counted_in, counted_key(gone, f->counted.p[i].row));
		if (!nsx_vec_push(&f->uncounted, i))
			return nsx_err_nomem(f->err, NULL);
	}
	return NSX_OK;
}

static int
take_call(struct launch *f, const struct nsx_rec *rec)
{
	struct nsx_call_entry c;

	if (nsx_call_book_add(&f->calls, rec, &c, f->err) != NSX_OK)
		return NSX_ERR;
	if (!c.early)
		return NSX_OK;
	for (uint32_t i = c.mark; i != NSX_NONE; i = f->counted.p[i].next)
		add_losses(f, row(f, f->counted.p[i].row), &c);
	return c.left ? NSX_OK : uncount(f, &c);
}

static int
take_op(struct launch *f, const struct nsx_event *e)
{
	const struct nsx_rec *rec = e->rec;
	uint32_t device = e->device;
	bool graph = e->type == NSX_TYPE_GRAPH, kernel = graph || e->type == NSX_TYPE_KERNEL;
	struct nsx_call_entry *c = NULL, gone;
	int rc = NSX_OK;

	if (!nsx_vec_reach(&f->busy, device, &(struct busy){ NSX_ABSENT, NSX_REMOVED_NONE }))
		return nsx_err_nomem(f->err, NULL);
	struct busy *busy = &f->busy.p[device];

	/* What nsysx-warmup or nsysx-steps --cut removed kept the device busy, or was awaited, until it ended. */
	nsx_removed_take(&busy->removed, rec);
	int64_t before = busy->end == NSX_ABSENT ? NSX_ABSENT : nsx_removed_end(&busy->removed, busy->end, e->start);
	if (before != NSX_ABSENT)
		before = nsx_excerpt_gap(&f->excerpt, device, before, e->start);
	if (f->options)
		c = nsx_call_book_of(&f->calls, rec, &rc, f->err);
	if (rc != NSX_OK)
		return NSX_ERR;
	if (!nsx_has(rec, NSX_OP_call) || !nsx_has(rec, NSX_OP_host_start))
		f->no_call += kernel;
	else if (kernel && count(f, e, graph, before, c) != NSX_OK)
		return NSX_ERR;
	if (c && nsx_call_book_done(&f->calls, c, &gone) && uncount(f, &gone) != NSX_OK)
		return NSX_ERR;
	if (busy->end == NSX_ABSENT || e->end > busy->end)
		busy->end = e->end;
	return NSX_OK;
}

static int
take_range(struct launch *f, const struct nsx_rec *rec)
{
	uint32_t name;

	if (!nsx_has(rec, NSX_RANGE_start))
		return NSX_OK;
	name = nsx_intern(&f->names, nsx_range_book_name(&f->ranges, rec, f->options->names));
	return name == NSX_NONE ? nsx_err_nomem(f->err, NULL) : nsx_range_book_add(&f->ranges, rec, name, f->err);
}

/* A step comes behind the first operation on its device. */
static int
take_step(struct launch *f, const struct nsx_rec *rec)
{
	uint32_t device = nsx_cat_find_device(f->cat, nsx_int(rec, NSX_STEP_device, NSX_ABSENT));

	return device == NSX_NONE || nsx_excerpt_take(&f->excerpt, rec, device) ? NSX_OK : nsx_err_nomem(f->err, NULL);
}

static void
need_ops(void *state, struct nsx_reader *in)
{
	(void)state;
	nsx_event_need(in, NSX_OP);
	nsx_reader_need(in, NSX_OP, NSX_C(OP, name) | NSX_C(OP, removed) | NSX_C(OP, call));
	nsx_event_need(in, NSX_STEP);
	nsx_excerpt_need(in);
}

static void
need(void *state, struct nsx_reader *in)
{
	const struct launch *f = state;

	nsx_call_book_need(in);
	need_ops(state, in);
	nsx_reach_need(in, NSX_CALL);
	if (by_range(f))
		nsx_range_book_need(in, false);
}

static int
take(void *state, const struct nsx_event *e)
{
	struct launch *f = state;

	switch (e->rec->kind->id) {
	case NSX_CALL:  return take_call(f, e->rec);
	case NSX_RANGE: return take_range(f, e->rec);
	case NSX_OP:    return take_op(f, e);
	case NSX_STEP:  return take_step(f, e->rec);
	default:        return NSX_OK;
	}
}

/* ---- the table: sorted by starved time, then kernel time, the longest first, then name */

/* Devices wait longer for these kernels than they run them. If a wait is no longer than a launch takes, the device
 * waits for the launch; if it is longer, the host did something else. */
static const char *
verdict_of(const void *row)
{
	const struct row *r = row;

	if (r->starved <= r->kernel)
		return "";
	return (double)r->starved <= (double)NSX_IDLE_LATENCY * (double)r->kernels ? "launch-bound" : "late";
}

static bool
is_bound(const struct row *r)
{
	return strcmp(verdict_of(r), "launch-bound") == 0;
}

static int
begin(void *state, const void *options, const struct nsx_analysis_at *at)
{
	struct launch *f = state;

	f->options = options;
	f->of_ops = at->names;
	f->graph = NSX_NONE;
	f->rows = (struct nsx_sums){ .def = &def, .texts = by_range(f) ? &f->names : at->names };
	return NSX_OK;
}

static void
report(const struct launch *f, struct nsx_diags *diags)
{
	if (!f->came[NSX_OP])
		nsx_diag_add(diags, NSX_WARNING, "", 1,
		             "no operations in the stream: extract with --ops --calls (by range: --ranges=all, too)");
	else if (!f->calls.records)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "%s",
		             nsx_no_calls(f->cat, "no CUDA calls in the stream, stalled and loading time are not "
		                                  "known: extract with --calls"));
	nsx_diag_add(diags, NSX_INFO, "", f->no_call, "kernels whose call is not in the profile: not counted");
}

static int
finish(void *state, struct nsx_table **table, struct nsx_diags *diags)
{
	struct launch *f = state;

	for (size_t i = 0; i < nsx_sums_count(&f->rows); i++) {
		struct row *r = row(f, (uint32_t)i);
		if (!nsx_call_book_knows(&f->calls, r->profile))
			r->stalled = r->loading = NSX_ABSENT;
	}
	if (f->clipped)
		return nsx_err_overflow(f->err, NULL);
	if (!table) {
		nsx_sums_sort(&f->rows);
		return NSX_OK;
	}
	report(f, diags);
	return NSX_OK;
}

static void
free_all(void *state)
{
	struct launch *f = state;

	nsx_excerpt_free(&f->excerpt);
	nsx_range_book_free(&f->ranges);
	nsx_intern_free(&f->names);
	nsx_map_free(&f->counted_in);
	nsx_call_book_free(&f->calls);
	free(f->counted.p);
	free(f->uncounted.p);
	free(f->busy.p);
	free(f->row_of.p);
}

const struct nsx_analysis nsx_launch_analysis = {
	sizeof(struct launch), NSX_K(CALL) | NSX_K(OP) | NSX_K(STEP), NSX_NAMED | NSX_TIMED | NSX_STATED, begin, need,
	take, finish, free_all
};
const struct nsx_analysis nsx_launch_ranges = {
	sizeof(struct launch), NSX_K(CALL) | NSX_K(RANGE) | NSX_K(OP) | NSX_K(STEP), NSX_TIMED | NSX_STATED, begin,
	need, take, finish, free_all
};
const struct nsx_analysis nsx_launch_sums = {
	sizeof(struct launch), NSX_K(OP) | NSX_K(STEP), NSX_NAMED | NSX_TIMED | NSX_STATED, begin, need_ops, take,
	finish, free_all
};

bool
nsx_launch_sum(const void *state, size_t i, struct nsx_launch_sum *sum)
{
	const struct launch *f = state;
	const struct row *r = i < nsx_sums_count(&f->rows) ? row(f, (uint32_t)i) : NULL;

	if (r)
		*sum = (struct nsx_launch_sum){ nsx_intern_str(f->of_ops, r->name), r->kernels, r->kernel, r->starved,
		                                is_bound(r) };
	return r != NULL;
}
