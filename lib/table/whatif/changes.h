/* changes.h -- changes of a job, as the user names them. plan.h has the lags of a graph after one. */
#ifndef NSX_TABLE_WHATIF_CHANGES_H
#define NSX_TABLE_WHATIF_CHANGES_H

#include <regex.h>

#include "table/whatif/graph.h"

enum wi_what { WI_FASTER, WI_LIMIT, WI_COPIES, WI_TRANSFER, WI_BANDWIDTH, WI_NOWAIT, WI_EVEN, WI_HOST, WI_API,
               WI_NO_SYNC, WI_NO_GAPS, WI_NO_PROFILER };

/* How operations are named: by an expression, in full, or by what they are (job/family.h): FAMILY or FAMILY:KIND. */
enum wi_by { WI_BY_ERE, WI_BY_NAME, WI_BY_FAMILY };

struct wi_change {
	enum wi_what   what;
	enum wi_by     by;
	struct nsx_str text, name;       /* as written; name: ERE, KIND or DEVICES, empty: none */
	double         k;                /* INFINITY: no time at all; of a limit: the share that is reached */
};

/* The length of the first of several changes with commas between, which are made together: up to a comma before the
 * name of a change. */
size_t nsx_wi_change_length(const char *text);

/* Read one change. NULL, or what is wrong with it. */
const char *nsx_wi_change_parse(const char *text, struct wi_change *c);

/* Set the devices that it names, by device of the catalogue; g: NULL to look at the text alone. Whether all its names
 * are numbers. */
bool nsx_wi_change_devices(const struct wi_graph *g, const struct wi_change *c, bool *named);

/* Set, by device, those that do not count for the period of this change, and leave the others as they are: a step of a
 * job without them is that of the others. Whether all that it names are numbers of devices. */
bool nsx_wi_change_without(const struct wi_graph *g, const struct wi_change *c, bool *without);

#endif
