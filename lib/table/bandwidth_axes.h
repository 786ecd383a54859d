/* bandwidth_axes.h -- sums of collectives by axis of the mesh of devices, or by group of devices. */
#ifndef NSX_TABLE_BANDWIDTH_AXES_H
#define NSX_TABLE_BANDWIDTH_AXES_H

#include "table/bandwidth_rows.h"

/* The table of collected sums that have axes, a row for each axis or each group; the caller frees it. NULL
 * with err filled on failure. */
struct nsx_table *nsx_bandwidth_by_axis(struct nsx_bandwidth_sums *s, bool groups, struct nsx_err *err);

#endif
