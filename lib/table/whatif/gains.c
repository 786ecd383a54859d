/* gains.c -- see gains.h. */
#include "table/whatif/gains.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "job/remedy.h"

/* Shares above which there are no forecasts, or only ranges. */
struct limits { double unexplained, off, unrelated, unseen, unpaired, late, blind, idle; };
static const struct limits refused = { 0.1, 0.05, 0.05, 0.4, 0.1, 0.1, 0.1, INFINITY },
                           doubtful = { 0.01, 0.015, 0.02, 0.1, 0.01, 0.01, 0.01, WI_IDLE };

/* The share of the period that the ends of a range are apart from which on no number stands for it. */
static const double wide = 0.05;

static bool
exceeds(const struct wi_gains *w, const struct limits *l)
{
	return w->unexplained > l->unexplained || w->off > l->off || w->unrelated > l->unrelated
	       || w->unseen > l->unseen || w->unpaired > l->unpaired || w->late > l->late
	       || w->blind > l->blind || w->idle > l->idle;
}

/* Some trials, whose plans are swept over together: n <= nsx_wi_at_once. */
struct batch {
	struct wi_gains *w;
	struct wi_trial *trials;
	size_t   n;
	bool     plain;          /* what they save with constant latencies is not known yet */
	int64_t *bounds;         /* of steps, room for those of a plan */
	const struct wi_plan *plans[WI_TOGETHER];
	struct wi_together together;
};

static bool
make_times(struct wi_gains *w)
{
	if (!w->times)
		w->times = nsx_large_array(wi_large(w->g), 2 * nsx_wi_at_once(w->g) * w->g->nevents, sizeof *w->times);
	return w->times || nsx_err_nomem(w->g->err, NULL) == NSX_OK;
}

/* The period as measured, without the devices that a plan leaves out; those in w->without. */
static double
period_of(struct wi_gains *w, const struct wi_trial *t, const bool **without)
{
	*without = nsx_wi_plan_without(&t->plan, w->without) ? w->without : NULL;
	return *without ? nsx_wi_period(w->g, NULL, *without) : w->period;
}

/* What the k-th trial saves with these times. */
static double
saved_by(const struct batch *b, size_t k, const int64_t *times)
{
	const bool *without;
	double period = period_of(b->w, &b->trials[k], &without);

	nsx_wi_bounds(b->w->g, times, b->together.n, k, b->bounds);
	return period - nsx_wi_period(b->w->g, b->bounds, without);
}

static void
set_plain(struct wi_gain *x, double saved)
{
	*x = (struct wi_gain){ .saved = saved, .low = saved, .high = saved, .single = true };
}

/* What constant latencies tell, and what heeds contention. */
static int
heed(struct batch *b)
{
	struct wi_gains *w = b->w;
	bool contended = w->contention.shares.k > 0;

	if (!b->plain && !contended)
		return NSX_OK;
	if (!make_times(w))
		return NSX_ERR;
	nsx_wi_sweep(&b->together, NULL, w->times);
	for (size_t k = 0; k < b->n && b->plain; k++)
		set_plain(&b->trials[k].gain, saved_by(b, k, w->times));
	if (!contended)
		return NSX_OK;
	nsx_wi_contention_sweep(&w->contention, &b->together, w->refused, w->times);
	for (size_t k = 0; k < b->n; k++) {
		struct wi_gain *x = &b->trials[k].gain;
		double plain = x->saved;

		x->saved = saved_by(b, k, w->times);
		x->low = fmin(plain, x->saved);
		x->high = fmax(plain, x->saved);
	}
	return NSX_OK;
}

/* Nothing is known of the host without its calls. */
static bool
is_of_host(const struct wi_plan *p)
{
	return nsx_wi_plan_is(p, WI_HOST) || nsx_wi_plan_is(p, WI_API) || nsx_wi_plan_is(p, WI_NO_SYNC)
	       || nsx_wi_plan_is(p, WI_NO_PROFILER);
}

/* How many times as long a change may make an event take, at least 1; INFINITY: nobody knows. */
static double
slows(const struct wi_plan *p)
{
	const struct wi_change *c = &p->change;
	double most = c->what == WI_BANDWIDTH ? INFINITY : c->what != WI_LIMIT && c->k > 0 && c->k < 1 ? 1 / c->k : 1;

	for (size_t i = 0; i < p->nparts; i++)
		most *= slows(&p->parts[i]);
	return most;
}

/* Whether no job has such a range: one that saves more than the period, or makes it longer by more than that, and than
 * what the change slows can do. Then what waited for what was misjudged, and nothing is known. */
static bool
is_absurd(const struct wi_trial *t, double period)
{
	return t->gain.high > period || -t->gain.low > period * slows(&t->plan);
}

