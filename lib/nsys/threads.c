/* threads.c -- each thread's ranges in order, with parents and projections; threads in parallel. */
#include <stdlib.h>
#include <string.h>

#include "base/par.h"
#include "nsys/cuda.h"
#include "nsys/order.h"

/* The projections of one thread, those that hold something. */
struct spans { struct nsx_span *p; uint32_t n, base; bool failed; };

struct work { struct nsx_loader *l; struct spans *of; };

/* By start, the longer first, then by id, as they lie by now. */
static bool
sort_ranges(struct nsx_range *r, uint32_t n)
{
	uint32_t i = 1;

	while (i < n && (r[i - 1].start < r[i].start || (r[i - 1].start == r[i].start && r[i - 1].end >= r[i].end)))
		i++;
	if (i >= n)
		return true;
	struct nsx_order_key *k = malloc(n * sizeof *k);
	if (!k)
		return false;
	for (i = 0; i < n; i++)
		k[i] = (struct nsx_order_key){ r[i].start, ~r[i].end, i };
	bool good = nsx_order_keys(k, n);
	if (good)
		nsx_order_apply(r, sizeof *r, k, n);
	free(k);
	return good;
}

static bool
project_thread(struct nsx_loader *l, uint32_t thread, struct spans *out)
{
	const struct nsx_thread *th = &l->t->threads[thread];
	struct nsx_range *r = l->t->ranges + th->first;
	uint64_t first = l->call_first[thread], n = l->call_first[thread + 1] - first;
	struct nsx_calls calls;

	if (!sort_ranges(r, th->n) || nsx_calls_make(l->calls + first, (uint32_t)n, l->launches->list.p, &calls) != NSX_OK)
		return false;
	out->p = nsx_big_alloc(th->n, sizeof *out->p);
	bool good = out->p && nsx_project(r, th->n, th->first, calls.p, calls.n, out->p) == NSX_OK;
	if (good)
		nsx_calls_placed(l, &calls);
	nsx_calls_free(&calls);
	if (!good)
		return false;
	for (uint32_t i = 0; i < th->n; i++)
		if (out->p[i].ops) {
			r[i].gpu = out->n;
			out->p[out->n++] = out->p[i];
		}
	struct nsx_span *less = realloc(out->p, ((size_t)out->n + 1) * sizeof *less);
	if (less)
		out->p = less;
	return true;
}

static void
project_task(void *ctx, int i)
{
	struct work *w = ctx;

	w->of[i].failed = !project_thread(w->l, (uint32_t)i, &w->of[i]);
}

/* The thread's spans into their place among all. */
static void
join_task(void *ctx, int i)
{
	struct work *w = ctx;
	const struct nsx_thread *th = &w->l->t->threads[i];
	struct nsx_range *r = w->l->t->ranges + th->first;
	struct spans *s = &w->of[i];

	if (s->n)
		memcpy(w->l->t->spans + s->base, s->p, (size_t)s->n * sizeof *s->p);
	free(s->p);
	s->p = NULL;
	for (uint32_t k = 0; s->base && k < th->n; k++)
		if (r[k].gpu != NSX_NONE)
			r[k].gpu += s->base;
}

int
nsx_project_all(struct nsx_loader *l)
{
	struct nsx_trace *t = l->t;
	struct work w = { l, calloc((size_t)t->nthreads + 1, sizeof *w.of) };
	int n = (int)t->nthreads;
	bool good = w.of != NULL;

	if (good)
		nsx_par_run(n, l->opts->jobs, project_task, &w);
	for (int i = 0; good && i < n; i++) {
		good = !w.of[i].failed;
		w.of[i].base = t->nspans;
		t->nspans += w.of[i].n;
	}
	if (good) {
		t->spans = nsx_big_alloc(t->nspans, sizeof *t->spans);
		good = t->spans != NULL;
	}
	if (good)
		nsx_par_run(n, l->opts->jobs, join_task, &w);
	for (int i = 0; w.of && i < n; i++)
		free(w.of[i].p);
	free(w.of);
	free(l->calls);
	l->calls = NULL;
	return good ? NSX_OK : nsx_load_nomem(l);
}
