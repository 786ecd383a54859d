/* nccl_instances.c -- see nccl_instances.h. */
#include "table/nccl_instances.h"

#include "base/num.h"
#include "job/nccl.h"

enum { I_COMM, I_COLLECTIVE, I_PAIR, I_SEQ, I_GROUP, I_RANKS, I_BYTES, I_CALLS, I_ALGBW, I_BUSBW, I_SKEW, I_STRAGGLER,
       I_TRANSFER, I_COLS };
static const struct nsx_table_col instance_cols[I_COLS] = {
	[I_COMM]       = { "comm_id", NSX_CELL_STRING },
	[I_COLLECTIVE] = { "collective", NSX_CELL_STRING },
	[I_PAIR]       = { "pair", NSX_CELL_STRING },
	[I_SEQ]        = { "seq", NSX_CELL_INT },
	[I_GROUP]      = { "group", NSX_CELL_INT },
	[I_RANKS]      = { "ranks", NSX_CELL_INT },
	[I_BYTES]      = { "bytes", NSX_CELL_BYTES },
	[I_CALLS]      = { "calls", NSX_CELL_INT },
	[I_ALGBW]      = { "algbw", NSX_CELL_GBPS },
	[I_BUSBW]      = { "busbw", NSX_CELL_GBPS },
	[I_SKEW]       = { "skew", NSX_CELL_NS },
	[I_STRAGGLER]  = { "straggler", NSX_CELL_INT },
	[I_TRANSFER]   = { "transfer", NSX_CELL_NS },
};

enum { E_COMM, E_COLLECTIVE, E_PAIR, E_SEQ, E_DEVICE, E_START, E_DUR, E_BYTES, E_GROUP, E_CALLS, E_ALGBW, E_BUSBW,
       E_WAIT, E_HIDDEN, E_OP, E_COLS };
static const struct nsx_table_col each_cols[E_COLS] = {
	[E_COMM]       = { "comm_id", NSX_CELL_STRING },
	[E_COLLECTIVE] = { "collective", NSX_CELL_STRING },
	[E_PAIR]       = { "pair", NSX_CELL_STRING },
	[E_SEQ]        = { "seq", NSX_CELL_INT },
	[E_DEVICE]     = { "device", NSX_CELL_INT },
	[E_START]      = { "start", NSX_CELL_TIME },
	[E_DUR]        = { "dur", NSX_CELL_NS },
	[E_BYTES]      = { "bytes", NSX_CELL_BYTES },
	[E_GROUP]      = { "group", NSX_CELL_INT },
	[E_CALLS]      = { "calls", NSX_CELL_INT },
	[E_ALGBW]      = { "algbw", NSX_CELL_GBPS },
	[E_BUSBW]      = { "busbw", NSX_CELL_GBPS },
	[E_WAIT]       = { "wait", NSX_CELL_NS },
	[E_HIDDEN]     = { "hidden", NSX_CELL_NS },
	[E_OP]         = { "op", NSX_CELL_INT },
};

/* The results for an instance. */
struct whole {
	int64_t group, bytes, calls, first, last, end;   /* first and last start; -1: group, bytes, calls unknown */
	size_t  fastest, late;                           /* of its operations: the shortest with a bandwidth, the last
	                                                  * to start */
	bool    has_fastest, one_late;
};

static struct nsx_str
text(const struct nsx_nccl_set *s, uint32_t n)
{
	return nsx_intern_str(&s->texts, n);
}

static bool
has_bandwidth(const struct nsx_nccl_op *o)
{
	return o->group > 0 && o->bytes >= 0 && o->dur > 0;
}

