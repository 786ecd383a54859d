/* spans.h -- what a change saves at least and at most, where it is not known what some events waited for. */
#ifndef NSX_TABLE_WHATIF_SPANS_H
#define NSX_TABLE_WHATIF_SPANS_H

#include "base/sort.h"
#include "table/whatif/path.h"
#include "table/whatif/plan.h"

/* An event of which it is not known how much of the time since its source was work and how much was waiting, nor for
 * which of these events: n of wi_spans.causes from first on, the first `within` of them later than the source. edge:
 * the one that binds; NSX_NONE: it has none. */
struct wi_doubt { uint32_t event, edge, first, n, within; };

/* Operations of the i-th of several groups of lanes: from first[i] on, up to first[i + 1]. */
struct wi_lists { uint32_t *first, *ops; };

/* {0} is empty. */
struct wi_spans {
	const struct wi_graph *g;
	NSX_VEC(struct wi_doubt) doubts;         /* by event */
	NSX_VEC(uint32_t) causes;                /* events */
	/* Of 64 events: a bit each, and how many doubts are before theirs. */
	struct wi_in_doubt { uint64_t bits; uint32_t before; } *in_doubt;
	uint32_t *order;                         /* of events: sources first, and causes where that is possible */
	struct wi_lists of_device, of_process;   /* operations by end; {0}: there are no calls */
	struct wi_lists comm;                    /* by lane, what communicates by start; {0}: all members are known */
	uint32_t *thread_first, *thread_calls;   /* the same of threads and calls; NULL: no thread is in doubt */
	struct nsx_sort_key *threads;            /* by process */
	struct nsx_sort_key *by_device;          /* lanes, and */
	uint32_t *last;                          /* where streams may wait for each other in ways that are not known:
	                                          * room for an operation of each lane; else NULL */
	uint32_t *looked, looks;                 /* by lane: the search for its last operation that found it */
	bool sampled;                            /* of the event in question some causes are left out */
	int64_t partial;                         /* events of which that is so */
};

/* The doubt about an event; NULL: there is none. */
static inline const struct wi_doubt *
wi_doubt_of(const struct wi_spans *s, uint32_t event)
{
	const struct wi_in_doubt *in = &s->in_doubt[event / 64];
	uint64_t bit = UINT64_C(1) << event % 64;

	return in->bits & bit ? &s->doubts.p[in->before + (uint32_t)__builtin_popcountll(in->bits & (bit - 1))] : NULL;
}

/* Find the doubts of a graph with its path. NSX_OK or NSX_ERR; free s in both cases. */
int nsx_wi_spans_begin(struct wi_spans *s, const struct wi_graph *g, const struct wi_path *path);
/* The earliest and the latest that events can be after a change, of wi_graph.nevents each. */
void nsx_wi_spans_sweep(const struct wi_spans *s, const struct wi_plan *p, int64_t *earliest, int64_t *latest);
void nsx_wi_spans_free(struct wi_spans *s);

/* ---- lists.c */
/* The process of a call. */
static inline uint32_t
wi_process_of(const struct wi_graph *g, uint32_t call)
{
	return g->of_threads.p[g->calls.p[call].thread].process;
}
/* Make the lists of its graph; lanes: streams may wait for each other in ways that are not known. false: out of
 * memory. */
bool nsx_wi_list(struct wi_spans *s, bool lanes);

#endif
