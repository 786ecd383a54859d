/* graphs_ref.c -- assigns the operations of a launch as a graph by an execution of the same command buffer that ran op
 * by op. XLA runs each buffer that way when a device executes it for the first time: then there is a range for each
 * operation below the range of the buffer. */
#include <stdlib.h>

#include "extract/graphs.h"

/* ---- the execution */

/* The thunks within the range, of those created from ranges. */
static void
find_thunks(struct graphs *g, uint32_t range)
{
	const struct ex_profile *p = g->p;
	uint32_t lo = 0, hi = p->buffers.nthunks, end = range + 1;

	while (end < p->trace.nranges && p->trace.ranges[end].parent != NSX_NONE && p->trace.ranges[end].parent >=
	       range)
		end++;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (p->thunks.p[mid].range <= range)
			lo = mid + 1;
		else
			hi = mid;
	}
	g->ref.first = lo;
	while (lo < p->buffers.nthunks && p->thunks.p[lo].range < end)
		lo++;
	g->ref.n = lo - g->ref.first;
}

void
nsx_extract_ref_thunks(struct ex_profile *p, uint32_t key, uint32_t *first, uint32_t *n)
{
	struct graphs g = { .p = p };

	if (p->buffers.keys.p[key].ref != NSX_NONE)
		find_thunks(&g, p->buffers.keys.p[key].ref);
	*first = g.ref.first;
	*n = g.ref.n;
}

static bool
add_item(struct graphs *g, uint32_t thunk, uint32_t op, bool joined)
{
	const struct nsx_gpu_op *o = &g->p->trace.ops[op];
	uint32_t cls = nsx_graph_class_of(g, o);
	struct gr_item item = { cls, thunk, g->p->thunks.p[thunk].inst, 0, joined };
	struct nsx_sort_key key = { { cls, o->call_start, op }, (uint32_t)g->ref.found.n };

	/* Another process's program has different instruction numbers. */
	if (g->p->insts.p[item.inst].program != g->program)
		item.inst = nsx_graph_inst(g, nsx_intern_str(&g->p->inst_names, g->p->insts.p[item.inst].name));
	return cls != NSX_NONE && item.inst != NSX_NONE && nsx_vec_push(&g->ref.keys, key) &&
	       nsx_vec_push(&g->ref.found, item);
}

/* For each class: the position of its items, and the number of their instructions. */
static bool
sort_items(struct graphs *g)
{
	struct gr_ref *r = &g->ref;

	nsx_sort_keys(r->keys.p, r->keys.n);
	for (size_t i = 0; i < r->keys.n; i++) {
		struct gr_item item = r->found.p[r->keys.p[i].i];
		struct gr_class *c = &g->classes.p[item.cls];
		uint32_t *count = nsx_map_at(&r->counts, (struct nsx_key){ item.cls, item.inst });
		if (!count)
			return false;
		if (!c->nitems++)
			c->items = (uint32_t)i;
		if (*count == NSX_NONE) {
			c->ninsts++;
			*count = 0;
		}
		item.nth = (*count)++;
		if (!nsx_vec_push(&r->items, item))
			return false;
	}
	return true;
}

bool
nsx_graph_ref_open(struct graphs *g)
{
	const struct ex_buffers *b = &g->p->buffers;
	struct gr_ref *r = &g->ref;

	r->items.n = r->keys.n = r->found.n = 0;
	nsx_map_free(&r->counts);
	r->first = r->n = 0;
	if (b->keys.p[g->key].ref == NSX_NONE)
		return true;
	find_thunks(g, b->keys.p[g->key].ref);
	for (uint32_t t = r->first; t < r->first + r->n; t++) {
		bool joined = b->first[t + 1] - b->first[t] > 1;
		for (uint32_t k = b->first[t]; k < b->first[t + 1]; k++)
			if (g->p->trace.ops[b->ops[k]].graph_node == -1 && !add_item(g, t, b->ops[k], joined))
				return false;
	}
	return sort_items(g);
}

/* ---- a launch */

