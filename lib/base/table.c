/* table.c -- the table that a report ends in: aligned with human units, TSV, or JSON. */
#include "base/table.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/escape.h"
#include "base/num.h"
#include "base/vec.h"

enum { FULL = 64 << 10, GAP = 2 };

struct cell {
	bool has;
	union { int64_t i; double f; struct nsx_str s; } v;
};

struct nsx_table {
	const struct nsx_table_col *cols;
	size_t           ncols, nrows;
	bool             failed;
	struct nsx_arena arena;
	NSX_VEC(struct cell) cells;   /* row by row */
	struct nsx_buf   notes;       /* lines */
	struct nsx_buf   title;
};

/* How a form begins, spells and ends. */
struct form {
	void (*begin)(struct nsx_buf *b, const struct nsx_table *t, const size_t *widths);
	void (*row)(struct nsx_buf *b, const struct nsx_table *t, const size_t *widths, size_t row);
	void (*end)(struct nsx_buf *b, const struct nsx_table *t, int64_t diags);
};

struct nsx_table *
nsx_table_new(const struct nsx_table_col *cols, int ncols)
{
	struct nsx_table *t = calloc(1, sizeof *t);

	if (t) {
		t->cols = cols;
		t->ncols = (size_t)ncols;
	}
	return t;
}

void
nsx_table_free(struct nsx_table *t)
{
	if (!t)
		return;
	nsx_arena_free(&t->arena);
	free(t->cells.p);
	nsx_buf_free(&t->notes);
	nsx_buf_free(&t->title);
	free(t);
}

void
nsx_table_row(struct nsx_table *t)
{
	if (t->failed || !nsx_vec_room(&t->cells, t->ncols)) {
		t->failed = true;
		return;
	}
	for (size_t i = 0; i < t->ncols; i++)
		t->cells.p[t->cells.n++] = (struct cell){ 0 };
	t->nrows++;
}

/* The cell of the last row, NULL after a failure. */
static struct cell *
at(struct nsx_table *t, int col)
{
	if (t->failed)
		return NULL;
	assert(t->nrows > 0 && col >= 0 && (size_t)col < t->ncols);
	return &t->cells.p[t->cells.n - t->ncols + (size_t)col];
}

static bool
is_int(enum nsx_cell type)
{
	return type == NSX_CELL_INT || type == NSX_CELL_NS || type == NSX_CELL_BYTES;
}

void
nsx_table_int(struct nsx_table *t, int col, int64_t v)
{
	struct cell *c = at(t, col);

	assert(is_int(t->cols[col].type));
	if (c) {
		c->has = true;
		c->v.i = v;
	}
}

void
nsx_table_double(struct nsx_table *t, int col, double v)
{
	struct cell *c = at(t, col);

	assert(!is_int(t->cols[col].type) && t->cols[col].type != NSX_CELL_STRING);
	if (c) {
		c->has = true;
		c->v.f = v;
	}
}

void
nsx_table_str(struct nsx_table *t, int col, struct nsx_str s)
{
	struct cell *c = at(t, col);

	assert(t->cols[col].type == NSX_CELL_STRING);
	if (!c)
		return;
	c->v.s = nsx_arena_str(&t->arena, s);
	c->has = s.len > 0;
	t->failed = !c->v.s.ptr;
}

void
nsx_table_note(struct nsx_table *t, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	nsx_buf_fmt(&t->notes, "%s\n", line);
	t->failed |= t->notes.failed;
}

void
nsx_table_title(struct nsx_table *t, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	t->title.len = 0;
	nsx_buf_c(&t->title, line);
	t->failed |= t->title.failed;
}

size_t
nsx_table_rows(const struct nsx_table *t)
{
	return t->nrows;
}

static const struct cell *
cell_of(const struct nsx_table *t, size_t row, size_t col)
{
	return &t->cells.p[row * t->ncols + col];
}

static void
put_number(struct nsx_buf *b, enum nsx_cell type, const struct cell *c)
{
	char text[NSX_DOUBLE_CHARS], *end;

	end = is_int(type) ? nsx_put_int(text, c->v.i) : nsx_put_double(text, c->v.f);
	nsx_buf_add(b, text, (size_t)(end - text));
}

