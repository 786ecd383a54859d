/* communicates.h -- what determines whether something communicates: the column of the record, and whether its
 * instruction has precedence. Nothing else in lib/job, and no tool, reads the column; others call nsx_cat_communicates
 * of the catalogue, which uses this.
 *
 * Extraction has decided; where a record contradicts its instruction, the instruction counts. For an operation an
 * instruction counts if it communicates, or if its opcode is known and runs nothing else; otherwise the column of the
 * operation counts. Absent means no. */
#ifndef NSX_JOB_COMM_COMMUNICATES_H
#define NSX_JOB_COMM_COMMUNICATES_H

#include <stdbool.h>

#include "base/str.h"
#include "stream/fields.h"

/* The column of rec, of any kind: it decides alone for instructions only. */
static inline bool
nsx_comm_says(const struct nsx_rec *rec)
{
	return nsx_field_int(rec, NSX_ROLE_COMM, 0) == 1;
}

/* Whether an instruction decides for its operations too: it communicates, or its opcode (empty: unknown) neither runs
 * other instructions nor is, like custom-call, of unknown effect. For all others the operations are classified by their
 * own names. */
bool nsx_comm_settles(bool comm, struct nsx_str opcode);

#endif
