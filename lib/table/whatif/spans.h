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

/* {0} is empty. */
struct wi_spans {
	const struct wi_graph *g;
	NSX_VEC(struct wi_doubt) doubts;         /* by event */
	NSX_VEC(uint32_t) causes;                /* events */
	unsigned char *is_doubt;                 /* of events, a bit each */
	uint32_t *order;                         /* of events: sources first, and causes where that is possible */
	uint32_t *lane_first, *lane_ops;         /* operations of lane i by start: from lane_first[i] on */
	uint32_t *comm_first, *comm_ops;         /* those that communicate; NULL: the members of all are known */
	struct nsx_sort_key *by_device, *by_process;   /* lanes */
	uint32_t *thread_first, *thread_calls;   /* the same of threads and calls; NULL: no thread is in doubt */
	struct nsx_sort_key *threads;            /* by process */
	uint32_t *last;                          /* where streams may wait for each other in ways that are not known:
	                                          * room for an operation of each lane; else NULL */
};

/* Find the doubts of a graph with its path. NSX_OK or NSX_ERR; free s in both cases. */
int nsx_wi_spans_begin(struct wi_spans *s, const struct wi_graph *g, const struct wi_path *path);
/* The latest, or the earliest, that events can be after a change: of wi_graph.nevents, in times. */
void nsx_wi_spans_sweep(const struct wi_spans *s, const struct wi_plan *p, bool latest, int64_t *times);
void nsx_wi_spans_free(struct wi_spans *s);

#endif
