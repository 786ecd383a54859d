/* diagnose.c -- reads a stream for all data of the findings. Memory: that of the analyses that get its records. */
#include "table/diagnose/diagnose.h"
#include "base/sort.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "job/comm/communicates.h"
#include "job/reach.h"
#include "job/remedy.h"
#include "stream/spool.h"
#include "table/overlap.h"
#include "table/steps/rows.h"

uint32_t
nsx_look_text(struct nsx_look_at *a, struct nsx_str s)
{
	uint32_t n = nsx_intern(&a->texts, s);

	if (n == NSX_NONE)
		nsx_err_nomem(a->err, NULL);
	return n;
}

struct nsx_str
nsx_look_str(const struct nsx_look_at *a, uint32_t text)
{
	return text == NSX_NONE ? (struct nsx_str){ "", 0 } : nsx_intern_str(&a->texts, text);
}

const struct nsx_look_device *
nsx_look_device(const struct nsx_look_at *a, int64_t number)
{
	size_t lo = nsx_sort_first(a->devices.p, a->devices.n, sizeof *a->devices.p,
	                           offsetof(struct nsx_look_device, number), number);

	return lo < a->devices.n && a->devices.p[lo].number == number ? &a->devices.p[lo] : NULL;
}

bool
nsx_look_within(const struct nsx_look_at *a, int64_t device, int64_t start)
{
	return nsx_step_window_at(&a->kept, device, start) != NULL;
}

int64_t
nsx_look_rest(const struct nsx_look_at *a, int64_t device, int64_t start)
{
	const struct nsx_step_window *w = nsx_step_window_at(&a->kept, device, start);

	return w ? nsx_sub_sat(w->to, start, NULL) : -1;
}

/* ---- windows */

/* The host of the device: its name, else its profile. NSX_NONE when out of memory. */
static uint32_t
host_of(struct nsx_look_at *a, const struct nsx_cat_device *d)
{
	const struct nsx_catalogue *cat = &a->steps.cat;
	const struct nsx_cat_profile *p = d->profile == NSX_NONE ? NULL : &cat->profiles.p[d->profile];

	if (!p)
		return nsx_look_text(a, NSX_STR(""));
	return nsx_look_text(a, nsx_cat_str(cat, p->host == NSX_NONE ? p->name : p->host));
}

/* The name of its report. NSX_NONE when out of memory. */
static uint32_t
report_of(struct nsx_look_at *a, const struct nsx_cat_device *d)
{
	const struct nsx_catalogue *cat = &a->steps.cat;

	return nsx_look_text(a, d->profile == NSX_NONE ? NSX_STR("")
	                        : nsx_cat_str(cat, cat->profiles.p[d->profile].name));
}

/* Whether the step of that index in the list is one of the first of its class and device. */
static bool
is_first(const struct nsx_look_at *a, size_t at)
{
	const struct nsx_step_of *list = a->steps.list.p;

	return at < NSX_LOOK_FIRST || list[at - NSX_LOOK_FIRST].class != list[at].class
	       || list[at - NSX_LOOK_FIRST].device != list[at].device;
}

/* The periods of a window's steps. */
static bool
add_periods(struct nsx_look_at *a, const struct nsx_step_window *w)
{
	for (size_t i = w->first; i < w->first + (size_t)w->steps; i++) {
		int64_t period = a->steps.list.p[i].period;

		if (!nsx_vec_push(&a->periods, period)
		    || (is_first(a, i) && !nsx_vec_push(&a->first_periods, period)))
			return false;
	}
	return true;
}

