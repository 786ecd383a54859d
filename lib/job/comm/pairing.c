/* pairing.c -- see pairing.h. */
#include "job/comm/pairing.h"

#include <stdlib.h>

#include "base/num.h"
#include "base/sort.h"

/* ---- instances ---- */

NSX_ORDER(by_ticket, struct nsx_collective, NSX_CMP(a->ticket, b->ticket))

/* Compute waits: in a group of more than one, one record alone waited for nobody that is known. */
static int
give(struct nsx_pairing *p, struct nsx_collective *of, size_t n)
{
	struct nsx_collective *late = of;
	bool one_clock = true;

	for (size_t i = 1; i < n; i++) {
		one_clock &= of[i].clock == of->clock;
		if (of[i].start > late->start || (of[i].start == late->start && of[i].device < late->device))
			late = &of[i];
	}
	if (one_clock && (n > 1 || of->group == 1)) {
		int64_t last = late->start;

		late->late = true;
		for (size_t i = 0; i < n; i++)
			of[i].wait = nsx_sub_sat(last, of[i].start, NULL);
	}
	/* Records of thunks come in this order. */
	for (size_t i = 1; i < n; i++)
		if (of[i].ticket < of[i - 1].ticket) {
			nsx_sort(of, n, by_ticket);
			break;
		}
	return p->instance(p->state, of, n);
}

static int
give_alone(struct nsx_pairing *p, struct nsx_collective *c)
{
	c->single = true;
	return p->instance(p->state, c, 1);
}

static int
complete(void *state, struct nsx_key key, void *records, size_t n)
{
	(void)key;
	return give(state, records, n);
}

/* ---- records ---- */

void
nsx_pairing_begin(struct nsx_pairing *p)
{
	p->instances = (struct nsx_instances){ .size = sizeof(struct nsx_collective), .complete = complete,
	    .state = p };
}

void
nsx_pairing_need(const struct nsx_pairing *p, struct nsx_reader *in)
{
	nsx_comm_need(&p->comm, in);
	nsx_reader_need(in, NSX_THUNK, NSX_C(THUNK, profile) | NSX_C(THUNK, program) | NSX_C(THUNK, execution)
	                               | NSX_C(THUNK, device) | NSX_C(THUNK, inst) | NSX_C(THUNK, occurrence)
	                               | NSX_C(THUNK, start) | NSX_C(THUNK, dur) | NSX_C(THUNK, hidden)
	                               | NSX_C(THUNK, comm));
	if (p->thunks)
		return;
	nsx_nccl_need(in);
	nsx_reader_need(in, NSX_OP, nsx_field_slots(NSX_OP, NSX_CAT_COMM_ROLES));
}

int
nsx_pairing_take(struct nsx_pairing *p, const struct nsx_rec *rec)
{
	/* Of operations, which are many, only those of communicators tell something. */
	if (rec->kind->id == NSX_OP && (p->thunks || !nsx_has(rec, NSX_OP_comm_id)))
		return NSX_OK;
	if (nsx_comm_take(&p->comm, rec, p->err) != NSX_OK)
		return NSX_ERR;
	return p->thunks ? NSX_OK : nsx_nccl_comms_take(&p->nccl.comms, rec, p->err);
}

bool
nsx_pairing_is(struct nsx_pairing *p, const struct nsx_rec *rec)
{
	if (rec->kind->id == NSX_THUNK)
		return nsx_is_comm(&p->comm, rec);
	return rec->kind->id == NSX_OP && !p->thunks && nsx_is_comm_op(&p->comm, rec);
}

int
nsx_pairing_thunk(struct nsx_pairing *p, const struct nsx_rec *thunk, const struct nsx_comm_record *r,
                  struct nsx_pairable *x)
{
	struct nsx_collective c = {
		.wait = NSX_ABSENT, .start = nsx_int(thunk, NSX_THUNK_start, 0),
		.dur = nsx_int(thunk, NSX_THUNK_dur, 0),
		.hidden = nsx_int(thunk, NSX_THUNK_hidden, NSX_ABSENT), .bytes = r->has_bytes ? r->bytes : NSX_ABSENT,
		.group = r->has_group ? r->group : NSX_ABSENT, .calls = NSX_ABSENT, .op = NSX_ABSENT,
		.device = nsx_int(thunk, NSX_THUNK_device, NSX_ABSENT),
		.at = nsx_cat_device(&p->comm.cat, thunk), .clock = nsx_comm_clock(&p->comm, thunk),
		    .program = nsx_cat_program(&p->comm.cat, thunk), .inst = r->inst, .kind = r->kind,
		.comm_id = NSX_NONE, .pair = NSX_NONE, .thunk = true,
		.incomplete = r->incomplete, .collective = nsx_comm_collective(r),
		.replica = r->replica
	};

