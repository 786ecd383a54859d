/* gains.c -- see gains.h. */
#include "table/whatif/gains.h"

#include <math.h>
#include <stdlib.h>

/* Shares above which there are no forecasts, or only lower bounds. */
struct limits { double unexplained, off, unrelated, unseen; };
static const struct limits refused = { 0.1, 0.05, 0.05, 0.4 }, doubtful = { 0.01, 0.015, 0.02, 0.1 };

static bool
exceeds(const struct wi_gains *w, const struct limits *l)
{
	return w->unexplained > l->unexplained || w->off > l->off || w->unrelated > l->unrelated
	       || w->unseen > l->unseen;
}

/* What heeds contention. bounds: of steps, whose contents do not matter. */
static int
heed(struct wi_gains *w, struct wi_trial *t, double period, const bool *without, int64_t *bounds)
{
	const struct wi_graph *g = w->g;
	double plain = t->gain.saved;

	if (!w->times)
		w->times = nsx_large_array(wi_large(g), g->nevents, sizeof *w->times);
	if (!w->times)
		return nsx_err_nomem(g->err, NULL);
	nsx_wi_sweep(&t->plan, NULL, w->times);
	nsx_wi_contention_sweep(&w->contention, &t->plan, w->times);
	nsx_wi_bounds(g, w->times, bounds);
	t->gain.saved = period - nsx_wi_period(g, bounds, without);
	t->gain.low = fmin(plain, t->gain.saved);
	t->gain.high = fmax(plain, t->gain.saved);
	return NSX_OK;
}

/* Whether there are forecasts, by what the period seems to be shorter by if latencies are constants. */
static void
judge(struct wi_gains *w, double shorter)
{
	w->judged = true;
	w->model = (struct wi_gain){ shorter, shorter, shorter };
	w->off = w->period > 0 ? fabs(shorter / w->period) : 0;
	w->refused = exceeds(w, &refused);
	w->doubtful = !w->refused && exceeds(w, &doubtful);
}

int
nsx_wi_gains(struct wi_gains *w, struct wi_trial *trials, size_t n, bool contention)
{
	enum { TOGETHER = WI_TOGETHER - 1 };
	const struct wi_graph *g = w->g;
	const struct wi_plan *plans[TOGETHER + 1];
	struct wi_plan model;
	int64_t *bounds = malloc(((TOGETHER + 1) * 2 * g->steps.n + 1) * sizeof *bounds);
	int rc = bounds ? NSX_OK : nsx_err_nomem(g->err, NULL);

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
			struct wi_trial *t = &trials[i + k];
			int64_t *of = bounds + k * 2 * g->steps.n;
			const bool *without = nsx_wi_change_without(g, &t->plan.change, w->without) ? w->without : NULL;
			double period = without ? nsx_wi_period(g, NULL, without) : w->period;

			t->gain.saved = t->gain.low = t->gain.high = period - nsx_wi_period(g, of, without);
			/* Where there are no forecasts nobody sees them. */
			if (contention && !w->refused && w->contention.shares.k > 0)
				rc = heed(w, t, period, without, of);
		}
	}
	free(bounds);
	return rc;
}

int
nsx_wi_gains_open(struct wi_gains *w, const struct wi_graph *g, const struct wi_path *path)
{
	*w = (struct wi_gains){ .g = g };
	if (nsx_wi_slots_begin(&w->slots, g) != NSX_OK)
		return NSX_ERR;
	w->period = nsx_wi_period(g, NULL, NULL);
	w->unexplained = path->all > 0 ? (double)path->parts[WI_UNEXPLAINED] / (double)path->all : 0;
	w->unseen = path->all > 0 ? (double)path->unseen / (double)path->all : 0;
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

void
nsx_wi_put_doubts(const struct wi_gains *w, struct nsx_buf *to)
{
	const struct limits *l = w->refused ? &refused : &doubtful;

	if (!w->refused && !w->doubtful)
		return;
	nsx_buf_fmt(to, "%.1f %% of the critical path is not explained (limit %.4g %%), and with constant latencies "
	            "the period is off by %.1f %% (limit %.4g %%)", 100 * w->unexplained, 100 * l->unexplained,
	            100 * w->off, 100 * l->off);
	if (w->unseen > doubtful.unseen)
		nsx_buf_fmt(to, "; in %.1f %% of it (limit %.4g %%) the host, in no call, may wait for the device, "
		            "which has work", 100 * w->unseen, 100 * l->unseen);
	if (w->unrelated > doubtful.unrelated)
		nsx_buf_fmt(to, "; %.1f %% of launches (limit %.4g %%) contradict the launch queue: they returned "
		            "before what should have made room for them", 100 * w->unrelated, 100 * l->unrelated);
}

bool
nsx_wi_say_doubts(const struct wi_gains *w, struct nsx_diags *diags)
{
	struct nsx_buf why = { 0 };
	bool good;

	nsx_wi_put_doubts(w, &why);
	nsx_buf_char(&why, '\0');
	good = !why.failed;
	if (good && w->refused)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no forecasts: %s%s", why.ptr, w->g->calls.n
		             ? "; --critical shows where, and nsysx-warmup removes what is not steady"
		             : nsx_cat_on_cpu(&w->g->pairing.comm.cat) ? ""
		             : "; extract with --ops --calls, and let nsysx-warmup remove what is not steady");
	else if (good && w->doubtful)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "%s: gains are lower bounds", why.ptr);
	nsx_buf_free(&why);
	return good;
}

int
nsx_wi_try(const struct wi_gains *w, const char *change, struct wi_trial *t, bool *named)
{
	struct wi_change c;
	const char *why = nsx_wi_change_parse(change, &c);

	return why ? nsx_err_set(w->g->err, "%s: %s", change, why) : nsx_wi_plan(&t->plan, w->g, &c, named);
}

void
nsx_wi_gains_free(struct wi_gains *w)
{
	nsx_wi_slots_free(&w->slots);
	if (w->g)
		nsx_large_free(wi_large(w->g), w->times);
	free(w->without);
	nsx_wi_contention_free(&w->contention);
}
