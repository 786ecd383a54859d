/* limits.c -- how much faster instructions could be: at the limits that nsysx-roofline compares them with. */
#include "table/roofline/rows.h"
#include "table/whatif/graph.h"

/* The instruction of another catalogue; NSX_NONE: it is not in this one. */
static uint32_t
find(const struct nsx_map *at, const struct nsx_catalogue *cat, uint32_t inst)
{
	const struct nsx_cat_inst *x = &cat->insts.p[inst];

	return nsx_map_get(at, (struct nsx_key){ (uint64_t)cat->programs.p[x->program].number, (uint64_t)x->number });
}

int
nsx_wi_limits(struct wi_graph *g, const struct nsx_roof *roof)
{
	const struct nsx_catalogue *cat = &g->pairing.comm.cat;
	struct nsx_map numbers = { 0 };
	bool good = nsx_vec_room(&g->limits, cat->insts.n + 1);

	for (size_t i = 0; i < cat->insts.n && good; i++) {
		const struct nsx_cat_inst *x = &cat->insts.p[i];
		uint32_t *at = nsx_map_at(&numbers, (struct nsx_key){ (uint64_t)cat->programs.p[x->program].number,
		                                                      (uint64_t)x->number });

		good = at != NULL;
		if (good)
			*at = (uint32_t)i;
		g->limits.p[g->limits.n++] = 1;
	}
	for (size_t i = 0; i < roof->rows.n && good; i++) {
		const struct nsx_roof_row *r = &roof->rows.p[i];
		uint32_t at = find(&numbers, roof->cat, r->inst);

		if (r->limited && at != NSX_NONE && r->limit > 0 && r->limit < (double)r->total)
			g->limits.p[at] = r->limit / (double)r->total;
	}
	nsx_map_free(&numbers);
	return good ? NSX_OK : nsx_err_nomem(g->err, NULL);
}
