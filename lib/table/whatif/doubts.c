/* doubts.c -- see spans.h: which events are in doubt, and what each of them may have waited for. */
#include <stdlib.h>

#include "table/whatif/spans.h"

enum {
	LATE = 5000,          /* ns: a latency that is longer, and TIMES_LATE as long as usual, may be a wait */
	TIMES_LATE = 3,
	SLOW_CALL = 15000,    /* ns: a call that is longer, and TIMES_LATE as long as usual, may have waited */
	MORE = 500,           /* ns more than usual, of an operation without a call */
	MOST = 64,            /* causes of one event in one thread, or of members: of more some are taken, also the
	                       * first and last */
	ENDS = 128,           /* the same of operations of a device or a process */
	LOOK = 16384,         /* of those, if some are left out, this many from the last one are looked at for the last
	                       * of each lane: what one of them held up is in its lane */
	BEFORE = 8,           /* those of them that ended last before the source */
	USUAL_CAUSES = 4      /* of all events, at most, in most jobs */
};
/* Shares of the path from which on a kind of doubt is taken as one of the whole job. */
static const double some = 0.01;

/* ---- what an event may have waited for */

/* Events of a lane or thread with times in order, as far as they go: the i-th, its beginning and its time. */
enum of_line { STARTS, RETURNS };
struct line { const struct wi_graph *g; const uint32_t *at; size_t n; enum of_line of; };

static struct line
line_of(const struct wi_graph *g, const struct wi_lists *l, size_t i, enum of_line of)
{
	return (struct line){ g, l->at + l->first[i], l->first[i + 1] - l->first[i], of };
}

static uint32_t
event_of(const struct line *l, size_t i)
{
	return l->of == RETURNS ? wi_leave(l->g, l->at[i]) : wi_start(l->at[i]);
}

static int64_t
begin_of(const struct line *l, size_t i)
{
	return l->of == RETURNS ? l->g->calls.p[l->at[i]].start : l->g->ops.p[l->at[i]].start;
}

static bool
add_cause(struct wi_spans *s, uint32_t event)
{
	return s->causes.n < WI_CAUSES && nsx_large_push(wi_large(s->g), &s->causes, event);
}

/* Add those in (from, to], or some of them if there are very many. */
static bool
add_line(struct wi_spans *s, const struct line *l, int64_t from, int64_t to)
{
	size_t end, first, step;

	NSX_BISECT(end, 0, l->n, begin_of(l, end) >= to);
	NSX_BISECT(first, 0, end, begin_of(l, first) > from);
	while (first > 0 && wi_time(l->g, event_of(l, first - 1)) > from)
		first--;
	while (end > first && wi_time(l->g, event_of(l, end - 1)) > to)
		end--;
	step = (end - first) / MOST + 1;
	s->sampled |= step > 1;
	for (size_t i = first; i < end; i += step)
		if (wi_time(l->g, event_of(l, i)) <= to && !add_cause(s, event_of(l, i)))
			return false;
	return step == 1 || add_cause(s, event_of(l, end - 1));
}

/* Of operations by end, the last of each lane. */
static bool
add_last(struct wi_spans *s, const uint32_t *ops, size_t n, int64_t to)
{
	const struct wi_graph *g = s->g;

	s->looks++;
	for (size_t i = n; i-- > 0 && n - i <= LOOK;) {
		const struct wi_op *o = &g->ops.p[ops[i]];

		if (s->looked[o->lane] == s->looks || o->start >= to)
			continue;
		s->looked[o->lane] = s->looks;
		if (!add_cause(s, wi_end(ops[i])))
			return false;
	}
	return true;
}

/* The first of operations by end that ended after t. Who asks goes on in time, near `at`, the last answer. */
static size_t
first_after(const struct wi_graph *g, const uint32_t *ops, size_t n, size_t at, int64_t t)
{
	size_t lo = at, hi = at, step;

	if (at < n && g->ops.p[ops[at]].end <= t) {
		for (step = 1; hi < n && g->ops.p[ops[hi]].end <= t; step *= 2) {
			lo = hi + 1;
			hi = n - hi > step ? hi + step : n;
		}
	} else {
		for (step = 1; lo > 0 && g->ops.p[ops[lo - 1]].end > t; step *= 2) {
			hi = lo - 1;
			lo = lo > step ? lo - step : 0;
		}
	}
	NSX_BISECT(at, lo, hi, g->ops.p[ops[at]].end > t);
	return at;
}

/* Add the ends of n operations, from the one at `from` on each step-th, that began before t. There is room for them. */
static void
add_each(struct wi_spans *s, const uint32_t *ops, size_t from, size_t n, ptrdiff_t step, int64_t t)
{
	const struct wi_op *all = s->g->ops.p;
	uint32_t *to = s->causes.p + s->causes.n;

	for (size_t i = from; n > 0; n--, i += (size_t)step) {
		*to = wi_end(ops[i]);
		to += all[ops[i]].start < t;
	}
	s->causes.n = (size_t)(to - s->causes.p);
}

