/* kineto.h -- reads a trace of PyTorch's profiler (Kineto): Chrome's JSON, once from front to back. */
#ifndef NSX_KINETO_KINETO_H
#define NSX_KINETO_KINETO_H

#include "base/input.h"
#include "source/trace.h"

/* Load the trace in *in, a file or a pipe from which nothing was taken, which is closed; path: for messages and the
 * profile's name. Memory is that of rows and names, whatever the size of the file. What was dropped or assumed is
 * counted in diags (source: the profile's name). NSX_OK, or NSX_ERR with err filled and *t as after nsx_trace_free. */
int nsx_kineto_load(struct nsx_input *in, const char *path, const struct nsx_trace_opts *opts, struct nsx_trace *t,
                    struct nsx_diags *diags, struct nsx_err *err);

#endif
