/* sums.c -- tables by definition: every kind of column, order, rows that are removed. Compared with the description in
 * lib/table/sums.h. */
#include "table/sums.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/stat.h"
#include "stream/kinds.h"
#include "tap.h"

struct row {
	int64_t  device;                 /* the key */
	int64_t  count, times;
	nsx_u128 sum, known;
	double   real;
	struct nsx_str str;
	uint32_t text;
};

static const char *
size_of(const void *row)
{
	return ((const struct row *)row)->count > 2 ? "many" : "";
}

#define AT(member) offsetof(struct row, member), 0, NULL
#define BY(member, of) offsetof(struct row, member), offsetof(struct row, of), NULL
static const struct nsx_sum_col cols[] = {
	{ "device", NSX_CELL_ID,     NSX_SUM_INT,   AT(device) },
	{ "count",  NSX_CELL_INT,     NSX_SUM_INT,   AT(count) },
	{ "sum",    NSX_CELL_NS,      NSX_SUM_TOTAL, AT(sum) },
	{ "if",     NSX_CELL_NS,      NSX_SUM_TOTAL, AT(known) },
	{ "mean",   NSX_CELL_MEAN_NS, NSX_SUM_MEAN,  BY(sum, count) },
	{ "ratio",  NSX_CELL_SHARE,   NSX_SUM_RATIO, BY(count, times) },
	{ "said",   NSX_CELL_STRING,  NSX_SUM_SAID,  0, 0, size_of },
	{ "str",    NSX_CELL_STRING,  NSX_SUM_STR,   AT(str) },
	{ "text",   NSX_CELL_STRING,  NSX_SUM_TEXT,  AT(text) },
	{ "real",   NSX_CELL_DOUBLE,  NSX_SUM_REAL,  AT(real) },
};
#define ROWS .size = sizeof(struct row), .key = sizeof(int64_t), .cols = cols, .ncols = sizeof cols / sizeof *cols

static struct nsx_str
text_of(const void *texts, uint32_t id)
{
	return nsx_str_c(((const char *const *)texts)[id]);
}
static const char *const texts[] = { "zero", "one" };

/* The table as TSV, which ends it; "" if there is none. */
static const char *
tsv(struct nsx_table *t)
{
	static char text[4096];
	struct nsx_buf b = { 0 };

	if (t)
		nsx_table_tsv(t, &b);
	snprintf(text, sizeof text, "%.*s", (int)b.len, b.len ? b.ptr : "");
	nsx_buf_free(&b);
	nsx_table_free(t);
	return text;
}

static void
add(struct nsx_sums *s, int64_t device, int64_t count, nsx_u128 sum)
{
	struct row *r = nsx_sums_row(s, &device);

	r->count += count;
	r->sum += sum;
	r->real = NAN;
}

static void
test_cells(void)
{
	static const struct nsx_sum_def def = { ROWS, .order = "device" };
	struct nsx_sums s = { .def = &def, .text = text_of, .state = texts };
	struct nsx_err err = { "" };

	add(&s, 7, 1, 10);
	add(&s, NSX_ABSENT, 3, 9);
	add(&s, 7, 3, 20);
	is_int((int64_t)nsx_sums_count(&s), 2, "a key is a row");
	struct row *r = nsx_sums_row(&s, &(int64_t){ 7 });
	r->times = 2;
	r->known = 30;
	r->real = 0.5;
	r->str = NSX_STR("here");
	r->text = 1;
	r = nsx_sums_row(&s, &(int64_t){ NSX_ABSENT });
	r->known = NSX_SUM_NONE;
	is_str(tsv(nsx_sums_table(&s, &err)), "device\tcount\tsum\tif\tmean\tratio\tsaid\tstr\ttext\treal\n"
	       "\t3\t9\t\t3\t\tmany\t\tzero\t\n7\t4\t30\t30\t7.5\t2\tmany\there\tone\t0.5\n",
	       "a cell for each way to show a member; none where it is absent");
	nsx_sums_free(&s);
}

