/* path.c -- see path.h. */
#include "table/whatif/path.h"

enum { TIMES_USUAL = 10 };   /* a call that takes that many times as long as is usual is not explained */

const char *const nsx_wi_part_names[WI_NPARTS] = { "compute", "comm", "copy", "gap", "host", "api", "unexplained" };
const char *const nsx_wi_class_names[WI_NCLASSES] = { "dur", "rdv", "launch", "stream", "wait", "gap", "call", "sync",
                                                  "queue" };

uint32_t
nsx_wi_binding(const struct wi_graph *g, uint32_t event)
{
	for (uint32_t k = g->first[event]; k < g->first[event + 1]; k++)
		if (g->edges.p[k].binds)
			return k;
	return NSX_NONE;
}

/* Whether a call took longer than what is known of it explains. */
static bool
is_odd(const struct wi_graph *g, const struct wi_call *c, int64_t ns)
{
	const struct wi_usual *u = nsx_wi_usual_of(&g->usual, c->class);

	if (ns <= WI_LONG_CALL)
		return false;
	return c->blocking && !c->nwaited ? true : u && ns > TIMES_USUAL * u->ns;
}

static enum wi_part
part_of(const struct wi_graph *g, uint32_t event, uint32_t edge)
{
	const struct wi_edge *x = &g->edges.p[edge];
	int64_t ns = g->times[event] - g->times[x->from];
	const struct wi_op *o = wi_is_op(g, event) ? &g->ops.p[wi_op_of(event)] : NULL;
	const struct wi_call *c = o ? NULL : &g->calls.p[wi_call_of(g, event)];

	switch (x->class) {
	case WI_DUR: return o->comm ? WI_COMM : o->copy ? WI_COPY : WI_COMPUTE;
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

/* Add what an edge owns of each of the n steps of a device. */
static bool
own(const struct wi_graph *g, wi_path *path, const struct wi_step *steps, size_t n, struct wi_hop hop, int64_t from,
    int64_t to)
{
	size_t at = (size_t)(steps - g->steps.p), lo = 0, hi = n;
	int64_t least = from < to ? from : to, most = from < to ? to : from;

	/* The last step that begins before the end of it; those before it that it takes part in come after. */
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (g->times[wi_start(steps[mid].first)] < most)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo-- > 0) {
		int64_t a = g->times[wi_start(steps[lo].first)], b = g->times[wi_start(steps[lo].next)];

		hop.step = (uint32_t)(at + lo);
		hop.start = clamp(least, a, b);
		hop.ns = clamp(to, a, b) - clamp(from, a, b);
		if (hop.ns && !nsx_vec_push(path, hop))
			return false;
		if (a <= least)
			break;
	}
	return true;
}

/* The path of one device, whose n steps these are. */
static bool
walk(const struct wi_graph *g, wi_path *path, const struct wi_step *steps, size_t n)
{
	uint32_t e = wi_start(steps[n - 1].next), of = e;
	int64_t begin = g->times[wi_start(steps->first)];

	while (g->times[e] > begin) {
		/* What led to a meeting is of the end that came after it. */
		of = wi_is_meeting(g, e) ? of : e;
		uint32_t k = nsx_wi_binding(g, e);
		struct wi_hop hop = { .event = of, .edge = k, .on = steps->device };

		if (k == NSX_NONE) {
			hop.part = WI_UNEXPLAINED;
			return own(g, path, steps, n, hop, begin, g->times[e]);
		}
		hop.part = (uint8_t)part_of(g, of, k);
		if (wi_is_op(g, of))
			hop.on = g->ops.p[wi_op_of(of)].device;
		else if (g->calls.p[wi_call_of(g, of)].op != NSX_NONE)
			hop.on = g->ops.p[g->calls.p[wi_call_of(g, of)].op].device;
		if (!own(g, path, steps, n, hop, g->times[g->edges.p[k].from], g->times[e]))
			return false;
		e = g->edges.p[k].from;
	}
	return true;
}

int
nsx_wi_find_path(const struct wi_graph *g, wi_path *path)
{
	for (size_t i = 0, n; i < g->steps.n; i += n) {
		n = wi_run(g, i);
		if (!walk(g, path, &g->steps.p[i], n))
			return nsx_err_nomem(g->err, NULL);
	}
	return NSX_OK;
}

double
nsx_wi_unexplained(const wi_path *path)
{
	double all = 0, part = 0;

	for (size_t i = 0; i < path->n; i++) {
		all += (double)path->p[i].ns;
		part += path->p[i].part == WI_UNEXPLAINED ? (double)path->p[i].ns : 0;
	}
	return all > 0 ? part / all : 0;
}
