/* comm_flags.c -- whether a thunk or an operation communicates: the one answer, for whoever reads a stream. */
#include "analysis/comm_flags.h"

#include "analysis/comm_names.h"
#include "stream/fields.h"

/* What an instruction says: OPEN of itself no, of its operations nothing. */
enum { NO, OPEN, YES };

int
nsx_comm_flags_meta(struct nsx_comm_flags *f, const struct nsx_rec *rec, struct nsx_err *err)
{
	if (rec->kind->id != NSX_INST)
		return NSX_OK;
	bool comm = nsx_int(rec, NSX_INST_comm, 0) == 1;
	uint32_t *at = nsx_map_at(&f->says, (struct nsx_key){ (uint64_t)nsx_int(rec, NSX_INST_program, INT64_MIN),
	                                                      (uint64_t)nsx_int(rec, NSX_INST_inst, INT64_MIN) });
	if (!at)
		return nsx_err_nomem(err, NULL);
	*at = comm ? YES : nsx_comm_settles(false, nsx_string(rec, NSX_INST_opcode)) ? NO : OPEN;
	return NSX_OK;
}

/* NSX_NONE: there is no such instruction. */
static uint32_t
says(const struct nsx_comm_flags *f, const struct nsx_rec *rec)
{
	if (!nsx_field_has(rec, NSX_ROLE_INST))
		return NSX_NONE;
	return nsx_map_get(&f->says, (struct nsx_key){ (uint64_t)nsx_field_int(rec, NSX_ROLE_PROGRAM, INT64_MIN),
	                                               (uint64_t)nsx_field_int(rec, NSX_ROLE_INST, INT64_MIN) });
}

bool
nsx_communicates(struct nsx_comm_flags *f, const struct nsx_rec *rec)
{
	enum nsx_kind_id kind = rec->kind->id;

	if (kind != NSX_THUNK && kind != NSX_OP)
		return false;
	bool own = nsx_field_int(rec, NSX_ROLE_COMM, 0) == 1;
	uint32_t told = says(f, rec);

	if (told == NSX_NONE || (told == OPEN && kind == NSX_OP) || own == (told == YES))
		return own;
	++*(kind == NSX_THUNK ? &f->thunks : &f->ops);
	return told == YES;
}

bool
nsx_comm_by_inst(const struct nsx_comm_flags *f, const struct nsx_rec *rec)
{
	return says(f, rec) == YES;
}

void
nsx_comm_flags_diags(const struct nsx_comm_flags *f, struct nsx_diags *diags)
{
	nsx_diag_add(diags, NSX_WARNING, "", f->thunks, "thunks say otherwise than their instruction whether they communicate: the instruction is believed");
	nsx_diag_add(diags, NSX_WARNING, "", f->ops, "operations say otherwise than their instruction whether they communicate: the instruction is believed");
}

void
nsx_comm_flags_free(struct nsx_comm_flags *f)
{
	nsx_map_free(&f->says);
	*f = (struct nsx_comm_flags){ 0 };
}