/* Add a window to its device, which is the last one or a new one. */
static bool
add_window(struct nsx_look_at *a, const struct nsx_step_window *w)
{
	int64_t time = w->to - w->from - w->removed;

	if (!a->devices.n || a->devices.p[a->devices.n - 1].number != w->number) {
		uint32_t host = host_of(a, &a->steps.cat.devices.p[w->device]);
		uint32_t report = report_of(a, &a->steps.cat.devices.p[w->device]);
		struct nsx_look_device d = { w->number, 0, 0, NSX_NONE, host, report };

		if (host == NSX_NONE || report == NSX_NONE || !nsx_vec_push(&a->devices, d))
			return false;
	}
	a->time += (nsx_u128)time;
	a->count += w->steps;
	a->devices.p[a->devices.n - 1].time += time;
	a->devices.p[a->devices.n - 1].periods += w->steps;
	return nsx_vec_push(&a->windows, ((struct nsx_window_given){ w->number, w->from, w->to,
	                                                           (int64_t)a->devices.n - 1, NSX_NONE }))
	       && (!a->stepped || add_periods(a, w));
}

static int
make_windows(struct nsx_look_at *a)
{
	bool good = nsx_step_windows(&a->steps, &a->kept) == NSX_OK;

	a->class = a->kept.class;
	a->stepped = a->class != NSX_NONE;
	nsx_look_other(a);
	for (size_t i = 0; good && i < a->kept.list.n; i++)
		good = add_window(a, &a->kept.list.p[i]);
	if (good && a->periods.n > 1)
		qsort(a->periods.p, a->periods.n, sizeof *a->periods.p, nsx_sort_by_int);
	a->period = a->count ? (double)a->time / (double)a->count : 0;
	return good ? NSX_OK : nsx_err_nomem(a->err, NULL);
}

/* ---- the second reading: counts, diags, initialisation */

/* Whether nsysx-warmup classifies this execution as initialisation: see docs/man/nsysx-warmup.1. */
static bool
initialises(const struct nsx_look_at *a, const struct nsx_rec *module)
{
	struct nsx_key key = { (uint64_t)nsx_int(module, NSX_MODULE_profile, NSX_ABSENT),
	                       (uint64_t)nsx_int(module, NSX_MODULE_program, NSX_ABSENT) };
	int64_t execution = nsx_int(module, NSX_MODULE_execution, NSX_ABSENT);

	return execution != NSX_ABSENT
	       && execution < (int64_t)a->any_comm + (nsx_map_get(&a->compiled, key) != NSX_NONE);
}

/* Data for recognising initialisation: compilations, and whether anything communicates. */
static int
take_setup(struct nsx_look_at *a, const struct nsx_rec *rec)
{
	uint32_t *at;

	if (rec->kind->id == NSX_INST)
		a->any_comm |= nsx_comm_says(rec);
	if (rec->kind->id != NSX_COMPILE || !nsx_has(rec, NSX_COMPILE_program))
		return NSX_OK;
	at = nsx_map_at(&a->compiled, (struct nsx_key){ (uint64_t)nsx_int(rec, NSX_COMPILE_profile, NSX_ABSENT),
	                                                (uint64_t)rec->v[NSX_COMPILE_program].i });
	if (!at)
		return nsx_err_nomem(a->err, NULL);
	*at = 1;
	return NSX_OK;
}

/* What nsys says about the recording. */
static int
take_diag(struct nsx_look_at *a, const struct nsx_rec *diag)
{
	int64_t count = nsx_int(diag, NSX_DIAG_count, 1);

	if (!nsx_str_eq(nsx_string(diag, NSX_DIAG_source), NSX_STR(NSX_DIAG_OF_NSYS)))
		return NSX_OK;
	a->text.len = 0;
	nsx_buf_str(&a->text, nsx_string(diag, NSX_DIAG_text));
	if (count > 1)
		nsx_buf_fmt(&a->text, " (%" PRId64 ")", count);
	uint32_t text = a->text.failed ? (uint32_t)NSX_NONE : nsx_look_text(a, nsx_buf_view(&a->text));

	return text != NSX_NONE && nsx_vec_push(&a->warnings, text) ? NSX_OK : nsx_err_nomem(a->err, NULL);
}

