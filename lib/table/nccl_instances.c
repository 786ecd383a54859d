/* nccl_instances.c -- see nccl_instances.h. */
#include "table/nccl_instances.h"

#include <math.h>
#include <stdlib.h>

#include "base/input.h"
#include "base/num.h"
#include "base/sort.h"
#include "base/vec.h"
#include "job/comm/reading.h"
#include "table/sums.h"

/* A row: of an instance, or of a device's record of one; NSX_ABSENT and NaN: not known. */
struct row {
	uint32_t comm_id, kind, pair;                 /* strings of the catalogue */
	int64_t  seq, group, bytes, calls;
	double   algbw, busbw;
	int64_t  ranks, skew, straggler, transfer;    /* of an instance */
	int64_t  device, start, dur, wait, hidden, op;
};

#define NSX_ROW struct row
static const struct nsx_sum_col cols[] = {
	NSX_COL("comm_id", STRING, comm_id), NSX_COL("collective", STRING, kind), NSX_COL("pair", STRING, pair),
	NSX_COL("seq", ID, seq), NSX_COL("group", ID, group), NSX_COL("bytes", BYTES, bytes),
	NSX_COL("calls", INT, calls), NSX_COL("algbw", GBPS, algbw), NSX_COL("busbw", GBPS, busbw),
	NSX_COL("ranks", INT, ranks), NSX_COL("skew", NS, skew), NSX_COL("straggler", ID, straggler),
	NSX_COL("transfer", NS, transfer), NSX_COL("device", ID, device), NSX_COL("start", TIME, start),
	NSX_COL("dur", NS, dur), NSX_COL("wait", NS, wait), NSX_COL("hidden", NS, hidden), NSX_COL("op", ID, op),
};
static const struct nsx_sum_def of_instances = {
	NSX_ROWS(cols),
	.shown = "comm_id collective pair seq group ranks bytes calls algbw busbw skew straggler transfer",
	.rank = "collective bytes group busbw skew straggler ranks transfer seq", .adds = "transfer"
}, of_each = {
	NSX_ROWS(cols),
	.shown = "comm_id collective pair seq device start dur bytes group calls algbw busbw wait hidden op",
	.rank = "collective device dur bytes busbw wait hidden start seq group", .adds = "dur"
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
	struct nsx_sums sums;   /* of struct row: not kept */
	struct nsx_err *err;
	struct nsx_table *table;
	bool    each;
	int64_t made;        /* rows so far */
	int64_t seq;         /* of the last row */
	struct instance last;/* whose row that was */
	bool    apart;       /* some instance is on clocks that cannot be compared */
	int64_t without;
};

static struct nsx_str
text(const struct collected *c, uint32_t id)
{
	return nsx_cat_str(&c->reading.comm->cat, id);
}

NSX_ORDER(by_device, struct nsx_collective, NSX_CMP(a->device, b->device))

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
	return order ? order : nsx_int_cmp((int64_t)x->first, (int64_t)y->first);
}

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

static void
set_bandwidth(const struct collected *c, struct row *r, const struct member *o)
{
	if (has_bandwidth(o))
		nsx_comm_bandwidth(text(c, r->kind), o->bytes, o->group, o->dur, &r->algbw, &r->busbw);
}

/* Of an instance: the bandwidth is that of the shortest record; the straggler the last to start, if one is. */
static int
put_instance(const struct collected *c, struct row r, const struct member *of, size_t n)
{
	int64_t first = of->start, last = of->start, end = INT64_MIN;
	const struct member *fastest = of;
	size_t lasts = 0;

	r.group = r.bytes = r.calls = r.straggler = NSX_ABSENT;
	for (size_t i = 0; i < n; i++) {
		int64_t own = nsx_add_sat(of[i].start, of[i].dur, NULL);

		r.group = larger(r.group, of[i].group);
		r.bytes = larger(r.bytes, of[i].bytes);
		r.calls = larger(r.calls, of[i].calls);
		end = own > end ? own : end;
		first = of[i].start < first ? of[i].start : first;
		last = of[i].start > last ? of[i].start : last;
		if (has_bandwidth(&of[i]) && (!has_bandwidth(fastest) || of[i].dur < fastest->dur))
			fastest = &of[i];
	}
	for (size_t i = 0; i < n; i++) {
		lasts += of[i].start == last;
		r.straggler = of[i].start == last ? of[i].device : r.straggler;
	}
	set_bandwidth(c, &r, fastest);
	r.ranks = (int64_t)n;
	r.skew = n > 1 ? nsx_sub_sat(last, first, NULL) : NSX_ABSENT;
	r.straggler = n > 1 && lasts == 1 ? r.straggler : NSX_ABSENT;
	r.transfer = nsx_sub_sat(end, last, NULL);
	return nsx_sums_put(&c->sums, c->table, &r, c->err);
}