/* ---- TSV ---- */

static void
tsv_begin(struct nsx_buf *b, const struct nsx_table *t, const size_t *widths)
{
	(void)widths;
	for (size_t i = 0; i < t->ncols; i++)
		nsx_buf_fmt(b, "%s%s", i ? "\t" : "", t->cols[i].name);
	nsx_buf_char(b, '\n');
}

static void
tsv_row(struct nsx_buf *b, const struct nsx_table *t, const size_t *widths, size_t row)
{
	(void)widths;
	for (size_t i = 0; i < t->ncols; i++) {
		const struct cell *c = cell_of(t, row, i);

		if (i)
			nsx_buf_char(b, '\t');
		if (c->has && t->cols[i].type == NSX_CELL_STRING)
			nsx_buf_escaped(b, c->v.s);
		else if (c->has)
			put_number(b, t->cols[i].type, c);
	}
	nsx_buf_char(b, '\n');
}

static void
tsv_end(struct nsx_buf *b, const struct nsx_table *t, int64_t diags)
{
	(void)b;
	(void)t;
	(void)diags;
}

/* ---- JSON ---- */

static void
json_begin(struct nsx_buf *b, const struct nsx_table *t, const size_t *widths)
{
	(void)t;
	(void)widths;
	nsx_buf_char(b, '[');
}

static void
json_row(struct nsx_buf *b, const struct nsx_table *t, const size_t *widths, size_t row)
{
	(void)widths;
	nsx_buf_c(b, row ? ",\n{" : "\n{");
	for (size_t i = 0; i < t->ncols; i++) {
		const struct cell *c = cell_of(t, row, i);
		enum nsx_cell type = t->cols[i].type;

		if (i)
			nsx_buf_c(b, ", ");
		nsx_buf_json(b, nsx_str_c(t->cols[i].name));
		nsx_buf_c(b, ": ");
		if (!c->has || (type != NSX_CELL_STRING && !is_int(type) && !isfinite(c->v.f)))
			nsx_buf_c(b, "null");
		else if (type == NSX_CELL_STRING)
			nsx_buf_json(b, c->v.s);
		else
			put_number(b, type, c);
	}
	nsx_buf_char(b, '}');
}

static void
json_end(struct nsx_buf *b, const struct nsx_table *t, int64_t diags)
{
	(void)diags;
	nsx_buf_c(b, t->nrows ? "\n]\n" : "]\n");
}

/* ---- aligned ---- */

/* v in the greatest of the units that is not greater than it; each is `step` of the one before, the last as large as
 * need be. */
static void
put_scaled(struct nsx_buf *b, double v, double step, const char *const *units, bool whole)
{
	int decimals;

	for (; units[1] && fabs(v) >= step; units++, whole = false)
		v /= step;
	decimals = whole ? 0 : fabs(v) < 10 ? 3 : fabs(v) < 100 ? 2 : 1;
	nsx_buf_fmt(b, "%.*f %s", decimals, v, *units);
}

static void
put_human(struct nsx_buf *b, enum nsx_cell type, const struct cell *c)
{
	static const char *const times[] = { "ns", "us", "ms", "s", NULL };
	static const char *const sizes[] = { "B", "kB", "MB", "GB", "TB", NULL };

	if (!c->has) {
		nsx_buf_char(b, '-');
		return;
	}
	switch (type) {
	case NSX_CELL_INT:     put_number(b, type, c); break;
	case NSX_CELL_NS:      put_scaled(b, (double)c->v.i, 1000, times, true); break;
	case NSX_CELL_BYTES:   put_scaled(b, (double)c->v.i, 1000, sizes, true); break;
	case NSX_CELL_DOUBLE:  nsx_buf_fmt(b, "%.4g", c->v.f); break;
	case NSX_CELL_MEAN_NS: put_scaled(b, c->v.f, 1000, times, false); break;
	case NSX_CELL_GBPS:    nsx_buf_fmt(b, "%.4g GB/s", c->v.f); break;
	case NSX_CELL_SHARE:   nsx_buf_fmt(b, "%.1f%%", c->v.f * 100); break;
	case NSX_CELL_PERCENT: nsx_buf_fmt(b, "%.1f%%", c->v.f); break;
	case NSX_CELL_STRING:  nsx_buf_escaped(b, c->v.s); break;
	}
}