static void
need_counts(void *state, struct nsx_reader *in)
{
	(void)state;
	nsx_reader_need(in, NSX_DIAG, NSX_EVERY);
	nsx_event_need(in, NSX_CALL);
	nsx_reader_need(in, NSX_CALL, NSX_C(CALL, profile) | NSX_C(CALL, pid) | NSX_C(CALL, start) | NSX_C(CALL, dur)
	                              | NSX_C(CALL, blocking));
	nsx_event_need(in, NSX_COMPILE);
	nsx_reader_need(in, NSX_COMPILE, NSX_C(COMPILE, profile));
	/* A compilation of an unknown program tells nothing, and no other analysis reads compilations. */
	nsx_reader_need_value(in, NSX_COMPILE, NSX_COMPILE_program);
	nsx_event_need(in, NSX_MODULE);
	nsx_reader_need(in, NSX_MODULE, NSX_C(MODULE, profile) | NSX_C(MODULE, program) | NSX_C(MODULE, execution));
	nsx_event_need(in, NSX_THUNK);
	nsx_event_need(in, NSX_OP);
	nsx_reader_need(in, NSX_OP, NSX_C(OP, stream) | NSX_C(OP, graph_node) | NSX_C(OP, op));
}

static int
count_op(struct nsx_look_at *a, const struct nsx_event *e)
{
	a->ops++;
	if (e->end != NSX_ABSENT && !nsx_overruns_take_op(&a->overruns, (uint64_t)e->number, e->rec))
		return nsx_err_nomem(a->err, NULL);
	if (e->type == NSX_TYPE_GRAPH) {
		int64_t dur = nsx_int(e->rec, NSX_OP_dur, 0), rest = e->window->to - e->start;

		a->graphs++;
		a->graph_ns = nsx_add_sat(a->graph_ns, dur < rest ? dur : rest, NULL);
	}
	return NSX_OK;
}

static int
take_counts(void *state, const struct nsx_event *e)
{
	struct nsx_look_at *a = state;

	switch (e->rec->kind->id) {
	case NSX_DIAG: return take_diag(a, e->rec);
	case NSX_CALL:
		a->calls += e->reaches;
		return e->reaches ? nsx_look_take_wait(a, e->rec) : NSX_OK;
	case NSX_OP:   return e->window ? count_op(a, e) : NSX_OK;
	case NSX_THUNK:
		a->thunks += e->window != NULL;
		return NSX_OK;
	case NSX_MODULE:
		a->initialises |= e->window && initialises(a, e->rec);
		return NSX_OK;
	default:
		return take_setup(a, e->rec);
	}
}

static const struct nsx_analysis counts = {
	0, NSX_K(DIAG) | NSX_K(CALL) | NSX_K(OP) | NSX_K(THUNK) | NSX_K(MODULE) | NSX_K(INST) | NSX_K(COMPILE), true,
	NULL, need_counts, take_counts, NULL, NULL
};

/* ---- ranges, of which only the times are looked at where marks tell what the host did */

static void
need_ranges(void *state, struct nsx_reader *in)
{
	(void)state;
	nsx_reach_need(in, NSX_RANGE);
	nsx_reader_need_value(in, NSX_RANGE, NSX_RANGE_start);
}

static int
take_range(void *state, const struct nsx_event *e)
{
	((struct nsx_look_at *)state)->beyond += !nsx_in_reach(e->rec);
	return NSX_OK;
}

static int
take_ranges(void *state, const struct nsx_run *run)
{
	struct nsx_look_at *a = state;

	/* Of a block all at once, since it does not matter what is between them. */
	if (a->ranges_block == run->texts.block)
		return NSX_OK;
	a->ranges_block = run->texts.block;
	for (size_t i = run->from; i < run->n; i++)
		a->beyond += !nsx_run_in_reach(run, i);
	return NSX_OK;
}

static int
begin_ranges(void *state, const void *options, const struct nsx_analysis_at *at)
{
	(void)state;
	(void)options;
	*at->runs = (struct nsx_run_kinds){ NSX_K(RANGE), 0, take_ranges };
	return NSX_OK;
}

static const struct nsx_analysis ranges = {
	0, NSX_K(RANGE), false, begin_ranges, need_ranges, take_range, NULL, NULL
};

/* ---- what devices did in steps, which the first reading took from marks */

