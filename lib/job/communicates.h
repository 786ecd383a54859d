/* communicates.h -- who has a say in whether something communicates: what a record says of itself, and whether its
 * instruction's word counts for more. Nothing else in lib/job, and no tool, looks at the column;
 * nsx_cat_communicates of the catalogue, which rests on this, is the answer.
 *
 * Extraction has decided; what is left is to believe the instruction where a record says otherwise. Of an operation
 * an instruction has a say if it communicates, or if its opcode is known and runs nothing else; otherwise the
 * operation speaks for itself. Absent is no. */
#ifndef NSX_JOB_COMMUNICATES_H
#define NSX_JOB_COMMUNICATES_H

#include <stdbool.h>

#include "base/str.h"
#include "stream/fields.h"

/* Whether rec, of any kind, says of itself that it communicates: the whole truth of an instruction only. */
static inline bool
nsx_comm_says(const struct nsx_rec *rec)
{
	return nsx_field_int(rec, NSX_ROLE_COMM, 0) == 1;
}

/* Whether an instruction decides for its operations too: it communicates, or its opcode (empty: not known) is of
 * those that neither run others nor, as custom calls do, what nobody knows. The operations of all others go by their
 * own names. */
bool nsx_comm_settles(bool comm, struct nsx_str opcode);

#endif