/* Characters of s, which is UTF-8. */
static size_t
width_of(struct nsx_str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.len; i++)
		n += ((unsigned char)s.ptr[i] & 0xc0) != 0x80;
	return n;
}

static void
put_spaces(struct nsx_buf *b, size_t n)
{
	while (n--)
		nsx_buf_char(b, ' ');
}

/* What is in b from `from` on becomes column col of a line: padded, numbers to the right, strings to the left. */
static void
align(struct nsx_buf *b, size_t from, const struct nsx_table *t, const size_t *widths, size_t col)
{
	bool left = t->cols[col].type == NSX_CELL_STRING, last = col + 1 == t->ncols;

	if (b->failed)
		return;
	size_t width = width_of((struct nsx_str){ b->ptr + from, b->len - from }), pad = widths[col] - width;
	if (left) {
		put_spaces(b, last ? 0 : pad);
	} else if (pad && nsx_buf_room(b, pad)) {
		for (size_t i = b->len; i-- > from;)
			b->ptr[i + pad] = b->ptr[i];
		for (size_t i = 0; i < pad; i++)
			b->ptr[from + i] = ' ';
		b->len += pad;
	}
	if (last)
		nsx_buf_char(b, '\n');
	else
		put_spaces(b, GAP);
}

static void
aligned_begin(struct nsx_buf *b, const struct nsx_table *t, const size_t *widths)
{
	for (size_t i = 0; i < t->ncols; i++) {
		size_t from = b->len;

		nsx_buf_c(b, t->cols[i].name);
		align(b, from, t, widths, i);
	}
}

static void
aligned_row(struct nsx_buf *b, const struct nsx_table *t, const size_t *widths, size_t row)
{
	for (size_t i = 0; i < t->ncols; i++) {
		size_t from = b->len;

		put_human(b, t->cols[i].type, cell_of(t, row, i));
		align(b, from, t, widths, i);
	}
}

static void
aligned_end(struct nsx_buf *b, const struct nsx_table *t, int64_t diags)
{
	nsx_buf_str(b, nsx_buf_view(&t->notes));
	if (diags < 0)
		return;
	if (diags == 0)
		nsx_buf_c(b, "the stream holds no diags\n");
	else
		nsx_buf_fmt(b, "the stream holds %" PRId64 " diag%s; nsysx-view -t diag shows %s\n", diags, diags == 1
		            ? "" : "s",
		            diags == 1 ? "it" : "them");
}

/* ---- Markdown: GitHub's tables, which take no line breaks, and '|' only as "\\|", in code too ---- */

/* s as code, between more backquotes than any of its runs has. */
static void
put_code(struct nsx_buf *b, struct nsx_str s)
{
	size_t from = b->len, run = 0, most = 0, fence;

	nsx_buf_escaped(b, s);
	if (b->failed)
		return;
	for (size_t i = from; i < b->len; i++) {
		run = b->ptr[i] == '`' ? run + 1 : 0;
		most = run > most ? run : most;
	}
	fence = most + 1;
	b->len = from;
	for (size_t i = 0; i < fence; i++)
		nsx_buf_char(b, '`');
	if (most)
		nsx_buf_char(b, ' ');
	from = b->len;
	nsx_buf_escaped(b, s);
	for (size_t i = from; i < b->len && !b->failed; i++)
		if (b->ptr[i] == '|' && nsx_buf_room(b, 1)) {
			memmove(b->ptr + i + 1, b->ptr + i, b->len - i);
			b->ptr[i++] = '\\';
			b->len++;
		}
	if (most)
		nsx_buf_char(b, ' ');
	for (size_t i = 0; i < fence; i++)
		nsx_buf_char(b, '`');
}

