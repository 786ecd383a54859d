/* ranges.c -- fold GPU operations by the NVTX ranges around their launch. Holds the ranges that are open on the host or
 * on the GPU, their names and the paths that have operations; never the whole stream's ranges.
 *
 *   range step [range aten::mm, seq = 7 [op gemm]]   ->  step;aten::mm 40   (by kernel: step;aten::mm;gemm 40) */
#include <stdlib.h>

#include "draw/fold/fold.h"
#include "job/catalogue.h"
#include "job/activity.h"
#include "job/hidden.h"
#include "job/range_book.h"

enum {
	RESOLVING = NSX_NONE - 1,    /* the stack is being resolved: reaching it again means a cycle of parents */
	UNRESOLVED = NSX_NONE
};

/* In the book, `name` of a range is its frame and `mark` its stack, once an operation needs it. */
struct ranges {
	struct nsx_stacks *stacks;
	struct nsx_err    *err;
	const struct nsx_fold_options *options;
	bool               kernel;
	struct nsx_range_book book;
	struct nsx_catalogue cat;       /* for communication; empty if that is not needed */
	NSX_VEC(struct nsx_range_entry *) chain;
	uint32_t           none;        /* the stack of operations without a range */
	bool               any_op, any_range;
	int64_t            lost, orphans, timeless, unmeasured, over_hidden;
};

static void *
ranges_open(struct nsx_reader *in, const struct nsx_fold_options *options, struct nsx_stacks *stacks,
            struct nsx_err *err)
{
	struct ranges *r = calloc(1, sizeof *r);

	if (!r) {
		nsx_err_nomem(err, NULL);
		return NULL;
	}
	(void)in;
	r->stacks = stacks;
	r->err = err;
	r->options = options;
	r->kernel = options->by == NSX_FOLD_KERNEL;
	r->none = UNRESOLVED;
	r->book.ops_only = true;
	return r;
}

static int
take_range(struct ranges *r, const struct nsx_rec *rec)
{
	struct nsx_str name;
	uint32_t frame;

	r->any_range = true;
	if (!nsx_has(rec, NSX_RANGE_start))
		return NSX_OK;   /* no GPU work: no operation will refer to it */
	name = nsx_range_book_name(&r->book, rec, r->options->names);
	frame = name.len ? nsx_stacks_frame(r->stacks, name) : (uint32_t)NSX_NONE;
	return frame == NSX_NONE ? nsx_err_nomem(r->err, NULL) : nsx_range_book_add(&r->book, rec, frame, r->err);
}

/* The stack of an open range, NSX_NONE when out of memory. A parent may come after its child if both start at the same
 * time, so it is resolved when the first operation comes. */
static uint32_t
resolve(struct ranges *r, struct nsx_range_entry *at)
{
	uint32_t node = NSX_STACKS_ROOT;

	r->chain.n = 0;
	while (at->mark == UNRESOLVED) {
		struct nsx_range_entry *up;

		at->mark = RESOLVING;
		if (!nsx_vec_push(&r->chain, at))
			return NSX_NONE;
		if (at->parent == NSX_ABSENT)
			break;
		up = nsx_range_book_find(&r->book, at->profile, at->parent);
		if (!up || up->mark == RESOLVING) {
			r->orphans++;
			break;
		}
		at = up;
	}
	if (at->mark != RESOLVING)
		node = at->mark;
	while (r->chain.n > 0) {
		struct nsx_range_entry *g = r->chain.p[--r->chain.n];

		node = g->mark = nsx_stacks_child(r->stacks, node, g->name);
	}
	return node;
}

/* Whether it matters which operations communicate. */
static bool
asks_comm(const struct ranges *r)
{
	return r->options->exposed || r->options->mark_comm;
}

/* The part of the operation's duration that counts. */
static int64_t
counted(struct ranges *r, const struct nsx_rec *rec, bool comm, int64_t dur)
{
	if (!r->options->exposed || !comm)
		return dur;
	r->unmeasured += !nsx_has(rec, NSX_OP_hidden);
	return dur - nsx_hidden_of(dur, nsx_int(rec, NSX_OP_hidden, NSX_ABSENT), &r->over_hidden);
}

