/* marks.c -- gaps whose pieces are in the stream already, as records of kind `idle`: they are only read back. The
 * record of a piece comes at its start, so before the operation that ends the gap.
 *
 *   operation until 10   idle [10,12) sync   idle [12,30) host   operation at 30
 *   ->  the gap [10,30), whose pieces must fill it */
#include "base/num.h"
#include "job/idle/own.h"
#include "job/reach.h"
#include "stream/spool.h"

void
nsx_idle_mark_need(const struct nsx_idle_finder *f, struct nsx_reader *in)
{
	nsx_reader_need(in, NSX_IDLE, NSX_C(IDLE, device) | NSX_C(IDLE, start) | NSX_C(IDLE, dur) | NSX_C(IDLE, cause)
	                              | NSX_C(IDLE, drained) | NSX_C(IDLE, doubtful) | NSX_C(IDLE, blocked)
	                              | (f->frames ? NSX_C(IDLE, call) | NSX_C(IDLE, path) | NSX_C(IDLE, leaf) : 0));
}

static const struct nsx_str no_path = { "-", 1 };

bool
nsx_idle_put_chain(const struct nsx_stacks *paths, uint32_t path, void (*put)(struct nsx_buf *to, struct nsx_str frame),
                   struct nsx_buf *to)
{
	uint32_t chain[NSX_IDLE_FRAMES];
	size_t skipped, n = nsx_stacks_chain(paths, path, chain, NSX_IDLE_FRAMES, &skipped), all = n;

	if (skipped)
		nsx_buf_c(to, "...;");
	while (n) {
		put(to, nsx_intern_str(&paths->frames, chain[--n]));
		if (n)
			nsx_buf_char(to, ';');
	}
	return all > 0;
}

void
nsx_idle_put_path(const struct nsx_stacks *paths, uint32_t path, struct nsx_buf *to)
{
	if (!nsx_idle_put_chain(paths, path, nsx_buf_str, to))
		nsx_buf_str(to, no_path);
}

/* The number of a path's text, which has a node. False when out of memory. */
static bool
find_path(struct nsx_idle_finder *f, struct nsx_str text, uint32_t *number)
{
	uint32_t at = *number = nsx_intern_recall(&f->mark_paths, f->recall, text);

	if (at == NSX_NONE)
		return false;
	if (at == f->mark_nodes.n) {
		uint32_t node = nsx_str_eq(text, no_path) ? f->host_paths.root
		                : nsx_stacks_path(f->paths, f->host_paths.root, text, ';');

		if (node == NSX_NONE || !nsx_vec_push(&f->mark_nodes, node))
			return false;
	}
	return true;
}

/* What a mark says: a cause, the number of its path's text, NSX_NONE if it has none, and a leaf. */
struct saying { enum nsx_cause cause; uint32_t path, leaf; };

static struct saying
saying_of(const struct nsx_idle_finder *f, uint32_t told)
{
	struct nsx_key key = f->told.keys.p[told].key;

	return (struct saying){ (enum nsx_cause)(key.a >> 32), (uint32_t)key.a, (uint32_t)key.b };
}

/* Whether a mark says that, by its texts. */
static bool
says(const struct nsx_idle_finder *f, const struct saying *s, const struct nsx_rec *rec)
{
	struct nsx_str none = { "", 0 }, path = s->path == NSX_NONE ? none : nsx_intern_str(&f->mark_paths, s->path);
	struct nsx_str leaf = s->leaf == NSX_NONE ? none : nsx_intern_str(&f->paths->frames, s->leaf);

	return s->cause < NSX_NCAUSES && nsx_has(rec, NSX_IDLE_path) == (s->path != NSX_NONE)
	       && nsx_str_eq(nsx_string(rec, NSX_IDLE_path), path) && nsx_str_eq(nsx_string(rec, NSX_IDLE_leaf), leaf)
	       && nsx_str_eq(nsx_string(rec, NSX_IDLE_cause), nsx_str_c(nsx_cause_name(s->cause)));
}

/* What it says, which is most often what followed the mark before it the last time. False when out of memory. */
static bool
find_saying(struct nsx_idle_finder *f, struct nsx_idle_device *d, const struct nsx_rec *rec, struct saying *s)
{
	uint32_t next = nsx_series_next(&f->told, d->told);

	if (next != NSX_NONE) {
		*s = saying_of(f, next);
		if (says(f, s, rec)) {
			d->told = next;
			return true;
		}
	}
	*s = (struct saying){ nsx_cause_named(nsx_string(rec, NSX_IDLE_cause)), NSX_NONE, NSX_NONE };
	return (!nsx_has(rec, NSX_IDLE_path) || find_path(f, nsx_string(rec, NSX_IDLE_path), &s->path))
	       && nsx_idle_frame(f, nsx_string(rec, NSX_IDLE_leaf), &s->leaf)
	       && nsx_series_number(&f->told, &d->told, (struct nsx_key){ (uint64_t)s->cause << 32 | s->path, s->leaf })
	          != NSX_NONE;
}

