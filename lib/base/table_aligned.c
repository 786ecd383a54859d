/* table_aligned.c -- writes a table in aligned columns: all of it, or the part that fits the width of a terminal.
 *
 * To fit W characters, columns are considered in order of rank: a column is taken if it fits in addition to those taken
 * before it, a number in its full width, a string in a minimum width: W/3 for the first string, W/6 for the second,
 * W/4 for those after it, since little of these would be left; columns without values are not considered if there are
 * rows. Strings of ranked columns grow to W/2 before unranked columns are considered; all strings share the remaining
 * width.
 *
 *   W 40; name 60 wide, total 9, percent 7, mean 9, key 64, ranked "total percent name":
 *   total 9; percent 2+7; name 2+13 (40/3), and 7 more up to 20 (40/2); mean 2+9 does not fit, nor does key */
#include "base/table_own.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/kernel_name.h"
#include "base/width.h"

enum { FULL = 64 << 10, GAP = 2, LEAST_LINE = 8, LEAST_NAME = 12, LEAST_STRING = 8 };

struct column {
	size_t natural;   /* the width of its widest cell or its name */
	size_t width;     /* the width assigned to it */
	bool   shown, has, sorted, ranked;   /* ranked: named by nsx_table_rank and with values */
	struct nsx_str *recut;               /* from nsx_table_distinct; NULL: no cell is recut */
};

struct layout {
	const struct nsx_table *t;
	struct column *cols;
	size_t         rows, width;   /* width 0: no terminal */
	size_t         last;          /* the last column shown */
	size_t         left_out;      /* number of columns not shown */
	struct nsx_buf cell;
	struct nsx_arena arena;       /* the texts of `recut` */
};

/* Whether the cells of the column are written below their rows, not in a column. */
static bool
is_below(const struct layout *l, size_t col)
{
	return l->width && l->t->sentences && l->t->below == col;
}

static bool
is_string(const struct layout *l, size_t col)
{
	return l->t->cols[col].type == NSX_CELL_STRING;
}

/* The cell in full, valid until the next call. */
static struct nsx_str
cell_text(struct layout *l, size_t row, size_t col)
{
	l->cell.len = 0;
	nsx_table_doubt(&l->cell, l->t, row, col);
	nsx_table_human(&l->cell, l->t->cols[col].type, nsx_table_cell_of(l->t, row, col), l->width > 0);
	return nsx_buf_view(&l->cell);
}

static void
measure(struct layout *l)
{
	for (size_t i = 0; i < l->t->ncols; i++)
		l->cols[i] = (struct column){ .natural = nsx_width(nsx_str_c(nsx_table_head_of(l->t, i))) };
	for (size_t row = 0; row < l->rows; row++)
		for (size_t i = 0; i < l->t->ncols; i++) {
			struct nsx_str s = cell_text(l, row, i);
			size_t w = s.len <= l->cols[i].natural ? 0 : nsx_width(s);

			l->cols[i].has |= nsx_table_cell_of(l->t, row, i).has;
			if (w > l->cols[i].natural)
				l->cols[i].natural = w;
		}
}

/* Order columns by rank: those with values first, and among them the ranked ones. */
static void
sort_columns(struct layout *l, size_t *order)
{
	const struct nsx_table *t = l->t;
	size_t n = 0;

	for (int has = 1; has >= 0; has--)
		for (size_t i = 0; i < t->ranked.n + t->ncols; i++) {
			size_t col = i < t->ranked.n ? t->ranked.p[i] : i - t->ranked.n;

			if (!l->cols[col].sorted && l->cols[col].has == (has == 1)) {
				l->cols[col].sorted = true;
				l->cols[col].ranked = has && i < t->ranked.n;
				order[n++] = col;
			}
		}
}

/* The width that a column needs: at most `most`, but at least its current width. */
static size_t
wish_of(const struct column *c, size_t most)
{
	size_t wish = c->natural < most ? c->natural : most;

	return wish < c->width ? c->width : wish;
}

/* Distribute the remaining width `left` evenly to the columns that need more, up to `most` each. Returns the width that
 * remains after that. */
