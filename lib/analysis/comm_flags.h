/* comm_flags.h -- whether a thunk or an operation communicates: the one answer, for whoever reads a stream.
 *
 * Extraction has decided; what is left is to believe the instruction where a record says otherwise. Of an operation an instruction has a say if it
 * communicates, or if its opcode is known and runs nothing else (nsx_comm_settles); otherwise the operation speaks for itself. Absent is no. */
#ifndef NSX_ANALYSIS_COMM_FLAGS_H
#define NSX_ANALYSIS_COMM_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/map.h"
#include "stream/kinds.h"

/* {0} is empty. */
struct nsx_comm_flags {
	struct nsx_map says;      /* (program, inst) -> what the instruction says */
	int64_t thunks, ops;      /* asked about, that said otherwise than their instruction */
};

/* Take in a record of an instruction, which comes before what refers to it; others are ignored. NSX_OK or NSX_ERR. */
int nsx_comm_flags_meta(struct nsx_comm_flags *f, const struct nsx_rec *rec, struct nsx_err *err);

/* Whether a thunk or an operation communicates; records of other kinds do not. Counts what is said otherwise: ask once a record. */
bool nsx_communicates(struct nsx_comm_flags *f, const struct nsx_rec *rec);

/* Whether the instruction that a thunk or an operation refers to communicates. */
bool nsx_comm_by_inst(const struct nsx_comm_flags *f, const struct nsx_rec *rec);

/* Say how many records said otherwise. */
void nsx_comm_flags_diags(const struct nsx_comm_flags *f, struct nsx_diags *diags);

void nsx_comm_flags_free(struct nsx_comm_flags *f);

#endif
