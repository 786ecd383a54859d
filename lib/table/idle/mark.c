/* mark.c -- idle time as records of the stream, for sums by any column of them. */
#include <stdlib.h>

#include "base/sort.h"
#include "stream/interleave.h"
#include "stream/order.h"
#include "stream/spool.h"
#include "table/idle/idle.h"

/* A piece of idle time; numbers are NSX_ABSENT where they are not known. */
struct piece {
	int64_t  start, end, profile, op, call, tid, range;
	uint32_t device;        /* in the catalogue */
	uint8_t  cause;
	bool     drained, doubtful;
};

struct idle_marks {
	NSX_VEC(struct piece) pieces;
	const struct nsx_catalogue *cat;
};

int
nsx_idle_mark_gap(struct idle *f, const struct nsx_idle_device *d, const struct idle_op *op, bool drained)
{
	for (size_t i = 0; i < f->segments.n; i++) {
		const struct idle_segment *s = &f->segments.p[i];
		struct piece p = { s->start, s->end, NSX_ABSENT, NSX_ABSENT, s->call, NSX_ABSENT, s->range,
		                   d->index, (uint8_t)s->cause, drained, f->doubtful };
		bool host = nsx_causes[s->cause].group == NSX_CAUSES_STARVED && f->calls;

		if (op) {
			p.profile = op->profile;
			p.op = op->op;
			p.tid = op->tid;
			p.call = host ? s->call : op->call;
			p.range = host ? s->range : op->range;
		}
		if (!nsx_vec_push(&f->marks->pieces, p))
			return nsx_err_nomem(f->err, NULL);
	}
	return NSX_OK;
}

static void
set(struct nsx_rec *rec, int slot, int64_t value)
{
	if (value != NSX_ABSENT)
		nsx_set_i(rec, slot, value);
}

static void
make(const struct idle_marks *m, const struct piece *p, struct nsx_rec *rec)
{
	set(rec, NSX_IDLE_profile, p->profile);
	set(rec, NSX_IDLE_device, m->cat->devices.p[p->device].number);
	nsx_set_i(rec, NSX_IDLE_start, p->start);
	nsx_set_i(rec, NSX_IDLE_dur, p->end - p->start);
	nsx_set_s(rec, NSX_IDLE_cause, nsx_str_c(nsx_cause_name((enum nsx_cause)p->cause)));
	nsx_set_i(rec, NSX_IDLE_drained, p->drained);
	set(rec, NSX_IDLE_op, p->op);
	set(rec, NSX_IDLE_call, p->call);
	set(rec, NSX_IDLE_tid, p->tid);
	set(rec, NSX_IDLE_range, p->range);
	if (p->doubtful)
		nsx_set_i(rec, NSX_IDLE_doubtful, 1);
}

static void
fill(void *state, size_t i, struct nsx_rec *rec)
{
	const struct idle_marks *m = state;

	make(m, &m->pieces.p[i], rec);
}

static int
by_order(const void *a, const void *b, const void *marks)
{
	const struct piece *p = a, *q = b;
	union nsx_val v[2][NSX_IDLE_doubtful + 1];
	struct nsx_rec x = { nsx_kind_builtin(NSX_IDLE), 0, v[0] }, y = { nsx_kind_builtin(NSX_IDLE), 0, v[1] };

	if (p->start != q->start)
		return p->start < q->start ? -1 : 1;
	make(marks, p, &x);
	make(marks, q, &y);
	return nsx_order_cmp(&x, &y);
}

struct finding { struct idle *f; struct nsx_spool *spool; };   /* spool: NULL if `in` is read again */

static int
take(void *state, const struct nsx_rec *rec)
{
	struct finding *x = state;

	if (nsx_idle_take(x->f, rec) != NSX_OK)
		return NSX_ERR;
	return x->spool ? nsx_spool_write(x->spool, rec) : NSX_OK;
}

/* Read all of `in`. */
static int
find(struct idle *f, struct nsx_reader *in, struct nsx_spool *spool, const char *require)
{
	bool keeps = nsx_spool_keeps(spool);
	struct finding x = { f, keeps ? spool : NULL };

	for (enum nsx_kind_id k = 0; keeps && k <= NSX_NKINDS; k++)
		nsx_reader_need(in, k, NSX_EVERY);
	if (keeps)
		nsx_spool_follow(spool, in);
	else
		nsx_idle_need(f, in);
	if (nsx_read_all(in, require, take, &x, f->err) != NSX_OK || nsx_idle_finish(f) != NSX_OK
	    || nsx_idle_report(f) != NSX_OK)
		return NSX_ERR;
	nsx_sort_with(f->marks->pieces.p, f->marks->pieces.n, sizeof *f->marks->pieces.p, by_order, f->marks);
	return NSX_OK;
}

int
nsx_idle_write(struct nsx_reader *in, const struct nsx_idle_options *options, struct nsx_writer *out,
               struct nsx_diags *diags, struct nsx_err *err)
{
	struct nsx_idle_options o = { .form = NSX_IDLE_MARK, .latency = options->latency };
	struct idle_marks marks = { .cat = NULL };
	struct idle f = { .options = &o, .diags = diags, .err = err, .marks = &marks };
	struct nsx_spool *spool = nsx_spool_open_all(in, err);
	struct nsx_reader *again = NULL;
	int rc = spool ? nsx_idle_begin(&f) : NSX_ERR;

	marks.cat = &f.cat;
	if (rc == NSX_OK)
		rc = find(&f, in, spool, options->require);
	struct nsx_interleave more = { NSX_IDLE, marks.pieces.n, fill, NULL, &marks };
	if (rc == NSX_OK)
		rc = (again = nsx_spool_reader(spool)) ? nsx_interleave(again, out, &more, err) : NSX_ERR;
	nsx_reader_close(again);
	nsx_spool_free(spool);
	nsx_idle_free(&f);
	free(marks.pieces.p);
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}
