/* path.c -- see path.h. */
#include "table/whatif/path.h"

#include <stdlib.h>

#include "base/num.h"

enum {
	LONG_CALL = 50000,    /* ns: a call that is longer, and */
	TIMES_USUAL = 10      /* that many times as long as is usual, is not explained */
};

const char *const nsx_wi_part_names[WI_NPARTS] = { "compute", "comm", "copy", "gap", "host", "unseen", "api",
                                                 "unexplained" };
const char *const nsx_wi_class_names[WI_NCLASSES] = { "dur", "rdv", "launch", "stream", "wait", "gap", "call", "sync",
                                                  "queue" };

/* Whether a call took longer than what is known of it explains. */
static bool
is_odd(const struct wi_graph *g, const struct wi_call *c, int64_t ns)
{
	const struct wi_usual *u;

	if (ns <= LONG_CALL)
		return false;
	u = nsx_wi_usual_of(&g->usual, wi_api(g, c)->class);
	return wi_api(g, c)->blocking && !wi_call_more(g, c)->nwaited ? true : u && ns > TIMES_USUAL * u->ns;
}

/* Of an edge that is ns long. */
static enum wi_part
part_of(const struct wi_graph *g, uint32_t event, const struct wi_edge *x, int64_t ns)
{
	const struct wi_op *o = wi_is_op(g, event) ? &g->ops.p[wi_op_of(event)] : NULL;
	const struct wi_call *c = o ? NULL : &g->calls.p[wi_call_of(g, event)];

	switch (x->class) {
	case WI_DUR: return wi_task(g, o)->comm ? WI_COMM : wi_task(g, o)->copy ? WI_COPY : WI_COMPUTE;
	case WI_RDV: return WI_COMM;
	case WI_GAP: return c->doubtful ? WI_UNEXPLAINED : WI_HOST_PART;
	case WI_CALL:
		return event == wi_leave(g, wi_call_of(g, event)) && is_odd(g, c, ns) ? WI_UNEXPLAINED : WI_API_PART;
	case WI_SYNC: case WI_QUEUE: return ns > WI_LONG ? WI_UNEXPLAINED : WI_API_PART;
	default: return ns > WI_LONG ? WI_UNEXPLAINED : WI_GAP_PART;
	}
}

static int64_t
clamp(int64_t t, int64_t lo, int64_t hi)
{
	return t < lo ? lo : t > hi ? hi : t;
}

/* The path of one device, whose n steps these are. event: where it has come to, back in time; of: that, or what a
 * meeting led to. */
struct walk {
	const struct wi_graph *g;
	const struct wi_step *steps;
	size_t     n;
	wi_hop_fn *hop;
	void      *state;
	const int64_t *until;    /* by call: up to when the gap before it is unseen (nsx_wi_find_unseen) */
	uint32_t   event, of;
	size_t     at;           /* steps that begin before the end of the last hop: nearly so of the next one */
};

/* Give what an edge owns of each step. */
static bool
own(struct walk *w, struct wi_hop *hop, int64_t from, int64_t to)
{
	const struct wi_graph *g = w->g;
	const struct wi_step *steps = w->steps;
	size_t at = (size_t)(steps - g->steps.p), lo = w->at;
	int64_t least = from < to ? from : to, most = from < to ? to : from;

	/* The last step that begins before the end of it; those before it that it takes part in come after. */
	while (lo < w->n && g->ops.p[steps[lo].first].start < most)
		lo++;
	while (lo > 0 && g->ops.p[steps[lo - 1].first].start >= most)
		lo--;
	w->at = lo;
	while (lo-- > 0) {
		int64_t a = g->ops.p[steps[lo].first].start, b = g->ops.p[steps[lo].next].start;

		hop->step = (uint32_t)(at + lo);
		hop->start = clamp(least, a, b);
		hop->ns = a <= least && most <= b ? to - from : clamp(to, a, b) - clamp(from, a, b);
		if (hop->ns && !w->hop(w->state, hop))
			return false;
		if (a <= least)
			break;
	}
	return true;
}

/* The same, of the gap before a call, of which the host may have waited in the first part. */
static bool
own_gap(struct walk *w, struct wi_hop *hop, int64_t from, int64_t to)
{
	int64_t until = w->until[wi_call_of(w->g, hop->event)];

	if (until <= from)
		return own(w, hop, from, to);
	if (until < to && !own(w, hop, until, to))
		return false;
	hop->part = WI_UNSEEN_PART;
	return own(w, hop, from, nsx_min(until, to));
}

static struct walk
walk_begin(const struct wi_graph *g, size_t at, const int64_t *until, wi_hop_fn *hop, void *state)
{
	struct walk w = { .g = g, .steps = &g->steps.p[at], .n = wi_run(g, at), .hop = hop, .state = state,
		          .until = until };

	w.event = w.of = wi_start(w.steps[w.n - 1].next);
	w.at = w.n;
	return w;
}

