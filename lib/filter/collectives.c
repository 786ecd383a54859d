/* collectives.c -- communication thunks, and communicating operations outside such thunks, as `collective` records,
 * with size, group and bandwidth. The collective records of one start wait until all other records of that start have
 * passed: memory holds only those that start at the same time. If the number of ranks of an NCCL communicator is not
 * recorded, all later records wait until the end, when all its devices are known. */
#include "filter/collectives.h"

#include <stdlib.h>

#include "job/communication.h"
#include "job/diags_of.h"
#include "job/nccl.h"
#include "stream/order.h"
#include "stream/spill.h"

/* A record to be written, and the order of its thunk or operation. */
struct pending { union nsx_val v[NSX_COLLECTIVE_pair + 1]; uint64_t has; size_t came; };

struct collectives {
	struct nsx_reader *in;
	struct nsx_writer *out;
	struct nsx_err    *err;
	struct nsx_comm    comm;
	struct nsx_nccl_comms nccl;
	struct nsx_hold   *hold;    /* NULL: nothing waits for the end */
	size_t             hold_bytes;
	int64_t            inferred;
	struct nsx_arena   arena;   /* strings of pending records */
	NSX_VEC(struct pending) pending;
	int64_t            start;   /* of the pending records */
};

static int
compare_pending(const void *a, const void *b)
{
	const struct pending *x = a, *y = b;
	const struct nsx_kind *kind = nsx_kind_builtin(NSX_COLLECTIVE);
	/* It is only read here, but values of records are not const in general. */
	struct nsx_rec p = { kind, x->has, (union nsx_val *)(uintptr_t)x->v },
	    q = { kind, y->has, (union nsx_val *)(uintptr_t)y->v };
	int c = nsx_order_cmp(&p, &q);

	return c ? c : x->came < y->came ? -1 : 1;
}

static int
flush(struct collectives *c)
{
	if (c->pending.n > 1)
		qsort(c->pending.p, c->pending.n, sizeof *c->pending.p, compare_pending);
	for (size_t i = 0; i < c->pending.n; i++) {
		struct nsx_rec rec = { nsx_kind_builtin(NSX_COLLECTIVE), c->pending.p[i].has, c->pending.p[i].v };

		if (nsx_write(c->out, &rec) != NSX_OK)
			return NSX_ERR;
	}
	c->pending.n = 0;
	nsx_arena_reset(&c->arena);
	return NSX_OK;
}

static int
meet_comm(struct collectives *c, const struct nsx_rec *thunk)
{
	static const struct { int8_t from, to; } copied[] = {
		{ NSX_THUNK_profile, NSX_COLLECTIVE_profile }, { NSX_THUNK_program, NSX_COLLECTIVE_program },
		{ NSX_THUNK_execution, NSX_COLLECTIVE_execution }, { NSX_THUNK_device, NSX_COLLECTIVE_device },
		{ NSX_THUNK_inst, NSX_COLLECTIVE_inst }, { NSX_THUNK_occurrence, NSX_COLLECTIVE_occurrence },
		{ NSX_THUNK_start, NSX_COLLECTIVE_start }, { NSX_THUNK_dur, NSX_COLLECTIVE_dur },
		{ NSX_THUNK_hidden, NSX_COLLECTIVE_hidden },
	};
	struct nsx_comm_record r;
	struct nsx_str name = nsx_arena_str(&c->arena, nsx_string(thunk, NSX_THUNK_name));

	if (nsx_comm_describe(&c->comm, thunk, &r, c->err) != NSX_OK)
		return NSX_ERR;
	if (!name.ptr || !nsx_vec_room(&c->pending, 1))
		return nsx_err_nomem(c->err, NULL);
	struct pending *p = &c->pending.p[c->pending.n];
	struct nsx_rec rec = { nsx_kind_builtin(NSX_COLLECTIVE), 0, p->v };

	for (size_t i = 0; i < sizeof copied / sizeof *copied; i++)
		if (nsx_has(thunk, copied[i].from))
			nsx_set_i(&rec, copied[i].to, thunk->v[copied[i].from].i);
	nsx_set_s(&rec, NSX_COLLECTIVE_name, name);
	if (r.kind != NSX_NONE)
		nsx_set_s(&rec, NSX_COLLECTIVE_collective, nsx_cat_str(&c->comm.cat, r.kind));
	if (r.has_bytes)
		nsx_set_i(&rec, NSX_COLLECTIVE_bytes, r.bytes);
	if (r.has_group)
		nsx_set_i(&rec, NSX_COLLECTIVE_group, r.group);
	if (r.has_bandwidth) {
		nsx_set_f(&rec, NSX_COLLECTIVE_algbw, r.algbw);
		nsx_set_f(&rec, NSX_COLLECTIVE_busbw, r.busbw);
	}
	p->has = rec.has;
	p->came = c->pending.n++;
	c->start = nsx_int(thunk, NSX_THUNK_start, 0);
	return NSX_OK;
}

