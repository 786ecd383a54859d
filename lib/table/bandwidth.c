/* bandwidth.c -- a table of what collectives achieved and how long devices waited in them.
 *
 * An instance is one execution of a collective by one group. It is held from its first part to its last: until every device of the
 * group that the stream has was met, or to the end. What stays of it is its shortest duration. These are sorted before doubles are added:
 * the sums do not depend on the order in which instances came. */
#include "table/bandwidth.h"

#include <math.h>
#include <stdlib.h>

#include "job/communication.h"
#include "base/num.h"
#include "job/nccl.h"

enum { COLLECTIVE, BYTES, GROUP, INSTANCES, BUSBW_MEAN, BUSBW_STDERR, ALGBW_MEAN, WAIT_MEAN, WAIT_MAX, HIDDEN_SHARE, NCOLS };

static const struct nsx_table_col cols[NCOLS] = {
	[COLLECTIVE]   = { "collective", NSX_CELL_STRING },
	[BYTES]        = { "bytes", NSX_CELL_BYTES },
	[GROUP]        = { "group", NSX_CELL_INT },
	[INSTANCES]    = { "instances", NSX_CELL_INT },
	[BUSBW_MEAN]   = { "busbw_mean", NSX_CELL_GBPS },
	[BUSBW_STDERR] = { "busbw_stderr", NSX_CELL_GBPS },
	[ALGBW_MEAN]   = { "algbw_mean", NSX_CELL_GBPS },
	[WAIT_MEAN]    = { "wait_mean", NSX_CELL_MEAN_NS },
	[WAIT_MAX]     = { "wait_max", NSX_CELL_NS },
	[HIDDEN_SHARE] = { "hidden_share", NSX_CELL_SHARE },
};

/* Operations that communicate by themselves are in here too: instances of NCCL's communicators as XLA's, all of them held (job/nccl.h); each other
 * operation alone. */

/* One line of the table. */
struct row {
	struct nsx_str name;            /* kind of collective; empty if not known */
	bool     has_bytes, has_group;
	int64_t  bytes, group;
	int64_t  instances;
	NSX_VEC(int64_t) shortest;      /* of each instance with one above 0 */
	__int128 wait, dur, hidden;     /* sums */
	int64_t  waits, wait_max;
	int64_t  no_hidden;             /* parts without `hidden` */
};

/* One execution of a collective by one group, as far as met. */
struct instance {
	struct nsx_key key;
	uint32_t row, met, expected;
	int64_t  first_start, last_end;
	int64_t  shortest;              /* full duration */
	int64_t  shortest_moving;       /* the same of those above 0; 0 if there is none */
	struct nsx_comm_clock clock;
	bool     one_clock, partial;
};

struct summing {
	struct nsx_err   *err;
	struct nsx_comm   comm;
	struct nsx_map    of_size, of_group, group_of, turn_of;   /* two-step keys: see row_of, key_of */
	struct nsx_map    open;
	NSX_VEC(struct row) rows;
	NSX_VEC(struct instance) instances;   /* open ones; free places are chained through `met` */
	uint32_t          unused;
	struct nsx_nccl_set nccl;
	int64_t           lone_ops, closed, partial, unknown_wait, alone, no_hidden, over_hidden, negative;
};

/* The dense number of key in m, n more than the number of keys before it; NSX_NONE when out of memory. */
static uint32_t
dense(struct nsx_map *m, uint64_t a, uint64_t b)
{
	uint32_t *at = nsx_map_at(m, (struct nsx_key){ a, b });

	if (at && *at == NSX_NONE)
		*at = (uint32_t)m->n - 1;
	return at ? *at : NSX_NONE;
}

