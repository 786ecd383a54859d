/* graphs_list.c -- assigns the operations of a launch by XLA's list of thunks: the nodes of a graph are created in the
 * order of the list, so their node numbers are ordered like the thunks. Most captures begin after every buffer has run
 * once, so this is often the only source. */
#include <stdlib.h>

#include "extract/graphs.h"

/* Categories without a kernel name; those with one follow. */
enum { COLLECTIVES, COPIES, SETS, LIBRARIES, NAMED };

bool
nsx_graph_list_read(struct graphs *g)
{
	struct ex_profile *p = g->p;
	const struct nsx_extract_program *program = &p->programs.p[g->program];
	const char *text, *metadata;
	struct nsx_err why = { "" };

	if (!g->dump || !g->dump->dir ||
	    nsx_dump_dir_list(g->dump->dir, program->id, program->name, &text, &metadata) != NSX_DUMP_ONE)
		return true;
	if (nsx_thunk_list_read(text, metadata, &g->list.list, &why) == NSX_OK) {
		g->list.there = true;
		return true;
	}
	/* The same command must give the same stream each time. */
	if (g->list.list.trouble) {
		p->rc = nsx_err_set(&p->err, "%s", why.msg);
		return false;
	}
	nsx_diag_add(&p->diags, NSX_WARNING, p->trace.name.ptr, 1,
	             "program %.*s@%lld: XLA's list of thunks not used: %s", (int)program->name.len, program->name.ptr,
	             (long long)program->id, why.msg);
	return true;
}

/* A thunk's name; inside fusions, that of the outermost fusion. */
static struct nsx_str
leaf_name(const struct graphs *g, uint32_t leaf)
{
	const struct nsx_thunk *t = g->list.list.thunks;
	struct nsx_str name = t[leaf].name;

	for (uint32_t i = leaf; i != NSX_NONE; i = t[i].parent) {
		const struct nsx_hlo_inst *inst = t[i].name.len ? nsx_hlo_find(g->dump->h, t[i].name) : NULL;
		if (inst && nsx_str_eq(inst->opcode, NSX_STR("fusion")))
			name = t[i].name;
	}
	return name;
}

/* The category of a leaf; NSX_NONE when out of memory. */
static uint32_t
cat_of(struct graphs *g, const struct nsx_thunk *t)
{
	struct gr_list *l = &g->list;

	switch (t->work) {
	case NSX_WORK_COLLECTIVE: return COLLECTIVES;
	case NSX_WORK_COPY:       return COPIES;
	case NSX_WORK_SET:        return SETS;
	case NSX_WORK_KERNEL:     break;
	default:                  return LIBRARIES;
	}
	uint32_t name = nsx_intern_find(&g->p->trace.names, t->kernel);
	/* Kernels that never ran need no category. */
	uint32_t *at = nsx_map_at(&l->by_name, (struct nsx_key){ name, 1 });
	if (!at)
		return NSX_NONE;
	if (*at == NSX_NONE) {
		if (!nsx_vec_push(&l->cats, ((struct gr_cat){ 0, 0 })))
			return NSX_NONE;
		*at = (uint32_t)l->cats.n - 1;
	}
	return *at;
}

/* Leaves with their instructions, by category. */
static bool
sort_leaves(struct graphs *g)
{
	struct gr_list *l = &g->list;

	nsx_sort_keys(l->keys.p, l->keys.n);
	for (size_t i = 0; i < l->keys.n; i++) {
		struct nsx_str name = leaf_name(g, l->keys.p[i].i);
		uint32_t inst = name.len ? nsx_graph_inst(g, name) : NSX_NONE;
		if ((name.len && inst == NSX_NONE) || !nsx_vec_push(&l->leaves, inst))
			return false;
		struct gr_cat *c = &l->cats.p[l->keys.p[i].k[0]];
		if (!c->n++)
			c->first = (uint32_t)i;
	}
	return true;
}

bool
nsx_graph_list_open(struct graphs *g)
{
	struct gr_list *l = &g->list;

	l->cats.n = l->leaves.n = l->keys.n = 0;
	nsx_map_free(&l->by_name);
	uint32_t buffer = l->there ? nsx_thunk_list_buffer(&l->list, nsx_intern_str(&g->p->inst_names,
		g->p->buffers.keys.p[g->key].name)) : NSX_NONE;
	if (buffer == NSX_NONE)
		return true;
	for (int i = 0; i < NAMED; i++)
		if (!nsx_vec_push(&l->cats, ((struct gr_cat){ 0, 0 })))
			return false;
	const struct nsx_thunk *t = &l->list.thunks[buffer];
	for (uint32_t i = t->first; i < t->last; i++) {
		uint32_t leaf = l->list.leaves[i], cat = cat_of(g, &l->list.thunks[leaf]);
		if (cat == NSX_NONE || !nsx_vec_push(&l->keys, ((struct nsx_sort_key){ { cat, i, 0 }, leaf })))
			return false;
	}
	return sort_leaves(g);
}

