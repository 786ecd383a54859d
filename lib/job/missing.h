/* missing.h -- messages about a program or an NVTX range that was asked for and does not occur: with the name that was
 * probably meant (base/near.h), else with where names are listed. */
#ifndef NSX_JOB_MISSING_H
#define NSX_JOB_MISSING_H

#include "base/diag.h"
#include "base/near.h"
#include "job/catalogue.h"

/* No range matches the expression want; near was offered names of ranges. What was asked for by name and does not occur
 * is an error, NSX_ERR with err filled: an answer for something else would be taken for that of the name. In an empty
 * stream nothing occurs: it is a warning then, and NSX_OK. Out of memory, NSX_ERR. Here and below. */
int nsx_missing_range(const struct nsx_near *near, const char *want, bool empty, struct nsx_diags *diags,
                      struct nsx_err *err);

/* No program of that name or key was executed. */
int nsx_missing_program(const struct nsx_catalogue *cat, const char *want, bool empty, struct nsx_diags *diags,
                        struct nsx_err *err);

/* Append "; did you mean NAME?" of the catalogue's programs to text, nothing if none is near. Out of memory,
 * text->failed is set. */
void nsx_missing_put_program(const struct nsx_catalogue *cat, const char *want, struct nsx_buf *text);

#endif