/* Operations of a device or a process that ended in (from, to], and began before that, and the last before; if
 * there is no source, some before. *within: how many of the first kind. */
static bool
add_ends(struct wi_spans *s, const struct wi_lists *l, size_t of, int64_t from, int64_t to, bool source,
         uint32_t *within)
{
	const struct wi_graph *g = s->g;
	const uint32_t *ops = l->at + l->first[of];
	size_t n = l->first[of + 1] - l->first[of], before = s->causes.n, most = source ? BEFORE : ENDS;
	size_t end = first_after(g, ops, n, l->near[of], to), first = first_after(g, ops, n, end, from), step;

	end = end < first ? first : end;
	l->near[of] = (uint32_t)end;
	step = (end - first) / ENDS + 1;
	if (before >= WI_CAUSES || !nsx_large_room(wi_large(g), &s->causes, 2 * ENDS + 1))
		return false;
	if (step == 1) {
		add_each(s, ops, first, end - first, 1, to);
	} else {
		add_each(s, ops, first, (end - first + step - 1) / step, (ptrdiff_t)step, to);
		s->sampled = true;
		if (!add_last(s, ops + first, end - first, to) || !nsx_large_room(wi_large(g), &s->causes, ENDS + 1))
			return false;
	}
	*within = (uint32_t)(s->causes.n - before);
	if (first > 0)
		add_each(s, ops, first - 1, first < most ? first : most, -1, to);
	return true;
}

/* Calls of the other threads of its process. */
static bool
add_threads(struct wi_spans *s, uint32_t call, int64_t from, int64_t to)
{
	const struct wi_graph *g = s->g;
	int64_t process = wi_process_of(g, &g->calls.p[call]);
	size_t i, n = g->threads.thread_of.n;
	bool good = true;

	NSX_BISECT(i, 0, n, s->threads[i].k[0] >= process);
	for (; i < n && s->threads[i].k[0] == process && good; i++) {
		uint32_t t = s->threads[i].i;
		struct line l = line_of(g, &s->of_thread, t, RETURNS);

		good = t == g->calls.p[call].thread || add_line(s, &l, from, to);
	}
	return good;
}

/* Starts of communication of other devices: of a collective whose members are not known. Of very many some are taken,
 * also the last one. */
static bool
add_members(struct wi_spans *s, const struct wi_op *o)
{
	const struct wi_graph *g = s->g;
	size_t first = s->causes.n, n = first, last = first, step;

	for (uint32_t i = 0; i < g->lanes.n; i++) {
		struct line l = line_of(g, &s->comm, i, STARTS);

		if (l.n && g->lanes.p[i].device != wi_device(g, o) && !add_line(s, &l, o->start, o->end - 1))
			return false;
	}
	step = (s->causes.n - first) / MOST + 1;
	s->sampled |= step > 1;
	if (step == 1)
		return true;
	for (size_t i = first; i < s->causes.n; i++)
		if (wi_time(g, s->causes.p[i]) > wi_time(g, s->causes.p[last]))
			last = i;
	for (size_t i = first; i < s->causes.n; i++)
		if (i == last || (i - first) % step == 0)
			s->causes.p[n++] = s->causes.p[i];
	s->causes.n = n;
	return true;
}

/* An event is in doubt. */
static bool
add_doubt(struct wi_spans *s, uint32_t event, uint32_t edge)
{
	const struct wi_graph *g = s->g;
	struct wi_doubt d = { .event = event, .edge = edge, .first = (uint32_t)s->causes.n };
	int64_t to = wi_time(g, event), from = edge == NSX_NONE ? to : wi_time(g, g->edges.p[edge].from);
	const struct wi_op *o = wi_is_op(g, event) ? &g->ops.p[wi_op_of(event)] : NULL;
	uint32_t call = o ? (uint32_t)NSX_NONE : (uint32_t)wi_call_of(g, event), ends = 0;
	bool good;

	s->sampled = false;
	if (o && wi_is_end(event)) {
		good = add_members(s, o);
		d.within = (uint32_t)s->causes.n - d.first;
	} else if (o) {
		good = add_ends(s, &s->of_device, wi_device(g, o), from, to, edge != NSX_NONE, &d.within);
	} else {
		/* Those of threads are within, too, and come first. */
		good = !g->calls.p[call].doubtful || add_threads(s, call, from, to);
		d.within = (uint32_t)s->causes.n - d.first;
		good = good && add_ends(s, &s->of_process, wi_process_of(g, &g->calls.p[call]), from, to,
		                        edge != NSX_NONE, &ends);
		d.within += ends;
	}
	d.n = (uint32_t)s->causes.n - d.first;
	s->partial += s->sampled;
	s->in_doubt[event / 64].bits |= UINT64_C(1) << event % 64;
	return good && nsx_large_push(wi_large(g), &s->doubts, d);
}

