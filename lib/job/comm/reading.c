/* reading.c -- see reading.h. Of a stream with marks: a record with a wait tells when the
 * last of its instance starts; records come by start, so the instance is complete when one starts later. Others wait
 * for the end, unless all devices are on one clock: then such a record is alone. */
#include "job/comm/reading.h"

#include <stdlib.h>

#include "base/heap.h"
#include "base/num.h"
#include "stream/order.h"

/* An instance of which records may still come, until they start later than `last`. */
struct open_instance { int64_t last, instance; };

/* Of a stream with marks; and instances that were paired before it is known whether it has them, n members each. */
struct nsx_collective_marked {
	struct nsx_collective_reading *r;
	struct nsx_instances instances;
	NSX_VEC(struct open_instance) open;       /* a heap */
	uint64_t             came;
	bool                 used;       /* the stream has marks */
	bool                 decided;    /* whether it has is known */
	int64_t              first;      /* start of the first record of a collective, ABSENT before it */
	NSX_VEC(struct nsx_collective) early;
	NSX_VEC(size_t)      early_n;
	struct nsx_err      *err;
};

static bool
ends_before(const void *none, const struct open_instance *a, const struct open_instance *b)
{
	(void)none;
	return a->last < b->last || (a->last == b->last && a->instance < b->instance);
}

NSX_HEAP(open, struct open_instance, const void *, ends_before)

static int
complete(void *state, struct nsx_key key, void *records, size_t n)
{
	struct nsx_collective_reading *r = ((struct nsx_collective_marked *)state)->r;

	(void)key;
	return r->instance(r->state, records, n);
}

