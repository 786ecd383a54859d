/* edges.c -- what each event waits for, and how long after it comes: edges in a fixed order, of which the one with the
 * least slack binds. What is left of its slack is added to its lag, so that every event has its measured time. */
#include <stdlib.h>

#include "base/heap.h"
#include "base/num.h"
#include "base/sort.h"

#include "table/whatif/counts.h"
#include "table/whatif/graph.h"

enum { EDGES = UINT32_MAX / 2 };

/* ---- lags ---- */

/* Where that of an edge is in fars, or belongs. */
static size_t
far_at(const struct wi_graph *g, uint32_t edge)
{
	return nsx_sort_first(g->fars.p, g->fars.n, sizeof *g->fars.p, offsetof(struct wi_far, edge), edge);
}

int64_t
nsx_wi_far(const struct wi_graph *g, uint32_t edge)
{
	return g->fars.p[far_at(g, edge)].lag;
}

/* false: it is too long, and belongs into fars. */
static bool
set_lag(struct wi_edge *x, int64_t lag)
{
	bool fits = lag > WI_FAR && lag < -(int64_t)WI_FAR;

	x->lag = fits ? (int32_t)lag : WI_FAR;
	return fits;
}

/* Make the lag of one of the last edges longer. */
static inline bool
add_to_lag(struct wi_graph *g, uint32_t edge, int64_t ns)
{
	struct wi_edge *x = &g->edges.p[edge];
	int64_t lag = wi_lag(g, edge) + ns;
	size_t at;

	if (!ns)
		return true;
	if (x->lag == WI_FAR) {
		g->fars.p[far_at(g, edge)].lag = lag;
		return true;
	}
	if (set_lag(x, lag))
		return true;
	if (!nsx_vec_room(&g->fars, 1))
		return false;
	for (at = g->fars.n++; at && g->fars.p[at - 1].edge > edge; at--)
		g->fars.p[at] = g->fars.p[at - 1];
	g->fars.p[at] = (struct wi_far){ edge, lag };
	return true;
}

/* An edge to the event being made. */
static inline bool
add(struct wi_graph *g, uint32_t from, int class, int64_t lag)
{
	struct wi_edge x = { .from = from, .class = (unsigned)class & 15 };

	if (!set_lag(&x, lag) && !nsx_vec_push(&g->fars, ((struct wi_far){ (int64_t)g->edges.n, lag })))
		return false;
	return g->edges.n < EDGES && nsx_large_push(&g->large, &g->edges, x);
}

/* ---- operations ---- */

static bool
add_awaited(struct wi_graph *g, const struct wi_op *o)
{
	const struct wi_more *more = wi_more(g, o);

	for (uint32_t k = 0; k < more->nafter; k++) {
		uint32_t from = g->refs.p[more->after + k];
		int64_t lag = o->start - g->ops.p[from].end;

		if (g->ops.p[from].cut)
			continue;
		if (lag < 0)
			g->contradicted++;
		else if (!add(g, wi_end(from), WI_WAIT, nsx_min(g->latency[WI_WAIT], lag)))
			return false;
	}
	return true;
}

static bool
add_stream(struct wi_graph *g, const struct wi_op *o, uint32_t before)
{
	const struct wi_op *b = &g->ops.p[before];

	if (o->start >= b->end)
		return add(g, wi_end(before), WI_STREAM, nsx_min(g->latency[WI_STREAM], o->start - b->end));
	g->programmatic++;
	return add(g, wi_start(before), WI_STREAM, o->start - b->start);
}

/* After a launch of a graph, after all nodes that no other one follows. */
static bool
add_item(struct wi_graph *g, const struct wi_op *o, const struct wi_item *x)
{
	for (uint32_t k = 0; k < x->n; k++) {
		uint32_t node = g->nodes.p[x->first + k];

		if (!wi_more(g, &g->ops.p[node])->followed && !add_stream(g, o, node))
			return false;
	}
	return true;
}

