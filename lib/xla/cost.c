/* cost.c -- the cost of instructions, and of computations including those that they call. */
#include "xla/cost.h"

#include <stdlib.h>

/* ---- one instruction */

/* Work of an instruction in addition to its terms. */
struct own { struct nsx_cost_flops dot; int64_t vector; enum nsx_cost_state state; };

static int64_t
window_size(const struct nsx_cost_graph *g, const struct nsx_cost_node *n, enum nsx_cost_state *s)
{
	int64_t size = 1;

	if (n->work == NSX_NONE) {
		nsx_cost_worse(s, NSX_COST_BAD);
		return 1;
	}
	const struct nsx_cost_list *w = &g->works.p[n->work].window;
	for (uint32_t i = 0; i < w->n; i += NSX_COST_W_NUMBERS) {
		if (g->numbers.p[w->first + i] <= 0) {
			nsx_cost_worse(s, NSX_COST_BAD);
			return 1;
		}
		size = nsx_cost_mul(size, g->numbers.p[w->first + i], s);
	}
	return size ? size : 1;
}

/* Elements of the first array of an operand. */
static int64_t
elements(const struct nsx_cost_graph *g, const struct nsx_cost_node *n, uint32_t operand, enum nsx_cost_state *s)
{
	const struct nsx_cost_leaf *l = nsx_cost_first(g, nsx_cost_operand(g, n, operand));

	if (!l)
		nsx_cost_worse(s, NSX_COST_BAD);
	return l ? l->elements : 0;
}

/* How many times each computation that an instruction calls is applied: `times[0]` for the first and so on. */
static void
applied(const struct nsx_cost_graph *g, const struct nsx_cost_node *n, int64_t times[2], enum nsx_cost_state *s)
{
	const struct nsx_cost_leaf *out = nsx_cost_first(g, n);
	int64_t of, window;

	times[0] = times[1] = 1;
	switch (n->kind) {
	case NSX_COST_REDUCE:
		of = elements(g, n, 0, s);
		if (!out || of < out->elements)
			/* A reduction of no elements: the results are the initial values. */
			times[0] = 0;
		else
			times[0] = of - out->elements;
		break;
	case NSX_COST_REDUCE_WINDOW:
		window = window_size(g, n, s);
		times[0] = out ? nsx_cost_mul(window - 1, out->elements, s) : 0;
		break;
	case NSX_COST_SELECT_SCATTER:
		times[1] = elements(g, n, 1, s);
		window = window_size(g, n, s);
		times[0] = nsx_cost_mul(times[1], window - 1, s);
		break;
	case NSX_COST_SCATTER:
		if (n->noperands % 2 == 0)
			nsx_cost_worse(s, NSX_COST_BAD);
		times[0] = elements(g, n, n->noperands / 2 + 1, s);
		break;
	case NSX_COST_MAP:
		times[0] = out ? out->elements : 0;
		break;
	default:
		break;
	}
	if (!out && n->kind != NSX_COST_FUSION && n->kind != NSX_COST_CALL)
		nsx_cost_worse(s, NSX_COST_BAD);
}

/* How many computations an opcode calls. */
static uint32_t
callees(enum nsx_cost_kind k)
{
	switch (k) {
	case NSX_COST_REDUCE: case NSX_COST_REDUCE_WINDOW: case NSX_COST_SCATTER: case NSX_COST_MAP:
	case NSX_COST_FUSION: case NSX_COST_CALL:
		return 1;
	case NSX_COST_SELECT_SCATTER:
		return 2;
	default:
		return 0;
	}
}

static bool
add_terms(struct nsx_costs *c, const struct nsx_cost_node *n, struct own *own)
{
	const struct nsx_cost_graph *g = &c->graph;
	uint32_t want = callees(n->kind);
	int64_t times[2];

	if (!want)
		return true;
	if (n->ncalls != want) {
		nsx_cost_worse(&own->state, NSX_COST_BAD);
		return true;
	}
	applied(g, n, times, &own->state);
	for (uint32_t i = 0; i < want; i++)
		if (!nsx_vec_push(&c->terms, ((struct nsx_cost_term){ g->calls.p[n->calls + i], times[i] })))
			return false;
	return true;
}

