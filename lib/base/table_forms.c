/* table_forms.c -- writes a table: human-readable cells, and Markdown; table_row.c has TSV, JSON and CSV,
 * table_aligned.c the aligned form, table_metrics.c OpenMetrics. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/num.h"
#include "base/table_own.h"

enum { FULL = 64 << 10 };

/* ---- human-readable cells ---- */

/* v with four digits in the largest unit in which it is at least 1; each unit is 1000 times the one before; in the last
 * unit the number may have any size. If rounding carries to a further digit or to the next unit, the number is written
 * accordingly: 999,960 ns are 1.000 ms. */
static void
put_scaled(struct nsx_buf *b, double v, const char *const *units, bool whole)
{
	int decimals;

	v = v < 0 ? nsx_unsigned_zero(v, 3) : v;
	whole |= v == 0;
	for (; units[1] && fabs(v) >= (whole ? 1000 : 999.95); units++, whole = false)
		v /= 1000;
	decimals = whole ? 0 : fabs(v) < 9.9995 ? 3 : fabs(v) < 99.995 ? 2 : 1;
	nsx_buf_fmt(b, "%.*f %s", decimals, v, *units);
}

/* A point in time in seconds, with all digits to the nanosecond, so that it can be found in TSV. */
static void
put_time(struct nsx_buf *b, int64_t ns)
{
	uint64_t v = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;

	nsx_buf_fmt(b, "%s%" PRIu64 ".%09" PRIu64 " s", ns < 0 ? "-" : "", v / 1000000000, v % 1000000000);
}

/* v with four digits, trailing zeros included so that decimal points are aligned; more digits before the point if v has
 * them. */
static void
put_digits(struct nsx_buf *b, double v)
{
	char text[40];
	int n = snprintf(text, sizeof text, v == 0 || (fabs(v) >= 1000 && fabs(v) < 1e9) ? "%.0f" : "%#.4g", v);

	nsx_buf_add(b, text, (size_t)(n - (text[n - 1] == '.')));
}

/* Whole numbers have no decimal point. */
static void
put_double(struct nsx_buf *b, double v)
{
	if (rint(v) == v && fabs(v) < 1e9)
		nsx_buf_fmt(b, "%.0f", v);
	else
		put_digits(b, v);
}

/* v is in GB/s of 1e9 bytes; numbers below 0.1 are written in the largest smaller unit in which they are at least 1, or
 * in B/s. */
static void
put_speed(struct nsx_buf *b, double v)
{
	static const char *const units[] = { "GB/s", "MB/s", "kB/s", "B/s", NULL };
	size_t unit = 0;

	for (; units[unit + 1] && v != 0 && fabs(v) < (unit ? 1 : 0.1); unit++)
		v *= 1000;
	put_digits(b, v);
	nsx_buf_fmt(b, " %s", units[unit]);
}

/* A share in percent with three digits: those that are not needed before the point come after it. Rounding may add a
 * digit. A positive share that would be written 0.000% is <0.001%. More than 9999% is >9999%: times that differ that
 * much are in columns beside it. */
static void
put_percent(struct nsx_buf *b, double v, bool digits)
{
	const double most = 9999.5;
	int decimals = !digits ? 1 : v == 0 || fabs(v) >= 99.95 ? 0 : fabs(v) >= 9.995 ? 1 : fabs(v) >= 0.9995 ? 2 : 3;

	if (digits && v > 0 && v < 0.0005)
		nsx_buf_c(b, "<0.001%");
	else if (digits && fabs(v) >= most)
		nsx_buf_c(b, v > 0 ? ">9999%" : "<-9999%");
	else
		nsx_buf_fmt(b, "%.*f%%", decimals, nsx_unsigned_zero(v, decimals));
}