void
nsx_idle_count_need(const struct nsx_idle_finder *f, struct nsx_reader *in)
{
	nsx_reader_need(in, NSX_OVERHEAD, NSX_EVERY);
	nsx_reader_need(in, NSX_DIAG, NSX_EVERY);
	if (f->uncounted)
		return;
	nsx_reader_need(in, NSX_CALL, nsx_field_slots(NSX_CALL, NSX_REACH_ROLES));
	nsx_reader_need(in, NSX_RANGE, nsx_field_slots(NSX_RANGE, NSX_REACH_ROLES));
}

void
nsx_idle_count_host(struct nsx_idle_finder *f, const struct nsx_rec *rec)
{
	f->calls += rec->kind->id == NSX_CALL;
	f->host_only += rec->kind->id == NSX_RANGE && !nsx_has(rec, NSX_RANGE_start);
	f->threadless += rec->kind->id == NSX_OVERHEAD && nsx_has(rec, NSX_OVERHEAD_class)
	                 && !nsx_has(rec, NSX_OVERHEAD_tid);
}

void
nsx_idle_take_told(struct nsx_idle_finder *f, const struct nsx_rec *diag)
{
	struct nsx_str text = nsx_string(diag, NSX_DIAG_text);
	int64_t count = nsx_int(diag, NSX_DIAG_count, 1);

	if (!nsx_str_eq(nsx_string(diag, NSX_DIAG_source), NSX_STR("nsysx-idle")))
		return;
	/* Marks that were made again have it again. */
	if (nsx_str_eq(text, NSX_STR(NSX_IDLE_CROWDED)))
		f->told_crowded = nsx_max(f->told_crowded, count);
	if (nsx_str_eq(text, NSX_STR(NSX_IDLE_STALE)))
		f->told_stale = nsx_max(f->told_stale, count);
}

int
nsx_idle_take_mark(struct nsx_idle_finder *f, struct nsx_idle_device *d, const struct nsx_rec *rec)
{
	int64_t start = nsx_int(rec, NSX_IDLE_start, NSX_ABSENT), dur = nsx_int(rec, NSX_IDLE_dur, 0);
	bool drained = nsx_int(rec, NSX_IDLE_drained, 0) == 1;
	/* Marks of earlier versions do not say how much is blocked, or have no path. */
	struct nsx_idle_mark m = {
		.piece = { start, nsx_add_sat(start, dur, NULL), NSX_ABSENT, NSX_ABSENT,
		           f->host_paths.root, NSX_NONE, NSX_CAUSE_BEFORE },
		.blocked = nsx_int(rec, NSX_IDLE_blocked, drained ? NSX_ABSENT : 0), .drained = drained,
		.doubtful = nsx_int(rec, NSX_IDLE_doubtful, 0) == 1
	};

	if (f->frames) {
		struct saying s;

		if (!find_saying(f, d, rec, &s))
			return nsx_err_nomem(f->err, NULL);
		m.piece.call = nsx_int(rec, NSX_IDLE_call, NSX_ABSENT);
		m.piece.path = s.path == NSX_NONE ? s.path : f->mark_nodes.p[s.path];
		m.piece.leaf = s.leaf;
		m.piece.cause = s.cause;
	} else {
		m.piece.cause = nsx_cause_named(nsx_string(rec, NSX_IDLE_cause));
	}
	return nsx_vec_push(&d->marks, m) ? NSX_OK : nsx_err_nomem(f->err, NULL);
}

/* Remove the first n. */
static void
drop(struct nsx_idle_device *d, size_t n)
{
	for (size_t i = n; i < d->marks.n; i++)
		d->marks.p[i - n] = d->marks.p[i];
	d->marks.n -= n;
}

void
nsx_idle_forget_marks(struct nsx_idle_device *d, int64_t at)
{
	size_t n = 0;

	while (n < d->marks.n && d->marks.p[n].piece.start < at)
		n++;
	drop(d, n);
}

