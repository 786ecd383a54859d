/* launch_stretches.c -- what capturing launches in CUDA graphs would save: a row for each stretch of launches that a
 * device ran at least twice.
 *
 * A stretch is a run of a device's operations, in order of start, that one thread launched one by one and that a graph
 * could hold: it ends at an operation of another thread, of a graph, of another execution of a program or of another
 * step (if the stream has marks of them), where the thread waited for the device between two launches, and where
 * nsysx-warmup removed operations. Of a stretch's idle time that before its first operation is not its own.
 *
 *   sync   a launched [0,5), runs 10..20   b launched [22,30), runs 33..40   c launched [31,35), runs 40..50   sync
 *   starved 10 of the idle 13 between a and b: in [20,30) b's launch had not ended
 *   again, later: a, b, c: the same stretch
 *
 * A graph is launched at once: launch-starved time is gone, launch latency may remain. So what capture saves is
 * `starved`, and `idle` is the bound. A stretch is held as a hash of its operations' names. */
#include <stdlib.h>

#include "base/num.h"
#include "base/sort.h"
#include "job/remedy.h"
#include "job/removed.h"
#include "job/starved.h"
#include "job/threads.h"
#include "table/analysis.h"
#include "table/launch.h"
#include "table/sums.h"

/* Times at which a thread began to wait for the GPU, ascending. */
struct waits { NSX_VEC(int64_t) at; };

/* An operation as far as it matters. thread: of its launch, NSX_NONE: unknown, or it is of a graph. */
struct launched {
	int64_t  start, end, host_start, host_dur, execution;
	uint32_t name, program, thread;
	bool     apart;                   /* what ran between the one before and it was removed */
	int64_t  starved, idle;           /* ns right before it */
};

/* A stretch that goes on: its number of operations, 0: there is none. */
struct stretch { uint64_t hash; uint32_t first, program; int64_t ops, start, end, api, starved, idle; };

struct device {
	bool            begun, any;       /* an operation was read; `last` is one that is in no stretch yet */
	struct launched last, before;     /* before: the one before it */
	int64_t         first, busy;      /* of the device: its first start, its latest end so far */
	struct nsx_removed removed;
	nsx_u128        gone;             /* ns of it that were removed */
	int64_t         step;             /* the latest start of a step, */
	int64_t         next;             /* and the latest end of a period; INT64_MIN: not known */
	int64_t         cut;              /* that of the stretch's operations */
	struct stretch  now;
};

/* Equal stretches of a device; then of all devices, which have none. program: in the catalogue; then its label, in
 * names. */
struct row {
	uint64_t device, hash;            /* the key */
	int64_t  ops;
	uint32_t first, program;
	int64_t  times;
	nsx_u128 span, api, starved, idle;
};

#define NSX_ROW struct row
static const struct nsx_sum_col cols[] = {
	NSX_COL("name", STRING, first), NSX_COL("program", STRING, program), NSX_COL("launches", INT, ops),
	NSX_COL("times", INT, times), NSX_COL("api", NS, api), NSX_COL("span", NS, span),
	NSX_COL("starved", NS, starved), NSX_COL("idle", NS, idle), NSX_COL_SHARE("share", starved),
};
static const struct nsx_sum_def of_same = { .size = sizeof(struct row), .key = offsetof(struct row, times) }, def = {
	NSX_ROWS(cols), .key = offsetof(struct row, times), .order = "-starved -idle -span name launches",
	.rank = "name starved share idle launches times span api program",
	.adds = "starved"
};

struct stretches {
	NSX_STATE;
	struct nsx_intern    *names;      /* of operations, and labels of programs */
	struct nsx_threads    threads;
	NSX_VEC(struct waits) waits;      /* by thread */
	NSX_VEC(struct device) devices;   /* by index of the catalogue */
	struct nsx_sums       same;
	int64_t               no_call;
};

static int
stretches_begin(void *state, const void *options, const struct nsx_analysis_at *at)
{
	struct stretches *f = state;

	(void)options;
	f->names = at->names;
	f->same.def = &of_same;
	return NSX_OK;
}

