/* launch.h -- the cost of launching: for each kernel or range its calls, their time, how long kernels were queued, and
 * how long the device waited for them. Definitions: docs/man/nsysx-launch.1. */
#ifndef NSX_TABLE_LAUNCH_H
#define NSX_TABLE_LAUNCH_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/table.h"
#include "job/names.h"
#include "stream/kinds.h"
#include "stream/reader.h"

/* What a row is, if not a kernel or a range: a stretch of launches that a graph could hold; a CUDA graph. */
enum nsx_launch_form { NSX_LAUNCH_NAMES, NSX_LAUNCH_STRETCHES, NSX_LAUNCH_GRAPHS };

struct nsx_launch_options {
	enum nsx_launch_form form;
	bool           by_range;   /* by the innermost range of the launch, else by kernel */
	enum nsx_names names;      /* of ranges */
	const char    *require;    /* fail unless the stream has a record of this kind; NULL: none */
};

/* Read all of `in` (opened with NSX_READ_ORDERED, nothing read yet). the caller frees *table; *ndiags is the number of
 * diags of the stream. NSX_OK, or NSX_ERR with err filled and nothing to free. */
int nsx_launch(struct nsx_reader *in, const struct nsx_launch_options *options, struct nsx_table **table,
               int64_t *ndiags, struct nsx_diags *diags,
               struct nsx_err *err);

/* ---- in a reading with other analyses */

/* kernel, starved: ns; bound: the verdict is launch-bound. */
struct nsx_launch_sum { struct nsx_str name; int64_t kernels, kernel, starved; bool bound; };

/* An analysis (table/analysis.h) without options: sums by kernel, without what calls cost, for nsx_launch_sum. */
extern const struct nsx_analysis nsx_launch_sums;

/* The other forms, launch_stretches.c and launch_graphs.c: name program launches times api span starved idle share;
 * name nodes replays api span span_mean busy gaps gap_share starved. No options. */
extern const struct nsx_analysis nsx_launch_stretches, nsx_launch_graphs;

/* The i-th of the sums in its state, after `finish`, in order of rows; false after the last. The name lives as long as
 * the state. */
bool nsx_launch_sum(const void *state, size_t i, struct nsx_launch_sum *sum);

#endif
