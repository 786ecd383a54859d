/* table.c -- every form of a table, against what its header says. */
#include "base/table.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "tap.h"

static const struct nsx_table_col cols[] = {
	{ "name", NSX_CELL_STRING }, { "n", NSX_CELL_INT }, { "t", NSX_CELL_NS }, { "b", NSX_CELL_BYTES }, { "x", NSX_CELL_DOUBLE },
	{ "m", NSX_CELL_MEAN_NS }, { "g", NSX_CELL_GBPS }, { "s", NSX_CELL_SHARE }, { "p", NSX_CELL_PERCENT }, { "last", NSX_CELL_STRING },
};

static void
add(struct nsx_table *t, const char *name, int64_t i, double d, const char *last)
{
	nsx_table_row(t);
	nsx_table_str(t, 0, nsx_str_c(name));
	for (int c = 1; c <= 3; c++)
		nsx_table_int(t, c, i);
	for (int c = 4; c <= 8; c++)
		nsx_table_double(t, c, d);
	nsx_table_str(t, 9, nsx_str_c(last));
}

/* What nsx_table_write writes. */
static const char *
written(const struct nsx_table *t, enum nsx_table_form form, int64_t diags)
{
	static char text[65536];
	char path[] = "/tmp/nsysx-table-XXXXXX";
	struct nsx_err err = { "" };
	int fd = mkstemp(path);
	struct nsx_outfile *out = nsx_outfile_open(path, &err);
	size_t n = 0;

	if (fd >= 0)
		close(fd);
	if (out && nsx_table_write(t, form, diags, out, &err) == NSX_OK && nsx_outfile_commit(out) == NSX_OK) {
		FILE *f = fopen(path, "r");
		n = f ? fread(text, 1, sizeof text - 1, f) : 0;
		if (f)
			fclose(f);
	}
	nsx_outfile_free(out);
	unlink(path);
	text[n] = '\0';
	return text;
}

static void
empty(void)
{
	struct nsx_table *t = nsx_table_new(cols, 2);

	is_str(written(t, NSX_TABLE_TSV, 3), "name\tn\n", "TSV without rows is its header");
	is_str(written(t, NSX_TABLE_JSON, 3), "[]\n", "JSON without rows is an empty array");
	is_str(written(t, NSX_TABLE_ALIGNED, 3), "name  n\nthe stream holds 3 diags; nsysx-view -t diag shows them\n", "aligned without rows");
	nsx_table_free(t);
}

static void
exact(void)
{
	struct nsx_table *t = nsx_table_new(cols, 10);

	add(t, "a\tb\"\xff", INT64_MIN, 1.0 / 3, "\xc3\xa9");
	nsx_table_row(t);
	add(t, "", 0, INFINITY, "z");
	is_int((int64_t)nsx_table_rows(t), 3, "rows are counted");
	is_str(written(t, NSX_TABLE_TSV, 1),
	       "name\tn\tt\tb\tx\tm\tg\ts\tp\tlast\n"
	       "a\\tb\"\\xFF\t-9223372036854775808\t-9223372036854775808\t-9223372036854775808\t0.3333333333333333\t0.3333333333333333"
	       "\t0.3333333333333333\t0.3333333333333333\t0.3333333333333333\t\xc3\xa9\n"
	       "\t\t\t\t\t\t\t\t\t\n"
	       "\t0\t0\t0\tinf\tinf\tinf\tinf\tinf\tz\n", "TSV is exact");
	is_str(written(t, NSX_TABLE_JSON, 1),
	       "[\n"
	       "{\"name\": \"a\\tb\\\"\\\\xFF\", \"n\": -9223372036854775808, \"t\": -9223372036854775808, \"b\": -9223372036854775808, "
	       "\"x\": 0.3333333333333333, \"m\": 0.3333333333333333, \"g\": 0.3333333333333333, \"s\": 0.3333333333333333, "
	       "\"p\": 0.3333333333333333, \"last\": \"\xc3\xa9\"},\n"
	       "{\"name\": null, \"n\": null, \"t\": null, \"b\": null, \"x\": null, \"m\": null, \"g\": null, \"s\": null, \"p\": null, \"last\": null},\n"
	       "{\"name\": null, \"n\": 0, \"t\": 0, \"b\": 0, \"x\": null, \"m\": null, \"g\": null, \"s\": null, \"p\": null, \"last\": \"z\"}\n"
	       "]\n", "JSON is exact, what is not finite is null");
	nsx_table_free(t);
}

static void
aligned(void)
{
	struct nsx_table *t = nsx_table_new(cols, 10);

	add(t, "short", 999, 0.5, "a");
	add(t, "l\xc3\xb6nger", 1234567, 12345.678, "");
	nsx_table_row(t);
	is_str(written(t, NSX_TABLE_ALIGNED, 1),
	       "name          n         t         b          x         m               g           s         p  last\n"
	       "short       999    999 ns     999 B        0.5  0.500 ns        0.5 GB/s       50.0%      0.5%  a\n"
	       "l\xc3\xb6nger  1234567  1.235 ms  1.235 MB  1.235e+04  12.35 us  1.235e+04 GB/s  1234567.8%  12345.7%  -\n"
	       "-             -         -         -          -         -               -           -         -  -\n"
	       "the stream holds 1 diag; nsysx-view -t diag shows it\n", "aligned columns have units, and one width");
	nsx_table_free(t);
}

static void
notes(void)
{
	static const struct nsx_table_col one[] = { { "n", NSX_CELL_INT } };
	struct nsx_table *t = nsx_table_new(one, 1);

	nsx_table_note(t, "%d of %s", 3, "them");
	nsx_table_note(t, "and more");
	is_str(written(t, NSX_TABLE_ALIGNED, 0), "n\n3 of them\nand more\nthe stream holds no diags\n", "notes are below an aligned table");
	is_str(written(t, NSX_TABLE_ALIGNED, -1), "n\n3 of them\nand more\n", "what is no stream has no diags to count");
	is_str(written(t, NSX_TABLE_TSV, 0), "n\n", "TSV has no notes");
	is_str(written(t, NSX_TABLE_JSON, 0), "[]\n", "nor has JSON");
	nsx_table_free(t);
}

/* More than is written at once. */
static void
large(void)
{
	static const struct nsx_table_col one[] = { { "n", NSX_CELL_INT } };
	struct nsx_table *t = nsx_table_new(one, 1);
	int64_t sum = 0, lines = 0;

	for (int i = 0; i < 9000; i++) {
		nsx_table_row(t);
		nsx_table_int(t, 0, i);
	}
	for (const char *p = written(t, NSX_TABLE_TSV, 0); (p = strchr(p, '\n')) != NULL && p[1]; lines++)
		sum += strtol(++p, NULL, 10);
	is_int(lines, 9000, "a long table has all its lines");
	is_int(sum, 9000 * 8999 / 2, "and numbers");
	nsx_table_free(t);
}

int
main(void)
{
	empty();
	exact();
	aligned();
	notes();
	large();
	return done();
}
