/* together.c -- plans whose times are made together, and the lags that edges have after them: in several sweeps each
 * edge would have to ask each plan. */
#include <stdlib.h>

#include "table/whatif/plan.h"

enum { KEPT = 1 << 21 };   /* events of a graph whose lags are kept, at most */

void
nsx_wi_together(struct wi_together *w, const struct wi_graph *g, const struct wi_plan *const *plans, size_t n)
{
	*w = (struct wi_together){ .g = g, .plans = plans, .n = n };
	for (size_t p = 0; p < n; p++)
		w->classes |= plans[p]->classes;
}

/* Keep those of an edge, if a plan changes it. false: out of memory, here and below. */
static bool
keep_lags(struct wi_together *w, uint32_t event, uint32_t edge)
{
	int64_t made[WI_TOGETHER], lag = wi_lag(w->g, edge);
	bool differs = false;

	for (size_t p = 0; p < w->n; p++) {
		made[p] = wi_plan_lag(w->plans[p], event, edge);
		differs |= made[p] != lag;
	}
	if (!differs)
		return true;
	if (!nsx_large_room(wi_large(w->g), &w->lags, w->n))
		return false;
	for (size_t p = 0; p < w->n; p++)
		w->lags.p[w->lags.n++] = made[p];
	w->rows[edge] = (uint32_t)(w->lags.n / w->n);
	return true;
}

int
nsx_wi_together_kept(struct wi_together *w, const struct wi_graph *g, const struct wi_plan *const *plans, size_t n)
{
	bool good;

	nsx_wi_together(w, g, plans, n);
	if (!w->classes || g->nevents > KEPT)
		return NSX_OK;
	w->rows = nsx_large_array(wi_large(g), g->edges.n, sizeof *w->rows);
	good = w->rows != NULL;
	for (uint32_t e = 0; e < g->nevents && good; e++) {
		wi_pause(g, e);
		for (uint32_t k = g->first[e]; k != NSX_NONE && good; k = wi_next(g, k))
			good = !(w->classes >> g->edges.p[k].class & 1) || keep_lags(w, e, k);
	}
	return good ? NSX_OK : nsx_err_nomem(g->err, NULL);
}

void
nsx_wi_together_free(struct wi_together *w)
{
	if (!w->g)
		return;
	nsx_large_free(wi_large(w->g), w->rows);
	nsx_large_free(wi_large(w->g), w->lags.p);
}
