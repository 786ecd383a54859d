/* nccl_instances.h -- tables of instances of NCCL's communicators: a row for each instance, or for each operation of
 * one. */
#ifndef NSX_TABLE_NCCL_INSTANCES_H
#define NSX_TABLE_NCCL_INSTANCES_H

#include "base/diag.h"
#include "base/err.h"
#include "base/table.h"
#include "stream/reader.h"

struct nsx_nccl_table {
	struct nsx_table *table;      /* the caller frees it */
	int64_t           instances;
	int64_t           diags;      /* diag records in the stream */
};

/* Read all of `in` (open with NSX_READ_ORDERED, not read from yet) and make the table, of operations if `each`. Holds
 * what job/comm/nccl.h does. Devices of one communicator on clocks that cannot be compared are an error. Fills t;
 * NSX_OK, or NSX_ERR with err filled and nothing to free. */
int nsx_nccl_instances(struct nsx_reader *in, bool each, struct nsx_nccl_table *t, struct nsx_diags *diags,
                       struct nsx_err *err);

#endif
