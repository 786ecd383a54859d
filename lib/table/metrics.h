/* metrics.h -- samples of GPU metrics by what ran while they were taken. */
#ifndef NSX_TABLE_METRICS_H
#define NSX_TABLE_METRICS_H

#include "table/analysis.h"

enum nsx_metrics_by { NSX_METRICS_KERNEL, NSX_METRICS_RANGE, NSX_METRICS_STEP };

/* require: fail unless the stream has a record of this kind; NULL: none. */
struct nsx_metrics_options { enum nsx_metrics_by by; const char *require; };

/* A table: name metric samples mean max coverage exclusive. Options: nsx_metrics_options. Memory grows with the names
 * and their metrics, and with what runs within a sampled interval. */
extern const struct nsx_analysis nsx_metrics_analysis;

/* Read all of `in` (opened with NSX_READ_ORDERED, nothing read yet); the caller frees *table, *ndiags is the number of
 * diags of the stream. NSX_OK, or NSX_ERR with err filled and nothing to free. */
int nsx_metrics(struct nsx_reader *in, const struct nsx_metrics_options *options, struct nsx_table **table,
                int64_t *ndiags, struct nsx_diags *diags, struct nsx_err *err);

#endif
