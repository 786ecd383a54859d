/* missing.h -- messages about a program or an NVTX range that was asked for and does not occur: with the name that was
 * probably meant (base/near.h), else with where names are listed. */
#ifndef NSX_JOB_MISSING_H
#define NSX_JOB_MISSING_H

#include "base/diag.h"
#include "base/near.h"
#include "job/catalogue.h"

/* Warn that no range matches an expression; near was offered names of ranges. Out of memory, diags->failed is set, here
 * and below. */
void nsx_missing_range(const struct nsx_near *near, struct nsx_diags *diags);

/* Warn that no program of that name or key was executed. */
void nsx_missing_program(const struct nsx_catalogue *cat, const char *want, struct nsx_diags *diags);

/* Append "; did you mean NAME?" of the catalogue's programs to text, nothing if none is near. Out of memory,
 * text->failed is set. */
void nsx_missing_put_program(const struct nsx_catalogue *cat, const char *want, struct nsx_buf *text);

#endif