/* The minimum number of operands of an opcode. */
static uint32_t
arity(enum nsx_cost_kind k)
{
	switch (k) {
	case NSX_COST_ELEMENT: case NSX_COST_BITCAST: case NSX_COST_ARITHMETIC: case NSX_COST_MOVE: case NSX_COST_SLICE:
	case NSX_COST_DYNAMIC_SLICE:
	case NSX_COST_BROADCAST: case NSX_COST_CONCATENATE: case NSX_COST_MAP: case NSX_COST_COPY_START:
		return 1;
	case NSX_COST_DYNAMIC_UPDATE: case NSX_COST_GATHER: case NSX_COST_PAD: case NSX_COST_REDUCE:
	case NSX_COST_REDUCE_WINDOW: case NSX_COST_DOT:
	case NSX_COST_CONVOLUTION:
		return 2;
	case NSX_COST_SCATTER: case NSX_COST_SELECT_SCATTER:
		return 3;
	default:
		return 0;
	}
}

/* An operand or result is in host memory, or of unknown size. */
static void
check_shapes(const struct nsx_cost_graph *g, const struct nsx_cost_node *n, enum nsx_cost_state *s)
{
	nsx_cost_worse(s, n->shape.state);
	if (n->shape.host)
		nsx_cost_worse(s, NSX_COST_UNKNOWN);
	for (uint32_t i = 0; i < n->noperands; i++) {
		const struct nsx_cost_node *o = nsx_cost_operand(g, n, i);
		if (!o)
			continue;
		nsx_cost_worse(s, o->shape.state);
		if (o->shape.host)
			nsx_cost_worse(s, NSX_COST_UNKNOWN);
	}
}

/* False when out of memory. */
static bool
own_work(struct nsx_costs *c, const struct nsx_cost_node *n, struct own *own)
{
	struct nsx_cost_graph *g = &c->graph;

	*own = (struct own){ .dot = { 0, NSX_HLO_F32, NSX_COST_OK }, .state = n->state };
	check_shapes(g, n, &own->state);
	if (n->noperands < arity(n->kind))
		nsx_cost_worse(&own->state, NSX_COST_BAD);
	switch (n->kind) {
	case NSX_COST_OTHER:
		nsx_cost_worse(&own->state, NSX_COST_UNKNOWN);
		break;
	case NSX_COST_ARITHMETIC: case NSX_COST_RANDOM:
		own->vector = n->shape.elements;
		break;
	case NSX_COST_DOT:
		own->dot = nsx_cost_dot(g, n);
		break;
	case NSX_COST_CONVOLUTION:
		own->dot = nsx_cost_convolution(g, n);
		break;
	case NSX_COST_CUSTOM:
		own->dot = nsx_cost_custom(g, n);
		break;
	default:
		break;
	}
	nsx_cost_worse(&own->state, own->dot.state);
	return add_terms(c, n, own);
}

/* ---- the bytes that one instruction moves */

int64_t
nsx_cost_output_bytes(const struct nsx_cost_graph *g, const struct nsx_cost_node *n)
{
	enum { S8 = 2, U8 = 6 };
	const struct nsx_cost_leaf *last = n->shape.nleaves > 1 ? &g->leaves.p[n->shape.leaf + n->shape.nleaves - 1]
	    : NULL;

	/* The workspace of a library call. */
	if (n->kind == NSX_COST_CUSTOM && n->shape.tuple && last && last->ndims == 1 &&
	    (last->type == S8 || last->type == U8))
		return n->shape.bytes - last->bytes;
	return n->shape.bytes;
}