void
nsx_table_human(struct nsx_buf *b, enum nsx_cell type, struct nsx_table_cell c, bool digits)
{
	static const char *const times[] = { "ns", "us", "ms", "s", NULL };
	static const char *const sizes[] = { "B", "kB", "MB", "GB", "TB", NULL };
	static const char *const flops[] = { "FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", NULL };

	if (!c.has) {
		nsx_buf_char(b, '-');
		return;
	}
	switch (type) {
	case NSX_CELL_INT: case NSX_CELL_ID: nsx_table_number(b, type, c); break;
	case NSX_CELL_NS:      put_scaled(b, (double)c.v.i, times, true); break;
	case NSX_CELL_TIME:    put_time(b, c.v.i); break;
	case NSX_CELL_BYTES:   put_scaled(b, (double)c.v.i, sizes, true); break;
	case NSX_CELL_FLOPS:   put_scaled(b, (double)c.v.i, flops, true); break;
	case NSX_CELL_DOUBLE:  put_double(b, c.v.f); break;
	case NSX_CELL_MEAN_NS: put_scaled(b, c.v.f, times, false); break;
	case NSX_CELL_GBPS:    put_speed(b, c.v.f); break;
	case NSX_CELL_SHARE:   put_percent(b, c.v.f * 100, digits); break;
	case NSX_CELL_PERCENT: put_percent(b, c.v.f, digits); break;
	case NSX_CELL_STRING:  nsx_buf_escaped(b, c.v.s); break;
	}
}

void
nsx_table_doubt(struct nsx_buf *b, const struct nsx_table *t, size_t row, size_t col)
{
	if (!t->rough || col != t->guess)
		return;
	struct nsx_table_cell samples = nsx_table_cell_of(t, row, t->samples);
	if (samples.has && samples.v.i < t->enough)
		nsx_buf_char(b, '~');
}

static void
put_rest(struct nsx_buf *b, double share, const char *of)
{
	nsx_buf_c(b, " (");
	put_percent(b, 100 * share, false);
	nsx_buf_fmt(b, " of %s)", of);
}

/* The sum of a column over the rows from `row` on to `end`. */
static double
sum_of(const struct nsx_table *t, size_t col, size_t row, size_t end)
{
	double sum = 0;

	for (; row < end; row++) {
		struct nsx_table_cell c = nsx_table_cell_of(t, row, col);

		sum += !c.has ? 0 : nsx_table_is_int(t->cols[col].type) ? (double)c.v.i : c.v.f;
	}
	return sum;
}

/* What the first `rows` rows leave: of the whole if its shares are known; else of the rows, which must all be in the
 * table. */
static void
put_left(struct nsx_buf *b, const struct nsx_table *t, size_t rows)
{
	/* Rounding of the shares. */
	const double tiny = 1e-9;
	double shown = t->shares ? sum_of(t, t->share, 0, rows) : 0;
	bool known = t->shares && sum_of(t, t->share, 0, t->nrows) > 0;

	if (known && shown <= 1 + tiny) {
		put_rest(b, shown < 1 ? 1 - shown : 0, t->whole);
	} else if (t->adds && !t->uncovered) {
		double left = sum_of(t, t->added, rows, t->nrows), all = left + sum_of(t, t->added, 0, rows);

		if (all > 0 && left >= 0)
			put_rest(b, left / all, nsx_table_head_of(t, t->added));
	}
}

void
nsx_table_more(struct nsx_buf *b, const struct nsx_table *t, size_t rows)
{
	size_t left = t->nrows + t->beyond + t->uncovered - rows;
	char text[32], *end = nsx_put_int(text, (int64_t)left);

	if (!left)
		return;
	nsx_buf_c(b, "... and ");
	for (char *p = text; p < end; p++) {
		if (p > text && (end - p) % 3 == 0)
			nsx_buf_char(b, ',');
		nsx_buf_char(b, *p);
	}
	nsx_buf_c(b, " more");
	if (!t->beyond)
		put_left(b, t, rows);
	nsx_buf_fmt(b, ":%s%s\n", t->uncovered ? " --cover 1" : "", left > t->uncovered ? " --top 0" : "");
}

/* ---- Markdown: GitHub's tables, which cannot hold line breaks ---- */

