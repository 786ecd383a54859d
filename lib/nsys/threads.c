/* threads.c -- sorts the ranges of each thread, finds parents and projections; threads in parallel. */
#include <stdlib.h>
#include <string.h>

#include "base/par.h"
#include "nsys/cuda.h"
#include "source/thread.h"

/* The result for one thread: its projections with GPU work, and the number of ranges that are kept. */
struct result { struct nsx_span *spans; uint32_t nspans, first_span, nranges; bool failed; };

struct work { struct nsx_loader *l; struct result *of; uint64_t ranges; _Atomic uint64_t ranges_done; };

static bool
project_thread(struct nsx_loader *l, uint32_t thread, struct result *out)
{
	const struct nsx_thread *th = &l->t->threads[thread];
	struct nsx_range *r = l->t->ranges + th->first;
	uint64_t first = l->call_first[thread], n = l->call_first[thread + 1] - first;
	struct nsx_calls calls;

	out->nranges = th->n;
	if (!nsx_thread_sort(r, th->n) ||
	    nsx_calls_make(l->calls + first, (uint32_t)n, l->launches->list.p, &calls) != NSX_OK)
		return false;
	/* Parents are relative to the thread's first range until all threads are stored. */
	nsx_span_list spans = { 0 };
	bool good = nsx_project(r, th->n, 0, calls.p, calls.n, &spans) == NSX_OK;
	if (good && l->opts->busy)
		good = nsx_thread_pack(r, &out->nranges, &calls);
	if (good)
		nsx_calls_placed(l, thread, &calls);
	nsx_calls_free(&calls);
	out->nspans = (uint32_t)spans.n;
	struct nsx_span *less = good ? realloc(spans.p, (spans.n + 1) * sizeof *less) : NULL;
	out->spans = less ? less : spans.p;
	return good;
}

static void
project_task(void *ctx, int i)
{
	struct work *w = ctx;
	uint32_t n = w->l->t->threads[i].n;

	w->of[i].failed = !project_thread(w->l, (uint32_t)i, &w->of[i]);
	nsx_load_reached(w->l, NSX_LOAD_CALLS, NSX_LOAD_ALL, atomic_fetch_add(&w->ranges_done, n) + n, w->ranges);
}

/* Copy the thread's spans to the array of all, and make its indices refer to that. */
static void
join_task(void *ctx, int i)
{
	struct work *w = ctx;
	const struct nsx_thread *th = &w->l->t->threads[i];
	struct nsx_range *r = w->l->t->ranges + th->first;
	struct result *s = &w->of[i];

	if (s->nspans)
		memcpy(w->l->t->spans + s->first_span, s->spans, (size_t)s->nspans * sizeof *s->spans);
	free(s->spans);
	s->spans = NULL;
	for (uint32_t k = 0; (th->first || s->first_span) && k < th->n; k++) {
		if (r[k].parent != NSX_NONE)
			r[k].parent += th->first;
		if (r[k].gpu != NSX_NONE)
			r[k].gpu += s->first_span;
	}
}

/* Close the gaps of removed ranges between threads. A thread may have no ranges left. */
static void
close_gaps(struct nsx_loader *l, const struct result *of)
{
	struct nsx_trace *t = l->t;
	uint32_t to = 0;

	for (uint32_t i = 0; i < t->nthreads; i++) {
		if (t->threads[i].first != to)
			memmove(t->ranges + to, t->ranges + t->threads[i].first, of[i].nranges * sizeof *t->ranges);
		t->threads[i].first = to;
		t->threads[i].n = of[i].nranges;
		to += of[i].nranges;
	}
	if (to == t->nranges)
		return;
	t->nranges = to;
	struct nsx_range *less = realloc(t->ranges, ((size_t)to + 1) * sizeof *less);
	if (less)
		t->ranges = less;
}

int
nsx_project_all(struct nsx_loader *l)
{
	struct nsx_trace *t = l->t;
	struct work w = { .l = l, .of = calloc((size_t)t->nthreads + 1, sizeof *w.of), .ranges = t->nranges };
	int n = (int)t->nthreads;
	bool good = w.of != NULL;

	nsx_progress_phase("projection");
	if (good)
		nsx_par_run(n, l->opts->jobs, project_task, &w);
	free(l->calls);
	l->calls = NULL;
	for (int i = 0; good && i < n; i++) {
		good = !w.of[i].failed;
		w.of[i].first_span = t->nspans;
		t->nspans += w.of[i].nspans;
	}
	if (good) {
		t->spans = nsx_big_alloc(t->nspans, sizeof *t->spans);
		good = t->spans != NULL;
	}
	if (good) {
		close_gaps(l, w.of);
		nsx_par_run(n, l->opts->jobs, join_task, &w);
	}
	for (int i = 0; w.of && i < n; i++)
		free(w.of[i].spans);
	free(w.of);
	return good ? NSX_OK : nsx_load_nomem(l);
}