static int64_t
operand_bytes(const struct nsx_cost_graph *g, const struct nsx_cost_node *n, uint32_t i)
{
	const struct nsx_cost_node *o = nsx_cost_operand(g, n, i);

	return o ? o->shape.bytes : 0;
}

static int64_t
own_bytes(const struct nsx_cost_graph *g, const struct nsx_cost_node *n, enum nsx_cost_state *s)
{
	int64_t bytes;

	switch (n->kind) {
	case NSX_COST_NOTHING: case NSX_COST_PARAMETER: case NSX_COST_CONSTANT: case NSX_COST_TUPLE:
	case NSX_COST_ELEMENT: case NSX_COST_BITCAST:
		return 0;
	case NSX_COST_SLICE:
		return nsx_cost_mul(2, n->shape.bytes, s);
	case NSX_COST_DYNAMIC_SLICE: case NSX_COST_GATHER:
		return nsx_cost_add(nsx_cost_mul(2, n->shape.bytes, s), operand_bytes(g, n, 1), s);
	case NSX_COST_DYNAMIC_UPDATE:
		return nsx_cost_add(nsx_cost_mul(2, nsx_cost_update_bytes(g, n, s), s), operand_bytes(g, n, 2), s);
	case NSX_COST_SCATTER:
		return nsx_cost_add(nsx_cost_mul(3, nsx_cost_update_bytes(g, n, s), s),
		                    operand_bytes(g, n, n->noperands / 2), s);
	case NSX_COST_COPY_START:
		return nsx_cost_mul(2, operand_bytes(g, n, 0), s);
	default:
		bytes = nsx_cost_output_bytes(g, n);
		for (uint32_t i = 0; i < n->noperands; i++)
			bytes = nsx_cost_add(bytes, operand_bytes(g, n, i), s);
		return bytes;
	}
}

/* The record of a candidate. terms: those that own_work has just appended. */
static struct nsx_cost_inst
inst_of(const struct nsx_costs *c, const struct nsx_cost_node *n, const struct own *own, uint32_t terms)
{
	struct nsx_cost_inst x = {
		.flops = own->dot.flops, .math = own->dot.math, .vector = own->vector, .state = own->state,
		.terms = terms,
		.nterms = (uint32_t)c->terms.n - terms, .operands = n->noperands
	};

	if (n->kind == NSX_COST_FUSION || n->kind == NSX_COST_ASYNC) {
		x.from = n->kind == NSX_COST_FUSION ? NSX_COST_OF_CALLEE : NSX_COST_OF_ROOT;
		if (n->ncalls == 1)
			x.callee = c->graph.calls.p[n->calls];
		else
			nsx_cost_worse(&x.state, NSX_COST_BAD);
	} else if (n->kind == NSX_COST_CALL) {
		/* The computation that it calls is executed as thunks with their own names. */
		nsx_cost_worse(&x.state, NSX_COST_UNKNOWN);
	} else if (x.state == NSX_COST_OK) {
		x.bytes = own_bytes(&c->graph, n, &x.state);
	}
	return x;
}

/* ---- one computation */

/* Check that parameters are numbered 0, 1, ..., each once. False when out of memory. */
static bool
count_parameters(struct nsx_cost_graph *g, uint32_t *count, enum nsx_cost_state *s)
{
	uint32_t n = 0;

	for (size_t i = 0; i < g->nodes.n; i++)
		n += g->nodes.p[i].kind == NSX_COST_PARAMETER;
	*count = n;
	g->numbered.n = 0;
	if (!nsx_vec_room(&g->numbered, n))
		return false;
	for (uint32_t i = 0; i < n; i++)
		g->numbered.p[i] = false;
	for (size_t i = 0; i < g->nodes.n; i++) {
		int64_t k = g->nodes.p[i].number;
		if (g->nodes.p[i].kind != NSX_COST_PARAMETER)
			continue;
		if (k < 0 || k >= n || g->numbered.p[k])
			nsx_cost_worse(s, NSX_COST_BAD);
		else
			g->numbered.p[k] = true;
	}
	return true;
}