static void
need_times(void *state, struct nsx_reader *in)
{
	(void)state;
	nsx_event_need(in, NSX_OP);
	nsx_reader_need(in, NSX_OP, NSX_C(OP, removed));
}

static int
take_times(void *state, const struct nsx_event *e)
{
	struct nsx_step_set *s = state;
	uint32_t device;

	if (!e->reaches || e->end == NSX_ABSENT || e->number == NSX_ABSENT)
		return NSX_OK;
	device = nsx_cat_find_device(&s->cat, e->number);
	return device == NSX_NONE ? NSX_OK : nsx_steps_take_time(s, device, e->part, e->start, e->end, e->rec);
}

static int
finish_times(void *state, struct nsx_table **table, struct nsx_diags *diags)
{
	(void)table;
	(void)diags;
	return nsx_steps_finish_times(state);
}

static const struct nsx_analysis times = { 0, NSX_K(OP), true, NULL, need_times, take_times, finish_times, NULL };

/* ---- and idle/ on the windows */

/* The state of idle/ comes first: nsx_look_at.idle is this. */
struct looking { struct idle idle; const struct nsx_look_at *at; const struct nsx_reader *in; };

static int
begin_idle(void *state, const void *options, const struct nsx_analysis_at *at)
{
	struct looking *l = state;
	struct idle *f = &l->idle;
	const struct nsx_look_at *a = l->at = options;
	const struct nsx_idle_options *o = &a->idle_options;

	f->options = o;
	f->err = at->err;
	f->cat = at->cat;
	for (size_t i = 0; i < o->ngiven; i++)
		if (!nsx_vec_push(&f->within, o->given[i]))
			return nsx_err_nomem(at->err, NULL);
	if (nsx_idle_begin(f) != NSX_OK)
		return NSX_ERR;
	f->finder.marked = a->marked;
	f->finder.uncounted = a->marked && !a->hosts;
	return NSX_OK;
}

static void
need_idle(void *state, struct nsx_reader *in)
{
	struct looking *l = state;

	l->in = in;
	nsx_idle_need(&l->idle, in);
}

static int
take_idle(void *state, const struct nsx_event *e)
{
	struct idle *f = state;

	return e->reaches ? nsx_idle_take_known(f, e->rec, e->device, e->communicates) : NSX_OK;
}

static int
finish_idle(void *state, struct nsx_table **table, struct nsx_diags *diags)
{
	struct looking *l = state;
	struct idle *f = &l->idle;

	(void)table;
	f->diags = diags;
	f->finder.beyond = l->at->reading.beyond + l->at->beyond;
	if (f->finder.uncounted) {
		f->finder.calls = l->at->calls;
		f->finder.host_only = nsx_reader_lacking(l->in, NSX_RANGE);
	}
	return nsx_idle_finish(f) == NSX_OK ? nsx_idle_report(f) : NSX_ERR;
}

static void
free_idle(void *state)
{
	nsx_idle_free(state);
}

static const struct nsx_analysis idle = {
	sizeof(struct looking), ~NSX_K_METADATA, true, begin_idle, need_idle, take_idle, finish_idle, free_idle
};
/* The same if marks tell what the host did. */
static const struct nsx_analysis idle_of_marks = {
	sizeof(struct looking), NSX_K(OP) | NSX_K(IDLE) | NSX_K(OVERHEAD) | NSX_K(DIAG), true,
	begin_idle, need_idle, take_idle, finish_idle, free_idle
};

static void
add_up(struct nsx_look_at *a)
{
	for (size_t i = 0; i < a->idle->windows.n; i++) {
		const struct idle_window *w = &a->idle->windows.p[i];

		if (!w->length || w->key < 0 || (size_t)w->key >= a->devices.n)
			continue;
		a->devices.p[w->key].window = (uint32_t)i;
		for (int c = 0; c < NSX_IDLE_CELLS; c++)
			a->cells[c] += (nsx_u128)w->cells[c].ns;
		for (int c = 0; c < NSX_NCAUSES; c++)
			a->blocked[c] += (nsx_u128)w->cells[nsx_cause_cell((enum nsx_cause)c)].blocked;
	}
}

