/* steps.h -- steps of a job, and the activities of devices in each: NVTX ranges of a class, or executions of an XLA
 * program. Definitions: docs/man/nsysx-steps.1. */
#ifndef NSX_TABLE_STEPS_H
#define NSX_TABLE_STEPS_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/table.h"
#include "stream/reader.h"
#include "stream/writer.h"

struct nsx_steps_options {
	const char *step;      /* POSIX extended regular expression of DOMAIN:NAME; its groups make classes; NULL:
	                        * none */
	const char *module;    /* name or key of a program; NULL: none. with neither, the class that covers the GPU's
	                        * work is detected */
	bool        each;      /* a row for each step instead of for each class and device */
	int         explain;   /* above 0: the step of that percentile compared with the median one instead */
	const char *require;   /* fail unless the stream has a record of this kind; NULL: none */
};

/* Read all of `in` (opened with NSX_READ_ORDERED, nothing read yet). The caller frees *table; *ndiags is the number of
 * diags of the stream. NSX_OK, or NSX_ERR with err filled and nothing to free. */
int nsx_steps(struct nsx_reader *in, const struct nsx_steps_options *options, struct nsx_table **table, int64_t *ndiags,
              struct nsx_diags *diags,
              struct nsx_err *err);

/* The same reading, but `out`, which must not follow `in`, gets the stream with a `step` record for each step, in
 * place of those that it had. cut: only the steps whose periods count, and of other work of a device the records that
 * begin in them (job/step_windows.h). each and explain are not used. Not finished: the caller does that. NSX_OK, or
 * NSX_ERR with err filled. */
int nsx_steps_write(struct nsx_reader *in, const struct nsx_steps_options *options, bool cut, struct nsx_writer *out,
                    struct nsx_diags *diags, struct nsx_err *err);

#endif