static void
stretches_need(void *state, struct nsx_reader *in)
{
	(void)state;
	nsx_event_need(in, NSX_OP);
	nsx_event_need(in, NSX_CALL);
	nsx_event_need(in, NSX_STEP);
	nsx_reader_need(in, NSX_OP, NSX_C(OP, profile) | NSX_C(OP, name) | NSX_C(OP, graph_node) | NSX_C(OP, tid)
	                            | NSX_C(OP, program) | NSX_C(OP, execution) | NSX_C(OP, removed));
	nsx_reader_need(in, NSX_STEP, NSX_C(STEP, period) | NSX_C(STEP, removed));
	nsx_reader_need(in, NSX_CALL, NSX_C(CALL, profile) | NSX_C(CALL, tid) | NSX_C(CALL, blocking));
}

/* The thread of that id in its report, whatever its process, which operations do not have: waits of threads of equal
 * ids end each other's stretches. NSX_NONE when out of memory. */
static uint32_t
thread_of(struct stretches *f, int64_t profile, int64_t tid)
{
	uint32_t at = nsx_thread_number(&f->threads, profile, NSX_ABSENT, tid);

	if (at != NSX_NONE && !nsx_vec_reach(&f->waits, at, NULL))
		return NSX_NONE;
	return at;
}

/* Whether the thread began to wait for the GPU in (from, to). Calls come before what they launch. */
static bool
waited(const struct stretches *f, uint32_t thread, int64_t from, int64_t to)
{
	const struct waits *w = &f->waits.p[thread];
	size_t after = nsx_sort_first(w->at.p, w->at.n, sizeof *w->at.p, 0, from + 1);

	return after < w->at.n && w->at.p[after] < to;
}

/* ---- stretches ---- */

/* Add to the row of that key. */
static int
add(struct stretches *f, struct nsx_sums *sums, const struct row *of)
{
	struct row *r = nsx_sums_row(sums, of);

	if (!r)
		return NSX_NOMEM(f);
	r->times += of->times;
	r->span += of->span;
	r->api += of->api;
	r->starved += of->starved;
	r->idle += of->idle;
	return NSX_OK;
}

/* The device's stretch is complete. */
static int
close_stretch(struct stretches *f, size_t device)
{
	struct stretch *s = &f->devices.p[device].now;
	struct row of = { .device = device, .hash = s->hash, .ops = s->ops, .first = s->first, .program = s->program,
	                  .times = 1, .span = (nsx_u128)(s->end - s->start), .api = (nsx_u128)s->api,
	                  .starved = (nsx_u128)s->starved, .idle = (nsx_u128)s->idle };

	s->ops = 0;
	return of.ops < 2 ? NSX_OK : add(f, &f->same, &of);
}

/* Whether the last operation goes on with the stretch of the one before it. */
static bool
goes_on(const struct stretches *f, const struct device *d)
{
	const struct launched *a = &d->before, *b = &d->last;

	return d->now.ops && !b->apart && a->thread == b->thread && a->program == b->program
	       && a->execution == b->execution && d->step == d->cut
	       && !waited(f, b->thread, a->host_start, b->host_start);
}

/* Steps that begin with the device's last operation were read: add it to its stretch, or begin one with it. */
static int
settle(struct stretches *f, size_t device)
{
	struct device *d = &f->devices.p[device];
	struct launched *o = &d->last;
	struct stretch *s = &d->now;

	if (!d->any)
		return NSX_OK;
	d->any = false;
	if (o->thread == NSX_NONE)
		return close_stretch(f, device);
	if (!goes_on(f, d)) {
		if (close_stretch(f, device) != NSX_OK)
			return NSX_ERR;
		*s = (struct stretch){ .first = o->name, .program = o->program, .start = o->start, .end = o->end };
		d->cut = d->step;
	} else {
		s->starved = nsx_add_sat(s->starved, o->starved, NULL);
		s->idle = nsx_add_sat(s->idle, o->idle, NULL);
	}
	s->hash = nsx_hash_u64(s->hash ^ ((uint64_t)o->name + 1));
	s->ops++;
	s->api = nsx_add_sat(s->api, o->host_dur, NULL);
	s->end = o->end > s->end ? o->end : s->end;
	d->before = *o;
	return NSX_OK;
}

