/* cost_fusion.c -- the bytes that a fused computation reads and writes: the parts of its parameters that its results
 * need.
 *
 * Each instruction is visited once, from the results back to the parameters: how many of its elements do its users
 * need? The sum of what each user needs, at most all elements. A result that is an update of a parameter is written in
 * place: only the bytes of the update are counted. cost.h has an example. */
#include "base/num.h"
#include "xla/cost.h"

/* Skip bitcasts; the result may be a parameter or an element of one. */
static void
find_sources(struct nsx_cost_graph *g)
{
	for (uint32_t k = 0; k < g->order.n; k++) {
		uint32_t i = g->order.p[k];
		const struct nsx_cost_node *n = &g->nodes.p[i];
		uint32_t o = n->noperands ? (uint32_t)g->operands.p[n->operands] : NSX_NONE;
		g->needs.p[i].base = n->kind == NSX_COST_BITCAST && o != NSX_NONE ? g->needs.p[o].base : i;
		g->needs.p[i].source = n->kind == NSX_COST_PARAMETER || (n->kind == NSX_COST_ELEMENT && o != NSX_NONE &&
			g->needs.p[o].source);
	}
}

int64_t
nsx_cost_update_bytes(const struct nsx_cost_graph *g, const struct nsx_cost_node *n, enum nsx_cost_state *s)
{
	/* A scatter of several arrays: that many operands, the indices, that many updates. */
	uint32_t first = n->kind == NSX_COST_SCATTER ? n->noperands / 2 + 1 : 1;
	uint32_t end = n->kind == NSX_COST_SCATTER ? n->noperands : 2;
	int64_t sum = 0;

	if (first >= n->noperands || (n->kind == NSX_COST_SCATTER && n->noperands % 2 == 0)) {
		nsx_cost_worse(s, NSX_COST_BAD);
		return 0;
	}
	for (uint32_t i = first; i < end; i++)
		sum = nsx_cost_add(sum, nsx_cost_operand(g, n, i)->shape.bytes, s);
	return sum;
}

/* All of node i is a result: add the bytes that writing it moves. */
static int64_t
result(struct nsx_cost_graph *g, uint32_t i, enum nsx_cost_state *s)
{
	const struct nsx_cost_node *n = &g->nodes.p[g->needs.p[i].base];

	g->needs.p[i].reached = true;
	g->needs.p[i].need = g->nodes.p[i].shape.elements;
	if ((n->kind == NSX_COST_DYNAMIC_UPDATE || n->kind == NSX_COST_SCATTER) && n->noperands) {
		uint32_t into = g->needs.p[g->operands.p[n->operands]].base;
		if (g->needs.p[into].source) {
			g->needs.p[g->needs.p[i].base].in_place = true;
			return nsx_cost_mul(n->kind == NSX_COST_SCATTER ? 2 : 1, nsx_cost_update_bytes(g, n, s), s);
		}
	}
	return n->kind == NSX_COST_CUSTOM && g->needs.p[i].base == i ? nsx_cost_output_bytes(g, n)
	       : g->nodes.p[i].shape.bytes;
}

/* How many elements of its k-th operand, which has `all`, u needs to compute `need` elements. */
static int64_t
asked(const struct nsx_cost_graph *g, const struct nsx_cost_node *u, uint32_t k, int64_t need, bool in_place,
      int64_t all)
{
	int64_t own = u->shape.elements, least = need < all ? need : all;

	switch (u->kind) {
	case NSX_COST_SLICE: case NSX_COST_DYNAMIC_SLICE: case NSX_COST_GATHER:
		return k == 0 ? least : all;
	case NSX_COST_DYNAMIC_UPDATE: case NSX_COST_SCATTER:
		if (k == 0)
			return in_place ? 0 : least;
		return k == 1 && u->kind == NSX_COST_DYNAMIC_UPDATE ? least : all;
	case NSX_COST_BROADCAST: case NSX_COST_CONCATENATE:
		return least;
	case NSX_COST_PAD:
		return k == 0 ? least : all;
	case NSX_COST_ARITHMETIC: case NSX_COST_BITCAST: case NSX_COST_MOVE:
		return own == all ? least : all;
	case NSX_COST_REDUCE:
		if (u->shape.tuple || !own)
			return all;
		/* Rounded up; its initial value is one element, which is needed. */
		return (int64_t)(((nsx_u128)need * all + own - 1) / own);
	case NSX_COST_ELEMENT:
		return g->needs.p[g->operands.p[u->operands]].source ? 0 : all;
	default:
		return all;
	}
}

static void
ask(struct nsx_cost_graph *g)
{
	for (uint32_t k = (uint32_t)g->order.n; k-- > 0;) {
		uint32_t i = g->order.p[k];
		const struct nsx_cost_node *u = &g->nodes.p[i];
		if (!g->needs.p[i].reached)
			continue;
		for (uint32_t p = 0; p < u->noperands; p++) {
			struct nsx_cost_need *o = &g->needs.p[g->operands.p[u->operands + p]];
			int64_t all = g->nodes.p[g->operands.p[u->operands + p]].shape.elements;
			int64_t n = asked(g, u, p, g->needs.p[i].need, g->needs.p[i].in_place, all);
			o->reached = true;
			o->need = n > all - o->need ? all : o->need + n;
		}
	}
}

/* The bytes of the needed elements of node i. */
static int64_t
needed_bytes(const struct nsx_cost_graph *g, uint32_t i, enum nsx_cost_state *s)
{
	const struct nsx_cost_node *n = &g->nodes.p[i];

	if (n->shape.tuple || !n->shape.nleaves || g->needs.p[i].need == n->shape.elements)
		return g->needs.p[i].need ? n->shape.bytes : 0;
	return nsx_cost_add(nsx_cost_mul(g->needs.p[i].need, g->leaves.p[n->shape.leaf].bits, s), 7, s) / 8;
}

int64_t
nsx_cost_fused_bytes(struct nsx_cost_graph *g, uint32_t root, enum nsx_cost_state *s, bool *nomem)
{
	const struct nsx_cost_node *r = &g->nodes.p[root];
	int64_t bytes = 0;

	g->needs.n = 0;
	if (!nsx_vec_room(&g->needs, g->nodes.n)) {
		*nomem = true;
		return 0;
	}
	for (size_t i = 0; i < g->nodes.n; i++)
		g->needs.p[g->needs.n++] = (struct nsx_cost_need){ 0 };
	find_sources(g);
	if (r->kind != NSX_COST_TUPLE)
		bytes = result(g, root, s);
	for (uint32_t i = 0; r->kind == NSX_COST_TUPLE && i < r->noperands; i++)
		bytes = nsx_cost_add(bytes, result(g, (uint32_t)g->operands.p[r->operands + i], s), s);
	ask(g);
	for (uint32_t i = 0; i < g->nodes.n; i++) {
		const struct nsx_cost_node *n = &g->nodes.p[i];
		if (g->needs.p[i].source || (n->kind == NSX_COST_CONSTANT && n->shape.elements > 1))
			bytes = nsx_cost_add(bytes, needed_bytes(g, i, s), s);
	}
	return bytes;
}
