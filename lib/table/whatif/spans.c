/* spans.c -- see spans.h. Of an event that came D after its source, for a reason that is not known, either D is work,
 * or it waited for another event x of that time, and came a constant time after it. A change moves it as it moves its
 * source in the one case, and as it moves x in the other: the latest of these times, over all x, is an upper bound, the
 * earliest a lower bound.
 *
 *   host     call |........ D ........| call      did it work, or wait for the end of a, b or c?
 *   stream    | a a a | b b b | c c c |
 */
#include "table/whatif/spans.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	IN_VAIN = 16          /* visits of each event that a search for an order may take back: then causes are not
	                       * looked at */
};
#define UNKNOWN INT64_MIN

static const struct wi_doubt *
doubt_of(const struct wi_spans *s, uint32_t event)
{
	size_t i;

	if (!(s->is_doubt[event / 8] >> event % 8 & 1))
		return NULL;
	NSX_BISECT(i, 0, s->doubts.n, s->doubts.p[i].event >= event);
	return &s->doubts.p[i];
}

/* ---- order: what an event may have waited for comes before it */

enum { NEW, OPEN, DONE };
/* An event whose sources are being visited, of which it has so many edges; a cause of the one below it. */
struct visited { uint32_t event, at, edges; bool cause; };
struct ordering {
	struct wi_spans *s;
	unsigned char   *state;                      /* of events */
	NSX_VEC(struct visited) stack;
	size_t           n;
	size_t           left;                       /* events that may still be visited in vain */
};

static bool
open_event(struct ordering *o, uint32_t event, bool cause)
{
	if (o->state[event] != NEW)
		return true;
	if (!nsx_vec_room(&o->stack, 1))
		return false;
	o->state[event] = OPEN;
	o->stack.p[o->stack.n++] = (struct visited){ event, 0, wi_nedges(o->s->g, event), cause };
	return true;
}

/* The next event that must, or may, come before it; NSX_NONE: there are no more. */
static uint32_t
next_source(const struct ordering *o, struct visited *v, bool *cause)
{
	const struct wi_graph *g = o->s->g;
	uint32_t i = v->at++;
	const struct wi_doubt *d = i < v->edges || !o->left ? NULL : doubt_of(o->s, v->event);

	*cause = i >= v->edges;
	return i < v->edges ? g->edges.p[g->first[v->event] + i].from
	       : d && i - v->edges < d->n ? o->s->causes.p[d->first + i - v->edges] : (uint32_t)NSX_NONE;
}

/* Whether an event would have causes that may come before it, at which nobody has looked. */
static bool
lacks_causes(const struct ordering *o, const struct visited *v)
{
	const struct wi_doubt *d = o->left ? NULL : doubt_of(o->s, v->event);
	bool any = false;

	/* The last source that was asked for was none. */
	for (uint32_t k = v->at - 1 - v->edges; d && k < d->n && !any; k++)
		any = o->state[o->s->causes.p[d->first + k]] == NEW;
	return any;
}

/* The source of the last event waits for that event: by a cause, since edges make no cycle. It and what was visited
 * for it is left to be visited later. */
static void
drop_cause(struct ordering *o)
{
	bool cause = false;

	while (o->stack.n && !cause) {
		const struct visited *v = &o->stack.p[--o->stack.n];

		o->state[v->event] = NEW;
		cause = v->cause;
		o->left -= o->left > 0;
	}
}

/* Put an event behind its sources; behind its causes, but for those that come after it. */
static bool
visit(struct ordering *o, uint32_t event)
{
	if (!open_event(o, event, false))
		return false;
	while (o->stack.n) {
		uint32_t e = o->stack.p[o->stack.n - 1].event;
		bool cause;
		uint32_t from = next_source(o, &o->stack.p[o->stack.n - 1], &cause);

		if (from != NSX_NONE && !cause && o->state[from] == OPEN) {
			drop_cause(o);
			continue;
		}
		if (from != NSX_NONE) {
			if (!open_event(o, from, cause))
				return false;
			continue;
		}
		o->s->unordered += lacks_causes(o, &o->stack.p[o->stack.n - 1]);
		o->state[e] = DONE;
		o->s->order[o->n++] = e;
		o->stack.n--;
	}
	return true;
}