	*x = (struct nsx_pairable){ .c = c, .what = NSX_PAIR_THUNK, .participants = r->participants };
	if (c.dur < 0) {
		p->backwards++;
		x->what = NSX_PAIR_ALONE;
	}
	return c.clock != NSX_NONE && nsx_comm_instance(&p->comm, thunk, r, &x->key) ? NSX_OK : nsx_err_nomem(p->err,
		NULL);
}

/* A string in the catalogue; false when out of memory. */
static bool
intern(struct nsx_pairing *p, struct nsx_str text, uint32_t *id)
{
	*id = text.len ? nsx_cat_intern(&p->comm.cat, text, p->err) : NSX_NONE;
	return !text.len || *id != NSX_NONE;
}

/* An operation that belongs to no instance. */
static int
describe_alone(struct nsx_pairing *p, const struct nsx_rec *op, struct nsx_collective *c)
{
	*c = (struct nsx_collective){
		.wait = NSX_ABSENT, .start = nsx_int(op, NSX_OP_start, 0), .dur = nsx_int(op, NSX_OP_dur, 0),
		.hidden = nsx_int(op, NSX_OP_hidden, NSX_ABSENT), .bytes = nsx_int(op, NSX_OP_bytes, NSX_ABSENT),
		.group = nsx_int(op, NSX_OP_group, NSX_ABSENT), .calls = nsx_int(op, NSX_OP_calls, NSX_ABSENT),
		.op = nsx_int(op, NSX_OP_op, NSX_ABSENT), .device = nsx_int(op, NSX_OP_device, NSX_ABSENT),
		.at = nsx_cat_device(&p->comm.cat, op), .clock = nsx_comm_clock(&p->comm, op), .program = NSX_NONE,
		.replica = NSX_NONE, .inst = NSX_NONE
	};
	p->backwards += c->dur < 0;
	return c->clock != NSX_NONE && intern(p, nsx_string(op, NSX_OP_collective), &c->kind)
	       && intern(p, nsx_string(op, NSX_OP_comm_id), &c->comm_id)
	       && intern(p, nsx_string(op, NSX_OP_pair), &c->pair) ? NSX_OK : nsx_err_nomem(p->err, NULL);
}

int
nsx_pairing_op(struct nsx_pairing *p, const struct nsx_rec *op, struct nsx_pairable *x)
{
	uint32_t clock;
	bool inferred;

	*x = (struct nsx_pairable){ .what = NSX_PAIR_ALONE };
	nsx_nccl_group(&p->nccl.comms, op, &inferred);
	p->inferred += inferred;
	if (!nsx_nccl_is(op))
		return describe_alone(p, op, &x->c);
	x->what = NSX_PAIR_NCCL;
	x->op = p->nccl.ops.n;
	clock = nsx_comm_clock(&p->comm, op);
	return clock == NSX_NONE ? nsx_err_nomem(p->err, NULL) : nsx_nccl_take(&p->nccl, op, clock, p->err);
}

int
nsx_pairing_add(struct nsx_pairing *p, struct nsx_pairable *x, uint64_t ticket)
{
	x->c.ticket = ticket;
	switch (x->what) {
	case NSX_PAIR_THUNK:
		return nsx_instances_add(&p->instances, x->key, &x->c, x->participants, p->err);
	case NSX_PAIR_NCCL:
		p->nccl.ops.p[x->op].record = ticket;
		return NSX_OK;
	case NSX_PAIR_ALONE:
		break;
	}
	if (x->c.thunk || x->c.dur < 0 || x->c.comm_id == NSX_NONE)
		return give_alone(p, &x->c);
	p->nccl.loose++;
	return nsx_vec_push(&p->loose, x->c) ? NSX_OK : nsx_err_nomem(p->err, NULL);
}

int
nsx_pairing_record(struct nsx_pairing *p, const struct nsx_rec *rec, uint64_t ticket)
{
	struct nsx_pairable x;
	struct nsx_comm_record r;
	int rc;

	if (rec->kind->id == NSX_OP)
		rc = nsx_pairing_op(p, rec, &x);
	else if ((rc = nsx_comm_describe(&p->comm, rec, &r, p->err)) == NSX_OK)
		rc = nsx_pairing_thunk(p, rec, &r, &x);
	return rc == NSX_OK ? nsx_pairing_add(p, &x, ticket) : NSX_ERR;
}

