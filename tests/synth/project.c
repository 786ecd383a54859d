/* project.c -- NVTX ranges projected onto the GPU by the definition: a range has every operation whose call lies within it
 * on its thread, and its parent is the tightest range around it. Independent of the nesting in the plan. */
#include <stdlib.h>

#include "synth.h"

struct launched { int64_t start, end; uint32_t n; };

static const struct syn_plan *sorting;

static int
by_range(const void *a, const void *b)
{
	const struct syn_range *x = &sorting->range.p[*(const uint32_t *)a], *y = &sorting->range.p[*(const uint32_t *)b];

	if (x->proc != y->proc)
		return x->proc < y->proc ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->lstart != y->lstart)
		return x->lstart < y->lstart ? -1 : 1;
	if (x->lend != y->lend)
		return x->lend > y->lend ? -1 : 1;
	syn_die("the plan has two ranges of one thread with the same interval");
}

static int
by_call(const void *a, const void *b)
{
	const struct syn_call *x = &sorting->call.p[*(const uint32_t *)a], *y = &sorting->call.p[*(const uint32_t *)b];

	if (x->proc != y->proc)
		return x->proc < y->proc ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return 0;
}

/* First start and last end, on the export's clock, of what each call launched. */
static struct launched *
fold_ops(const struct syn_plan *p)
{
	struct launched *l = syn_check(calloc(p->call.n + 1, sizeof *l));

	for (size_t i = 0; i < p->op.n; i++) {
		const struct syn_op *op = &p->op.p[i];
		uint32_t proc = p->dev.p[op->dev].proc;
		int64_t s, e;

		if (op->gone || op->call == SYN_NONE || p->call.p[op->call].gone)
			continue;
		s = syn_local(p, proc, op->start);
		e = syn_local(p, proc, op->end);
		if (!l[op->call].n || s < l[op->call].start)
			l[op->call].start = s;
		if (!l[op->call].n || e > l[op->call].end)
			l[op->call].end = e;
		l[op->call].n++;
	}
	return l;
}

static void
give(struct syn_range *r, const struct launched *l)
{
	if (!r->ops || l->start < r->gpu_start)
		r->gpu_start = l->start;
	if (!r->ops || l->end > r->gpu_end)
		r->gpu_end = l->end;
	r->ops++;
}

/* Close the open ranges that end before t. */
static size_t
drop(const struct syn_plan *p, uint32_t *open, size_t n, int64_t t)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		if (p->range.p[open[i]].lend >= t)
			open[k++] = open[i];
	return k;
}

static void
sweep(struct syn_plan *p, const uint32_t *ranges, size_t n, const uint32_t *calls, size_t ncalls, const struct launched *l, uint32_t *open)
{
	size_t nopen = 0, c = 0;

	for (size_t i = 0; i <= n; i++) {
		struct syn_range *r = i < n ? &p->range.p[ranges[i]] : NULL;
		int64_t best = INT64_MAX;

		for (; c < ncalls; c++) {
			const struct syn_call *call = &p->call.p[calls[c]];
			int64_t s = syn_local(p, call->proc, call->start), e = syn_local(p, call->proc, call->end);

			if (r && s > r->lstart)
				break;
			if (r && s == r->lstart)
				syn_die("the plan has a call that starts with a range");
			for (size_t k = 0; k < nopen; k++)
				if (p->range.p[open[k]].lend >= e)
					give(&p->range.p[open[k]], &l[calls[c]]);
		}
		if (!r)
			break;
		nopen = drop(p, open, nopen, r->lstart);
		r->parent = SYN_NONE;
		for (size_t k = 0; k < nopen; k++) {
			const struct syn_range *q = &p->range.p[open[k]];

			if (q->lend >= r->lend && q->lend - q->lstart < best) {
				best = q->lend - q->lstart;
				r->parent = open[k];
			}
		}
		r->level = r->parent == SYN_NONE ? 0 : p->range.p[r->parent].level + 1;
		open[nopen++] = ranges[i];
	}
}

void
syn_project(struct syn_plan *p)
{
	struct launched *l = fold_ops(p);
	uint32_t *ranges = syn_check(malloc((p->range.n + 1) * sizeof *ranges)), *calls = syn_check(malloc((p->call.n + 1) * sizeof *calls));
	uint32_t *open = syn_check(malloc((p->range.n + 1) * sizeof *open));
	size_t n = 0, ncalls = 0, i = 0, c = 0;

	for (uint32_t k = 0; k < p->range.n; k++)
		if (!p->range.p[k].gone && p->range.p[k].end_thread == SYN_NONE)
			ranges[n++] = k;
	for (uint32_t k = 0; k < p->call.n; k++)
		if (l[k].n)
			calls[ncalls++] = k;
	sorting = p;
	qsort(ranges, n, sizeof *ranges, by_range);
	qsort(calls, ncalls, sizeof *calls, by_call);
	for (uint32_t r = 0; r < p->proc.n; r++)
		for (uint32_t t = 0; t < p->proc.p[r].thread.n; t++) {
			size_t i0 = i, c0 = c;

			while (i < n && p->range.p[ranges[i]].proc == r && p->range.p[ranges[i]].thread == t)
				i++;
			while (c < ncalls && p->call.p[calls[c]].proc == r && p->call.p[calls[c]].thread == t)
				c++;
			sweep(p, ranges + i0, i - i0, calls + c0, c - c0, l, open);
		}
	free(open);
	free(calls);
	free(ranges);
	free(l);
}
