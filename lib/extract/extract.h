/* extract.h -- from Nsight Systems exports to a stream: the work of nsysx-extract. */
#ifndef NSX_EXTRACT_EXTRACT_H
#define NSX_EXTRACT_EXTRACT_H

#include "extract/options.h"

/* Read the n exports, write their stream with its diag records to out (not finished); diags are for display. The bytes
 * depend on the contents of the exports, not on their order or on jobs. NSX_OK, or NSX_ERR with err filled. */
int nsx_extract(const struct nsx_extract_input *inputs, int n, const struct nsx_extract_opts *opts,
                struct nsx_writer *out, struct nsx_diags *diags, struct nsx_err *err);

#endif
