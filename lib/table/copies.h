/* copies.h -- copies and sets of memory: time, bandwidth, the part hidden behind other work; and inefficient ones.
 * Definitions: docs/man/nsysx-copies.1. */
#ifndef NSX_TABLE_COPIES_H
#define NSX_TABLE_COPIES_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/table.h"
#include "base/str.h"
#include "stream/kinds.h"
#include "stream/reader.h"

struct nsx_copies_options {
	bool        by_size;    /* a row for each size class too */
	bool        findings;   /* instead, the copies that break a rule, the longest first */
	bool        minor;      /* also the findings that take less than a thousandth of the time of all copies; without
	                         * it, a note below the table gives their number and time */
	bool        in_windows; /* of the windows of the reading only; what began before one may hide its copies */
	const char *require;    /* fail unless the stream has a record of this kind; NULL: none */
};

/* Why a table without findings has no rows. */
#define NSX_COPIES_EMPTY "no operation copies or sets memory"

/* Read all of `in` (opened with NSX_READ_ORDERED, nothing read yet). the caller frees *table; *ndiags is the number of
 * diags of the stream. NSX_OK, or NSX_ERR with err filled and nothing to free. */
int nsx_copies(struct nsx_reader *in, const struct nsx_copies_options *options, struct nsx_table **table,
               int64_t *ndiags, struct nsx_diags *diags,
               struct nsx_err *err);

/* ---- in a reading with other analyses */

/* Copies of a kind, between the same kinds of memory, called in one way. time, hidden: ns; hidden: the part behind
 * other work. */
struct nsx_copies_sum { struct nsx_str name, src, dst; bool sync; int64_t count, bytes, time, hidden; };

/* An analysis (table/analysis.h) with nsx_copies_options. */
extern const struct nsx_analysis nsx_copies_analysis;

/* The i-th of the sums in its state, after `finish`, the longest time first; false after the last. Strings live as long
 * as the state. */
bool nsx_copies_sum(const void *state, size_t i, struct nsx_copies_sum *sum);

#endif
