/* table_rows.c -- rows of a table and their order, its notes, and which of its columns matter. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/near.h"
#include "base/sort.h"
#include "base/table_own.h"

struct nsx_table *
nsx_table_new(const struct nsx_table_col *cols, int ncols)
{
	struct nsx_table *t = calloc(1, sizeof *t);

	if (t) {
		t->cols = cols;
		t->ncols = t->stride = (size_t)ncols;
	}
	return t;
}

struct nsx_table *
nsx_table_new_copy(const struct nsx_table_col *cols, int ncols)
{
	size_t size = ((size_t)ncols + 1) * sizeof *cols, names = 0;

	for (int i = 0; i < ncols; i++)
		names += strlen(cols[i].name) + 1;
	/* The names follow the columns. */
	struct nsx_table_col *own = malloc(size + names);
	struct nsx_table *t = own ? nsx_table_new(own, ncols) : NULL;

	if (!t) {
		free(own);
		return NULL;
	}
	char *name = (char *)own + size;
	for (int i = 0; i < ncols; i++) {
		own[i] = (struct nsx_table_col){ strcpy(name, cols[i].name), cols[i].type };
		name += strlen(name) + 1;
	}
	t->own = own;
	return t;
}

void
nsx_table_free(struct nsx_table *t)
{
	if (!t)
		return;
	free(t->own);
	nsx_intern_free(&t->texts);
	free(t->values.p);
	free(t->has.p);
	free(t->ranked.p);
	free(t->brief.p);
	free(t->spare.p);
	free(t->heads);
	nsx_buf_free(&t->notes);
	nsx_buf_free(&t->title);
	nsx_buf_free(&t->lead);
	free(t);
}

void
nsx_table_row(struct nsx_table *t)
{
	if (t->failed || !nsx_vec_room(&t->values, t->ncols) || !nsx_vec_room(&t->has, t->ncols)) {
		t->failed = true;
		return;
	}
	memset(t->has.p + t->has.n, 0, t->ncols * sizeof *t->has.p);
	t->has.n += t->ncols;
	t->values.n += t->ncols;
	t->nrows++;
}

/* The cell of the last row, marked as present; NULL after a failure. */
static union nsx_table_value *
at(struct nsx_table *t, int col)
{
	if (t->failed)
		return NULL;
	assert(t->nrows > 0 && col >= 0 && (size_t)col < t->ncols);
	size_t i = t->values.n - t->ncols + (size_t)col;
	t->has.p[i] = true;
	return &t->values.p[i];
}

void
nsx_table_int(struct nsx_table *t, int col, int64_t v)
{
	union nsx_table_value *c = at(t, col);

	assert(nsx_table_is_int(t->cols[col].type));
	if (c)
		c->i = v;
}

int
nsx_table_sum(struct nsx_table *t, int col, nsx_u128 ns, struct nsx_err *err)
{
	if (ns > INT64_MAX)
		return nsx_err_overflow(err, NULL);
	nsx_table_int(t, col, (int64_t)ns);
	return NSX_OK;
}

void
nsx_table_double(struct nsx_table *t, int col, double v)
{
	union nsx_table_value *c = at(t, col);

	assert(!nsx_table_is_int(t->cols[col].type) && t->cols[col].type != NSX_CELL_STRING);
	if (c)
		c->f = v + 0.0;   /* no negative zero */
}

void
nsx_table_str(struct nsx_table *t, int col, struct nsx_str s)
{
	assert(t->cols[col].type == NSX_CELL_STRING);
	union nsx_table_value *c = s.len ? at(t, col) : NULL;
	if (!c)
		return;
	c->text = nsx_intern_recall(&t->texts, t->recall, s);
	t->failed = c->text == NSX_NONE;
}

void
nsx_table_note(struct nsx_table *t, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	/* Names are from profiles, and the end of a long line may have cut a character. */
	nsx_utf8_line(line, strlen(line));
	nsx_buf_fmt(&t->notes, "%s\n", line);
	t->failed |= t->notes.failed;
}