static bool
put_in_order(struct wi_spans *s)
{
	const struct wi_graph *g = s->g;
	struct ordering o = { .s = s, .state = nsx_large_array(wi_large(g), g->nevents + 1, 1),
	                      .left = IN_VAIN * g->nevents };
	bool good = o.state != NULL;

	s->order = nsx_large_array(wi_large(g), g->nevents + 1, sizeof *s->order);
	good = good && s->order;
	for (size_t i = 0; i < g->nevents && good; i++) {
		wi_pause(g, i);
		good = visit(&o, g->order[i]);
	}
	nsx_large_free(wi_large(g), o.state);
	free(o.stack.p);
	return good;
}

int
nsx_wi_spans_begin(struct wi_spans *s, const struct wi_graph *g, const struct wi_path *path)
{
	bool good;

	*s = (struct wi_spans){ .g = g, .is_doubt = nsx_large_array(wi_large(g), g->nevents / 8 + 1, 1),
	                        .looked = calloc(g->lanes.n + 1, sizeof *s->looked) };
	good = s->is_doubt && s->looked && nsx_wi_list(s) && nsx_wi_find_doubts(s, path) && nsx_wi_streams_begin(s)
	       && put_in_order(s);
	if (s->causes.n >= WI_CAUSES)
		return nsx_err_set(g->err, "events may have waited for others more than %u times", WI_CAUSES);
	return good ? NSX_OK : nsx_err_nomem(g->err, NULL);
}

void
nsx_wi_spans_free(struct wi_spans *s)
{
	struct nsx_large *large = s->g ? wi_large(s->g) : NULL;

	if (large) {
		nsx_large_free(large, s->is_doubt);
		nsx_large_free(large, s->order);
		nsx_large_free(large, s->of_device.at);
		nsx_large_free(large, s->of_process.at);
		nsx_large_free(large, s->of_thread.at);
		nsx_large_free(large, s->comm.at);
		nsx_large_free(large, s->doubts.p);
		nsx_large_free(large, s->causes.p);
		nsx_large_free(large, s->ends);
		nsx_large_free(large, s->shifts);
	}
	free(s->of_device.first);
	free(s->of_process.first);
	free(s->comm.first);
	free(s->of_thread.first);
	free(s->threads);
	free(s->looked);
	*s = (struct wi_spans){ 0 };
}

/* ---- sweeps */

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
	lag = nsx_wi_plan_lag(p, d->event, d->edge);
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

void
nsx_wi_spans_sweep(const struct wi_spans *s, const struct wi_plan *p, bool latest, int64_t *times)
{
	const struct wi_graph *g = s->g;
	bool streams = latest && s->streams;

	if (streams)
		nsx_wi_streams_clear(s);
	for (size_t i = 0; i < g->nevents; i++) {
		wi_pause(g, i);
		times[i] = UNKNOWN;
	}
	for (size_t i = 0; i < g->nevents; i++) {
		uint32_t e = s->order[i];
		const struct wi_doubt *d = doubt_of(s, e);
		int64_t t = g->first[e] == NSX_NONE ? wi_time(g, e) : INT64_MIN, at;
		const struct wi_op *o = streams && wi_is_op(g, e) ? &g->ops.p[wi_op_of(e)] : NULL;

		wi_pause(g, i);
		if (d)
			t = doubted(s, p, d, latest, times);
		for (uint32_t k = g->first[e]; k != NSX_NONE; k = wi_next(g, k)) {
			if (d && k == d->edge)
				continue;
			at = times[g->edges.p[k].from] + nsx_wi_plan_lag(p, e, k);
			t = at > t ? at : t;
		}
		if (o && !o->cut && !wi_is_end(e)) {
			at = nsx_wi_streams_latest(s, o);
			t = at > t ? at : t;
		}
		times[e] = t;
		if (o && !o->cut && wi_is_end(e))
			nsx_wi_streams_ended(s, o, t);
	}
}
