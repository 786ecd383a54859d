/* plan.h -- a change of a job as the lags that edges have after it, and the times of events with these lags. */
#ifndef NSX_TABLE_WHATIF_PLAN_H
#define NSX_TABLE_WHATIF_PLAN_H

#include "base/worker.h"
#include "table/whatif/changes.h"
#include "table/whatif/lanes.h"

/* A lag of an edge that no longer holds anything back. */
#define WI_GONE (INT64_MIN / 4)

struct wi_plan {
	const struct wi_graph *g;
	enum { WI_PLAN_NONE, WI_PLAN_CHANGE, WI_PLAN_TASKS, WI_PLAN_MODEL, WI_PLAN_ALL } kind;
	unsigned  classes;       /* of edges whose lags may differ, a bit each */
	struct wi_change change;
	double   *speeds;        /* TASKS: by task, how many times as fast it becomes; 1: as it is */
	uint32_t  device;        /* ... on this one; NSX_NONE: on all */
	bool     *of;            /* nowait: by device, whether it is not waited for; NULL: none is */
	uint32_t *same_of;       /* EVEN: by operation, 1 + which of those it is in even; 0: none */
	int64_t  *even;          /* what they take */
	struct wi_plan *parts;   /* ALL: nparts that are made together, those that set lags first */
	size_t    nparts;
	char     *text;          /* of a part: its change, which it owns */
	bool      named;         /* it names something in the stream; if not it saves nothing */
};

/* The plan of changes with commas between (nsx_wi_change_length), which the parse accepts; text must stay. p->named:
 * whether all name something; of several p->parts tells. NSX_OK or NSX_ERR; free p in both cases. */
int nsx_wi_plan(struct wi_plan *p, const struct wi_graph *g, const char *text);
/* Whether it, or a part of it, is that change. */
bool nsx_wi_plan_is(const struct wi_plan *p, enum wi_what what);
/* Whether collectives wait for no start of a device of the catalogue after it; NSX_NONE: of none. */
bool nsx_wi_plan_skips(const struct wi_plan *p, uint32_t device);
/* Set, by device, those that do not count for the period after it; false: all count. */
bool nsx_wi_plan_without(const struct wi_plan *p, bool *without);
/* Operations of that name that do not communicate, in wi_graph.names, take 1/k of the time. */
int nsx_wi_plan_name(struct wi_plan *p, const struct wi_graph *g, uint32_t name, double k);
/* Whether a WI_FASTER names operations that communicate; *kind: of the first, in wi_graph.names, or NSX_NONE. */
bool nsx_wi_names_comm(const struct wi_graph *g, const struct wi_change *c, uint32_t *kind);
/* All operations of that name on one device of the catalogue take no time. */
int nsx_wi_plan_remove(struct wi_plan *p, const struct wi_graph *g, uint32_t name, uint32_t device);
/* Latencies are one constant of their class, with the median of what edges of the class that bind have more. */
void nsx_wi_plan_model(struct wi_plan *p, const struct wi_graph *g);
void nsx_wi_plan_free(struct wi_plan *p);

/* The lag of an edge to that event after it. */
int64_t nsx_wi_plan_lag(const struct wi_plan *p, uint32_t event, uint32_t edge);
/* Whether the lags of operations of a task may differ. */
bool nsx_wi_plan_touches(const struct wi_plan *p, size_t task);
/* What the model makes of the lag of an edge: a latency is without what it has more because it binds, and with the
 * median of that; one that does not bind has no more. */
static inline int64_t
wi_model_lag(const struct wi_graph *g, uint32_t edge, int64_t lag)
{
	const struct wi_edge *x = &g->edges.p[edge];
	int class = x->class;
	int64_t most = g->latency[class];

	if (!wi_latency(class))
		return lag;
	if (class == WI_SYNC || class == WI_QUEUE)
		most = class == WI_QUEUE && g->depth ? 0 : WI_RETURN;
	else if (class == WI_STREAM && !wi_is_end(x->from))
		most = lag;
	return (lag < most ? lag : most) + g->residual[class];
}
/* The lag, quickly where no edge of its class differs, and for the model. */
static inline int64_t
wi_plan_lag(const struct wi_plan *p, uint32_t event, uint32_t edge)
{
	if (!(p->classes >> p->g->edges.p[edge].class & 1))
		return wi_lag(p->g, edge);
	return p->kind == WI_PLAN_MODEL ? wi_model_lag(p->g, edge, wi_lag(p->g, edge))
	       : nsx_wi_plan_lag(p, event, edge);
}

