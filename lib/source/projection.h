/* projection.h -- calls and the spans that they are folded into, for the two ways of projecting. */
#ifndef NSX_SOURCE_PROJECTION_H
#define NSX_SOURCE_PROJECTION_H

#include "base/vec.h"
#include "source/trace.h"

/* A CUDA call that launched GPU work: its host interval and the combined interval of its operations. */
struct nsx_call {
	int64_t  start, end;          /* host ns; end >= start */
	int64_t  gpu_start, gpu_end;  /* first start and last end of its operations */
	uint32_t device;              /* index of their device, NSX_NONE: several */
	int32_t  weight;              /* 1; 0 and -1 keep calls that share a correlation id from being counted twice
	                               * (see project.c) */
	uint32_t range;               /* out: index of the innermost range around it, NSX_NONE: none */
	uint32_t launch;              /* for nsx_calls_make and those who call it; see calls.h */
};

typedef NSX_VEC(struct nsx_span) nsx_span_list;

/* An empty span: the initial value for folding. */
static const struct nsx_span nsx_span_empty = { INT64_MAX, INT64_MIN, 0, NSX_NONE };

/* Add GPU time (none if from > to) and operations to a span. */
static inline void
nsx_span_fold(struct nsx_span *s, int64_t from, int64_t to, uint32_t ops, uint32_t device)
{
	s->ops += ops;   /* of calls that share a correlation id -1 may come first: wraps around, and back */
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