void
nsx_table_notes_of(struct nsx_table *t, const struct nsx_table *other)
{
	nsx_buf_str(&t->notes, nsx_buf_view(&other->notes));
	t->failed |= t->notes.failed || other->notes.failed;
}

void
nsx_table_lead(struct nsx_table *t, const char *text)
{
	if (!t)
		return;
	t->lead.len = 0;
	nsx_buf_c(&t->lead, text);
	t->failed |= t->lead.failed;
}

void
nsx_table_title(struct nsx_table *t, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	nsx_utf8_line(line, strlen(line));
	t->title.len = 0;
	nsx_buf_c(&t->title, line);
	t->failed |= t->title.failed;
}

/* The column of that name; ncols: none. */
static size_t
column_of(const struct nsx_table *t, struct nsx_str name)
{
	size_t col = 0;

	while (col < t->ncols && !nsx_str_eq(nsx_str_c(t->cols[col].name), name))
		col++;
	return col;
}

const struct nsx_table_col *
nsx_table_columns(const struct nsx_table *t, size_t *n)
{
	*n = t->ncols;
	return t->cols;
}

size_t
nsx_table_named(const struct nsx_table *t, struct nsx_str name)
{
	size_t col = column_of(t, name), head = 0;

	if (col < t->ncols)
		return col;
	while (head < t->ncols && !nsx_str_eq(nsx_str_c(nsx_table_head_of(t, head)), name))
		head++;
	return head;
}

/* The column of the next name, which is removed from `names`; false at the end of the names. */
static bool
next_column(const struct nsx_table *t, const char **names, size_t *col)
{
	size_t n;

	*names += strspn(*names, " ");
	n = strcspn(*names, " ");
	if (!n)
		return false;
	*col = column_of(t, (struct nsx_str){ *names, n });
	assert(*col < t->ncols);
	*names += n;
	return true;
}

void
nsx_table_rank(struct nsx_table *t, const char *names)
{
	for (size_t col; t && next_column(t, &names, &col);)
		t->failed |= !nsx_vec_push(&t->ranked, col);
}

void
nsx_table_brief(struct nsx_table *t, const char *names)
{
	for (size_t col; t && next_column(t, &names, &col);)
		t->failed |= !nsx_vec_push(&t->brief, col);
}

void
nsx_table_spare(struct nsx_table *t, const char *name)
{
	for (size_t col; t && next_column(t, &name, &col);)
		t->failed |= !nsx_vec_push(&t->spare, col);
}

void
nsx_table_head(struct nsx_table *t, const char *name, const char *head)
{
	size_t col = t ? column_of(t, nsx_str_c(name)) : 0;

	if (!t)
		return;
	assert(col < t->ncols);
	if (!t->heads)
		t->heads = calloc(t->ncols, sizeof *t->heads);
	t->failed |= !t->heads;
	if (t->heads)
		t->heads[col] = head;
}

void
nsx_table_below(struct nsx_table *t, const char *name)
{
	if (!t)
		return;
	t->below = column_of(t, nsx_str_c(name));
	t->sentences = true;
	assert(t->below < t->ncols && t->cols[t->below].type == NSX_CELL_STRING);
}

void
nsx_table_adds(struct nsx_table *t, const char *name)
{
	if (!t)
		return;
	t->added = column_of(t, nsx_str_c(name));
	t->adds = true;
	assert(t->added < t->ncols && nsx_table_is_int(t->cols[t->added].type));
}

void
nsx_table_rough(struct nsx_table *t, const char *name, const char *of, int64_t least)
{
	if (!t)
		return;
	t->guess = column_of(t, nsx_str_c(name));
	t->samples = column_of(t, nsx_str_c(of));
	t->enough = least;
	t->rough = true;
	assert(t->guess < t->ncols && t->samples < t->ncols && nsx_table_is_int(t->cols[t->samples].type));
}

void
nsx_table_shares(struct nsx_table *t, const char *name, const char *of)
{
	if (!t)
		return;
	t->share = column_of(t, nsx_str_c(name));
	t->shares = true;
	t->whole = of;
	assert(t->share < t->ncols && t->cols[t->share].type == NSX_CELL_SHARE);
}