/* An analysis of the second reading: of the windows only (`steps`), or of all. Rules report themselves what they miss
 * of most. */
static struct nsx_analysis_run *
add_run(struct nsx_look_at *a, const struct nsx_analysis *is, const void *options, void *state, bool steps)
{
	struct nsx_analysis_run *r = &a->runs[a->nruns++];

	assert(a->nruns <= NSX_LOOK_RUNS);
	*r = (struct nsx_analysis_run){ .is = is, .options = options, .state = state, .steps = steps, .sums = true };
	return r;
}

static int
look(struct nsx_look_at *a, struct nsx_reader *in)
{
	static const struct nsx_copies_options copies = { .in_windows = true }, all_copies = { .minor = true };
	static const struct nsx_roofline_options roof = { .words = false };
	bool brief = a->marked && !a->hosts;   /* marks tell what the host did, and nothing else looks at it */
	struct nsx_analysis_run *of_idle, *of_copies, *of_launch, *of_roof, *of_overlap, *whole = NULL;
	int rc;

	a->idle_options = (struct nsx_idle_options){
		.by = NSX_WINDOWS_GIVEN, .form = NSX_IDLE_VERDICT, .latency = NSX_IDLE_LATENCY, .given = a->windows.p,
		.ngiven = a->windows.n, .gaps = a->options->gaps > 0, .list = a->options->gaps,
		.steps = a->options->gaps > 0, .heard = nsx_look_heard,
		.passed = nsx_look_passed, .hearer = &a->host
	};
	if (a->options->gaps > 0 && !nsx_look_shown(a, &a->idle_options))
		return nsx_err_nomem(a->err, NULL);
	a->comm.at = a;
	nsx_look_forecasts_begin(a);
	a->kins.at = a;
	/* Before idle/, which asks it. */
	if (a->hosts)
		add_run(a, &nsx_look_host, NULL, &a->host, false)->sums = false;
	of_idle = add_run(a, brief ? &idle_of_marks : &idle, a, NULL, false);
	of_idle->sums = false;
	add_run(a, &counts, NULL, a, false);
	add_run(a, &nsx_look_collectives, NULL, &a->comm, false);
	of_copies = add_run(a, &nsx_copies_analysis, &copies, NULL, false);
	of_launch = add_run(a, &nsx_launch_sums, NULL, NULL, true);
	of_roof = add_run(a, &nsx_roofline_analysis, &roof, NULL, true);
	add_run(a, &nsx_look_names, NULL, a, true);
	if (!a->forecasts.why.len)
		add_run(a, &nsx_wi_events, NULL, &a->forecasts.graph, false);
	add_run(a, &nsx_look_families, NULL, &a->kins, true);
	of_overlap = add_run(a, &nsx_overlap_analysis, NULL, NULL, true);
	if (a->steps.brief)
		add_run(a, &times, NULL, &a->steps, false);
	if (brief)
		add_run(a, &ranges, NULL, a, false);
	if (a->options->gaps > 0) {
		whole = add_run(a, &nsx_copies_analysis, &all_copies, NULL, false);
		whole->sums = false;
		whole->diags = &a->of_copies;
	}
	a->reading = (struct nsx_analyses){ .runs = a->runs, .n = a->nruns, .windows = &a->kept,
	                                    .cat.keep = NSX_CAT_NAMES | NSX_CAT_COSTS };
	rc = nsx_analyse(&a->reading, in, NULL, a->diags, a->err);
	a->idle = of_idle->state;
	if (rc != NSX_OK)
		return rc;
	a->idle->diags = a->diags;
	a->copies = of_copies->state;
	a->all_copies = whole;
	a->launch = of_launch->state;
	a->roof = of_roof->state;
	a->overlap = of_overlap->state;
	add_up(a);
	return NSX_OK;
}

