/* bandwidth.h -- a table of the bandwidth of collectives and of the time that devices waited in them. */
#ifndef NSX_TABLE_BANDWIDTH_H
#define NSX_TABLE_BANDWIDTH_H

#include "base/diag.h"
#include "base/err.h"
#include "base/table.h"
#include "stream/reader.h"

/* What a row is: a kind of collective with its sizes, an instruction with these, an axis of the mesh of devices
 * (job/axis.h), or one group of devices. */
enum nsx_bandwidth_by {
	NSX_BANDWIDTH_COLLECTIVE, NSX_BANDWIDTH_INSTRUCTION, NSX_BANDWIDTH_AXIS, NSX_BANDWIDTH_GROUP
};

/* some: fail unless the stream has an instance. */
struct nsx_bandwidth_options { enum nsx_bandwidth_by by; bool some; };

/* Read all of `in` (open, not read from yet; metadata before thunks) and sum up its communication. The rows do not
 * depend on the order of thunks. options: struct nsx_bandwidth_options. The caller frees *table. NSX_OK, or NSX_ERR
 * with err filled and nothing to free. */
int nsx_bandwidth(struct nsx_reader *in, const void *options, struct nsx_table **table, struct nsx_diags *diags,
                  struct nsx_err *err);

#endif
