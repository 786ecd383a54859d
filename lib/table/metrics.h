/* metrics.h -- samples of GPU metrics by what ran while they were taken. */
#ifndef NSX_TABLE_METRICS_H
#define NSX_TABLE_METRICS_H

#include "table/analysis.h"

enum nsx_metrics_by { NSX_METRICS_KERNEL, NSX_METRICS_RANGE, NSX_METRICS_STEP };

struct nsx_metrics_options { enum nsx_metrics_by by; };

/* A table: name metric samples mean max coverage exclusive. Options: nsx_metrics_options. Memory grows with the names
 * and their metrics, and with what runs within a sampled interval. */
extern const struct nsx_analysis nsx_metrics_analysis;

#endif
