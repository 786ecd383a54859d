/* path.h -- the critical path: for each device the chain of edges that bind, from the first operation of its last step
 * back to that of its first. Each edge owns the time from its source to its event, so that what is owned in a step adds
 * up to its period. */
#ifndef NSX_TABLE_WHATIF_PATH_H
#define NSX_TABLE_WHATIF_PATH_H

#include "table/whatif/graph.h"

/* Unseen: in a gap between calls, while what its process has launched is still to be done: the host works, or waits for
 * that in a way that is no call. */
enum wi_part { WI_COMPUTE, WI_COMM, WI_COPY, WI_GAP_PART, WI_HOST_PART, WI_UNSEEN_PART, WI_API_PART, WI_UNEXPLAINED,
               WI_NPARTS };
extern const char *const nsx_wi_part_names[WI_NPARTS];
extern const char *const nsx_wi_class_names[WI_NCLASSES];

/* A part of an edge in one step of the device whose path it is; an edge that is unseen in part has two. */
struct wi_hop {
	uint32_t step;               /* in wi_graph.steps */
	uint32_t event, edge;        /* NSX_NONE: before the first event that is known */
	uint32_t on;                 /* the device that it is spent on, in the catalogue */
	uint8_t  part;
	int64_t  start, ns;          /* ns may be less than 0, where clocks differ */
};

/* Gets each part of the path of a device, backwards in time. false: no more, which nsx_wi_walk returns. */
typedef bool wi_hop_fn(void *state, const struct wi_hop *hop);
/* All paths, device by device. */
bool nsx_wi_walk(const struct wi_graph *g, wi_hop_fn *hop, void *state);
/* All paths, in any order, but parts of one edge together: for sums over many devices. */
bool nsx_wi_walk_all(const struct wi_graph *g, wi_hop_fn *hop, void *state);

/* Sums over all paths, ns. */
struct wi_path {
	int64_t  all, parts[WI_NPARTS];
	int64_t  odd[WI_NCLASSES];   /* not explained, by class of edge */
	int64_t  late;               /* latencies of operations that are much longer than usual */
	int64_t  unpaired;           /* collectives of unknown members, in which nobody waits for another */
	double   idle, blind;        /* shares, of nsx_wi_host_time */
	int64_t *on;                 /* by device of the catalogue */
	int64_t *names;              /* of operations that compute or copy, by name */
	bool    *unseen;             /* by call, of nsx_wi_find_unseen; it goes with the graph. NULL: there are many */
};
/* NSX_OK or NSX_ERR; free path in both cases. */
int nsx_wi_find_path(const struct wi_graph *g, struct wi_path *path);
void nsx_wi_path_free(struct wi_path *path);

/* The edge of an event that binds; NSX_NONE: it has none. */
static inline uint32_t
nsx_wi_binding(const struct wi_graph *g, uint32_t event)
{
	uint32_t k = g->first[event];

	while (k != NSX_NONE && !g->edges.p[k].binds)
		k = wi_next(g, k);
	return k;
}

/* ---- spans.c */
/* Whether a latency of that class is much longer than usual. */
bool nsx_wi_is_late(const struct wi_graph *g, int class, int64_t ns);

/* ---- host_time.c */
/* Gaps between calls that are longer, ns, may be waits of a host that hardly waits in calls; from which share on. */
enum { WI_LONG_GAP = 50000 };
#define WI_IDLE 0.1
/* The shares of the time of processes, from their first step to their last: in long gaps that may be waits (`unseen`,
 * of nsx_wi_find_unseen), of processes that wait in a call in fewer than every other step, on the path or not; and in
 * calls that wait for what is not known. false: out of memory. */
bool nsx_wi_host_time(const struct wi_graph *g, const bool *unseen, double *idle, double *blind);

/* ---- unseen.c */
/* Set which calls come after a gap that may be a wait; by call. until: NULL, or room for when what had been launched
 * was done, in the gap; INT64_MIN of other calls. */
bool nsx_wi_find_unseen(const struct wi_graph *g, bool *after, int64_t *until);

#endif
