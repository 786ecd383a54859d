/* sums.c -- tables as definitions: rows by key, every kind of column, order, rows that are removed. */
#include "tap.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/stat.h"
#include "stream/kinds.h"
#include "table/sums.h"

struct row {
	int64_t key;
	int64_t n, maybe;
	nsx_u128 time, whole;
	double  rate;
	struct nsx_stat stat;
};

#define AT(member) offsetof(struct row, member), 0, NULL
static const struct nsx_sum_col cols[] = {
	{ "key",     NSX_CELL_INT,     NSX_SUM_INT,    AT(key) },
	{ "maybe",   NSX_CELL_INT,     NSX_SUM_INT,    AT(maybe) },
	{ "time",    NSX_CELL_NS,      NSX_SUM_TOTAL,  AT(time) },
	{ "mean",    NSX_CELL_MEAN_NS, NSX_SUM_MEAN,   offsetof(struct row, time), offsetof(struct row, n), NULL },
	{ "of_all",  NSX_CELL_SHARE,   NSX_SUM_SHARE,  AT(time) },
	{ "of_row",  NSX_CELL_SHARE,   NSX_SUM_SHARE,  offsetof(struct row, time), offsetof(struct row, whole), NULL },
	{ "rate",    NSX_CELL_DOUBLE,  NSX_SUM_DOUBLE, AT(rate) },
	{ "min",     NSX_CELL_NS,      NSX_SUM_MIN,    AT(stat) },
	{ "max",     NSX_CELL_NS,      NSX_SUM_MAX,    AT(stat) },
	{ "std",     NSX_CELL_MEAN_NS, NSX_SUM_STD,    AT(stat) },
	{ "relstd",  NSX_CELL_SHARE,   NSX_SUM_RELSTD, AT(stat) },
	{ "behind",  NSX_CELL_INT,     NSX_SUM_INT,    AT(n) },
};

static struct nsx_sum_def def = {
	sizeof(struct row), sizeof(int64_t), cols, sizeof cols / sizeof *cols - 1, NULL, "time", "time", 1
};

/* Rows 5, 3 and 7: all there is; one value and no whole; nothing. */
static void
fill(struct nsx_sums *s)
{
	struct row *r = nsx_sums_row(s, &(int64_t){ 5 });

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

/* The table as TSV, without its heading. */
static const char *
written(struct nsx_sums *s)
{
	static char text[4096];
	char path[] = "/tmp/nsysx-sums-XXXXXX";
	struct nsx_err err = { "" };
	struct nsx_table *t = nsx_sums_table(s, &err);
	int fd = mkstemp(path);
	struct nsx_outfile *out = nsx_outfile_open(path, &err);
	size_t n = 0;

	if (fd >= 0)
		close(fd);
	if (t && out && nsx_table_write(t, NSX_TABLE_TSV, -1, out, &err) == NSX_OK && nsx_outfile_commit(out) == NSX_OK) {
		FILE *f = fopen(path, "r");

		n = f ? fread(text, 1, sizeof text - 1, f) : 0;
		if (f)
			fclose(f);
	}
	nsx_outfile_free(out);
	nsx_table_free(t);
	unlink(path);
	text[n] = '\0';
	return strchr(text, '\n') ? strchr(text, '\n') + 1 : text;
}

/* Of 8, 16 and 24 the standard deviation is 8, half their mean. */
#define FIVE  "5\t0\t30\t7.5\t0.25\t0.5\t0.5\t8\t24\t8\t0.5\n"
#define THREE "3\t0\t90\t90\t0.75\t\t\t2\t2\t\t\n"
#define SEVEN "7\t\t\t\t\t\t\t\t\t\t\n"

static bool
is_known(const void *row)
{
	return ((const struct row *)row)->n > 0;
}

static void
in_order(const char *order, const char *want, const char *claim)
{
	struct nsx_sums s = { .def = &def };

	def.order = order;
	fill(&s);
	is_str(written(&s), want, "%s", claim);
	nsx_sums_free(&s);
}

int
main(void)
{
	struct nsx_sums s = { .def = &def };
	struct nsx_err err = { "" };

	in_order(NULL, FIVE THREE SEVEN, "without an order rows come as they were first used");
	in_order("key", THREE FIVE SEVEN, "the smallest first");
	in_order("-key", SEVEN FIVE THREE, "with - the largest first");
	in_order("-behind", FIVE THREE SEVEN, "a column that is not shown orders");
	in_order("-relstd key", FIVE THREE SEVEN, "what is not known is less than anything known, and equal to itself");
	in_order("of_all key", SEVEN FIVE THREE, "shares order");
	in_order("max key", SEVEN THREE FIVE, "the largest value orders");

	def.order = "key";
	fill(&s);
	s.whole = 0;
	is_int((int64_t)nsx_sums_keep(&s, is_known), 1, "one row is removed");
	is_int((int64_t)nsx_sums_count(&s), 2, "the others remain");
	is_str(written(&s), "3\t0\t90\t90\t\t\t\t2\t2\t\t\n5\t0\t30\t7.5\t\t0.5\t0.5\t8\t24\t8\t0.5\n",
	       "and without a whole there are no shares of it");
	nsx_sums_cut(&s, 5);
	is_int((int64_t)nsx_sums_count(&s), 2, "cut to more than there are");
	nsx_sums_cut(&s, 1);
	is_int(((struct row *)nsx_sums_at(&s, 0))->key + (int64_t)nsx_sums_count(&s), 3 + 1, "cut to the first");
	((struct row *)nsx_sums_at(&s, 0))->time = (nsx_u128)1 << 63;
	ok(!nsx_sums_table(&s, &err), "a total beyond 63 bits is refused");
	nsx_sums_free(&s);
	return done();
}
