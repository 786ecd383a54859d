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

/* The gain of a plan, with contention where some was found. without: NULL, or devices that do not count. */
static void
replay(struct wi_gains *w, const struct wi_plan *p, const bool *without, bool contention, struct wi_gain *gain)
{
	const struct wi_graph *g = w->g;
	double period = without ? nsx_wi_period(g, NULL, without) : w->period, plain;

	nsx_wi_sweep(p, NULL, w->times);
	plain = period - nsx_wi_period(g, w->times, without);
	*gain = (struct wi_gain){ plain, plain, plain };
	if (w->contention.shares.k <= 0 || !contention)
		return;
	nsx_wi_contention_sweep(&w->contention, p, w->times);
	gain->saved = period - nsx_wi_period(g, w->times, without);
	gain->low = fmin(plain, gain->saved);
	gain->high = fmax(plain, gain->saved);
}

int
nsx_wi_gains_begin(struct wi_gains *w, const struct wi_graph *g, const struct wi_path *path)
{
	struct wi_plan model;

	*w = (struct wi_gains){ .g = g };
	w->period = nsx_wi_period(g, NULL, NULL);
	w->unexplained = path->all > 0 ? (double)path->parts[WI_UNEXPLAINED] / (double)path->all : 0;
	w->unseen = path->all > 0 ? (double)path->unseen / (double)path->all : 0;
	if (nsx_wi_contention_begin(&w->contention, g) != NSX_OK)
		return NSX_ERR;
	w->times = malloc((g->nevents + 1) * sizeof *w->times);
	w->without = calloc(g->pairing.comm.cat.devices.n + 1, sizeof *w->without);
	if (!w->times || !w->without)
		return nsx_err_nomem(g->err, NULL);
	nsx_wi_plan_model(&model, g);
	replay(w, &model, NULL, false, &w->model);
	w->off = w->period > 0 ? fabs(w->model.saved / w->period) : 0;
	w->unrelated = g->queued ? (double)g->unrelated / (double)g->queued : 0;
	w->refused = exceeds(w, &refused);
	w->doubtful = !w->refused && exceeds(w, &doubtful);
	return NSX_OK;
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
nsx_wi_gain(struct wi_gains *w, const char *change, struct wi_gain *gain, bool *named)
{
	struct wi_change c;
	struct wi_plan p;
	int rc;
	const char *why = nsx_wi_change_parse(change, &c);

	if (why)
		return nsx_err_set(w->g->err, "%s: %s", change, why);
	rc = nsx_wi_plan(&p, w->g, &c, named);
	if (rc == NSX_OK)
		replay(w, &p, nsx_wi_change_without(w->g, &c, w->without) ? w->without : NULL, true, gain);
	nsx_wi_plan_free(&p);
	return rc;
}

int
nsx_wi_gain_of_name(struct wi_gains *w, uint32_t name, double k, struct wi_gain *gain)
{
	struct wi_plan p;
	int rc = nsx_wi_plan_name(&p, w->g, name, k);

	if (rc == NSX_OK)
		replay(w, &p, NULL, true, gain);
	nsx_wi_plan_free(&p);
	return rc;
}

void
nsx_wi_gains_free(struct wi_gains *w)
{
	free(w->times);
	free(w->without);
	nsx_wi_contention_free(&w->contention);
}