void
nsx_table_uncovered(struct nsx_table *t, size_t n)
{
	if (t)
		t->uncovered += n;
}

void
nsx_table_beyond(struct nsx_table *t, size_t n)
{
	t->beyond += n;
}

size_t
nsx_table_rows(const struct nsx_table *t)
{
	return t->nrows;
}

bool
nsx_table_failed(const struct nsx_table *t)
{
	return t->failed;
}

struct nsx_table_cell
nsx_table_get(const struct nsx_table *t, size_t row, size_t col)
{
	return nsx_table_cell_of(t, row, col);
}

void
nsx_table_permute(struct nsx_table *t, const size_t *order)
{
	size_t n = t->ncols;
	union nsx_table_value *values = t->failed ? NULL : malloc((t->values.n + 1) * sizeof *values);
	bool *has = values ? malloc((t->has.n + 1) * sizeof *has) : NULL;

	for (size_t i = 0; has && i < t->nrows; i++) {
		memcpy(values + i * n, t->values.p + order[i] * n, n * sizeof *values);
		memcpy(has + i * n, t->has.p + order[i] * n, n * sizeof *has);
	}
	if (has && t->nrows) {
		memcpy(t->values.p, values, t->values.n * sizeof *values);
		memcpy(t->has.p, has, t->has.n * sizeof *has);
	}
	t->failed |= !has;
	free(values);
	free(has);
}

/* The sort key of rows: a number negated, so that the smallest key comes first. */
struct sorted { bool has, is_str; int64_t i; double f; struct nsx_str s; size_t row; };

NSX_ORDER(sorted_cmp, struct sorted, NSX_CMP(b->has, a->has),
          a->is_str ? nsx_str_cmp(a->s, b->s) : NSX_CMP(b->i, a->i), NSX_CMP(b->f, a->f), NSX_CMP(a->row, b->row))

int
nsx_table_no_column(const struct nsx_table *t, struct nsx_str name, struct nsx_err *err)
{
	struct nsx_near near = { .want = name };
	struct nsx_buf b = { 0 };
	int rc;

	for (size_t i = 0; i < t->ncols; i++) {
		nsx_buf_fmt(&b, "%s%s", i ? ", " : "", t->cols[i].name);
		nsx_near_offer(&near, nsx_str_c(t->cols[i].name));
	}
	rc = nsx_err_set(err, "no column %.*s: want one of %.*s%s", (int)name.len, name.ptr, (int)b.len, b.len ? b.ptr
	                 : "",
	                 nsx_near_hint(&near).text);
	nsx_near_free(&near);
	nsx_buf_free(&b);
	return rc;
}

int
nsx_table_sort(struct nsx_table *t, const char *name, struct nsx_err *err)
{
	size_t col = nsx_table_named(t, nsx_str_c(name));

	if (col == t->ncols)
		return nsx_table_no_column(t, nsx_str_c(name), err);
	struct sorted *rows = t->failed ? NULL : malloc((t->nrows + 1) * sizeof *rows);
	size_t *order = rows ? malloc((t->nrows + 1) * sizeof *order) : NULL;
	enum nsx_cell type = t->cols[col].type;

	for (size_t i = 0; order && i < t->nrows; i++) {
		struct nsx_table_cell c = nsx_table_cell_of(t, i, col);

		rows[i] = (struct sorted){ .has = c.has, .is_str = type == NSX_CELL_STRING, .row = i };
		if (rows[i].is_str)
			rows[i].s = c.v.s;
		else if (nsx_table_is_int(type))
			rows[i].i = c.v.i;
		else
			rows[i].f = c.v.f;
	}
	if (order && t->nrows > 1)
		qsort(rows, t->nrows, sizeof *rows, sorted_cmp);
	for (size_t i = 0; order && i < t->nrows; i++)
		order[i] = rows[i].row;
	if (order)
		nsx_table_permute(t, order);
	t->failed |= !order;
	free(rows);
	free(order);
	return NSX_OK;
}
