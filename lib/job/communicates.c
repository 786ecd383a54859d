/* communicates.c -- who has a say in whether a thunk or an operation communicates. */
#include "job/communicates.h"

bool
nsx_comm_settles(bool comm, struct nsx_str opcode)
{
	static const char *const open[] = { "call", "while", "conditional", "custom-call" };

	for (size_t i = 0; i < sizeof open / sizeof *open && !comm; i++)
		if (nsx_str_eq(opcode, nsx_str_c(open[i])))
			return false;
	return comm || (opcode.len && !nsx_str_starts(opcode, "async-"));
}

/* The instruction that rec refers to, NULL if there is no record of one. */
static const struct nsx_cat_inst *
inst_of(struct nsx_catalogue *c, const struct nsx_rec *rec)
{
	uint32_t at = nsx_field_has(rec, NSX_ROLE_INST) ? nsx_cat_inst(c, rec) : NSX_NONE;

	return at != NSX_NONE && c->insts.p[at].listed ? &c->insts.p[at] : NULL;
}

bool
nsx_cat_inst_communicates(struct nsx_catalogue *c, const struct nsx_rec *rec)
{
	const struct nsx_cat_inst *inst = inst_of(c, rec);

	return inst && inst->comm;
}

void
nsx_cat_comm_diags(const struct nsx_catalogue *c, const char *source, struct nsx_diags *diags)
{
	nsx_diag_add(diags, NSX_WARNING, source, c->contradictions,
		"thunks and operations say otherwise than their instruction whether they communicate: the instruction "
		"is believed");
}