static size_t
widen(struct layout *l, size_t left, size_t most)
{
	for (size_t wanting = 1; wanting && left;) {
		wanting = 0;
		for (size_t i = 0; i < l->t->ncols; i++)
			wanting += l->cols[i].shown && l->cols[i].width < wish_of(&l->cols[i], most);
		size_t each = wanting ? left / wanting + (left < wanting) : 0;
		for (size_t i = 0; i < l->t->ncols && left; i++) {
			struct column *c = &l->cols[i];
			size_t more = c->shown ? wish_of(c, most) - c->width : 0;

			more = more < each ? more : each;
			more = more < left ? more : left;
			c->width += more;
			left -= more;
		}
	}
	return left;
}

static size_t
least_of(size_t share, size_t least, size_t width)
{
	size_t n = share < least ? least : share;

	return n < width ? n : width;
}

static void
fit(struct layout *l, const size_t *order)
{
	size_t used = 0, strings = 0;
	bool ranked = true;

	for (size_t k = 0; k < l->t->ncols; k++) {
		struct column *c = &l->cols[order[k]];
		size_t gap = used ? GAP : 0, least = c->natural;

		if (is_below(l, order[k]))
			continue;
		if (!c->has && l->rows) {
			l->left_out++;
			continue;
		}
		if (ranked && !c->ranked) {
			used = l->width - widen(l, l->width - used, l->width / 2);
			ranked = false;
		}
		if (is_string(l, order[k])) {
			size_t floor = strings ? least_of(l->width / (strings == 1 ? 6 : 4), LEAST_STRING, l->width)
			                       : least_of(l->width / 3, LEAST_NAME, l->width);
			size_t name = nsx_width(nsx_str_c(nsx_table_head_of(l->t, order[k])));

			floor = floor < name ? name : floor;
			least = least < floor ? least : floor;
		}
		if (used == 0 && least > l->width)
			least = l->width;
		if (used + gap + least > l->width) {
			l->left_out++;
			continue;
		}
		strings += is_string(l, order[k]);
		c->shown = true;
		c->width = least;
		used += gap + least;
	}
	widen(l, l->width - used, SIZE_MAX);
}

/* Choose the columns and their widths. False when out of memory. */
static bool
lay_out(struct layout *l)
{
	size_t *order = calloc(l->t->ncols + 1, sizeof *order);
	bool good = true;

	l->cols = calloc(l->t->ncols + 1, sizeof *l->cols);
	if (order && l->cols) {
		measure(l);
		for (size_t i = 0; i < l->t->spare.n && l->width && l->rows; i++)
			l->cols[l->t->spare.p[i]].has = false;
		sort_columns(l, order);
		for (size_t i = 0; i < l->t->ncols && !l->width; i++) {
			l->cols[i].shown = true;
			l->cols[i].width = l->cols[i].natural;
		}
		if (l->width)
			fit(l, order);
		for (size_t i = 0; i < l->t->ncols; i++) {
			struct column *c = &l->cols[i];

			if (c->shown)
				l->last = i;
			if (c->shown && is_string(l, i) && c->natural > c->width)
				good &= nsx_table_distinct(l->t, l->rows, i, c->width, &l->arena, &c->recut);
		}
	}
	good &= order && l->cols && !l->cell.failed;
	free(order);
	return good;
}

static void
put_spaces(struct nsx_buf *b, size_t n)
{
	while (n--)
		nsx_buf_char(b, ' ');
}

/* The cell as it is shown: whole, or cut where cells of this column differ. */
static struct nsx_str
shown_text(struct layout *l, size_t row, size_t col)
{
	const struct nsx_str *recut = l->cols[col].recut;

	return recut && row < NSX_TABLE_DISTINCT && recut[row].ptr ? recut[row] : cell_text(l, row, col);
}

/* s as column col of a line: padded, numbers to the right, strings to the left. A number that is wider than its column
 * becomes '#': it is never truncated. */
static void
put_cell(struct nsx_buf *b, const struct layout *l, size_t col, struct nsx_str s, bool name)
{
	const struct column *c = &l->cols[col];
	size_t from = b->len, width = nsx_width(s);

	if (width > c->width && (is_string(l, col) || name)) {
		nsx_buf_kernel_shortened(b, s, c->width);
		width = b->failed ? 0 : nsx_width((struct nsx_str){ b->ptr + from, b->len - from });
		s.len = 0;
	} else if (width > c->width) {
		for (width = 0; width < c->width; width++)
			nsx_buf_char(b, '#');
		s.len = 0;
	}
	if (!is_string(l, col))
		put_spaces(b, c->width - width);
	nsx_buf_str(b, s);
	if (is_string(l, col) && col != l->last)
		put_spaces(b, c->width - width);
	if (col == l->last)
		nsx_buf_char(b, '\n');
	else
		put_spaces(b, GAP);
}