/* ---- the end ---- */

static int64_t
known(int64_t v)
{
	return v < 0 ? NSX_ABSENT : v;
}

/* Operation o of an NCCL communicator; false when out of memory. */
static bool
add_member(struct nsx_pairing *p, const struct nsx_nccl_op *o, uint32_t kind, uint32_t comm_id, uint32_t pair)
{
	const struct nsx_nccl_device *d = &p->nccl.devices.p[o->device];
	struct nsx_collective c = {
		.wait = NSX_ABSENT, .start = o->start, .dur = o->dur, .hidden = known(o->hidden),
		    .bytes = known(o->bytes),
		.group = o->group > 0 ? o->group : NSX_ABSENT, .calls = known(o->calls), .op = known(o->op),
		.device = d->number, .ticket = o->record, .at = nsx_cat_find_device(&p->comm.cat, d->number),
		.clock = d->clock, .program = NSX_NONE, .inst = NSX_NONE, .kind = kind, .comm_id = comm_id,
		.pair = pair, .replica = NSX_NONE
	};

	return nsx_vec_push(&p->members, c);
}

static int
give_apart(struct nsx_pairing *p)
{
	p->members.p->apart = true;
	return give_alone(p, p->members.p);
}

/* The instances of communicators; operations one by one if clocks of one cannot be compared. */
static int
give_nccl(struct nsx_pairing *p)
{
	struct nsx_nccl_set *s = &p->nccl;
	bool apart = s->apart;
	int rc = nsx_nccl_number(s, p->err);

	for (size_t a = 0, b; a < s->ops.n && rc == NSX_OK; a = b) {
		const struct nsx_nccl_key *k = &s->keys.p[s->ops.p[a].key];
		uint32_t kind = NSX_NONE, comm_id = NSX_NONE, pair = NSX_NONE;
		bool good = intern(p, nsx_intern_str(&s->texts, k->kind), &kind)
		            && intern(p, nsx_intern_str(&s->texts, k->comm), &comm_id)
		            && intern(p, nsx_intern_str(&s->texts, k->pair), &pair);

		b = apart ? a + 1 : nsx_nccl_instance(s, a);
		p->members.n = 0;
		for (size_t i = a; i < b && good; i++)
			good = add_member(p, &s->ops.p[i], kind, comm_id, pair);
		rc = !good ? nsx_err_nomem(p->err, NULL) : apart ? give_apart(p) : give(p, p->members.p, p->members.n);
	}
	return rc;
}

int
nsx_pairing_finish(struct nsx_pairing *p)
{
	int rc = nsx_instances_finish(&p->instances, p->err);

	if (rc == NSX_OK)
		rc = give_nccl(p);
	for (size_t i = 0; i < p->loose.n && rc == NSX_OK; i++) {
		struct nsx_collective *c = &p->loose.p[i];
		uint32_t comm = nsx_intern_find(&p->nccl.comms.ids, nsx_cat_str(&p->comm.cat, c->comm_id));

		if (c->group == NSX_ABSENT && comm != NSX_NONE)
			c->group = nsx_nccl_comm_size(&p->nccl.comms, comm);
		rc = give_alone(p, c);
	}
	return rc;
}

void
nsx_pairing_diags(const struct nsx_pairing *p, struct nsx_diags *diags)
{
	nsx_comm_diags(&p->comm, diags);
	nsx_comm_flag_diags(&p->comm, diags);
	nsx_diag_add(diags, NSX_INFO, "", p->inferred,
		"operations of NCCL communicators of unknown size: group is the number of devices that ran its "
		"operations");
	nsx_diag_add(diags, NSX_WARNING, "", p->nccl.lost,
	             "kinds of operations of a communicator of which the capture of a device lacks some that "
	             "others have: those around them are paired by their ends");
	nsx_diag_add(diags, NSX_INFO, "", p->nccl.loose, "send-recvs between unknown ranks: in no instance");
	if (p->nccl.apart)
		nsx_diag_add(diags, NSX_WARNING, "", 1,
		             "devices of one NCCL communicator are on clocks that cannot be compared: its operations "
		             "are in no instance; nsysx-align puts them on one clock");
}

void
nsx_pairing_free(struct nsx_pairing *p)
{
	nsx_instances_free(&p->instances);
	nsx_nccl_free(&p->nccl);
	nsx_comm_free(&p->comm);
	free(p->members.p);
	free(p->loose.p);
}
