/* order.c -- the order of records: a strict weak order, as in docs/format.md. */
#include "tap.h"

#include <stdlib.h>

#include "stream/fields.h"
#include "stream/order.h"

enum { RECORDS = 300 };

static uint64_t seed = 88172645463325252ULL;

static uint64_t
rnd(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 11) % n;
}

struct one { struct nsx_rec rec; union nsx_val v[NSX_MAX_COLS]; };

/* Few values, so that there are ties at every level; also extremes. */
static void
make_record(struct one *o)
{
	static const int64_t numbers[] = { 0, 0, 1, 1, 2, -1, INT64_MAX, INT64_MIN };
	static const struct nsx_str names[] = { { "a", 1 }, { "a", 1 }, { "b", 1 }, { "ab", 2 } };
	const struct nsx_kind *k = nsx_kind_builtin((enum nsx_kind_id)rnd(NSX_NKINDS));

	o->rec = (struct nsx_rec){ k, 0, o->v };
	for (int i = 0; i < k->nslots; i++) {
		if (rnd(3) == 0)
			continue;
		if (k->cols[i].type == 'i')
			nsx_set_i(&o->rec, i, numbers[rnd(8)]);
		else if (k->cols[i].type == 's')
			nsx_set_s(&o->rec, i, names[rnd(4)]);
		else
			nsx_set_f(&o->rec, i, 0.5);
	}
}

static int
sign(int c)
{
	return (c > 0) - (c < 0);
}

/* docs/format.md, "Order", implemented differently: a list of the values compared. */
struct by { int64_t section, first, second; bool has_dur; int64_t dur, numbers[5]; struct nsx_str name; int64_t last; };

static int64_t
get(const struct nsx_rec *r, const char *column)
{
	int slot = nsx_kind_slot(r->kind, nsx_str_c(column));

	return slot < 0 ? INT64_MIN : nsx_int(r, slot, INT64_MIN);
}

static struct by
by_page(const struct nsx_rec *r)
{
	static const char *const work[] = { "overhead", "call", "os", "off", "gil", "sample", "module", "range",
	                                    "thunk", "op", "collective", "step", "idle", "metric", "memory" };
	enum { NWORK = sizeof work / sizeof *work };
	static const char *const metadata[] = { "profile", "device", "thread", "communicator", "clock", "program", "alias", "groups", "stack",
	                                        "inst", "loc" };
	static const char *const columns[] = { "profile", "device", "pid", "tid", "range" };
	struct by b = { .section = 4, .name = { "", 0 } };
	const char *kind = r->kind->name, *dur = "dur";

	for (size_t i = 0; i < sizeof metadata / sizeof *metadata; i++)
		if (strcmp(kind, metadata[i]) == 0)
			b.section = 0;
	if (strcmp(kind, "skew") == 0)
		b.section = 3;
	if (strcmp(kind, "compile") == 0)
		return (struct by){ .section = 1, .first = get(r, "profile"), .second = get(r, "start"), .name = { "", 0 } };
	for (int i = 0; i < NWORK; i++) {
		if (strcmp(kind, work[i]) != 0)
			continue;
		b.section = 2;
		b.second = i;
		b.first = get(r, "start");
		if (strcmp(kind, "range") == 0) {
			int64_t host = get(r, "host_start");
			bool has_host = nsx_has(r, NSX_RANGE_host_start), has_gpu = nsx_has(r, NSX_RANGE_start);
			if (has_host && (!has_gpu || host < b.first))
				b.first = host;
			if (has_host)
				dur = "host_dur";
		}
		b.has_dur = nsx_has(r, nsx_kind_slot(r->kind, nsx_str_c(dur)));
		b.dur = get(r, dur);
		for (int c = 0; c < 5; c++)
			b.numbers[c] = get(r, columns[c]);
		b.name = nsx_string(r, nsx_kind_slot(r->kind, NSX_STR("name")) >= 0 ? nsx_kind_slot(r->kind, NSX_STR("name")) : 63);
		b.last = get(r, strcmp(kind, "op") == 0 || strcmp(kind, "collective") == 0 || strcmp(kind, "idle") == 0 ? "op" : "call");
	}
	return b;
}