static int
take_op(struct ranges *r, const struct nsx_rec *rec)
{
	int64_t dur = nsx_int(rec, NSX_OP_dur, -1);
	struct nsx_range_entry *at = NULL;
	uint32_t node;
	bool comm;

	r->any_op = true;
	nsx_range_book_reach(&r->book, rec);
	if (dur < 0) {
		r->timeless++;
		return NSX_OK;
	}
	if (nsx_has(rec, NSX_OP_range)) {
		at = nsx_range_book_find(&r->book, nsx_int(rec, NSX_OP_profile, NSX_ABSENT), rec->v[NSX_OP_range].i);
		r->lost += !at;
	}
	if (at) {
		node = at->mark == UNRESOLVED ? resolve(r, at) : at->mark;
	} else {
		if (r->none == UNRESOLVED)
			r->none = nsx_stacks_push(r->stacks, NSX_STACKS_ROOT, NSX_STR("[no NVTX range]"));
		node = r->none;
	}
	comm = asks_comm(r) && nsx_cat_communicates(&r->cat, rec);
	/* If kinds are marked, a copy is shown by its name, because the range that launched it is not computation. */
	if (r->kernel || (r->options->mark_comm && nsx_part_of(rec, comm) == NSX_PART_COPY)) {
		struct nsx_str name = nsx_string(rec, nsx_has(rec, NSX_OP_name) ? NSX_OP_name : NSX_OP_type);

		node = nsx_stacks_push(r->stacks, node, name.len ? name : NSX_STR("[unnamed]"));
	}
	if (r->options->mark_comm && comm)
		node = nsx_stacks_push(r->stacks, node, NSX_STR(NSX_FOLD_COMM));
	return nsx_stacks_add(r->stacks, node, (nsx_u128)counted(r, rec, comm, dur)) ? NSX_OK
	                                                                             : nsx_err_nomem(r->err, NULL);
}

static void
ranges_need(const void *state, struct nsx_reader *in)
{
	const struct ranges *r = state;

	nsx_range_book_need(in, true);
	nsx_reader_need(in, NSX_OP, nsx_field_slots(NSX_OP, NSX_CAT_COMM_ROLES) | NSX_C(OP, dur) | NSX_C(OP, hidden)
	                            | NSX_C(OP, type)
	                            | (r->kernel || r->options->mark_comm ? NSX_C(OP, name) : 0));
	if (asks_comm(r))
		nsx_cat_need(&r->cat, in);
}

static int
ranges_take(void *state, const struct nsx_rec *rec)
{
	if (rec->kind->id == NSX_RANGE)
		return take_range(state, rec);
	if (rec->kind->id == NSX_OP)
		return take_op(state, rec);
	struct ranges *r = state;
	return asks_comm(r) ? nsx_cat_take(&r->cat, rec, r->err) : NSX_OK;
}

static int
ranges_finish(void *state, struct nsx_diags *diags)
{
	struct ranges *r = state;

	if (!r->any_op)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "no op records: extract with --ranges --ops");
	else if (!r->any_range && r->lost)
		nsx_diag_add(diags, NSX_WARNING, "", r->lost,
		             "operations in ranges, but no range records: extract with --ranges --ops");
	else
		nsx_diag_add(diags, NSX_WARNING, "", r->lost,
		             "operations whose range has no record: counted as [no NVTX range]");
	nsx_diag_add(diags, NSX_WARNING, "", r->orphans, "ranges whose parent has no record: their stacks begin there");
	nsx_diag_add(diags, NSX_WARNING, "", r->timeless, "operations without a duration: ignored");
	nsx_diag_add(diags, NSX_WARNING, "", r->unmeasured,
	             "communicating operations without hidden time: counted whole; nsysx-overlap adds it");
	nsx_diag_add(diags, NSX_WARNING, "", r->over_hidden,
	             "operations whose hidden time exceeds their duration: cut to it");
	nsx_cat_comm_diags(&r->cat, "", diags);
	return NSX_OK;
}

static void
ranges_free(void *state)
{
	struct ranges *r = state;

	nsx_range_book_free(&r->book);
	nsx_cat_free(&r->cat);
	free(r->chain.p);
	free(r);
}

const struct nsx_folder nsx_fold_ranges = {
	ranges_open, ranges_need, ranges_take, ranges_finish, ranges_free
};
