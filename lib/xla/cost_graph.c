/* cost_graph.c -- the instructions of one computation: by id, with the operands of each. */
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
	free(g->numbered.p);
	*g = (struct nsx_cost_graph){ 0 };
}

/* Ids count within their computation, or have the number of the computation in the upper half: the lower half is
 * distinct in both cases. */
static int64_t
local(const struct nsx_cost_graph *g, int64_t id)
{
	return g->comp > 0 && id >> 32 == g->comp ? (int64_t)((uint64_t)id & UINT32_MAX) : id;
}

/* The slot of id, or the free slot where it is to be inserted. */
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

/* If operands do not precede their users everywhere: starting with the last, take a node all of whose users have been
 * placed. Nodes in a cycle, and their operands, have no position. */
static bool
sort(struct nsx_cost_graph *g)
{
	uint32_t n = (uint32_t)g->nodes.n, at = n;
	uint32_t *readers = calloc(n, sizeof *readers);

	if (!readers)
		return false;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < g->nodes.p[i].noperands; k++)
			if (g->operands.p[g->nodes.p[i].operands + k] >= 0)
				readers[g->operands.p[g->nodes.p[i].operands + k]]++;
	for (uint32_t i = 0; i < n; i++)
		if (!readers[i])
			g->order.p[--at] = i;
	for (uint32_t done = n; done > at;) {
		const struct nsx_cost_node *u = &g->nodes.p[g->order.p[--done]];
		for (uint32_t k = 0; k < u->noperands; k++) {
			int64_t o = g->operands.p[u->operands + k];
			if (o >= 0 && !--readers[o])
				g->order.p[--at] = (uint32_t)o;
		}
	}
	for (uint32_t i = 0; i < n; i++)
		if (readers[i])
			nsx_cost_worse(&g->nodes.p[i].state, NSX_COST_BAD);
	free(readers);
	return true;
}

/* Whether operands precede their users. False when out of memory. */
static bool
order(struct nsx_cost_graph *g, bool forward)
{
	g->order.n = 0;
	if (!nsx_vec_room(&g->order, g->nodes.n))
		return false;
	for (uint32_t i = 0; i < g->nodes.n; i++)
		g->order.p[g->order.n++] = i;
	return forward || sort(g);
}

bool
nsx_cost_graph_close(struct nsx_cost_graph *g)
{
	bool forward = true;

	g->twice = false;
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
				forward = false;
		}
	}
	return order(g, forward);
}