static int
cmp(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int
cmp_by_page(const struct nsx_rec *x, const struct nsx_rec *y)
{
	struct by a = by_page(x), b = by_page(y);
	int c;

	if ((c = cmp(a.section, b.section)) || (c = cmp(a.first, b.first)) || (c = cmp(a.second, b.second)) || a.section != 2)
		return c;
	/* The longer first, records without a duration before all others; the maximum counts as none. */
	bool none = !a.has_dur || a.dur == INT64_MAX, nor = !b.has_dur || b.dur == INT64_MAX;
	if (none != nor)
		return none ? -1 : 1;
	if (!none && (c = cmp(b.dur, a.dur)))
		return c;
	for (int i = 0; i < 5; i++)
		if ((c = cmp(a.numbers[i], b.numbers[i])))
			return c;
	c = nsx_str_cmp(a.name, b.name);
	return c ? sign(c) : cmp(a.last, b.last);
}

static void
order(void)
{
	struct one *o = calloc(RECORDS, sizeof *o);
	signed char (*c)[RECORDS] = calloc(RECORDS, sizeof *c);
	int mirrored = 0, reflexive = 0, page = 0, chains = 0, ties = 0, key = 0;

	for (int i = 0; i < RECORDS; i++)
		make_record(&o[i]);
	for (int i = 0; i < RECORDS; i++)
		for (int j = 0; j < RECORDS; j++)
			c[i][j] = (signed char)sign(nsx_order_cmp(&o[i].rec, &o[j].rec));
	for (int i = 0; i < RECORDS; i++) {
		reflexive += c[i][i] == 0;
		for (int j = 0; j < RECORDS; j++) {
			struct nsx_order_key x, y;

			nsx_order_key(&o[i].rec, &x);
			nsx_order_key(&o[j].rec, &y);
			mirrored += c[i][j] == -c[j][i];
			page += c[i][j] == cmp_by_page(&o[i].rec, &o[j].rec);
			ties += i < j && c[i][j] == 0;
			key += sign(nsx_order_key_cmp(&x, &y)) * c[i][j] >= 0;
			/* Before, and equal, go on from one to the next. */
			for (int k = 0; k < RECORDS; k++)
				chains += c[i][j] > 0 || c[j][k] > 0 || c[i][k] == (c[i][j] + c[j][k] < 0 ? -1 : 0);
		}
	}
	is_int(reflexive, RECORDS, "no record comes before itself");
	is_int(mirrored, RECORDS * RECORDS, "of two records one comes first, or neither");
	is_int(chains, RECORDS * RECORDS * RECORDS, "it is an order");
	is_int(page, RECORDS * RECORDS, "the order is that of docs/format.md");
	is_int(key, RECORDS * RECORDS, "the key never contradicts the full comparison");
	ok(ties > 100, "there were ties");
	free(o);
	free(c);
}

static void
times(void)
{
	struct one o = { .rec = { nsx_kind_builtin(NSX_RANGE), 0, o.v } };
	int64_t t = -1;

	o.rec.v = o.v;
	ok(!nsx_order_time(&o.rec, &t), "a range without a time");
	is_int(nsx_order_end(&o.rec), INT64_MIN, "has no end");
	nsx_set_i(&o.rec, NSX_RANGE_host_start, 7);
	ok(nsx_order_time(&o.rec, &t) && t == 7, "a range without GPU work: the host's start");
	nsx_set_i(&o.rec, NSX_RANGE_start, 9);
	ok(nsx_order_time(&o.rec, &t) && t == 7, "with: the earlier");
	nsx_set_i(&o.rec, NSX_RANGE_start, 5);
	ok(nsx_order_time(&o.rec, &t) && t == 5, "whichever it is");
	nsx_set_i(&o.rec, NSX_RANGE_dur, 10);
	nsx_set_i(&o.rec, NSX_RANGE_host_dur, 2);
	is_int(nsx_order_end(&o.rec), 15, "it is over when both are");
	nsx_set_i(&o.rec, NSX_RANGE_host_dur, INT64_MAX);
	is_int(nsx_order_end(&o.rec), INT64_MAX, "an end beyond 64 bits");
	nsx_clear(&o.rec, NSX_RANGE_host_start);
	ok(nsx_order_time(&o.rec, &t) && t == 5, "without the host's: the GPU's");
	o = (struct one){ .rec = { nsx_kind_builtin(NSX_OP), 0, NULL } };
	o.rec.v = o.v;
	nsx_set_i(&o.rec, NSX_OP_host_start, 3);
	ok(!nsx_order_time(&o.rec, &t), "an operation is ordered by its GPU time only");
	o.rec.kind = nsx_kind_builtin(NSX_PROFILE);
	ok(!nsx_order_time(&o.rec, &t), "metadata have no time");

	struct nsx_order_key key;

	o = (struct one){ .rec = { nsx_kind_builtin(NSX_MEMORY), 0, NULL } };
	o.rec.v = o.v;
	nsx_set_i(&o.rec, NSX_MEMORY_start, 3);
	ok(nsx_order_key(&o.rec, &key) && key.first == 3 && key.third == INT64_MIN, "memory has no duration (make asan)");
}

int
main(void)
{
	order();
	times();
	return done();
}