/* The ranges of gains where something is not known. */
static int
span(struct batch *b)
{
	struct wi_gains *w = b->w;

	if (!make_times(w) || (!w->spans.g && nsx_wi_spans_begin(&w->spans, w->g, w->path) != NSX_OK))
		return NSX_ERR;
	nsx_wi_spans_sweep(&w->spans, &b->together, w->times, w->times + b->together.n * w->g->nevents);
	for (size_t k = 0; k < b->n; k++) {
		struct wi_trial *t = &b->trials[k];
		struct wi_gain *x = &t->gain;
		/* What heeding contention adds. */
		double more = x->saved > x->low ? x->high - x->low : x->low - x->high;
		const bool *without;

		for (size_t latest = 0; latest < 2; latest++) {
			double saved = saved_by(b, k, w->times + latest * b->together.n * w->g->nevents);

			x->low = fmin(x->low, saved + fmin(more, 0));
			x->high = fmax(x->high, saved + fmax(more, 0));
		}
		if (w->hostless)
			x->low = fmin(x->low, 0);
		x->none = (w->hostless && is_of_host(&t->plan)) || is_absurd(t, period_of(w, t, &without));
	}
	return NSX_OK;
}

/* Where something is not known: whether a number stands for the range. */
static bool
is_single(const struct wi_gains *w, const struct wi_gain *x, double period)
{
	return !x->none && !w->refused && (!w->hidden || x->high - x->low <= wide * period);
}

/* Whether there are forecasts, by what the period seems to be shorter by if latencies are constants. */
static void
judge(struct wi_gains *w, double shorter)
{
	w->judged = true;
	w->model = (struct wi_gain){ shorter, shorter, shorter, true, false };
	w->off = w->period > 0 ? fabs(shorter / w->period) : 0;
	w->hidden = w->late > doubtful.late || w->blind > doubtful.blind || w->idle > doubtful.idle;
	w->refused = w->hostless || exceeds(w, &refused);
	w->doubtful = !w->refused && exceeds(w, &doubtful);
}

/* What trials save beyond what constant latencies tell: heed contention, and what is not known. */
static int
refine(struct batch *b, bool unknown)
{
	struct wi_gains *w = b->w;
	int rc;

	for (size_t k = 0; k < b->n; k++)
		b->plans[k] = &b->trials[k].plan;
	rc = nsx_wi_together_kept(&b->together, w->g, b->plans, b->n);
	if (rc == NSX_OK)
		rc = heed(b);
	if (unknown && rc == NSX_OK)
		rc = span(b);
	for (size_t k = 0; k < b->n && rc == NSX_OK; k++) {
		struct wi_trial *t = &b->trials[k];
		const bool *without;

		/* Who waits for whom in them was guessed. */
		if (w->g->guessed && nsx_wi_plan_is(&t->plan, WI_NOWAIT))
			t->gain.low = fmin(t->gain.low, 0);
		if (unknown)
			t->gain.single = is_single(w, &t->gain, period_of(w, t, &without));
	}
	nsx_wi_together_free(&b->together);
	return rc;
}

/* Judge by the times of all events, which there is room for. */
static int
judge_model(struct wi_gains *w, int64_t *bounds)
{
	const struct wi_graph *g = w->g;
	struct wi_plan model;
	const struct wi_plan *plan = &model;
	struct wi_together one;

	if (!make_times(w))
		return NSX_ERR;
	nsx_wi_plan_model(&model, g);
	nsx_wi_together(&one, g, &plan, 1);
	nsx_wi_sweep(&one, NULL, w->times);
	nsx_wi_together_free(&one);
	nsx_wi_plan_free(&model);
	nsx_wi_bounds(g, w->times, 1, 0, bounds);
	judge(w, w->period - nsx_wi_period(g, bounds, NULL));
	return NSX_OK;
}

/* What trials save with constant latencies, in slots. */
static int
replay(struct wi_gains *w, struct wi_trial *trials, size_t n, int64_t *bounds)
{
	enum { TOGETHER = WI_TOGETHER - 1 };
	const struct wi_graph *g = w->g;
	const struct wi_plan *plans[TOGETHER + 1];
	struct wi_plan model;
	int rc = w->slots.g ? NSX_OK : nsx_wi_slots_begin(&w->slots, g);

	nsx_wi_plan_model(&model, g);
	for (size_t i = 0, some; (i < n || !w->judged) && rc == NSX_OK; i += some) {
		some = n - i < TOGETHER ? n - i : TOGETHER;
		for (size_t k = 0; k < some; k++)
			plans[k] = &trials[i + k].plan;
		plans[some] = &model;
		rc = nsx_wi_replay(g, &w->slots, plans, some + !w->judged, bounds);
		if (rc == NSX_OK && !w->judged)
			judge(w, w->period - nsx_wi_period(g, bounds + some * 2 * g->steps.n, NULL));
		for (size_t k = 0; k < some && rc == NSX_OK; k++) {
			const bool *without;
			double period = period_of(w, &trials[i + k], &without);

			set_plain(&trials[i + k].gain,
			          period - nsx_wi_period(g, bounds + k * 2 * g->steps.n, without));
		}
	}
	return rc;
}

