/* sums.c -- sums of rows, and of programs. */
#include <stdlib.h>

#include "base/sort.h"
#include "table/roofline/rows.h"

void
nsx_roof_add(struct nsx_roof_sum *s, const struct nsx_roof_row *r)
{
	nsx_u128 n = (nsx_u128)r->count;

	s->instructions++;
	s->count += r->count;
	s->total += r->total;
	if (r->modelled)
		s->known_flops += n * (nsx_u128)r->flops;
	if (r->at_peak < 0)
		s->at_peak = -1;
	else if (s->at_peak >= 0)
		s->at_peak += r->at_peak;
	if (!r->limited)
		return;
	s->modelled += r->total;
	s->by_bound[r->bound] += r->total;
	s->flops += n * (nsx_u128)r->flops;
	s->bytes += n * (nsx_u128)r->bytes;
	s->limit += r->limit;
	s->headroom += r->headroom;
	s->gain += r->gain;
	s->reached += r->headroom > 0 ? r->limit : (double)r->total;
}

/* The longest time of modules first, then key, id, number. */
static int
by_time(const void *a, const void *b, const void *catalogue)
{
	const struct nsx_catalogue *cat = catalogue;
	const struct nsx_roof_total *x = a, *y = b;
	const struct nsx_cat_program *p = &cat->programs.p[x->program], *q = &cat->programs.p[y->program];

	return NSX_FIRST(NSX_CMP(y->ran.time, x->ran.time),
	                 nsx_str_cmp(nsx_cat_str(cat, p->key), nsx_cat_str(cat, q->key)), NSX_CMP(p->id, q->id),
	                 NSX_CMP(p->number, q->number));
}

int
nsx_roof_programs(const struct nsx_roof *f, struct nsx_roof_total **list, size_t *n)
{
	struct nsx_roof_total *all = calloc(f->cat->programs.n + 1, sizeof *all);

	if (!all)
		return nsx_err_nomem(f->err, NULL);
	for (size_t i = 0; i < f->cat->programs.n; i++) {
		all[i].program = (uint32_t)i;
		if (i < f->programs.n)
			all[i].ran = f->programs.p[i];
	}
	for (size_t i = 0; i < f->rows.n; i++)
		nsx_roof_add(&all[f->rows.p[i].program].sum, &f->rows.p[i]);
	*n = 0;
	for (size_t i = 0; i < f->cat->programs.n; i++)
		if (all[i].sum.count || all[i].ran.executions)
			all[(*n)++] = all[i];
	nsx_sort_with(all, *n, sizeof *all, by_time, f->cat);
	*list = all;
	return NSX_OK;
}
