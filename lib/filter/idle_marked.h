/* idle_marked.h -- a stream with marks of idle time, whether it had them or not. */
#ifndef NSX_FILTER_IDLE_MARKED_H
#define NSX_FILTER_IDLE_MARKED_H

#include "filter/idle.h"

/* If *in, from which nothing was read, is a file with `idle` records it stays as it is. Otherwise its idle time is
 * marked, in a compressed temporary file: *in is closed and becomes a reader of that. latency, require, err: as for
 * nsx_idle_mark. NSX_OK, or NSX_ERR with err filled. */
int nsx_idle_marked(struct nsx_reader **in, int64_t latency, const char *require, struct nsx_diags *diags,
                    struct nsx_err *err);

#endif
