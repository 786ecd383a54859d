/* show.c -- from the plan to the contents of each capture: its window, its clock, lost events. */
#include <stdlib.h>

#include "synth.h"

static const struct syn_plan *sorting;

static int
by_start(const void *a, const void *b)
{
	const struct syn_call *x = &sorting->call.p[*(const uint32_t *)a], *y = &sorting->call.p[*(const uint32_t *)b];

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

/* Correlation ids count the calls of a process; every process begins at the same number. */
static void
correlate(struct syn_plan *p)
{
	uint32_t *order = syn_check(malloc((p->call.n + 1) * sizeof *order)), *next = syn_check(malloc(p->proc.n * sizeof *next));

	for (uint32_t i = 0; i < p->call.n; i++)
		order[i] = i;
	for (uint32_t r = 0; r < p->proc.n; r++)
		next[r] = 1001;
	sorting = p;
	qsort(order, p->call.n, sizeof *order, by_start);
	for (size_t i = 0; i < p->call.n; i++)
		p->call.p[order[i]].corr = next[p->call.p[order[i]].proc]++;
	free(order);
	free(next);
}

static void
cut_ranges(struct syn_plan *p)
{
	int64_t *last = syn_check(calloc(p->nxports, sizeof *last));

	for (size_t i = 0; i < p->range.n; i++) {
		struct syn_range *r = &p->range.p[i];
		const struct syn_proc *pr = &p->proc.p[r->proc];

		r->gone = r->start < pr->from || r->start >= pr->until;
		r->open = r->end > pr->until;
		r->lstart = syn_local(p, r->proc, r->start);
		r->lend = syn_local(p, r->proc, r->open ? pr->until : r->end);
		if (!r->gone && r->lstart > last[pr->xport])
			last[pr->xport] = r->lstart;
		if (!r->gone && !(r->open && pr->open_null) && r->lend > last[pr->xport])
			last[pr->xport] = r->lend;
	}
	/* A range without an end ends when the last range of the export ends. */
	for (size_t i = 0; i < p->range.n; i++)
		if (p->range.p[i].open && p->proc.p[p->range.p[i].proc].open_null)
			p->range.p[i].lend = last[p->proc.p[p->range.p[i].proc].xport];
	free(last);
}

/* Drop the calls of n operations, spread over all executions except the last one of each program: there, fewer
 * operations than before would look like a capture that was cut off. */
static void
lose_calls(struct syn_plan *p, int64_t n)
{
	NSX_VEC(uint32_t) may = { 0 };

	for (uint32_t i = 0; i < p->op.n; i++) {
		const struct syn_op *op = &p->op.p[i];
		const struct syn_call *c = op->call == SYN_NONE ? NULL : &p->call.p[op->call];
		const struct syn_module *m = c && c->module != SYN_NONE ? &p->module.p[c->module] : NULL;

		if (m && !op->gone && !c->gone && !op->node && op->type != SYN_GRAPH && m->prog != SYN_NONE && m->exec < p->prog.p[m->prog].execs - 1)
			syn_add(&may, i);
	}
	if ((int64_t)may.n < n)
		syn_die("--ops-without-call %lld: only %zu operations can lose theirs", (long long)n, may.n);
	for (int64_t k = 0; k < n; k++)
		p->call.p[p->op.p[may.p[(size_t)k * may.n / (size_t)n]].call].gone = true;
	free(may.p);
}

void
syn_show(struct syn_plan *p)
{
	correlate(p);
	cut_ranges(p);
	for (size_t i = 0; i < p->call.n; i++) {
		struct syn_call *c = &p->call.p[i];

		c->gone = c->start < p->proc.p[c->proc].from || c->end > p->proc.p[c->proc].until;
	}
	for (size_t i = 0; i < p->op.n; i++) {
		struct syn_op *op = &p->op.p[i];
		const struct syn_proc *pr = &p->proc.p[p->dev.p[op->dev].proc];

		op->gone = op->start < pr->from || op->end > pr->until;
	}
	for (size_t i = 0; i < p->host_fn.n; i++) {
		struct syn_host_fn *h = &p->host_fn.p[i];
		const struct syn_proc *pr = &p->proc.p[p->dev.p[h->dev].proc];

		h->gone = h->start < pr->from || h->end > pr->until;
	}
	if (syn_opt.no_call)
		lose_calls(p, syn_opt.no_call);
	for (size_t i = 0; i < p->mark.n; i++) {
		struct syn_mark *m = &p->mark.p[i];

		if (m->time < p->proc.p[m->proc].from)
			m->time = p->proc.p[m->proc].from;
	}
}
