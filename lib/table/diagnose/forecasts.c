/* forecasts.c -- what would findings save? The graph of nsysx-whatif answers, for the change that removes each finding;
 * and the critical path tells what sets the step. Its records come with the second reading. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/sort.h"
#include "job/remedy.h"
#include "table/diagnose/diagnose.h"

enum {
	MOST_OPS = 250000,       /* operations in a graph, so that it stays within 200 MB: of longer jobs some steps
	                          * are taken, from the middle, */
	FEW_STEPS = 4            /* and no fewer than that */
};
/* A forecast that is so many times what is lost is explained. */
#define MORE 1.05
/* A part of the path that is named, in percent. */
static const double little = 1;
/* The share of the path on one device, or on the host, from which that sets the step. */
static const double half = 0.5;
/* The share of the period that the ends of a range are apart from which on it tells nothing. */
static const double narrow = 0.05;
/* What is forecast is nothing below this share of a step. */
static const double least = 0.001;

/* ---- which steps */

/* Their numbers are [from, from + n). */
static void
take_steps(struct nsx_look_at *a, int64_t from, int64_t n)
{
	struct wi_graph *g = &a->forecasts.graph;

	for (size_t i = 0; i < a->steps.list.n; i++) {
		const struct nsx_step_of *o = &a->steps.list.p[i];
		int64_t start = a->steps.steps.p[o->step].host_start;

		if (o->class != a->class || o->number < from || o->number >= from + n)
			continue;
		start = start != NSX_ABSENT && start < o->first ? start : o->first;
		g->from = start < g->from ? start : g->from;
		g->to = o->last > g->to ? o->last : g->to;
		if (o->next != NSX_ABSENT)
			g->to = o->next + 1 > g->to ? o->next + 1 : g->to;
	}
}

void
nsx_look_forecasts_begin(struct nsx_look_at *a)
{
	struct nsx_look_forecasts *f = &a->forecasts;
	int64_t ops = 0, most = 0;

	f->graph.err = a->err;
	f->graph.from = INT64_MAX;
	f->graph.to = INT64_MIN;
	if (!a->stepped) {
		nsx_buf_c(&f->why, "no steps are known");
		return;
	}
	for (size_t i = 0; i < a->steps.list.n; i++)
		if (a->steps.list.p[i].class == a->class) {
			ops += a->steps.list.p[i].ops;
			most = a->steps.list.p[i].number > most ? a->steps.list.p[i].number : most;
		}
	most++;
	if (ops <= MOST_OPS) {
		f->graph.from = INT64_MIN;
		f->graph.to = INT64_MAX;
		return;
	}
	f->of = most;
	f->steps = (int64_t)((double)most * MOST_OPS / (double)ops);
	if (f->steps < FEW_STEPS)
		nsx_buf_fmt(&f->why, "%d steps have more than %d operations; nsysx-whatif takes any number", FEW_STEPS,
		            MOST_OPS);
	else
		take_steps(a, (most - f->steps) / 2, f->steps);
}

/* ---- the path */

/* The device on which most of it is. */
static void
set_device(struct nsx_look_forecasts *f)
{
	const struct nsx_catalogue *cat = &f->graph.pairing.comm.cat;
	uint32_t most = 0;

	for (uint32_t d = 0; d < cat->devices.n; d++)
		most = f->path.on[d] > f->path.on[most] ? d : most;
	f->device = cat->devices.n ? cat->devices.p[most].number : NSX_ABSENT;
	f->on = f->path.on[most];
}

/* Whether most of the path is on the host, so that what the device does is rarely waited for. */
static bool
host_sets_pace(const struct nsx_look_forecasts *f)
{
	const int64_t *parts = f->path.parts;

	return !f->gains.refused && f->path.all > 0
	       && (double)(parts[WI_HOST_PART] + parts[WI_UNSEEN_PART] + parts[WI_API_PART])
	          >= half * (double)f->path.all;
}

