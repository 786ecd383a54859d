/* nccl.c -- see nccl.h. */
#include "job/comm/nccl.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/sort.h"

enum { SHIFT_MAX = 64 };

/* ---- communicators */

/* The index of the communicator in c->list; NSX_NONE when out of memory. */
static uint32_t
comm_at(struct nsx_nccl_comms *c, struct nsx_str id)
{
	uint32_t at = nsx_intern(&c->ids, id);

	if (at == NSX_NONE || (at == c->list.n && !nsx_vec_room(&c->list, 1)))
		return NSX_NONE;
	if (at == c->list.n) {
		c->list.p[c->list.n].ranks = c->list.p[c->list.n].devices = 0;
		c->list.n++;
	}
	return at;
}

void
nsx_nccl_need(struct nsx_reader *in)
{
	nsx_reader_need(in, NSX_COMMUNICATOR, NSX_EVERY);
	nsx_reader_need(in, NSX_OP, NSX_C(OP, comm_id) | NSX_C(OP, collective) | NSX_C(OP, pair) | NSX_C(OP, start)
	                            | NSX_C(OP, dur) | NSX_C(OP, bytes) | NSX_C(OP, calls) | NSX_C(OP, group)
	                            | NSX_C(OP, hidden) | NSX_C(OP, op) | NSX_C(OP, device) | NSX_C(OP, profile));
}

int
nsx_nccl_comms_take(struct nsx_nccl_comms *c, const struct nsx_rec *rec, struct nsx_err *err)
{
	bool member = rec->kind->id == NSX_COMMUNICATOR;

	if (!member && rec->kind->id != NSX_OP)
		return NSX_OK;
	struct nsx_str id = nsx_string(rec, member ? NSX_COMMUNICATOR_comm_id : NSX_OP_comm_id);
	if (!id.len)
		return NSX_OK;
	uint32_t at = comm_at(c, id);
	if (at == NSX_NONE)
		return nsx_err_nomem(err, NULL);
	if (member) {
		int64_t ranks = nsx_int(rec, NSX_COMMUNICATOR_ranks, 0);
		if (ranks > c->list.p[at].ranks)
			c->list.p[at].ranks = ranks;
		return NSX_OK;
	}
	uint32_t *seen = nsx_map_at(&c->seen, (struct nsx_key){ at, (uint64_t)nsx_int(rec, NSX_OP_device, -1) });
	if (!seen)
		return nsx_err_nomem(err, NULL);
	c->list.p[at].devices += *seen == NSX_NONE;
	*seen = 0;
	return NSX_OK;
}

int64_t
nsx_nccl_group(const struct nsx_nccl_comms *c, const struct nsx_rec *op, bool *inferred)
{
	int64_t group = nsx_int(op, NSX_OP_group, 0);
	uint32_t at = group > 0 || !nsx_has(op, NSX_OP_comm_id) ? NSX_NONE : nsx_intern_find(&c->ids,
		nsx_string(op, NSX_OP_comm_id));

	if (inferred)
		*inferred = at != NSX_NONE && !c->list.p[at].ranks;
	if (at == NSX_NONE)
		return group > 0 ? group : 0;
	return nsx_nccl_comm_size(c, at);
}

int64_t
nsx_nccl_comm_size(const struct nsx_nccl_comms *c, uint32_t comm)
{
	return c->list.p[comm].ranks ? c->list.p[comm].ranks : c->list.p[comm].devices;
}

void
nsx_nccl_comms_free(struct nsx_nccl_comms *c)
{
	nsx_intern_free(&c->ids);
	nsx_map_free(&c->seen);
	free(c->list.p);
	*c = (struct nsx_nccl_comms){ 0 };
}

/* ---- operations */

bool
nsx_nccl_is(const struct nsx_rec *op)
{
	return nsx_has(op, NSX_OP_comm_id) && nsx_has(op, NSX_OP_start) && nsx_int(op, NSX_OP_dur, 0) >= 0
	       && (nsx_has(op, NSX_OP_pair) || !nsx_str_eq(nsx_string(op, NSX_OP_collective), NSX_STR("send-recv")));
}

/* The number of its key; NSX_NONE when out of memory. */
static uint32_t
key_at(struct nsx_nccl_set *s, const struct nsx_rec *rec, uint32_t clock)
{
	struct nsx_nccl_key k = { nsx_intern(&s->texts, nsx_string(rec, NSX_OP_comm_id)), nsx_intern(&s->texts,
		nsx_string(rec, NSX_OP_collective)),
	                          nsx_intern(&s->texts, nsx_string(rec, NSX_OP_pair)), clock };

	if (k.comm == NSX_NONE || k.kind == NSX_NONE || k.pair == NSX_NONE)
		return NSX_NONE;
	uint32_t at = nsx_map_number(&s->key_of, (struct nsx_key){ (uint64_t)k.comm << 32 | k.kind, k.pair });
	return nsx_vec_next(&s->keys, at, k) ? at : (uint32_t)NSX_NONE;
}

