/* spans.c -- see spans.h. Of an event that came D after its source, for a reason that is not known, either D is work,
 * or it waited for another event x of that time, and came a constant time after it. A change moves it as it moves its
 * source in the one case, and as it moves x in the other: the latest of these times, over all x, is an upper bound, the
 * earliest a lower bound.
 *
 *   host     call |........ D ........| call      did it work, or wait for the end of a, b or c?
 *   stream    | a a a | b b b | c c c |
 */
#include "table/whatif/spans.h"

#include <stdlib.h>

enum {
	IN_VAIN = 16          /* visits of each event that a search for an order may take back: then causes are not
	                       * looked at */
};

static void
count_doubts(struct wi_spans *s)
{
	for (size_t i = 1; i <= s->g->nevents / 64; i++)
		s->in_doubt[i].before = s->in_doubt[i - 1].before
		                        + (uint32_t)__builtin_popcountll(s->in_doubt[i - 1].bits);
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

/* Whether all that may come before an event does; false: somebody has to look. */
static inline bool
has_causes(const struct ordering *o, uint32_t event)
{
	const struct wi_doubt *d = wi_doubt_of(o->s, event);
	const uint32_t *causes;

	if (!d)
		return true;
	causes = o->s->causes.p + d->first;
	for (uint32_t k = 0; k < d->n; k++)
		if (o->state[causes[k]] != DONE)
			return false;
	return o->left > 0;
}

/* The same, and all that must. */
static bool
is_ready(const struct ordering *o, uint32_t event)
{
	const struct wi_graph *g = o->s->g;

	for (uint32_t k = g->first[event]; k != NSX_NONE; k = wi_next(g, k))
		if (o->state[g->edges.p[k].from] != DONE)
			return false;
	return has_causes(o, event);
}

static void
put(struct ordering *o, uint32_t event)
{
	o->state[event] = DONE;
	o->s->order[o->n++] = event;
}

/* The causes of an event that come after it in this order are none: their times are not known when its own are made. */
static void
drop_later(struct ordering *o, uint32_t event)
{
	struct wi_spans *s = o->s;
	const struct wi_doubt *of = wi_doubt_of(s, event);
	struct wi_doubt *d = of ? &s->doubts.p[of - s->doubts.p] : NULL;
	uint32_t n = 0, within = 0;

	if (!d)
		return;
	for (uint32_t k = 0; k < d->n; k++) {
		uint32_t cause = s->causes.p[d->first + k];

		if (o->state[cause] != DONE)
			continue;
		s->causes.p[d->first + n++] = cause;
		within += k < d->within;
	}
	d->n = n;
	d->within = within;
}

/* It is put if it is ready, as most are, or on the stack. */
static bool
open_event(struct ordering *o, uint32_t event, bool cause)
{
	if (o->state[event] != NEW)
		return true;
	if (is_ready(o, event)) {
		put(o, event);
		return true;
	}
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
	const struct wi_doubt *d = i < v->edges || !o->left ? NULL : wi_doubt_of(o->s, v->event);

	*cause = i >= v->edges;
	return i < v->edges ? g->edges.p[g->first[v->event] + i].from
	       : d && i - v->edges < d->n ? o->s->causes.p[d->first + i - v->edges] : (uint32_t)NSX_NONE;
}

/* Whether an event would have causes that may come before it, at which nobody has looked. */
static bool
lacks_causes(const struct ordering *o, const struct visited *v)
{
	const struct wi_doubt *d = o->left ? NULL : wi_doubt_of(o->s, v->event);
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
		drop_later(o, e);
		put(o, e);
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
		uint32_t event = g->order[i];

		wi_pause(g, i);
		/* What must come before it was before it in this order, too. */
		if (o.state[event] == NEW && has_causes(&o, event))
			put(&o, event);
		else
			good = visit(&o, event);
	}
	nsx_large_free(wi_large(g), o.state);
	free(o.stack.p);
	return good;
}

int
nsx_wi_spans_begin(struct wi_spans *s, const struct wi_graph *g, const struct wi_path *path)
{
	bool good;

	*s = (struct wi_spans){ .g = g, .in_doubt = nsx_large_array(wi_large(g), g->nevents / 64 + 1,
	                                                           sizeof *s->in_doubt),
	                        .looked = calloc(g->lanes.n + 1, sizeof *s->looked) };
	good = s->in_doubt && s->looked && nsx_wi_list(s) && nsx_wi_find_doubts(s, path) && nsx_wi_streams_begin(s);
	if (good)
		count_doubts(s);
	good = good && put_in_order(s);
	if (s->causes.n >= WI_CAUSES)
		return nsx_err_set(g->err, "events may have waited for others more than %u times", WI_CAUSES);
	return good ? NSX_OK : nsx_err_nomem(g->err, NULL);
}

void
nsx_wi_spans_free(struct wi_spans *s)
{
	struct nsx_large *large = s->g ? wi_large(s->g) : NULL;

	if (large) {
		nsx_large_free(large, s->in_doubt);
		nsx_large_free(large, s->order);
		nsx_large_free(large, s->of_device.at);
		nsx_large_free(large, s->of_process.at);
		nsx_large_free(large, s->of_thread.at);
		nsx_large_free(large, s->comm.at);
		nsx_large_free(large, s->doubts.p);
		nsx_large_free(large, s->causes.p);
		nsx_large_free(large, s->ends);
		nsx_large_free(large, s->shifts);
		nsx_large_free(large, s->places);
	}
	free(s->of_device.first);
	free(s->of_device.near);
	free(s->of_process.first);
	free(s->of_process.near);
	free(s->comm.first);
	free(s->of_thread.first);
	free(s->threads);
	free(s->looked);
	free(s->ended);
	*s = (struct wi_spans){ 0 };
}
