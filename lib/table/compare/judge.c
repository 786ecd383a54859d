/* judge.c -- compares the rows of both sides: which differ by more than chance and the limits in the options. */
#include <math.h>
#include <stdlib.h>

#include "table/compare/sides.h"

const struct cmp_row *
nsx_compare_row_shown(const struct cmp_result *r)
{
	return r->row[NSX_COMPARE_NEW] ? r->row[NSX_COMPARE_NEW] : r->row[NSX_COMPARE_BASE];
}

const struct cmp_program *
nsx_compare_program_of(const struct cmp *c, const struct cmp_result *r)
{
	return &c->side[r->row[NSX_COMPARE_NEW] ? NSX_COMPARE_NEW
	                : NSX_COMPARE_BASE].programs.p[nsx_compare_row_shown(r)->program];
}

/* The number of executions for the effect of a difference: those of NEW; for a program that is gone, those of BASE. */
static double
weight(const struct cmp *c, const struct cmp_result *r)
{
	const struct cmp_program *p;

	if (r->row[NSX_COMPARE_NEW])
		return (double)r->time[NSX_COMPARE_NEW].n;
	p = &c->side[NSX_COMPARE_BASE].programs.p[r->row[NSX_COMPARE_BASE]->program];
	if (c->side[NSX_COMPARE_BASE].each)
		return (double)r->time[NSX_COMPARE_BASE].n;
	return p->pair == NSX_NONE ? (double)r->time[NSX_COMPARE_BASE].n
	       : (double)c->side[NSX_COMPARE_NEW].programs.p[p->pair].execs;
}

static enum cmp_verdict
verdict(const struct cmp *c, const struct cmp_result *r)
{
	double size = fabs(r->diff), of = r->time[NSX_COMPARE_BASE].mean;

	if (!r->row[NSX_COMPARE_NEW])
		return CMP_GONE;
	if (!r->row[NSX_COMPARE_BASE])
		return CMP_NEW;
	if (r->row[NSX_COMPARE_BASE]->untold)
		return CMP_UNKNOWN;
	if (r->row[NSX_COMPARE_BASE]->of != NSX_NONE)
		of = nsx_compare_time_of(&c->side[NSX_COMPARE_BASE],
		                         &c->side[NSX_COMPARE_BASE].rows.p[r->row[NSX_COMPARE_BASE]->of]).mean;
	/* Many of the things that a profile has once differ between any two runs, such as kernels of autotuning. */
	if (!r->has_noise && c->options.sigma > 0 && (c->options.by == NSX_COMPARE_RANGE ||
	    c->options.by == NSX_COMPARE_KERNEL))
		return CMP_UNKNOWN;
	if (size <= (double)c->options.absolute || size <= c->options.percent / 100 * of ||
	    (r->has_noise && size <= r->noise))
		return CMP_SAME;
	return r->diff > 0 ? CMP_SLOWER : CMP_FASTER;
}

/* A result with the time of each side's row, if present. */
static void
judge(const struct cmp *c, struct cmp_result *r)
{
	struct cmp_time *b = &r->time[NSX_COMPARE_BASE], *n = &r->time[NSX_COMPARE_NEW];

	r->diff = n->mean - b->mean;
	r->has_noise = b->known && n->known;
	if (r->has_noise)
		r->noise = nsx_compare_noise(b, n, c->options.sigma);
	r->effect = r->diff * weight(c, r);
	r->verdict = verdict(c, r);
}

/* The sort key of results: the result's strings, looked up once. */
struct order { double effect; struct nsx_str key, name; int64_t program; struct cmp_result result; };

static int
order_cmp(const void *pa, const void *pb)
{
	const struct order *a = pa, *b = pb;
	double x = fabs(a->effect), y = fabs(b->effect);
	int c;

	if (x > y || x < y)
		return x > y ? -1 : 1;
	c = nsx_str_cmp(a->key, b->key);
	if (c == 0)
		c = nsx_str_cmp(a->name, b->name);
	if (c == 0)
		c = (int)a->result.verdict - (int)b->result.verdict;
	return c ? c : (a->program > b->program) - (a->program < b->program);
}

static void
add(const struct cmp *c, struct order *o, size_t *n, const struct cmp_row *base, const struct cmp_row *new)
{
	struct cmp_result r = { .row = { base, new } };

	for (int k = 0; k < 2; k++)
		if (r.row[k]) {
			r.time[k] = nsx_compare_time_of(&c->side[k], r.row[k]);
			if (!r.time[k].n)
				r.row[k] = NULL;
		}
	if ((!r.row[0] && !r.row[1]) || (nsx_compare_row_shown(&r)->optional && !r.time[0].sum && !r.time[1].sum))
		return;
	judge(c, &r);
	const struct cmp_program *p = nsx_compare_program_of(c, &r);
	o[(*n)++] = (struct order){ r.effect, cmp_str(c, p->key), cmp_str(c, nsx_compare_row_shown(&r)->name),
	                            p->number, r };
}

struct cmp_result *
nsx_compare_judge(struct cmp *c, bool whole, size_t *n)
{
	const struct cmp_side *b = &c->side[NSX_COMPARE_BASE], *s = &c->side[NSX_COMPARE_NEW];
	struct order *o = malloc((b->rows.n + s->rows.n + 1) * sizeof *o);
	struct cmp_result *r;

	*n = 0;
	if (!o)
		return NULL;
	for (size_t i = 0; i < b->rows.n; i++)
		if (b->rows.p[i].whole == whole)
			add(c, o, n, &b->rows.p[i], b->rows.p[i].pair == NSX_NONE ? NULL
			    : &s->rows.p[b->rows.p[i].pair]);
	for (size_t i = 0; i < s->rows.n; i++)
		if (s->rows.p[i].whole == whole && s->rows.p[i].pair == NSX_NONE)
			add(c, o, n, NULL, &s->rows.p[i]);
	if (*n > 1)
		qsort(o, *n, sizeof *o, order_cmp);
	r = malloc((*n + 1) * sizeof *r);
	for (size_t i = 0; i < *n && r; i++)
		r[i] = o[i].result;
	free(o);
	return r;
}