/* From the columns of the operation itself. */
static int
meet_op(struct collectives *c, const struct nsx_rec *op)
{
	static const struct { int8_t from, to; } numbers[] = {
		{ NSX_OP_profile, NSX_COLLECTIVE_profile }, { NSX_OP_device, NSX_COLLECTIVE_device },
		{ NSX_OP_start, NSX_COLLECTIVE_start },
		{ NSX_OP_dur, NSX_COLLECTIVE_dur }, { NSX_OP_hidden, NSX_COLLECTIVE_hidden },
		{ NSX_OP_bytes, NSX_COLLECTIVE_bytes },
		{ NSX_OP_op, NSX_COLLECTIVE_op }, { NSX_OP_calls, NSX_COLLECTIVE_calls },
	}, texts[] = {
		{ NSX_OP_name, NSX_COLLECTIVE_name }, { NSX_OP_collective, NSX_COLLECTIVE_collective },
		{ NSX_OP_comm_id, NSX_COLLECTIVE_comm_id },
		{ NSX_OP_pair, NSX_COLLECTIVE_pair },
	};
	bool inferred;
	int64_t n = nsx_nccl_group(&c->nccl, op, &inferred), bytes = nsx_int(op, NSX_OP_bytes, -1),
	    dur = nsx_int(op, NSX_OP_dur, 0);
	double algbw, busbw;

	if (!nsx_vec_room(&c->pending, 1))
		return nsx_err_nomem(c->err, NULL);
	struct pending *p = &c->pending.p[c->pending.n];
	struct nsx_rec rec = { nsx_kind_builtin(NSX_COLLECTIVE), 0, p->v };

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (nsx_has(op, numbers[i].from))
			nsx_set_i(&rec, numbers[i].to, op->v[numbers[i].from].i);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct nsx_str s = nsx_arena_str(&c->arena, nsx_string(op, texts[i].from));
		if (!s.ptr)
			return nsx_err_nomem(c->err, NULL);
		nsx_set_s(&rec, texts[i].to, s);
	}
	c->inferred += inferred && n > 0;
	if (n > 0)
		nsx_set_i(&rec, NSX_COLLECTIVE_group, n);
	if (n > 0 && bytes >= 0 && dur > 0) {
		nsx_comm_bandwidth(nsx_string(op, NSX_OP_collective), bytes, n, dur, &algbw, &busbw);
		nsx_set_f(&rec, NSX_COLLECTIVE_algbw, algbw);
		nsx_set_f(&rec, NSX_COLLECTIVE_busbw, busbw);
	}
	p->has = rec.has;
	p->came = c->pending.n++;
	c->start = nsx_int(op, NSX_OP_start, 0);
	return NSX_OK;
}

/* Whether rec comes after the collectives of that start. */
static bool
is_after(const struct nsx_rec *rec, int64_t start)
{
	int64_t time;

	if (nsx_rec_section(rec) == NSX_SECTION_SKEW)
		return true;
	return nsx_order_time(rec, &time) && nsx_rec_section(rec) == NSX_SECTION_WORK && time > start;
}