/* The number of a part's row; NSX_NONE when out of memory. */
static uint32_t
row_of(struct summing *s, const struct nsx_comm_part *p)
{
	struct row fresh = { .has_bytes = p->has_bytes, .has_group = p->has_group, .bytes = p->has_bytes ? p->bytes : 0,
	                     .group = p->has_group ? p->group : 0 };
	uint32_t size = dense(&s->of_size, (uint64_t)p->kind << 1 | fresh.has_bytes, (uint64_t)fresh.bytes);
	uint32_t row = size == NSX_NONE ? size : dense(&s->of_group, (uint64_t)size << 1 | fresh.has_group, (uint64_t)fresh.group);

	if (row != NSX_NONE && row == s->rows.n) {
		if (p->kind != NSX_NONE)
			fresh.name = nsx_intern_str(&s->comm.kinds, p->kind);
		if (!nsx_vec_push(&s->rows, fresh))
			return NSX_NONE;
	}
	return row;
}

/* What tells the instance of a part from others; false when out of memory. */
static bool
key_of(struct summing *s, const struct nsx_rec *thunk, const struct nsx_comm_part *p, struct nsx_key *key)
{
	uint32_t group = dense(&s->group_of, p->inst, (uint64_t)p->instance);
	uint32_t turn = dense(&s->turn_of, (uint64_t)nsx_int(thunk, NSX_THUNK_execution, -1),
	                      (uint64_t)nsx_int(thunk, NSX_THUNK_occurrence, -1));

	*key = (struct nsx_key){ group, turn };
	return group != NSX_NONE && turn != NSX_NONE;
}

/* The open instance of that key, begun if there is none; NULL when out of memory. */
static struct instance *
instance_at(struct summing *s, struct nsx_key key)
{
	uint32_t *at = nsx_map_at(&s->open, key);

	if (!at)
		return NULL;
	if (*at == NSX_NONE) {
		if (s->unused == NSX_NONE) {
			if (!nsx_vec_push(&s->instances, ((struct instance){ .met = NSX_NONE })))
				return NULL;
			s->unused = (uint32_t)s->instances.n - 1;
		}
		*at = s->unused;
		s->unused = s->instances.p[*at].met;
		s->instances.p[*at] = (struct instance){ .key = key };
	}
	return &s->instances.p[*at];
}

/* Add an instance to its row. NSX_OK or NSX_ERR. */
static int
sum_instance(struct summing *s, const struct instance *in)
{
	struct row *r = &s->rows.p[in->row];
	int64_t wait = nsx_sub_sat(nsx_sub_sat(in->last_end, in->first_start, NULL), in->shortest, NULL);

	/* An end that was cut off may leave less than the shortest. */
	if (wait < 0)
		wait = 0;
	r->instances++;
	s->closed++;
	s->partial += in->partial;
	if (in->shortest_moving > 0 && !nsx_vec_push(&r->shortest, in->shortest_moving))
		return nsx_err_nomem(s->err, NULL);
	if (!in->one_clock) {
		s->unknown_wait++;
	} else if (in->met == 1 && !(r->has_group && r->group == 1)) {
		s->alone++;
	} else {
		r->wait += wait;
		if (r->waits++ == 0 || wait > r->wait_max)
			r->wait_max = wait;
	}
	return NSX_OK;
}

static int
close_instance(struct summing *s, struct instance *in)
{
	if (sum_instance(s, in) != NSX_OK)
		return NSX_ERR;
	nsx_map_del(&s->open, in->key);
	in->met = s->unused;
	s->unused = (uint32_t)(in - s->instances.p);
	return NSX_OK;
}

static void
add_hidden(struct summing *s, struct row *r, int64_t dur, bool there, int64_t hidden)
{
	hidden = there ? hidden : 0;
	s->over_hidden += hidden < 0 || hidden > dur;
	r->dur += dur;
	r->hidden += hidden < 0 ? 0 : hidden > dur ? dur : hidden;
	r->no_hidden += !there;
	s->no_hidden += !there;
}

