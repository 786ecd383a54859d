/* spans_sweep.c -- see spans.h: the earliest and the latest times of events after a change. */
#include <math.h>

#include "base/num.h"
#include "table/whatif/spans.h"

#define UNKNOWN INT64_MIN

/* The latest time of an event in doubt that has an edge: it may wait for each of these. Whatever a change makes of the
 * time since its source, that may be waiting. */
static int64_t
latest_of(const struct wi_spans *s, const struct wi_doubt *d, const int64_t *times, int64_t own)
{
	const struct wi_graph *g = s->g;
	int64_t t = wi_time(g, d->event), latest = own, at;
	int64_t most = t - wi_time(g, g->edges.p[d->edge].from);

	for (uint32_t k = d->first; k < d->first + d->n; k++) {
		uint32_t x = s->causes.p[k];

		if (times[x] == UNKNOWN)
			continue;
		at = t - wi_time(g, x);
		at = times[x] + (at < most ? at : most);
		latest = at > latest ? at : latest;
	}
	return latest;
}

/* The earliest: it waits for that of them which a change moves the most. scale: what the change makes of its time. */
static int64_t
earliest_of(const struct wi_spans *s, const struct wi_doubt *d, const int64_t *times, int64_t own, double scale)
{
	const struct wi_graph *g = s->g;
	int64_t t = wi_time(g, d->event), earliest = own, at;
	int64_t from = d->edge == NSX_NONE ? INT64_MIN : times[g->edges.p[d->edge].from];

	for (uint32_t k = d->first; k < d->first + (d->edge == NSX_NONE ? d->n : d->within); k++) {
		uint32_t x = s->causes.p[k];

		if (times[x] == UNKNOWN)
			continue;
		at = times[x] + llround((double)(t - wi_time(g, x)) * scale);
		at = at > from ? at : from;
		earliest = at < earliest ? at : earliest;
	}
	return earliest;
}

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

/* The time of an event in doubt by its edge that binds and what it may have waited for. */
static int64_t
doubted(const struct wi_spans *s, const struct wi_plan *p, const struct wi_doubt *d, bool latest, const int64_t *times)
{
	const struct wi_graph *g = s->g;
	bool op = wi_is_op(g, d->event), ends = op && wi_is_end(d->event);
	int64_t from, base, lag, own;
	double scale;

	if (d->edge == NSX_NONE) {
		own = wi_time(g, d->event);
		return latest ? own : earliest_of(s, d, times, own, 1);
	}
	from = times[g->edges.p[d->edge].from];
	base = wi_lag(g, d->edge);
	lag = wi_plan_lag(p, d->event, d->edge);
	own = from + lag;
	if (lag == WI_GONE)
		return own;
	if (latest) {
		/* A latency that is not known to be one stays. Without its call, an operation may have been late. */
		if (op && !ends)
			own = from + (lag > base ? lag : base);
		if (op && !ends && g->ops.p[wi_op_of(d->event)].call == NSX_NONE && own < wi_time(g, d->event))
			own = wi_time(g, d->event);
		return latest_of(s, d, times, own);
	}
	if (!op && wi_is_end(d->event) && nsx_wi_plan_is(p, WI_NO_SYNC)
	    && wi_api(g, &g->calls.p[wi_call_of(g, d->event)])->blocking)
		return from;
	scale = ends && base > 0 && lag < base ? (double)lag / (double)base : 1;
	if (ends && nsx_wi_plan_is(p, WI_NOWAIT)) {
		own = from + without_wait(s, p, &g->ops.p[wi_op_of(d->event)], lag, scale);
		if (nsx_wi_plan_skips(p, NSX_NONE))
			return own;
	}
	/* It may have been launched when it was, whatever the device did. */
	if (op && !ends && g->ops.p[wi_op_of(d->event)].call == NSX_NONE && own > wi_time(g, d->event))
		own = from > wi_time(g, d->event) ? from : wi_time(g, d->event);
	return earliest_of(s, d, times, own, scale);
}

/* Both times of an event, from those of what comes before it. */
static void
sweep_event(const struct wi_spans *s, const struct wi_plan *p, uint32_t e, int64_t *earliest, int64_t *latest)
{
	const struct wi_graph *g = s->g;
	const struct wi_doubt *d = wi_doubt_of(s, e);
	const struct wi_op *o = s->streams && wi_is_op(g, e) && !g->ops.p[wi_op_of(e)].cut ? &g->ops.p[wi_op_of(e)] : NULL;
	int64_t early = g->first[e] == NSX_NONE ? wi_time(g, e) : INT64_MIN, late = early, at;

	if (d) {
		early = doubted(s, p, d, false, earliest);
		late = doubted(s, p, d, true, latest);
	}
	for (uint32_t k = g->first[e]; k != NSX_NONE; k = wi_next(g, k)) {
		uint32_t from = g->edges.p[k].from;

		if (d && k == d->edge)
			continue;
		at = wi_plan_lag(p, e, k);
		early = nsx_max(early, earliest[from] + at);
		late = nsx_max(late, latest[from] + at);
	}
	if (o && !wi_is_end(e))
		late = nsx_max(late, nsx_wi_streams_latest(s, o));
	earliest[e] = early;
	latest[e] = late;
	if (o && wi_is_end(e))
		nsx_wi_streams_ended(s, o, late);
}

void
nsx_wi_spans_sweep(const struct wi_spans *s, const struct wi_plan *p, int64_t *earliest, int64_t *latest)
{
	const struct wi_graph *g = s->g;

	if (s->streams)
		nsx_wi_streams_clear(s);
	for (size_t i = 0; i < g->nevents; i++) {
		wi_pause(g, i);
		earliest[i] = latest[i] = UNKNOWN;
	}
	for (size_t i = 0; i < g->nevents; i++) {
		wi_pause(g, i);
		sweep_event(s, p, s->order[i], earliest, latest);
	}
}
