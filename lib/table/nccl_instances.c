/* nccl_instances.c -- see nccl_instances.h. */
#include "table/nccl_instances.h"

#include <stdlib.h>

#include "base/num.h"
#include "base/sort.h"
#include "base/vec.h"
#include "job/collective_instances.h"

enum { I_COMM, I_COLLECTIVE, I_PAIR, I_SEQ, I_GROUP, I_RANKS, I_BYTES, I_CALLS, I_ALGBW, I_BUSBW, I_SKEW, I_STRAGGLER,
       I_TRANSFER, I_COLS };
static const struct nsx_table_col instance_cols[I_COLS] = {
	[I_COMM]       = { "comm_id", NSX_CELL_STRING },
	[I_COLLECTIVE] = { "collective", NSX_CELL_STRING },
	[I_PAIR]       = { "pair", NSX_CELL_STRING },
	[I_SEQ]        = { "seq", NSX_CELL_ID },
	[I_GROUP]      = { "group", NSX_CELL_ID },
	[I_RANKS]      = { "ranks", NSX_CELL_INT },
	[I_BYTES]      = { "bytes", NSX_CELL_BYTES },
	[I_CALLS]      = { "calls", NSX_CELL_INT },
	[I_ALGBW]      = { "algbw", NSX_CELL_GBPS },
	[I_BUSBW]      = { "busbw", NSX_CELL_GBPS },
	[I_SKEW]       = { "skew", NSX_CELL_NS },
	[I_STRAGGLER]  = { "straggler", NSX_CELL_ID },
	[I_TRANSFER]   = { "transfer", NSX_CELL_NS },
};

enum { E_COMM, E_COLLECTIVE, E_PAIR, E_SEQ, E_DEVICE, E_START, E_DUR, E_BYTES, E_GROUP, E_CALLS, E_ALGBW, E_BUSBW,
       E_WAIT, E_HIDDEN, E_OP, E_COLS };
static const struct nsx_table_col each_cols[E_COLS] = {
	[E_COMM]       = { "comm_id", NSX_CELL_STRING },
	[E_COLLECTIVE] = { "collective", NSX_CELL_STRING },
	[E_PAIR]       = { "pair", NSX_CELL_STRING },
	[E_SEQ]        = { "seq", NSX_CELL_ID },
	[E_DEVICE]     = { "device", NSX_CELL_ID },
	[E_START]      = { "start", NSX_CELL_TIME },
	[E_DUR]        = { "dur", NSX_CELL_NS },
	[E_BYTES]      = { "bytes", NSX_CELL_BYTES },
	[E_GROUP]      = { "group", NSX_CELL_ID },
	[E_CALLS]      = { "calls", NSX_CELL_INT },
	[E_ALGBW]      = { "algbw", NSX_CELL_GBPS },
	[E_BUSBW]      = { "busbw", NSX_CELL_GBPS },
	[E_WAIT]       = { "wait", NSX_CELL_NS },
	[E_HIDDEN]     = { "hidden", NSX_CELL_NS },
	[E_OP]         = { "op", NSX_CELL_ID },
};

/* What is kept of a record (struct nsx_collective). */
struct member { int64_t wait, start, dur, hidden, bytes, group, calls, op, device; };

/* n of them, from `first` on; strings of the catalogue. */
struct instance { size_t first; uint32_t n, comm_id, kind, pair; };

/* Instances: all of them if they come by time, and are sorted before the first row; otherwise the last one, whose row
 * is made at once. */
struct collected {
	struct nsx_collective_reading reading;
	NSX_VEC(struct member) records;
	NSX_VEC(struct instance) instances;
	struct nsx_err *err;
	struct nsx_nccl_table *out;
	bool    each;
	int64_t seq;         /* of the last row */
	struct instance last;/* whose row that was */
	bool    apart;       /* some instance is on clocks that cannot be compared */
	int64_t diags, without;
};

static struct nsx_str
text(const struct collected *c, uint32_t id)
{
	return id == NSX_NONE ? NSX_STR("") : nsx_cat_str(&c->reading.comm->cat, id);
}

static int
by_device(const void *a, const void *b)
{
	const struct nsx_collective *x = a, *y = b;

	return (x->device > y->device) - (x->device < y->device);
}

static int
count_diag(void *state, const struct nsx_rec *rec)
{
	struct collected *c = state;

	c->diags += rec->kind->id == NSX_DIAG;
	return NSX_OK;
}

