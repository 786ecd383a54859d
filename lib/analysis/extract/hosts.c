/* hosts.c -- ranges without GPU work in the order of the stream, merged from the threads'. */
#include "analysis/extract/profile.h"

#include <stdlib.h>

/* A thread: the next of its ranges that is wanted, and where its ranges end. */
struct ex_host { uint32_t at, end; };

/* As a thread's ranges are sorted. */
static bool
before(const struct ex_hosts *h, const struct ex_host *x, const struct ex_host *y)
{
	const struct nsx_range *a = &h->p->trace.ranges[x->at], *b = &h->p->trace.ranges[y->at];

	if (a->start != b->start)
		return a->start < b->start;
	if (a->end != b->end)
		return a->end > b->end;
	return a->id < b->id;
}

/* Put heap[i] where it belongs among what is below it. */
static void
sink(struct ex_hosts *h, size_t i)
{
	for (size_t c; (c = 2 * i + 1) < h->n; i = c) {
		if (c + 1 < h->n && before(h, &h->heap[c + 1], &h->heap[c]))
			c++;
		if (!before(h, &h->heap[c], &h->heap[i]))
			return;
		struct ex_host t = h->heap[i];
		h->heap[i] = h->heap[c];
		h->heap[c] = t;
	}
}

/* From x->at on to a range that is wanted: false if there is none. */
static bool
seek(const struct ex_profile *p, struct ex_host *x)
{
	for (; x->at < x->end; x->at++) {
		const struct nsx_range *r = &p->trace.ranges[x->at];
		if (r->gpu == NSX_NONE && ex_in_window(p->opts, r->start, r->end))
			return true;
	}
	return false;
}

bool
ex_hosts_open(struct ex_hosts *h, const struct ex_profile *p)
{
	const struct nsx_trace *t = &p->trace;

	*h = (struct ex_hosts){ p, malloc(((size_t)t->nthreads + 1) * sizeof *h->heap), 0 };
	if (!h->heap)
		return false;
	for (uint32_t i = 0; i < t->nthreads; i++) {
		struct ex_host x = { t->threads[i].first, t->threads[i].first + t->threads[i].n };
		if (ex_process_kept(p, t->threads[i].process) && seek(p, &x))
			h->heap[h->n++] = x;
	}
	for (size_t i = h->n; i-- > 0; )
		sink(h, i);
	return true;
}

uint32_t
ex_hosts_next(struct ex_hosts *h)
{
	if (!h->n)
		return NSX_NONE;
	uint32_t found = h->heap[0].at++;
	if (!seek(h->p, &h->heap[0]))
		h->heap[0] = h->heap[--h->n];
	sink(h, 0);
	return found;
}

void
ex_hosts_close(struct ex_hosts *h)
{
	free(h->heap);
}
