/* diags.h -- collected diags as records. */
#ifndef NSX_STREAM_DIAGS_H
#define NSX_STREAM_DIAGS_H

#include "base/diag.h"
#include "stream/writer.h"

NSX_BEGIN_C

/* Add that records of r ended beyond what a time can be, if some did. */
void nsx_diags_beyond(struct nsx_diags *d, const struct nsx_reader *r);

/* Write d as diag records whose source is the tool's name, then ": " and the subject of the diag: NSX_OK or NSX_ERR. */
int nsx_write_diags(struct nsx_writer *w, const char *tool, const struct nsx_diags *d);

NSX_END_C

#endif
