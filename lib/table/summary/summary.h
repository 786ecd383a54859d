/* summary/summary.h -- the ways to sum up a stream; private to lib/table/summary. */
#ifndef NSX_TABLE_SUMMARY_SUMMARY_H
#define NSX_TABLE_SUMMARY_SUMMARY_H

#include "table/summary.h"
#include "base/num.h"
#include "job/program_time.h"
#include "table/analysis.h"

/* The records of which instructions and devices are summed. */
#define NSX_SUM_KINDS (NSX_K_METADATA | NSX_K(MODULE) | NSX_K(THUNK) | NSX_K(OP) | NSX_K(STEP))

/* The ways to sum up, with nsx_summary_options. programs.c: a row for each program. insts.c: instructions, opcodes,
 * collectives, totals. devices.c. ops.c: operations and ranges by
 * name. scopes.c: phases of a step, modules and named scopes. families.c: operations by what they are. */
extern const struct nsx_analysis nsx_sum_programs, nsx_sum_insts, nsx_sum_devices, nsx_sum_ops,
                                 nsx_sum_scopes, nsx_sum_families;

/* A further table of a finished state by thunk (`again` of struct nsx_analysis_run): by thunk or opcode. */
int nsx_sum_insts_again(void *state, const void *options, struct nsx_table **table, struct nsx_diags *diags);

/* Report that no operation counts, so times are those of thunks; and, if modules matter, what is not known without
 * them. came: of the reading, by kind. */
void nsx_sum_thunk_view(const int64_t *came, bool modules, struct nsx_diags *diags);

/* part of whole, 1 is the whole, which must be above 0. */
double nsx_sum_share(nsx_u128 part, nsx_u128 whole);

#endif
