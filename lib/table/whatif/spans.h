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

/* No more of them are known, but for those of one event. */
#define WI_CAUSES (UINT32_MAX - 1024)

/* Operations or calls of the i-th of several groups: from first[i] on, up to first[i + 1]. near: of operations by end,
 * where the last search in them ended. */
struct wi_lists { uint32_t *first, *at, *near; };

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
	struct wi_lists of_thread;               /* calls by start; {0}: no thread is in doubt */
	struct nsx_sort_key *threads;            /* by process */
	bool streams;                            /* they may wait for each other in ways that are not known: */
	/* Of an operation, by number in of_device: its own; the first one that ended within the usual latency before it
	 * started; the first one that ended after that. moves: it ended within that before another one. */
	struct wi_place { uint32_t of, near, until; bool moves; } *places;
	int64_t *ends, *shifts;                  /* of the sweep, by operation of of_device and tree over them: when it
	                                          * ends, and how much later than was measured; else NULL */
	struct wi_ended *ended;                  /* by device; else NULL */
	uint32_t *looked, looks;                 /* by lane: the search for its last operation that found it */
	bool sampled;                            /* of the event in question some causes are left out */
	int64_t partial;                         /* events of which that is so */
	int64_t unordered;                       /* events of which causes are not heeded, since finding an order in
	                                          * which they come before took too long */
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
/* The earliest and the latest that events can be after changes, at most nsx_wi_at_once: see plan.h. */
void nsx_wi_spans_sweep(const struct wi_spans *s, const struct wi_together *w, int64_t *earliest, int64_t *latest);
void nsx_wi_spans_free(struct wi_spans *s);

/* ---- lists.c */
/* Make the lists of its graph. false: out of memory, here and below. */
bool nsx_wi_list(struct wi_spans *s);

/* ---- doubts.c */
bool nsx_wi_find_doubts(struct wi_spans *s, const struct wi_path *path);

/* ---- streams.c: where s->streams. That an operation began after others of its device had ended may be no chance. */
bool nsx_wi_streams_begin(struct wi_spans *s);
/* Before a sweep of n plans, whose times the others have. */
void nsx_wi_streams_clear(const struct wi_spans *s, size_t n);
/* An operation ends then, in the sweep. wide: wi_wide. */
void nsx_wi_streams_ended(const struct wi_spans *s, int wide, size_t op, const int64_t *times, size_t n);
/* Raise the times of its start to the latest, if it waits for one of those of its device that have ended so far. */
void nsx_wi_streams_raise(const struct wi_spans *s, int wide, size_t op, int64_t *times, size_t n);

#endif
