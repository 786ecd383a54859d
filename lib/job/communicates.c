/* communicates.c -- who has a say in whether a thunk or an operation communicates. */
#include "job/communicates.h"

#include "stream/fields.h"

bool
nsx_comm_says(const struct nsx_rec *rec)
{
	return nsx_field_int(rec, NSX_ROLE_COMM, 0) == 1;
}

bool
nsx_comm_settles(bool comm, struct nsx_str opcode)
{
	static const char *const open[] = { "call", "while", "conditional", "custom-call" };

	for (size_t i = 0; i < sizeof open / sizeof *open && !comm; i++)
		if (nsx_str_eq(opcode, nsx_str_c(open[i])))
			return false;
	return comm || (opcode.len && !nsx_str_starts(opcode, "async-"));
}
