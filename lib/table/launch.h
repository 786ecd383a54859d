/* launch.h -- what launching costs: for each kernel or range its calls, their time, how long kernels were queued, and
 * how long the device waited for them. Definitions: docs/man/nsysx-launch.1. */
#ifndef NSX_TABLE_LAUNCH_H
#define NSX_TABLE_LAUNCH_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/table.h"
#include "job/names.h"
#include "stream/reader.h"

struct nsx_launch_options {
	bool           by_range;   /* by the innermost range of the launch, else by kernel */
	enum nsx_names names;      /* of ranges */
	const char    *require;    /* fail unless the stream has a record of this kind; NULL: none */
};

/* Read all of `in` (opened with NSX_READ_ORDERED, nothing read yet). *table is the caller's to free; *ndiags is how
 * many diags the stream holds. NSX_OK, or NSX_ERR with err filled and nothing to free. */
int nsx_launch(struct nsx_reader *in, const struct nsx_launch_options *options, struct nsx_table **table,
               int64_t *ndiags, struct nsx_diags *diags,
               struct nsx_err *err);

#endif