/* Write one record whose turn has come. */
static int
meet(struct collectives *c, const struct nsx_rec *rec)
{
	if (c->pending.n && is_after(rec, c->start) && flush(c) != NSX_OK)
		return NSX_ERR;
	switch (rec->kind->id) {
	case NSX_THUNK:
		if (nsx_write(c->out, rec) != NSX_OK)
			return NSX_ERR;
		return nsx_is_comm(&c->comm, rec) ? meet_comm(c, rec) : NSX_OK;
	case NSX_OP:
		if (nsx_write(c->out, rec) != NSX_OK)
			return NSX_ERR;
		return nsx_is_comm_op(&c->comm, rec) ? meet_op(c, rec) : NSX_OK;
	default:
		return nsx_comm_take(&c->comm, rec, c->err) == NSX_OK ? nsx_write(c->out, rec) : NSX_ERR;
	}
}

/* Whether an operation's record depends on devices that may come later. */
static bool
needs_all(struct collectives *c, const struct nsx_rec *rec)
{
	bool inferred = false;

	/* Held records are checked again when they are written. */
	if (nsx_cat_communicates_again(&c->comm.cat, rec)
	    && !nsx_cat_inst_communicates(&c->comm.cat, rec))
		nsx_nccl_group(&c->nccl, rec, &inferred);
	return inferred;
}

static int
pass(struct collectives *c)
{
	struct nsx_rec rec;
	int rc;

	while ((rc = nsx_read(c->in, &rec)) == NSX_OK) {
		if (rec.kind->id == NSX_COLLECTIVE || nsx_is_diag_of(&rec, "nsysx-collectives"))
			continue;
		bool op = rec.kind->id == NSX_OP;
		if ((op || rec.kind->id == NSX_COMMUNICATOR)
		    && nsx_nccl_comms_take(&c->nccl, &rec, c->err) != NSX_OK)
			return NSX_ERR;
		if (op && !c->hold && needs_all(c, &rec) && !(c->hold = nsx_hold_new(c->hold_bytes, c->err)))
			return NSX_ERR;
		if ((c->hold ? nsx_hold_push(c->hold, &rec) : meet(c, &rec)) != NSX_OK)
			return NSX_ERR;
	}
	while (rc == NSX_EOF && c->hold && (rc = nsx_hold_pop(c->hold, &rec)) == NSX_OK)
		rc = meet(c, &rec) == NSX_OK ? NSX_EOF : NSX_ERR;
	return rc == NSX_EOF ? flush(c) : NSX_ERR;
}

int
nsx_collectives(struct nsx_reader *in, struct nsx_writer *out, size_t hold_bytes, struct nsx_diags *diags,
                struct nsx_err *err)
{
	struct collectives c = { .in = in, .out = out, .hold_bytes = hold_bytes, .err = err };
	const struct nsx_kind *k = nsx_kind_builtin(NSX_COLLECTIVE);
	int rc = NSX_OK;

	/* An existing header of collectives gets the columns that it lacks. */
	for (int i = 0; i < k->nslots && rc == NSX_OK; i++)
		rc = nsx_reader_add_column(in, NSX_COLLECTIVE, k->cols[i].name, k->cols[i].type);
	if (rc == NSX_OK)
		rc = pass(&c);
	if (rc == NSX_OK)
		nsx_comm_diags(&c.comm, diags);
	if (rc == NSX_OK)
		nsx_comm_flag_diags(&c.comm, diags);
	nsx_diag_add(diags, NSX_INFO, "", c.inferred,
		"operations of NCCL communicators of unknown size: group is the number of devices that ran its "
		"operations");
	nsx_hold_free(c.hold);
	nsx_nccl_comms_free(&c.nccl);
	nsx_comm_free(&c.comm);
	nsx_arena_free(&c.arena);
	free(c.pending.p);
	return rc;
}
