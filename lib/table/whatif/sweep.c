/* sweep.c -- the times of events after changes, and the periods that they make. */
#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "table/whatif/plan.h"

/* The lag of the work of an operation that is beside transfers otherwise than it was. */
static int64_t
beside(const struct wi_shares *s, const struct wi_graph *g, uint32_t event, int64_t lag)
{
	size_t i = wi_op_of(event);
	const struct wi_task *t = wi_task(g, &g->ops.p[i]);

	return t->comm || t->copy ? lag
	       : llround((double)lag * (1 + s->k * s->now[i]) / (1 + s->k * s->measured[i]));
}

void
nsx_wi_sweep(const struct wi_plan *p, const struct wi_shares *shares, int64_t *times)
{
	const struct wi_graph *g = p->g;

	for (size_t i = 0; i < g->nevents; i++) {
		uint32_t e = g->order[i], k = g->first[e], end = g->first[e + 1];
		int64_t t = k == end ? wi_time(g, e) : INT64_MIN;

		wi_pause(g, i);
		for (uint32_t first = k; k < end; k++) {
			const struct wi_edge *x = &g->edges.p[k];
			int64_t lag = p->classes >> x->class & 1 ? nsx_wi_plan_lag(p, e, k) : wi_lag(g, k), at;

			if (shares && k == first && x->class == WI_DUR)
				lag = beside(shares, g, e, lag);
			at = times[x->from] + lag;
			t = at > t ? at : t;
		}
		times[e] = t;
	}
}

void
nsx_wi_bounds(const struct wi_graph *g, const int64_t *times, int64_t *bounds)
{
	for (size_t i = 0; i < g->steps.n; i++) {
		bounds[2 * i] = times[wi_start(g->steps.p[i].first)];
		bounds[2 * i + 1] = times[wi_start(g->steps.p[i].next)];
	}
}

/* ---- many plans at once */

/* An operation that bounds a step, and where its time belongs. */
struct bound { int64_t op; size_t at; };

/* Each event that others wait for has a slot, with a time of each plan, until the last of them is known. */
struct replay {
	const struct wi_graph *g;
	const struct wi_plan *const *plans;
	size_t    n;
	struct differing {
		size_t  n;
		uint8_t plans[WI_TOGETHER];  /* whose lags of edges of a class may differ; */
		int64_t never[WI_TOGETHER];  /* by plan: 0, or for these what makes the usual lag none */
	} differing[WI_NCLASSES];
	uint32_t *slot;                  /* by event */
	NSX_VEC(int64_t) times;          /* n of each slot */
	NSX_VEC(uint32_t) unused;        /* slots */
	struct bound *bounds;            /* by operation, two of each step */
	int64_t  *out;
};

NSX_ORDER(by_op, struct bound, NSX_CMP(a->op, b->op))

static bool
begin(struct replay *r)
{
	const struct wi_graph *g = r->g;

	for (size_t p = 0; p < r->n; p++)
		for (int class = 0; class < WI_NCLASSES; class++)
			if (r->plans[p]->classes >> class & 1) {
				struct differing *d = &r->differing[class];

				d->plans[d->n++] = (uint8_t)p;
				d->never[p] = INT64_MIN / 2;
			}
	r->slot = nsx_large_array(wi_large(g), g->nevents, sizeof *r->slot);
	r->bounds = malloc((2 * g->steps.n + 1) * sizeof *r->bounds);
	if (!r->slot || !r->bounds)
		return false;
	for (size_t i = 0; i < g->steps.n; i++) {
		r->bounds[2 * i] = (struct bound){ g->steps.p[i].first, 2 * i };
		r->bounds[2 * i + 1] = (struct bound){ g->steps.p[i].next, 2 * i + 1 };
	}
	qsort(r->bounds, 2 * g->steps.n, sizeof *r->bounds, by_op);
	return true;
}

/* A slot for an event; NULL when out of memory. */
static int64_t *
take_slot(struct replay *r, uint32_t event)
{
	if (r->unused.n)
		return &r->times.p[(r->slot[event] = r->unused.p[--r->unused.n]) * r->n];
	/* Room to free it, too. */
	if (!nsx_vec_room(&r->times, r->n)
	    || !nsx_vec_room(&r->unused, r->times.n / r->n + 1 - r->unused.n))
		return NULL;
	r->slot[event] = (uint32_t)(r->times.n / r->n);
	r->times.n += r->n;
	return &r->times.p[r->times.n - r->n];
}