static struct whole
sum_up(const struct nsx_nccl_set *s, size_t from, size_t to)
{
	const struct nsx_nccl_op *o = s->ops.p;
	struct whole w = { .group = -1, .bytes = -1, .calls = -1, .first = o[from].start, .last = o[from].start,
	                   .end = INT64_MIN, .late = from, .one_late = true };

	for (size_t i = from; i < to; i++) {
		int64_t end = nsx_add_sat(o[i].start, o[i].dur, NULL);
		w.group = o[i].group > w.group ? o[i].group : w.group;
		w.bytes = o[i].bytes > w.bytes ? o[i].bytes : w.bytes;
		w.calls = o[i].calls > w.calls ? o[i].calls : w.calls;
		w.end = end > w.end ? end : w.end;
		w.first = o[i].start < w.first ? o[i].start : w.first;
		if (i > from && o[i].start >= w.last) {
			w.one_late = o[i].start > w.last;
			w.last = o[i].start;
			w.late = i;
		}
		if (has_bandwidth(&o[i]) && (!w.has_fastest || o[i].dur < o[w.fastest].dur)) {
			w.fastest = i;
			w.has_fastest = true;
		}
	}
	return w;
}

static void
put_known(struct nsx_table *t, int col, int64_t v)
{
	if (v >= 0)
		nsx_table_int(t, col, v);
}

/* algbw, and busbw in the next column. */
static void
put_bandwidth(struct nsx_table *t, const struct nsx_nccl_set *s, const struct nsx_nccl_op *o, int col)
{
	double algbw, busbw;

	nsx_comm_bandwidth(text(s, s->keys.p[o->key].kind), o->bytes, o->group, o->dur, &algbw, &busbw);
	nsx_table_double(t, col, algbw);
	nsx_table_double(t, col + 1, busbw);
}

static void
put_instance(struct nsx_table *t, const struct nsx_nccl_set *s, size_t from, size_t to)
{
	const struct nsx_nccl_op *o = &s->ops.p[from];
	const struct nsx_nccl_key *k = &s->keys.p[o->key];
	struct whole w = sum_up(s, from, to);

	nsx_table_row(t);
	nsx_table_str(t, I_COMM, text(s, k->comm));
	nsx_table_str(t, I_COLLECTIVE, text(s, k->kind));
	nsx_table_str(t, I_PAIR, text(s, k->pair));
	nsx_table_int(t, I_SEQ, o->seq);
	put_known(t, I_GROUP, w.group);
	nsx_table_int(t, I_RANKS, (int64_t)(to - from));
	put_known(t, I_BYTES, w.bytes);
	put_known(t, I_CALLS, w.calls);
	if (w.has_fastest)
		put_bandwidth(t, s, &s->ops.p[w.fastest], I_ALGBW);
	if (to - from > 1) {
		nsx_table_int(t, I_SKEW, nsx_sub_sat(w.last, w.first, NULL));
		if (w.one_late)
			nsx_table_int(t, I_STRAGGLER, s->devices.p[s->ops.p[w.late].device].number);
	}
	nsx_table_int(t, I_TRANSFER, nsx_sub_sat(w.end, w.last, NULL));
}

static void
put_each(struct nsx_table *t, const struct nsx_nccl_set *s, size_t from, size_t to)
{
	struct whole w = sum_up(s, from, to);

	for (size_t i = from; i < to; i++) {
		const struct nsx_nccl_op *o = &s->ops.p[i];
		const struct nsx_nccl_key *k = &s->keys.p[o->key];
		nsx_table_row(t);
		nsx_table_str(t, E_COMM, text(s, k->comm));
		nsx_table_str(t, E_COLLECTIVE, text(s, k->kind));
		nsx_table_str(t, E_PAIR, text(s, k->pair));
		nsx_table_int(t, E_SEQ, o->seq);
		nsx_table_int(t, E_DEVICE, s->devices.p[o->device].number);
		nsx_table_int(t, E_START, o->start);
		nsx_table_int(t, E_DUR, o->dur);
		put_known(t, E_BYTES, o->bytes);
		put_known(t, E_GROUP, o->group);
		put_known(t, E_CALLS, o->calls);
		if (has_bandwidth(o))
			put_bandwidth(t, s, o, E_ALGBW);
		if (to - from > 1)
			nsx_table_int(t, E_WAIT, nsx_sub_sat(w.last, o->start, NULL));
		put_known(t, E_HIDDEN, o->hidden);
		put_known(t, E_OP, o->op);
	}
}

