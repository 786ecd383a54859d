/* graphs_name.c -- assigns kernels that only one instruction can have. XLA names a kernel after an instruction, and
 * uses one kernel for equal fusions: if an instruction that runs as a thunk has that name, and no other such fusion has
 * an equal computation, the kernel is that instruction's. Kernels named after an instruction inside a fusion cannot be
 * assigned here.
 *
 * For example, with fusions loop_add_fusion, loop_mul_fusion and loop_mul_fusion_1, of which the last two have equal
 * computations: kernel loop_add_fusion is assigned to loop_add_fusion; kernel loop_mul_fusion, which both of the others
 * run, is not. */
#include "extract/graphs.h"

#include <stdlib.h>

enum { SEVERAL = NSX_NONE - 1 };

/* XLA names kernels after instructions, with '_' for characters that C identifiers lack. */
static void
kernel_name(struct nsx_str inst, struct nsx_buf *out)
{
	out->len = 0;
	for (size_t i = 0; i < inst.len; i++) {
		char c = inst.ptr[i];
		bool plain = nsx_is_word(c);
		nsx_buf_char(out, plain ? c : '_');
	}
}

/* Instructions by kernel, only those whose computation no other fusion has. bodies: 0 where an instruction is not a
 * fusion. */
static bool
index_names(struct graphs *g, const uint64_t *bodies)
{
	const struct nsx_hlo *h = g->dump->h;
	struct nsx_map equal = { 0 };
	bool good = true;

	for (uint32_t i = 0; i < h->ninsts && good; i++) {
		uint32_t *at = bodies[i] && h->insts[i].thunk ? nsx_map_at(&equal, (struct nsx_key){ bodies[i], 0 })
		    : NULL;
		if (at)
			*at = *at == NSX_NONE ? i : SEVERAL;
		else
			good = !bodies[i] || !h->insts[i].thunk;
	}
	for (uint32_t i = 0; i < h->ninsts && good; i++) {
		if (!h->insts[i].thunk)
			continue;
		kernel_name(h->insts[i].name, &g->text);
		uint32_t name = g->text.failed ? NSX_NONE : nsx_intern_find(&g->p->trace.names, nsx_buf_view(&g->text));
		if (name == NSX_NONE)
			continue;
		uint32_t *at = nsx_map_at(&g->names.by_name, (struct nsx_key){ name, 0 });
		bool alone = !bodies[i] || nsx_map_get(&equal, (struct nsx_key){ bodies[i], 0 }) != SEVERAL;
		if (at)
			*at = *at == NSX_NONE && alone ? i : SEVERAL;
		good = at != NULL;
	}
	nsx_map_free(&equal);
	return good && !g->text.failed;
}

static bool
make_names(struct graphs *g)
{
	struct ex_profile *p = g->p;
	struct nsx_err why = { "" };
	uint64_t *bodies = NULL;

	g->names.made = true;
	int rc = g->dump->path ? nsx_hlo_bodies(g->dump->path, g->dump->h, &bodies, &why)
	    : nsx_hlo_bodies_of(g->dump->bytes, p->input->path, g->dump->h, &bodies, &why);
	if (rc != NSX_OK) {
		/* It was readable before. */
		p->rc = nsx_err_set(&p->err, "%s", why.msg);
		return false;
	}
	bool good = index_names(g, bodies);
	free(bodies);
	return good;
}

bool
nsx_graph_name_ask(struct graphs *g, struct gr_class *c)
{
	c->asked = true;
	if (!g->dump || c->type != NSX_OP_KERNEL || c->name == NSX_NONE)
		return true;
	/* A kernel that several instructions were seen to run belongs to none of them. */
	if (c->ninsts > 1)
		return true;
	if (!g->names.made && !make_names(g))
		return false;
	uint32_t i = nsx_map_get(&g->names.by_name, (struct nsx_key){ c->name, 0 });
	if (i >= SEVERAL)
		return true;
	c->only = nsx_graph_inst(g, g->dump->h->insts[i].name);
	return c->only != NSX_NONE;
}

void
nsx_graph_names_free(struct gr_names *n)
{
	nsx_map_free(&n->by_name);
}