static void
test_find(void)
{
	static const struct nsx_sum_def def = { ROWS }, wide = { .size = 40, .key = 24 };
	struct nsx_sums s = { .def = &def }, w = { .def = &wide };
	int64_t key[3] = { 1, 2, 3 };

	add(&s, 5, 1, 1);
	add(&s, 6, 1, 1);
	is_int(nsx_sums_find(&s, &(int64_t){ 6 }), 1, "a row is found by a short key");
	is_int(nsx_sums_find(&s, &(int64_t){ 8 }), NSX_NONE, "... and not made");
	is_int((int64_t)nsx_sums_count(&s), 2, "... nor counted");
	nsx_sums_row(&w, key);
	key[2] = 4;
	is_int(nsx_sums_number(&w, key), 1, "long keys differ in their last bytes");
	is_int(nsx_sums_find(&w, key), 1, "... and are found");
	key[2] = 5;
	is_int(nsx_sums_find(&w, key), NSX_NONE, "... or not");
	nsx_sums_free(&s);
	nsx_sums_free(&w);
}

static void
test_order(void)
{
	static const struct nsx_sum_def def = { ROWS, .shown = "real device", .order = "-real device" };
	static const double reals[] = { 1, NAN, 3, -1, 3, NAN };
	struct nsx_sums s = { .def = &def };
	struct nsx_err err = { "" };

	for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
		struct row *r = nsx_sums_add(&s);

		r->device = 9 - (int64_t)i;
		r->real = reals[i];
	}
	is_str(tsv(nsx_sums_table(&s, &err)), "real\tdevice\n3\t5\n3\t7\n1\t9\n-1\t6\n\t4\n\t8\n",
	       "a list by its order, columns by name, no number below all");
	nsx_sums_free(&s);
}

static void
test_steps(void)
{
	static const struct nsx_sum_def def = { ROWS, .shown = "count device" };
	const struct nsx_table_col more[] = { { "more", NSX_CELL_INT } };
	struct nsx_sums s = { .def = &def, .more = more, .nmore = 1 };
	struct nsx_err err = { "" };
	struct nsx_table *t = nsx_sums_begin(&s, &err);

	nsx_sums_put(&s, t, &(struct row){ .device = 2, .count = 1 }, &err);
	nsx_table_int(t, s.cells, 5);
	nsx_sums_put(&s, t, &(struct row){ .device = 1, .count = 1 }, &err);
	is_str(tsv(t), "count\tdevice\tmore\n1\t2\t5\n1\t1\t\n", "rows as they come, and columns of the caller");
	nsx_sums_free(&s);
}

static void
test_overflow(void)
{
	static const struct nsx_sum_def def = { ROWS, .shown = "device sum" };
	struct nsx_sums s = { .def = &def };
	struct nsx_err err = { "" };

	add(&s, 1, 1, INT64_MAX);
	is_str(tsv(nsx_sums_table(&s, &err)), "device\tsum\n1\t9223372036854775807\n", "a sum of 2^63 - 1 is exact");
	add(&s, 1, 1, 1);
	is_str(tsv(nsx_sums_table(&s, &err)), "", "a sum of 2^63 is refused");
	is_str(err.msg, "the sum of times exceeds 64 bits", "... with the reason");
	nsx_sums_free(&s);
}

/* What is a part of something, or of many values. */
struct part {
	int64_t  key, n, maybe;
	nsx_u128 time, whole;
	double   rate;
	struct nsx_stat stat;
};

