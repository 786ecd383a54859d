/* collectives.c -- communication thunks, and communicating operations outside such thunks, as `collective` records,
 * with size, group, bandwidth, instance and wait. The collective records of one start wait until all other records of
 * that start have passed: memory holds only those that start at the same time. Then they wait for the last record of
 * their instance (queue.h): those of NCCL's communicators for the end of the stream, because only all of a
 * communicator's operations tell which belong together (job/nccl.h). */
#include "filter/collectives.h"

#include <stdlib.h>

#include "base/num.h"
#include "filter/collectives/queue.h"
#include "job/communication.h"
#include "job/diags_of.h"
#include "job/instances.h"
#include "job/nccl.h"
#include "stream/order.h"

enum what { ALONE, THUNK, NCCL };

/* A record to be written, the order of its thunk or operation, and to which instance it belongs. */
struct pending {
	union nsx_val v[NSX_COLLECTIVE_late + 1];
	uint64_t      has;
	size_t        came;
	enum what     what;
	uint32_t      clock, participants;   /* THUNK */
	struct nsx_key key;
	size_t        op;                    /* NCCL: its number in the set */
	uint32_t      comm;                  /* ALONE: the communicator, of which the size may not be known; or NSX_NONE */
};

/* A record of an instance. */
struct member { uint64_t number; int64_t start, device; uint32_t clock; };

/* A record without an instance whose communicator's size is known at the end. */
struct loose { uint64_t number; uint32_t comm; };

struct collectives {
	struct nsx_reader *in;
	struct nsx_err    *err;
	struct nsx_comm    comm;
	struct nsx_nccl_set nccl;
	struct nsx_instances instances;     /* of thunks */
	struct mark_queue  queue;
	NSX_VEC(struct loose) loose;
	NSX_VEC(struct member) members;     /* of an instance of a communicator */
	int64_t            inferred;
	struct nsx_arena   arena;   /* strings of pending records */
	NSX_VEC(struct pending) pending;
	int64_t            start;   /* of the pending records */
};

/* ---- instances ---- */

