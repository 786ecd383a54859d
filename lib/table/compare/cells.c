/* cells.c -- a table of nsysx-summary as rows of the cells of some of its columns, which the header names. */
#include <inttypes.h>
#include <string.h>

#include "table/compare/sides.h"

/* The first field, and line, of *rest, which is removed from it; of a line its end too. */
static struct nsx_str
take_field(struct nsx_str *rest)
{
	const char *tab = rest->len ? memchr(rest->ptr, '\t', rest->len) : NULL;
	struct nsx_str f = { rest->ptr, tab ? (size_t)(tab - rest->ptr) : rest->len };

	rest->ptr += f.len + (tab != NULL);
	rest->len -= f.len + (tab != NULL);
	return f;
}

static struct nsx_str
take_line(struct nsx_str *rest)
{
	const char *end = memchr(rest->ptr, '\n', rest->len);
	struct nsx_str l = { rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len };

	rest->ptr += l.len + (end != NULL);
	rest->len -= l.len + (end != NULL);
	return l;
}

bool
nsx_compare_cells_find(struct cmp_cells *t, struct nsx_str *text)
{
	struct nsx_str header = take_line(text);
	bool all = true;

	t->line = 1;
	for (int i = 0; i < t->n; i++)
		t->at[i] = -1;
	for (t->ncols = 0; t->ncols == 0 || header.len; t->ncols++) {
		struct nsx_str name = take_field(&header);

		for (int i = 0; i < t->n; i++)
			if (t->cols[i] && nsx_str_eq(name, nsx_str_c(t->cols[i])))
				t->at[i] = t->ncols;
	}
	for (int i = 0; i < t->n; i++)
		all &= !t->cols[i] || t->at[i] >= 0;
	return all;
}

int
nsx_compare_cells_each(struct cmp_cells *t, struct nsx_str text, nsx_compare_cells_fn *take, void *arg)
{
	struct nsx_str cell[CMP_CELLS_MAX];
	int rc = NSX_OK;

	if (text.len && text.ptr[text.len - 1] != '\n')
		return nsx_err_set(t->err, "%s: cut short: the last line has no end", t->name);
	while (text.len && rc == NSX_OK) {
		struct nsx_str rest = take_line(&text);

		t->line++;
		for (int i = 0; i < t->n; i++)
			cell[i] = NSX_STR("");
		for (int k = 0; k < t->ncols; k++) {
			/* The last field has no tab after it, the others do. */
			bool last = !rest.len || memchr(rest.ptr, '\t', rest.len) == NULL;
			struct nsx_str f = take_field(&rest);

			if (last != (k + 1 == t->ncols))
				return nsx_err_set(t->err, "%s:%" PRId64 ": want %d columns as in the first line",
				                   t->name, t->line, t->ncols);
			for (int i = 0; i < t->n; i++)
				if (t->at[i] == k)
					cell[i] = f;
		}
		rc = take(arg, cell);
	}
	return rc;
}