static bool
make_start(struct wi_graph *g, size_t i)
{
	const struct wi_op *o = &g->ops.p[i];
	const struct wi_more *more = wi_more(g, o);

	if (o->cut)
		return true;
	for (uint32_t k = 0; k < more->npreds; k++)
		if (!add_stream(g, o, g->refs.p[more->preds + k]))
			return false;
	if (more->npreds)
		return true;
	if (o->call != NSX_NONE) {
		int64_t lag = o->start - g->calls.p[o->call].start;

		if (lag < 0)
			g->early++;
		else if (!add(g, wi_enter(g, o->call), WI_LAUNCH, nsx_min(g->latency[WI_LAUNCH], lag)))
			return false;
	}
	if (o->before != NSX_NONE && !(o->before < g->ops.n ? add_stream(g, o, o->before)
	                               : add_item(g, o, &g->items.p[o->before - g->ops.n])))
		return false;
	return add_awaited(g, o);
}

/* A collective ends after the last of its members that started before has started. */
static bool
make_end(struct wi_graph *g, size_t i)
{
	const struct wi_op *o = &g->ops.p[i];
	uint32_t instance = wi_more(g, o)->instance;
	const struct wi_instance *x = instance == NSX_NONE ? NULL : &g->instances.p[instance];
	int64_t last = INT64_MIN;
	uint32_t n = 0;

	if (x && !o->cut && x->met > 1 && x->last < o->end) {
		if (!add(g, wi_meeting(g, instance), WI_RDV, o->end - x->last)
		    || !add(g, wi_start(i), WI_RDV, o->end - x->last))
			return false;
		g->edges.p[g->edges.n - 1].own = true;
		return true;
	}
	for (uint32_t k = 0; x && k < x->n; k++) {
		const struct wi_op *m = &g->ops.p[g->members.p[x->first + k]];

		if (m->cut && m != o)
			continue;
		if (m->start < o->end || m == o) {
			last = m->start > last ? m->start : last;
			n++;
		}
	}
	if (n < 2)
		return add(g, wi_start(i), WI_DUR, o->end - o->start);
	for (uint32_t k = 0; k < x->n; k++) {
		uint32_t m = g->members.p[x->first + k];

		if ((g->ops.p[m].start >= o->end || g->ops.p[m].cut) && m != i)
			continue;
		if (!add(g, wi_start(m), WI_RDV, o->end - last))
			return false;
		g->edges.p[g->edges.n - 1].own = m == i;
	}
	return true;
}

static void
find_last(struct wi_graph *g)
{
	for (size_t i = 0; i < g->instances.n; i++) {
		struct wi_instance *x = &g->instances.p[i];

		wi_pause_at(g, x->first, x->n);
		for (uint32_t k = 0; k < x->n; k++) {
			const struct wi_op *m = &g->ops.p[g->members.p[x->first + k]];

			x->met += !m->cut;
			x->last = !m->cut && m->start > x->last ? m->start : x->last;
		}
	}
}

static bool
make_meeting(struct wi_graph *g, const struct wi_instance *x)
{
	for (uint32_t k = 0; k < x->n; k++) {
		uint32_t m = g->members.p[x->first + k];

		if (!g->ops.p[m].cut && !add(g, wi_start(m), WI_RDV, 0))
			return false;
	}
	return true;
}

/* ---- calls ---- */

static bool
make_enter(struct wi_graph *g, size_t i)
{
	const struct wi_call *c = &g->calls.p[i];
	const struct wi_call *b = c->before == NSX_NONE ? NULL : &g->calls.p[c->before];
	int64_t own = b ? c->start - b->end : 0, handed = 0;
	uint32_t from = wi_call_more(g, c)->from, drained = wi_call_more(g, c)->drained;

	if (c->beside)
		return add(g, wi_enter(g, c->before), WI_GAP, c->start - b->start);
	if (b && c->start < b->end)
		return add(g, wi_enter(g, c->before), WI_CALL, c->start - b->start);
	if (from != NSX_NONE || drained != NSX_NONE) {
		/* What a thread does once it may go on, it also does if it need not wait. */
		handed = c->start - (from != NSX_NONE ? g->calls.p[from].end : g->ops.p[drained].end);
		own = nsx_min(own, handed > WI_HANDED ? handed : WI_HANDED);
	}
	if (b && !add(g, wi_leave(g, c->before), WI_GAP, own))
		return false;
	if (drained != NSX_NONE && !g->ops.p[drained].cut)
		return add(g, wi_end(drained), WI_GAP, handed);
	return from == NSX_NONE || add(g, wi_leave(g, from), WI_GAP, handed);
}

