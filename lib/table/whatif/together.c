/* together.c -- plans whose times are made together, and the lags that edges have after them: in several sweeps each
 * edge would have to ask each plan. */
#include <stdlib.h>

#include "table/whatif/plan.h"

enum { KEPT = 1 << 21 };   /* events of a graph whose lags are kept, at most */

void
nsx_wi_together(struct wi_together *w, const struct wi_graph *g, const struct wi_plan *const *plans, size_t n)
{
	*w = (struct wi_together){ .g = g, .plans = plans, .nplans = n, .n = n };
	for (size_t p = 0; p < n; p++)
		w->classes |= plans[p]->classes;
}

/* false: out of memory, here and below. */
static bool
find_touching(struct wi_together *w)
{
	const struct wi_graph *g = w->g;

	w->touching = calloc(g->tasks.n + 1, sizeof *w->touching);
	for (size_t i = 0; w->touching && i < g->tasks.n; i++)
		for (size_t p = 0; p < w->nplans; p++)
			w->touching[i] |= (uint32_t)nsx_wi_plan_touches(w->plans[p], i) << p;
	return w->touching != NULL;
}

/* Keep the lags of an edge if one of these plans changes it. */
static bool
keep_lags(struct wi_together *w, uint32_t event, uint32_t edge, uint32_t plans)
{
	int64_t *lags = NULL, usual = wi_lag(w->g, edge);

	for (; plans; plans &= plans - 1) {
		int p = __builtin_ctz(plans);
		int64_t lag = nsx_wi_plan_lag(w->plans[p], event, edge);

		if (lag == usual)
			continue;
		if (!lags) {
			if (!nsx_large_room(wi_large(w->g), &w->lags, w->n))
				return false;
			lags = w->lags.p + w->lags.n;
			wi_fill(0, w->n, usual, lags);
			w->lags.n += w->n;
			w->rows[edge] = (uint32_t)(w->lags.n / w->n);
		}
		lags[p] = lag;
	}
	return true;
}

/* Keep those of all. */
static bool
keep_all(struct wi_together *w)
{
	const struct wi_graph *g = w->g;
	uint32_t of_class[WI_NCLASSES] = { 0 };
	bool good = true;

	for (size_t p = 0; p < w->nplans; p++)
		for (int class = 0; class < WI_NCLASSES; class++)
			of_class[class] |= (uint32_t)(w->plans[p]->classes >> class & 1) << p;
	for (uint32_t e = 0; e < g->nevents && good; e++) {
		uint32_t touching = wi_is_op(g, e) ? w->touching[g->ops.p[wi_op_of(e)].task] : UINT32_MAX;

		wi_pause(g, e);
		for (uint32_t k = g->first[e]; k != NSX_NONE && good; k = wi_next(g, k)) {
			uint32_t plans = touching & of_class[g->edges.p[k].class];

			good = !plans || keep_lags(w, e, k, plans);
		}
	}
	return good;
}

int
nsx_wi_together_kept(struct wi_together *w, const struct wi_graph *g, const struct wi_plan *const *plans, size_t n)
{
	bool good;

	nsx_wi_together(w, g, plans, n);
	if (n > WI_FEW_PLANS)
		w->n = (n + WI_LANES - 1) / WI_LANES * WI_LANES;
	if (!w->classes || g->nevents > KEPT)
		return NSX_OK;
	w->rows = nsx_large_array(wi_large(g), g->edges.n, sizeof *w->rows);
	good = w->rows && (g->nevents > WI_FEW || nsx_large_room(wi_large(g), &w->lags, w->n * g->nevents))
	       && find_touching(w) && keep_all(w);
	return good ? NSX_OK : nsx_err_nomem(g->err, NULL);
}

void
nsx_wi_together_free(struct wi_together *w)
{
	if (!w->g)
		return;
	nsx_large_free(wi_large(w->g), w->rows);
	nsx_large_free(wi_large(w->g), w->lags.p);
	free(w->touching);
}