static void
add_own(struct nsx_cost_sum *sum, const struct own *own)
{
	nsx_cost_worse(&sum->state, own->state);
	if (sum->state != NSX_COST_OK)
		return;
	sum->flops[own->dot.math] = nsx_cost_add(sum->flops[own->dot.math], own->dot.flops, &sum->state);
	sum->vector = nsx_cost_add(sum->vector, own->vector, &sum->state);
}

bool
nsx_costs_add(struct nsx_costs *c, int64_t root)
{
	struct nsx_cost_graph *g = &c->graph;
	struct nsx_cost_comp comp = { .terms = (uint32_t)c->terms.n, .root = NSX_NONE };
	struct own own;
	bool nomem = false;

	for (size_t i = 0; i < g->nodes.n; i++) {
		const struct nsx_cost_node *n = &g->nodes.p[i];
		uint32_t terms = (uint32_t)c->terms.n;
		if (!own_work(c, n, &own))
			return false;
		if (n->cand != NSX_NONE)
			c->insts.p[n->cand] = inst_of(c, n, &own, terms);
		/* A fusion runs arithmetic only. */
		if (n->kind == NSX_COST_ASYNC || n->kind == NSX_COST_COPY_START)
			nsx_cost_worse(&own.state, NSX_COST_UNKNOWN);
		add_own(&comp.sum, &own);
	}
	comp.nterms = (uint32_t)c->terms.n - comp.terms;
	uint32_t at = nsx_cost_graph_find(g, root);
	if (at != NSX_NONE)
		comp.root = g->nodes.p[at].cand;
	if (at == NSX_NONE || g->twice)
		nsx_cost_worse(&comp.sum.state, NSX_COST_BAD);
	if (!count_parameters(g, &comp.parameters, &comp.sum.state))
		return false;
	if (comp.sum.state == NSX_COST_OK)
		comp.sum.bytes = nsx_cost_fused_bytes(g, at, &comp.sum.state, &nomem);
	return !nomem && nsx_vec_push(&c->comps, comp);
}

/* ---- computations and those that they call */

static void
add_term(struct nsx_cost_sum *sum, const struct nsx_cost_sum *part, int64_t times)
{
	nsx_cost_worse(&sum->state, part->state);
	if (sum->state != NSX_COST_OK)
		return;
	for (int m = 0; m < NSX_HLO_MATHS; m++)
		sum->flops[m] = nsx_cost_add(sum->flops[m], part->flops[m], &sum->state);
	sum->vector = nsx_cost_add(sum->vector, nsx_cost_mul(times, part->vector, &sum->state), &sum->state);
}

static uint32_t
find(const struct nsx_map *comp_of, int64_t id)
{
	return nsx_map_get(comp_of, (struct nsx_key){ (uint64_t)id, 0 });
}

/* Add up computation i and those that it calls, at any depth. Nothing in a cycle is modelled. False when out of
 * memory. */
static bool
resolve(struct nsx_costs *c, const struct nsx_map *comp_of, uint32_t i)
{
	uint32_t enter = i;

	if (c->comps.p[i].resolved)
		return true;
	for (c->open.n = 0;;) {
		if (enter != NSX_NONE) {
			if (!nsx_vec_room(&c->open, 1))
				return false;
			c->comps.p[enter].resolved = 1;
			c->open.p[c->open.n].comp = enter;
			c->open.p[c->open.n++].next = 0;
			enter = NSX_NONE;
		}
		struct nsx_cost_comp *top = &c->comps.p[c->open.p[c->open.n - 1].comp];
		uint32_t next = c->open.p[c->open.n - 1].next;
		if (next == top->nterms) {
			top->resolved = 2;
			if (--c->open.n == 0)
				return true;
			continue;
		}
		const struct nsx_cost_term *t = &c->terms.p[top->terms + next];
		uint32_t sub = find(comp_of, t->comp);
		if (sub != NSX_NONE && !c->comps.p[sub].resolved) {
			enter = sub;
			continue;
		}
		if (sub == NSX_NONE || c->comps.p[sub].resolved == 1)
			nsx_cost_worse(&top->sum.state, NSX_COST_BAD);
		else
			add_term(&top->sum, &c->comps.p[sub].sum, t->vector);
		c->open.p[c->open.n - 1].next++;
	}
}

