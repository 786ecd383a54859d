/* sweep.c -- the times of events with given lags, and the period that they make. */
#include <math.h>

#include "base/num.h"
#include "table/whatif/graph.h"

void
nsx_wi_sweep(const struct wi_graph *g, const int64_t *lags, int64_t *times)
{
	for (size_t i = 0; i < g->nevents; i++) {
		uint32_t e = g->order[i], k = g->first[e], end = g->first[e + 1];
		int64_t t = k == end ? g->times[e] : INT64_MIN;

		for (; k < end; k++) {
			int64_t x = times[g->edges.p[k].from] + lags[k];

			t = x > t ? x : t;
		}
		times[e] = t;
	}
}

double
nsx_wi_period(const struct wi_graph *g, const int64_t *times, const bool *without)
{
	double sum = 0;
	size_t devices = 0;

	for (size_t i = 0, n; i < g->steps.n; i += n) {
		const struct wi_step *s = &g->steps.p[i];
		int64_t ns = 0;

		n = wi_run(g, i);
		if (without && without[s->device])
			continue;
		for (size_t k = 0; k < n; k++)
			ns += times[wi_start(s[k].next)] - times[wi_start(s[k].first)] - s[k].removed;
		sum += (double)ns / (double)n;
		devices++;
	}
	return devices ? sum / (double)devices : 0;
}

/* The lag of an edge that is a latency, without what it has more because it binds. */
static int64_t
nominal(const struct wi_graph *g, const struct wi_edge *x, int64_t ns)
{
	int64_t most = x->class == WI_SYNC ? WI_RETURN : x->class == WI_QUEUE ? (g->depth ? 0 : WI_RETURN)
	               : x->class == WI_STREAM && !wi_is_end(x->from) ? ns : g->latency[x->class];

	return ns < most ? ns : most;
}

void
nsx_wi_model(const struct wi_graph *g, int64_t *lags)
{
	for (uint32_t e = 0; e < g->nevents; e++)
		for (uint32_t k = g->first[e]; k < g->first[e + 1]; k++) {
			const struct wi_edge *x = &g->edges.p[k];

			lags[k] = wi_latency(x->class) ? nominal(g, x, g->times[e] - g->times[x->from])
			          + g->residual[x->class] : g->lags.p[k];
		}
}