static void
put_code(struct nsx_buf *b, struct nsx_str s)
{
	struct nsx_buf text = { .len = 0 };

	nsx_buf_escaped(&text, s);
	nsx_buf_code(b, nsx_buf_view(&text));
	b->failed |= text.failed;
	nsx_buf_free(&text);
}

static void
markdown_begin(struct nsx_buf *b, const struct nsx_table *t)
{
	if (t->lead.len) {
		nsx_buf_c(b, "**");
		nsx_buf_str(b, nsx_buf_view(&t->lead));
		nsx_buf_c(b, "**\n\n");
	}
	if (t->title.len) {
		nsx_buf_str(b, nsx_buf_view(&t->title));
		nsx_buf_c(b, "\n\n");
	}
	for (size_t i = 0; i < t->ncols; i++)
		nsx_buf_fmt(b, "| %s ", nsx_table_head_of(t, i));
	nsx_buf_c(b, "|\n");
	for (size_t i = 0; i < t->ncols; i++)
		nsx_buf_c(b, t->cols[i].type == NSX_CELL_STRING ? "|---" : "|--:");
	nsx_buf_c(b, "|\n");
}

static void
markdown_row(struct nsx_buf *b, const struct nsx_table *t, size_t row)
{
	for (size_t i = 0; i < t->ncols; i++) {
		struct nsx_table_cell c = nsx_table_cell_of(t, row, i);

		nsx_buf_c(b, "| ");
		if (c.has && t->cols[i].type == NSX_CELL_STRING)
			put_code(b, c.v.s);
		else if (c.has) {
			nsx_table_doubt(b, t, row, i);
			nsx_table_human(b, t->cols[i].type, c, false);
		}
		nsx_buf_char(b, ' ');
	}
	nsx_buf_c(b, "|\n");
}

/* Notes are written as a list. */
static void
markdown_end(struct nsx_buf *b, const struct nsx_table *t, size_t rows)
{
	const char *p = t->notes.ptr, *end = p + t->notes.len, *line;

	if (rows < t->nrows + t->beyond + t->uncovered)
		nsx_buf_char(b, '\n');
	nsx_table_more(b, t, rows);
	for (; p && p < end; p = line + 1) {
		line = memchr(p, '\n', (size_t)(end - p));
		nsx_buf_c(b, p == t->notes.ptr ? "\n- " : "- ");
		put_code(b, (struct nsx_str){ p, (size_t)(line - p) });
		nsx_buf_char(b, '\n');
	}
}

int
nsx_table_flush(struct nsx_buf *b, size_t least, struct nsx_outfile *out, struct nsx_err *err)
{
	int rc = NSX_OK;

	if (b->failed)
		return nsx_err_nomem(err, nsx_outfile_name(out));
	if (b->len >= least) {
		rc = nsx_outfile_write(out, b->ptr, b->len);
		b->len = 0;
	}
	return rc;
}

static int
write_markdown(const struct nsx_table *t, size_t rows, struct nsx_outfile *out, struct nsx_err *err)
{
	struct nsx_buf b = { 0 };
	int rc = NSX_OK;

	markdown_begin(&b, t);
	for (size_t row = 0; row < rows && rc == NSX_OK; row++) {
		markdown_row(&b, t, row);
		rc = nsx_table_flush(&b, FULL, out, err);
	}
	markdown_end(&b, t, rows);
	if (rc == NSX_OK)
		rc = nsx_table_flush(&b, 1, out, err);
	nsx_buf_free(&b);
	return rc;
}

/* Append the first `rows` rows in a form; out: written there once there is enough, NULL: all is appended. NSX_OK or
 * NSX_ERR; b->failed is set if memory runs out. */
static int
put_rows(struct nsx_buf *b, const struct nsx_table *t, const struct nsx_row_form *f, size_t rows,
         struct nsx_outfile *out, struct nsx_err *err)
{
	struct nsx_table_cell *cells = calloc(t->ncols + 1, sizeof *cells);
	int rc = NSX_OK;

