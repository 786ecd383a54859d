/* queue.c -- sorts records of several clocks into the order of a stream, by their corrected starts.
 *
 * Records are collected in memory and sorted when it is full; those before which no later record can come are written.
 * If the rest grows beyond the limit it is written, sorted, to a temporary file: a run. Runs are merged with the
 * records in memory when their time comes. */
#include <stdlib.h>
#include <string.h>

#include "filter/align/aligning.h"
#include "stream/order.h"
#include "stream/pack.h"
#include "stream/spool.h"

enum { LEAST_BYTES = 1 << 18 };

/* The first part of the sort key; the rest is in the record. */
struct queue_key { struct nsx_order_key key; size_t at; };

/* A sorted temporary file and its current record; reader is NULL after the last. */
struct queue_run { struct nsx_spool *spool; struct nsx_reader *reader; struct nsx_rec rec; struct queue_key head; };

struct al_queue {
	struct nsx_err    *err;
	struct nsx_writer *out;
	size_t             limit, full;     /* bytes: maximum that may remain, and amount at which to sort */
	struct nsx_buf     mem, spare;
	NSX_VEC(struct queue_key) entries;
	NSX_VEC(struct queue_key) room;     /* for sorting */
	size_t             sorted;          /* number of entries that are sorted, from the first */
	NSX_VEC(struct queue_run) runs;     /* oldest first */
	union nsx_val      v[NSX_MAX_COLS], w[NSX_MAX_COLS];
};

struct al_queue *
nsx_align_queue_new(size_t limit, struct nsx_writer *out, struct nsx_err *err)
{
	struct al_queue *q = calloc(1, sizeof *q);

	if (!q) {
		nsx_err_nomem(err, NULL);
		return NULL;
	}
	q->err = err;
	q->out = out;
	q->limit = limit;
	q->full = limit < LEAST_BYTES ? limit : LEAST_BYTES;
	return q;
}

static void
run_close(struct queue_run *r)
{
	nsx_reader_close(r->reader);
	nsx_spool_free(r->spool);
	*r = (struct queue_run){ 0 };
}

void
nsx_align_queue_free(struct al_queue *q)
{
	if (!q)
		return;
	for (size_t i = 0; i < q->runs.n; i++)
		run_close(&q->runs.p[i]);
	free(q->runs.p);
	free(q->entries.p);
	free(q->room.p);
	nsx_buf_free(&q->mem);
	nsx_buf_free(&q->spare);
	free(q);
}

/* ---- the order ---- */

static struct queue_key
entry_of(const struct nsx_rec *rec, size_t where)
{
	struct queue_key e = { .at = where };

	nsx_order_key(rec, &e.key);
	return e;
}

static int
compare(struct al_queue *q, const struct queue_key *a, const struct queue_key *b)
{
	int c = nsx_order_key_cmp(&a->key, &b->key);
	struct nsx_rec x, y;

	if (c)
		return c;
	nsx_unpack(q->mem.ptr + a->at, &x, q->v);
	nsx_unpack(q->mem.ptr + b->at, &y, q->w);
	return nsx_order_cmp_tied(&x, &y);
}

/* Merge the sorted e[0, m) and e[m, n); of equal ones the first stay first. */
static void
merge(struct al_queue *q, struct queue_key *e, size_t m, size_t n)
{
	struct queue_key *room = q->room.p;
	size_t a = 0, b = m;

	/* Entries before all of the second part stay in place. */
	while (a < m && b < n && compare(q, &e[a], &e[b]) <= 0)
		a++;
	if (a == m || b == n)
		return;
	size_t left = m - a, to = a;
	memcpy(room, e + a, left * sizeof *e);
	for (a = 0; a < left && b < n;)
		e[to++] = compare(q, &room[a], &e[b]) <= 0 ? room[a++] : e[b++];
	memcpy(e + to, room + a, (left - a) * sizeof *e);
}

static void
sort(struct al_queue *q, struct queue_key *e, size_t n)
{
	if (n < 2)
		return;
	if (n <= 8) {
		for (size_t i = 1; i < n; i++) {
			struct queue_key x = e[i];
			size_t k = i;
			for (; k > 0 && compare(q, &e[k - 1], &x) > 0; k--)
				e[k] = e[k - 1];
			e[k] = x;
		}
		return;
	}
	sort(q, e, n / 2);
	sort(q, e + n / 2, n - n / 2);
	merge(q, e, n / 2, n);
}

static int
sort_all(struct al_queue *q)
{
	size_t n = q->entries.n;

	q->room.n = 0;
	if (!nsx_vec_room(&q->room, n))
		return nsx_err_nomem(q->err, NULL);
	sort(q, q->entries.p + q->sorted, n - q->sorted);
	merge(q, q->entries.p, q->sorted, n);
	q->sorted = n;
	return NSX_OK;
}

/* ---- in ---- */

int
nsx_align_queue_add(struct al_queue *q, const struct nsx_rec *rec, bool *full)
{
	if (!nsx_vec_push(&q->entries, entry_of(rec, q->mem.len)))
		return nsx_err_nomem(q->err, NULL);
	nsx_pack(&q->mem, rec);
	*full = q->mem.len + q->entries.n * sizeof *q->entries.p > q->full;
	return q->mem.failed ? nsx_err_nomem(q->err, NULL) : NSX_OK;
}

/* ---- out ---- */

