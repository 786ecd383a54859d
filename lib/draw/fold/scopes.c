/* scopes.c -- fold operations by module or named scope (job/scope.h): the same time as in nsysx-summary --by scope.
 * Holds the metadata of instructions and the ranges that are open. */
#include <stdlib.h>

#include "draw/fold/fold.h"
#include "job/activity.h"
#include "job/catalogue.h"
#include "job/scope.h"

struct scopes {
	struct nsx_stacks   *stacks;
	struct nsx_err      *err;
	bool                 mark_comm;
	struct nsx_catalogue cat;
	struct nsx_scopes    scopes;
	bool                 any_op;
	int64_t              timeless;
};

static void *
scopes_open(struct nsx_reader *in, const struct nsx_fold_options *options, struct nsx_stacks *stacks,
            struct nsx_err *err)
{
	struct scopes *f = calloc(1, sizeof *f);

	(void)in;
	if (!f) {
		nsx_err_nomem(err, NULL);
		return NULL;
	}
	f->stacks = stacks;
	f->err = err;
	f->mark_comm = options->mark_comm;
	f->cat.keep = NSX_SCOPES_KEEP;
	f->scopes = (struct nsx_scopes){ .tree = stacks, .cat = &f->cat, .form = options->names, .err = err };
	return f;
}

static void
scopes_need(const void *state, struct nsx_reader *in)
{
	const struct scopes *f = state;

	nsx_cat_need(&f->cat, in);
	nsx_scopes_need(in);
	nsx_reader_need(in, NSX_OP, nsx_field_slots(NSX_OP, NSX_CAT_COMM_ROLES) | NSX_C(OP, dur));
}

static int
take_op(struct scopes *f, const struct nsx_rec *rec)
{
	int64_t dur = nsx_int(rec, NSX_OP_dur, -1);
	uint32_t node = nsx_scopes_op(&f->scopes, rec).node;

	f->any_op = true;
	f->timeless += dur < 0;
	if (node != NSX_NONE && f->mark_comm && nsx_cat_communicates(&f->cat, rec))
		node = nsx_stacks_push(f->stacks, node, NSX_STR(NSX_FOLD_COMM));
	return node != NSX_NONE && (dur < 0 || nsx_stacks_add(f->stacks, node, (nsx_u128)dur))
	       ? NSX_OK : nsx_err_nomem(f->err, NULL);
}

static int
scopes_take(void *state, const struct nsx_rec *rec)
{
	struct scopes *f = state;

	if (rec->kind->id == NSX_RANGE)
		return nsx_scopes_range(&f->scopes, rec);
	return rec->kind->id == NSX_OP ? take_op(f, rec) : nsx_cat_take(&f->cat, rec, f->err);
}

static int
scopes_finish(void *state, struct nsx_diags *diags)
{
	const struct scopes *f = state;

	if (!f->any_op)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
		             "no op records: extract with --ops, and of PyTorch with --ranges");
	nsx_diag_add(diags, NSX_WARNING, "", f->timeless, "operations without a duration: ignored");
	return NSX_OK;
}

static void
scopes_free(void *state)
{
	struct scopes *f = state;

	nsx_scopes_free(&f->scopes);
	nsx_cat_free(&f->cat);
	free(f);
}

const struct nsx_folder nsx_fold_scopes = { scopes_open, scopes_need, scopes_take, scopes_finish, scopes_free };