	b->failed |= !cells;
	f->begin(b, t->cols, t->ncols);
	for (size_t row = 0; row < rows && cells && rc == NSX_OK; row++) {
		for (size_t i = 0; i < t->ncols; i++)
			cells[i] = nsx_table_cell_of(t, row, i);
		f->row(b, t->cols, t->ncols, cells, row);
		if (out)
			rc = nsx_table_flush(b, FULL, out, err);
	}
	f->end(b, rows);
	free(cells);
	return rc;
}

static int
write_rows(const struct nsx_table *t, enum nsx_table_form form, size_t rows, struct nsx_outfile *out,
           struct nsx_err *err)
{
	struct nsx_buf b = { 0 };
	int rc = NSX_OK;

	if (form == NSX_TABLE_OPENMETRICS)
		nsx_table_metrics(&b, t, rows);
	else
		rc = put_rows(&b, t, nsx_row_form(form), rows, out, err);
	if (rc == NSX_OK)
		rc = nsx_table_flush(&b, 1, out, err);
	nsx_buf_free(&b);
	return rc;
}

/* Whether a column of the whole table is among those of a part of it: its number there. */
static bool
among(const struct nsx_table *less, size_t col, size_t *at)
{
	for (size_t k = 0; k < less->ncols; k++)
		if (less->among[k] == col) {
			*at = k;
			return true;
		}
	return false;
}

/* Write the columns of the brief form in Markdown, as a table that has only these. */
static int
write_brief(const struct nsx_table *t, size_t rows, struct nsx_outfile *out, struct nsx_err *err)
{
	struct nsx_table less = *t;
	struct nsx_table_col *cols = calloc(t->brief.n, sizeof *cols);
	int rc = NSX_OK;

	less.cols = cols;
	less.ncols = t->brief.n;
	less.among = t->brief.p;
	less.heads = NULL;
	for (size_t k = 0; cols && k < less.ncols; k++)
		cols[k] = (struct nsx_table_col){ nsx_table_head_of(t, t->brief.p[k]), t->cols[t->brief.p[k]].type };
	if (!cols)
		rc = nsx_err_nomem(err, nsx_outfile_name(out));
	/* The columns that add up may not be among them. */
	less.adds = t->adds && among(&less, t->added, &less.added);
	less.shares = t->shares && among(&less, t->share, &less.share);
	less.rough = t->rough && among(&less, t->guess, &less.guess) && among(&less, t->samples, &less.samples);
	if (rc == NSX_OK)
		rc = write_markdown(&less, rows, out, err);
	free(cols);
	return rc;
}

int
nsx_table_show(const struct nsx_table *t, enum nsx_table_form form, struct nsx_table_look look, int64_t diags,
               struct nsx_outfile *out, struct nsx_err *err)
{
	size_t rows = look.top && look.top < t->nrows ? look.top : t->nrows;

	if (t->failed)
		return nsx_err_nomem(err, nsx_outfile_name(out));
	if (form == NSX_TABLE_ALIGNED)
		return nsx_table_aligned(t, rows, look.width, diags, out, err);
	if (form == NSX_TABLE_MARKDOWN)
		return t->brief.n && !look.wide ? write_brief(t, rows, out, err) : write_markdown(t, rows, out, err);
	return write_rows(t, form, rows, out, err);
}

int
nsx_table_write(const struct nsx_table *t, enum nsx_table_form form, int64_t diags, struct nsx_outfile *out,
                struct nsx_err *err)
{
	return nsx_table_show(t, form, (struct nsx_table_look){ .wide = true }, diags, out, err);
}

void
nsx_table_metric(struct nsx_table *t, const char *name)
{
	t->metric = name;
}

void
nsx_table_tsv(const struct nsx_table *t, struct nsx_buf *b)
{
	put_rows(b, t, nsx_row_form(NSX_TABLE_TSV), t->nrows, NULL, NULL);
	b->failed |= t->failed;
}