/* Whether a call waits for the operations that it is said to have waited for; one that was stalled waits for room in
 * the launch queue instead, where its depth is known. */
static bool
waits(const struct wi_graph *g, const struct wi_call *c)
{
	return wi_api(g, c)->blocking || !g->depth || wi_call_more(g, c)->stalled <= WI_RETURN;
}

static bool
make_leave(struct wi_graph *g, size_t i)
{
	const struct wi_call *c = &g->calls.p[i];
	const struct wi_call_more *more = wi_call_more(g, c);
	int64_t own = c->end - c->start;
	uint32_t n = waits(g, c) ? more->nwaited : 0;
	bool slept = false;

	for (uint32_t k = 0; k < n; k++)
		slept |= g->ops.p[g->refs.p[more->waited + k]].end > c->start
		         && !g->ops.p[g->refs.p[more->waited + k]].cut;
	own = slept ? nsx_min(own, WI_ASLEEP) : own;
	if (c->queue != NSX_NONE)
		own = nsx_wi_queue_work(g, c, own);
	if (!add(g, wi_enter(g, i), WI_CALL, own))
		return false;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t op = g->refs.p[more->waited + k];
		/* One that does not block, and waits for what it has not issued itself, waits for room, also where the
		 * depth of the queue is not known. */
		int class = wi_api(g, c)->blocking || g->ops.p[op].call == i ? WI_SYNC : WI_QUEUE;

		if (g->ops.p[op].cut)
			continue;
		if (!add(g, wi_end(op), class, nsx_min(WI_RETURN, c->end - g->ops.p[op].end)))
			return false;
	}
	return c->queue == NSX_NONE
	       || add(g, wi_end(c->queue), WI_QUEUE, nsx_min(0, c->end - g->ops.p[c->queue].end));
}

/* ---- all ---- */

/* Add the edges of an event. */
static inline bool
make(struct wi_graph *g, uint32_t event)
{
	if (wi_is_op(g, event))
		return wi_is_end(event) ? make_end(g, wi_op_of(event)) : make_start(g, wi_op_of(event));
	if (wi_is_meeting(g, event))
		return make_meeting(g, &g->instances.p[event - wi_meeting(g, 0)]);
	return wi_is_end(event) ? make_leave(g, wi_call_of(g, event)) : make_enter(g, wi_call_of(g, event));
}

enum { NEW, OPEN, DONE };
struct ordering {
	struct wi_graph *g;
	unsigned char   *state;          /* of events */
	/* Events whose sources are being visited: edges from edge to end are still to be looked at. */
	NSX_VEC(struct { uint32_t event, edge, end; }) stack;
	size_t           n;              /* events in order so far */
	struct wi_counts left[WI_NCLASSES];  /* of the slack of edges of latencies that bind */
};

/* The edges of an event become the last ones, for they are in the order of events. */
static bool
move_edges(struct wi_graph *g, uint32_t event, uint32_t end)
{
	uint32_t from = g->first[event];

	if (end == g->edges.n)
		return true;
	g->first[event] = (uint32_t)g->edges.n;
	for (uint32_t k = from; k < end; k++) {
		struct wi_edge x = g->edges.p[k];

		if (x.lag == WI_FAR && !nsx_vec_push(&g->fars, ((struct wi_far){ (int64_t)g->edges.n,
		                                                                 nsx_wi_far(g, k) })))
			return false;
		if (!nsx_large_push(&g->large, &g->edges, x))
			return false;
	}
	return true;
}

/* Those of a cycle, which are from nothing, are left out. An event whose edges all were of one has the time that was
 * measured. */
