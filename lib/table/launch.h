/* launch.h -- the cost of launching: for each kernel or range its calls, their time, how long kernels were queued, and
 * how long the device waited for them. Definitions: docs/man/nsysx-launch.1. */
#ifndef NSX_TABLE_LAUNCH_H
#define NSX_TABLE_LAUNCH_H

#include <stdbool.h>

#include "job/names.h"
#include "table/analysis.h"

struct nsx_launch_options {
	bool           by_range;   /* by the innermost range of the launch, else by kernel */
	enum nsx_names names;      /* of ranges */
};

/* kernel, starved: ns; bound: the verdict is launch-bound. */
struct nsx_launch_sum { struct nsx_str name; int64_t kernels, kernel, starved; bool bound; };

/* Analyses (table/analysis.h) with nsx_launch_options: rows for kernels, and with by_range for ranges. */
extern const struct nsx_analysis nsx_launch_analysis, nsx_launch_ranges;

/* An analysis without options: sums by kernel, without what calls cost, for nsx_launch_sum. */
extern const struct nsx_analysis nsx_launch_sums;

/* Rows for stretches of launches that a graph could hold (launch_stretches.c), name program launches times api span
 * starved idle share; and for CUDA graphs (launch_graphs.c), name nodes replays api span span_mean busy gaps gap_share
 * starved. No options. */
extern const struct nsx_analysis nsx_launch_stretches, nsx_launch_graphs;

/* The i-th of the sums in its state, after `finish`, in order of rows; false after the last. The name lives as long as
 * the state. */
bool nsx_launch_sum(const void *state, size_t i, struct nsx_launch_sum *sum);

#endif