/* The stream has reached `now`. */
static int
close_until(struct nsx_collective_marked *m, int64_t now)
{
	while (m->open.n && m->open.p[0].last < now) {
		struct open_instance o = open_pop(NULL, m->open.p, m->open.n--);

		if (nsx_instances_close(&m->instances, (struct nsx_key){ (uint64_t)o.instance, 0 }, m->err) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

/* A string of the catalogue; false when out of memory. */
static bool
intern(struct nsx_collective_marked *m, struct nsx_str text, uint32_t *id)
{
	*id = text.len ? nsx_cat_intern(&m->r->comm->cat, text, m->err) : NSX_NONE;
	return !text.len || *id != NSX_NONE;
}

static int
take_marked(struct nsx_collective_marked *m, const struct nsx_rec *rec)
{
	int64_t instance = nsx_int(rec, NSX_COLLECTIVE_instance, NSX_ABSENT);
	struct nsx_key key = { (uint64_t)instance, 0 };
	struct nsx_collective c = {
		.wait = nsx_int(rec, NSX_COLLECTIVE_wait, NSX_ABSENT),
		.start = nsx_int(rec, NSX_COLLECTIVE_start, 0), .dur = nsx_int(rec, NSX_COLLECTIVE_dur, 0),
		.hidden = nsx_int(rec, NSX_COLLECTIVE_hidden, NSX_ABSENT),
		.bytes = nsx_int(rec, NSX_COLLECTIVE_bytes, NSX_ABSENT),
		.group = nsx_int(rec, NSX_COLLECTIVE_group, NSX_ABSENT),
		.calls = nsx_int(rec, NSX_COLLECTIVE_calls, NSX_ABSENT),
		.op = nsx_int(rec, NSX_COLLECTIVE_op, NSX_ABSENT),
		.device = nsx_int(rec, NSX_COLLECTIVE_device, NSX_ABSENT), .ticket = m->came++,
		.at = nsx_cat_device(&m->r->comm->cat, rec), .clock = nsx_comm_clock(m->r->comm, rec),
		.program = nsx_has(rec, NSX_COLLECTIVE_program) ? nsx_cat_program(&m->r->comm->cat, rec) : NSX_NONE,
		.inst = nsx_has(rec, NSX_COLLECTIVE_inst) ? nsx_cat_inst(&m->r->comm->cat, rec) : NSX_NONE,
		.late = nsx_int(rec, NSX_COLLECTIVE_late, 0) == 1, .single = instance == NSX_ABSENT,
		.thunk = nsx_has(rec, NSX_COLLECTIVE_program) || nsx_has(rec, NSX_COLLECTIVE_inst),
		.replica = nsx_has(rec, NSX_COLLECTIVE_inst) ? nsx_comm_replica(m->r->comm, rec) : NSX_NONE
	};

	if (c.clock == NSX_NONE || !intern(m, nsx_string(rec, NSX_COLLECTIVE_collective), &c.kind)
	    || !intern(m, nsx_string(rec, NSX_COLLECTIVE_comm_id), &c.comm_id)
	    || !intern(m, nsx_string(rec, NSX_COLLECTIVE_pair), &c.pair))
		return nsx_err_nomem(m->err, NULL);
	m->r->pairing.backwards += c.dur < 0;
	c.apart = c.single && c.dur >= 0 && c.comm_id != NSX_NONE
	          && (c.pair != NSX_NONE || !nsx_str_eq(nsx_string(rec, NSX_COLLECTIVE_collective),
	          NSX_STR("send-recv")));
	if (close_until(m, c.start) != NSX_OK)
		return NSX_ERR;
	if (c.single || (c.wait == NSX_ABSENT && nsx_comm_one_clock(m->r->comm)))
		return m->r->instance(m->r->state, &c, 1);
	if (c.wait != NSX_ABSENT && nsx_map_get(&m->instances.at, key) == NSX_NONE) {
		if (!nsx_vec_room(&m->open, 1))
			return nsx_err_nomem(m->err, NULL);
		open_push(NULL, m->open.p, m->open.n++, ((struct open_instance){ nsx_add_sat(c.start, c.wait, NULL),
		    instance }));
	}
	return nsx_instances_add(&m->instances, key, &c, 0, m->err);
}

/* An instance was paired. Marks of the first record come behind it: until then instances are kept. */
static int
paired(void *state, struct nsx_collective *of, size_t n)
{
	struct nsx_collective_reading *r = state;
	struct nsx_collective_marked *m = r->marked;

	if (m->decided)
		return r->instance(r->state, of, n);
	if (!nsx_vec_push(&m->early_n, n) || !nsx_vec_room(&m->early, n))
		return nsx_err_nomem(m->err, NULL);
	for (size_t i = 0; i < n; i++)
		m->early.p[m->early.n++] = of[i];
	return NSX_OK;
}

/* The stream has no marks: give the instances that were kept. */
static int
decide(struct nsx_collective_reading *r)
{
	struct nsx_collective_marked *m = r->marked;
	int rc = NSX_OK;

	if (m->decided)
		return NSX_OK;
	m->decided = true;
	for (size_t i = 0, at = 0; i < m->early_n.n && rc == NSX_OK; at += m->early_n.p[i++])
		rc = r->instance(r->state, &m->early.p[at], m->early_n.p[i]);
	return rc;
}

/* Records with marks come behind what they were made of: forget that. */
static void
forget(struct nsx_pairing *p)
{
	nsx_instances_free(&p->instances);
	nsx_nccl_free(&p->nccl);
	p->instances = (struct nsx_instances){ 0 };
	p->nccl = (struct nsx_nccl_set){ 0 };
	p->loose.n = 0;
	nsx_pairing_begin(p);
}

static int
take(void *state, const struct nsx_rec *rec)
{
	struct nsx_collective_reading *r = state;
	struct nsx_collective_marked *m = r->marked;

	if (rec->kind->id == NSX_COLLECTIVE) {
		if (!m->decided && nsx_kind_has(rec->kind, NSX_COLLECTIVE_instance)) {
			m->used = m->decided = true;
			forget(&r->pairing);
		}
		return m->used ? take_marked(m, rec) : NSX_OK;
	}
	if (nsx_pairing_take(&r->pairing, rec) != NSX_OK)
		return NSX_ERR;
	if (m->first != NSX_ABSENT && !m->decided && nsx_field_int(rec, NSX_ROLE_START, m->first) > m->first
	    && nsx_rec_section(rec) == NSX_SECTION_WORK && decide(r) != NSX_OK)
		return NSX_ERR;
	if (!m->used && nsx_pairing_is(&r->pairing, rec)) {
		if (m->first == NSX_ABSENT)
			m->first = nsx_field_int(rec, NSX_ROLE_START, 0);
		if (nsx_pairing_record(&r->pairing, rec, m->came++) != NSX_OK)
			return NSX_ERR;
	}
	return r->other ? r->other(r->state, rec) : NSX_OK;
}

int
nsx_collective_instances(struct nsx_reader *in, struct nsx_collective_reading *r, struct nsx_diags *diags,
                         struct nsx_err *err)
{
	struct nsx_collective_marked *m = r->marked = calloc(1, sizeof *m);
	int rc;

	r->pairing = (struct nsx_pairing){ .instance = paired, .state = r, .err = err, .thunks = r->thunks };
	r->comm = &r->pairing.comm;
	nsx_pairing_begin(&r->pairing);
	r->comm->cat.keep = r->keep;
	if (!m)
		return nsx_err_nomem(err, NULL);
	m->r = r;
	m->err = err;
	m->first = NSX_ABSENT;
	m->instances = (struct nsx_instances){ .size = sizeof(struct nsx_collective), .complete = complete,
	    .state = m };
	nsx_pairing_need(&r->pairing, in);
	nsx_reader_need(in, NSX_COLLECTIVE,
	                NSX_C(COLLECTIVE, profile) | NSX_C(COLLECTIVE, program) | NSX_C(COLLECTIVE, device)
	                | NSX_C(COLLECTIVE, inst) | NSX_C(COLLECTIVE, start) | NSX_C(COLLECTIVE, dur)
	                | NSX_C(COLLECTIVE, hidden) | NSX_C(COLLECTIVE, collective) | NSX_C(COLLECTIVE, bytes)
	                | NSX_C(COLLECTIVE, group) | NSX_C(COLLECTIVE, op) | NSX_C(COLLECTIVE, comm_id)
	                | NSX_C(COLLECTIVE, calls) | NSX_C(COLLECTIVE, pair) | NSX_C(COLLECTIVE, instance)
	                | NSX_C(COLLECTIVE, wait) | NSX_C(COLLECTIVE, late));
	nsx_reader_need(in, NSX_DIAG, NSX_C(DIAG, source));
	rc = nsx_read_all(in, r->require, take, r, err);
	if (rc == NSX_OK)
		rc = decide(r);
	if (rc == NSX_OK)
		rc = nsx_pairing_finish(&r->pairing);
	if (rc == NSX_OK)
		rc = close_until(m, INT64_MAX);
	if (rc == NSX_OK)
		rc = nsx_instances_finish(&m->instances, err);
	/* A stream with marks has these diags, too. */
	if (rc == NSX_OK && !m->used)
		nsx_pairing_diags(&r->pairing, diags);
	return rc;
}

bool
nsx_collective_by_time(const struct nsx_collective_reading *r)
{
	return r->marked->used;
}

int64_t
nsx_collective_end(const struct nsx_collective *of, size_t n)
{
	int64_t end = INT64_MIN;

	for (size_t i = 0; i < n; i++) {
		int64_t own = nsx_add_sat(of[i].start, of[i].dur, NULL);

		end = own > end ? own : end;
	}
	return end;
}

void
nsx_collective_reading_free(struct nsx_collective_reading *r)
{
	nsx_pairing_free(&r->pairing);
	if (r->marked) {
		nsx_instances_free(&r->marked->instances);
		free(r->marked->open.p);
		free(r->marked->early.p);
		free(r->marked->early_n.p);
	}
	free(r->marked);
	r->marked = NULL;
}
