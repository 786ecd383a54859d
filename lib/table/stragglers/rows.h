/* rows.h -- declarations shared by the analyses of stragglers; private to lib/table/stragglers. */
#ifndef NSX_TABLE_STRAGGLERS_ROWS_H
#define NSX_TABLE_STRAGGLERS_ROWS_H

#include "job/program_time.h"
#include "table/stragglers.h"

struct lockstep;

/* NSX_STRAGGLERS_DEVICES and NSX_STRAGGLERS_CURVE, with the results of nsx_stragglers. */
int nsx_stragglers_lockstep(struct nsx_reader *in, const struct nsx_stragglers_options *options,
                            struct nsx_table **table, int64_t *ndiags, struct nsx_diags *diags, struct nsx_err *err);

/* NSX_STRAGGLERS_PACE. */
int nsx_stragglers_pace(struct nsx_reader *in, const struct nsx_stragglers_options *options, struct nsx_table **table,
                        int64_t *ndiags, struct nsx_diags *diags, struct nsx_err *err);

/* NSX_STRAGGLERS_WAITS, where `devices` is not NULL, and NSX_STRAGGLERS_PAIRS, where `pairs` is not. also: NULL, or
 * takes the records of the reading, too (lockstep.h). */
int nsx_stragglers_waits(struct nsx_reader *in, const struct nsx_stragglers_options *options,
                         struct nsx_table **devices, struct nsx_table **pairs, struct lockstep *also, int64_t *ndiags,
                         struct nsx_diags *diags, struct nsx_err *err);

/* Whether the program of that index is the one of that name, key or id; NULL: every one is. */
bool nsx_late_wanted(const struct nsx_catalogue *cat, const struct nsx_top *top, const char *want, uint32_t program);
/* Whether there is one; NSX_ERR with err filled. */
int nsx_late_check_program(const struct nsx_catalogue *cat, const struct nsx_top *top, const char *want,
                           struct nsx_err *err);

/* That devices' clocks are not aligned; NSX_ERR with err filled. */
int nsx_late_not_aligned(struct nsx_reader *in, struct nsx_err *err);

#endif