/* How operations that compute are beside transfers, by operation: a share of their time; now: of each plan. One that is
 * always beside them takes 1 + k times as long as one that never is. */
struct wi_shares { double k; double *measured, *now; };

/* ---- even.c */
/* What operations of steps that compute take if they take as long as the mean of their devices does: see wi_plan. The
 * caller frees *even, and *same_of with nsx_large_free, in both cases. */
int nsx_wi_even(const struct wi_graph *g, uint32_t **same_of, int64_t **even);

/* ---- sweep.c */
/* Plans that can be swept over at once; where all times are kept; so few that lanes for more are not worth it. */
enum { WI_TOGETHER = 17, WI_AT_ONCE = 12, WI_FEW_PLANS = 2 };
/* Each event that others wait for has a slot, until the last of them is known. {0} is empty. */
struct wi_slots {
	const struct wi_graph *g;
	uint32_t *of;            /* 1 .. n, by event; 0: nobody waits */
	size_t    n;
	struct nsx_worker *worker;   /* gives them; NULL: they are given */
	bool      good;          /* false: out of memory */
};
/* Let another thread give them, until the first nsx_wi_replay. NSX_OK or NSX_ERR; free s in both cases, and leave it
 * where it is. */
int nsx_wi_slots_begin(struct wi_slots *s, const struct wi_graph *g);
void nsx_wi_slots_free(struct wi_slots *s);
/* The bounds of steps (graph.h) after each of n plans, at most WI_TOGETHER, which are swept over at once, by several
 * threads: of plan p at bounds + p * 2 * wi_graph.steps.n. Times are kept in slots. NSX_OK or NSX_ERR. */
int nsx_wi_replay(const struct wi_graph *g, struct wi_slots *slots, const struct wi_plan *const *plans, size_t n,
                  int64_t *bounds);
/* Plans whose times are made together. The times of event e are n from e * n on, here, in spans.h and contention.h: of
 * the plans, and then of none, so that they are a multiple of WI_LANES. */
struct wi_together {
	const struct wi_graph *g;
	const struct wi_plan *const *plans;
	size_t    nplans, n;
	unsigned  classes;       /* of edges whose lags may differ, a bit each */
	uint32_t *rows;          /* by edge: 1 + that of its lags after the plans; 0: all leave it as it is. NULL: lags
	                          * are made when they are asked for, here and below */
	uint32_t *touching;      /* by task: the plans that may change lags of its operations, a bit each */
	NSX_VEC(int64_t) lags;   /* n of each row */
};
/* At most WI_TOGETHER plans, which must stay. */
void nsx_wi_together(struct wi_together *w, const struct wi_graph *g, const struct wi_plan *const *plans, size_t n);
/* The same, for several sweeps: keep the lags, if they are not very many. NSX_OK or NSX_ERR; free w in both cases. */
int nsx_wi_together_kept(struct wi_together *w, const struct wi_graph *g, const struct wi_plan *const *plans,
                         size_t n);
void nsx_wi_together_free(struct wi_together *w);
/* The n lags of an edge to that event; made: room for them. NULL: after all plans it is the measured one. */
WI_INLINE const int64_t *
wi_lags(const struct wi_together *w, uint32_t event, uint32_t edge, int64_t made[WI_TOGETHER])
{
	uint32_t row;

	if (!(w->classes >> w->g->edges.p[edge].class & 1))
		return NULL;
	if (w->rows) {
		row = w->rows[edge];
		return row ? w->lags.p + (row - 1) * w->n : NULL;
	}
	for (size_t p = 0; p < w->n; p++)
		made[p] = p < w->nplans ? wi_plan_lag(w->plans[p], event, edge) : wi_lag(w->g, edge);
	return made;
}
/* How many plans are worth to be together if the times of all events are kept. */
size_t nsx_wi_at_once(const struct wi_graph *g);
/* The times of all events. shares: operations are beside transfers otherwise than they were; NULL: they are not. */
void nsx_wi_sweep(const struct wi_together *w, const struct wi_shares *shares, int64_t *times);
/* The bounds of steps with the times of the p-th of n plans. */
void nsx_wi_bounds(const struct wi_graph *g, const int64_t *times, size_t n, size_t p, int64_t *bounds);

#endif