/* Whether two instances are of one communicator, kind and pair of ranks. */
static int
key_cmp(const struct collected *c, const struct instance *a, const struct instance *b)
{
	int order = a->comm_id == b->comm_id ? 0 : nsx_str_cmp(text(c, a->comm_id), text(c, b->comm_id));

	if (!order && a->kind != b->kind)
		order = nsx_str_cmp(text(c, a->kind), text(c, b->kind));
	if (!order && a->pair != b->pair)
		order = nsx_str_cmp(text(c, a->pair), text(c, b->pair));
	return order;
}

static int
by_key(const void *a, const void *b, const void *collected)
{
	const struct collected *c = collected;
	const struct instance *x = a, *y = b;
	int order = key_cmp(c, x, y);

	/* Those of a key are complete in their order, but for ties. */
	return order ? order : (x->first > y->first) - (x->first < y->first);
}

/* The results for an instance. */
struct whole {
	int64_t group, bytes, calls, skew, transfer;   /* ABSENT: group, bytes, calls unknown */
	const struct member *fastest, *late;   /* the shortest with a bandwidth; the last to start, if one is */
};

static int64_t
larger(int64_t a, int64_t b)
{
	return a == NSX_ABSENT || (b != NSX_ABSENT && b > a) ? b : a;
}

static bool
has_bandwidth(const struct member *o)
{
	return o->group > 0 && o->bytes >= 0 && o->dur > 0;
}

/* algbw, and busbw in the next column. */
static void
put_bandwidth(struct nsx_table *t, struct nsx_str kind, const struct member *o, int col)
{
	double algbw, busbw;

	nsx_comm_bandwidth(kind, o->bytes, o->group, o->dur, &algbw, &busbw);
	nsx_table_double(t, col, algbw);
	nsx_table_double(t, col + 1, busbw);
}

static struct whole
sum_up(const struct member *of, size_t n)
{
	struct whole w = { NSX_ABSENT, NSX_ABSENT, NSX_ABSENT, 0, 0, NULL, NULL };
	int64_t first = of->start, last = of->start, end = INT64_MIN;
	size_t lasts = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t own = nsx_add_sat(of[i].start, of[i].dur, NULL);

		w.group = larger(w.group, of[i].group);
		w.bytes = larger(w.bytes, of[i].bytes);
		w.calls = larger(w.calls, of[i].calls);
		end = own > end ? own : end;
		first = of[i].start < first ? of[i].start : first;
		last = of[i].start > last ? of[i].start : last;
		if (has_bandwidth(&of[i]) && (!w.fastest || of[i].dur < w.fastest->dur))
			w.fastest = &of[i];
	}
	for (size_t i = 0; i < n; i++) {
		lasts += of[i].start == last;
		w.late = of[i].start == last ? &of[i] : w.late;
	}
	w.late = lasts == 1 ? w.late : NULL;
	w.skew = nsx_sub_sat(last, first, NULL);
	w.transfer = nsx_sub_sat(end, last, NULL);
	return w;
}

static void
put_known(struct nsx_table *t, int col, int64_t v)
{
	if (v != NSX_ABSENT)
		nsx_table_int(t, col, v);
}

static void
put_key(struct nsx_table *t, const struct collected *c, const struct instance *o, int64_t seq)
{
	nsx_table_row(t);
	nsx_table_str(t, I_COMM, text(c, o->comm_id));
	nsx_table_str(t, I_COLLECTIVE, text(c, o->kind));
	nsx_table_str(t, I_PAIR, text(c, o->pair));
	nsx_table_int(t, I_SEQ, seq);
}

static void
put_instance(struct nsx_table *t, const struct collected *c, const struct instance *x, int64_t seq)
{
	struct whole w = sum_up(&c->records.p[x->first], x->n);

	put_key(t, c, x, seq);
	put_known(t, I_GROUP, w.group);
	nsx_table_int(t, I_RANKS, (int64_t)x->n);
	put_known(t, I_BYTES, w.bytes);
	put_known(t, I_CALLS, w.calls);
	if (w.fastest)
		put_bandwidth(t, text(c, x->kind), w.fastest, I_ALGBW);
	if (x->n > 1) {
		nsx_table_int(t, I_SKEW, w.skew);
		if (w.late)
			nsx_table_int(t, I_STRAGGLER, w.late->device);
	}
	nsx_table_int(t, I_TRANSFER, w.transfer);
}

