/* overlap.c -- the time of each communication that is hidden behind computation, in one pass.
 *
 * Let c(t) be the time before t in which a device computed. The hidden time of a communication thunk is
 * c(end) - c(start):
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
 * Thunks are ordered by start, so when the stream has reached t, everything that began before t is known: c(t) is the
 * length of the union of all computing intervals so far, less the part beyond t. Only the last piece of the union can
 * reach beyond t. Operations are compared with a separate union, of kernels and whole graphs, so that work that is
 * recorded both as a thunk and as its operations hides communication once. */
#include "filter/overlap.h"

#include <stdlib.h>
#include <string.h>

#include "stream/spill.h"
#include "job/diags_of.h"
#include "base/heap.h"
#include "base/num.h"
#include "base/vec.h"
#include "job/catalogue.h"
#include "stream/fields.h"
#include "stream/order.h"

/* The union of a device's computing intervals so far: of thunks, or of operations. */
struct computing {
	uint64_t length;   /* modulo 2^64: only differences count, and those fit */
	int64_t  end;      /* of its last piece */
	bool     any;
};

/* A communication thunk or operation that has not ended. */
struct open { int64_t end; uint64_t before, answer; uint32_t of; };   /* before: c(start); of: in overlap.unions */

/* The result for it, in order of the stream. */
struct answer { uint64_t record; int64_t hidden; };   /* hidden: -1 while open */

struct overlap {
	struct nsx_reader *in;
	struct nsx_writer *out;
	struct nsx_err    *err;
	struct nsx_hold   *hold;
	struct nsx_catalogue cat;
	NSX_VEC(struct computing) unions;   /* by device of the catalogue: of its thunks, of its operations */
	NSX_VEC(struct open) heap;       /* the earliest end first */
	NSX_VEC(struct answer) answers;  /* answers.p[0] is number `gone` */
	uint64_t           gone, used, ready;   /* number of the first result that is kept, that is not used, that is
	                                         * unknown */
	uint64_t           read, written;       /* records */
	NSX_VEC(uint64_t) headers;       /* number of the record before which a kind's header comes */
	int                declared;
	uint64_t           thunks, ops, comm;
};

/* Value of `hidden` of a record that waits for its result; no record is written with it. */
#define WAITS (-1)

/* ---- intervals ---- */

/* The union of the record, created if it is new; NSX_NONE when out of memory. */
static uint32_t
union_of(struct overlap *o, const struct nsx_rec *rec)
{
	uint32_t device = nsx_cat_device(&o->cat, rec);

	if (device == NSX_NONE || device >= NSX_NONE / 2)
		return NSX_NONE;
	uint32_t at = 2 * device + (rec->kind->id == NSX_OP);

	while (o->unions.n <= at)
		if (!nsx_vec_push(&o->unions, ((struct computing){ 0 })))
			return NSX_NONE;
	return at;
}

/* c(t), when no interval that began after t is in the union. */
static uint64_t
computed_before(const struct computing *d, int64_t t)
{
	return d->any && d->end > t ? d->length - ((uint64_t)d->end - (uint64_t)t) : d->length;
}

static void
add_interval(struct computing *d, int64_t start, int64_t dur)
{
	int64_t end = nsx_add_sat(start, dur, NULL);

	if (dur <= 0 || (d->any && end <= d->end))
		return;
	if (d->any && d->end > start)
		start = d->end;
	d->length += (uint64_t)end - (uint64_t)start;
	d->end = end;
	d->any = true;
}

/* ---- open communication ---- */

static bool
ends_before(const struct overlap *o, const struct open *a, const struct open *b)
{
	(void)o;
	return a->end < b->end;
}

NSX_HEAP(ends, struct open, const struct overlap *, ends_before)

static bool
open_push(struct overlap *o, struct open c)
{
	if (!nsx_vec_room(&o->heap, 1))
		return false;
	ends_push(o, o->heap.p, o->heap.n++, c);
	return true;
}

/* The stream has reached `now`: compute the results of communication that has ended. */
static void
answer_until(struct overlap *o, int64_t now)
{
	while (o->heap.n && o->heap.p[0].end <= now) {
		struct open c = ends_pop(o, o->heap.p, o->heap.n--);

		o->answers.p[c.answer - o->gone].hidden = (int64_t)(computed_before(&o->unions.p[c.of], c.end) -
			c.before);
	}
	while (o->ready - o->gone < o->answers.n && o->answers.p[o->ready - o->gone].hidden >= 0)
		o->ready++;
}

/* Whether the result of rec, which take_work processed, has to wait. */
static bool
waits(const struct nsx_rec *rec)
{
	return (rec->kind->id == NSX_THUNK && nsx_int(rec, NSX_THUNK_hidden, 0) == WAITS)
	       || (rec->kind->id == NSX_OP && nsx_int(rec, NSX_OP_hidden, 0) == WAITS);
}

/* Whether an operation that does not communicate computes: copies and memsets hide nothing. */
static bool
computes(const struct nsx_rec *op)
{
	struct nsx_str type = nsx_string(op, NSX_OP_type);

	return nsx_str_eq(type, NSX_STR("kernel")) || nsx_str_eq(type, NSX_STR("graph"));
}

