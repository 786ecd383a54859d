/* bandwidth_rows.c -- the durations and bandwidths of collectives of each kind, message size and group size.
 *
 * An instance is one execution of a collective by one group. It is held from its first record until every device of the
 * group that is in the stream has a record, or to the end of the stream; then only its shortest duration is kept. These
 * are sorted before doubles are added: the sums do not depend on the order of instances. */
#include "table/bandwidth_rows.h"

#include <math.h>
#include <stdlib.h>

#include "job/diags_of.h"

/* Operations that communicate by themselves are included: instances of NCCL's communicators in the same way as those of
 * XLA, all of them held in memory (job/nccl.h); other operations one by one. */

/* One execution of a collective by one group: the records of its devices so far, combined. */
struct execution {
	uint32_t row, devices, clock;
	bool     one_clock, incomplete;
	int64_t  first_start, last_start, last_end;
	int64_t  wait;                  /* sum over records: last_start - own start */
	int64_t  shortest;              /* the shortest duration above 0; 0 if there is none */
};

/* The number of a record's row; NSX_NONE when out of memory. */
static uint32_t
row_of(struct nsx_bandwidth_sums *s, const struct nsx_comm_record *r)
{
	struct nsx_bandwidth_row fresh = { .has_bytes = r->has_bytes, .has_group = r->has_group,
	                                   .bytes = r->has_bytes ? r->bytes : 0,
	                                   .group = r->has_group ? r->group : 0 };
	struct nsx_key by_size = { (uint64_t)r->kind << 1 | fresh.has_bytes, (uint64_t)fresh.bytes };
	uint32_t size = nsx_map_number(&s->of_size, by_size), row = size;
	struct nsx_key by_group = { (uint64_t)size << 1 | fresh.has_group, (uint64_t)fresh.group };

	if (size != NSX_NONE)
		row = nsx_map_number(&s->of_group, by_group);
	if (row != NSX_NONE && row == s->rows.n) {
		fresh.number = row;
		fresh.name = nsx_cat_str(&s->comm.cat, r->kind);
		if (!nsx_vec_push(&s->rows, fresh))
			return NSX_NONE;
	}
	return row;
}

static void
combine(void *first, const void *record)
{
	struct execution *all = first;
	const struct execution *e = record;

	all->incomplete |= e->incomplete;
	all->one_clock &= all->clock == e->clock;
	all->first_start = e->first_start < all->first_start ? e->first_start : all->first_start;
	/* If the record is the last to start so far, all others wait that much longer. */
	if (e->last_start > all->last_start) {
		__int128 more = (__int128)all->devices * ((__int128)e->last_start - all->last_start);

		more += all->wait;
		all->wait = more > INT64_MAX ? INT64_MAX : (int64_t)more;
		all->last_start = e->last_start;
	} else {
		all->wait = nsx_add_sat(all->wait, nsx_sub_sat(all->last_start, e->last_start, NULL), NULL);
	}
	all->devices++;
	all->last_end = e->last_end > all->last_end ? e->last_end : all->last_end;
	if (e->shortest > 0 && (all->shortest == 0 || e->shortest < all->shortest))
		all->shortest = e->shortest;
}

/* Add an instance to its row. NSX_OK or NSX_ERR. */
static int
complete(void *state, struct nsx_key key, void *combined, size_t n)
{
	struct nsx_bandwidth_sums *s = state;
	const struct execution *e = combined;
	struct nsx_bandwidth_row *r = &s->rows.p[e->row];
	int64_t longest = nsx_sub_sat(e->last_start, e->first_start, NULL);

	(void)key;
	(void)n;
	r->instances++;
	s->closed++;
	s->incomplete += e->incomplete;
	if (e->shortest > 0 && !nsx_vec_push(&r->shortest, e->shortest))
		return nsx_err_nomem(s->err, NULL);
	if (!e->one_clock) {
		s->unknown_wait++;
	} else if (e->devices == 1 && !(r->has_group && r->group == 1)) {
		s->alone++;
	} else {
		r->wait += e->wait;
		r->waits += e->devices;
		r->wait_max = longest > r->wait_max ? longest : r->wait_max;
		r->transfer += nsx_sub_sat(e->last_end, e->last_start, NULL);
		r->transfers++;
	}
	return NSX_OK;
}

