/* spans_sweep.c -- see spans.h: the earliest and the latest times of events after changes. */
#include <math.h>

#include "base/num.h"
#include "table/whatif/spans.h"

/* What of plans matters for events in doubt; of each: a call that waits returns at once; a collective waits for no
 * start of some devices, or of any. */
struct spanning {
	const struct wi_spans *s;
	const struct wi_together *w;
	bool no_sync[WI_TOGETHER], nowait[WI_TOGETHER], alone[WI_TOGETHER], any_no_sync, any_nowait;
};

/* What a collective of unknown members takes at least if it waits for none of the devices that the plan names: it may
 * have waited for any of their starts, also for the last one before its end. scale: what the plan makes of its
 * transfer. */
static int64_t
without_wait(const struct wi_spans *s, const struct wi_plan *p, const struct wi_op *o, int64_t lag, double scale)
{
	const struct wi_graph *g = s->g;

	for (uint32_t i = 0; i < g->lanes.n; i++) {
		const uint32_t *ops = s->comm.at + s->comm.first[i];
		uint32_t device = g->lanes.p[i].device;
		size_t n = s->comm.first[i + 1] - s->comm.first[i], end;
		int64_t start;

		if (!n || device == wi_device(g, o) || !nsx_wi_plan_skips(p, device))
			continue;
		NSX_BISECT(end, 0, n, g->ops.p[ops[end]].start >= o->end);
		start = end ? g->ops.p[ops[end - 1]].start : INT64_MIN;
		if (start > o->start)
			lag = nsx_min(lag, llround((double)(o->end - start) * scale));
	}
	return lag;
}

/* The earliest time of an event in doubt if it waits for none of its causes. lag: of its edge after the plan. *scale:
 * what the change makes of the time after them. Whether they count. */
static bool
without_causes(const struct spanning *x, const struct wi_doubt *d, size_t p, int64_t from, int64_t lag, int64_t *own,
               double *scale)
{
	const struct wi_graph *g = x->w->g;
	bool op = wi_is_op(g, d->event), ends = op && wi_is_end(d->event);
	int64_t base = wi_lag(g, d->edge), t = wi_time(g, d->event);

	*own = from + lag;
	if (lag == WI_GONE)
		return false;
	if (!op && wi_is_end(d->event) && x->no_sync[p] && wi_api(g, &g->calls.p[wi_call_of(g, d->event)])->blocking) {
		*own = from;
		return false;
	}
	if (ends && base > 0 && lag < base)
		*scale = (double)lag / (double)base;
	if (ends && x->nowait[p]) {
		*own = from + without_wait(x->s, x->w->plans[p], &g->ops.p[wi_op_of(d->event)], lag, *scale);
		if (x->alone[p])
			return false;
	}
	/* It may have been launched when it was, whatever the device did. */
	if (op && !ends && g->ops.p[wi_op_of(d->event)].call == NSX_NONE && *own > t)
		*own = from > t ? from : t;
	return true;
}

/* Whether some of the plans do more to an event in doubt than to change the lag of its edge. lags: theirs. */
static bool
is_special(const struct spanning *x, const struct wi_doubt *d, const int64_t *lags)
{
	const struct wi_graph *g = x->w->g;

	if (!wi_is_op(g, d->event))
		return x->any_no_sync && wi_is_end(d->event);
	return wi_is_end(d->event) ? x->any_nowait || lags : g->ops.p[wi_op_of(d->event)].call == NSX_NONE;
}

/* The earliest times of such an event: it waits for that of its causes which a change moves the
 * most. */
