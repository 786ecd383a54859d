/* nccl_instances.h -- tables of instances of NCCL's communicators: a row for each instance, or for each operation of
 * one. */
#ifndef NSX_TABLE_NCCL_INSTANCES_H
#define NSX_TABLE_NCCL_INSTANCES_H

#include "base/diag.h"
#include "base/err.h"
#include "base/table.h"
#include "stream/reader.h"

/* each: a row for each operation. some: fail unless the stream has an instance. */
struct nsx_nccl_options { bool each, some; };

/* Read all of `in` (open with NSX_READ_ORDERED, not read from yet) and make the table, which the caller frees. Holds
 * what job/comm/nccl.h does. Devices of one communicator on clocks that cannot be compared are an error. options:
 * struct nsx_nccl_options. NSX_OK, or NSX_ERR with err filled and nothing to free. */
int nsx_nccl_instances(struct nsx_reader *in, const void *options, struct nsx_table **table, struct nsx_diags *diags,
                       struct nsx_err *err);

#endif
