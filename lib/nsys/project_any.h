/* project_any.h -- what the two ways of projecting share; private to lib/nsys. */
#ifndef NSX_NSYS_PROJECT_ANY_H
#define NSX_NSYS_PROJECT_ANY_H

#include "nsys/project.h"

/* nsx_project for ranges that do not nest: the same in O((n + ncalls) log n). */
int nsx_project_any(struct nsx_range *ranges, uint32_t n, uint32_t base, struct nsx_call *calls, uint32_t ncalls,
                    nsx_span_list *spans);

/* A span that holds nothing: the value to fold into. */
static const struct nsx_span nsx_span_empty = { INT64_MAX, INT64_MIN, 0, NSX_NONE };

/* Add GPU time (none if from > to) and operations to a span. */
static inline void
nsx_span_fold(struct nsx_span *s, int64_t from, int64_t to, uint32_t ops, uint32_t device)
{
	s->ops += ops;   /* of calls that share a correlation id -1 may come first: wraps, and wraps back */
	if (from > to)
		return;
	if (s->start > s->end)
		s->device = device;
	else if (s->device != device)
		s->device = NSX_NONE;
	if (from < s->start)
		s->start = from;
	if (to > s->end)
		s->end = to;
}

#endif