static void
free_all(struct nsx_look_at *a)
{
	nsx_steps_free(&a->steps);
	nsx_analyses_free(&a->reading);
	nsx_diags_free(&a->of_copies);
	nsx_intern_free(&a->texts);
	nsx_look_kins_free(&a->kins);
	nsx_look_waits_free(&a->waits);
	nsx_map_free(&a->layout_of);
	free(a->roofed.p);
	free(a->moves.p);
	free(a->kernel_of.p);
	free(a->kernel_times.p);
	free(a->paces.list.p);
	free(a->slow.p);
	free(a->kept.list.p);
	nsx_overruns_free(&a->overruns);
	nsx_map_free(&a->compiled);
	nsx_buf_free(&a->text);
	nsx_buf_free(&a->subject);
	nsx_buf_free(&a->named);
	nsx_look_forecasts_free(&a->forecasts);
	nsx_buf_free(&a->command);
	nsx_buf_free(&a->others);
	nsx_buf_free(&a->turns);
	free(a->layouts.p);
	free(a->insts.p);
	free(a->devices.p);
	free(a->windows.p);
	free(a->periods.p);
	free(a->first_periods.p);
	free(a->findings.p);
	free(a->warnings.p);
}

static int
print(struct nsx_look_at *a, struct nsx_diagnosis *d)
{
	if (a->options->all) {
		d->table = nsx_look_findings(a);
		d->where = nsx_look_where(a);
		d->steps = nsx_steps_table(&a->steps, true);
		if (!d->table || !d->where || !d->steps)
			return nsx_err_nomem(a->err, NULL);
		if (a->options->gaps > 0) {
			d->idle = nsx_idle_table(a->idle);
			d->gaps = nsx_idle_list_table(a->idle);
			d->path = nsx_look_path(a);
			d->copies = a->all_copies->table;
			a->all_copies->table = NULL;
			d->of_copies = a->of_copies;
			a->of_copies = (struct nsx_diags){ .failed = false };
			if (!d->idle || !d->gaps || !d->path)
				return nsx_err_nomem(a->err, NULL);
		}
		return nsx_look_screen(a, true, &d->text);
	}
	switch (a->options->form) {
	case NSX_DIAGNOSE_FINDINGS: d->table = nsx_look_findings(a); break;
	case NSX_DIAGNOSE_WHERE:    d->table = nsx_look_where(a); break;
	case NSX_DIAGNOSE_SCREEN:
	case NSX_DIAGNOSE_MARKDOWN:
		return nsx_look_screen(a, a->options->form == NSX_DIAGNOSE_MARKDOWN, &d->text);
	}
	return d->table ? NSX_OK : nsx_err_nomem(a->err, NULL);
}

/* Whether the stream, which has been read, has records of the kind. */
static bool
has_kind(const struct nsx_reader *in, enum nsx_kind_id kind)
{
	int n;
	const struct nsx_kind *const *kinds = nsx_reader_kinds(in, &n);

	for (int i = 0; i < n; i++)
		if (kinds[i]->id == kind)
			return true;
	return false;
}

/* Of a stream without work each analysis reports what it lacks, by its own option: one reason is enough. What was
 * ignored or assumed remains. */
static void
give_one_reason(struct nsx_look_at *a)
{
	nsx_diags_drop_lacks(a->diags);
	nsx_diag_add(a->diags, NSX_WARNING, "", 1, "no GPU work in the stream: %s",
	             nsx_remedy(&a->steps.cat, NSX_LACK_WORK));
}

/* marked: idle time is that of marks; *misfit: they do not fit, which is an error. */
static int
diagnose(struct nsx_reader *in, const struct nsx_diagnose_options *options, bool marked, bool *misfit,
         struct nsx_diagnosis *d, struct nsx_diags *diags, struct nsx_err *err)
{
	struct nsx_look_at a = { .options = options, .err = err, .diags = diags, .class = NSX_NONE,
	                         .kept = { .class = NSX_NONE }, .marked = marked };
	struct nsx_steps_options steps = { .step = options->step, .module = options->module,
	                                   .require = options->require, .brief = marked };
	struct nsx_spool *spool = nsx_spool_open_all(in, err);
	struct nsx_reader *again = NULL;
	int rc;

