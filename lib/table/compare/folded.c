/* folded.c -- one side as folded stacks that can be compared with the other's. */
#include "table/compare/join.h"
#include "job/stacks.h"

/* The row's time in as many executions as NEW has of its program; for a row or program on one side only, its own time.
 * Rounded. */
static nsx_u128
scaled(const struct cmp *c, const struct cmp_result *r, int side)
{
	const struct cmp_time *t = &r->time[side];
	const struct cmp_group *p = &c->side[side].groups.p[r->row[side]->group];
	nsx_u128 execs = (nsx_u128)t->n, to = execs;

	if (side == NSX_COMPARE_BASE && r->row[NSX_COMPARE_NEW])
		to = (nsx_u128)r->time[NSX_COMPARE_NEW].n;
	else if (side == NSX_COMPARE_BASE && p->pair != NSX_NONE)
		to = (nsx_u128)c->side[NSX_COMPARE_NEW].groups.p[p->pair].execs;
	/* Computed in two parts: the product may exceed 128 bits. */
	return t->sum / execs * to + (t->sum % execs * to + execs / 2) / execs;
}

int
nsx_compare_folded(struct cmp *c, const struct cmp_result *r, size_t n, struct nsx_outfile *out)
{
	int side = c->options.fold, rc;
	struct nsx_stacks stacks = { 0 };
	bool good = true;

	for (size_t i = 0; i < n && good; i++) {
		const struct cmp_row *row = nsx_compare_row_shown(&r[i]);
		const struct cmp_group *p = nsx_compare_group_of(c, &r[i]);
		uint32_t node = NSX_STACKS_ROOT;

		if (!r[i].row[side])
			continue;
		/* For a program that is on both sides and an instruction that is only in BASE, NEW's name of the
		 * program too. */
		if (!r[i].row[NSX_COMPARE_NEW] && p->pair != NSX_NONE)
			p = &c->side[NSX_COMPARE_NEW].groups.p[p->pair];
		node = nsx_stacks_push(&stacks, node, p->name == NSX_NONE ? NSX_STR("[Unknown]") : cmp_str(c, p->name));
		if (row->stack != NSX_NONE)
			node = nsx_stacks_path(&stacks, node, cmp_str(c, row->stack), ';');
		if (!row->whole)
			node = nsx_stacks_push(&stacks, node, row->name == NSX_NONE ? NSX_STR("[Unknown]")
			                       : cmp_str(c, row->name));
		good = nsx_stacks_add(&stacks, node, scaled(c, &r[i], side));
	}
	rc = good ? nsx_stacks_print(&stacks, out, c->err) : nsx_err_nomem(c->err, NULL);
	nsx_stacks_free(&stacks);
	return rc;
}
