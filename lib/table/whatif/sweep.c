/* sweep.c -- the times of events after changes, and the periods that they make. */
#include <stdlib.h>

#include "base/par.h"
#include "base/sort.h"
#include "table/whatif/plan.h"

size_t
nsx_wi_at_once(const struct wi_graph *g)
{
	enum { MANY = 1 << 21 };   /* times of each kind: 16 MB */
	size_t n = MANY / (g->nevents + 1);

	if (n < WI_LANES)
		return n < 1 ? 1 : n < WI_FEW_PLANS ? n : WI_FEW_PLANS;
	return n < WI_AT_ONCE ? n / WI_LANES * WI_LANES : WI_AT_ONCE;
}

/* As llround, which is no call here. */
static int64_t
rounded(double x)
{
	int64_t i = (int64_t)x;
	double rest = x - (double)i;

	return i + (rest >= 0.5) - (rest <= -0.5);
}

/* The work of an operation that may be beside transfers otherwise than it was. */
WI_INLINE void
beside(int wide, const struct wi_together *w, const struct wi_shares *s, size_t op, const int64_t *lags,
       int64_t lag, const int64_t *from, int64_t *t)
{
	size_t n = wi_lanes(wide, w->n);
	const double *now = &s->now[op * n], measured = s->measured[op];
	bool other = false;

	wi_set(wide, n, from, lags, lag, t);
	for (size_t p = 0; p < n; p++)
		other |= now[p] < measured || now[p] > measured;
	for (size_t p = 0; p < n && other; p++)
		if (now[p] < measured || now[p] > measured)
			t[p] = from[p] + rounded((double)(lags ? lags[p] : lag) * (1 + s->k * now[p])
			                         / (1 + s->k * measured));
}

WI_INLINE void
sweep_all(int wide, const struct wi_together *w, const struct wi_shares *shares, int64_t *times)
{
	const struct wi_graph *g = w->g;
	size_t n = wi_lanes(wide, w->n);

	for (size_t i = 0; i < g->nevents; i++) {
		uint32_t e = g->order[i], first = g->first[e];
		int64_t *t = times + e * n;

		wi_pause(g, i);
		if (first == NSX_NONE) {
			wi_fill(wide, n, wi_time(g, e), t);
			continue;
		}
		for (uint32_t k = first; k != NSX_NONE; k = wi_next(g, k)) {
			const struct wi_edge *x = &g->edges.p[k];
			const int64_t *from = times + x->from * n, *lags;
			int64_t made[WI_TOGETHER], lag = wi_lag(g, k);

			lags = wi_lags(w, e, k, made);
			if (k != first)
				wi_raise(wide, n, from, lags, lag, t);
			else if (shares && x->class == WI_DUR)
				beside(wide, w, shares, wi_op_of(e), lags, lag, from, t);
			else
				wi_set(wide, n, from, lags, lag, t);
		}
	}
}

static void
sweep_narrow(const struct wi_together *w, const struct wi_shares *shares, int64_t *times)
{
	sweep_all(0, w, shares, times);
}

WI_AVX2 static void
sweep_wide(int wide, const struct wi_together *w, const struct wi_shares *shares, int64_t *times)
{
	WI_SWITCH(wide, sweep_all, w, shares, times);
}

void
nsx_wi_sweep(const struct wi_together *w, const struct wi_shares *shares, int64_t *times)
{
	int wide = wi_wide(w->n);

	if (wide)
		sweep_wide(wide, w, shares, times);
	else
		sweep_narrow(w, shares, times);
}

void
nsx_wi_bounds(const struct wi_graph *g, const int64_t *times, size_t n, size_t p, int64_t *bounds)
{
	for (size_t i = 0; i < g->steps.n; i++) {
		bounds[2 * i] = times[wi_start(g->steps.p[i].first) * n + p];
		bounds[2 * i + 1] = times[wi_start(g->steps.p[i].next) * n + p];
	}
}

