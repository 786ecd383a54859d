/* math.c -- instructions whose products are computed in another type than before, as after a change of precision: that
 * explains times, and results may differ too. */
#include <stdlib.h>

#include "table/compare/join.h"

/* Instructions of one change of type: their number, and their time on each side. */
struct change { uint32_t from, to; size_t n; double ns[2]; };
struct changes { NSX_VEC(struct change) list; };

/* There are few types. NULL when out of memory. */
static struct change *
change_at(struct changes *l, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < l->list.n; i++)
		if (l->list.p[i].from == from && l->list.p[i].to == to)
			return &l->list.p[i];
	return nsx_vec_push(&l->list, ((struct change){ .from = from, .to = to })) ? &l->list.p[l->list.n - 1] : NULL;
}

static double
share_of(const struct cmp *c, const struct change *x, int side)
{
	return c->side[side].time ? 100 * x->ns[side] / (double)c->side[side].time : 0;
}

bool
nsx_compare_tell_math(const struct cmp *c, const struct cmp_result *r, size_t n, struct nsx_table *t)
{
	struct changes l = { 0 };
	bool good = true;

	for (size_t i = 0; i < n && good; i++) {
		const struct cmp_row *const *row = r[i].row;

		if (!row[0] || !row[1] || row[0]->math == NSX_NONE || row[1]->math == NSX_NONE ||
		    row[0]->math == row[1]->math)
			continue;
		struct change *x = change_at(&l, row[0]->math, row[1]->math);

		good = x != NULL;
		for (int k = 0; k < 2 && good; k++)
			x->ns[k] += (double)row[k]->sum;
		if (good)
			x->n++;
	}
	for (size_t i = 0; i < l.list.n && good; i++) {
		const struct change *x = &l.list.p[i];
		struct nsx_str from = cmp_str(c, x->from), to = cmp_str(c, x->to);

		nsx_table_note(t, "products are computed in %.*s, in BASE in %.*s: %zu instruction%s, %.1f%% of the "
		               "time of BASE and %.1f%% of that of NEW", CMP_CUT(to, 20), CMP_CUT(from, 20), x->n,
		               x->n == 1 ? "" : "s", share_of(c, x, NSX_COMPARE_BASE), share_of(c, x, NSX_COMPARE_NEW));
	}
	free(l.list.p);
	return good;
}