static struct device *
device_at(struct stretches *f, uint32_t device)
{
	return nsx_vec_reach(&f->devices, device, &(struct device){ .step = INT64_MIN, .cut = INT64_MIN,
	                                                            .next = INT64_MIN, .removed = NSX_REMOVED_NONE })
	       ? &f->devices.p[device] : NULL;
}

/* A gap behind the end of a period at which no step begins is what nsysx-steps --cut left out: no time of the
 * device. */
static void
leave_out(struct device *d, struct launched *o)
{
	int64_t from = o->start - o->idle;

	from = from > d->next ? from : d->next;
	if (d->next == INT64_MIN || d->step >= d->next || from >= o->start)
		return;
	d->gone += (nsx_u128)(o->start - from);
	o->idle -= o->start - from;
	o->starved = o->starved < o->idle ? o->starved : o->idle;
}

static int
take_op(struct stretches *f, const struct nsx_event *e)
{
	const struct nsx_rec *rec = e->rec;
	struct device *d = device_at(f, e->device);
	bool graph = nsx_has(rec, NSX_OP_graph_node) || nsx_str_eq(nsx_string(rec, NSX_OP_type), NSX_STR("graph"));
	bool called = nsx_has(rec, NSX_OP_host_start) && nsx_has(rec, NSX_OP_tid);

	if (!d)
		return NSX_NOMEM(f);
	if (settle(f, e->device) != NSX_OK)
		return NSX_ERR;
	f->no_call += !called && !graph;
	struct launched o = {
		.start = e->start, .end = e->end, .host_start = nsx_int(rec, NSX_OP_host_start, 0),
		.host_dur = nsx_int(rec, NSX_OP_host_dur, 0), .execution = nsx_int(rec, NSX_OP_execution, NSX_ABSENT),
		.program = nsx_has(rec, NSX_OP_program) ? nsx_cat_program(f->cat, rec) : NSX_NONE,
		.name = e->name, .thread = NSX_NONE,
		.apart = nsx_has(rec, NSX_OP_removed)
	};
	if (called && !graph) {
		o.thread = thread_of(f, nsx_int(rec, NSX_OP_profile, NSX_ABSENT), rec->v[NSX_OP_tid].i);
		if (o.thread == NSX_NONE)
			return NSX_NOMEM(f);
	}
	nsx_removed_take(&d->removed, rec);
	if (d->begun && e->start > d->busy) {
		int64_t from = nsx_removed_end(&d->removed, d->busy, e->start);

		d->gone += (nsx_u128)(from - d->busy);
		o.idle = e->start - from;
		o.starved = called ? nsx_starved(from, e->start, o.host_start + o.host_dur) : 0;
		leave_out(d, &o);
	}
	d->first = d->begun ? d->first : e->start;
	d->busy = !d->begun || e->end > d->busy ? e->end : d->busy;
	d->begun = d->any = true;
	d->last = o;
	return NSX_OK;
}

static int
take_call(struct stretches *f, const struct nsx_event *e)
{
	int64_t start = nsx_int(e->rec, NSX_CALL_start, 0);
	uint32_t thread;

	if (nsx_int(e->rec, NSX_CALL_blocking, 0) != 1)
		return NSX_OK;
	thread = thread_of(f, nsx_int(e->rec, NSX_CALL_profile, NSX_ABSENT), nsx_int(e->rec, NSX_CALL_tid, NSX_ABSENT));
	if (thread == NSX_NONE || !nsx_vec_push(&f->waits.p[thread].at, start))
		return NSX_NOMEM(f);
	return NSX_OK;
}

/* A step begins: the last operation may be its first. */
static int
take_step(struct stretches *f, const struct nsx_event *e)
{
	uint32_t at = nsx_cat_device(f->cat, e->rec);
	struct device *d = at == NSX_NONE ? NULL : device_at(f, at);
	int64_t start = nsx_int(e->rec, NSX_STEP_start, 0);

	if (!d)
		return NSX_NOMEM(f);
	if (d->any && d->last.start < start && settle(f, at) != NSX_OK)
		return NSX_ERR;
	d->step = start;
	if (nsx_has(e->rec, NSX_STEP_period)) {
		int64_t next = nsx_add_sat(start, nsx_int(e->rec, NSX_STEP_period, 0), NULL);

		next = nsx_add_sat(next, nsx_int(e->rec, NSX_STEP_removed, 0), NULL);
		d->next = next > d->next ? next : d->next;
	}
	return NSX_OK;
}

