/* changes.h -- changes of a job, as the user names them: which lags of a graph each of them alters. */
#ifndef NSX_TABLE_WHATIF_CHANGES_H
#define NSX_TABLE_WHATIF_CHANGES_H

#include <regex.h>

#include "table/whatif/graph.h"

/* A lag of an edge that no longer holds anything back. */
#define WI_GONE (INT64_MIN / 4)

enum wi_what { WI_FASTER, WI_LIMIT, WI_COPIES, WI_TRANSFER, WI_BANDWIDTH, WI_NOWAIT, WI_EVEN, WI_HOST, WI_API,
               WI_NO_SYNC, WI_NO_GAPS, WI_NO_PROFILER };

struct wi_change {
	enum wi_what   what;
	struct nsx_str text, name;       /* as written; name: ERE, KIND or DEVICES, empty: none */
	double         k;                /* INFINITY: no time at all; of a limit: the share that is reached */
};

/* Read a change. NULL, or what is wrong with it. */
const char *nsx_wi_change_parse(const char *text, struct wi_change *c);

/* The lags of the graph after the change, beginning from base. *named: whether it names something in the stream. NSX_OK
 * or NSX_ERR. */
int nsx_wi_change_lags(const struct wi_graph *g, const struct wi_change *c, const int64_t *base, int64_t *lags,
                   bool *named);

/* Set, by device, those that do not count for the period of this change: a step of a job without them is that of the
 * others. false: all count. */
bool nsx_wi_change_without(const struct wi_graph *g, const struct wi_change *c, bool *without);

/* The change faster:NAME=2 of one name: an operation of a graph takes 1/k of its time. */
void nsx_wi_change_name(const struct wi_graph *g, uint32_t name, double k, const int64_t *base, int64_t *lags);

#endif