/* Read the next record of the run. */
static int
run_next(struct queue_run *r)
{
	int rc = nsx_read(r->reader, &r->rec);

	if (rc == NSX_OK)
		r->head = entry_of(&r->rec, 0);
	else if (rc == NSX_EOF)
		run_close(r);
	return rc == NSX_ERR ? NSX_ERR : NSX_OK;
}

/* The run whose record comes first; NULL if none has one. Of equal ones the oldest. */
static struct queue_run *
first_run(struct al_queue *q)
{
	struct queue_run *first = NULL;

	for (size_t i = 0; i < q->runs.n; i++) {
		struct queue_run *r = &q->runs.p[i];
		int c = first && r->reader ? nsx_order_key_cmp(&r->head.key, &first->head.key) : -1;

		if (r->reader && (c < 0 || (c == 0 && nsx_order_cmp_tied(&r->rec, &first->rec) < 0)))
			first = r;
	}
	return first;
}

/* Write run r's records up to and including those that are not after entry e (NULL: all before bound). */
static int
write_runs(struct al_queue *q, const struct queue_key *e, int64_t bound)
{
	struct nsx_rec rec;

	for (;;) {
		struct queue_run *r = first_run(q);
		if (!r || (r->head.key.first >= bound && bound != INT64_MAX))
			return NSX_OK;
		int c = e ? nsx_order_key_cmp(&r->head.key, &e->key) : -1;
		if (c == 0) {
			nsx_unpack(q->mem.ptr + e->at, &rec, q->v);
			c = nsx_order_cmp_tied(&r->rec, &rec);
		}
		if (c > 0)
			return NSX_OK;
		if (nsx_write(q->out, &r->rec) != NSX_OK || run_next(r) != NSX_OK)
			return NSX_ERR;
	}
}

/* Write the records in memory, from entry `first` on, to a run. */
static int
spill(struct al_queue *q, size_t first)
{
	struct queue_run r = { .spool = nsx_spool_open(q->err) };
	struct nsx_rec rec;
	int rc = r.spool ? NSX_OK : NSX_ERR;

	for (size_t i = first; i < q->entries.n && rc == NSX_OK; i++) {
		nsx_unpack(q->mem.ptr + q->entries.p[i].at, &rec, q->v);
		rc = nsx_spool_write(r.spool, &rec);
	}
	if (rc == NSX_OK) {
		r.reader = nsx_spool_reader(r.spool);
		rc = r.reader ? run_next(&r) : NSX_ERR;
	}
	if (rc == NSX_OK && !nsx_vec_push(&q->runs, r))
		rc = nsx_err_nomem(q->err, NULL);
	if (rc != NSX_OK)
		run_close(&r);
	q->entries.n = q->sorted = 0;
	q->mem.len = 0;
	return rc;
}

/* Remove entries before `first`: move the rest together. */
static int
compact(struct al_queue *q, size_t first)
{
	size_t n = q->entries.n - first;
	struct nsx_rec rec;

	q->spare.len = 0;
	for (size_t i = 0; i < n; i++) {
		struct queue_key e = q->entries.p[first + i];
		const char *from = q->mem.ptr + e.at, *end = nsx_unpack(from, &rec, q->v);

		e.at = q->spare.len;
		nsx_buf_add(&q->spare, from, (size_t)(end - from));
		q->entries.p[i] = e;
	}
	struct nsx_buf swap = q->mem;
	q->mem = q->spare;
	q->spare = swap;
	q->entries.n = q->sorted = n;
	return q->mem.failed ? nsx_err_nomem(q->err, NULL) : NSX_OK;
}

static void
drop_ended_runs(struct al_queue *q)
{
	size_t n = 0;

	for (size_t i = 0; i < q->runs.n; i++)
		if (q->runs.p[i].reader)
			q->runs.p[n++] = q->runs.p[i];
	q->runs.n = n;
}

int
nsx_align_queue_release(struct al_queue *q, int64_t bound)
{
	struct nsx_rec rec;
	size_t i = 0;

	if (sort_all(q) != NSX_OK)
		return NSX_ERR;
	for (; i < q->entries.n && (q->entries.p[i].key.first < bound || bound == INT64_MAX); i++) {
		if (q->runs.n && write_runs(q, &q->entries.p[i], bound) != NSX_OK)
			return NSX_ERR;
		nsx_unpack(q->mem.ptr + q->entries.p[i].at, &rec, q->v);
		if (nsx_write(q->out, &rec) != NSX_OK)
			return NSX_ERR;
	}
	if (q->runs.n && write_runs(q, NULL, bound) != NSX_OK)
		return NSX_ERR;
	drop_ended_runs(q);
	if (compact(q, i) != NSX_OK)
		return NSX_ERR;
	size_t left = q->mem.len + q->entries.n * sizeof *q->entries.p;
	if (left > q->limit / 2 && spill(q, 0) != NSX_OK)
		return NSX_ERR;
	/* Sorting and moving the rest costs no more than the new records did. */
	left = q->mem.len + q->entries.n * sizeof *q->entries.p;
	q->full = left * 2 < LEAST_BYTES ? LEAST_BYTES : left * 2;
	if (q->full > q->limit)
		q->full = q->limit;
	return NSX_OK;
}

int
nsx_align_queue_flush(struct al_queue *q)
{
	return nsx_align_queue_release(q, INT64_MAX);
}
