/* table.c -- every form of a table, compared with the description in its header. */
#include "base/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/width.h"
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

/* The output of nsx_table_show. */
static const char *
shown(const struct nsx_table *t, enum nsx_table_form form, struct nsx_table_look look, int64_t diags)
{
	static char text[65536];
	char path[] = "/tmp/nsysx-table-XXXXXX";
	struct nsx_err err = { "" };
	int fd = mkstemp(path);
	struct nsx_outfile *out = nsx_outfile_open(path, &err);
	size_t n = 0;

	if (fd >= 0)
		close(fd);
	if (out && nsx_table_show(t, form, look, diags, out, &err) == NSX_OK && nsx_outfile_commit(out) == NSX_OK) {
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

static const char *
written(const struct nsx_table *t, enum nsx_table_form form, int64_t diags)
{
	return shown(t, form, (struct nsx_table_look){ .top = 0, .width = 0 }, diags);
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
	       "]\n", "JSON is exact, infinite values and NaN are null");
	nsx_table_free(t);
}

static void
aligned(void)
{
	struct nsx_table *t = nsx_table_new(cols, 10);

	add(t, "short", 999, 0.5, "a");
	add(t, "l\xc3\xb6nger", 1234567, 12345.678, "");
	add(t, "none", 0, 0, "");
	add(t, "small", 1, 0.032, "");
	nsx_table_row(t);
	is_str(written(t, NSX_TABLE_ALIGNED, 1),
	       "name          n         t         b        x         m            g           s         p  last\n"
	       "short       999    999 ns     999 B   0.5000  0.500 ns  0.5000 GB/s       50.0%      0.5%  a\n"
	       "l\xc3\xb6nger  1234567  1.235 ms  1.235 MB    12346  12.35 us   12346 GB/s  1234567.8%  12345.7%  -\n"
	       "none          0      0 ns       0 B        0      0 ns       0 GB/s        0.0%      0.0%  -\n"
	       "small         1      1 ns       1 B  0.03200  0.032 ns   32.00 MB/s        3.2%      0.0%  -\n"
	       "-             -         -         -        -         -            -           -         -  -\n"
	       "the stream holds 1 diag; nsysx-view -t diag shows it\n", "aligned columns have units, and one width");
	nsx_table_free(t);
}

/* On a terminal a percentage that tells no more than the times beside it is not written out, and a speed has no unit of
 * which it is less than 1. */
static void
extremes(void)
{
	static const struct nsx_table_col two[] = { { "p", NSX_CELL_PERCENT }, { "g", NSX_CELL_GBPS } };
	static const struct { double p, g; } rows[] = {
		{ 17322384, 0.0004424 }, { 9999.4, 0.3153 }, { -20000, 0.0999 }, { 9999.5, 4e-7 }
	};
	struct nsx_table *t = nsx_table_new(two, 2);

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		nsx_table_row(t);
		nsx_table_double(t, 0, rows[i].p);
		nsx_table_double(t, 1, rows[i].g);
	}
	is_str(shown(t, NSX_TABLE_ALIGNED, (struct nsx_table_look){ .width = 80 }, -1),
	       "      p            g\n"
	       " >9999%   442.4 kB/s\n"
	       "  9999%  0.3153 GB/s\n"
	       "<-9999%   99.90 MB/s\n"
	       " >9999%    400.0 B/s\n", "percentages that are not written out, and speeds");
	nsx_table_free(t);
}

/* A column that repeats another is not on a terminal, however wide; it is where nothing must fit. */
static void
spare(void)
{
	static const struct nsx_table_col two[] = { { "mean", NSX_CELL_INT }, { "max", NSX_CELL_INT } };
	struct nsx_table *t = nsx_table_new(two, 2);

	nsx_table_row(t);
	nsx_table_int(t, 0, 5);
	nsx_table_int(t, 1, 6);
	nsx_table_spare(t, "max");
	is_str(shown(t, NSX_TABLE_ALIGNED, (struct nsx_table_look){ .width = 80 }, -1),
	       "mean\n   5\n... and 1 more column: --wide\n", "a terminal has no spare columns");
	is_str(shown(t, NSX_TABLE_ALIGNED, (struct nsx_table_look){ .width = 0 }, -1), "mean  max\n   5    6\n",
	       "all columns have them");
	nsx_table_free(t);
}