int
nsx_wi_gains(struct wi_gains *w, struct wi_trial *trials, size_t n, bool ranges)
{
	const struct wi_graph *g = w->g;
	int64_t *bounds = malloc((WI_TOGETHER * 2 * g->steps.n + 1) * sizeof *bounds);
	size_t each = nsx_wi_at_once(g);
	/* The sweeps for ranges are over all at once, too: one more is less than to replay them. Of a large graph that
	 * would be times of each event twice. */
	bool plain = ranges && each == WI_AT_ONCE && n <= each;
	int rc = bounds ? NSX_OK : nsx_err_nomem(g->err, NULL);

	if (rc == NSX_OK && !plain)
		rc = replay(w, trials, n, bounds);
	else if (rc == NSX_OK && !w->judged)
		rc = judge_model(w, bounds);
	for (size_t i = 0; i < n && ranges && rc == NSX_OK; i += each)
		rc = refine(&(struct batch){ .w = w, .trials = trials + i, .n = n - i < each ? n - i : each,
		                             .plain = plain, .bounds = bounds },
		            (w->refused || w->doubtful) && g->steps.n);
	free(bounds);
	return rc;
}

static double
share(const struct wi_path *path, int64_t ns)
{
	return path->all > 0 ? (double)ns / (double)path->all : 0;
}

int
nsx_wi_gains_open(struct wi_gains *w, const struct wi_graph *g, const struct wi_path *path)
{
	*w = (struct wi_gains){ .g = g, .path = path };
	/* Of a large graph they will be needed, and are given meanwhile. */
	if (nsx_wi_at_once(g) < WI_AT_ONCE && nsx_wi_slots_begin(&w->slots, g) != NSX_OK)
		return NSX_ERR;
	w->period = nsx_wi_period(g, NULL, NULL);
	w->hostless = !g->calls.n && !nsx_cat_on_cpu(&g->pairing.comm.cat);
	w->unexplained = share(path, path->parts[WI_UNEXPLAINED]);
	w->unseen = share(path, path->parts[WI_UNSEEN_PART]);
	w->late = share(path, path->late);
	w->blind = path->blind;
	w->idle = path->idle;
	w->unpaired = share(path, path->unpaired);
	if (nsx_wi_contention_begin(&w->contention, g) != NSX_OK)
		return NSX_ERR;
	w->without = calloc(g->pairing.comm.cat.devices.n + 1, sizeof *w->without);
	if (!w->without)
		return nsx_err_nomem(g->err, NULL);
	w->unrelated = g->queued ? (double)g->unrelated / (double)g->queued : 0;
	return NSX_OK;
}

int
nsx_wi_gains_begin(struct wi_gains *w, const struct wi_graph *g, const struct wi_path *path)
{
	int rc = nsx_wi_gains_open(w, g, path);

	return rc == NSX_OK ? nsx_wi_gains(w, NULL, 0, false) : rc;
}

/* ---- why */

/* Append a clause, in which %s is a share and its limit, if it is above the least. */
static void
put_doubt(struct nsx_buf *to, bool *any, double share, double least, double limit, const char *words)
{
	const char *at = strstr(words, "%s");

	if (!(share > least))
		return;
	nsx_buf_c(to, *any ? "; " : "");
	nsx_buf_str(to, (struct nsx_str){ words, (size_t)(at - words) });
	nsx_buf_fmt(to, "%.1f %%", 100 * share);
	if (isfinite(limit))
		nsx_buf_fmt(to, " (limit %.4g %%)", 100 * limit);
	nsx_buf_c(to, at + 2);
	*any = true;
}

/* What most of what is not explained is. */
static const char *
odd_words(const struct wi_path *path)
{
	int most = WI_CALL;

	for (int class = 0; class < WI_NCLASSES; class++)
		most = path->odd[class] > path->odd[most] ? class : most;
	if (path->odd[most] <= 0)
		return "%s of the critical path is not explained: it is before the first operation that has a call";
	switch (most) {
	case WI_LAUNCH: case WI_STREAM: case WI_WAIT:
		return "%s of the critical path is not explained, most of it before operations that start late for no "
		       "known reason";
	case WI_GAP:
		return "%s of the critical path is not explained, most of it between calls, where a thread may wait "
		       "for another";
	default:
		return "%s of the critical path is not explained, most of it in calls that are long for no known "
		       "reason";
	}
}

