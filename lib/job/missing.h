/* missing.h -- messages about a requested program or NVTX range that does not occur, with the name that was probably
 * meant (base/near.h) or, if no name is near, with the command that lists names. */
#ifndef NSX_JOB_MISSING_H
#define NSX_JOB_MISSING_H

#include "base/diag.h"
#include "base/near.h"
#include "job/catalogue.h"

/* No range matches the expression `want`; the names of ranges were passed to nsx_near_offer for `near`. A requested
 * name that does not occur is an error (NSX_ERR with err filled), because an answer for something else would be
 * mistaken for an answer for that name. In an empty stream (`empty`) no name occurs: then it is a warning, and the
 * result is NSX_OK. Also NSX_ERR when out of memory. The same applies to nsx_missing_program. */
int nsx_missing_range(const struct nsx_near *near, const char *want, bool empty, struct nsx_diags *diags,
                      struct nsx_err *err);

/* No program of that name or key was executed. */
int nsx_missing_program(const struct nsx_catalogue *cat, const char *want, bool empty, struct nsx_diags *diags,
                        struct nsx_err *err);

/* Append "; did you mean NAME?" with the name or key of a program of the catalogue to text, nothing if none is near.
 * When out of memory text->failed is set. */
void nsx_missing_put_program(const struct nsx_catalogue *cat, const char *want, struct nsx_buf *text);

#endif