bool
nsx_look_put_path(const struct nsx_look_at *a, struct nsx_buf *to)
{
	static const char *const words[WI_NPARTS] = {
		[WI_COMPUTE] = "compute", [WI_COMM] = "transfers", [WI_COPY] = "copies", [WI_GAP_PART] = "latency",
		[WI_HOST_PART] = "the host's work", [WI_UNSEEN_PART] = "the host's work or waits in no call",
		[WI_API_PART] = "CUDA calls", [WI_UNEXPLAINED] = "not explained"
	};
	const struct nsx_look_forecasts *f = &a->forecasts;
	bool said[WI_NPARTS] = { false };
	const char *between = ": ";

	/* Of a path of which much is not known no part is named. */
	if (!f->known || f->gains.refused || f->path.all <= 0)
		return false;
	nsx_buf_c(to, "the step is set by ");
	if (a->devices.n < 2)
		nsx_buf_c(to, "a chain");
	else if ((double)f->on >= half * (double)f->path.all)
		nsx_buf_fmt(to, "device %" PRId64, f->device);
	else
		nsx_buf_fmt(to, "no single device, most by device %" PRId64, f->device);
	if (a->devices.n > 1)
		nsx_buf_fmt(to, " (%.0f%% of the critical path)", 100 * (double)f->on / (double)f->path.all);
	for (;;) {
		int most = -1;

		for (int p = 0; p < WI_NPARTS; p++)
			if (!said[p] && (most < 0 || f->path.parts[p] > f->path.parts[most]))
				most = p;
		if (most < 0 || 100 * (double)f->path.parts[most] < little * (double)f->path.all)
			break;
		said[most] = true;
		nsx_buf_fmt(to, "%s%.0f%% %s", between, 100 * (double)f->path.parts[most] / (double)f->path.all,
		            words[most]);
		between = ", ";
	}
	if (f->steps)
		nsx_buf_fmt(to, "; of %" PRId64 " of %" PRId64 " steps", f->steps, f->of);
	return true;
}

/* ---- the path of single steps, for pictures */

enum { STEP, DEVICE, ON, PART, START, DUR };
static const struct nsx_table_col path_cols[] = {
	{ "step", NSX_CELL_ID }, { "device", NSX_CELL_ID }, { "on", NSX_CELL_ID }, { "part", NSX_CELL_STRING },
	{ "start", NSX_CELL_TIME }, { "dur", NSX_CELL_NS }
};

static int
by_period(const void *pa, const void *pb)
{
	const struct nsx_step_of *a = *(const struct nsx_step_of *const *)pa;
	const struct nsx_step_of *b = *(const struct nsx_step_of *const *)pb;

	return NSX_FIRST(NSX_CMP(a->period, b->period), NSX_CMP(a, b));
}

/* The path of a step of a device, backwards. */
struct of_step { const struct wi_graph *g; int64_t step, device; NSX_VEC(struct wi_hop) list; };

static bool
keep_hop(void *state, const struct wi_hop *h)
{
	struct of_step *of = state;
	const struct wi_step *s = &of->g->steps.p[h->step];

	return s->number != of->step || of->g->pairing.comm.cat.devices.p[s->device].number != of->device
	       || nsx_vec_push(&of->list, *h);
}

/* Add the path of a step, in order of time: hops one after the other on one device, of one part, are a row. */
static bool
put_step(const struct nsx_look_at *a, const struct nsx_step_of *o, struct nsx_table *t)
{
	const struct nsx_catalogue *cat = &a->forecasts.graph.pairing.comm.cat;
	struct of_step of = { .g = &a->forecasts.graph, .step = o->number,
	                      .device = a->steps.cat.devices.p[o->device].number };
	const struct wi_hop *last = NULL;
	int64_t start = 0, dur = 0;
	bool good = nsx_wi_walk(of.g, keep_hop, &of);

	for (size_t i = of.list.n + 1; good && i-- > 0;) {
		const struct wi_hop *h = i ? &of.list.p[i - 1] : NULL;

		if (last && h && last->on == h->on && last->part == h->part && start + dur == h->start) {
			dur += h->ns;
			continue;
		}
		if (last) {
			nsx_table_row(t);
			nsx_table_int(t, STEP, o->number);
			nsx_table_int(t, DEVICE, of.device);
			nsx_table_int(t, ON, cat->devices.p[last->on].number);
			nsx_table_str(t, PART, nsx_str_c(nsx_wi_part_names[last->part]));
			nsx_table_int(t, START, start);
			nsx_table_int(t, DUR, dur);
		}
		last = h;
		start = h ? h->start : 0;
		dur = h ? h->ns : 0;
	}
	free(of.list.p);
	return good;
}

static bool
counts(const struct nsx_look_at *a, const struct nsx_step_of *o)
{
	return o->class == a->class && o->kept && o->period > 0;
}

bool
nsx_look_picks(const struct nsx_look_at *a, const struct nsx_step_of *picks[2], size_t *npicks)
{
	const struct nsx_step_of **steps = malloc((a->steps.list.n + 1) * sizeof *steps);
	size_t n = 0, slowest, median;

	*npicks = 0;
	for (size_t i = 0; steps && i < a->steps.list.n; i++)
		if (counts(a, &a->steps.list.p[i]))
			steps[n++] = &a->steps.list.p[i];
	if (n) {
		qsort(steps, n, sizeof *steps, by_period);
		median = (n + 1) / 2 - 1;
		for (slowest = n - 1; slowest && steps[slowest - 1]->period == steps[slowest]->period;)
			slowest--;
		picks[(*npicks)++] = steps[median];
		if (slowest != median)
			picks[(*npicks)++] = steps[slowest];
	}
	free(steps);
	return steps != NULL;
}

