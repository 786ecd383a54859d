/* steps.h -- steps of a job, and the activities of devices in each: NVTX ranges of a class, or executions of an XLA
 * program. Definitions: docs/man/nsysx-steps.1. */
#ifndef NSX_TABLE_STEPS_H
#define NSX_TABLE_STEPS_H

#include "base/table.h"
#include "job/steps/find.h"
#include "table/roofline.h"

/* What a row is. */
enum nsx_steps_by {
	NSX_STEPS_BY_CLASS,    /* a class on a device */
	NSX_STEPS_BY_PHASE,    /* what steps of a server do: prefill, decode, mixed (job/serving.h) */
	NSX_STEPS_BY_SHAPE     /* a phase, and the number of requests and tokens */
};

/* The attention of a model, on one device; layers 0: not known. */
struct nsx_steps_model { int64_t layers, heads, kv_heads, dim; };

struct nsx_steps_options {
	const char *step, *module, *require;   /* as in struct nsx_steps_wanted, */
	unsigned    keep;      /* these six likewise */
	bool        brief, repeats, batched;
	const struct nsx_intern *overlapping;
	const char *repeat;
	bool        each;      /* a row for each step instead of for each class and device */
	enum nsx_steps_by by;  /* not BY_CLASS: all devices, and neither each nor explain */
	struct nsx_steps_model model;   /* not BY_CLASS: for the limit of attention */
	struct nsx_roofline_given given;   /* its peaks */
	int         explain;   /* above 0: the step of that percentile compared with the median one instead */
};

/* Read all of `in` (opened with NSX_READ_ORDERED, nothing read yet). wanted: struct nsx_steps_options. The caller frees
 * *table. NSX_OK, or NSX_ERR with err filled and nothing to free. */
int nsx_steps(struct nsx_reader *in, const void *wanted, struct nsx_table **table, struct nsx_diags *diags,
              struct nsx_err *err);

#endif