/* What is rounded to the next digit or unit has four digits; a moment has all; what is more than nothing is not 0.000%. */
static void
rounded(void)
{
	static const struct nsx_table_col four[] = {
		{ "i", NSX_CELL_NS }, { "m", NSX_CELL_MEAN_NS }, { "at", NSX_CELL_TIME }, { "s", NSX_CELL_SHARE }
	};
	static const struct { int64_t i, at; double m, s; } rows[] = {
		{ 99998000, 0, 9.9996, 4e-6 }, { 99994000, -1, 9.9994, 6e-6 }, { 999960, 1234567890123456789, 999.96, 0 },
		{ 999940, -1500000000, 99.996, -1e-9 }, { 999, INT64_MIN, 999.94, 0.99996 }
	};
	struct nsx_table *t = nsx_table_new(four, 4);

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		nsx_table_row(t);
		nsx_table_int(t, 0, rows[i].i);
		nsx_table_double(t, 1, rows[i].m);
		nsx_table_int(t, 2, rows[i].at);
		nsx_table_double(t, 3, rows[i].s);
	}
	is_str(shown(t, NSX_TABLE_ALIGNED, (struct nsx_table_look){ .width = 80 }, -1),
	       "       i         m                       at        s\n"
	       "100.0 ms  10.00 ns            0.000000000 s  <0.001%\n"
	       "99.99 ms  9.999 ns           -0.000000001 s   0.001%\n"
	       "1.000 ms  1.000 us   1234567890.123456789 s       0%\n"
	       "999.9 us  100.0 ns           -1.500000000 s   0.000%\n"
	       "  999 ns  999.9 ns  -9223372036.854775808 s     100%\n", "four digits, and all of a moment");
	nsx_table_free(t);
}

/* A sentence is below its row on a terminal, and columns without values are omitted there if there are rows. */
static void
sentences(void)
{
	static const struct nsx_table_col three[] = {
		{ "n", NSX_CELL_INT }, { "none", NSX_CELL_INT }, { "text", NSX_CELL_STRING }
	};
	struct nsx_table *t = nsx_table_new(three, 3);

	nsx_table_below(t, "text");
	is_str(shown(t, NSX_TABLE_ALIGNED, (struct nsx_table_look){ .width = 20 }, -1), "n  none\n", "no rows: a header");
	for (int i = 1; i < 4; i++) {
		nsx_table_row(t);
		nsx_table_int(t, 0, i);
		nsx_table_str(t, 2, i == 2 ? NSX_STR("") : NSX_STR("words of a sentence as it is"));
	}
	is_str(shown(t, NSX_TABLE_ALIGNED, (struct nsx_table_look){ .width = 20 }, -1),
	       "n\n1\n  words of a\n  sentence as it is\n2\n3\n  words of a\n  sentence as it is\n"
	       "... and 1 more\n  column: --wide\n", "sentences below rows");
	is_str(shown(t, NSX_TABLE_ALIGNED, (struct nsx_table_look){ .top = 1 }, -1),
	       "n  none  text\n1     -  words of a sentence as it is\n... and 2 more: --top 0\n", "all in a pipe");
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
	is_str(written(t, NSX_TABLE_ALIGNED, -1), "n\n3 of them\nand more\n", "an input without diags has no line about them");
	is_str(written(t, NSX_TABLE_TSV, 0), "n\n", "TSV has no notes");
	is_str(written(t, NSX_TABLE_JSON, 0), "[]\n", "nor has JSON");
	nsx_table_free(t);
}

