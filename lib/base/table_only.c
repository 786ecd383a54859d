/* table_only.c -- selects rows of a table by conditions on their columns. */
#include <string.h>

#include "base/num.h"
#include "base/table_own.h"

/* A cell as TSV writes it, before escaping, with a NUL after it. */
static void
put_cell(struct nsx_buf *to, enum nsx_cell type, struct nsx_table_cell c)
{
	char text[NSX_DOUBLE_CHARS], *end = text;

	to->len = 0;
	if (c.has && type == NSX_CELL_STRING)
		nsx_buf_str(to, c.v.s);
	else if (c.has)
		end = nsx_table_is_int(type) ? nsx_put_int(text, c.v.i) : nsx_put_double(text, c.v.f);
	nsx_buf_add(to, text, (size_t)(end - text));
	nsx_buf_char(to, '\0');
}

/* Remove the rows that do not satisfy the condition on that column. */
static void
keep(struct nsx_table *t, const struct nsx_only_test *test, size_t col)
{
	struct nsx_buf text = { .len = 0 };
	size_t kept = 0;

	for (size_t row = 0; row < t->nrows && !t->failed; row++) {
		put_cell(&text, t->cols[col].type, nsx_table_cell_of(t, row, col));
		t->failed |= text.failed;
		if (t->failed || !nsx_only_holds(test, (struct nsx_str){ text.ptr, text.len - 1 }))
			continue;
		memmove(t->values.p + kept * t->stride, t->values.p + row * t->stride, t->stride * sizeof *t->values.p);
		memmove(t->has.p + kept * t->stride, t->has.p + row * t->stride, t->stride * sizeof *t->has.p);
		kept++;
	}
	t->nrows = kept;
	t->values.n = t->has.n = kept * t->stride;
	nsx_buf_free(&text);
}

int
nsx_table_only(struct nsx_table *t, const struct nsx_only *only, struct nsx_err *err)
{
	/* What is not shown is then more than what --top and --cover omit. */
	if (only->tests.n) {
		t->shares = false;
		t->uncovered = 0;
	}
	for (size_t i = 0; i < only->tests.n; i++) {
		size_t col = nsx_table_named(t, only->tests.p[i].column);

		if (col == t->ncols)
			return nsx_table_no_column(t, only->tests.p[i].column, err);
		keep(t, &only->tests.p[i], col);
	}
	return NSX_OK;
}
