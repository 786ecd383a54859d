/* summary/summary.h -- the ways to sum up a stream; private to lib/table/summary. */
#ifndef NSX_TABLE_SUMMARY_SUMMARY_H
#define NSX_TABLE_SUMMARY_SUMMARY_H

#include "table/summary.h"
#include "base/num.h"
#include "job/program_time.h"
#include "table/analysis.h"

/* The ways to sum up, with nsx_summary_options. programs.c: a row for each program. insts.c: instructions, opcodes,
 * collectives, totals. devices.c. ops.c: operations and ranges by
 * name. scopes.c: phases of a step, modules and named scopes. families.c: operations by what they are. */
extern const struct nsx_analysis nsx_sum_programs, nsx_sum_insts, nsx_sum_devices, nsx_sum_ops,
                                 nsx_sum_scopes, nsx_sum_families;

/* Report that there are no operations, so times are those of thunks; and without modules what is not known then. */
void nsx_sum_thunk_view(const struct nsx_top *top, struct nsx_diags *diags);

/* part of whole, 1 is the whole, which must be above 0. */
double nsx_sum_share(nsx_u128 part, nsx_u128 whole);

#endif