/* The worked example at the head of table_aligned.c. */
static void
fitted(void)
{
	static const struct nsx_table_col some[] = {
		{ "name", NSX_CELL_STRING }, { "total", NSX_CELL_NS }, { "percent", NSX_CELL_PERCENT }, { "mean", NSX_CELL_MEAN_NS },
		{ "key", NSX_CELL_STRING }
	};
	struct nsx_table *t = nsx_table_new(some, 5);

	nsx_table_rank(t, "total  percent name");
	for (int i = 0; i < 1235; i++) {
		nsx_table_row(t);
		nsx_table_str(t, 0, NSX_STR("jit_train_step/transpose(jvp(model))/layers_11/mlp/dot_general"));
		nsx_table_int(t, 1, 123456789 + i);
		nsx_table_double(t, 2, i ? 0.1234567 : 100);
		nsx_table_double(t, 3, 123456.789);
		nsx_table_str(t, 4, NSX_STR("jit_train_step/transpose(jvp(model))/layers_11/mlp/dot_general@1"));
	}
	is_str(shown(t, NSX_TABLE_ALIGNED, (struct nsx_table_look){ .top = 2, .width = 40 }, 0),
	       "name                      total  percent\n"
	       "jit_train_..t_general  123.5 ms     100%\n"
	       "jit_train_..t_general  123.5 ms   0.123%\n"
	       "... and 1,233 more: --top 0\n"
	       "... and 2 more columns: --wide\n"
	       "the stream holds no diags\n", "columns by rank that fit, names with both ends, hidden columns and rows");
	is_str(shown(t, NSX_TABLE_ALIGNED, (struct nsx_table_look){ .top = 1, .width = 8 }, -1),
	       "   total\n123.5 ms\n... and\n  1,234\n  more:\n  --top\n  0\n... and\n  4 more\n  column\n  s:\n  --wide\n",
	       "only the first columns by rank fit");
	is_str(shown(t, NSX_TABLE_ALIGNED, (struct nsx_table_look){ .top = 1, .width = 5 }, -1), "total\n#####\n... and\n  1,234\n  more:\n"
	       "  --top\n  0\n... and\n  4 more\n  column\n  s:\n  --wide\n", "a number is not cut");
	is_str(shown(t, NSX_TABLE_TSV, (struct nsx_table_look){ .top = 1, .width = 40 }, 0),
	       "name\ttotal\tpercent\tmean\tkey\njit_train_step/transpose(jvp(model))/layers_11/mlp/dot_general\t123456789\t100\t123456.789\t"
	       "jit_train_step/transpose(jvp(model))/layers_11/mlp/dot_general@1\n", "TSV is not fitted");
	nsx_table_free(t);
}

/* Names that differ remain different: at the start, at the end, in the middle, in the arguments of a kernel, and in more
 * than one of these. */
static void
distinct(void)
{
	static const struct nsx_table_col one[] = { { "name", NSX_CELL_STRING } };
	static const char *const names[][6] = {
		{ "XlaPass:#name=cse,program_id=40#", "XlaPass:#name=dce,program_id=40#", "Other:#name=something,else=7#" },
		{ "one/prefix/that/all/have/12/reduce_sum[axes=(0,)]", "one/prefix/that/all/have/3/reduce_sum[axes=(0,)]" },
		{ "jit(step)/jit(main)/x_layers_1/self_attention/reduce", "jit(step)/jit(main)/x_layers_2/self_attention/reduce",
		  "jit(step)/jit(main)/x_layers_1/self_attention/divide", "jit(step)/jit(main)/x_layers_2/self_attention/divide" },
		{ "void at::vectorized_elementwise_kernel<4, at::MulFunctor<float>>(int)",
		  "void at::vectorized_elementwise_kernel<4, at::MulFunctor<double>>(int)" },
		{ "\xe8\x9e\x8d\xe5\x90\x88/\xe8\x9e\x8d\xe5\x90\x88/\xe8\x9e\x8d\xe5\x90\x88/\xe8\xa8\x88\xe7\xae\x97/a/b/c/d/e/f/g/h/i/j/k/l",
		  "\xe8\x9e\x8d\xe5\x90\x88/\xe8\x9e\x8d\xe5\x90\x88/\xe8\x9e\x8d\xe5\x90\x88/\xe8\xa8\x89\xe7\xae\x97/a/b/c/d/e/f/g/h/i/j/k/l" },
	};
	bool same = false, wide = false, usual = false;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct nsx_table *t = nsx_table_new(one, 1);
		char text[4096], *line[8];
		size_t n = 0;

		for (size_t k = 0; k < 6 && names[i][k]; k++) {
			nsx_table_row(t);
			nsx_table_str(t, 0, nsx_str_c(names[i][k]));
		}
		snprintf(text, sizeof text, "%s", shown(t, NSX_TABLE_ALIGNED, (struct nsx_table_look){ .top = 0, .width = 27 }, -1));
		for (char *p = strtok(text, "\n"); p && n < 8; p = strtok(NULL, "\n"))
			line[n++] = p;
		for (size_t a = 1; a < n; a++) {
			wide |= nsx_width(nsx_str_c(line[a])) > 27;
			for (size_t b = 1; b < a; b++)
				same |= strcmp(line[a], line[b]) == 0;
		}
		usual |= i == 0 && n == 4 && strcmp(line[3], "Other:#name=s..hing,else=7#") == 0;
		nsx_table_free(t);
	}
	ok(!same, "shortened names that differ are different");
	ok(!wide, "and not wider than their column");
	ok(usual, "a name unlike others is shortened in the middle");
}