uint32_t
nsx_nccl_find_key(const struct nsx_nccl_set *s, const struct nsx_rec *rec)
{
	uint32_t comm = nsx_intern_find(&s->texts, nsx_string(rec, NSX_OP_comm_id));
	uint32_t kind = nsx_intern_find(&s->texts, nsx_string(rec, NSX_OP_collective));
	uint32_t pair = nsx_intern_find(&s->texts, nsx_string(rec, NSX_OP_pair));

	if (comm == NSX_NONE || kind == NSX_NONE || pair == NSX_NONE)
		return NSX_NONE;
	return nsx_map_get(&s->key_of, (struct nsx_key){ (uint64_t)comm << 32 | kind, pair });
}

static uint32_t
device_at(struct nsx_nccl_set *s, int64_t number, uint32_t clock)
{
	uint32_t at = nsx_map_number(&s->device_of, (struct nsx_key){ (uint64_t)number, 0 });

	return nsx_vec_next(&s->devices, at, ((struct nsx_nccl_device){ number, clock })) ? at : (uint32_t)NSX_NONE;
}

int
nsx_nccl_take(struct nsx_nccl_set *s, const struct nsx_rec *rec, uint32_t clock, struct nsx_err *err)
{
	if (nsx_nccl_comms_take(&s->comms, rec, err) != NSX_OK)
		return NSX_ERR;
	if (rec->kind->id != NSX_OP || !nsx_has(rec, NSX_OP_comm_id))
		return NSX_OK;
	if (!nsx_nccl_is(rec)) {
		s->loose++;
		return NSX_OK;
	}
	struct nsx_nccl_op op = {
		.start = nsx_int(rec, NSX_OP_start, 0), .dur = nsx_int(rec, NSX_OP_dur, 0), .bytes = nsx_int(rec,
			NSX_OP_bytes, -1),
		.calls = nsx_int(rec, NSX_OP_calls, -1), .group = nsx_int(rec, NSX_OP_group, -1), .hidden = nsx_int(rec,
			NSX_OP_hidden, -1),
		.op = nsx_int(rec, NSX_OP_op, -1), .key = key_at(s, rec, clock), .device = device_at(s,
			nsx_int(rec, NSX_OP_device, -1), clock)
	};
	if (op.key == NSX_NONE || op.device == NSX_NONE || s->ops.n >= NSX_NONE - 1 || !nsx_vec_push(&s->ops, op))
		return nsx_err_nomem(err, NULL);
	s->apart |= s->keys.p[op.key].clock != s->devices.p[op.device].clock;
	return NSX_OK;
}

/* ---- numbering */

struct keyed_set { const struct nsx_nccl_set *s; uint32_t key; };

static int
by_key(const void *a, const void *b)
{
	const struct keyed_set *x = a, *y = b;
	const struct nsx_nccl_key *p = &x->s->keys.p[x->key], *q = &y->s->keys.p[y->key];
	int c = nsx_str_cmp(nsx_intern_str(&x->s->texts, p->comm), nsx_intern_str(&x->s->texts, q->comm));

	if (!c)
		c = nsx_str_cmp(nsx_intern_str(&x->s->texts, p->kind), nsx_intern_str(&x->s->texts, q->kind));
	return c ? c : nsx_str_cmp(nsx_intern_str(&x->s->texts, p->pair), nsx_intern_str(&x->s->texts, q->pair));
}

static bool
rank_keys(struct nsx_nccl_set *s)
{
	struct keyed_set *list = malloc((s->keys.n + 1) * sizeof *list);

	s->rank = malloc((s->keys.n + 1) * sizeof *s->rank);
	for (uint32_t i = 0; list && i < s->keys.n; i++)
		list[i] = (struct keyed_set){ s, i };
	if (list && s->keys.n > 1)
		qsort(list, s->keys.n, sizeof *list, by_key);
	for (uint32_t i = 0; list && s->rank && i < s->keys.n; i++)
		s->rank[list[i].key] = i;
	free(list);
	return list && s->rank;
}