static void
drop_broken(struct wi_graph *g, uint32_t from)
{
	uint32_t n = from;
	size_t far = far_at(g, from), kept = far;

	for (uint32_t k = from; k < g->edges.n; k++) {
		bool of = far < g->fars.n && g->fars.p[far].edge == k;

		if (g->edges.p[k].from != NSX_NONE) {
			if (of)
				g->fars.p[kept++] = (struct wi_far){ n, g->fars.p[far].lag };
			g->edges.p[n++] = g->edges.p[k];
		}
		far += of;
	}
	g->edges.n = n;
	g->fars.n = kept;
}

/* All that an event waits for is in order: it follows. Its edges, from the first one to `end`, become the last ones;
 * the one that has the least slack binds. */
static bool
close_event(struct ordering *o, uint32_t event, uint32_t end, bool broken)
{
	struct wi_graph *g = o->g;
	uint32_t best = NSX_NONE, from;
	int64_t least = INT64_MAX, time = wi_time(g, event);

	o->state[event] = DONE;
	g->order[o->n++] = event;
	if (!move_edges(g, event, end))
		return false;
	from = g->first[event];
	if (broken)
		drop_broken(g, from);
	for (uint32_t k = from; k < g->edges.n; k++) {
		int64_t slack = time - wi_time(g, g->edges.p[k].from) - wi_lag(g, k);

		if (slack < least) {
			least = slack;
			best = k;
		}
	}
	if (best == NSX_NONE) {
		g->first[event] = NSX_NONE;
		return true;
	}
	g->edges.p[g->edges.n - 1].last = true;
	g->edges.p[best].binds = true;
	return add_to_lag(g, best, least)
	       && (!wi_latency(g->edges.p[best].class)
	           || nsx_wi_count(&o->left[g->edges.p[best].class], least));
}

/* Make an event, and put it into order, or on the stack if it waits for one that is not yet. */
static bool
open_event(struct ordering *o, uint32_t event)
{
	struct wi_graph *g = o->g;
	uint32_t k = (uint32_t)g->edges.n, end;

	if (o->state[event] != NEW)
		return true;
	g->first[event] = k;
	if (!make(g, event))
		return false;
	end = (uint32_t)g->edges.n;
	while (k < end && o->state[g->edges.p[k].from] == DONE)
		k++;
	if (k == end)
		return close_event(o, event, end, false);
	if (!nsx_vec_room(&o->stack, 1))
		return false;
	o->state[event] = OPEN;
	o->stack.p[o->stack.n].event = event;
	o->stack.p[o->stack.n].edge = k;
	o->stack.p[o->stack.n++].end = end;
	return true;
}

/* Visit the sources of the events on the stack. An edge of a cycle is broken: it is turned into one from nothing. */
static bool
visit_sources(struct ordering *o)
{
	struct wi_graph *g = o->g;
	int64_t cyclic = g->cyclic;

	while (o->stack.n) {
		uint32_t e = o->stack.p[o->stack.n - 1].event, k = o->stack.p[o->stack.n - 1].edge++;

		if (k == o->stack.p[o->stack.n - 1].end) {
			o->stack.n--;
			if (!close_event(o, e, k, g->cyclic > cyclic))
				return false;
		} else if (o->state[g->edges.p[k].from] == OPEN) {
			g->cyclic++;
			g->edges.p[k].from = NSX_NONE;
		} else if (!open_event(o, g->edges.p[k].from)) {
			return false;
		}
	}
	return true;
}

/* Put an event behind all its sources. */
static inline bool
visit(struct ordering *o, uint32_t event)
{
	return open_event(o, event) && (!o->stack.n || visit_sources(o));
}

/* An event that waits for what is to come, and when it was. */
struct due { int64_t at; uint32_t event; };

static bool
is_before(const void *none, const struct due *a, const struct due *b)
{
	(void)none;
	return a->at != b->at ? a->at < b->at : a->event < b->event;
}
NSX_HEAP(due, struct due, const void *, is_before)

/* Whether the end of what starts with an event waits for others that start later. */
static bool
is_awaiting(const struct wi_graph *g, uint32_t event)
{
	const struct wi_call *c = wi_is_op(g, event) ? NULL : &g->calls.p[wi_call_of(g, event)];

	return c ? c->queue != NSX_NONE || wi_call_more(g, c)->nwaited
	         : wi_more(g, &g->ops.p[wi_op_of(event)])->instance != NSX_NONE;
}