static int
by_number(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

/* Mark the n records of an instance: in a group of more than one, one record alone waited for nobody that is known. */
static void
mark(struct collectives *c, struct member *of, size_t n, int64_t group)
{
	const struct member *late = of;
	bool one_clock = true;

	for (size_t i = 1; i < n; i++) {
		one_clock &= of[i].clock == of->clock;
		if (of[i].start > late->start || (of[i].start == late->start && of[i].device < late->device))
			late = &of[i];
	}
	uint64_t last = late->number;
	int64_t end = late->start;

	if (n > 1)
		qsort(of, n, sizeof *of, by_number);
	for (size_t i = 0; i < n; i++) {
		struct mark *m = nsx_marks_of(&c->queue, of[i].number);

		m->next = i + 1 < n ? of[i + 1].number : NSX_MARK_LAST;
		m->instance = 0;
		if (one_clock && (n > 1 || group == 1)) {
			m->wait = nsx_sub_sat(end, of[i].start, NULL);
			m->late = of[i].number == last;
		}
		m->known = true;
	}
}

/* All thunks of an instance have come. */
static int
complete(void *state, struct nsx_key key, void *records, size_t n)
{
	struct collectives *c = state;
	struct member *of = records;
	struct mark *m = nsx_marks_of(&c->queue, of->number);

	(void)key;
	mark(c, of, n, m->group);
	for (size_t i = 0; i < n; i++)
		nsx_marks_of(&c->queue, of[i].number)->group = NSX_ABSENT;
	return NSX_OK;
}

static void
mark_alone(struct collectives *c, uint64_t number, int64_t group)
{
	struct mark *m = nsx_marks_of(&c->queue, number);

	m->group = group;
	m->known = true;
}

/* At the end: the instances of communicators. */
static int
mark_nccl(struct collectives *c)
{
	struct nsx_nccl_set *s = &c->nccl;
	bool apart = nsx_nccl_apart(s);

	if (nsx_nccl_number(s, c->err) != NSX_OK)
		return NSX_ERR;
	for (size_t a = 0, b; a < s->ops.n; a = b) {
		b = apart ? a + 1 : nsx_nccl_instance(s, a);
		c->members.n = 0;
		for (size_t i = a; i < b; i++) {
			const struct nsx_nccl_op *o = &s->ops.p[i];
			const struct nsx_nccl_device *d = &s->devices.p[o->device];

			nsx_marks_of(&c->queue, o->record)->group = o->group;
			if (!nsx_vec_push(&c->members, ((struct member){ o->record, o->start, d->number, d->clock })))
				return nsx_err_nomem(c->err, NULL);
		}
		if (apart)
			mark_alone(c, s->ops.p[a].record, s->ops.p[a].group);
		else
			mark(c, c->members.p, c->members.n, s->ops.p[a].group);
	}
	return NSX_OK;
}

static int
finish(struct collectives *c)
{
	if (nsx_instances_finish(&c->instances, c->err) != NSX_OK || mark_nccl(c) != NSX_OK)
		return NSX_ERR;
	for (size_t i = 0; i < c->loose.n; i++)
		mark_alone(c, c->loose.p[i].number, nsx_nccl_comm_size(&c->nccl.comms, c->loose.p[i].comm));
	return nsx_marks_drain(&c->queue) == NSX_OK ? nsx_marks_end(&c->queue) : NSX_ERR;
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

/* Assign a record, which is in the queue, to its instance. */
static int
assign(struct collectives *c, const struct pending *p, uint64_t number)
{
	struct member m = { number, p->v[NSX_COLLECTIVE_start].i, NSX_ABSENT, p->clock };

	switch (p->what) {
	case THUNK:
		if (p->has >> NSX_COLLECTIVE_device & 1)
			m.device = p->v[NSX_COLLECTIVE_device].i;
		/* Remembered here until the instance is complete. */
		if (p->has >> NSX_COLLECTIVE_group & 1)
			nsx_marks_of(&c->queue, number)->group = p->v[NSX_COLLECTIVE_group].i;
		return nsx_instances_add(&c->instances, p->key, &m, p->participants, c->err);
	case NCCL:
		c->nccl.ops.p[p->op].record = number;
		return NSX_OK;
	case ALONE:
		break;
	}
	if (p->comm == NSX_NONE)
		mark_alone(c, number, NSX_ABSENT);
	else if (!nsx_vec_push(&c->loose, ((struct loose){ number, p->comm })))
		return nsx_err_nomem(c->err, NULL);
	return NSX_OK;
}

static int
flush(struct collectives *c)
{
	if (c->pending.n > 1)
		qsort(c->pending.p, c->pending.n, sizeof *c->pending.p, compare_pending);
	for (size_t i = 0; i < c->pending.n; i++) {
		struct pending *p = &c->pending.p[i];
		struct nsx_rec rec = { nsx_kind_builtin(NSX_COLLECTIVE), p->has, p->v };
		uint64_t number;

		if (nsx_marks_push(&c->queue, &rec, &number) != NSX_OK || assign(c, p, number) != NSX_OK)
			return NSX_ERR;
	}
	c->pending.n = 0;
	nsx_arena_reset(&c->arena);
	return nsx_marks_drain(&c->queue);
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
	p->what = nsx_has(thunk, NSX_THUNK_start) && nsx_int(thunk, NSX_THUNK_dur, 0) >= 0 ? THUNK : ALONE;
	p->comm = NSX_NONE;
	p->participants = r.participants;
	p->clock = nsx_comm_clock(&c->comm, thunk);
	if (p->clock == NSX_NONE || !nsx_comm_instance(&c->comm, thunk, &r, &p->key))
		return nsx_err_nomem(c->err, NULL);
	p->came = c->pending.n++;
	c->start = nsx_int(thunk, NSX_THUNK_start, 0);
	return NSX_OK;
}

/* Find out to what an operation belongs. */
static int
sort_op(struct collectives *c, const struct nsx_rec *op, struct pending *p)
{
	uint32_t clock = nsx_comm_clock(&c->comm, op);

	p->what = nsx_nccl_is(op) ? NCCL : ALONE;
	p->comm = nsx_has(op, NSX_OP_comm_id) ? nsx_intern_find(&c->nccl.comms.ids, nsx_string(op, NSX_OP_comm_id))
	                                      : NSX_NONE;
	p->op = c->nccl.ops.n;
	return clock == NSX_NONE ? nsx_err_nomem(c->err, NULL) : nsx_nccl_take(&c->nccl, op, clock, c->err);
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
	int64_t n = nsx_nccl_group(&c->nccl.comms, op, &inferred), bytes = nsx_int(op, NSX_OP_bytes, -1),
	    dur = nsx_int(op, NSX_OP_dur, 0);
	double algbw, busbw;

	/* What was inferred may change until the end. */
	c->inferred += inferred;
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
	return sort_op(c, op, p);
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

/* Write a record, and the collective record that it is. */
static int
meet(struct collectives *c, const struct nsx_rec *rec)
{
	if (c->pending.n && is_after(rec, c->start) && flush(c) != NSX_OK)
		return NSX_ERR;
	if (nsx_comm_take(&c->comm, rec, c->err) != NSX_OK
	    || nsx_nccl_comms_take(&c->nccl.comms, rec, c->err) != NSX_OK || nsx_marks_pass(&c->queue, rec) != NSX_OK)
		return NSX_ERR;
	if (rec->kind->id == NSX_THUNK)
		return nsx_is_comm(&c->comm, rec) ? meet_comm(c, rec) : NSX_OK;
	return rec->kind->id == NSX_OP && nsx_is_comm_op(&c->comm, rec) ? meet_op(c, rec) : NSX_OK;
}

static int
pass(struct collectives *c)
{
	struct nsx_rec rec;
	int rc;

	while ((rc = nsx_read(c->in, &rec)) == NSX_OK) {
		if (rec.kind->id == NSX_COLLECTIVE || nsx_is_diag_of(&rec, "nsysx-collectives"))
			continue;
		if (meet(c, &rec) != NSX_OK)
			return NSX_ERR;
	}
	return rc == NSX_EOF && flush(c) == NSX_OK ? finish(c) : NSX_ERR;
}

static void
add_diags(const struct collectives *c, struct nsx_diags *diags)
{
	nsx_comm_diags(&c->comm, diags);
	nsx_comm_flag_diags(&c->comm, diags);
	nsx_diag_add(diags, NSX_INFO, "", c->inferred,
		"operations of NCCL communicators of unknown size: group is the number of devices that ran its "
		"operations");
	nsx_diag_add(diags, NSX_WARNING, "", c->nccl.lost,
	             "kinds of operations of a communicator of which the capture of a device lacks some that "
	             "others have: those around them are paired by their ends");
	nsx_diag_add(diags, NSX_INFO, "", c->nccl.loose, "send-recvs between unknown ranks: in no instance");
	if (nsx_nccl_apart(&c->nccl))
		nsx_diag_add(diags, NSX_WARNING, "", 1,
		             "devices of one NCCL communicator are on clocks that cannot be compared: its operations "
		             "are in no instance; nsysx-align puts them on one clock");
}

int
nsx_collectives(struct nsx_reader *in, struct nsx_writer *out, size_t hold_bytes, struct nsx_diags *diags,
                struct nsx_err *err)
{
	struct collectives c = { .in = in, .err = err };
	const struct nsx_kind *k = nsx_kind_builtin(NSX_COLLECTIVE);
	int rc = nsx_marks_begin(&c.queue, in, out, hold_bytes, err);

	c.instances = (struct nsx_instances){ .size = sizeof(struct member), .complete = complete, .state = &c };
	/* An existing header of collectives gets the columns that it lacks. */
	for (int i = 0; i < k->nslots && rc == NSX_OK; i++)
		rc = nsx_reader_add_column(in, NSX_COLLECTIVE, k->cols[i].name, k->cols[i].type);
	if (rc == NSX_OK)
		rc = pass(&c);
	if (rc == NSX_OK)
		add_diags(&c, diags);
	nsx_marks_free(&c.queue);
	nsx_instances_free(&c.instances);
	nsx_nccl_free(&c.nccl);
	nsx_comm_free(&c.comm);
	nsx_arena_free(&c.arena);
	free(c.pending.p);
	free(c.loose.p);
	free(c.members.p);
	return rc;
}