/* A record of that row; false when out of memory. */
static bool
add_record(struct nsx_bandwidth_sums *s, uint32_t row, uint32_t device, int64_t dur, bool there, int64_t hidden)
{
	struct nsx_bandwidth_row *r = &s->rows.p[row];

	hidden = there ? hidden : 0;
	s->over_hidden += hidden < 0 || hidden > dur;
	hidden = hidden < 0 ? 0 : hidden > dur ? dur : hidden;
	r->dur += dur;
	r->hidden += hidden;
	r->no_hidden += !there;
	s->no_hidden += !there;
	s->any_hidden |= there;
	return !s->each || s->each(s->arg, row, device, dur, hidden);
}

static int
take_comm(struct nsx_bandwidth_sums *s, const struct nsx_rec *thunk)
{
	int64_t start = nsx_int(thunk, NSX_THUNK_start, 0), dur = nsx_int(thunk, NSX_THUNK_dur, 0);
	struct nsx_comm_record c;
	struct nsx_key key;

	if (dur < 0) {
		s->negative++;
		return NSX_OK;
	}
	if (nsx_comm_describe(&s->comm, thunk, &c, s->err) != NSX_OK)
		return NSX_ERR;
	struct execution e = { .row = row_of(s, &c), .devices = 1, .clock = nsx_comm_clock(&s->comm, thunk),
	                       .one_clock = true, .incomplete = c.incomplete,
	                       .first_start = start, .last_start = start, .last_end = nsx_add_sat(start, dur, NULL),
	                       .shortest = dur };
	if (e.row == NSX_NONE || e.clock == NSX_NONE || !nsx_comm_instance(&s->comm, thunk, &c, &key))
		return nsx_err_nomem(s->err, NULL);

	if (!add_record(s, e.row, nsx_cat_device(&s->comm.cat, thunk), dur, nsx_has(thunk, NSX_THUNK_hidden),
	                nsx_int(thunk, NSX_THUNK_hidden, 0)))
		return nsx_err_nomem(s->err, NULL);
	return nsx_instances_add(&s->instances, key, &e, c.participants, s->err);
}

/* ---- operations ---- */

/* The number of the row of operations of that kind, size and group; NSX_NONE with err filled when out of memory. */
static uint32_t
row_of_op(struct nsx_bandwidth_sums *s, struct nsx_str kind, int64_t bytes, int64_t group)
{
	struct nsx_comm_record r = { .kind = nsx_cat_intern(&s->comm.cat, kind, s->err), .has_bytes = bytes >= 0,
	                             .bytes = bytes,
	                             .has_group = group > 0, .group = group };
	uint32_t row;

	if (kind.len && r.kind == NSX_NONE)
		return NSX_NONE;
	row = row_of(s, &r);
	if (row == NSX_NONE)
		nsx_err_nomem(s->err, NULL);
	return row;
}

/* An operation that is in no instance, or whose devices' clocks cannot be compared: it is counted alone. */
static int
close_op(struct nsx_bandwidth_sums *s, const struct nsx_nccl_op *o, uint32_t device, struct nsx_str kind)
{
	uint32_t row = row_of_op(s, kind, o->bytes, o->group);

	if (row == NSX_NONE)
		return NSX_ERR;
	struct nsx_bandwidth_row *r = &s->rows.p[row];
	r->instances++;
	s->closed++;
	if (!add_record(s, row, device, o->dur, o->hidden >= 0, o->hidden))
		return nsx_err_nomem(s->err, NULL);
	return o->dur <= 0 || nsx_vec_push(&r->shortest, o->dur) ? NSX_OK : nsx_err_nomem(s->err, NULL);
}