void
nsx_wi_put_doubts(const struct wi_gains *w, struct nsx_buf *to)
{
	const struct limits *l = w->refused ? &refused : &doubtful;
	bool any = false;

	if (!w->refused && !w->doubtful)
		return;
	if (w->hostless) {
		nsx_buf_c(to, nsx_no_calls(&w->g->pairing.comm.cat, "no CUDA calls in the stream"));
		nsx_buf_c(to, ", so that when the host launched what is not known");
		any = true;
	}
	put_doubt(to, &any, w->unexplained, l->unexplained, l->unexplained, odd_words(w->path));
	put_doubt(to, &any, w->off, l->off, l->off, "with constant latencies the period is off by %s");
	put_doubt(to, &any, w->unseen, doubtful.unseen, l->unseen, "in %s of the critical path the host, in no call, "
	          "may wait for the device, which has work");
	put_doubt(to, &any, w->unseen <= doubtful.unseen ? w->idle : 0, doubtful.idle, l->idle, "the host "
	          "waits in a call in fewer than every other step, and its gaps between calls, %s of the time, may be "
	          "waits for the device");
	put_doubt(to, &any, w->unrelated, doubtful.unrelated, l->unrelated, "%s of launches contradict the launch "
	          "queue: they returned before what should have made room for them");
	put_doubt(to, &any, w->unpaired, doubtful.unpaired, l->unpaired, "%s of the critical path is in collectives "
	          "whose members are not known");
	put_doubt(to, &any, w->unexplained <= l->unexplained ? w->late : 0, doubtful.late, l->late, "%s of the "
	          "critical path is before operations that start later than usual");
	put_doubt(to, &any, w->blind, doubtful.blind, l->blind, "calls that wait for what is not known take %s of the "
	          "time");
}

/* What helps, for the largest doubt; NULL: nothing does. */
static const char *
advice(const struct wi_gains *w)
{
	const struct wi_path *path = w->path;
	int64_t late = path->odd[WI_LAUNCH] + path->odd[WI_STREAM] + path->odd[WI_WAIT];
	int64_t calls = path->odd[WI_CALL] + path->odd[WI_SYNC] + path->odd[WI_QUEUE];

	if (w->hostless)
		return "extract with --calls";
	if (w->unexplained > doubtful.unexplained && calls >= late && calls >= path->odd[WI_GAP])
		return "--critical=edge shows where; if that is no part of a usual step, nsysx-warmup or --step leaves "
		       "it out";
	if (w->unexplained > doubtful.unexplained || w->late > doubtful.late)
		return "--critical=edge shows where";
	return w->off > doubtful.off ? "nsysx-warmup leaves out what is not steady" : NULL;
}

bool
nsx_wi_put_refusal(const struct wi_gains *w, struct nsx_buf *to)
{
	const char *helps = advice(w);

	nsx_wi_put_doubts(w, to);
	if (helps)
		nsx_buf_fmt(to, "; %s", helps);
	nsx_buf_char(to, '\0');
	return !to->failed;
}

void
nsx_wi_say_partial(const struct wi_gains *w, struct nsx_diags *diags)
{
	/* Of what is in doubt below the limits no range is to be told. */
	if (!w->refused && !w->doubtful)
		return;
	nsx_diag_add(diags, NSX_WARNING, "", w->spans.partial, "events that may have waited for very many others, of "
	             "which some are left out: ranges may be too narrow");
	nsx_diag_add(diags, NSX_WARNING, "", w->spans.unordered, "events that may have waited for others, of which "
	             "some are left out, as too many wait for each other: ranges may be too narrow");
}

bool
nsx_wi_say_doubts(const struct wi_gains *w, bool ranges, struct nsx_diags *diags)
{
	struct nsx_buf why = { 0 };
	bool good = (!w->refused && !w->doubtful) || nsx_wi_put_refusal(w, &why);

	nsx_wi_say_partial(w, diags);
	if (good && why.len)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "%s: %s", w->refused
		             ? ranges ? "forecasts are ranges, from low to high" : "no gains"
		             : ranges ? "gains are between low and high" : "gains may be larger or smaller", why.ptr);
	nsx_buf_free(&why);
	return good;
}

void
nsx_wi_gains_free(struct wi_gains *w)
{
	nsx_wi_slots_free(&w->slots);
	if (w->g)
		nsx_large_free(wi_large(w->g), w->times);
	free(w->without);
	nsx_wi_spans_free(&w->spans);
	nsx_wi_contention_free(&w->contention);
}