/* Templates that differ in an argument before the one that tells most, and names that differ in two places. */
static void
apart(void)
{
	static const struct nsx_table_col one[] = { { "name", NSX_CELL_STRING } };
	static const char *const names[] = {
		"void at::elementwise_kernel<(int)4, void at::impl<at::BinaryFunctor<float, at::MulFunctor<float>>>>(int, T3)",
		"void at::elementwise_kernel<(int)2, void at::impl<at::BinaryFunctor<float, at::MulFunctor<float>>>>(int, T3)",
		"void at::vectorized_kernel<(int)4, at::AUnaryFunctor<float, at::MulFunctor<float>>, std::array<char>>(int, T2)",
		"void at::vectorized_kernel<(int)4, at::BUnaryFunctor<float, at::MulFunctor<float>>, std::array<char>>(int, T2)",
		"sm80_gemm_f32f32_f32f32_f32_tn_n_tile64x256_stage3_warpsize1x4x1_ffma_align_execute_kernel__5x_cublas",
		"sm80_gemm_f32f32_f32f32_f32_tn_n_tile64x256_stage3_warpsize1x4x1_ffma_align_split_k_kernel__5x_cublas",
		"sm80_gemm_f32f32_f32f32_f32_tn_n_tile128x128_stage3_warpsize1x4x1_ffma_align_execute_kernel__5x_cublas",
		"sm80_gemm_f32f32_f32f32_f32_tn_n_tile128x128_stage3_warpsize1x4x1_ffma_align_split_k_kernel__5x_cublas",
	};
	enum { N = sizeof names / sizeof *names };
	struct nsx_table *t = nsx_table_new(one, 1);

	for (size_t i = 0; i < N; i++) {
		nsx_table_row(t);
		nsx_table_str(t, 0, nsx_str_c(names[i]));
	}
	for (size_t width = 28; width <= 64; width += 12) {
		char text[4096], *line[N + 1], *save = NULL;
		size_t n = 0, same = 0;

		snprintf(text, sizeof text, "%s",
		         shown(t, NSX_TABLE_ALIGNED, (struct nsx_table_look){ .width = width }, -1));
		for (char *p = strtok_r(text, "\n", &save); p && n <= N; p = strtok_r(NULL, "\n", &save))
			line[n++] = p;
		for (size_t i = 0; i < n; i++)
			for (size_t k = 0; k < i; k++)
				same += strcmp(line[i], line[k]) == 0;
		ok(n == N + 1 && same == 0, "names that differ look different in %zu columns", width);
	}
	nsx_table_free(t);
}

/* Columns without values are not on a terminal. */
static void
without_values(void)
{
	static const struct nsx_table_col some[] = { { "first", NSX_CELL_STRING }, { "second", NSX_CELL_INT }, { "third", NSX_CELL_SHARE } };
	struct nsx_table *t = nsx_table_new(some, 3);

	nsx_table_row(t);
	nsx_table_str(t, 0, NSX_STR("a"));
	nsx_table_double(t, 2, 0.09876);
	is_str(shown(t, NSX_TABLE_ALIGNED, (struct nsx_table_look){ .top = 0, .width = 12 }, -1),
	       "first  third\na      9.88%\n... and 1\n  more\n  column:\n  --wide\n", "no value, no room");
	is_str(shown(t, NSX_TABLE_ALIGNED, (struct nsx_table_look){ .top = 0, .width = 20 }, -1), "first  third\na      9.88%\n... and 1 more\n  column: --wide\n",
	       "no value, no column");
	is_str(shown(t, NSX_TABLE_ALIGNED, (struct nsx_table_look){ .top = 0, .width = 0 }, -1), "first  second  third\na           -   9.9%\n",
	       "no terminal, no digits");
	nsx_table_free(t);
}