static int
take_op(struct nsx_bandwidth_sums *s, const struct nsx_rec *op)
{
	struct nsx_nccl_op o = { .dur = nsx_int(op, NSX_OP_dur, 0), .bytes = nsx_int(op, NSX_OP_bytes, -1),
	                         .group = nsx_int(op, NSX_OP_group, -1),
	                         .hidden = nsx_int(op, NSX_OP_hidden, -1) };
	uint32_t clock;

	if (o.dur < 0) {
		s->negative++;
		return NSX_OK;
	}
	if (nsx_nccl_is(op)) {
		clock = nsx_comm_clock(&s->comm, op);
		return clock == NSX_NONE ? nsx_err_nomem(s->err, NULL) : nsx_nccl_take(&s->nccl, op, clock, s->err);
	}
	s->lone_ops++;
	/* A copy's bytes are those that it moves, and it has two ends. */
	return close_op(s, &o, nsx_cat_device(&s->comm.cat, op), nsx_string(op, NSX_OP_collective));
}

/* The device in the catalogue of an operation that is in the set. */
static uint32_t
device_of(const struct nsx_bandwidth_sums *s, const struct nsx_nccl_op *o)
{
	return nsx_cat_find_device(&s->comm.cat, s->nccl.devices.p[o->device].number);
}

/* n operations of one instance on clocks that can be compared. */
static int
close_ops(struct nsx_bandwidth_sums *s, const struct nsx_nccl_op *ops, size_t n, struct nsx_str kind)
{
	struct execution all = { 0 };
	int64_t bytes = -1;

	for (size_t i = 0; i < n; i++) {
		struct execution e = { .devices = 1, .one_clock = true, .first_start = ops[i].start,
		                       .last_start = ops[i].start,
		                       .last_end = nsx_add_sat(ops[i].start, ops[i].dur, NULL),
		                       .shortest = ops[i].dur };

		bytes = ops[i].bytes > bytes ? ops[i].bytes : bytes;
		if (i)
			combine(&all, &e);
		else
			all = e;
	}
	all.row = row_of_op(s, kind, bytes, ops[0].group);
	all.incomplete = (int64_t)n < ops[0].group;
	if (all.row == NSX_NONE)
		return NSX_ERR;
	for (size_t i = 0; i < n; i++)
		if (!add_record(s, all.row, device_of(s, &ops[i]), ops[i].dur, ops[i].hidden >= 0, ops[i].hidden))
			return nsx_err_nomem(s->err, NULL);
	return complete(s, (struct nsx_key){ 0, 0 }, &all, 1);
}

static int
close_nccl(struct nsx_bandwidth_sums *s)
{
	struct nsx_nccl_set *n = &s->nccl;
	bool apart = nsx_nccl_apart(n);
	int rc = nsx_nccl_number(n, s->err);

	for (size_t a = 0, b; a < n->ops.n && rc == NSX_OK; a = b) {
		struct nsx_str kind = nsx_intern_str(&n->texts, n->keys.p[n->ops.p[a].key].kind);
		b = apart ? a + 1 : nsx_nccl_instance(n, a);
		rc = apart ? close_op(s, &n->ops.p[a], device_of(s, &n->ops.p[a]), kind) : close_ops(s, &n->ops.p[a],
			b - a, kind);
		s->unknown_wait += apart;
	}
	return rc;
}

/* ---- the rows ---- */