static int
stretches_take(void *state, const struct nsx_event *e)
{
	switch (e->rec->kind->id) {
	case NSX_OP:   return take_op(state, e);
	case NSX_CALL: return take_call(state, e);
	case NSX_STEP: return take_step(state, e);
	default:       return NSX_OK;
	}
}

/* ---- the table ---- */

/* Rows of stretches that a device ran twice or more. */
static int
add_rows(struct stretches *f)
{
	for (size_t i = 0; i < nsx_sums_count(&f->same); i++) {
		struct row of = *(const struct row *)nsx_sums_at(&f->same, i);

		if (of.times < 2)
			continue;
		of.device = 0;
		if (of.program != NSX_NONE) {
			struct nsx_str label = nsx_cat_program_label(f->cat, of.program);

			of.program = label.len ? nsx_intern(f->names, label) : NSX_NONE;
		}
		if (add(f, &f->rows, &of) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

/* The answer in a sentence. */
static void
tell(const struct stretches *f, struct nsx_table *t, struct nsx_diags *diags)
{
	double starved = 0, idle = 0, whole = (double)f->rows.whole;

	NSX_SUMS_EACH(const struct row, r, &f->rows) {
		starved += (double)r->starved;
		idle += (double)r->idle;
	}
	if (nsx_sums_count(&f->rows) && whole > 0)
		nsx_analysis_tell(t, diags, "capturing these stretches would save %s (%.1f%%), and at most %s "
		                  "(%.1f%%), with the latency of launches, of %s of devices from their first operation "
		                  "to their last",
		                  NSX_NS(starved), 100 * starved / whole, NSX_NS(idle), 100 * idle / whole,
		                  NSX_NS(whole));
}

static int
stretches_finish(void *state, struct nsx_table **table, struct nsx_diags *diags)
{
	struct stretches *f = state;

	f->rows = (struct nsx_sums){ .def = &def, .texts = f->names };
	for (size_t i = 0; i < f->devices.n; i++) {
		const struct device *d = &f->devices.p[i];

		if (settle(f, i) != NSX_OK || close_stretch(f, i) != NSX_OK)
			return NSX_ERR;
		f->rows.whole += d->begun ? (nsx_u128)(d->busy - d->first) - d->gone : 0;
	}
	if (add_rows(f) != NSX_OK || !(*table = nsx_sums_table(&f->rows, f->err)))
		return NSX_ERR;
	tell(f, *table, diags);
	if (!f->came[NSX_OP])
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no operations in the stream: extract with --ops --calls");
	else if (!f->came[NSX_CALL])
		nsx_diag_add(diags, NSX_WARNING, "", 1, "%s",
		             nsx_no_calls(f->cat, "no CUDA calls in the stream: where threads wait for the device is "
		                                  "not known; extract with --calls"));
	else if (!nsx_sums_count(&f->rows))
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no stretch of launches comes twice%s",
		             f->came[NSX_STEP] ? ""
		             : ": without marks of steps (nsysx-steps --mark) only waits of the host end one");
	nsx_diag_add(diags, NSX_INFO, "", f->no_call,
	             "operations whose call is not in the profile: they end stretches");
	return NSX_OK;
}

static void
stretches_free(void *state)
{
	struct stretches *f = state;

	for (size_t i = 0; i < f->waits.n; i++)
		free(f->waits.p[i].at.p);
	free(f->waits.p);
	free(f->devices.p);
	nsx_threads_free(&f->threads);
	nsx_sums_free(&f->same);
}

const struct nsx_analysis nsx_launch_stretches = {
	sizeof(struct stretches), NSX_K(OP) | NSX_K(CALL) | NSX_K(STEP), NSX_NAMED | NSX_TIMED | NSX_STATED,
	stretches_begin, stretches_need, stretches_take, stretches_finish, stretches_free
};
