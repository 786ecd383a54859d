/* measure.h -- GPU time of a program or an NVTX range, execution by execution: the sum of its operations, and from
 * first to last. */
#ifndef NSX_TABLE_MEASURE_H
#define NSX_TABLE_MEASURE_H

#include "base/diag.h"
#include "base/err.h"
#include "base/table.h"
#include "job/names.h"
#include "stream/reader.h"

enum nsx_measure_what {
	NSX_MEASURE_EXECUTIONS,   /* a row for each execution: id name execution device kernels events ops */
	NSX_MEASURE_STATS,        /* for each name, device and measure: id name device measure count mean std min median
	                           * p90 p99 */
	NSX_MEASURE_LIST          /* for each operation: id name execution device type kernel start dur */
};

struct nsx_measure_options {
	enum nsx_measure_what what;
	const char *module;    /* name or key of programs; NULL: use range */
	const char *range;     /* name of NVTX ranges, or DOMAIN:NAME; the full one or in the form of `names` */
	enum nsx_names names;
	int64_t     skip;      /* drop executions of lower numbers */
	const char *require;   /* fail unless the stream has a record of this kind; NULL: none */
};

/* Read all of `in` (opened with NSX_READ_ORDERED, nothing read yet). options: struct nsx_measure_options. The caller
 * frees *table. NSX_OK, or NSX_ERR with err filled and nothing to free. */
int nsx_measure(struct nsx_reader *in, const void *options, struct nsx_table **table, struct nsx_diags *diags,
                struct nsx_err *err);

#endif