/* ---- many plans at once */

/* What the i-th event will wait for, from those before it on. */
static void
foresee_slots(const struct wi_slots *s, const struct wi_graph *g, size_t i)
{
	enum { SLOTS = 12, FIRST = 24 };
	uint32_t e;

	if (i < FIRST)
		return;
	__builtin_prefetch(&g->first[g->order[i - FIRST]]);
	e = g->order[i - SLOTS];
	for (uint32_t k = g->first[e]; k != NSX_NONE; k = wi_next(g, k))
		__builtin_prefetch(&s->of[g->edges.p[k].from]);
}

/* Backwards: the last event that waits for another one comes first, and takes a slot for it. */
static void
give_slots(void *slots)
{
	struct wi_slots *s = slots;
	const struct wi_graph *g = s->g;
	NSX_VEC(uint32_t) unused = { 0 };
	bool good = true;

	for (size_t i = g->nevents; i-- > 0 && good;) {
		uint32_t e = g->order[i];

		wi_pause(g, i);
		foresee_slots(s, g, i);
		/* What it waits for has other slots than itself: its time is made in its own. */
		for (uint32_t k = g->first[e]; k != NSX_NONE; k = wi_next(g, k)) {
			uint32_t *of = &s->of[g->edges.p[k].from];

			if (!*of)
				*of = unused.n ? unused.p[--unused.n] : (uint32_t)++s->n;
		}
		good = !s->of[e] || nsx_vec_push(&unused, s->of[e]);
	}
	free(unused.p);
	s->good = good;
}

int
nsx_wi_slots_begin(struct wi_slots *s, const struct wi_graph *g)
{
	*s = (struct wi_slots){ .g = g, .of = nsx_large_array(wi_large(g), g->nevents, sizeof *s->of) };
	if (!s->of)
		return nsx_err_nomem(g->err, NULL);
	s->worker = nsx_worker_new(give_slots, s);
	if (s->worker)
		nsx_worker_begin(s->worker);
	else
		give_slots(s);
	return NSX_OK;
}

static bool
slots_wait(struct wi_slots *s)
{
	nsx_worker_free(s->worker);
	s->worker = NULL;
	return s->good;
}

void
nsx_wi_slots_free(struct wi_slots *s)
{
	if (!s->g)
		return;
	slots_wait(s);
	nsx_large_free(wi_large(s->g), s->of);
}

/* An operation that bounds a step, and where its time belongs. */
struct bound { int64_t op; size_t at; };

/* Some of the plans. The slot of an event has a time of each; that of those that nobody waits for is the first one. */
struct replay {
	const struct wi_slots *slots;
	struct wi_together together;
	int64_t  *times;                 /* n of each slot */
	const struct bound *bounds;      /* by operation, two of each step */
	int64_t  *out;
};

NSX_ORDER(by_op, struct bound, NSX_CMP(a->op, b->op))

static struct bound *
list_bounds(const struct wi_graph *g)
{
	struct bound *b = malloc((2 * g->steps.n + 1) * sizeof *b);

	for (size_t i = 0; b && i < g->steps.n; i++) {
		b[2 * i] = (struct bound){ g->steps.p[i].first, 2 * i };
		b[2 * i + 1] = (struct bound){ g->steps.p[i].next, 2 * i + 1 };
	}
	if (b)
		qsort(b, 2 * g->steps.n, sizeof *b, by_op);
	return b;
}

static void
put_bounds(struct replay *r, uint32_t op, const int64_t *t)
{
	size_t n = 2 * r->together.g->steps.n;

	for (size_t i = nsx_sort_first(r->bounds, n, sizeof *r->bounds, offsetof(struct bound, op), op);
	     i < n && r->bounds[i].op == op; i++)
		for (size_t p = 0; p < r->together.n; p++)
			r->out[p * n + r->bounds[i].at] = t[p];
}