static void
put_each(struct nsx_table *t, const struct collected *c, const struct instance *x, int64_t seq)
{
	for (size_t i = 0; i < x->n; i++) {
		const struct member *o = &c->records.p[x->first + i];

		put_key(t, c, x, seq);
		nsx_table_int(t, E_DEVICE, o->device);
		nsx_table_int(t, E_START, o->start);
		nsx_table_int(t, E_DUR, o->dur);
		put_known(t, E_BYTES, o->bytes);
		put_known(t, E_GROUP, o->group);
		put_known(t, E_CALLS, o->calls);
		if (has_bandwidth(o))
			put_bandwidth(t, text(c, x->kind), o, E_ALGBW);
		if (x->n > 1)
			put_known(t, E_WAIT, o->wait);
		put_known(t, E_HIDDEN, o->hidden);
		put_known(t, E_OP, o->op);
	}
}

/* The next row: instances of one key are numbered from 0. */
static void
put_row(struct collected *c, const struct instance *x)
{
	bool same = c->out->instances && key_cmp(c, &c->last, x) == 0;

	c->seq = same ? c->seq + 1 : 0;
	c->last = *x;
	c->out->instances++;
	(c->each ? put_each : put_instance)(c->out->table, c, x, c->seq);
}

static int
add_instance(void *state, struct nsx_collective *of, size_t n)
{
	struct collected *c = state;

	if (of->comm_id == NSX_NONE) {
		c->without += !of->thunk;
		return NSX_OK;
	}
	if (of->single) {
		c->apart |= of->apart;
		return NSX_OK;
	}
	if (!nsx_vec_room(&c->instances, 1) || !nsx_vec_room(&c->records, n))
		return nsx_err_nomem(c->err, NULL);
	c->instances.p[c->instances.n++] = (struct instance){ c->records.n, (uint32_t)n, of->comm_id, of->kind,
	    of->pair };
	qsort(of, n, sizeof *of, by_device);
	for (size_t i = 0; i < n; i++)
		c->records.p[c->records.n++] = (struct member){ of[i].wait, of[i].start, of[i].dur, of[i].hidden,
		    of[i].bytes,
		                                                of[i].group, of[i].calls, of[i].op, of[i].device };
	if (!nsx_collective_by_time(&c->reading)) {
		put_row(c, &c->instances.p[0]);
		c->records.n = c->instances.n = 0;
	}
	return NSX_OK;
}

/* Make the table, without rows. */
static int
begin(struct collected *c)
{
	struct nsx_table *t = nsx_table_new(c->each ? each_cols : instance_cols, c->each ? E_COLS : I_COLS);

	nsx_table_rank(t, c->each ? "collective device dur bytes busbw wait hidden start seq group"
	                          : "collective bytes group busbw skew straggler ranks transfer seq");
	nsx_table_adds(t, c->each ? "dur" : "transfer");
	c->out->table = t;
	return t ? NSX_OK : nsx_err_nomem(c->err, NULL);
}

int
nsx_nccl_instances(struct nsx_reader *in, bool each, struct nsx_nccl_table *t, struct nsx_diags *diags,
                   struct nsx_err *err)
{
	struct collected c = { .err = err, .out = t, .each = each };
	int rc;

	*t = (struct nsx_nccl_table){ 0 };
	if (begin(&c) != NSX_OK)
		return NSX_ERR;
	c.reading = (struct nsx_collective_reading){ .instance = add_instance, .other = count_diag, .state = &c };
	rc = nsx_collective_instances(in, &c.reading, diags, err);
	t->diags = c.diags;
	if (rc == NSX_OK && c.apart)
		rc = nsx_err_set(err,
			"devices of one NCCL communicator are on clocks that cannot be compared: put them on one with "
			"nsysx-align");
	if (rc == NSX_OK)
		nsx_sort_with(c.instances.p, c.instances.n, sizeof *c.instances.p, by_key, &c);
	for (size_t i = 0; i < c.instances.n && rc == NSX_OK; i++)
		put_row(&c, &c.instances.p[i]);
	if (rc != NSX_OK) {
		nsx_table_free(t->table);
		t->table = NULL;
	} else {
		nsx_diag_add(diags, NSX_INFO, "", c.without,
		             "communicating operations whose NCCL communicator is not known: in no instance");
	}
	nsx_collective_reading_free(&c.reading);
	free(c.records.p);
	free(c.instances.p);
	return rc;
}
