/* range_stack.h -- the ranges of a thread that are open in a sweep by start, while they nest: ends decrease towards the
 * top, so the ranges that contain a call are the part from the bottom to the innermost range that ends late enough.
 * For readers of sources. */
#ifndef NSX_SOURCE_RANGE_STACK_H
#define NSX_SOURCE_RANGE_STACK_H

#include <stdbool.h>
#include <stdlib.h>

#include "source/trace.h"

/* Indices into r; empty if all but r is {0}. Free p. */
struct nsx_range_stack { const struct nsx_range *r; uint32_t *p, depth, cap; };

/* The end of the innermost one; the stack must not be empty. */
static inline int64_t
nsx_range_stack_end(const struct nsx_range_stack *s)
{
	return s->r[s->p[s->depth - 1]].end;
}

/* Push range i: 1; 0 if it ends after the range around it; NSX_ERR when out of memory. */
static inline int
nsx_range_stack_push(struct nsx_range_stack *s, uint32_t i)
{
	if (s->depth && nsx_range_stack_end(s) < s->r[i].end)
		return 0;
	if (s->depth == s->cap) {
		uint32_t cap = s->cap ? s->cap * 2 : 64;
		uint32_t *p = realloc(s->p, cap * sizeof *p);
		if (!p)
			return NSX_ERR;
		s->p = p;
		s->cap = cap;
	}
	s->p[s->depth++] = i;
	return 1;
}

/* The innermost range that ends at `end` or later; NSX_NONE if none does. */
static inline uint32_t
nsx_range_stack_around(const struct nsx_range_stack *s, int64_t end)
{
	uint32_t lo = 0, hi = s->depth;

	if (hi && nsx_range_stack_end(s) >= end)
		return s->p[hi - 1];
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (s->r[s->p[mid]].end >= end)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? s->p[lo - 1] : (uint32_t)NSX_NONE;
}

#endif