static int
put_each(const struct collected *c, struct row r, const struct member *of, size_t n)
{
	int rc = NSX_OK;

	for (size_t i = 0; i < n && rc == NSX_OK; i++) {
		const struct member *o = &of[i];

		r.algbw = r.busbw = NAN;
		r.device = o->device;
		r.start = o->start;
		r.dur = o->dur;
		r.bytes = o->bytes;
		r.group = o->group;
		r.calls = o->calls;
		r.wait = n > 1 ? o->wait : NSX_ABSENT;
		r.hidden = o->hidden;
		r.op = o->op;
		set_bandwidth(c, &r, o);
		rc = nsx_sums_put(&c->sums, c->table, &r, c->err);
	}
	return rc;
}

/* The next row: instances of one key are numbered from 0. */
static int
put_row(struct collected *c, const struct instance *x)
{
	bool same = c->made && key_cmp(c, &c->last, x) == 0;

	c->seq = same ? c->seq + 1 : 0;
	c->last = *x;
	c->made++;
	return (c->each ? put_each : put_instance)(c, (struct row){ .comm_id = x->comm_id, .kind = x->kind,
	    .pair = x->pair, .seq = c->seq, .algbw = NAN, .busbw = NAN }, &c->records.p[x->first], x->n);
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
		    of[i].bytes, of[i].group, of[i].calls, of[i].op, of[i].device };
	if (!nsx_collective_by_time(&c->reading)) {
		c->records.n = c->instances.n = 0;
		return put_row(c, &c->instances.p[0]);
	}
	return NSX_OK;
}

int
nsx_nccl_instances(struct nsx_reader *in, const void *options, struct nsx_table **table, struct nsx_diags *diags,
                   struct nsx_err *err)
{
	const struct nsx_nccl_options *o = options;
	struct collected c = { .err = err, .each = o->each };
	int rc;

	*table = NULL;
	c.sums = (struct nsx_sums){ .def = o->each ? &of_each : &of_instances,
	                            .texts = &c.reading.pairing.comm.cat.strings };
	c.table = nsx_sums_begin(&c.sums, err);
	if (!c.table)
		return NSX_ERR;
	c.reading = (struct nsx_collective_reading){ .instance = add_instance, .state = &c };
	rc = nsx_collective_instances(in, &c.reading, diags, err);
	if (rc == NSX_OK && c.apart)
		rc = nsx_err_set(err,
			"devices of one NCCL communicator are on clocks that cannot be compared: put them on one with "
			"nsysx-align");
	if (rc == NSX_OK)
		nsx_sort_with(c.instances.p, c.instances.n, sizeof *c.instances.p, by_key, &c);
	for (size_t i = 0; i < c.instances.n && rc == NSX_OK; i++)
		rc = put_row(&c, &c.instances.p[i]);
	if (rc == NSX_OK && o->some && !c.made)
		rc = nsx_err_set(err, "%s: no collective record", nsx_reader_input(in)->name);
	if (rc == NSX_OK) {
		*table = c.table;
		nsx_diag_add(diags, NSX_INFO, "", c.without,
		             "communicating operations whose NCCL communicator is not known: in no instance");
	} else {
		nsx_table_free(c.table);
	}
	nsx_collective_reading_free(&c.reading);
	free(c.records.p);
	free(c.instances.p);
	return rc;
}
