/* overlap.h -- the time of communication that is hidden behind computation. */
#ifndef NSX_FILTER_OVERLAP_H
#define NSX_FILTER_OVERLAP_H

#include <stddef.h>

#include "base/diag.h"
#include "base/err.h"
#include "filter/stepping.h"
#include "stream/reader.h"
#include "stream/writer.h"

/* Pass all of `in` to `out`, with `hidden` set on every thunk: 0 for computation; for communication the length of the
 * union of the device's computing thunks, of any program, within [start, start + dur). Operations that communicate get
 * the length of the union of the device's kernels and whole graphs that do not, on any CUDA stream; other operations
 * get none. Records and headers keep their positions; diags of an earlier nsysx-overlap are dropped. `in` is open with
 * NSX_READ_ORDERED and not read from yet; `out` must not follow it. Records after communication that has not ended
 * wait: about hold_bytes of them in memory, the others in temporary files. Not finished: the caller does that. NSX_OK,
 * or NSX_ERR with err filled. */
int nsx_overlap(struct nsx_reader *in, struct nsx_writer *out, size_t hold_bytes, struct nsx_diags *diags,
                struct nsx_err *err);

/* The same for who calls it for each record: it has begun. NULL: err is filled. */
struct nsx_overlap;
struct nsx_overlap *nsx_overlap_begin(struct nsx_reader *in, struct nsx_writer *out, size_t hold_bytes,
                                      struct nsx_err *err);
extern const struct nsx_stepping nsx_overlap_stepping;

#endif