static void
markdown_begin(struct nsx_buf *b, const struct nsx_table *t, const size_t *widths)
{
	(void)widths;
	if (t->title.len) {
		nsx_buf_str(b, nsx_buf_view(&t->title));
		nsx_buf_c(b, "\n\n");
	}
	for (size_t i = 0; i < t->ncols; i++)
		nsx_buf_fmt(b, "| %s ", t->cols[i].name);
	nsx_buf_c(b, "|\n");
	for (size_t i = 0; i < t->ncols; i++)
		nsx_buf_c(b, t->cols[i].type == NSX_CELL_STRING ? "|---" : "|--:");
	nsx_buf_c(b, "|\n");
}

static void
markdown_row(struct nsx_buf *b, const struct nsx_table *t, const size_t *widths, size_t row)
{
	(void)widths;
	for (size_t i = 0; i < t->ncols; i++) {
		const struct cell *c = cell_of(t, row, i);

		nsx_buf_c(b, "| ");
		if (c->has && t->cols[i].type == NSX_CELL_STRING)
			put_code(b, c->v.s);
		else if (c->has)
			put_human(b, t->cols[i].type, c);
		nsx_buf_char(b, ' ');
	}
	nsx_buf_c(b, "|\n");
}

/* Notes are a list. */
static void
markdown_end(struct nsx_buf *b, const struct nsx_table *t, int64_t diags)
{
	const char *p = t->notes.ptr, *end = p + t->notes.len, *line;

	(void)diags;
	for (; p && p < end; p = line + 1) {
		line = memchr(p, '\n', (size_t)(end - p));
		nsx_buf_c(b, p == t->notes.ptr ? "\n- " : "- ");
		put_code(b, (struct nsx_str){ p, (size_t)(line - p) });
		nsx_buf_char(b, '\n');
	}
}

/* The widest of each column into widths; false when out of memory. */
static bool
measure(const struct nsx_table *t, size_t *widths)
{
	struct nsx_buf b = { 0 };

	for (size_t i = 0; i < t->ncols; i++)
		widths[i] = width_of(nsx_str_c(t->cols[i].name));
	for (size_t row = 0; row < t->nrows; row++)
		for (size_t i = 0; i < t->ncols; i++) {
			b.len = 0;
			put_human(&b, t->cols[i].type, cell_of(t, row, i));
			size_t w = b.failed ? 0 : width_of(nsx_buf_view(&b));
			if (w > widths[i])
				widths[i] = w;
		}
	bool good = !b.failed;
	nsx_buf_free(&b);
	return good;
}

static const struct form forms[] = {
	[NSX_TABLE_ALIGNED] = { aligned_begin, aligned_row, aligned_end },
	[NSX_TABLE_TSV]     = { tsv_begin, tsv_row, tsv_end },
	[NSX_TABLE_JSON]    = { json_begin, json_row, json_end },
	[NSX_TABLE_MARKDOWN] = { markdown_begin, markdown_row, markdown_end },
};

static int
flush(struct nsx_buf *b, size_t least, struct nsx_outfile *out, struct nsx_err *err)
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

int
nsx_table_write(const struct nsx_table *t, enum nsx_table_form form, int64_t diags, struct nsx_outfile *out,
                struct nsx_err *err)
{
	const struct form *f = &forms[form];
	struct nsx_buf b = { 0 };
	size_t *widths = calloc(t->ncols, sizeof *widths);
	int rc = NSX_OK;

	if (t->failed || !widths || (form == NSX_TABLE_ALIGNED && !measure(t, widths))) {
		free(widths);
		return nsx_err_nomem(err, nsx_outfile_name(out));
	}
	f->begin(&b, t, widths);
	for (size_t row = 0; row < t->nrows && rc == NSX_OK; row++) {
		f->row(&b, t, widths, row);
		rc = flush(&b, FULL, out, err);
	}
	f->end(&b, t, diags);
	if (rc == NSX_OK)
		rc = flush(&b, 1, out, err);
	nsx_buf_free(&b);
	free(widths);
	return rc;
}

void
nsx_table_tsv(const struct nsx_table *t, struct nsx_buf *b)
{
	tsv_begin(b, t, NULL);
	for (size_t row = 0; row < t->nrows; row++)
		tsv_row(b, t, NULL, row);
	b->failed |= t->failed;
}