static uint64_t
random_number(void)
{
	static uint64_t x = 88172645463325252U;

	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

/* Any table fits any terminal of 8 columns or more. */
static void
fits(void)
{
	static const char *const parts[] = { "a", "fusion", " ", "\xe6\x97\xa5", "e\xcc\x81", "\xf0\x9f\x98\x80", "\xff", "\t", "::" };
	bool good = true;

	for (int round = 0; round < 300 && good; round++) {
		int n = 1 + (int)(random_number() % 10);
		struct nsx_table *t = nsx_table_new(cols, n);
		size_t width = 8 + random_number() % 120;

		nsx_table_rank(t, round % 2 && n > 3 ? "b n" : "");
		for (int row = 0; row < 5; row++) {
			struct nsx_buf b = { 0 };

			for (uint64_t i = random_number() % 40; i; i--)
				nsx_buf_c(&b, parts[random_number() % (sizeof parts / sizeof *parts)]);
			nsx_table_row(t);
			for (int c = 0; c < n; c++)
				if (random_number() % 4 == 0)
					continue;
				else if (cols[c].type == NSX_CELL_STRING)
					nsx_table_str(t, c, nsx_buf_view(&b));
				else if (c <= 3)
					nsx_table_int(t, c, (int64_t)(random_number() >> random_number() % 64));
				else
					nsx_table_double(t, c, (double)random_number() * pow(10, (double)(random_number() % 40) - 20));
			nsx_buf_free(&b);
		}
		const char *p = shown(t, NSX_TABLE_ALIGNED, (struct nsx_table_look){ .top = 3, .width = width }, 0);
		for (const char *end; (end = strchr(p, '\n')) != NULL; p = end + 1)
			good &= nsx_width((struct nsx_str){ p, (size_t)(end - p) }) <= width;
		nsx_table_free(t);
	}
	ok(good, "no line exceeds the terminal");
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

/* The line about hidden rows gives their share of a column that adds up; rows sorted by any column. */
static void
adds_and_sorts(void)
{
	static const struct nsx_table_col some[] = {
		{ "name", NSX_CELL_STRING }, { "total", NSX_CELL_NS }, { "mean", NSX_CELL_DOUBLE }
	};
	static const struct { const char *name; int64_t total; double mean; } rows[] = {
		{ "d", 600, 1 }, { "a", 300, 3 }, { "c", 75, -2 }, { "b", 25, 3 }, { "e", -1, 0 }
	};
	struct nsx_table *t = nsx_table_new(some, 3);
	struct nsx_err err = { "" };

	nsx_table_adds(t, "total");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		nsx_table_row(t);
		nsx_table_str(t, 0, nsx_str_c(rows[i].name));
		if (rows[i].total >= 0)
			nsx_table_int(t, 1, rows[i].total);
		if (rows[i].total >= 0)
			nsx_table_double(t, 2, rows[i].mean);
	}
	ok(strstr(shown(t, NSX_TABLE_ALIGNED, (struct nsx_table_look){ .top = 2, .width = 0 }, -1), "\n... and 3 more (10.0% of total): --top 0\n") != NULL,
	   "the share that is not shown");
	ok(strstr(shown(t, NSX_TABLE_MARKDOWN, (struct nsx_table_look){ .top = 1, .width = 0 }, -1), "\n... and 4 more (40.0% of total): --top 0\n") != NULL,
	   "in Markdown too");
	is_int(nsx_table_sort(t, "mean", &err), NSX_OK, "sorted by a double");
	is_str(shown(t, NSX_TABLE_TSV, (struct nsx_table_look){ .top = 0, .width = 0 }, -1),
	       "name\ttotal\tmean\na\t300\t3\nb\t25\t3\nd\t600\t1\nc\t75\t-2\ne\t\t\n",
	       "the greatest first, equal ones as they were, absent last");
	nsx_table_sort(t, "name", &err);
	nsx_table_sort(t, "total", &err);
	is_str(shown(t, NSX_TABLE_TSV, (struct nsx_table_look){ .top = 2, .width = 0 }, -1), "name\ttotal\tmean\nd\t600\t1\na\t300\t3\n",
	       "by an integer");
	nsx_table_sort(t, "name", &err);
	is_str(shown(t, NSX_TABLE_TSV, (struct nsx_table_look){ .top = 1, .width = 0 }, -1), "name\ttotal\tmean\na\t300\t3\n", "by a string, ascending");
	nsx_table_head(t, "mean", "per_run");
	is_int(nsx_table_sort(t, "per_run", &err), NSX_OK, "sorted by a heading");
	is_str(shown(t, NSX_TABLE_TSV, (struct nsx_table_look){ .top = 1, .width = 0 }, -1), "name\ttotal\tmean\na\t300\t3\n", "which is that of the column");
	is_int(nsx_table_sort(t, "total_", &err), NSX_ERR, "an unknown column");
	is_str(err.msg, "no column total_: want one of name, total, mean; did you mean total?", "the message lists the columns");
	nsx_table_free(t);
}

/* Headings of columns, and brief forms: TSV and JSON have all columns, by name. */
static void
heads_and_brief(void)
{
	static const struct nsx_table_col some[] = {
		{ "name", NSX_CELL_STRING }, { "total", NSX_CELL_NS }, { "count", NSX_CELL_INT }
	};
	struct nsx_table *t = nsx_table_new(some, 3);

	nsx_table_head(t, "total", "span total");
	nsx_table_adds(t, "total");
	nsx_table_row(t);
	nsx_table_str(t, 0, NSX_STR("a"));
	nsx_table_int(t, 1, 90);
	nsx_table_int(t, 2, 7);
	nsx_table_row(t);
	nsx_table_int(t, 1, 10);
	is_str(shown(t, NSX_TABLE_TSV, (struct nsx_table_look){ .top = 1 }, -1), "name\ttotal\tcount\na\t90\t7\n", "TSV has the name");
	is_str(shown(t, NSX_TABLE_ALIGNED, (struct nsx_table_look){ .top = 1 }, -1),
	       "name  span total  count\na          90 ns      7\n... and 1 more (10.0% of span total): --top 0\n", "people the head");
	is_str(shown(t, NSX_TABLE_MARKDOWN, (struct nsx_table_look){ .top = 2 }, -1),
	       "| name | span total | count |\n|---|--:|--:|\n| `a` | 90 ns | 7 |\n|  | 10 ns |  |\n", "in Markdown too");
	nsx_table_brief(t, "count name");
	is_str(shown(t, NSX_TABLE_MARKDOWN, (struct nsx_table_look){ .top = 1 }, -1),
	       "| count | name |\n|--:|---|\n| 7 | `a` |\n\n... and 1 more: --top 0\n", "the brief form, in its order");
	is_str(shown(t, NSX_TABLE_MARKDOWN, (struct nsx_table_look){ .top = 2, .wide = true }, -1),
	       "| name | span total | count |\n|---|--:|--:|\n| `a` | 90 ns | 7 |\n|  | 10 ns |  |\n", "or all columns");
	is_str(shown(t, NSX_TABLE_ALIGNED, (struct nsx_table_look){ .top = 1, .width = 80 }, -1),
	       "name  span total  count\na          90 ns      7\n... and 1 more (10.0% of span total): --top 0\n", "a terminal has all that fit");
	is_str(shown(t, NSX_TABLE_TSV, (struct nsx_table_look){ .top = 1 }, -1), "name\ttotal\tcount\na\t90\t7\n", "TSV has all");
	nsx_table_free(t);
}

int
main(void)
{
	empty();
	exact();
	aligned();
	extremes();
	spare();
	rounded();
	sentences();
	notes();
	fitted();
	distinct();
	apart();
	without_values();
	fits();
	large();
	adds_and_sorts();
	heads_and_brief();
	return done();
}
