/* whatif.h -- how long a step would be if something changed, the chain of work that sets its length, and how much
 * longer operations could take. Definitions: docs/man/nsysx-whatif.1. */
#ifndef NSX_TABLE_WHATIF_H
#define NSX_TABLE_WHATIF_H

#include "base/diag.h"
#include "base/err.h"
#include "base/table.h"
#include "stream/reader.h"
#include "table/steps.h"

enum nsx_whatif_form {
	NSX_WHATIF_FORECAST,                 /* a row for each change */
	NSX_WHATIF_MEAN,                     /* the critical path by part, the mean of all steps; */
	NSX_WHATIF_PART, NSX_WHATIF_DEVICE, NSX_WHATIF_OP,   /* by this */
	NSX_WHATIF_EDGES,                    /* each edge of it */
	NSX_WHATIF_SLACK, NSX_WHATIF_SLACKS  /* by device and step; of each operation */
};

struct nsx_whatif_options {
	struct nsx_steps_options steps;      /* step, module, require */
	enum nsx_whatif_form form;
	const char *const *changes;          /* nchanges of them, which nsx_whatif_check accepts; 0: the usual ones */
	size_t nchanges;
};

/* NULL, or what is wrong with the text of a change. The answer may refer to text, and is valid until the next call. */
const char *nsx_whatif_check(const char *text);

/* Read all of `in` (opened with NSX_READ_ORDERED, nothing read yet). wanted: struct nsx_whatif_options. The caller
 * frees *table. NSX_OK, or NSX_ERR with err filled and nothing to free. */
int nsx_whatif(struct nsx_reader *in, const void *wanted, struct nsx_table **table, struct nsx_diags *diags,
               struct nsx_err *err);

#endif