/* The steps of other devices that overlap the picked one are drawn above it. */
static struct nsx_idle_shown
shown_of(const struct nsx_look_at *a, const struct nsx_step_of *pick)
{
	struct nsx_idle_shown s = { pick->first, pick->next, pick->period / NSX_LOOK_SEEN };

	for (size_t i = 0; i < a->steps.list.n; i++) {
		const struct nsx_step_of *o = &a->steps.list.p[i];

		if (!counts(a, o) || o->next <= pick->first || o->first >= pick->next)
			continue;
		s.from = o->first < s.from ? o->first : s.from;
		s.to = o->next > s.to ? o->next : s.to;
	}
	return s;
}

bool
nsx_look_shown(const struct nsx_look_at *a, struct nsx_idle_options *o)
{
	const struct nsx_step_of *picks[2];
	int64_t from = INT64_MAX, to = INT64_MIN;

	if (!nsx_look_picks(a, picks, &o->nshown))
		return false;
	for (size_t i = 0; i < o->nshown; i++)
		o->shown[i] = shown_of(a, picks[i]);
	for (size_t i = 0; i < a->windows.n && !a->stepped; i++) {
		from = a->windows.p[i].start < from ? a->windows.p[i].start : from;
		to = a->windows.p[i].end > to ? a->windows.p[i].end : to;
	}
	if (from < to)
		o->shown[o->nshown++] =
		    (struct nsx_idle_shown){ from, to, nsx_sub_sat(to, from, NULL) / NSX_LOOK_SEEN };
	return true;
}

struct nsx_table *
nsx_look_path(const struct nsx_look_at *a)
{
	struct nsx_table *t = nsx_table_new(path_cols, sizeof path_cols / sizeof *path_cols);
	const struct nsx_step_of *picks[2];
	size_t n = 0;
	bool good = !a->forecasts.known || a->forecasts.gains.refused || nsx_look_picks(a, picks, &n);

	for (size_t i = 0; t && i < n && good; i++)
		good = put_step(a, picks[i], t);
	if (!good) {
		nsx_table_free(t);
		return NULL;
	}
	return t;
}

/* ---- forecasts of findings */

/* A change that removes several findings is the forecast of the largest of them; alone it says nothing about the
 * others. */
static bool
is_largest(const struct nsx_look_at *a, const struct nsx_finding *f)
{
	for (size_t i = 0; i < a->findings.n; i++) {
		const struct nsx_finding *x = &a->findings.p[i];

		if (x->change == f->change && (x->gain > f->gain || (x->gain == f->gain && x < f)))
			return false;
	}
	return true;
}

/* The change of a finding, and what comes of it. */
struct of_finding { struct nsx_finding *finding; char *change; };

static int
make(struct nsx_look_at *a)
{
	struct nsx_look_forecasts *f = &a->forecasts;
	int rc = nsx_wi_limits(&f->graph, a->roof);

	if (rc == NSX_OK)
		rc = nsx_wi_build(&f->graph, &a->steps, a->class);
	if (rc == NSX_OK && !f->graph.steps.n) {
		nsx_buf_c(&f->why, "no step has a period of known operations");
		return NSX_OK;
	}
	if (rc == NSX_OK)
		rc = nsx_wi_find_path(&f->graph, &f->path);
	if (rc == NSX_OK)
		set_device(f);
	return rc == NSX_OK ? nsx_wi_gains_open(&f->gains, &f->graph, &f->path) : rc;
}

/* Set the forecast of a finding from the gain of its change. A range tells something if it is narrow, or ends below
 * what is lost; else it only says that nothing is known. */
static void
set_forecast(const struct nsx_look_forecasts *f, struct nsx_finding *x, const struct wi_gain *gain, bool named)
{
	x->forecast = *gain;
	x->ranges = f->gains.refused || f->gains.doubtful;
	x->forecasts = named && !gain->none && gain->high >= -narrow * f->gains.period
	               && (gain->single || gain->high < x->gain
	                   || gain->high - gain->low <= narrow * f->gains.period);
	x->nothing = x->forecasts && gain->high < least * f->gains.period;
}

/* Whether a finding may be shown, whatever is forecast: that may be more than the gain if it is the finding's own. What
 * is exposed has a place among the late (rules.c), even if it is not. */
static bool
may_show(const struct nsx_look_at *a, const struct nsx_finding *x)
{
	return nsx_look_shows(a, x) || x->kind == NSX_FIND_EXPOSED
	       || (nsx_look_is_own(x) && !a->forecasts.gains.refused);
}

