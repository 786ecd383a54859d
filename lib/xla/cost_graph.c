/* cost_graph.c -- the instructions of one computation: by id, and what each reads. */
#include <stdlib.h>

#include "base/map.h"
#include "xla/cost.h"

enum { SLOTS_MIN = 64 };

void
nsx_cost_graph_reset(struct nsx_cost_graph *g, int64_t comp)
{
	g->nodes.n = g->leaves.n = g->works.n = 0;
	g->dims.n = g->operands.n = g->calls.n = g->numbers.n = 0;
	g->comp = comp;
}

void
nsx_cost_graph_free(struct nsx_cost_graph *g)
{
	free(g->nodes.p);
	free(g->leaves.p);
	free(g->works.p);
	free(g->dims.p);
	free(g->operands.p);
	free(g->calls.p);
	free(g->numbers.p);
	free(g->slots);
	free(g->needs.p);
	free(g->order.p);
	*g = (struct nsx_cost_graph){ 0 };
}

/* Ids count within their computation, or have its number in the upper half: the lower one tells them apart either way. */
static int64_t
local(const struct nsx_cost_graph *g, int64_t id)
{
	return g->comp > 0 && id >> 32 == g->comp ? (int64_t)((uint64_t)id & UINT32_MAX) : id;
}

/* The slot of id, or the free one where it belongs. */
static size_t
slot_of(const struct nsx_cost_graph *g, int64_t id)
{
	size_t i = (size_t)nsx_hash_u64((uint64_t)id) & (g->nslots - 1);

	while (g->slots[i].stamp == g->stamp && g->slots[i].id != id)
		i = (i + 1) & (g->nslots - 1);
	return i;
}

static bool
slots_for(struct nsx_cost_graph *g, size_t n)
{
	size_t want = g->nslots ? g->nslots : SLOTS_MIN;

	while (want < 2 * n)
		want *= 2;
	if (want > g->nslots) {
		free(g->slots);
		g->slots = calloc(want, sizeof *g->slots);
		g->nslots = g->slots ? want : 0;
		g->stamp = 0;
	}
	if (++g->stamp == 0) {
		for (size_t i = 0; i < g->nslots; i++)
			g->slots[i].stamp = 0;
		g->stamp = 1;
	}
	return g->slots;
}

uint32_t
nsx_cost_graph_find(const struct nsx_cost_graph *g, int64_t id)
{
	id = local(g, id);
	size_t i = slot_of(g, id);

	return g->slots[i].stamp == g->stamp ? g->slots[i].node : NSX_NONE;
}

bool
nsx_cost_graph_close(struct nsx_cost_graph *g)
{
	g->twice = false;
	g->forward = true;
	if (!slots_for(g, g->nodes.n))
		return false;
	for (uint32_t k = 0; k < g->nodes.n; k++) {
		int64_t id = local(g, g->nodes.p[k].id);
		size_t i = slot_of(g, id);
		if (g->slots[i].stamp == g->stamp) {
			g->twice = true;
			continue;
		}
		g->slots[i].id = id;
		g->slots[i].node = k;
		g->slots[i].stamp = g->stamp;
	}
	for (uint32_t k = 0; k < g->nodes.n; k++) {
		struct nsx_cost_node *n = &g->nodes.p[k];
		for (uint32_t i = 0; i < n->noperands; i++) {
			uint32_t o = nsx_cost_graph_find(g, g->operands.p[n->operands + i]);
			g->operands.p[n->operands + i] = o == NSX_NONE ? -1 : (int64_t)o;
			if (o == NSX_NONE)
				nsx_cost_worse(&n->state, NSX_COST_BAD);
			else if (o >= k)
				g->forward = false;
		}
	}
	return true;
}
