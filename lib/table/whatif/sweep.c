/* sweep.c -- the times of events after a change, and the period that they make. */
#include <math.h>

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
		for (size_t k = 0; k < n; k++) {
			uint32_t next = wi_start(s[k].next), first = wi_start(s[k].first);

			ns += times ? times[next] - times[first] - s[k].removed
			      : wi_time(g, next) - wi_time(g, first) - s[k].removed;
		}
		sum += (double)ns / (double)n;
		devices++;
	}
	return devices ? sum / (double)devices : 0;
}