/* The category of the operations of the class; NSX_NONE: there is no list, or the list has no such work. */
static uint32_t
class_cat(struct graphs *g, const struct gr_class *c)
{
	if (!g->list.cats.n)
		return NSX_NONE;
	if (c->type == NSX_OP_MEMCPY)
		return COPIES;
	if (c->type == NSX_OP_MEMSET)
		return SETS;
	if (c->type != NSX_OP_KERNEL || c->name == NSX_NONE)
		return NSX_NONE;
	uint32_t cat = nsx_map_get(&g->list.by_name, (struct nsx_key){ c->name, 1 });
	return cat != NSX_NONE ? cat : nsx_graph_kind(g, gr_name(g, c->name))
	       ? (uint32_t)COLLECTIVES : (uint32_t)LIBRARIES;
}

/* Whether the operation is a kernel of a library that the list has told. */
static bool
is_library(const struct graphs *g, uint32_t i)
{
	return g->found[i].source == EX_LIST && g->found[i].inst != NSX_NONE && g->cls[i] != NSX_NONE
	       && g->classes.p[g->cls[i]].cat == LIBRARIES;
}

/* Whether the memset i belongs to the kernel of a library behind it, as cuBLAS clears a few bytes before some of its
 * own: it is the node before the kernel's, and ran directly before it. */
static bool
is_of_library(const struct graphs *g, const struct gr_launch *l, uint32_t i)
{
	const struct nsx_gpu_op *op = &g->p->trace.ops[l->ops[i]],
	                        *next = i + 1 < l->n ? &g->p->trace.ops[l->ops[i + 1]] : NULL;

	return next && g->found[i].inst == NSX_NONE && is_library(g, i + 1)
	       && next->graph_node == op->graph_node + 1 && next->start >= op->end;
}

/* Assign the memsets order[from, end), which are more than those of the list: some are of libraries. Nothing, unless
 * the others are as many as the list has. */
static void
tell_sets(struct graphs *g, const struct gr_launch *l, size_t from, size_t end)
{
	const struct gr_cat *c = &g->list.cats.p[SETS];
	int64_t last = -1;
	uint32_t n = 0;

	for (size_t k = from; k < end; k++)
		if (!is_of_library(g, l, g->order[k].i) && (!n || g->order[k].k[1] != last)) {
			last = g->order[k].k[1];
			n++;
		}
	if (n != c->n)
		return;
	n = 0;
	for (size_t k = from; k < end; k++) {
		uint32_t i = g->order[k].i;

		if (is_of_library(g, l, i)) {
			g->found[i + 1].slot = g->nslots++;
			g->found[i] = g->found[i + 1];
			continue;
		}
		n += !n || g->order[k].k[1] != last;
		last = g->order[k].k[1];
		uint32_t inst = g->list.leaves.p[c->first + n - 1];

		if (g->found[i].inst == NSX_NONE && inst != NSX_NONE)
			g->found[i] = (struct gr_found){ inst, NSX_NONE, EX_LIST };
	}
}

bool
nsx_graph_list_tell(struct graphs *g, const struct gr_launch *l)
{
	size_t sets = 0, sets_end = 0;

	if (!g->list.cats.n)
		return true;
	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t cls = g->cls[i], cat = NSX_NONE;
		if (cls != NSX_NONE) {
			struct gr_class *c = &g->classes.p[cls];
			if (!c->sorted) {
				c->cat = class_cat(g, c);
				c->sorted = true;
			}
			cat = c->cat;
		}
		g->order[i] = (struct nsx_sort_key){ { cat, g->p->trace.ops[l->ops[i]].graph_node, 0 }, i };
	}
	nsx_sort_keys(g->order, l->n);
	for (size_t i = 0, end, nodes; i < l->n; i = end) {
		end = nsx_graph_run(g->order, l->n, i, &nodes);
		if (g->order[i].k[0] == NSX_NONE)
			break;
		const struct gr_cat *c = &g->list.cats.p[g->order[i].k[0]];
		if (nodes > c->n && g->order[i].k[0] == SETS) {
			sets = i;
			sets_end = end;
		}
		if (nodes != c->n)
			continue;
		uint32_t leaf = c->first;
		for (size_t k = i; k < end; k++) {
			leaf += k > i && g->order[k].k[1] != g->order[k - 1].k[1];
			struct gr_found *f = &g->found[g->order[k].i];
			if (f->inst == NSX_NONE && g->list.leaves.p[leaf] != NSX_NONE)
				*f = (struct gr_found){ g->list.leaves.p[leaf], NSX_NONE, EX_LIST };
		}
	}
	if (sets_end > sets)
		tell_sets(g, l, sets, sets_end);
	return !g->text.failed;
}

void
nsx_graph_list_free(struct gr_list *l)
{
	nsx_thunk_list_free(&l->list);
	free(l->cats.p);
	free(l->leaves.p);
	free(l->keys.p);
	nsx_map_free(&l->by_name);
}
