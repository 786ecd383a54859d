/* unseen.c -- does the host work between two calls, or does it wait for the device in a way that is not recorded? XLA
 * waits for the results of a step in no CUDA call. A host that has launched much, and then sets the pace without calls,
 * is suspect: it need not have been late. */
#include <stdlib.h>

#include "base/num.h"
#include "table/whatif/path.h"

enum { LEFT = 50000 };   /* ns of work that devices have left when a gap begins that may be a wait */

bool
nsx_wi_find_unseen(const struct wi_graph *g, bool *after, int64_t *until)
{
	size_t n = g->threads.process_of.n;
	int64_t *last = malloc((n + 1) * sizeof *last);   /* by process: latest end of what it has launched */
	int64_t *ends = nsx_large_array(wi_large(g), g->calls.n, sizeof *ends);
	bool good = last && ends;

	for (size_t i = 0; i < n && good; i++)
		last[i] = INT64_MIN;
	for (size_t i = 0; i < g->calls.n && good; i++) {
		wi_pause(g, i);
		ends[i] = INT64_MIN;
	}
	for (size_t i = 0; i < g->ops.n && good; i++) {
		const struct wi_op *o = &g->ops.p[i];

		wi_pause(g, i);
		if (o->call != NSX_NONE && o->end > ends[o->call])
			ends[o->call] = o->end;
	}
	for (size_t i = 0; i < g->calls.n && good; i++) {
		const struct wi_call *c = &g->calls.p[i];
		int64_t *end = &last[wi_process_of(g, c)];

		wi_pause(g, i);
		after[i] = wi_before(c) != NSX_NONE && wi_call_more(g, c)->from == NSX_NONE
		           && wi_call_more(g, c)->drained == NSX_NONE && *end != INT64_MIN
		           && *end - g->calls.p[c->before].end >= LEFT;
		if (until)
			until[i] = after[i] ? nsx_min(*end, c->start) : INT64_MIN;
		*end = ends[i] > *end ? ends[i] : *end;
	}
	free(last);
	nsx_large_free(wi_large(g), ends);
	return good;
}