static void
tell(struct graphs *g, uint32_t op, uint32_t inst, uint32_t slot)
{
	g->found[op] = (struct gr_found){ inst, slot, EX_OP_BY_OP };
}

/* The number of operations of class c in a thunk of the instruction; 1 if its thunks differ in that. */
static uint32_t
per_thunk(const struct graphs *g, const struct gr_class *c, uint32_t inst)
{
	uint32_t all = 0, thunks = 0, last = NSX_NONE;

	for (uint32_t i = c->items; i < c->items + c->nitems; i++) {
		const struct gr_item *item = &g->ref.items.p[i];
		if (item->inst != inst)
			continue;
		all++;
		thunks += item->thunk != last;
		last = item->thunk;
	}
	return thunks && all % thunks == 0 ? all / thunks : 1;
}

/* Assign the n operations to the item's instruction, in order of start: as many to a thunk as in the execution op by
 * op, together with operations of other classes of that instruction. */
static bool
tell_runs(struct graphs *g, const struct gr_class *c, const struct gr_item *item, struct nsx_sort_key *keys, size_t n)
{
	uint32_t inst = item->inst, per = item->joined ? per_thunk(g, c, inst) : 1;

	for (size_t i = 0; i < n; i++) {
		uint32_t slot = NSX_NONE;
		if (item->joined) {
			uint32_t *at = nsx_map_at(&g->ref.runs, (struct nsx_key){ inst, i / per });
			if (!at)
				return false;
			if (*at == NSX_NONE)
				*at = g->nslots++;
			slot = *at;
		}
		tell(g, keys[i].i, inst, slot);
	}
	return true;
}

static void
by_start(struct nsx_sort_key *keys, size_t n)
{
	for (size_t i = 0; i < n; i++)
		keys[i].k[1] = 0;
	nsx_sort_keys(keys, n);
}

/* The operations keys[0] up to keys[n], by node, then start, are of one class. Those of the execution op by op are its
 * items, in order of launch. */
static bool
tell_class(struct graphs *g, const struct gr_class *c, struct nsx_sort_key *keys, size_t n, size_t nodes)
{
	const struct gr_item *items = g->ref.items.p + c->items;

	/* Nodes that ran once each, as many as items: assigned one to one. */
	if (n == nodes && n == c->nitems) {
		for (size_t i = 0; i < n; i++)
			tell(g, keys[i].i, items[i].inst, items[i].thunk - g->ref.first);
		return true;
	}
	/* Otherwise there is a loop in the graph, whose nodes run once per iteration. */
	if (c->ninsts == 1) {
		by_start(keys, n);
		return tell_runs(g, c, &items[0], keys, n);
	}
	if (nodes == c->ninsts) {
		/* Instructions in order of their first operation. */
		for (size_t i = 0, end, k = 0; i < n; i = end, k++) {
			for (end = i + 1; end < n && keys[end].k[1] == keys[i].k[1]; end++)
				;
			while (items[k].nth)
				k++;
			if (!tell_runs(g, c, &items[k], keys + i, end - i))
				return false;
		}
		return true;
	}
	if (n == c->nitems) {
		by_start(keys, n);
		for (size_t i = 0; i < n; i++)
			tell(g, keys[i].i, items[i].inst, items[i].thunk - g->ref.first);
	}
	return true;
}

bool
nsx_graph_ref_tell(struct graphs *g, const struct gr_launch *l)
{
	g->nslots = g->ref.n;
	nsx_map_free(&g->ref.runs);
	for (size_t i = 0, end, nodes; i < l->n; i = end) {
		end = nsx_graph_run(g->order, l->n, i, &nodes);
		if (g->order[i].k[0] == NSX_NONE)
			break;
		const struct gr_class *c = &g->classes.p[g->order[i].k[0]];
		if (c->nitems && !tell_class(g, c, g->order + i, end - i, nodes))
			return false;
	}
	return true;
}

void
nsx_graph_ref_free(struct gr_ref *r)
{
	free(r->items.p);
	free(r->keys.p);
	free(r->found.p);
	nsx_map_free(&r->counts);
	nsx_map_free(&r->runs);
}