/* All changes are tried at once, once it is known whether anything can be forecast. */
static int
try_changes(struct nsx_look_at *a, struct of_finding *of, struct wi_trial *trials)
{
	struct nsx_look_forecasts *f = &a->forecasts;
	size_t n = 0;
	int rc = nsx_wi_gains(&f->gains, NULL, 0, true);

	for (size_t i = 0; i < a->findings.n && rc == NSX_OK; i++) {
		struct nsx_finding *x = &a->findings.p[i];

		if (x->change == NSX_NONE || !is_largest(a, x) || !may_show(a, x))
			continue;
		of[n].finding = x;
		of[n].change = nsx_str_dup(nsx_look_str(a, x->change));
		rc = of[n].change ? nsx_wi_plan(&trials[n].plan, f->gains.g, of[n].change)
		     : nsx_err_nomem(a->err, NULL);
		n++;
	}
	if (rc == NSX_OK)
		rc = nsx_wi_gains(&f->gains, trials, n, true);
	f->known = rc == NSX_OK;
	for (size_t i = 0; i < n; i++) {
		if (f->known)
			set_forecast(f, of[i].finding, &trials[i].gain, trials[i].plan.named);
		nsx_wi_plan_free(&trials[i].plan);
		free(of[i].change);
	}
	return rc;
}

int
nsx_look_forecast(struct nsx_look_at *a)
{
	struct nsx_look_forecasts *f = &a->forecasts;
	struct of_finding *of;
	struct wi_trial *trials;
	int rc;

	if (!f->why.len && !f->graph.calls.n)
		nsx_buf_c(&f->why, nsx_no_calls(&a->steps.cat, "no CUDA calls in the stream: extract with -a"));
	rc = f->why.len ? NSX_OK : make(a);
	if (rc != NSX_OK || f->why.len)
		return rc == NSX_OK && f->why.failed ? nsx_err_nomem(a->err, NULL) : rc;
	of = calloc(a->findings.n + 1, sizeof *of);
	trials = calloc(a->findings.n + 1, sizeof *trials);
	rc = of && trials ? try_changes(a, of, trials) : nsx_err_nomem(a->err, NULL);
	if (rc == NSX_OK)
		nsx_wi_put_doubts(&f->gains, &f->why);
	free(of);
	free(trials);
	return rc == NSX_OK && f->why.failed ? nsx_err_nomem(a->err, NULL) : rc;
}

enum { NUMBER = 32 };

static void
in_tenths(char text[NUMBER], double percent)
{
	snprintf(text, NUMBER, "%.1f", nsx_unsigned_zero(percent, 1));
}

bool
nsx_look_ranges(const struct nsx_look_at *a)
{
	double percent = 100 / a->forecasts.gains.period;
	size_t top = (size_t)a->options->top;
	bool any = false;

	for (size_t i = 0; i < a->findings.n && (!top || i < top); i++) {
		const struct nsx_finding *f = &a->findings.p[i];
		char low[NUMBER], high[NUMBER];

		if (!f->ranges)
			continue;
		in_tenths(low, f->forecast.low * percent);
		in_tenths(high, f->forecast.high * percent);
		if (!f->forecasts || (nsx_look_is_own(f) && strcmp(low, high) != 0))
			return true;
		any = true;
	}
	return !any;
}

void
nsx_look_put_forecast(const struct nsx_look_at *a, const struct nsx_finding *f, bool cell, struct nsx_buf *to)
{
	const char *before = cell ? "" : ", forecast ";
	double period = a->forecasts.gains.period, percent = period > 0 ? 100 / period : 0;
	char low[NUMBER], high[NUMBER];

	if (!f->forecasts)
		return;
	in_tenths(low, f->forecast.low * percent);
	in_tenths(high, f->forecast.high * percent);
	if (f->nothing && strcmp(high, "0.0") == 0)
		nsx_buf_fmt(to, "%snothing %s", cell ? "" : ", saves ",
		            host_sets_pace(&a->forecasts) ? "while the host sets the pace" : "by itself");
	else if (!nsx_look_is_own(f))
		nsx_buf_fmt(to, "%sat most %s%%", before, high);
	else if (strcmp(low, high) != 0)
		nsx_buf_fmt(to, "%s%s to %s%%", before, low, high);
	else
		nsx_buf_fmt(to, "%s%s%%", before, high);
	if (f->kind == NSX_FIND_BLOCKING && f->forecast.low > MORE * f->gain && f->forecast.low > 0)
		nsx_buf_c(to, ", more than is lost: the host then runs ahead, which hides other gaps");
}

void
nsx_look_forecasts_free(struct nsx_look_forecasts *f)
{
	nsx_wi_gains_free(&f->gains);
	nsx_wi_path_free(&f->path);
	nsx_wi_free(&f->graph);
	nsx_buf_free(&f->why);
}