static void
put_bounds(struct replay *r, uint32_t op, const int64_t *t)
{
	size_t n = 2 * r->g->steps.n;

	for (size_t i = nsx_sort_first(r->bounds, n, sizeof *r->bounds, offsetof(struct bound, op), op);
	     i < n && r->bounds[i].op == op; i++)
		for (size_t p = 0; p < r->n; p++)
			r->out[p * n + r->bounds[i].at] = t[p];
}

/* The time of an event in all plans, from those of its sources. */
static void
follow(struct replay *r, uint32_t event, int64_t *restrict t)
{
	const struct wi_graph *g = r->g;
	size_t n = r->n;

	for (uint32_t k = g->first[event]; k < g->first[event + 1]; k++) {
		const struct wi_edge *x = &g->edges.p[k];
		const struct differing *d = &r->differing[x->class];
		const int64_t *restrict from = &r->times.p[r->slot[x->from] * n];
		int64_t lag = wi_lag(g, k), at;

		for (size_t p = 0; p < n; p++) {
			at = from[p] + lag + d->never[p];
			t[p] = at > t[p] ? at : t[p];
		}
		for (size_t i = 0; i < d->n; i++) {
			size_t p = d->plans[i];

			at = from[p] + nsx_wi_plan_lag(r->plans[p], event, k);
			t[p] = at > t[p] ? at : t[p];
		}
		if (x->last)
			r->unused.p[r->unused.n++] = r->slot[x->from];
	}
}

/* Fetch what the i-th event in order will need, in stages: what was launched long ago is far away. */
static void
foresee(const struct replay *r, size_t i)
{
	enum { TIMES = 12, SLOTS = 24, EDGES = 36 };
	const struct wi_graph *g = r->g;
	uint32_t e;

	if (i + EDGES >= g->nevents)
		return;
	e = g->order[i + EDGES];
	__builtin_prefetch(&g->first[e]);
	e = g->order[i + SLOTS];
	for (uint32_t k = g->first[e]; k < g->first[e + 1]; k++)
		__builtin_prefetch(&r->slot[g->edges.p[k].from]);
	e = g->order[i + TIMES];
	for (uint32_t k = g->first[e]; k < g->first[e + 1]; k++) {
		const int64_t *t = &r->times.p[r->slot[g->edges.p[k].from] * r->n];

		__builtin_prefetch(t);
		__builtin_prefetch(t + r->n - 1);
	}
}

static bool
sweep(struct replay *r)
{
	const struct wi_graph *g = r->g;

	for (size_t i = 0; i < g->nevents; i++) {
		uint32_t e = g->order[i];
		int64_t *t = take_slot(r, e), measured = g->first[e] == g->first[e + 1] ? wi_time(g, e) : INT64_MIN;

		if (!t)
			return false;
		wi_pause(g, i);
		foresee(r, i);
		for (size_t p = 0; p < r->n; p++)
			t[p] = measured;
		follow(r, e, t);
		if (wi_is_op(g, e) && !wi_is_end(e) && g->ops.p[wi_op_of(e)].bound)
			put_bounds(r, (uint32_t)wi_op_of(e), t);
		if (!wi_is_source(g, e))
			r->unused.p[r->unused.n++] = r->slot[e];
	}
	return true;
}

int
nsx_wi_replay(const struct wi_graph *g, const struct wi_plan *const *plans, size_t n, int64_t *bounds)
{
	struct replay r = { .g = g, .plans = plans, .n = n, .out = bounds };
	bool good = !n || (begin(&r) && sweep(&r));

	nsx_large_free(wi_large(g), r.slot);
	free(r.times.p);
	free(r.unused.p);
	free(r.bounds);
	return good ? NSX_OK : nsx_err_nomem(g->err, NULL);
}

/* ---- */

double
nsx_wi_period(const struct wi_graph *g, const int64_t *bounds, const bool *without)
{
	double sum = 0;
	size_t devices = 0;

	for (size_t i = 0, n; i < g->steps.n; i += n) {
		const struct wi_step *s = &g->steps.p[i];
		int64_t ns = 0;

		n = wi_run(g, i);
		if (without && without[s->device])
			continue;
		for (size_t k = 0; k < n; k++) {
			ns += bounds ? bounds[2 * (i + k) + 1] - bounds[2 * (i + k)] - s[k].removed
			      : g->ops.p[s[k].next].start - g->ops.p[s[k].first].start - s[k].removed;
		}
		sum += (double)ns / (double)n;
		devices++;
	}
	return devices ? sum / (double)devices : 0;
}