/* Walk back to that time, at most. */
static bool
walk(struct walk *w, int64_t until)
{
	const struct wi_graph *g = w->g;
	int64_t begin = g->ops.p[w->steps->first].start, to;

	for (to = wi_time(g, w->event); to > begin && to > until;) {
		/* What led to a meeting is of the end that came after it. */
		uint32_t e = w->event, of = w->of = wi_is_meeting(g, e) ? w->of : e;
		uint32_t k = nsx_wi_binding(g, e);
		const struct wi_edge *x = k == NSX_NONE ? NULL : &g->edges.p[k];
		struct wi_hop hop = { .event = of, .edge = k, .on = w->steps->device };
		int64_t from;

		if (!x) {
			hop.part = WI_UNEXPLAINED;
			w->event = wi_start(w->steps->first);
			return own(w, &hop, begin, to);
		}
		from = wi_time(g, x->from);
		hop.part = (uint8_t)part_of(g, of, x, (of == e ? to : wi_time(g, of)) - from);
		if (wi_is_op(g, of))
			hop.on = wi_device(g, &g->ops.p[wi_op_of(of)]);
		else if (g->calls.p[wi_call_of(g, of)].op != NSX_NONE)
			hop.on = wi_device(g, &g->ops.p[g->calls.p[wi_call_of(g, of)].op]);
		if (!(hop.part == WI_HOST_PART ? own_gap : own)(w, &hop, from, to))
			return false;
		w->event = x->from;
		to = from;
	}
	return true;
}

/* By call: which come after a gap that may be a wait, and up to when. {0} is empty; nsx_large_free of wi_large. */
struct unseen { bool *after; int64_t *until; };

static void
free_unseen(const struct wi_graph *g, struct unseen *u)
{
	nsx_large_free(wi_large(g), u->after);
	nsx_large_free(wi_large(g), u->until);
}

/* false: out of memory. The caller frees u in both cases. */
static bool
find_unseen(const struct wi_graph *g, struct unseen *u)
{
	u->after = nsx_large_array(wi_large(g), g->calls.n + 1, sizeof *u->after);
	u->until = nsx_large_array(wi_large(g), g->calls.n + 1, sizeof *u->until);
	return u->after && u->until && nsx_wi_find_unseen(g, u->after, u->until);
}

bool
nsx_wi_walk(const struct wi_graph *g, wi_hop_fn *hop, void *state)
{
	struct unseen u;
	bool good = find_unseen(g, &u);

	for (size_t i = 0; i < g->steps.n && good; i += wi_run(g, i)) {
		struct walk w = walk_begin(g, i, u.until, hop, state);

		good = walk(&w, INT64_MIN);
	}
	free_unseen(g, &u);
	return good;
}

/* Paths of many devices go through the same stretch of time together, so that it is needed once. */
static bool
walk_all(const struct wi_graph *g, const int64_t *until, wi_hop_fn *hop, void *state)
{
	NSX_VEC(struct walk) walks = { 0 };
	int64_t first = INT64_MAX, last = INT64_MIN;
	int64_t stretches = (int64_t)(g->nevents >> 20) + 1;
	bool good = true;

	for (size_t i = 0; i < g->steps.n && good; i += wi_run(g, i)) {
		struct walk w = walk_begin(g, i, until, hop, state);
		int64_t begin = g->ops.p[w.steps->first].start, end = wi_time(g, w.event);

		good = nsx_vec_push(&walks, w);
		first = begin < first ? begin : first;
		last = end > last ? end : last;
	}
	for (int64_t s = stretches; s-- > 0 && good;) {
		nsx_large_rest(wi_large(g));
		for (size_t i = 0; i < walks.n && good; i++)
			good = walk(&walks.p[i], s ? first + (last - first) / stretches * s : INT64_MIN);
	}
	free(walks.p);
	return good;
}

bool
nsx_wi_walk_all(const struct wi_graph *g, wi_hop_fn *hop, void *state)
{
	struct unseen u;
	bool good = find_unseen(g, &u) && walk_all(g, u.until, hop, state);

	free_unseen(g, &u);
	return good;
}

/* ---- sums */

struct summing { const struct wi_graph *g; struct wi_path *path; };

static bool
add(void *state, const struct wi_hop *h)
{
	struct summing *s = state;
	const struct wi_graph *g = s->g;
	const struct wi_edge *x;

	s->path->all += h->ns;
	s->path->parts[h->part] += h->ns;
	s->path->on[h->on] += h->ns;
	if (h->part == WI_COMPUTE || h->part == WI_COPY)
		s->path->names[wi_task(g, &g->ops.p[wi_op_of(h->event)])->name] += h->ns;
	if (h->part == WI_UNEXPLAINED && h->edge != NSX_NONE)
		s->path->odd[g->edges.p[h->edge].class] += h->ns;
	if (h->edge != NSX_NONE && (x = &g->edges.p[h->edge])
	    && (x->class == WI_LAUNCH || x->class == WI_STREAM || x->class == WI_WAIT)
	    && nsx_wi_is_late(g, x->class, wi_time(g, h->event) - wi_time(g, x->from)))
		s->path->late += h->ns;
	if (h->part == WI_COMM && g->edges.p[h->edge].class == WI_DUR
	    && wi_more(g, &g->ops.p[wi_op_of(h->event)])->guessed)
		s->path->unpaired += h->ns;
	return true;
}

int
nsx_wi_find_path(const struct wi_graph *g, struct wi_path *path)
{
	struct unseen u;
	bool good = find_unseen(g, &u);

	*path = (struct wi_path){ .on = calloc(g->pairing.comm.cat.devices.n + 1, sizeof *path->on),
	                          .names = calloc(g->names.n + 1, sizeof *path->names) };
	good = good && path->on && path->names;
	if (good)
		good = walk_all(g, u.until, add, &(struct summing){ g, path });
	good = good && nsx_wi_host_time(g, u.after, &path->idle, &path->blind);
	if (g->nevents <= WI_FEW) {
		path->unseen = u.after;
		u.after = NULL;
	}
	free_unseen(g, &u);
	return good ? NSX_OK : nsx_err_nomem(g->err, NULL);
}

void
nsx_wi_path_free(struct wi_path *path)
{
	free(path->on);
	free(path->names);
	*path = (struct wi_path){ 0 };
}
