/* build.c -- from the records of a reading to a graph of events. */
#include "table/whatif/graph.h"

static void
need(void *graph, struct nsx_reader *in)
{
	nsx_wi_need(graph, in);
}

static int
take(void *graph, const struct nsx_event *e)
{
	return nsx_wi_take(graph, e->rec);
}

const struct nsx_analysis nsx_wi_events = { .kinds = NSX_K_METADATA | NSX_K(CALL) | NSX_K(OP) | NSX_K(OVERHEAD),
                                            .need = need, .take = take };

int
nsx_wi_build(struct wi_graph *g, const struct nsx_step_set *s, uint32_t class)
{
	int rc = nsx_wi_loaded(g, s);

	if (rc == NSX_OK)
		rc = nsx_wi_find_steps(g, s, class);
	if (rc == NSX_OK)
		rc = nsx_wi_learn(g);
	if (rc == NSX_OK)
		rc = nsx_wi_learn_queue(g);
	if (rc == NSX_OK)
		rc = nsx_wi_find_handovers(g);
	return rc == NSX_OK ? nsx_wi_make_edges(g) : rc;
}
