/* xplane.h -- reads an XSpace (*.xplane.pb), what JAX's profiler and TensorFlow's write. Knows the messages of the
 * profiler and nothing of HLO, whose bytes it hands on. */
#ifndef NSX_XPLANE_XPLANE_H
#define NSX_XPLANE_XPLANE_H

#include "base/input.h"
#include "source/trace.h"

/* Load the XSpace in *in, from which nothing was taken, which is closed; path: for messages and the profile's name.
 * Executions of programs and instructions become ranges with the titles that XLA gives its NVTX ranges. Memory: the
 * file and its rows. What was dropped or assumed is counted in diags (source: the profile's name). NSX_OK, or NSX_ERR
 * with err filled and *t as after nsx_trace_free. */
int nsx_xplane_load(struct nsx_input *in, const char *path, const struct nsx_trace_opts *opts, struct nsx_trace *t,
                    struct nsx_diags *diags, struct nsx_err *err);

/* The programs in the XSpace at path, plain or gzip, which are then those of *t, freed with nsx_trace_free. NSX_OK;
 * NSX_EOF, it is no XSpace; NSX_ERR with err filled. */
int nsx_xplane_programs(const char *path, struct nsx_trace *t, struct nsx_err *err);

#endif