/* Sort by (rank of the key, second, third). False when out of memory. */
static bool
sort_ops(struct nsx_nccl_set *s, bool numbered)
{
	struct nsx_sort_key *keys = malloc((s->ops.n + 1) * sizeof *keys);
	struct nsx_nccl_op *ops = s->ops.p;

	if (!keys)
		return false;
	for (uint32_t i = 0; i < s->ops.n; i++) {
		int64_t device = s->devices.p[ops[i].device].number;
		keys[i] = (struct nsx_sort_key){ { s->rank[ops[i].key], numbered ? ops[i].seq : device, numbered
		                                   ? device : ops[i].start }, i };
	}
	nsx_sort_keys(keys, s->ops.n);
	/* In place: a second array of operations would set the maximum of memory. */
	nsx_sort_apply(ops, sizeof *ops, keys, s->ops.n);
	free(keys);
	return true;
}

static int64_t
end_of(const struct nsx_nccl_op *o)
{
	return nsx_add_sat(o->start, o->dur, NULL);
}

/* Operations of one key on a reference device and on another, n and m of them, with their ends. */
struct ends { const int64_t *r, *d; int64_t nr, nd; int64_t *room; };

static int64_t
distance(int64_t a, int64_t b)
{
	int64_t diff = nsx_sub_sat(a, b, NULL);

	return diff < 0 ? nsx_sub_sat(0, diff, NULL) : diff;
}

/* The distances of the ends if d's numbers are shifted so: written to e->room. Returns the number of pairs. */
static int64_t
apart(const struct ends *e, int64_t shift)
{
	int64_t from = shift < 0 ? -shift : 0, to = e->nr - shift < e->nd ? e->nr - shift : e->nd;

	for (int64_t i = from; i < to; i++)
		e->room[i - from] = distance(e->d[i], e->r[i + shift]);
	return to > from ? to - from : 0;
}

/* The number of ends before t. They are sorted, as operations of one communicator do not overlap. */
static int64_t
before(const int64_t *ends, int64_t n, int64_t t)
{
	return (int64_t)nsx_sort_first(ends, (size_t)n, sizeof *ends, 0, t);
}

/* The best shift so far. need: how many pairs a shift must have. */
struct shift { int64_t best, median, pairs, need; };

/* Try shifts from `from`, those nearest to it first; the median is computed only if at least half of the distances are
 * not above the best one. */
static void
try_shifts(const struct ends *e, int64_t from, struct shift *s)
{
	for (int64_t step = 0; step <= 2 * SHIFT_MAX; step++) {
		int64_t shift = from + (step % 2 ? -(step / 2 + 1) : step / 2);
		if (shift < from - SHIFT_MAX || -shift >= e->nd || shift >= e->nr)
			continue;
		int64_t n = apart(e, shift), rank = (n + 1) / 2, within = 0;
		if (n <= 0 || 2 * n < s->need)
			continue;
		for (int64_t i = 0; i < n; i++)
			within += e->room[i] <= s->median;
		if (within < rank)
			continue;
		int64_t m = nsx_sort_nth(e->room, (size_t)n, (size_t)rank - 1);
		if (m < s->median || (m == s->median && n > s->pairs))
			*s = (struct shift){ shift, m, n, s->need };
	}
}

/* The shift of d's numbers. Captures that began at about the same call have one near 0. In others the ends tell where
 * to search: in the middle of the time that both captures cover, the calls that d and the reference had made differ by
 * about the shift. */
static int64_t
best_shift(const struct ends *e)
{
	int64_t shorter = e->nr < e->nd ? e->nr : e->nd;
	int64_t lo = e->r[0] > e->d[0] ? e->r[0] : e->d[0], hi = e->r[e->nr - 1] < e->d[e->nd - 1] ? e->r[e->nr - 1]
	    : e->d[e->nd - 1];
	int64_t common = before(e->d, e->nd, hi) - before(e->d, e->nd, lo) + 1, middle = lo / 2 + hi / 2;
	struct shift s = { 0, INT64_MAX, 0, lo <= hi && common < shorter ? common : shorter };
	int64_t from = before(e->r, e->nr, middle) - before(e->d, e->nd, middle);

	try_shifts(e, 0, &s);
	if (lo <= hi && from)
		try_shifts(e, from, &s);
	return s.best;
}

/* ---- operations that the capture lost */

/* AHEAD: operations by which a place is judged; BETWEEN: numbers between two operations of the reference device. */
enum { AHEAD = 8, CLEARLY = 4, JITTER = 1000, BETWEEN = 1 << 20 };

/* The median distance of d's operations from i on from those of the reference device, if d's numbers are shifted so;
 * INT64_MAX: too few. */
