/* building_ranges.c -- the ranges of a build: by thread, projected. */
#include <stdlib.h>
#include <string.h>

#include "source/building.h"
#include "source/thread.h"

NSX_SORT_KEYS(by_gtid, struct nsx_thread, nsx_build_gtid_key(a->gtid))

/* t->threads and t->ranges, in each thread in the order of rows. */
static bool
place_ranges(struct building *x)
{
	struct nsx_trace *t = x->t;
	struct nsx_pile *rows = &x->b->ranges;
	struct nsx_map of = { 0 };
	NSX_VEC(struct nsx_thread) list = { 0 };
	uint32_t *at = NULL;
	bool good = true;

	for (const struct nsx_pile_block *block = rows->first; block && good; block = block->next) {
		const struct nsx_build_range *r = (const void *)block->data, *end = r + block->n;
		for (; good && r < end; r++) {
			uint32_t i = nsx_map_number(&of, (struct nsx_key){ r->gtid, 0 });
			struct nsx_thread new = { .gtid = r->gtid, .tid = (uint32_t)(r->gtid & 0xFFFFFF) };
			good = i != NSX_NONE && (i < list.n || nsx_vec_push(&list, new));
			if (good)
				list.p[i].n++;
		}
	}
	good = good && (t->threads = nsx_build_sorted(list.p, list.n, sizeof *list.p, by_gtid, &at)) != NULL &&
	    (t->ranges = nsx_big_alloc(rows->n, sizeof *t->ranges)) != NULL;
	t->nthreads = good ? (uint32_t)list.n : 0;
	t->nranges = good ? (uint32_t)rows->n : 0;
	for (uint32_t i = 1; i < t->nthreads; i++)
		t->threads[i].first = t->threads[i - 1].first + t->threads[i - 1].n;
	/* From here on the next place of each thread, by order of first use. */
	for (uint32_t i = 0; i < t->nthreads; i++)
		at[i] = t->threads[at[i]].first;
	for (; good && rows->first; nsx_pile_drop(rows)) {
		const struct nsx_build_range *r = (const void *)rows->first->data, *end = r + rows->first->n;
		for (; r < end; r++)
			t->ranges[at[nsx_map_get(&of, (struct nsx_key){ r->gtid, 0 })]++] =
			    (struct nsx_range){ .start = r->start - x->origin,
						.end = r->end - x->origin,
						.id = r->id,
						.name = r->name,
						.domain = r->domain,
						.parent = NSX_NONE,
						.gpu = NSX_NONE,
						.kind = r->kind,
						.flags = NSX_RANGE_PUSHPOP };
	}
	nsx_map_free(&of);
	free(list.p);
	free(at);
	return good;
}

/* Calls that launched something, by thread of ranges: first[i] up to first[i + 1]. */
static bool
sort_raw(struct building *x, uint32_t **first)
{
	struct nsx_trace *t = x->t;
	size_t n = x->raw.n;
	struct nsx_raw_call *sorted = malloc((n + 1) * sizeof *sorted);
	uint32_t *at = calloc((size_t)t->nthreads + 3, sizeof *at),
	    *to = malloc(((size_t)t->nhost_threads + 1) * sizeof *to);
	bool good = sorted && at && to;

	/* The place after all threads is for calls of threads without ranges. */
	for (uint32_t i = 0; good && i < t->nhost_threads; i++)
		if ((to[i] = nsx_trace_thread_at(t, t->host_threads[i].gtid)) == NSX_NONE)
			to[i] = t->nthreads;
	for (size_t i = 0; good && i < n; i++)
		at[to[x->raw.p[i].thread] + 2]++;
	for (uint32_t i = 2; good && i < t->nthreads + 3; i++)
		at[i] += at[i - 1];
	for (size_t i = 0; good && i < n; i++)
		sorted[at[to[x->raw.p[i].thread] + 1]++] = x->raw.p[i];
	free(to);
	if (!good) {
		free(sorted);
		free(at);
		return false;
	}
	free(x->raw.p);
	x->raw.p = sorted;
	*first = at;
	return true;
}

/* Project the thread's ranges, which become t->ranges[*kept] and following; its spans are added to those of all. */
static bool
project(struct building *x, struct nsx_thread *th, const struct nsx_raw_call *raw, uint32_t nraw, bool busy,
        uint32_t *kept, nsx_span_list *all)
{
	struct nsx_range *r = x->t->ranges + th->first;
	struct nsx_calls calls = { 0 };
	nsx_span_list spans = { 0 };
	uint32_t n = th->n;
	bool good = nsx_thread_sort(r, n) && nsx_calls_make(raw, nraw, x->launches.list.p, &calls) == NSX_OK &&
	    nsx_project(r, n, 0, calls.p, calls.n, &spans) == NSX_OK && (!busy || nsx_thread_pack(r, &n, &calls)) &&
	    nsx_vec_room(all, spans.n);

	for (uint32_t i = 0; good && i < calls.n; i++)
		if (calls.p[i].launch != NSX_NONE && calls.p[i].range != NSX_NONE)
			x->info[calls.p[i].launch].range = *kept + calls.p[i].range;
	for (uint32_t i = 0; good && i < n; i++) {
		if (r[i].parent != NSX_NONE)
			r[i].parent += *kept;
		if (r[i].gpu != NSX_NONE)
			r[i].gpu += (uint32_t)all->n;
	}
	if (good && spans.n)
		memcpy(all->p + all->n, spans.p, spans.n * sizeof *spans.p);
	all->n += good ? spans.n : 0;
	if (good && n && th->first != *kept)
		memmove(x->t->ranges + *kept, r, n * sizeof *r);
	th->first = *kept;
	th->n = n;
	*kept += n;
	nsx_calls_free(&calls);
	free(spans.p);
	return good;
}

bool
nsx_build_ranges(struct building *x, bool busy)
{
	struct nsx_trace *t = x->t;
	nsx_span_list all = { 0 };
	uint32_t *first = NULL, kept = 0;

	for (size_t i = 0; i < x->launches.list.n; i++)
		x->info[i].range = NSX_NONE;
	bool good = place_ranges(x) && sort_raw(x, &first);
	for (uint32_t i = 0; good && i < t->nthreads; i++)
		good = project(x, &t->threads[i], x->raw.p + first[i], first[i + 1] - first[i], busy, &kept, &all);
	free(first);
	t->nranges = good ? kept : 0;
	struct nsx_range *less = good ? realloc(t->ranges, ((size_t)kept + 1) * sizeof *less) : NULL;
	if (less)
		t->ranges = less;
	t->spans = all.p;
	t->nspans = (uint32_t)all.n;
	return good;
}