#define PART(member) offsetof(struct part, member), 0, NULL
#define PART_OF(member, of) offsetof(struct part, member), offsetof(struct part, of), NULL
static const struct nsx_sum_col part_cols[] = {
	{ "key",    NSX_CELL_INT,     NSX_SUM_INT,    PART(key) },
	{ "maybe",  NSX_CELL_INT,     NSX_SUM_INT,    PART(maybe) },
	{ "time",   NSX_CELL_NS,      NSX_SUM_TOTAL,  PART(time) },
	{ "mean",   NSX_CELL_MEAN_NS, NSX_SUM_MEAN,   PART_OF(time, n) },
	{ "of_all", NSX_CELL_SHARE,   NSX_SUM_SHARE,  PART(time) },
	{ "of_row", NSX_CELL_SHARE,   NSX_SUM_SHARE,  PART_OF(time, whole) },
	{ "rate",   NSX_CELL_DOUBLE,  NSX_SUM_REAL,   PART(rate) },
	{ "min",    NSX_CELL_NS,      NSX_SUM_MIN,    PART(stat) },
	{ "max",    NSX_CELL_NS,      NSX_SUM_MAX,    PART(stat) },
	{ "std",    NSX_CELL_MEAN_NS, NSX_SUM_STD,    PART(stat) },
	{ "relstd", NSX_CELL_SHARE,   NSX_SUM_RELSTD, PART(stat) },
	{ "behind", NSX_CELL_INT,     NSX_SUM_INT,    PART(n) },
};
#define PARTS \
	.size = sizeof(struct part), .key = sizeof(int64_t), .cols = part_cols, \
	.ncols = sizeof part_cols / sizeof *part_cols, \
	.shown = "key maybe time mean of_all of_row rate min max std relstd"

/* Rows 5, 3 and 7: all there is; one value and no whole; nothing. */
static void
fill(struct nsx_sums *s)
{
	struct part *r = nsx_sums_row(s, &(int64_t){ 5 });

	r->n = 4;
	r->time = 30;
	r->whole = 60;
	r->rate = 0.5;
	nsx_stat_add(&r->stat, 8);
	nsx_stat_add(&r->stat, 16);
	nsx_stat_add(&r->stat, 24);
	r = nsx_sums_row(s, &(int64_t){ 3 });
	r->n = 1;
	r->time = 90;
	r->rate = NAN;
	nsx_stat_add(&r->stat, 2);
	r = nsx_sums_row(s, &(int64_t){ 7 });
	r->time = NSX_SUM_NONE;
	r->whole = 8;
	r->maybe = NSX_ABSENT;
	r->rate = NAN;
	s->whole = 120;
}

#define HEAD  "key\tmaybe\ttime\tmean\tof_all\tof_row\trate\tmin\tmax\tstd\trelstd\n"
/* Of 8, 16 and 24 the standard deviation is 8, half their mean. */
#define FIVE  "5\t0\t30\t7.5\t0.25\t0.5\t0.5\t8\t24\t8\t0.5\n"
#define THREE "3\t0\t90\t90\t0.75\t\t\t2\t2\t\t\n"
#define SEVEN "7\t\t\t\t\t\t\t\t\t\t\n"

