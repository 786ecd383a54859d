/* communicates.c -- what determines whether a thunk or an operation communicates. */
#include "job/comm/communicates.h"

bool
nsx_comm_settles(bool comm, struct nsx_str opcode)
{
	static const char *const open[] = { "call", "while", "conditional", "custom-call" };

	if (comm || !opcode.len)
		return comm;
	for (size_t i = 0; i < sizeof open / sizeof *open; i++)
		if (nsx_str_eq(opcode, nsx_str_c(open[i])))
			return false;
	return !nsx_str_starts(opcode, "async-");
}