static void
changed_earliest(const struct spanning *x, const struct wi_doubt *d, const int64_t *earliest, int64_t *own)
{
	const struct wi_graph *g = x->w->g;
	size_t n = x->w->n;
	bool scaled = false, done[WI_TOGETHER];
	int64_t t = wi_time(g, d->event), kept[WI_TOGETHER], made[WI_TOGETHER], base = wi_lag(g, d->edge);
	const int64_t *lags = wi_lags(x->w, d->event, d->edge, made), *from = earliest + g->edges.p[d->edge].from * n;
	double scale[WI_TOGETHER];

	for (size_t p = 0; p < n; p++) {
		scale[p] = 1;
		done[p] = !without_causes(x, d, p, from[p], lags ? lags[p] : base, &own[p], &scale[p]);
		scaled |= scale[p] < 1;
		kept[p] = own[p];
	}
	for (uint32_t k = d->first; k < d->first + d->within; k++) {
		uint32_t cause = x->s->causes.p[k];
		const int64_t *at = earliest + cause * n;
		int64_t after = t - wi_time(g, cause);

		for (size_t p = 0; p < n; p++) {
			int64_t time = at[p] + (scaled ? llround((double)after * scale[p]) : after);

			time = time > from[p] ? time : from[p];
			own[p] = time < own[p] ? time : own[p];
		}
	}
	for (size_t p = 0; p < n; p++)
		own[p] = done[p] ? kept[p] : own[p];
}

/* The latest times of an event in doubt before its causes are heeded. lags: of its edge. gone: by plan, whether they
 * are not. Whether any is. */
WI_INLINE bool
latest_own(int wide, const struct spanning *x, const struct wi_doubt *d, const int64_t *lags,
           const int64_t *from, int64_t *own, bool *gone)
{
	const struct wi_graph *g = x->w->g;
	size_t n = wi_lanes(wide, x->w->n);
	bool starts = wi_is_op(g, d->event) && !wi_is_end(d->event), some = false;
	bool uncalled = starts && g->ops.p[wi_op_of(d->event)].call == NSX_NONE;
	int64_t t = wi_time(g, d->event), base = wi_lag(g, d->edge);

	for (size_t p = 0; p < n && lags; p++)
		some |= lags[p] == WI_GONE;
	/* A latency that is not known to be one stays. Without its call, an operation may have been late. */
	if (!lags || !starts)
		wi_set(wide, n, from, lags, base, own);
	else
		WI_EACH(wide, n, p, own[p] = from[p] + (lags[p] < base && lags[p] != WI_GONE ? base : lags[p]));
	for (size_t p = 0; p < n && some; p++)
		gone[p] = lags[p] == WI_GONE;
	for (size_t p = 0; p < n && uncalled; p++)
		if (own[p] < t && !(some && gone[p]))
			own[p] = t;
	return some;
}

/* The earliest times of an event in doubt without a source: after any of its causes. */
WI_INLINE void
sweep_sourceless(int wide, const struct spanning *x, const struct wi_doubt *d, const int64_t *earliest,
                 int64_t *early)
{
	const struct wi_graph *g = x->w->g;
	size_t n = wi_lanes(wide, x->w->n);
	int64_t t = wi_time(g, d->event), none[WI_TOGETHER];

	wi_fill(wide, n, INT64_MIN, none);
	wi_fill(wide, n, t, early);
	for (uint32_t k = d->first; k < d->first + d->n; k++) {
		uint32_t cause = x->s->causes.p[k];

		wi_lower(wide, n, earliest + cause * n, t - wi_time(g, cause), none, early);
	}
}

/* Both times of an event in doubt. At the earliest it waits for that of its causes which a change moves the most, at
 * the latest for each of them: whatever a change makes of the time since its source, that may be waiting. */
WI_INLINE void
sweep_doubt(int wide, const struct spanning *x, const struct wi_doubt *d, const int64_t *earliest,
            const int64_t *latest, int64_t *early, int64_t *late)
{
	const struct wi_graph *g = x->w->g;
	size_t n = wi_lanes(wide, x->w->n);
	int64_t t = wi_time(g, d->event), made[WI_TOGETHER], kept[WI_TOGETHER];
	const uint32_t *cause = x->s->causes.p + d->first, *within = cause + d->within, *end = cause + d->n;
	uint32_t source = d->edge == NSX_NONE ? (uint32_t)NSX_NONE : g->edges.p[d->edge].from;
	const int64_t *from, *lags;
	bool gone[WI_TOGETHER], special, some;

	if (source == NSX_NONE) {
		sweep_sourceless(wide, x, d, earliest, early);
		wi_fill(wide, n, t, late);
		return;
	}
	from = earliest + source * n;
	lags = wi_lags(x->w, d->event, d->edge, made);
	special = is_special(x, d, lags);
	if (special)
		changed_earliest(x, d, earliest, early);
	else
		wi_set(wide, n, from, lags, wi_lag(g, d->edge), early);
	some = latest_own(wide, x, d, lags, latest + source * n, late, gone);
	for (size_t p = 0; p < n && some; p++)
		kept[p] = late[p];
	for (; cause < within; cause++) {
		int64_t after = t - wi_time(g, *cause);

		if (!special)
			wi_lower(wide, n, earliest + *cause * n, after, from, early);
		wi_raise(wide, n, latest + *cause * n, NULL, after, late);
	}
	/* The others came before the source, and are waited for as it is. */
	for (int64_t most = t - wi_time(g, source); cause < end; cause++)
		wi_raise(wide, n, latest + *cause * n, NULL, most, late);
	for (size_t p = 0; p < n && some; p++)
		late[p] = gone[p] ? kept[p] : late[p];
}