/* The first n marks fill the gap, and say all. */
static bool
fills(const struct nsx_idle_device *d, const struct nsx_stretch *s, size_t n)
{
	int64_t at = s->start;

	for (size_t i = 0; i < n; i++) {
		const struct nsx_idle_piece *p = &d->marks.p[i].piece;

		if (p->cause >= NSX_NCAUSES || p->start != at || p->end <= at || d->marks.p[i].blocked < 0
		    || p->path == NSX_NONE)
			return false;
		at = p->end;
	}
	return at == s->end;
}

/* Add the piece of a mark; marks end where a range does, pieces without ids only where what is told of them changes. */
static bool
add_piece(struct nsx_idle_finder *f, const struct nsx_idle_piece *p)
{
	struct nsx_idle_piece *last = f->pieces.n ? &f->pieces.p[f->pieces.n - 1] : NULL;

	if (!last || last->cause != p->cause || last->path != p->path || last->leaf != p->leaf
	    || last->call != p->call)
		return nsx_vec_push(&f->pieces, *p);
	last->end = p->end;
	return true;
}

int
nsx_idle_recall(struct nsx_idle_finder *f, struct nsx_idle_device *d, struct nsx_stretch *s)
{
	bool cut = f->cut && f->cut(f->state, s->device, s->start, s->end);
	size_t n = 0;

	while (n < d->marks.n && d->marks.p[n].piece.start < s->end)
		n++;
	if (!cut && !fills(d, s, n)) {
		f->misfit = true;
		return nsx_err_set(f->err, "the idle records do not fit the operations: make them again with "
		                   "nsysx-idle --mark");
	}
	f->pieces.n = 0;
	s->blocked_to = s->start;
	for (size_t i = 0; i < n && !cut; i++) {
		const struct nsx_idle_mark *m = &d->marks.p[i];

		if (!add_piece(f, &m->piece))
			return nsx_err_nomem(f->err, NULL);
		s->drained |= m->drained;
		s->doubtful |= m->doubtful;
		s->blocked_to += m->blocked;
	}
	drop(d, n);
	if (cut && s->start < s->end && !nsx_vec_push(&f->pieces, ((struct nsx_idle_piece){ s->start, s->end,
	    NSX_ABSENT, NSX_ABSENT, f->host_paths.root, NSX_NONE, NSX_CAUSE_AFTER })))
		return nsx_err_nomem(f->err, NULL);
	s->pieces = f->pieces.p;
	s->n = f->pieces.n;
	if (s->n && !cut && nsx_causes[s->pieces->cause].group != NSX_CAUSES_GRAPH
	    && nsx_causes[s->pieces->cause].group != NSX_CAUSES_NO_CALL) {
		f->short_calls += s->doubtful;
		f->late_calls += s->next->host_start >= s->end;
	}
	return NSX_OK;
}

/* Operations among which a gap is expected: so many, or so many for each device, whose first ones come before any
 * gap. */
enum { ENOUGH = 10000, ENOUGH_EACH = 32 };

static int
is_gap(void *found, const struct nsx_stretch *s)
{
	*(bool *)found = s->part == NSX_PART_IDLE && s->next;
	return *(bool *)found ? NSX_ERR : NSX_OK;   /* the first is enough */
}

bool
nsx_idle_is_marked(const struct nsx_reader *in, bool frames)
{
	struct nsx_err err = { "" };   /* of what is read again when it matters */
	struct nsx_catalogue cat = { .keep = 0 };
	struct nsx_stacks paths = { .total = 0 };
	bool found = false;
	struct nsx_idle_finder f = { .err = &err, .cat = &cat, .paths = &paths, .add = is_gap, .state = &found,
	                             .frames = frames, .marked = true };
	struct nsx_spool *spool = nsx_spool_again(in) ? nsx_spool_open_all(in, &err) : NULL;
	struct nsx_reader *again = spool ? nsx_spool_reader(spool) : NULL;
	struct nsx_rec rec;

	if (again) {
		nsx_cat_need(&cat, again);
		nsx_idle_finder_need(&f, again);
		nsx_idle_finder_begin(&f);
		for (size_t n = 0; (n < ENOUGH || n < ENOUGH_EACH * cat.devices.n) && nsx_read(again, &rec) == NSX_OK
		     && nsx_idle_finder_take(&f, &rec) == NSX_OK;)
			n += rec.kind->id == NSX_OP;
	}
	nsx_reader_close(again);
	nsx_spool_free(spool);
	nsx_idle_finder_free(&f);
	nsx_cat_free(&cat);
	nsx_stacks_free(&paths);
	return found;
}