/* The sentence of a row, indented. */
static void
put_sentence(struct nsx_buf *b, struct layout *l, size_t row)
{
	struct nsx_buf line = { 0 };

	if (!nsx_table_cell_of(l->t, row, l->t->below).has)
		return;
	nsx_buf_c(&line, "  ");
	nsx_buf_str(&line, cell_text(l, row, l->t->below));
	nsx_buf_char(&line, '\n');
	nsx_buf_folded(b, nsx_buf_view(&line), l->width < LEAST_LINE ? LEAST_LINE : l->width);
	b->failed |= line.failed;
	nsx_buf_free(&line);
}

static void
put_below(struct nsx_buf *b, const struct layout *l, int64_t diags)
{
	const struct nsx_table *t = l->t;

	nsx_table_more(b, t, l->rows);
	if (l->left_out && l->rows)
		nsx_buf_fmt(b, "... and %zu more column%s: --wide\n", l->left_out, l->left_out == 1 ? "" : "s");
	nsx_buf_str(b, nsx_buf_view(&t->notes));
	if (diags == 0)
		nsx_buf_c(b, "the stream holds no diags\n");
	else if (diags > 0)
		nsx_buf_fmt(b, "the stream holds %" PRId64 " diag%s; nsysx-view -t diag shows %s\n", diags,
		            diags == 1 ? "" : "s", diags == 1 ? "it" : "them");
}

static void
put_lead(struct nsx_buf *b, const struct layout *l)
{
	struct nsx_buf line = { 0 };

	if (!l->t->lead.len)
		return;
	nsx_buf_str(&line, nsx_buf_view(&l->t->lead));
	nsx_buf_char(&line, '\n');
	if (l->width)
		nsx_buf_folded(b, nsx_buf_view(&line), l->width < LEAST_LINE ? LEAST_LINE : l->width);
	else
		nsx_buf_str(b, nsx_buf_view(&line));
	b->failed |= line.failed;
	nsx_buf_free(&line);
}

static int
write_all(struct layout *l, int64_t diags, struct nsx_outfile *out, struct nsx_err *err)
{
	const struct nsx_table *t = l->t;
	struct nsx_buf b = { 0 }, below = { 0 };
	int rc = NSX_OK;

	put_lead(&b, l);
	for (size_t i = 0; i < t->ncols; i++)
		if (l->cols[i].shown)
			put_cell(&b, l, i, nsx_str_c(nsx_table_head_of(t, i)), true);
	for (size_t row = 0; row < l->rows && rc == NSX_OK; row++) {
		for (size_t i = 0; i < t->ncols; i++)
			if (l->cols[i].shown)
				put_cell(&b, l, i, shown_text(l, row, i), false);
		if (is_below(l, t->below))
			put_sentence(&b, l, row);
		rc = nsx_table_flush(&b, FULL, out, err);
	}
	put_below(&below, l, diags);
	if (l->width)
		nsx_buf_folded(&b, nsx_buf_view(&below), l->width < LEAST_LINE ? LEAST_LINE : l->width);
	else
		nsx_buf_str(&b, nsx_buf_view(&below));
	b.failed |= below.failed | l->cell.failed;
	if (rc == NSX_OK)
		rc = nsx_table_flush(&b, 1, out, err);
	nsx_buf_free(&below);
	nsx_buf_free(&b);
	return rc;
}

int
nsx_table_aligned(const struct nsx_table *t, size_t rows, size_t width, int64_t diags, struct nsx_outfile *out,
                  struct nsx_err *err)
{
	struct layout l = { .t = t, .rows = rows, .width = width };
	int rc = lay_out(&l) ? write_all(&l, diags, out, err) : nsx_err_nomem(err, nsx_outfile_name(out));

	for (size_t i = 0; l.cols && i < t->ncols; i++)
		free(l.cols[i].recut);
	free(l.cols);
	nsx_arena_free(&l.arena);
	nsx_buf_free(&l.cell);
	return rc;
}