static int64_t
apart_from(const struct ends *e, int64_t i, int64_t shift)
{
	int64_t room[AHEAD], left = e->nd < e->nr - shift ? e->nd - i : e->nr - shift - i;
	size_t n = 0;

	for (int64_t k = i; k < e->nd && k < i + AHEAD; k++)
		if (k + shift >= 0 && k + shift < e->nr)
			room[n++] = distance(e->d[k], e->r[k + shift]);
	return !n || (n < AHEAD / 2 && (int64_t)n < left) ? INT64_MAX : nsx_sort_nth(room, n, n / 2);
}

/* How far d's operation i ends from the nearest end of the reference device. next: that device's first end that is not
 * before it. *at (which may be NULL): the number of the nearest. */
static int64_t
nearest(const struct ends *e, int64_t i, int64_t next, int64_t *at)
{
	int64_t prior = next > 0 ? nsx_sub_sat(e->d[i], e->r[next - 1], NULL) : INT64_MAX,
	    after = next < e->nr ? nsx_sub_sat(e->r[next], e->d[i], NULL) : INT64_MAX;

	if (at)
		*at = after < prior ? next : next - 1;
	return after < prior ? after : prior;
}

/* The shift from operation i on: another one where that fits clearly better, because either device has lost operations
 * since the one before. usual: of usual_distance. */
static int64_t
shift_from(const struct ends *e, int64_t i, int64_t shift, int64_t usual)
{
	int64_t own = apart_from(e, i, shift), least = own, best = shift, at;

	/* If the reference device has lost the partners of the first ones, a later one tells. */
	for (int64_t k = i; k < e->nd && k < i + AHEAD; k += AHEAD / 2) {
		int64_t from = before(e->r, e->nr, e->d[k]) - k;
		for (int64_t s = from - 1; s <= from + 1; s++) {
			int64_t m = apart_from(e, i, s);
			if (m < least) {
				least = m;
				best = s;
			}
		}
	}
	if (best == shift || least >= INT64_MAX / (2 * CLEARLY) || CLEARLY * least + JITTER >= own)
		best = shift;
	/* Where operations soon after it are lost too, the shift of most of them is not that of this one, which has a
	 * partner if one is as near as usual. */
	int64_t near = nearest(e, i, before(e->r, e->nr, e->d[i]), &at), off = INT64_MAX;
	/* Among many that fit, one may just have ended late. */
	int64_t times = best == shift && own / CLEARLY <= usual / 2 ? CLEARLY * CLEARLY : CLEARLY;
	if (i + best >= 0 && i + best < e->nr)
		off = distance(e->d[i], e->r[i + best]);
	return (near <= JITTER || near / CLEARLY <= usual / 2) && near < off / times - JITTER ? at - i : best;
}

/* The median of these distances, of the operations of the device that has fewer. Shifts do not matter to it, so lost
 * operations hardly do. */
static int64_t
usual_distance(const struct ends *e)
{
	struct ends of = e->nd <= e->nr ? *e : (struct ends){ e->d, e->r, e->nd, e->nr, e->room };

	for (int64_t i = 0; i < of.nd; i++)
		of.room[i] = nearest(&of, i, before(of.r, of.nr, of.d[i]), NULL);
	return nsx_sort_nth(of.room, (size_t)of.nd, (size_t)of.nd / 2);
}

/* Whether no operation of the reference device ends near d's operation i: nearer than usual, and than a part of the
 * distance between d's own operations. */
static bool
has_no_partner(const struct ends *e, int64_t i, int64_t next, int64_t usual)
{
	int64_t near = nearest(e, i, next, NULL), apart = INT64_MAX;

	if (i > 0)
		apart = nsx_sub_sat(e->d[i], e->d[i - 1], NULL);
	if (i + 1 < e->nd && nsx_sub_sat(e->d[i + 1], e->d[i], NULL) < apart)
		apart = nsx_sub_sat(e->d[i + 1], e->d[i], NULL);
	return near / CLEARLY > usual && near > JITTER && near > apart / CLEARLY;
}

/* Number the n operations of a device as those of the reference device that end with them, times BETWEEN; those whose
 * partner that device has lost, by the numbers behind the one before. Returns whether some operation is lost. */
