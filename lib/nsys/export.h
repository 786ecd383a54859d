/* export.h -- reads an Nsight Systems export. */
#ifndef NSX_NSYS_EXPORT_H
#define NSX_NSYS_EXPORT_H

#include "source/trace.h"

/* Load an export: SQLite (.sqlite, any name), zstd-compressed (recognised by its first bytes), or an .nsys-rep through
 * `nsys export` where nsys is on PATH. Nothing of the input is changed; temporary files are unlinked before use. What
 * was dropped or assumed is counted in diags (source: the export's name). NSX_OK, or NSX_ERR with err filled and *t as
 * after nsx_trace_free. */
int nsx_trace_load(const char *path, const struct nsx_trace_opts *opts, struct nsx_trace *t,
                   struct nsx_diags *diags, struct nsx_err *err);

#endif
