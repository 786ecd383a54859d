/* op_reading.c -- see op_reading.h. */
#include "job/op_reading.h"

#include "job/reach.h"

void
nsx_op_reading_need(const struct nsx_op_reading *r, struct nsx_reader *in)
{
	nsx_cat_need(&r->cat, in);
	nsx_call_book_need(in);
	nsx_reader_need(in, NSX_DIAG, 0);
	nsx_reader_need(in, NSX_CALL, nsx_field_slots(NSX_CALL, NSX_REACH_ROLES));
	nsx_reader_need(in, NSX_OP, nsx_field_slots(NSX_OP, NSX_REACH_ROLES) | NSX_C(OP, device) | NSX_C(OP, type)
	                            | NSX_C(OP, name));
}

static int
take_op(struct nsx_op_reading *r, const struct nsx_rec *rec, struct nsx_read_op *op)
{
	op->device = nsx_cat_device(&r->cat, rec);
	r->ops++;
	if (op->device == NSX_NONE) {
		nsx_err_nomem(r->err, NULL);
		return -1;
	}
	op->dur = nsx_int(rec, NSX_OP_dur, -1);
	if (!nsx_has(rec, NSX_OP_start) || op->dur < 0) {
		r->timeless++;
		return NSX_NKINDS;
	}
	op->start = rec->v[NSX_OP_start].i;
	op->end = op->start + op->dur;
	return NSX_OP;
}

int
nsx_op_reading_take(struct nsx_op_reading *r, const struct nsx_rec *rec, struct nsx_read_op *op)
{
	r->diags += rec->kind->id == NSX_DIAG;
	if (!nsx_in_reach(rec)) {
		r->beyond++;
		return NSX_NKINDS;
	}
	switch (rec->kind->id) {
	case NSX_CALL: case NSX_RANGE: return rec->kind->id;
	case NSX_OP: return take_op(r, rec, op);
	default:     return nsx_cat_take(&r->cat, rec, r->err) == NSX_OK ? NSX_NKINDS : -1;
	}
}

void
nsx_op_reading_diags(const struct nsx_op_reading *r, struct nsx_diags *diags)
{
	nsx_diag_add(diags, NSX_WARNING, "", r->beyond, NSX_BEYOND_REACH);
	nsx_diag_add(diags, NSX_WARNING, "", r->timeless, "operations without a start or duration: ignored");
}

void
nsx_op_reading_free(struct nsx_op_reading *r)
{
	nsx_cat_free(&r->cat);
	nsx_call_book_free(&r->calls);
}
