/* collectives.h -- communication thunks as `collective` records, with size, group and bandwidth. */
#ifndef NSX_FILTER_COLLECTIVES_H
#define NSX_FILTER_COLLECTIVES_H

#include "base/diag.h"
#include "base/err.h"
#include "filter/stepping.h"
#include "stream/reader.h"
#include "stream/writer.h"

/* Pass all of `in` to `out`, with a `collective` record for every communication thunk, in its place in the order.
 * Existing ones in `in`, and diags of an earlier nsysx-collectives, are dropped. `in` is open with NSX_READ_ORDERED and
 * not read from yet; `out` follows it. Records after an operation whose communicator has no recorded size wait for the
 * end: about hold_bytes of them in memory, the others in compressed temporary files. Not finished: the caller does
 * that. NSX_OK, or NSX_ERR with err filled. */
int nsx_collectives(struct nsx_reader *in, struct nsx_writer *out, size_t hold_bytes, struct nsx_diags *diags,
                    struct nsx_err *err);

/* The same for who calls it for each record: it has begun. NULL: err is filled. */
struct nsx_collecting;
struct nsx_collecting *nsx_collectives_begin(struct nsx_reader *in, struct nsx_writer *out, size_t hold_bytes,
                                             struct nsx_err *err);
extern const struct nsx_stepping nsx_collectives_stepping;

#endif
