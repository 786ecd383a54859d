/* table_row.c -- rows as TSV, as JSON and as CSV (RFC 4180). */
#include "base/table_row.h"

#include <math.h>

#include "base/escape.h"
#include "base/num.h"

void
nsx_table_number(struct nsx_buf *b, enum nsx_cell type, struct nsx_table_cell c)
{
	char *end;

	if (!nsx_buf_room(b, NSX_DOUBLE_CHARS))
		return;
	end = b->ptr + b->len;
	end = nsx_table_is_int(type) ? nsx_put_int(end, c.v.i) : nsx_put_double(end, c.v.f);
	b->len = (size_t)(end - b->ptr);
}

static void
no_end(struct nsx_buf *b, size_t rows)
{
	(void)b;
	(void)rows;
}

/* ---- TSV ---- */

static void
tsv_begin(struct nsx_buf *b, const struct nsx_table_col *cols, size_t ncols)
{
	for (size_t i = 0; i < ncols; i++)
		nsx_buf_fmt(b, "%s%s", i ? "\t" : "", cols[i].name);
	nsx_buf_char(b, '\n');
}

static void
tsv_row(struct nsx_buf *b, const struct nsx_table_col *cols, size_t ncols, const struct nsx_table_cell *cells,
        size_t row)
{
	/* The maximum of all numbers, tabs and the newline: strings add what they need. */
	size_t rest = ncols * (NSX_DOUBLE_CHARS + 1) + 1;

	(void)row;
	if (!nsx_buf_room(b, rest))
		return;
	char *to = b->ptr + b->len;

	for (size_t i = 0; i < ncols; i++) {
		if (i)
			*to++ = '\t';
		if (!cells[i].has)
			continue;
		if (nsx_table_is_int(cols[i].type)) {
			to = nsx_put_int(to, cells[i].v.i);
		} else if (cols[i].type != NSX_CELL_STRING) {
			to = nsx_put_double(to, cells[i].v.f);
		} else {
			b->len = (size_t)(to - b->ptr);
			nsx_buf_escaped(b, cells[i].v.s);
			if (!nsx_buf_room(b, rest))
				return;
			to = b->ptr + b->len;
		}
	}
	*to++ = '\n';
	b->len = (size_t)(to - b->ptr);
}

/* ---- JSON ---- */

static void
json_begin(struct nsx_buf *b, const struct nsx_table_col *cols, size_t ncols)
{
	(void)cols;
	(void)ncols;
	nsx_buf_char(b, '[');
}

static void
json_row(struct nsx_buf *b, const struct nsx_table_col *cols, size_t ncols, const struct nsx_table_cell *cells,
         size_t row)
{
	nsx_buf_c(b, row ? ",\n{" : "\n{");
	for (size_t i = 0; i < ncols; i++) {
		enum nsx_cell type = cols[i].type;

		if (i)
			nsx_buf_c(b, ", ");
		nsx_buf_json(b, nsx_str_c(cols[i].name));
		nsx_buf_c(b, ": ");
		if (!cells[i].has
		    || (type != NSX_CELL_STRING && !nsx_table_is_int(type) && !isfinite(cells[i].v.f)))
			nsx_buf_c(b, "null");
		else if (type == NSX_CELL_STRING)
			nsx_buf_json(b, cells[i].v.s);
		else
			nsx_table_number(b, type, cells[i]);
	}
	nsx_buf_char(b, '}');
}

static void
json_end(struct nsx_buf *b, size_t rows)
{
	nsx_buf_c(b, rows ? "\n]\n" : "]\n");
}

/* ---- CSV ---- */

static void
put_field(struct nsx_buf *b, struct nsx_str s)
{
	bool quoted = false;

	for (size_t i = 0; i < s.len; i++)
		quoted |= s.ptr[i] == ',' || s.ptr[i] == '"' || s.ptr[i] == '\n' || s.ptr[i] == '\r';
	if (!quoted) {
		nsx_buf_str(b, s);
		return;
	}
	nsx_buf_char(b, '"');
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] == '"')
			nsx_buf_char(b, '"');
		nsx_buf_char(b, s.ptr[i]);
	}
	nsx_buf_char(b, '"');
}

static void
csv_begin(struct nsx_buf *b, const struct nsx_table_col *cols, size_t ncols)
{
	for (size_t i = 0; i < ncols; i++) {
		nsx_buf_c(b, i ? "," : "");
		put_field(b, nsx_str_c(cols[i].name));
	}
	nsx_buf_c(b, "\r\n");
}

static void
csv_row(struct nsx_buf *b, const struct nsx_table_col *cols, size_t ncols, const struct nsx_table_cell *cells,
        size_t row)
{
	(void)row;
	for (size_t i = 0; i < ncols; i++) {
		nsx_buf_c(b, i ? "," : "");
		if (cells[i].has && cols[i].type == NSX_CELL_STRING)
			put_field(b, cells[i].v.s);
		else if (cells[i].has)
			nsx_table_number(b, cols[i].type, cells[i]);
	}
	nsx_buf_c(b, "\r\n");
}

const struct nsx_row_form *
nsx_row_form(enum nsx_table_form form)
{
	static const struct nsx_row_form tsv = { tsv_begin, tsv_row, no_end };
	static const struct nsx_row_form json = { json_begin, json_row, json_end };
	static const struct nsx_row_form csv = { csv_begin, csv_row, no_end };

	switch (form) {
	case NSX_TABLE_TSV:  return &tsv;
	case NSX_TABLE_JSON: return &json;
	case NSX_TABLE_CSV:  return &csv;
	case NSX_TABLE_ALIGNED: case NSX_TABLE_MARKDOWN: case NSX_TABLE_OPENMETRICS: break;
	}
	return NULL;
}