	/* The second reading uses nearly all records, which are spooled unless the stream can be read again. */
	for (enum nsx_kind_id k = 0; k < NSX_NKINDS; k++)
		if (spool && nsx_spool_keeps(spool) && k != NSX_COLLECTIVE)
			nsx_reader_need(in, k, NSX_EVERY);
	nsx_reader_need(in, NSX_DIAG, NSX_EVERY);
	rc = spool ? nsx_steps_collect(in, &steps, &a.steps, spool, diags, err) : NSX_ERR;

	*d = (struct nsx_diagnosis){ .table = NULL };
	a.hosts = rc == NSX_OK && has_kind(in, NSX_THREAD);
	if (rc == NSX_OK)
		rc = make_windows(&a);
	if (rc == NSX_OK)
		/* What the first reading did not look at is not known to be in order. */
		rc = (again = nsx_spool_reader_of(spool, a.steps.brief ? NSX_READ_ORDERED : 0)) ? look(&a, again)
		     : NSX_ERR;
	nsx_reader_close(again);
	nsx_spool_free(spool);
	if (rc == NSX_OK)
		rc = nsx_look_pace(&a);
	a.unsteady = nsx_reader_unsteady(in);
	if (rc == NSX_OK)
		rc = nsx_look_judge(&a);
	if (rc == NSX_OK)
		rc = print(&a, d);
	if (rc == NSX_OK && a.forecasts.known)
		nsx_wi_say_partial(&a.forecasts.gains, diags);
	d->diags = nsx_reader_diags(in);
	/* What came and does not count is not lacking. */
	if (rc == NSX_OK && !nsx_look_any_work(&a)) {
		if (nsx_look_came(&a, NSX_OP) || nsx_look_came(&a, NSX_THUNK))
			nsx_diags_drop_lacks(diags);
		else
			give_one_reason(&a);
	}
	*misfit = rc != NSX_OK && a.idle && a.idle->finder.misfit;
	free_all(&a);
	if (rc != NSX_OK)
		nsx_diagnosis_free(d);
	return rc;
}

/* Some marks may not fit, as the last ones: then all of the file is read once more, without them. */
static int
diagnose_marked(struct nsx_reader *in, const struct nsx_diagnose_options *options, struct nsx_diagnosis *d,
                struct nsx_diags *diags, struct nsx_err *err)
{
	struct nsx_diags own = { .failed = false };
	struct nsx_err why = { "" };
	struct nsx_spool *spool = nsx_spool_open_all(in, err);
	struct nsx_reader *again = NULL;
	bool misfit = false;
	int rc = spool ? diagnose(in, options, true, &misfit, d, &own, &why) : NSX_ERR;

	if (misfit) {
		again = nsx_spool_reader_of(spool, NSX_READ_ORDERED);
		rc = again ? diagnose(again, options, false, &misfit, d, diags, err) : NSX_ERR;
	} else {
		nsx_diags_join(diags, &own);
		if (rc != NSX_OK && spool)
			nsx_err_set(err, "%s", why.msg);
	}
	nsx_reader_close(again);
	nsx_spool_free(spool);
	nsx_diags_free(&own);
	return rc;
}

int
nsx_diagnose(struct nsx_reader *in, const struct nsx_diagnose_options *options, struct nsx_diagnosis *d,
             struct nsx_diags *diags, struct nsx_err *err)
{
	bool misfit;

	*d = (struct nsx_diagnosis){ .table = NULL };
	return nsx_idle_is_marked(in, true) ? diagnose_marked(in, options, d, diags, err)
	                                    : diagnose(in, options, false, &misfit, d, diags, err);
}

void
nsx_diagnosis_free(struct nsx_diagnosis *d)
{
	nsx_table_free(d->table);
	nsx_table_free(d->where);
	nsx_table_free(d->steps);
	nsx_table_free(d->idle);
	nsx_table_free(d->gaps);
	nsx_table_free(d->path);
	nsx_table_free(d->copies);
	nsx_diags_free(&d->of_copies);
	nsx_buf_free(&d->text);
}