/* ---- which events are in doubt */

bool
nsx_wi_is_late(const struct wi_graph *g, int class, int64_t ns)
{
	int64_t usual = class == WI_LAUNCH || class == WI_STREAM || class == WI_WAIT ? g->latency[class] : WI_RETURN;

	return ns > LATE && ns > TIMES_LATE * usual;
}

/* Without its call an operation may have been launched late; where others waited for what is not known, it may, too. */
static bool
is_late_op(const struct wi_spans *s, const struct wi_op *o, uint32_t edge)
{
	const struct wi_graph *g = s->g;
	int class = edge == NSX_NONE ? WI_STREAM : g->edges.p[edge].class;
	int64_t ns = edge == NSX_NONE ? 0 : o->start - wi_time(g, g->edges.p[edge].from);

	return edge == NSX_NONE || nsx_wi_is_late(g, class, ns)
	       || ((o->call == NSX_NONE || s->streams) && class == WI_STREAM && ns > g->latency[class] + MORE);
}

/* A call that may have waited in a way that is not known. */
static bool
is_slow(const struct wi_graph *g, const struct wi_call *c)
{
	const struct wi_usual *u;
	int64_t ns = c->end - c->start;

	if (wi_api(g, c)->blocking)
		return !wi_call_more(g, c)->nwaited;
	if (ns <= SLOW_CALL)
		return false;
	u = nsx_wi_usual_of(&g->usual, wi_api(g, c)->class);
	return u && ns > TIMES_LATE * u->ns;
}

static bool
doubts_op(struct wi_spans *s, size_t i)
{
	const struct wi_graph *g = s->g;
	const struct wi_op *o = &g->ops.p[i];
	uint32_t k = nsx_wi_binding(g, wi_start(i));
	const struct wi_more *more = wi_more(g, o);

	if (o->cut)
		return true;
	if (is_late_op(s, o, k) && !add_doubt(s, wi_start(i), k))
		return false;
	k = nsx_wi_binding(g, wi_end(i));
	return !more->guessed || more->instance != NSX_NONE || k == NSX_NONE || add_doubt(s, wi_end(i), k);
}

static bool
doubts_call(struct wi_spans *s, size_t i, const bool *unseen, bool idle)
{
	const struct wi_graph *g = s->g;
	const struct wi_call *c = &g->calls.p[i];
	uint32_t enter = nsx_wi_binding(g, wi_enter(g, i)), leave = nsx_wi_binding(g, wi_leave(g, i));
	int64_t gap = enter == NSX_NONE ? 0 : c->start - wi_time(g, g->edges.p[enter].from);

	if (enter != NSX_NONE && g->edges.p[enter].class == WI_GAP
	    && (c->doubtful || unseen[i] || (idle && gap > WI_LONG_GAP)) && !add_doubt(s, wi_enter(g, i), enter))
		return false;
	if (leave == NSX_NONE)
		return true;
	return g->edges.p[leave].class == WI_CALL ? !is_slow(g, c) || add_doubt(s, wi_leave(g, i), leave)
	       : !nsx_wi_is_late(g, g->edges.p[leave].class, c->end - wi_time(g, g->edges.p[leave].from))
	       || add_doubt(s, wi_leave(g, i), leave);
}

bool
nsx_wi_find_doubts(struct wi_spans *s, const struct wi_path *path)
{
	const struct wi_graph *g = s->g;
	bool *own = path->unseen ? NULL : nsx_large_array(wi_large(g), g->calls.n + 1, sizeof *own);
	const bool *unseen = path->unseen ? path->unseen : own;
	double all = (double)path->all;
	bool waits = (double)path->parts[WI_UNSEEN_PART] > some * all;
	bool good = g->nevents > WI_FEW
	            || (nsx_large_room(wi_large(g), &s->causes, USUAL_CAUSES * g->nevents + 1)
	                && nsx_large_room(wi_large(g), &s->doubts, g->nevents / 2 + 1));

	good = good && unseen && (!own || nsx_wi_find_unseen(g, own, NULL));
	s->streams = (double)path->late > some * all;
	for (size_t i = 0; i < g->ops.n && good; i++) {
		wi_pause(g, i);
		good = doubts_op(s, i);
	}
	for (size_t i = 0; i < g->calls.n && good; i++) {
		wi_pause(g, i);
		good = doubts_call(s, i, unseen, waits || path->idle > WI_IDLE);
	}
	nsx_large_free(wi_large(g), own);
	return good;
}