static bool
number_device(const struct ends *e, int64_t shift, struct nsx_nccl_op *ops)
{
	int64_t last = INT64_MIN, extra = 0, usual = usual_distance(e);
	bool lost = false;

	for (int64_t i = 0; i < e->nd; i++) {
		int64_t at = i + shift, diff;
		if (at >= 0 && at < e->nr)
			diff = distance(e->d[i], e->r[at]);
		else
			diff = e->d[i] > e->r[0] && e->d[i] < e->r[e->nr - 1] ? INT64_MAX : 0;
		if (diff > JITTER && diff / CLEARLY > usual / 2) {
			int64_t other = shift_from(e, i, shift, usual), next = before(e->r, e->nr, e->d[i]);
			bool alone = other == shift && next < e->nr && has_no_partner(e, i, next, usual);
			lost |= other != shift || alone;
			shift = alone ? next - i - 1 : other;
			/* It stays behind the one before it; the next one may have a partner again. */
			at = alone && shift + i <= last ? last : i + shift;
			if (alone && at > last) {
				last = at;
				extra = 0;
			}
		}
		extra = at > last ? 0 : extra + 1;
		last = at > last ? at : last;
		ops[i].seq = last * BETWEEN + (extra < BETWEEN ? extra : BETWEEN - 1);
	}
	return lost;
}

/* Numbers with gaps to 0, 1, ...; room: as long as ops. */
static void
close_gaps(struct nsx_nccl_op *ops, size_t n, int64_t *room)
{
	size_t distinct = 0;

	for (size_t i = 0; i < n; i++)
		room[i] = ops[i].seq;
	qsort(room, n, sizeof *room, nsx_sort_by_int);
	for (size_t i = 0; i < n; i++)
		if (!distinct || room[i] != room[distinct - 1])
			room[distinct++] = room[i];
	for (size_t i = 0; i < n; i++)
		ops[i].seq = before(room, (int64_t)distinct, ops[i].seq);
}

/* Number operations [from, to) of one key, sorted by device and start. ends, room: as long. Returns whether some
 * operation is lost. */
static bool
number_key(struct nsx_nccl_op *ops, size_t from, size_t to, int64_t *ends, int64_t *room)
{
	int64_t least = 0;
	bool lost = false;
	size_t nr = 0;

	for (size_t i = from; i < to; i++)
		ends[i - from] = end_of(&ops[i]);
	for (size_t a = from, b; a < to; a = b) {
		for (b = a + 1; b < to && ops[b].device == ops[a].device; b++)
			;
		struct ends e = { ends, ends + (a - from), (int64_t)nr, (int64_t)(b - a), room };
		int64_t shift = a == from ? 0 : best_shift(&e);
		if (a == from)
			e.nr = (int64_t)(nr = b - a);
		least = shift < least ? shift : least;
		lost |= number_device(&e, shift, ops + a);
	}
	if (lost)
		close_gaps(ops + from, to - from, room);
	for (size_t i = from; !lost && i < to; i++)
		ops[i].seq = ops[i].seq / BETWEEN - least;
	return lost;
}

int
nsx_nccl_number(struct nsx_nccl_set *s, struct nsx_err *err)
{
	int64_t *ends = malloc((s->ops.n + 1) * sizeof *ends), *room = malloc((s->ops.n + 1) * sizeof *room);
	bool good = ends && room && rank_keys(s) && sort_ops(s, false);

	for (size_t a = 0, b; good && a < s->ops.n; a = b) {
		for (b = a + 1; b < s->ops.n && s->ops.p[b].key == s->ops.p[a].key; b++)
			;
		s->lost += number_key(s->ops.p, a, b, ends, room);
	}
	free(ends);
	free(room);
	good = good && sort_ops(s, true);
	for (size_t i = 0; good && i < s->ops.n; i++) {
		struct nsx_nccl_op *o = &s->ops.p[i];
		if (o->group > 0)
			continue;
		uint32_t at = nsx_intern_find(&s->comms.ids, nsx_intern_str(&s->texts, s->keys.p[o->key].comm));
		o->group = s->comms.list.p[at].ranks ? s->comms.list.p[at].ranks : s->comms.list.p[at].devices;
	}
	return good ? NSX_OK : nsx_err_nomem(err, NULL);
}

size_t
nsx_nccl_instance(const struct nsx_nccl_set *s, size_t i)
{
	size_t k = i + 1;

	while (k < s->ops.n && s->ops.p[k].key == s->ops.p[i].key && s->ops.p[k].seq == s->ops.p[i].seq)
		k++;
	return k;
}

void
nsx_nccl_free(struct nsx_nccl_set *s)
{
	nsx_nccl_comms_free(&s->comms);
	nsx_intern_free(&s->texts);
	nsx_map_free(&s->key_of);
	nsx_map_free(&s->device_of);
	free(s->keys.p);
	free(s->devices.p);
	free(s->ops.p);
	free(s->rank);
	*s = (struct nsx_nccl_set){ 0 };
}
