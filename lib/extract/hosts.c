/* hosts.c -- ranges by host start, merged from the threads. */
#include "extract/profile.h"

#include <stdlib.h>

#include "base/heap.h"

/* A thread: the next of its ranges to write, and the end of its ranges. */
struct ex_host { int64_t start; uint32_t at, end; };

static bool
before(const struct ex_profile *p, const struct ex_host *x, const struct ex_host *y)
{
	(void)p;
	return x->start != y->start ? x->start < y->start : x->at < y->at;
}

NSX_HEAP(hosts, struct ex_host, const struct ex_profile *, before)

/* Advance from x->at to a range that is kept: false if there is none. */
static bool
seek(const struct ex_profile *p, struct ex_host *x)
{
	for (; x->at < x->end; x->at++)
		if (!nsx_extract_range_ahead(p, x->at) && nsx_extract_range_kept(p, x->at)) {
			x->start = p->trace.ranges[x->at].start;
			return true;
		}
	return false;
}

bool
nsx_extract_hosts_open(struct ex_hosts *h, const struct ex_profile *p)
{
	const struct nsx_trace *t = &p->trace;

	*h = (struct ex_hosts){ p, malloc(((size_t)t->nthreads + 1) * sizeof *h->heap), 0 };
	if (!h->heap)
		return false;
	for (uint32_t i = 0; i < t->nthreads; i++) {
		struct ex_host x = { 0, t->threads[i].first, t->threads[i].first + t->threads[i].n };
		if (nsx_extract_process_kept(p, t->threads[i].process) && seek(p, &x))
			h->heap[h->n++] = x;
	}
	hosts_make(p, h->heap, h->n);
	return true;
}

bool
nsx_extract_hosts_peek(const struct ex_hosts *h, int64_t *start)
{
	if (h->n)
		*start = h->heap[0].start;
	return h->n != 0;
}

uint32_t
nsx_extract_hosts_next(struct ex_hosts *h)
{
	uint32_t found = h->heap[0].at++;

	if (!seek(h->p, &h->heap[0]))
		h->heap[0] = h->heap[--h->n];
	hosts_down(h->p, h->heap, h->n);
	return found;
}

void
nsx_extract_hosts_close(struct ex_hosts *h)
{
	free(h->heap);
}