static int
meet_comm(struct summing *s, const struct nsx_rec *thunk)
{
	int64_t start = nsx_int(thunk, NSX_THUNK_start, 0), dur = nsx_int(thunk, NSX_THUNK_dur, 0);
	struct nsx_comm_part p;
	struct nsx_key key;

	if (dur < 0) {
		s->negative++;
		return NSX_OK;
	}
	int64_t end = nsx_add_sat(start, dur, NULL);
	if (nsx_comm_part(&s->comm, thunk, &p, s->err) != NSX_OK)
		return NSX_ERR;
	uint32_t row = row_of(s, &p);
	struct instance *in = row != NSX_NONE && key_of(s, thunk, &p, &key) ? instance_at(s, key) : NULL;
	if (!in)
		return nsx_err_nomem(s->err, NULL);

	struct row *r = &s->rows.p[row];
	add_hidden(s, r, dur, nsx_has(thunk, NSX_THUNK_hidden), nsx_int(thunk, NSX_THUNK_hidden, 0));

	if (in->met == 0) {
		in->row = row;
		in->expected = p.expected;
		in->first_start = start;
		in->last_end = end;
		in->shortest = dur;
		in->clock = p.clock;
		in->one_clock = true;
	}
	in->met++;
	in->partial |= p.partial;
	in->one_clock &= in->clock.aligned == p.clock.aligned && in->clock.number == p.clock.number;
	in->first_start = start < in->first_start ? start : in->first_start;
	in->last_end = end > in->last_end ? end : in->last_end;
	in->shortest = dur < in->shortest ? dur : in->shortest;
	if (dur > 0 && (in->shortest_moving == 0 || dur < in->shortest_moving))
		in->shortest_moving = dur;
	return in->met == in->expected ? close_instance(s, in) : NSX_OK;
}

/* ---- operations ---- */

/* One that is in no instance, or whose devices' clocks cannot be compared, by itself. */
static int
close_op(struct summing *s, const struct nsx_nccl_op *o, struct nsx_str kind)
{
	struct nsx_comm_part p = { .kind = kind.len ? nsx_intern(&s->comm.kinds, kind) : NSX_NONE, .has_bytes = o->bytes >= 0, .bytes = o->bytes,
	                           .has_group = o->group > 0, .group = o->group };
	uint32_t row = kind.len && p.kind == NSX_NONE ? NSX_NONE : row_of(s, &p);

	if (row == NSX_NONE)
		return nsx_err_nomem(s->err, NULL);
	struct row *r = &s->rows.p[row];
	r->instances++;
	s->closed++;
	add_hidden(s, r, o->dur, o->hidden >= 0, o->hidden);
	return o->dur <= 0 || nsx_vec_push(&r->shortest, o->dur) ? NSX_OK : nsx_err_nomem(s->err, NULL);
}

static int
meet_op(struct summing *s, const struct nsx_rec *op)
{
	struct nsx_nccl_op o = { .dur = nsx_int(op, NSX_OP_dur, 0), .bytes = nsx_int(op, NSX_OP_bytes, -1), .group = nsx_int(op, NSX_OP_group, -1),
	                         .hidden = nsx_int(op, NSX_OP_hidden, -1) };

	if (o.dur < 0) {
		s->negative++;
		return NSX_OK;
	}
	if (nsx_nccl_is(op))
		return nsx_nccl_take(&s->nccl, op, nsx_comm_clock(&s->comm, nsx_int(op, NSX_OP_device, -1), nsx_int(op, NSX_OP_profile, -1)), s->err);
	s->lone_ops++;
	/* A copy's bytes are what it moves, and it has two ends. */
	return close_op(s, &o, nsx_string(op, NSX_OP_collective));
}

