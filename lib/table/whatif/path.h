/* path.h -- the critical path: for each device the chain of edges that bind, from the first operation of its last step
 * back to that of its first. Each edge owns the time from its source to its event, so that what is owned in a step adds
 * up to its period. */
#ifndef NSX_TABLE_WHATIF_PATH_H
#define NSX_TABLE_WHATIF_PATH_H

#include "table/whatif/graph.h"

enum wi_part { WI_COMPUTE, WI_COMM, WI_COPY, WI_GAP_PART, WI_HOST_PART, WI_API_PART, WI_UNEXPLAINED, WI_NPARTS };
extern const char *const nsx_wi_part_names[WI_NPARTS];
extern const char *const nsx_wi_class_names[WI_NCLASSES];

/* A part of an edge in one step of the device whose path it is. */
struct wi_hop {
	uint32_t step;               /* in wi_graph.steps */
	uint32_t event, edge;        /* NSX_NONE: before the first event that is known */
	uint32_t on;                 /* the device that it is spent on, in the catalogue */
	uint8_t  part;
	int64_t  start, ns;          /* ns may be less than 0, where clocks differ */
};
typedef NSX_VEC(struct wi_hop) wi_path;

/* All paths, device by device, backwards in time. NSX_OK or NSX_ERR. */
int nsx_wi_find_path(const struct wi_graph *g, wi_path *path);

/* The edge of an event that binds; NSX_NONE: it has none. */
uint32_t nsx_wi_binding(const struct wi_graph *g, uint32_t event);

/* *share: that of the path in which the host may have waited for the device in a way that is no call: in gaps that
 * began when its process had launched much that was still to be done. NSX_OK or NSX_ERR. */
int nsx_wi_unseen(const struct wi_graph *g, const wi_path *path, double *share);

/* The share of the path that is not explained. */
double nsx_wi_unexplained(const wi_path *path);

#endif