static int
read_all(struct nsx_reader *in, struct nsx_nccl_set *s, struct nsx_comm *comm, struct nsx_nccl_table *t,
         int64_t *without, struct nsx_err *err)
{
	struct nsx_rec rec;
	int rc;

	nsx_comm_need(comm, in);
	nsx_nccl_need(in);
	nsx_reader_need(in, NSX_DIAG, 0);
	nsx_reader_need(in, NSX_OP, nsx_field_slots(NSX_OP, NSX_CAT_COMM_ROLES));
	while ((rc = nsx_read(in, &rec)) == NSX_OK) {
		t->diags += rec.kind->id == NSX_DIAG;
		if (nsx_comm_take(comm, &rec, err) != NSX_OK)
			return NSX_ERR;
		bool op = rec.kind->id == NSX_OP;
		uint32_t clock = 0;
		if (rec.kind->id != NSX_COMMUNICATOR && !(op && nsx_cat_communicates(&comm->cat, &rec)))
			continue;
		if (op && !nsx_has(&rec, NSX_OP_comm_id)) {
			*without += !nsx_cat_inst_communicates(&comm->cat, &rec);
			continue;
		}
		if (op && (clock = nsx_comm_clock(comm, &rec)) == NSX_NONE)
			return nsx_err_nomem(err, NULL);
		if (nsx_nccl_take(s, &rec, clock, err) != NSX_OK)
			return NSX_ERR;
	}
	return rc == NSX_EOF ? NSX_OK : NSX_ERR;
}

static int
make(const struct nsx_nccl_set *s, bool each, struct nsx_nccl_table *t, struct nsx_err *err)
{
	t->table = nsx_table_new(each ? each_cols : instance_cols, each ? E_COLS : I_COLS);
	nsx_table_rank(t->table, each ? "collective device dur bytes busbw wait hidden start seq group"
	                              : "collective bytes group busbw skew straggler ranks transfer seq");
	nsx_table_adds(t->table, each ? "dur" : "transfer");
	if (!t->table)
		return nsx_err_nomem(err, NULL);
	for (size_t i = 0, k; i < s->ops.n; i = k) {
		k = nsx_nccl_instance(s, i);
		t->instances++;
		(each ? put_each : put_instance)(t->table, s, i, k);
	}
	return NSX_OK;
}

int
nsx_nccl_instances(struct nsx_reader *in, bool each, struct nsx_nccl_table *t, struct nsx_diags *diags,
                   struct nsx_err *err)
{
	struct nsx_nccl_set s = { 0 };
	struct nsx_comm comm = { 0 };
	int64_t without = 0;

	*t = (struct nsx_nccl_table){ 0 };
	int rc = read_all(in, &s, &comm, t, &without, err);
	if (rc == NSX_OK && nsx_nccl_apart(&s))
		rc = nsx_err_set(err,
			"devices of one NCCL communicator are on clocks that cannot be compared: put them on one with "
			"nsysx-align");
	if (rc == NSX_OK)
		rc = nsx_nccl_number(&s, err);
	if (rc == NSX_OK)
		rc = make(&s, each, t, err);
	if (rc == NSX_OK) {
		nsx_diag_add(diags, NSX_INFO, "", without,
		             "communicating operations whose NCCL communicator is not known: in no instance");
		nsx_diag_add(diags, NSX_WARNING, "", s.lost,
		             "kinds of operations of a communicator of which the capture of a device lacks some that "
		             "others have: those around them are paired by their ends");
		nsx_diag_add(diags, NSX_INFO, "", s.loose,
		             "send-recvs between unknown ranks: in no instance");
		nsx_comm_flag_diags(&comm, diags);
	}
	nsx_nccl_free(&s);
	nsx_comm_free(&comm);
	return rc;
}
