/* copies.h -- copies and sets of memory: how much, how fast, how much of them behind other work; and those that are
 * done badly. Definitions: docs/man/nsysx-copies.1. */
#ifndef NSX_TABLE_COPIES_H
#define NSX_TABLE_COPIES_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/table.h"
#include "stream/reader.h"

struct nsx_copies_options {
	bool        by_size;    /* a row for each size class, too */
	bool        findings;   /* the copies that break a rule instead */
	const char *require;    /* fail unless the stream has a record of this kind; NULL: none */
};

/* Read all of `in` (opened with NSX_READ_ORDERED, nothing read yet). *table is the caller's to free; *ndiags is how
 * many diags the stream holds. NSX_OK, or NSX_ERR with err filled and nothing to free. */
int nsx_copies(struct nsx_reader *in, const struct nsx_copies_options *options, struct nsx_table **table,
               int64_t *ndiags, struct nsx_diags *diags,
               struct nsx_err *err);

#endif