/* Fetch what the i-th event in order will need, in stages: what was launched long ago is far away. */
static void
foresee(const struct replay *r, size_t i)
{
	enum { TIMES = 12, SLOTS = 24, FIRST = 36 };
	const struct wi_graph *g = r->together.g;
	uint32_t e;

	if (i + FIRST >= g->nevents)
		return;
	__builtin_prefetch(&g->first[g->order[i + FIRST]]);
	e = g->order[i + SLOTS];
	for (uint32_t k = g->first[e]; k != NSX_NONE; k = wi_next(g, k))
		__builtin_prefetch(&r->slots->of[g->edges.p[k].from]);
	e = g->order[i + TIMES];
	for (uint32_t k = g->first[e]; k != NSX_NONE; k = wi_next(g, k)) {
		const int64_t *t = &r->times[r->slots->of[g->edges.p[k].from] * r->together.n];

		__builtin_prefetch(t);
		__builtin_prefetch(t + r->together.n - 1);
	}
}

static void
sweep(void *replays, int at)
{
	struct replay *r = (struct replay *)replays + at;
	const struct wi_graph *g = r->together.g;
	size_t n = r->together.n;

	for (size_t i = 0; i < g->nevents; i++) {
		uint32_t e = g->order[i];
		int64_t *t = &r->times[r->slots->of[e] * n];
		int64_t measured = g->first[e] == NSX_NONE ? wi_time(g, e) : INT64_MIN, made[WI_TOGETHER];

		wi_pause(g, i);
		foresee(r, i);
		for (size_t p = 0; p < n; p++)
			t[p] = measured;
		for (uint32_t k = g->first[e]; k != NSX_NONE; k = wi_next(g, k))
			wi_raise(0, n, &r->times[r->slots->of[g->edges.p[k].from] * n],
			         wi_lags(&r->together, e, k, made), wi_lag(g, k), t);
		if (wi_is_op(g, e) && !wi_is_end(e) && g->ops.p[wi_op_of(e)].bound)
			put_bounds(r, (uint32_t)wi_op_of(e), t);
	}
}

int
nsx_wi_replay(const struct wi_graph *g, struct wi_slots *slots, const struct wi_plan *const *plans, size_t n,
              int64_t *bounds)
{
	enum { FEW = 4, MANY = 1 << 16, PARTS = WI_TOGETHER / FEW };   /* plans, and events, that a thread is worth */
	struct bound *list = list_bounds(g);
	struct replay parts[PARTS];
	size_t nparts = g->nevents < MANY ? 1 : n / FEW < (size_t)nsx_par_cpus() ? n / FEW : (size_t)nsx_par_cpus();
	bool good = slots_wait(slots) && list;

	nparts = nparts ? nparts : 1;
	for (size_t i = 0; i < nparts; i++) {
		size_t from = n * i / nparts;
		struct replay *r = &parts[i];

		*r = (struct replay){ .slots = slots, .bounds = list, .out = bounds + from * 2 * g->steps.n };
		nsx_wi_together(&r->together, g, plans + from, n * (i + 1) / nparts - from);
		r->times = malloc((slots->n + 1) * (r->together.n + 1) * sizeof *r->times);
		good &= r->times != NULL;
	}
	if (good && n)
		nsx_par_run((int)nparts, (int)nparts, sweep, parts);
	for (size_t i = 0; i < nparts; i++)
		free(parts[i].times);
	free(list);
	return good ? NSX_OK : nsx_err_nomem(g->err, NULL);
}

/* ---- */

double
nsx_wi_period(const struct wi_graph *g, const int64_t *bounds, const bool *without)
{
	int64_t sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < g->steps.n; i++) {
		const struct wi_step *s = &g->steps.p[i];

		if (without && without[s->device])
			continue;
		sum += bounds ? bounds[2 * i + 1] - bounds[2 * i] - s->removed
		       : g->ops.p[s->next].start - g->ops.p[s->first].start - s->removed;
		n++;
	}
	return n ? (double)sum / (double)n : 0;
}
