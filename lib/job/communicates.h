/* communicates.h -- who has a say in whether a thunk or an operation communicates; nsx_cat_communicates of the
 * catalogue is the answer.
 *
 * Extraction has decided; what is left is to believe the instruction where a record says otherwise. Of an operation an
 * instruction has a say if it communicates, or if its opcode is known and runs nothing else; otherwise the operation
 * speaks for itself. Absent is no. */
#ifndef NSX_JOB_COMMUNICATES_H
#define NSX_JOB_COMMUNICATES_H

#include <stdbool.h>

#include "base/diag.h"
#include "job/catalogue.h"

/* Whether an instruction decides for its operations too: it communicates, or its opcode (empty: not known) is of those
 * that neither run others nor, as custom calls do, what nobody knows. The operations of all others go by their own
 * names. */
bool nsx_comm_settles(bool comm, struct nsx_str opcode);

/* Whether the instruction that rec refers to communicates; false if it refers to none. */
bool nsx_cat_inst_communicates(struct nsx_catalogue *c, const struct nsx_rec *rec);

/* Say how many records said otherwise than their instruction; source: of the diag. */
void nsx_cat_comm_diags(const struct nsx_catalogue *c, const char *source, struct nsx_diags *diags);

#endif
