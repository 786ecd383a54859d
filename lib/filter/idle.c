/* idle.c -- see idle.h. */
#include "filter/idle.h"

#include <stdlib.h>

#include "base/sort.h"
#include "job/idle/idle.h"
#include "stream/interleave.h"
#include "stream/order.h"
#include "stream/spool.h"

/* A piece of idle time; numbers are NSX_ABSENT where they are not known. */
struct piece {
	int64_t  start, end, blocked, profile, op, call, tid, range;
	uint32_t path, leaf;    /* a node, at last a number of texts; a frame, NSX_NONE: none */
	uint32_t device;        /* in the catalogue */
	uint8_t  cause;
	bool     drained, doubtful;
};

struct marks {
	struct nsx_idle_finder finder;
	struct nsx_catalogue   cat;
	struct nsx_stacks      paths;
	NSX_VEC(struct piece)  pieces;
	struct nsx_intern      texts;     /* of paths */
	struct nsx_spool      *spool;     /* NULL if the input is read again */
};

/* Keep the pieces of a gap. */
static int
add(void *state, const struct nsx_stretch *s)
{
	struct marks *m = state;

	/* Removed time has no next operation. */
	for (size_t i = 0; s->next && i < s->n; i++) {
		const struct nsx_idle_piece *x = &s->pieces[i];
		bool host = nsx_causes[x->cause].group == NSX_CAUSES_STARVED && m->finder.calls;
		int64_t to = s->blocked_to < x->end ? s->blocked_to : x->end;
		struct piece p = { x->start, x->end, to > x->start ? to - x->start : 0, s->next->profile, s->next->op,
		                   host ? x->call : s->next->call, s->next->tid, host ? x->range : s->next->range,
		                   x->path, x->leaf, s->device, (uint8_t)x->cause, s->drained, s->doubtful };

		if (!nsx_vec_push(&m->pieces, p))
			return nsx_err_nomem(m->finder.err, NULL);
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
make(const struct marks *m, const struct piece *p, struct nsx_rec *rec)
{
	set(rec, NSX_IDLE_profile, p->profile);
	set(rec, NSX_IDLE_device, m->cat.devices.p[p->device].number);
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
	if (p->drained)
		nsx_set_i(rec, NSX_IDLE_blocked, p->blocked);
	/* Who reads stacks from marks takes the causes to be those of the usual latency. */
	if (m->finder.latency != NSX_IDLE_LATENCY)
		return;
	nsx_set_s(rec, NSX_IDLE_path, nsx_intern_str(&m->texts, p->path));
	if (p->leaf != NSX_NONE)
		nsx_set_s(rec, NSX_IDLE_leaf, nsx_intern_str(&m->paths.frames, p->leaf));
}

/* Paths as texts, each once. */
static int
write_paths(struct marks *m)
{
	struct nsx_buf text = { 0 };
	NSX_VEC(uint32_t) of = { 0 };   /* by node */
	uint32_t none = NSX_NONE;
	bool good = true;

	for (size_t i = 0; i < m->pieces.n && good; i++) {
		struct piece *p = &m->pieces.p[i];

		good = nsx_vec_reach(&of, p->path, &none);
		if (good && of.p[p->path] == NSX_NONE) {
			text.len = 0;
			nsx_idle_put_path(&m->paths, p->path, &text);
			of.p[p->path] = text.failed ? NSX_NONE : nsx_intern(&m->texts, nsx_buf_view(&text));
		}
		good = good && of.p[p->path] != NSX_NONE;
		if (good)
			p->path = of.p[p->path];
	}
	nsx_buf_free(&text);
	free(of.p);
	return good ? NSX_OK : nsx_err_nomem(m->finder.err, NULL);
}

static void
fill(void *state, size_t i, struct nsx_rec *rec)
{
	const struct marks *m = state;

	make(m, &m->pieces.p[i], rec);
}

static int
by_order(const void *a, const void *b, const void *marks)
{
	const struct piece *p = a, *q = b;
	union nsx_val v[2][NSX_MAX_COLS];
	struct nsx_rec x = { nsx_kind_builtin(NSX_IDLE), 0, v[0] }, y = { nsx_kind_builtin(NSX_IDLE), 0, v[1] };

	if (p->start != q->start)
		return p->start < q->start ? -1 : 1;
	make(marks, p, &x);
	make(marks, q, &y);
	return nsx_order_cmp(&x, &y);
}

static void
start_of(const void *piece, const void *none, int64_t key[3])
{
	(void)none;
	key[0] = ((const struct piece *)piece)->start;
}

/* Into the order of the stream: by start, of which few are equal. False when out of memory. */
static bool
sort(struct marks *m)
{
	struct piece *p = m->pieces.p;

	if (!nsx_sort_by(p, m->pieces.n, sizeof *p, start_of, NULL))
		return false;
	for (size_t i = 0, to; i < m->pieces.n; i = to) {
		for (to = i + 1; to < m->pieces.n && p[to].start == p[i].start; to++)
			;
		if (to - i > 1)
			nsx_sort_with(p + i, to - i, sizeof *p, by_order, m);
	}
	return true;
}

static int
take(void *state, const struct nsx_rec *rec)
{
	struct marks *m = state;

	if (nsx_idle_finder_take(&m->finder, rec) != NSX_OK)
		return NSX_ERR;
	return m->spool ? nsx_spool_write(m->spool, rec) : NSX_OK;
}

/* Read all of `in`. */
static int
find(struct marks *m, struct nsx_reader *in, struct nsx_spool *spool, const char *require, struct nsx_diags *diags)
{
	m->spool = nsx_spool_keeps(spool) ? spool : NULL;
	for (enum nsx_kind_id k = 0; m->spool && k <= NSX_NKINDS; k++)
		nsx_reader_need(in, k, NSX_EVERY);
	if (m->spool)
		nsx_spool_follow(spool, in);
	nsx_cat_need(&m->cat, in);
	nsx_idle_finder_need(&m->finder, in);
	nsx_idle_finder_begin(&m->finder);
	if (nsx_read_all(in, require, take, m, m->finder.err) != NSX_OK || nsx_idle_finder_finish(&m->finder) != NSX_OK
	    || nsx_idle_finder_report(&m->finder, diags) != NSX_OK || write_paths(m) != NSX_OK)
		return NSX_ERR;
	return sort(m) ? NSX_OK : nsx_err_nomem(m->finder.err, NULL);
}

int
nsx_idle_mark(struct nsx_reader *in, int64_t latency, const char *require, struct nsx_writer *out,
              struct nsx_diags *diags, struct nsx_err *err)
{
	struct marks m = { .finder = { .err = err, .add = add, .frames = true, .ids = true, .latency = latency } };
	struct nsx_spool *spool = nsx_spool_open_all(in, err);
	struct nsx_reader *again = NULL;
	int rc = NSX_ERR;

	m.finder.cat = &m.cat;
	m.finder.paths = &m.paths;
	m.finder.state = &m;
	if (spool)
		rc = find(&m, in, spool, require, diags);
	struct nsx_interleave more = { NSX_IDLE, m.pieces.n, fill, NULL, &m };
	if (rc == NSX_OK)
		rc = (again = nsx_spool_reader(spool)) ? nsx_interleave(again, out, &more, err) : NSX_ERR;
	nsx_reader_close(again);
	nsx_spool_free(spool);
	nsx_idle_finder_free(&m.finder);
	nsx_cat_free(&m.cat);
	nsx_stacks_free(&m.paths);
	nsx_intern_free(&m.texts);
	free(m.pieces.p);
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}