/* Operations [from, to) of one instance on clocks that can be compared. */
static int
close_ops(struct summing *s, size_t from, size_t to, struct nsx_str kind)
{
	const struct nsx_nccl_op *ops = &s->nccl.ops.p[from];
	struct nsx_nccl_op all = ops[0];
	struct instance in = { .met = (uint32_t)(to - from), .first_start = ops[0].start, .last_end = INT64_MIN, .shortest = INT64_MAX, .one_clock = true };

	for (size_t i = 0; i < to - from; i++) {
		int64_t end = nsx_add_sat(ops[i].start, ops[i].dur, NULL);
		all.bytes = ops[i].bytes > all.bytes ? ops[i].bytes : all.bytes;
		in.first_start = ops[i].start < in.first_start ? ops[i].start : in.first_start;
		in.last_end = end > in.last_end ? end : in.last_end;
		in.shortest = ops[i].dur < in.shortest ? ops[i].dur : in.shortest;
		if (ops[i].dur > 0 && (in.shortest_moving == 0 || ops[i].dur < in.shortest_moving))
			in.shortest_moving = ops[i].dur;
	}
	struct nsx_comm_part p = { .kind = kind.len ? nsx_intern(&s->comm.kinds, kind) : NSX_NONE, .has_bytes = all.bytes >= 0, .bytes = all.bytes,
	                           .has_group = all.group > 0, .group = all.group };
	if ((kind.len && p.kind == NSX_NONE) || (in.row = row_of(s, &p)) == NSX_NONE)
		return nsx_err_nomem(s->err, NULL);
	for (size_t i = 0; i < to - from; i++)
		add_hidden(s, &s->rows.p[in.row], ops[i].dur, ops[i].hidden >= 0, ops[i].hidden);
	in.partial = (int64_t)in.met < all.group;
	return sum_instance(s, &in);
}

static int
close_nccl(struct summing *s)
{
	struct nsx_nccl_set *n = &s->nccl;
	bool apart = nsx_nccl_apart(n);
	int rc = nsx_nccl_number(n, s->err);

	for (size_t a = 0, b; a < n->ops.n && rc == NSX_OK; a = b) {
		struct nsx_str kind = nsx_intern_str(&n->texts, n->keys.p[n->ops.p[a].key].kind);
		b = apart ? a + 1 : nsx_nccl_instance(n, a);
		rc = apart ? close_op(s, &n->ops.p[a], kind) : close_ops(s, a, b, kind);
		s->unknown_wait += apart;
	}
	return rc;
}

/* ---- the table ---- */

static int
compare_int(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int
compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int c = nsx_str_cmp(x->name, y->name);

	if (c == 0)
		c = x->has_bytes - y->has_bytes;
	if (c == 0)
		c = compare_int(&x->bytes, &y->bytes);
	if (c == 0)
		c = x->has_group - y->has_group;
	return c ? c : compare_int(&x->group, &y->group);
}

/* Mean, and standard error of the mean, over the instances of a row. */
static void
put_bandwidth(struct nsx_table *t, struct row *r)
{
	double bus_sum = 0, alg_sum = 0, squares = 0, alg, bus;
	size_t n = r->shortest.n;

	if (!r->has_bytes || !r->has_group || n == 0)
		return;
	qsort(r->shortest.p, n, sizeof *r->shortest.p, compare_int);
	for (size_t i = 0; i < n; i++) {
		nsx_comm_bandwidth(r->name, r->bytes, r->group, r->shortest.p[i], &alg, &bus);
		alg_sum += alg;
		bus_sum += bus;
	}
	double mean = bus_sum / (double)n;
	for (size_t i = 0; i < n; i++) {
		nsx_comm_bandwidth(r->name, r->bytes, r->group, r->shortest.p[i], &alg, &bus);
		squares += (bus - mean) * (bus - mean);
	}
	nsx_table_double(t, BUSBW_MEAN, mean);
	nsx_table_double(t, ALGBW_MEAN, alg_sum / (double)n);
	if (n > 1)
		nsx_table_double(t, BUSBW_STDERR, sqrt(squares / (double)(n - 1)) / sqrt((double)n));
}

static void
put_row(struct nsx_table *t, struct row *r)
{
	nsx_table_row(t);
	nsx_table_str(t, COLLECTIVE, r->name);
	if (r->has_bytes)
		nsx_table_int(t, BYTES, r->bytes);
	if (r->has_group)
		nsx_table_int(t, GROUP, r->group);
	nsx_table_int(t, INSTANCES, r->instances);
	put_bandwidth(t, r);
	if (r->waits) {
		nsx_table_double(t, WAIT_MEAN, (double)r->wait / (double)r->waits);
		nsx_table_int(t, WAIT_MAX, r->wait_max);
	}
	if (!r->no_hidden && r->dur > 0)
		nsx_table_double(t, HIDDEN_SHARE, (double)r->hidden / (double)r->dur);
}