/* Both times of an event, from those of what comes before it. */
WI_INLINE void
sweep_event(int wide, const struct spanning *x, uint32_t e, int64_t *earliest, int64_t *latest)
{
	const struct wi_graph *g = x->w->g;
	const struct wi_doubt *d = wi_doubt_of(x->s, e);
	size_t n = wi_lanes(wide, x->w->n);
	int64_t *early = earliest + e * n, *late = latest + e * n;

	if (d) {
		sweep_doubt(wide, x, d, earliest, latest, early, late);
	} else if (g->first[e] == NSX_NONE) {
		wi_fill(wide, n, wi_time(g, e), early);
		wi_fill(wide, n, wi_time(g, e), late);
	}
	for (uint32_t k = g->first[e]; k != NSX_NONE; k = wi_next(g, k)) {
		size_t from = g->edges.p[k].from * n;
		int64_t made[WI_TOGETHER], lag = wi_lag(g, k);
		const int64_t *lags;

		if (d && k == d->edge)
			continue;
		lags = wi_lags(x->w, e, k, made);
		if (!d && k == g->first[e]) {
			wi_set(wide, n, earliest + from, lags, lag, early);
			wi_set(wide, n, latest + from, lags, lag, late);
		} else {
			wi_raise(wide, n, earliest + from, lags, lag, early);
			wi_raise(wide, n, latest + from, lags, lag, late);
		}
	}
	if (!x->s->streams || !wi_is_op(g, e) || g->ops.p[wi_op_of(e)].cut)
		return;
	if (wi_is_end(e))
		nsx_wi_streams_ended(x->s, wide, wi_op_of(e), late, n);
	else
		nsx_wi_streams_raise(x->s, wide, wi_op_of(e), late, n);
}

WI_INLINE void
sweep(int wide, const struct spanning *x, int64_t *earliest, int64_t *latest)
{
	const struct wi_graph *g = x->w->g;

	for (size_t i = 0; i < g->nevents; i++) {
		wi_pause(g, i);
		sweep_event(wide, x, x->s->order[i], earliest, latest);
	}
}

static void
sweep_narrow(const struct spanning *x, int64_t *earliest, int64_t *latest)
{
	sweep(0, x, earliest, latest);
}

WI_AVX2 static void
sweep_wide(int wide, const struct spanning *x, int64_t *earliest, int64_t *latest)
{
	WI_SWITCH(wide, sweep, x, earliest, latest);
}

void
nsx_wi_spans_sweep(const struct wi_spans *s, const struct wi_together *w, int64_t *earliest, int64_t *latest)
{
	struct spanning x = { .s = s, .w = w };
	int wide = wi_wide(w->n);

	for (size_t p = 0; p < w->nplans; p++) {
		x.no_sync[p] = nsx_wi_plan_is(w->plans[p], WI_NO_SYNC);
		x.nowait[p] = nsx_wi_plan_is(w->plans[p], WI_NOWAIT);
		x.alone[p] = nsx_wi_plan_skips(w->plans[p], NSX_NONE);
		x.any_no_sync |= x.no_sync[p];
		x.any_nowait |= x.nowait[p];
	}
	if (s->streams)
		nsx_wi_streams_clear(s, w->n);
	if (wide)
		sweep_wide(wide, &x, earliest, latest);
	else
		sweep_narrow(&x, earliest, latest);
}