static int
compare_int(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int
compare_rows(const void *a, const void *b)
{
	const struct nsx_bandwidth_row *x = a, *y = b;
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
struct nsx_bandwidth_mean
nsx_bandwidth_mean_of(struct nsx_bandwidth_row *r)
{
	double bus_sum = 0, alg_sum = 0, squares = 0, alg, bus;
	struct nsx_bandwidth_mean m = { .known = false };
	size_t n = r->shortest.n;

	if (!r->has_bytes || !r->has_group || n == 0)
		return m;
	qsort(r->shortest.p, n, sizeof *r->shortest.p, compare_int);
	for (size_t i = 0; i < n; i++) {
		nsx_comm_bandwidth(r->name, r->bytes, r->group, r->shortest.p[i], &alg, &bus);
		alg_sum += alg;
		bus_sum += bus;
	}
	m.known = true;
	m.busbw = bus_sum / (double)n;
	m.algbw = alg_sum / (double)n;
	for (size_t i = 0; i < n; i++) {
		nsx_comm_bandwidth(r->name, r->bytes, r->group, r->shortest.p[i], &alg, &bus);
		squares += (bus - m.busbw) * (bus - m.busbw);
	}
	m.has_stderr = n > 1;
	if (m.has_stderr)
		m.stderr_busbw = sqrt(squares / (double)(n - 1)) / sqrt((double)n);
	return m;
}

double
nsx_bandwidth_transfer(const struct nsx_bandwidth_row *r)
{
	return r->transfers ? (double)r->transfer / (double)r->transfers : 0;
}

double
nsx_bandwidth_shortest(const struct nsx_bandwidth_row *r)
{
	nsx_u128 sum = 0;

	for (size_t i = 0; i < r->shortest.n; i++)
		sum += (nsx_u128)r->shortest.p[i];
	return r->shortest.n ? (double)sum / (double)r->shortest.n : 0;
}

static void
add_diags(const struct nsx_bandwidth_sums *s, struct nsx_diags *diags)
{
	nsx_comm_diags(&s->comm, diags);
	nsx_diag_add(diags, NSX_INFO, "", s->lone_ops,
		"communicating operations count as an instance each: their counterparts on other devices are not "
		"known");
	nsx_comm_flag_diags(&s->comm, diags);
	nsx_comm_group_diags(&s->comm, diags);
	nsx_diag_add(diags, NSX_WARNING, "", s->negative, "communication that ends before it starts: ignored");
	nsx_diag_add(diags, NSX_WARNING, "", s->incomplete,
	             "instances of collectives with devices that are not in the stream: the known devices are used");
	nsx_diag_add(diags, NSX_WARNING, "", s->over_hidden,
		"communication thunks and operations whose hidden time exceeds their duration: cut to it");
}

void
nsx_bandwidth_sums_free(struct nsx_bandwidth_sums *s)
{
	for (size_t i = 0; i < s->rows.n; i++)
		free(s->rows.p[i].shortest.p);
	free(s->rows.p);
	nsx_instances_free(&s->instances);
	nsx_map_free(&s->of_size);
	nsx_map_free(&s->of_group);
	nsx_nccl_free(&s->nccl);
	nsx_comm_free(&s->comm);
}

static int
take(void *state, const struct nsx_rec *rec)
{
	struct nsx_bandwidth_sums *s = state;

	if (rec->kind->id == NSX_DIAG) {
		s->ndiags++;
		s->warm |= nsx_is_diag_of(rec, "nsysx-warmup");
	}
	if (nsx_comm_take(&s->comm, rec, s->err) != NSX_OK ||
	    nsx_nccl_comms_take(&s->nccl.comms, rec, s->err) != NSX_OK)
		return NSX_ERR;
	if (nsx_is_comm(&s->comm, rec) && take_comm(s, rec) != NSX_OK)
		return NSX_ERR;
	return nsx_is_comm_op(&s->comm, rec) ? take_op(s, rec) : NSX_OK;
}

int
nsx_bandwidth_collect(struct nsx_reader *in, struct nsx_bandwidth_sums *s, struct nsx_diags *diags,
                      struct nsx_err *err)
{
	s->err = err;
	s->instances = (struct nsx_instances){ .size = sizeof(struct execution), .complete = complete,
	                                       .combine = combine, .state = s };
	nsx_comm_need(&s->comm, in);
	nsx_nccl_need(in);
	nsx_reader_need(in, NSX_DIAG, NSX_C(DIAG, source));
	nsx_reader_need(in, NSX_THUNK, NSX_EVERY);
	nsx_reader_need(in, NSX_OP, nsx_field_slots(NSX_OP, NSX_CAT_COMM_ROLES));
	if (nsx_read_all(in, NULL, take, s, err) != NSX_OK || nsx_instances_finish(&s->instances, err) != NSX_OK ||
	    close_nccl(s) != NSX_OK)
		return NSX_ERR;
	if (s->rows.n > 1)
		qsort(s->rows.p, s->rows.n, sizeof *s->rows.p, compare_rows);
	add_diags(s, diags);
	return NSX_OK;
}