/* The flops of several arithmetics: their sum, with the arithmetic that has the most flops; among equal ones, the
 * slower. */
static void
settle(const struct nsx_cost_sum *sum, struct nsx_hlo_cost *out, enum nsx_cost_state *s)
{
	enum nsx_hlo_math most = NSX_HLO_F64;
	int64_t flops = 0;

	nsx_cost_worse(s, sum->state);
	for (int m = 0; m < NSX_HLO_MATHS; m++) {
		flops = nsx_cost_add(flops, sum->flops[m], s);
		if (sum->flops[m] > sum->flops[most])
			most = (enum nsx_hlo_math)m;
	}
	*out = (struct nsx_hlo_cost){ *s == NSX_COST_OK, most, flops, sum->vector, sum->bytes };
	if (*s != NSX_COST_OK)
		*out = (struct nsx_hlo_cost){ .modelled = false };
}

bool
nsx_costs_of(struct nsx_costs *c, const struct nsx_map *comp_of, uint32_t i, struct nsx_hlo_cost *out,
             enum nsx_cost_state *s)
{
	const struct nsx_cost_inst *x = &c->insts.p[i];
	struct nsx_cost_sum sum = { .state = x->state };
	uint32_t sub = x->from == NSX_COST_OWN ? NSX_NONE : find(comp_of, x->callee);

	*s = NSX_COST_OK;
	if (x->from == NSX_COST_OF_ROOT && sub != NSX_NONE) {
		/* An async start has the cost of the computation that it starts. */
		uint32_t root = c->comps.p[sub].root;
		if (root == NSX_NONE || c->insts.p[root].from == NSX_COST_OF_ROOT)
			nsx_cost_worse(&sum.state, NSX_COST_UNKNOWN);
		else if (sum.state == NSX_COST_OK)
			return nsx_costs_of(c, comp_of, root, out, s);
	} else if (x->from == NSX_COST_OF_CALLEE && sub != NSX_NONE) {
		if (!resolve(c, comp_of, sub))
			return false;
		const struct nsx_cost_comp *comp = &c->comps.p[sub];
		nsx_cost_worse(&sum.state, comp->parameters == x->operands ? NSX_COST_OK : NSX_COST_BAD);
		nsx_cost_worse(&sum.state, comp->sum.state);
		if (sum.state == NSX_COST_OK)
			sum = comp->sum;
	} else if (x->from != NSX_COST_OWN) {
		nsx_cost_worse(&sum.state, NSX_COST_BAD);
	} else {
		sum.flops[x->math] = x->flops;
		sum.vector = x->vector;
		sum.bytes = x->bytes;
		for (uint32_t k = 0; k < x->nterms && sum.state == NSX_COST_OK; k++) {
			const struct nsx_cost_term *t = &c->terms.p[x->terms + k];
			sub = find(comp_of, t->comp);
			if (sub == NSX_NONE) {
				nsx_cost_worse(&sum.state, NSX_COST_BAD);
				break;
			}
			if (!resolve(c, comp_of, sub))
				return false;
			add_term(&sum, &c->comps.p[sub].sum, t->vector);
		}
	}
	settle(&sum, out, s);
	return true;
}

void
nsx_costs_free(struct nsx_costs *c)
{
	nsx_cost_graph_free(&c->graph);
	free(c->comps.p);
	free(c->insts.p);
	free(c->terms.p);
	free(c->open.p);
	*c = (struct nsx_costs){ 0 };
}
