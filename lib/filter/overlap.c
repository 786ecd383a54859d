/* overlap.c -- the time of each communication that is hidden behind computation, in one pass.
 *
 * Let c(t) be the time before t in which a device computed (job/activity.h: nsx_union_before). The hidden time of a
 * communication thunk is c(end) - c(start):
 *
 *   computation      0.. 40
 *   computation     30.. 60    the union of computation is now 0..60
 *   communication   50.. 90    c(50) = 60 - 10 = 50
 *   computation     70.. 80    the union is now 0..60, 70..80
 *   communication   85.. 95    c(85) = 70
 *
 * The first communication ends at 90: c(90) = 70, so 70 - 50 = 20 are hidden and 20 exposed. The second ends at 95:
 * c(95) = 70, so nothing is hidden.
 *
 * Records are ordered by start, so when the stream has reached t, everything that began before t is known.
 *
 * Computation is that of operations (kernels and whole graphs) if the stream has any, of thunks else: spans of thunks
 * hold gaps between kernels. A thunk's first operation starts with it, so when a thunk has ended it is known whether
 * there are operations. Copies compute nothing, as operations or as thunks. */
#include "filter/overlap.h"

#include <stdlib.h>

#include "base/heap.h"
#include "base/num.h"
#include "base/vec.h"
#include "job/activity.h"
#include "job/catalogue.h"
#include "job/diags_of.h"
#include "stream/fields.h"
#include "stream/order.h"
#include "stream/pass_defer.h"

/* A communication thunk or operation that has not ended. before: c(start), of thunks and of operations; of: the first
 * of its device's two in nsx_overlap.unions. */
struct open_comm { int64_t end; uint64_t before[2], ticket; uint32_t of; };

struct nsx_overlap {
	struct nsx_defer   *through;      /* from reader to writer */
	struct nsx_err    *err;
	struct nsx_catalogue cat;
	NSX_VEC(struct nsx_union) unions;   /* two by device of the catalogue: of what its thunks compute, its
	                                     * operations */
	NSX_VEC(struct open_comm) heap;       /* the earliest end first */
	uint64_t           thunks, ops, comm;
};

/* The first union of the record's device, created if it is new; NSX_NONE when out of memory. */
static uint32_t
union_of(struct nsx_overlap *o, const struct nsx_rec *rec)
{
	uint32_t device = nsx_cat_device(&o->cat, rec);

	if (device == NSX_NONE || device >= NSX_NONE / 2)
		return NSX_NONE;
	while (o->unions.n <= 2 * device + 1)
		if (!nsx_vec_push(&o->unions, ((struct nsx_union){ 0 })))
			return NSX_NONE;
	return 2 * device;
}

/* ---- open communication ---- */

static bool
ends_before(const struct nsx_overlap *o, const struct open_comm *a, const struct open_comm *b)
{
	(void)o;
	return a->end < b->end;
}

NSX_HEAP(ends, struct open_comm, const struct nsx_overlap *, ends_before)

static bool
open_push(struct nsx_overlap *o, struct open_comm c)
{
	if (!nsx_vec_room(&o->heap, 1))
		return false;
	ends_push(o, o->heap.p, o->heap.n++, c);
	return true;
}

/* The stream has reached `now`: compute the results of communication that has ended. */
static void
answer_until(struct nsx_overlap *o, int64_t now)
{
	while (o->heap.n && o->heap.p[0].end <= now) {
		struct open_comm c = ends_pop(o, o->heap.p, o->heap.n--);
		int of = o->ops > 0;

		nsx_defer_answer(o->through, c.ticket,
		                (int64_t)(nsx_union_before(&o->unions.p[c.of + of], c.end) - c.before[of]));
	}
}

/* Whether a thunk or an operation that does not communicate computes: copies and memsets hide nothing. */
static bool
computes(const struct nsx_rec *rec)
{
	if (rec->kind->id == NSX_THUNK)
		return nsx_int(rec, NSX_THUNK_copy, 0) != 1;
	struct nsx_str type = nsx_string(rec, NSX_OP_type);

	return nsx_str_eq(type, NSX_STR("kernel")) || nsx_str_eq(type, NSX_STR("graph"));
}

