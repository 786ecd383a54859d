/* marks.c -- communication thunks, and communicating operations outside such thunks, as `collective`
 * records, with size, group, bandwidth, instance and wait. The collective records of one start wait until all other
 * records of that start have passed: memory holds only those that start at the same time. Then they wait for the last
 * record of their instance (queue.h): those of NCCL's communicators for the end of the stream, because
 * only all of a communicator's operations tell which belong together (job/comm/nccl.h), and the rest of the stream with
 * them. */
#include "job/comm/marks.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/sort.h"
#include "job/comm/pairing.h"
#include "stream/order.h"

/* A record to be written, the order of its thunk or operation, and what it is to be paired by. */
struct pending {
	union nsx_val v[NSX_MAX_COLS];
	uint64_t      has;
	size_t        came;
	struct nsx_pairable pairable;
};

struct nsx_collective_marks {
	struct nsx_pairing pairing;
	struct mark_queue  queue;
	struct nsx_err    *err;
	struct nsx_arena   arena;   /* strings of pending records */
	NSX_VEC(struct pending) pending;
	int64_t            start;   /* of the pending records */
	bool               wait;    /* the queue has one of a communicator of NCCL, which waits for the end */
};

/* Mark the records of an instance, by their numbers in the queue. */
static int
mark(void *state, struct nsx_collective *of, size_t n)
{
	struct nsx_collective_marks *c = state;

	for (size_t i = 0; i < n; i++) {
		struct mark *m = nsx_marks_of(&c->queue, of[i].ticket);

		m->next = i + 1 < n ? of[i + 1].ticket : NSX_MARK_LAST;
		m->instance = of[i].single ? NSX_ABSENT : 0;
		m->wait = of[i].wait;
		m->late = of[i].late;
		m->group = of[i].group;
		m->known = true;
	}
	return NSX_OK;
}

/* ---- records ---- */

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
flush(struct nsx_collective_marks *c)
{
	nsx_sort(c->pending.p, c->pending.n, compare_pending);
	for (size_t i = 0; i < c->pending.n; i++) {
		struct pending *p = &c->pending.p[i];
		struct nsx_rec rec = { nsx_kind_builtin(NSX_COLLECTIVE), p->has, p->v };
		uint64_t number;

		if (nsx_marks_push(&c->queue, &rec, &number) != NSX_OK
		    || nsx_pairing_add(&c->pairing, &p->pairable, number) != NSX_OK)
			return NSX_ERR;
		c->wait |= p->pairable.what == NSX_PAIR_NCCL;
	}
	c->pending.n = 0;
	nsx_arena_reset(&c->arena);
	return nsx_marks_drain(&c->queue);
}

static int
meet_comm(struct nsx_collective_marks *c, const struct nsx_rec *thunk)
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

	if (nsx_comm_describe(&c->pairing.comm, thunk, &r, c->err) != NSX_OK)
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
		nsx_set_s(&rec, NSX_COLLECTIVE_collective, nsx_cat_str(&c->pairing.comm.cat, r.kind));
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
	return nsx_pairing_thunk(&c->pairing, thunk, &r, &p->pairable);
}

/* From the columns of the operation itself. */
static int
meet_op(struct nsx_collective_marks *c, const struct nsx_rec *op)
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
	int64_t n = nsx_nccl_group(&c->pairing.nccl.comms, op, &inferred), bytes = nsx_int(op, NSX_OP_bytes, -1),
	    dur = nsx_int(op, NSX_OP_dur, 0);
	double algbw, busbw;

	/* What was inferred may change until the end. */
	n = inferred ? 0 : n;
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
	return nsx_pairing_op(&c->pairing, op, &p->pairable);
}

/* Whether rec comes after the collectives of that start. */
static bool
is_after(const struct nsx_rec *rec, int64_t start)
{
	int64_t time;

	if (nsx_rec_section(rec) == NSX_SECTION_SKEW)
		return true;
	if (nsx_rec_section(rec) != NSX_SECTION_WORK || !nsx_order_time(rec, &time))
		return false;
	return time > start || (time == start && rec->kind->id > NSX_COLLECTIVE);
}

int
nsx_collective_marks_take(struct nsx_collective_marks *c, struct nsx_rec *rec, bool again)
{
	if (rec->kind->id == NSX_COLLECTIVE)
		return NSX_OK;
	if (c->pending.n && is_after(rec, c->start) && flush(c) != NSX_OK)
		return NSX_ERR;
	if (nsx_pairing_take(&c->pairing, rec) != NSX_OK || nsx_marks_pass(&c->queue, rec, again) != NSX_OK)
		return NSX_ERR;
	if (!nsx_pairing_is(&c->pairing, rec))
		return NSX_OK;
	return rec->kind->id == NSX_THUNK ? meet_comm(c, rec) : meet_op(c, rec);
}

bool
nsx_collective_marks_wait(const struct nsx_collective_marks *c)
{
	return c->wait;
}

void
nsx_collective_marks_look(uint64_t columns[NSX_NKINDS + 1])
{
	columns[NSX_NKINDS] = 0;
	for (int k = 0; k < NSX_NKINDS; k++)
		columns[k] = nsx_section_of((enum nsx_kind_id)k) == NSX_SECTION_WORK ? 0 : NSX_EVERY;
	columns[NSX_THUNK] = NSX_EVERY;
	columns[NSX_OP] = nsx_field_slots(NSX_OP, NSX_CAT_COMM_ROLES)
	                  | NSX_C(OP, profile) | NSX_C(OP, device) | NSX_C(OP, name) | NSX_C(OP, start) | NSX_C(OP, dur)
	                  | NSX_C(OP, hidden) | NSX_C(OP, collective) | NSX_C(OP, bytes) | NSX_C(OP, op)
	                  | NSX_C(OP, comm_id) | NSX_C(OP, calls) | NSX_C(OP, pair) | NSX_C(OP, group);
}

int
nsx_collective_marks_finish(struct nsx_collective_marks *c)
{
	return flush(c) == NSX_OK && nsx_pairing_finish(&c->pairing) == NSX_OK ? nsx_marks_drain(&c->queue) : NSX_ERR;
}

void
nsx_collective_marks_diags(const struct nsx_collective_marks *c, struct nsx_diags *diags)
{
	nsx_pairing_diags(&c->pairing, diags);
}

struct nsx_collective_marks *
nsx_collective_marks_new(nsx_mark_put *put, nsx_mark_put *again, void *state, size_t hold_bytes, struct nsx_err *err)
{
	struct nsx_collective_marks *c = calloc(1, sizeof *c);

	if (!c) {
		nsx_err_nomem(err, NULL);
		return NULL;
	}
	c->err = err;
	c->pairing = (struct nsx_pairing){ .instance = mark, .state = c, .err = err };
	nsx_pairing_begin(&c->pairing);
	if (nsx_marks_begin(&c->queue, put, again, state, hold_bytes, err) == NSX_OK)
		return c;
	nsx_collective_marks_free(c);
	return NULL;
}

void
nsx_collective_marks_free(struct nsx_collective_marks *c)
{
	if (!c)
		return;
	nsx_marks_free(&c->queue);
	nsx_pairing_free(&c->pairing);
	nsx_arena_free(&c->arena);
	free(c->pending.p);
	free(c);
}
