/* idle.h -- idle time as records of the stream (kind `idle`): one for each piece of one cause (job/idle/idle.h). */
#ifndef NSX_FILTER_IDLE_H
#define NSX_FILTER_IDLE_H

#include "base/diag.h"
#include "base/err.h"
#include "stream/reader.h"
#include "stream/writer.h"

/* `out`, which must not follow `in`, gets all of `in` (opened with NSX_READ_ORDERED, nothing read yet) with an `idle`
 * record for each piece of idle time of one cause, in place of those that it had. latency: ns after its call returned
 * in which an operation may begin. require: fail unless the stream has a record of this kind; NULL: none. `in` is read
 * twice, from a spool if it is a pipe; up to 130 bytes of memory for each record. Not finished: the caller does that.
 * NSX_OK, or NSX_ERR with err filled. */
int nsx_idle_mark(struct nsx_reader *in, int64_t latency, const char *require, struct nsx_writer *out,
                  struct nsx_diags *diags, struct nsx_err *err);

#endif
