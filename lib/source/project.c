/* project.c -- parents and projection of the ranges of a thread, by one sweep with a stack, while the ranges nest;
 * threads whose ranges do not nest go to project_any.c.
 *
 *   range A   0..100                               stack: A
 *   range B  10.. 50                               stack: A B
 *   call     20.. 30, its GPU work 200..250        folded into B, the innermost range around it
 *   range C  60.. 90                               B ends: folded into A; stack: A C
 *   call     70.. 75, its GPU work 260..300        folded into C
 *
 * At the end C is folded into A. Projections: B 200..250, C 260..300, and A, their parent, 200..300, gap included.
 *
 * Ranges and calls are read in order of start. The stack contains the open ranges, with ends that decrease towards its
 * top, so the ranges around a call are the stack from the bottom to the innermost range that ends late enough. A call
 * is folded into that range, and a range into its parent when it leaves the stack.
 *
 * Two cases do not nest, and send the thread to project_any.c: a range that begins within another and ends after it,
 * and ranges that touch ([0,10] and [10,20]) with a range or call of no length at their common instant, which is in
 * both.
 *
 * Calls that share a correlation id count once. Of each thread's calls of one id, the caller keeps those that contain
 * no other (a range that contains a call contains the calls in it), and adds a call of weight -1 and no GPU time that
 * spans each neighbouring pair: a range around k of them is around the k - 1 pairs, so it counts k - (k - 1) = 1. */
#include <stdlib.h>

#include "source/project.h"
#include "source/project_any.h"
#include "source/range_stack.h"

struct sweep {
	struct nsx_range *r;
	nsx_span_list    *spans;       /* NULL: not requested */
	uint32_t          base;
	struct nsx_range_stack open;
	bool              popped;      /* has a range left the stack because another began at its end? */
	int64_t           popped_at;   /* the last such instant */
	bool              failed;      /* out of memory */
};

/* Add to the span of range i, which gets one with the first. */
static inline void
fold(struct sweep *s, uint32_t i, int64_t from, int64_t to, uint32_t ops, uint32_t device)
{
	if (s->r[i].gpu == NSX_NONE) {
		if (!nsx_vec_push(s->spans, nsx_span_empty)) {
			s->failed = true;
			return;
		}
		s->r[i].gpu = (uint32_t)s->spans->n - 1;
	}
	nsx_span_fold(&s->spans->p[s->r[i].gpu], from, to, ops, device);
}

static inline void
pop(struct sweep *s)
{
	uint32_t i = s->open.p[--s->open.depth];

	if (s->open.depth && s->spans && s->r[i].gpu != NSX_NONE) {
		struct nsx_span own = s->spans->p[s->r[i].gpu];
		fold(s, s->open.p[s->open.depth - 1], own.start, own.end, own.ops, own.device);
	}
}

/* Open range i: 1 if it fits the stack, 0 if it does not, NSX_ERR when out of memory. */
static inline int
push(struct sweep *s, uint32_t i)
{
	const struct nsx_range *c = &s->r[i];
	bool instant = c->start == c->end;

	while (s->open.depth) {
		int64_t end = nsx_range_stack_end(&s->open);

		if (end > c->start || (instant && end == c->start))
			break;
		if (end == c->start) {
			s->popped = true;
			s->popped_at = end;
		}
		pop(s);
	}
	if (instant && s->popped && s->popped_at == c->start)
		return 0;
	uint32_t parent = s->open.depth ? s->base + s->open.p[s->open.depth - 1] : NSX_NONE;
	int fits = nsx_range_stack_push(&s->open, i);
	if (fits != 1)
		return fits;
	s->r[i].parent = parent;
	if (s->spans)
		s->r[i].gpu = NSX_NONE;
	return 1;
}

/* Fold a call into the innermost range around it: false if this sweep cannot determine it. */
static inline bool
place(struct sweep *s, struct nsx_call *c)
{
	if (c->start == c->end && s->popped && s->popped_at == c->start)
		return false;
	while (s->open.depth && nsx_range_stack_end(&s->open) < c->start)
		pop(s);
	uint32_t i = nsx_range_stack_around(&s->open, c->end);
	if (i == NSX_NONE) {
		c->range = NSX_NONE;
		return true;
	}
	c->range = s->base + i;
	if (s->spans)
		fold(s, i, c->gpu_start, c->gpu_end, (uint32_t)c->weight, c->device);
	return true;
}

/* 1 done, 0 the ranges do not nest, NSX_ERR. */
static int
sweep_nested(struct sweep *s, uint32_t n, struct nsx_call *calls, uint32_t ncalls)
{
	uint32_t j = 0;

	for (uint32_t i = 0; i < n; i++) {
		for (; j < ncalls && calls[j].start < s->r[i].start; j++)
			if (!place(s, &calls[j]))
				return 0;
		int fits = push(s, i);
		if (fits != 1)
			return fits;
	}
	for (; j < ncalls; j++)
		if (!place(s, &calls[j]))
			return 0;
	while (s->open.depth)
		pop(s);
	return 1;
}

int
nsx_project(struct nsx_range *ranges, uint32_t n, uint32_t base, struct nsx_call *calls, uint32_t ncalls,
            nsx_span_list *spans)
{
	struct sweep s = { .r = ranges, .spans = spans, .base = base, .open = { .r = ranges } };
	int done = sweep_nested(&s, n, calls, ncalls);

	free(s.open.p);
	if (done == NSX_ERR || s.failed)
		return NSX_ERR;
	if (done)
		return NSX_OK;
	if (spans)
		spans->n = 0;
	return nsx_project_any(ranges, n, base, calls, ncalls, spans);
}
