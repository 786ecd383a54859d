/* steps.h -- the stream with its steps as records: all of it, or for each device only what begins in or runs into the
 * periods that count (job/steps/windows.h). */
#ifndef NSX_FILTER_STEPS_H
#define NSX_FILTER_STEPS_H

#include "job/steps/find.h"
#include "stream/writer.h"

/* Read all of `in` (opened with NSX_READ_ORDERED, nothing read yet). `out`, which must not follow `in`, gets the stream
 * with a `step` record for each step, in place of those that it had. cut: only the steps whose periods count, and of
 * other work of a device the records that begin in them. Not finished: the caller does that. NSX_OK, or NSX_ERR with
 * err filled. */
int nsx_steps_write(struct nsx_reader *in, const struct nsx_steps_wanted *wanted, bool cut, struct nsx_writer *out,
                    struct nsx_diags *diags, struct nsx_err *err);

#endif