static int
finish(struct summing *s, struct nsx_bandwidth *b)
{
	/* Closed instances have no key in the map any more; their places are chained, so look the others up. */
	for (size_t i = 0; i < s->instances.n; i++)
		if (nsx_map_get(&s->open, s->instances.p[i].key) == i && close_instance(s, &s->instances.p[i]) != NSX_OK)
			return NSX_ERR;
	if (close_nccl(s) != NSX_OK)
		return NSX_ERR;
	b->instances = s->closed;
	if (s->rows.n > 1)
		qsort(s->rows.p, s->rows.n, sizeof *s->rows.p, compare_rows);
	b->table = nsx_table_new(cols, NCOLS);
	if (!b->table)
		return nsx_err_nomem(s->err, NULL);
	for (size_t i = 0; i < s->rows.n; i++)
		put_row(b->table, &s->rows.p[i]);
	return NSX_OK;
}

static void
add_diags(const struct summing *s, struct nsx_diags *diags)
{
	nsx_comm_diags(&s->comm, diags);
	nsx_diag_add(diags, NSX_INFO, "", s->lone_ops, "communicating operations are each an instance of their own: what other devices did with them is not known");
	nsx_comm_flag_diags(&s->comm, diags);
	nsx_comm_group_diags(&s->comm, diags);
	nsx_diag_add(diags, NSX_WARNING, "", s->negative, "communication that ends before it starts: left out");
	nsx_diag_add(diags, NSX_WARNING, "", s->partial,
	             "instances of collectives have devices that are not in the stream; what is known of them is used");
	nsx_diag_add(diags, NSX_WARNING, "", s->unknown_wait,
	             "instances of collectives run on devices whose clocks cannot be compared: no wait; nsysx-align puts them on one clock");
	nsx_diag_add(diags, NSX_INFO, "", s->alone, "instances of collectives are known of one device alone: no wait");
	nsx_diag_add(diags, NSX_WARNING, "", s->no_hidden,
	             "communication thunks and operations were not through nsysx-overlap: no hidden_share");
	nsx_diag_add(diags, NSX_WARNING, "", s->over_hidden, "communication thunks and operations with hidden time that is no part of their duration: cut to it");
}

static void
summing_free(struct summing *s)
{
	for (size_t i = 0; i < s->rows.n; i++)
		free(s->rows.p[i].shortest.p);
	free(s->rows.p);
	free(s->instances.p);
	nsx_map_free(&s->of_size);
	nsx_map_free(&s->of_group);
	nsx_map_free(&s->group_of);
	nsx_map_free(&s->turn_of);
	nsx_map_free(&s->open);
	nsx_nccl_free(&s->nccl);
	nsx_comm_free(&s->comm);
}

int
nsx_bandwidth(struct nsx_reader *in, struct nsx_bandwidth *b, struct nsx_diags *diags, struct nsx_err *err)
{
	struct summing s = { .err = err, .unused = NSX_NONE };
	struct nsx_rec rec;
	int rc;

	*b = (struct nsx_bandwidth){ 0 };
	while ((rc = nsx_read(in, &rec)) == NSX_OK) {
		b->diags += rec.kind->id == NSX_DIAG;
		if (nsx_comm_meta(&s.comm, &rec, err) != NSX_OK || nsx_nccl_comms_take(&s.nccl.comms, &rec, err) != NSX_OK ||
		    (nsx_is_comm(&s.comm, &rec) && meet_comm(&s, &rec) != NSX_OK) || (nsx_is_comm_op(&s.comm, &rec) && meet_op(&s, &rec) != NSX_OK)) {
			rc = NSX_ERR;
			break;
		}
	}
	rc = rc == NSX_EOF ? finish(&s, b) : NSX_ERR;
	if (rc == NSX_OK)
		add_diags(&s, diags);
	summing_free(&s);
	return rc;
}