/* Fetch what is known of the call of an operation to come. */
static void
foresee(const struct ordering *o, size_t i)
{
	const struct wi_graph *g = o->g;

	wi_foresee_call(g, i);
	i += WI_AHEAD;
	if (i < g->ops.n && g->ops.p[i].call != NSX_NONE)
		__builtin_prefetch(&o->state[wi_enter(g, g->ops.p[i].call)]);
}

/* The end of an operation or call that waits for its own start alone, which is in order: its work is all of its
 * length. */
static bool
put_end(struct ordering *o, uint32_t event)
{
	struct wi_graph *g = o->g;
	struct wi_edge *x;

	if (o->state[event] != NEW)
		return true;
	o->state[event] = DONE;
	g->order[o->n++] = event;
	g->first[event] = (uint32_t)g->edges.n;
	if (!add(g, event - 1, wi_is_op(g, event) ? WI_DUR : WI_CALL, wi_time(g, event) - wi_time(g, event - 1)))
		return false;
	x = &g->edges.p[g->edges.n - 1];
	x->binds = x->last = true;
	return true;
}

/* Make the events, in an order in which sources come first, near that of time; of each the edge with the least slack
 * binds. The residual of a latency is the median of what was left of the slack of those that bind. */
static bool
make_all(struct wi_graph *g)
{
	struct ordering o = { .g = g, .state = nsx_large_array(&g->large, g->nevents, 1) };
	NSX_VEC(struct due) dues = { 0 };
	size_t i = 0, k = 0;
	bool good = o.state && (g->nevents > WI_FEW
	                        || nsx_large_room(&g->large, &g->edges, g->nevents + g->nevents / 2));

	while (good && (i < g->ops.n || k < g->calls.n)) {
		bool call = i == g->ops.n || (k < g->calls.n && g->calls.p[k].start <= g->ops.p[i].start);
		uint32_t e = call ? wi_enter(g, k) : wi_start(i);

		/* Were it visited before, all that it waits for would be, one thread or stream after the other: far
		 * from what is near in time. */
		if (dues.n && dues.p[0].at <= wi_time(g, e)) {
			good = visit(&o, due_pop(NULL, dues.p, dues.n).event);
			dues.n--;
			continue;
		}
		if (!call)
			foresee(&o, i);
		*(call ? &k : &i) += 1;
		wi_pause(g, i + k);
		good = visit(&o, e);
		if (!is_awaiting(g, e)) {
			good = good && put_end(&o, e + 1);
		} else if ((good = good && nsx_vec_room(&dues, 1))) {
			due_push(NULL, dues.p, dues.n, (struct due){ wi_time(g, e + 1), e + 1 });
			dues.n++;
		}
	}
	for (size_t d = 0; d < dues.n && good; d++)
		good = visit(&o, dues.p[d].event);
	for (i = 0; i < g->instances.n && good; i++)
		good = visit(&o, wi_meeting(g, i));
	for (int c = 0; c < WI_NCLASSES; c++) {
		g->residual[c] = o.left[c].n ? nsx_wi_nth(&o.left[c], o.left[c].n / 2) : 0;
		nsx_wi_counts_free(&o.left[c]);
	}
	nsx_large_free(&g->large, o.state);
	free(o.stack.p);
	free(dues.p);
	return good;
}

int
nsx_wi_make_edges(struct wi_graph *g)
{
	bool good;

	g->nevents = 2 * (g->ops.n + g->calls.n) + g->instances.n;
	if (g->nevents > UINT32_MAX / 4)
		return nsx_err_set(g->err, "more than %u operations and calls", UINT32_MAX / 8);
	g->first = nsx_large_array(&g->large, g->nevents, sizeof *g->first);
	g->order = nsx_large_array(&g->large, g->nevents, sizeof *g->order);
	find_last(g);
	good = g->first && g->order && make_all(g);
	if (g->edges.n >= EDGES)
		return nsx_err_set(g->err, "operations and calls wait for each other more than %u times", EDGES);
	return good ? NSX_OK : nsx_err_nomem(g->err, NULL);
}