static void
test_parts(void)
{
	static const struct { const char *order, *want, *claim; } cases[] = {
		{ NULL,          HEAD FIVE THREE SEVEN, "without an order rows come as they were first used" },
		{ "key",         HEAD THREE FIVE SEVEN, "the smallest first" },
		{ "-key",        HEAD SEVEN FIVE THREE, "with - the largest first" },
		{ "-behind",     HEAD FIVE THREE SEVEN, "a column that is not shown orders" },
		{ "-relstd key", HEAD FIVE THREE SEVEN, "what has no cell is below all others, and equal to itself" },
		{ "mean",        HEAD SEVEN FIVE THREE, "... for means, too" },
		{ "-time",       HEAD THREE FIVE SEVEN, "... and for totals" },
		{ "of_all key",  HEAD SEVEN FIVE THREE, "shares order" },
		{ "max key",     HEAD SEVEN THREE FIVE, "the largest value orders" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct nsx_sum_def def = { PARTS, .order = cases[i].order };
		struct nsx_sums s = { .def = &def };
		struct nsx_err err = { "" };

		fill(&s);
		is_str(tsv(nsx_sums_table(&s, &err)), cases[i].want, "%s", cases[i].claim);
		nsx_sums_free(&s);
	}
}

/* At least as many as *state. */
static bool
is_known(void *state, const void *row)
{
	return ((const struct part *)row)->n >= *(int64_t *)state;
}

static void
test_fewer(void)
{
	static const struct nsx_sum_def def = { PARTS, .order = "key" };
	struct nsx_sums s = { .def = &def };
	struct nsx_err err = { "" };

	fill(&s);
	s.whole = 0;
	is_int((int64_t)nsx_sums_keep(&s, is_known, &(int64_t){ 1 }), 1, "one row is removed");
	is_int((int64_t)nsx_sums_count(&s), 2, "the others remain");
	is_str(tsv(nsx_sums_table(&s, &err)), HEAD "3\t0\t90\t90\t\t\t\t2\t2\t\t\n"
	       "5\t0\t30\t7.5\t\t0.5\t0.5\t8\t24\t8\t0.5\n", "and without a whole there are no shares of it");
	nsx_sums_cut(&s, 5);
	is_int((int64_t)nsx_sums_count(&s), 2, "cut to more than there are");
	nsx_sums_cut(&s, 1);
	is_int(((struct part *)nsx_sums_at(&s, 0))->key + (int64_t)nsx_sums_count(&s), 3 + 1, "cut to the first");
	nsx_sums_free(&s);
}

/* ---- lists */

struct item { int64_t value; const char *word; struct nsx_samples of; };

#define OF(member) offsetof(struct item, member), 0, NULL
#define PERCENTILE(p) NSX_CELL_NS, NSX_SUM_PERCENTILE, offsetof(struct item, of), p, NULL
static const struct nsx_sum_col item_cols[] = {
	{ "value", NSX_CELL_NS,     NSX_SUM_INT,  OF(value) },
	{ "word",  NSX_CELL_STRING, NSX_SUM_WORD, OF(word) },
	{ "p50",   PERCENTILE(50) }, { "p99", PERCENTILE(99) },
};

static const struct nsx_sum_col name_cols[] = { { "name", NSX_CELL_STRING, NSX_SUM_TEXT, 0, 0, NULL } };
static const struct nsx_sum_def of_names = { .size = sizeof(uint32_t), .cols = name_cols, .ncols = 1,
                                             .order = "name" };

static void
test_lists(void)
{
	static const struct nsx_sum_def def = { .size = sizeof(struct item), .cols = item_cols, .ncols = 4,
		.order = "-value word", .heads = { { "value", "largest" } } };
	static const int64_t values[] = { 10, 20, 30, 40, 50 };
	static const struct item items[] = { { 1, "b", { values, 5 } }, { 1, "a", { values, 2 } }, { 2, NULL, { 0 } } };
	struct nsx_sums s = { .def = &def };
	struct nsx_err err = { "" };
	bool good = true;

	is_str(tsv(nsx_sums_list(&def, items, 3, &err)), "value\tword\tp50\tp99\n2\t\t\t\n1\ta\t10\t20\n1\tb\t30\t50\n",
	       "rows of an array, words that may be missing, percentiles");
	struct nsx_intern names = { 0 };
	struct nsx_sums named = { .def = &of_names, .texts = &names, .none = "[none]" };

	for (int i = 0; i < 2; i++) {
		uint32_t *name = nsx_sums_add(&named);

		if (name)
			*name = i ? (uint32_t)NSX_NONE : nsx_intern(&names, NSX_STR("first"));
	}
	is_str(tsv(nsx_sums_table(&named, &err)), "name\n[none]\nfirst\n", "texts by number, and one for none");
	nsx_sums_free(&named);
	nsx_intern_free(&names);
	is_str(tsv(nsx_sums_list(&def, items, 0, &err)), "value\tword\tp50\tp99\n", "no rows");
	for (int64_t i = 0; i < 1000; i++) {
		struct item x = { .value = i * 7 % 1000 };

		good &= nsx_sums_add_first(&s, 2, &x) && nsx_sums_count(&s) <= 2 * 2 + 64;
	}
	ok(good, "few rows are kept for the first two of many");
	nsx_sums_cut(&s, 2);
	struct nsx_table *t = nsx_sums_table(&s, &err);

	ok(t && nsx_table_named(t, nsx_str_c("largest")) == 0, "a column has its heading");
	is_str(tsv(t), "value\tword\tp50\tp99\n999\t\t\t\n998\t\t\t\n", "which are the largest");
	nsx_sums_free(&s);
}

int
main(void)
{
	test_lists();
	test_cells();
	test_find();
	test_order();
	test_steps();
	test_overflow();
	test_parts();
	test_fewer();
	return done();
}