/* A thunk or an operation: set its hidden time if that is already known. */
static int
take_work(struct overlap *o, struct nsx_rec *rec)
{
	bool thunk = rec->kind->id == NSX_THUNK, comm = nsx_cat_communicates(&o->cat, rec);
	int64_t start = nsx_field_int(rec, NSX_ROLE_START, 0), dur = nsx_field_int(rec, NSX_ROLE_DUR, 0);
	int hidden = thunk ? NSX_THUNK_hidden : NSX_OP_hidden;

	++*(thunk ? &o->thunks : &o->ops);
	o->comm += comm;
	if (thunk || comm)
		nsx_set_i(rec, hidden, 0);
	else
		nsx_clear(rec, hidden);
	if (dur <= 0 || (!comm && !thunk && !computes(rec)))
		return NSX_OK;
	uint32_t of = union_of(o, rec);
	if (of == NSX_NONE)
		return nsx_err_nomem(o->err, NULL);
	if (!comm) {
		add_interval(&o->unions.p[of], start, dur);
		return NSX_OK;
	}
	struct open c = { nsx_add_sat(start, dur, NULL), computed_before(&o->unions.p[of], start),
	                  o->gone + o->answers.n, of };
	if (!nsx_vec_push(&o->answers, ((struct answer){ o->read, -1 })) || !open_push(o, c))
		return nsx_err_nomem(o->err, NULL);
	nsx_set_i(rec, hidden, WAITS);
	return NSX_OK;
}

/* ---- records in and out ---- */

/* Write the next record, and before it the headers that came before it. */
static int
emit(struct overlap *o, struct nsx_rec *rec)
{
	int n;
	const struct nsx_kind *const *kinds = nsx_reader_kinds(o->in, &n);

	for (; o->declared < n && o->headers.p[o->declared] <= o->written; o->declared++)
		if (nsx_writer_declare(o->out, kinds[o->declared]) != NSX_OK)
			return NSX_ERR;
	if (!rec)
		return NSX_OK;
	if (waits(rec))
		nsx_set_i(rec, nsx_field(rec->kind->id, NSX_ROLE_HIDDEN), o->answers.p[o->used++ - o->gone].hidden);
	o->written++;
	return nsx_write(o->out, rec);
}

/* Write the records that no longer wait. */
static int
release(struct overlap *o)
{
	bool all = o->ready - o->gone == o->answers.n;
	uint64_t until = all ? o->read : o->answers.p[o->ready - o->gone].record;
	struct nsx_rec rec;

	while (o->written < until) {
		int rc = nsx_hold_pop(o->hold, &rec);

		if (rc != NSX_OK)
			return rc == NSX_EOF ? nsx_err_set(o->err, "a temporary file holds too few records") : NSX_ERR;
		if (emit(o, &rec) != NSX_OK)
			return NSX_ERR;
	}
	/* Remove used results once they are more than half. */
	if (2 * (o->used - o->gone) > o->answers.n) {
		o->answers.n -= (size_t)(o->used - o->gone);
		memmove(o->answers.p, o->answers.p + (o->used - o->gone), o->answers.n * sizeof *o->answers.p);
		o->gone = o->used;
	}
	return NSX_OK;
}

/* Remember the headers that came before the next record. */
static int
note_headers(struct overlap *o)
{
	int n;

	nsx_reader_kinds(o->in, &n);
	while (o->headers.n < (size_t)n)
		if (!nsx_vec_push(&o->headers, o->read))
			return nsx_err_nomem(o->err, NULL);
	return NSX_OK;
}

static int
take(struct overlap *o, struct nsx_rec *rec)
{
	int64_t time;

	if (note_headers(o) != NSX_OK)
		return NSX_ERR;
	if (nsx_is_diag_of(rec, "nsysx-overlap"))
		return NSX_OK;
	if (o->heap.n && nsx_rec_section(rec) == NSX_SECTION_WORK && nsx_order_time(rec, &time))
		answer_until(o, time);
	else if (o->heap.n && nsx_rec_section(rec) == NSX_SECTION_SKEW)
		answer_until(o, INT64_MAX);
	if (release(o) != NSX_OK)
		return NSX_ERR;
	if (nsx_cat_take(&o->cat, rec, o->err) != NSX_OK
	    || ((rec->kind->id == NSX_THUNK || rec->kind->id == NSX_OP) && take_work(o, rec) != NSX_OK))
		return NSX_ERR;
	o->read++;
	/* Nothing waits, neither before rec nor with it. */
	if (o->written == o->read - 1 && !waits(rec))
		return emit(o, rec);
	return nsx_hold_push(o->hold, rec);
}

static int
pass(struct overlap *o)
{
	struct nsx_rec rec;
	int rc;

	while ((rc = nsx_read(o->in, &rec)) == NSX_OK)
		if (take(o, &rec) != NSX_OK)
			return NSX_ERR;
	if (rc != NSX_EOF || note_headers(o) != NSX_OK)
		return NSX_ERR;
	answer_until(o, INT64_MAX);
	if (release(o) != NSX_OK)
		return NSX_ERR;
	return emit(o, NULL);
}

int
nsx_overlap(struct nsx_reader *in, struct nsx_writer *out, size_t hold_bytes, struct nsx_diags *diags,
            struct nsx_err *err)
{
	struct overlap o = { .in = in, .out = out, .err = err };
	int rc = NSX_ERR;

	o.hold = nsx_hold_new(hold_bytes, err);
	if (o.hold && nsx_reader_add_column(in, NSX_THUNK, "hidden", 'i') == NSX_OK
	    && nsx_reader_add_column(in, NSX_OP, "hidden", 'i') == NSX_OK)
		rc = pass(&o);
	if (rc == NSX_OK && !o.thunks && !o.ops)
		nsx_diag_add(diags, NSX_INFO, "", 1, "no thunks");
	else if (rc == NSX_OK && o.comm == 0)
		nsx_diag_add(diags, NSX_INFO, "", 1, o.thunks ? "no communication: hidden is 0 throughout"
		             : "no communication");
	nsx_cat_comm_diags(&o.cat, "", diags);
	nsx_hold_free(o.hold);
	nsx_cat_free(&o.cat);
	free(o.unions.p);
	free(o.heap.p);
	free(o.answers.p);
	free(o.headers.p);
	return rc;
}
