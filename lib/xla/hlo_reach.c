/* hlo_reach.c -- which op_names an instruction reaches through the computations that it calls.
 *
 * XLA titles a thunk's range with the common prefix of the op_names of its instruction and of all instructions
 * reachable from it: `name=sort/cmp` may be of an instruction in the comparator of a sort inside a fusion, two calls
 * deep. */
#include <stdlib.h>
#include <string.h>

#include "xla/hlo_int.h"

/* Maximum of op_names compared for one dump: about a second of work. Only a dump made for that purpose has so many
 * op_names reachable from instructions whose titles do not occur among them. */
static const uint64_t COMPARED_MAX = UINT64_C(1) << 24;

/* The current walk: computations visited in this round, and those whose callees are still to be visited. */
struct nsx_hlo_walk {
	uint32_t *stamp;     /* by computation: the round that visited it */
	uint32_t  round;
	uint64_t  compared;
	NSX_VEC(uint32_t) open;
};

static uint32_t
callee(const struct nsx_hlo_build *b, size_t call)
{
	return nsx_map_get(&b->comp_by_id, (struct nsx_key){ (uint64_t)b->calls.p[call].comp, 0 });
}

struct nsx_hlo_walk *
nsx_hlo_walk_new(uint32_t ncontents)
{
	struct nsx_hlo_walk *w = calloc(1, sizeof *w);

	if (w)
		w->stamp = calloc((size_t)ncontents + 1, sizeof *w->stamp);
	if (w && !w->stamp) {
		free(w);
		return NULL;
	}
	return w;
}

void
nsx_hlo_walk_free(struct nsx_hlo_walk *w)
{
	if (w) {
		free(w->stamp);
		free(w->open.p);
	}
	free(w);
}

int
nsx_hlo_contents_keep(struct nsx_hlo_build *b, struct nsx_hlo *h)
{
	h->contents = malloc((b->comps.n + 1) * sizeof *h->contents);
	h->calls = malloc((b->calls.n + 1) * sizeof *h->calls);
	h->op_names = malloc((b->pairs.n + 1) * sizeof *h->op_names);
	h->walk = nsx_hlo_walk_new((uint32_t)b->comps.n);
	if (!h->contents || !h->calls || !h->op_names || !h->walk)
		return nsx_hlo_nomem(b);
	for (size_t i = 0; i < b->comps.n; i++) {
		const struct nsx_hlo_comp *c = &b->comps.p[i];
		h->contents[i] = (struct nsx_hlo_contents){ c->pairs, c->npairs, c->calls, c->ncalls };
	}
	h->ncontents = (uint32_t)b->comps.n;
	for (size_t i = 0; i < b->calls.n; i++)
		h->calls[i] = callee(b, i);
	for (size_t i = 0; i < b->pairs.n; i++)
		if (b->pairs.p[i].op_name == NSX_NONE)
			h->op_names[i] = (struct nsx_str){ "", 0 };
		else
			h->op_names[i] = nsx_intern_str(&b->strs, b->pairs.p[i].op_name);
	/* The ownership of the list moves. */
	h->places = b->pair_refs.p;
	memset(&b->pair_refs, 0, sizeof b->pair_refs);
	return NSX_OK;
}

void
nsx_hlo_contents_free(struct nsx_hlo *h)
{
	free(h->contents);
	free(h->calls);
	free(h->places);
	free(h->op_names);
	nsx_hlo_walk_free(h->walk);
}

/* Whether part occurs in whole, delimited by '/' or the ends. */
static bool
holds(struct nsx_str whole, struct nsx_str part)
{
	for (size_t i = 0; part.len <= whole.len && i <= whole.len - part.len; i++) {
		size_t end = i + part.len;
		bool ends = (i == 0 || whole.ptr[i - 1] == '/') && (end == whole.len || whole.ptr[end] == '/');
		if (ends && memcmp(whole.ptr + i, part.ptr, part.len) == 0)
			return true;
	}
	return false;
}

/* Add the computations called there that this round has not visited to the list. False when out of memory. */
static bool
meet(const struct nsx_hlo *h, uint32_t calls, uint32_t ncalls)
{
	struct nsx_hlo_walk *w = h->walk;

	for (uint32_t i = 0; i < ncalls; i++) {
		uint32_t c = h->calls[calls + i];
		if (c == NSX_NONE || w->stamp[c] == w->round)
			continue;
		w->stamp[c] = w->round;
		if (!nsx_vec_push(&w->open, c))
			return false;
	}
	return true;
}

bool
nsx_hlo_reaches(const struct nsx_hlo *h, const struct nsx_hlo_inst *inst, struct nsx_str part)
{
	struct nsx_hlo_walk *w = h->walk;

	if (!part.len || holds(inst->op_name, part))
		return true;
	w->round++;
	w->open.n = 0;
	bool room = meet(h, inst->calls, inst->ncalls);
	while (room && w->open.n) {
		const struct nsx_hlo_contents *c = &h->contents[w->open.p[--w->open.n]];
		w->compared += c->nplaces + c->ncalls + 1;
		if (w->compared > COMPARED_MAX)
			return true;
		for (uint32_t i = 0; i < c->nplaces; i++)
			if (holds(h->op_names[h->places[c->places + i]], part))
				return true;
		room = meet(h, c->calls, c->ncalls);
	}
	return !room;
}
