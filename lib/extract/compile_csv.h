/* compile_csv.h -- the CSV of `nsys stats --report nvtx_pushpop_trace` as records of a stream: compilation is found in
 * it by the same rules as in an export. */
#ifndef NSX_EXTRACT_COMPILE_CSV_H
#define NSX_EXTRACT_COMPILE_CSV_H

#include "base/diag.h"
#include "base/err.h"
#include "base/input.h"
#include "stream/kinds.h"

/* Read `in`, which begins with CSV, to its end and pass its records to take, which returns NSX_OK or fills err: a range
 * for each row, with its host times only; then programs, and compile records of profile 0, whose ranges are numbered in
 * order, a parent first. Records are valid until take returns. NSX_OK, or NSX_ERR with err filled. */
int nsx_extract_compile_csv(struct nsx_input *in, nsx_take_fn *take, void *state, struct nsx_diags *diags,
                            struct nsx_err *err);

#endif