/* A thunk or an operation. */
static int
take_work(struct nsx_overlap *o, const struct nsx_rec *rec)
{
	bool thunk = rec->kind->id == NSX_THUNK, comm = nsx_cat_communicates(&o->cat, rec);
	int64_t start = nsx_field_int(rec, NSX_ROLE_START, 0), dur = nsx_field_int(rec, NSX_ROLE_DUR, 0),
	    end = nsx_add_sat(start, dur, NULL);
	uint64_t ticket;

	++*(thunk ? &o->thunks : &o->ops);
	o->comm += comm;
	if (comm && dur <= 0)
		return nsx_defer_set(o->through, 0, &ticket);
	if (dur <= 0 || (!comm && !computes(rec)))
		return NSX_OK;
	uint32_t of = union_of(o, rec);
	if (of == NSX_NONE)
		return nsx_err_nomem(o->err, NULL);
	if (!comm) {
		nsx_union_add(&o->unions.p[of + !thunk], start, end);
		return NSX_OK;
	}
	if (nsx_defer_set(o->through, NSX_ABSENT, &ticket) != NSX_OK)
		return NSX_ERR;
	struct open_comm c = { end, { nsx_union_before(&o->unions.p[of], start),
	                         nsx_union_before(&o->unions.p[of + 1], start) }, ticket, of };
	return open_push(o, c) ? NSX_OK : nsx_err_nomem(o->err, NULL);
}

/* ---- records in and out ---- */

static int
take(struct nsx_overlap *o, struct nsx_rec *rec)
{
	int64_t time;

	if (nsx_is_diag_of(rec, "nsysx-overlap"))
		return NSX_OK;
	if (o->heap.n && nsx_rec_section(rec) == NSX_SECTION_WORK && nsx_order_time(rec, &time))
		answer_until(o, time);
	else if (o->heap.n && nsx_rec_section(rec) == NSX_SECTION_SKEW)
		answer_until(o, INT64_MAX);
	if (nsx_cat_take(&o->cat, rec, o->err) != NSX_OK
	    || ((rec->kind->id == NSX_THUNK || rec->kind->id == NSX_OP) && take_work(o, rec) != NSX_OK))
		return NSX_ERR;
	return nsx_defer_on(o->through, rec);
}

/* A pass that sets `hidden`: of all thunks, of operations that communicate. */
static struct nsx_defer *
open_pass(struct nsx_reader *in, struct nsx_writer *out, size_t hold_bytes, struct nsx_err *err)
{
	static const uint64_t work = NSX_R(DEVICE) | NSX_R(START) | NSX_R(DUR) | NSX_CAT_COMM_ROLES;
	static const struct nsx_defer_column hidden[] = {
		{ NSX_THUNK, NSX_THUNK_hidden, 0 }, { NSX_OP, NSX_OP_hidden, NSX_ABSENT }
	};
	uint64_t look[NSX_NKINDS + 1] = { [NSX_DIAG] = NSX_C(DIAG, source) };

	for (enum nsx_kind_id k = 0; k < NSX_NKINDS; k++)
		if (nsx_section_of(k) == NSX_SECTION_METADATA)
			look[k] = NSX_EVERY;
	look[NSX_THUNK] = nsx_field_slots(NSX_THUNK, work) | NSX_C(THUNK, copy);
	look[NSX_OP] = nsx_field_slots(NSX_OP, work) | NSX_C(OP, type);
	return nsx_defer_new(in, out, hidden, sizeof hidden / sizeof *hidden, look, hold_bytes, err);
}

static void
free_all(void *at)
{
	struct nsx_overlap *o = at;

	if (!o)
		return;
	nsx_defer_free(o->through);
	nsx_cat_free(&o->cat);
	free(o->unions.p);
	free(o->heap.p);
	free(o);
}

struct nsx_overlap *
nsx_overlap_begin(struct nsx_reader *in, struct nsx_writer *out, size_t hold_bytes, struct nsx_err *err)
{
	struct nsx_overlap *o = calloc(1, sizeof *o);

	if (!o) {
		nsx_err_nomem(err, NULL);
		return NULL;
	}
	o->err = err;
	o->through = open_pass(in, out, hold_bytes, err);
	if (o->through)
		return o;
	free_all(o);
	return NULL;
}

static int
step(void *at)
{
	struct nsx_overlap *o = at;
	struct nsx_rec rec;
	int rc = nsx_defer_read(o->through, &rec);

	return rc == NSX_OK ? take(o, &rec) : rc;
}

static int
end(void *at, struct nsx_diags *diags)
{
	struct nsx_overlap *o = at;
	answer_until(o, INT64_MAX);
	if (nsx_defer_end(o->through) != NSX_OK)
		return NSX_ERR;
	if (!o->thunks && !o->ops)
		nsx_diag_add(diags, NSX_INFO, "", 1, "no thunks");
	else if (o->comm == 0)
		nsx_diag_add(diags, NSX_INFO, "", 1, o->thunks ? "no communication: hidden is 0 throughout"
		             : "no communication");
	nsx_cat_comm_diags(&o->cat, "", diags);
	return NSX_OK;
}

const struct nsx_stepping nsx_overlap_stepping = { step, end, free_all };

int
nsx_overlap(struct nsx_reader *in, struct nsx_writer *out, size_t hold_bytes, struct nsx_diags *diags,
            struct nsx_err *err)
{
	return nsx_step_all(&nsx_overlap_stepping, nsx_overlap_begin(in, out, hold_bytes, err), diags);
}
