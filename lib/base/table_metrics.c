/* table_metrics.c -- a table as metrics of OpenMetrics, for collectors such as node_exporter's textfile: a gauge for
 * each column of values, in base units, with labels from the columns that say what a row is of. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "base/table_own.h"

/* Whether the cells of a column say what the row is of, and are no values. */
static bool
is_label(const struct nsx_table_col *col)
{
	return col->type == NSX_CELL_ID || col->type == NSX_CELL_STRING;
}

/* A label's value: backslash, quotation mark and line feed are escaped. */
static void
put_label(struct nsx_buf *b, const char *name, enum nsx_cell type, struct nsx_table_cell c)
{
	nsx_buf_c(b, b->len ? "," : "");
	nsx_buf_c(b, name);
	nsx_buf_c(b, "=\"");
	if (type != NSX_CELL_STRING)
		nsx_table_number(b, type, c);
	for (size_t i = 0; type == NSX_CELL_STRING && i < c.v.s.len; i++) {
		char x = c.v.s.ptr[i];

		if (x == '\n')
			nsx_buf_c(b, "\\n");
		else if (x == '"' || x == '\\')
			nsx_buf_fmt(b, "\\%c", x);
		else
			nsx_buf_char(b, x);
	}
	nsx_buf_char(b, '"');
}

/* The labels of a row; those that an earlier row has, too, get the number of the row. */
static void
put_labels(struct nsx_buf *b, const struct nsx_table *t, size_t row, struct nsx_intern *seen)
{
	b->len = 0;
	for (size_t i = 0; i < t->ncols; i++) {
		struct nsx_table_cell c = nsx_table_cell_of(t, row, i);

		if (c.has && is_label(&t->cols[i]))
			put_label(b, t->cols[i].name, t->cols[i].type, c);
	}
	uint32_t known = (uint32_t)seen->n, id = nsx_intern(seen, nsx_buf_view(b));

	if (id == NSX_NONE)
		b->failed = true;
	else if (id < known)
		put_label(b, "row", NSX_CELL_INT, (struct nsx_table_cell){ true, { .i = (int64_t)row } });
}

/* The ending that names a column's unit, unless its name has it. */
static const char *
unit_of(const struct nsx_table_col *col)
{
	const char *unit = "";
	size_t n = strlen(col->name), m;

	switch (col->type) {
	case NSX_CELL_NS: case NSX_CELL_MEAN_NS: case NSX_CELL_TIME: unit = "_seconds"; break;
	case NSX_CELL_BYTES: unit = "_bytes"; break;
	case NSX_CELL_FLOPS: unit = "_flops"; break;
	case NSX_CELL_GBPS:  unit = "_bytes_per_second"; break;
	case NSX_CELL_SHARE: case NSX_CELL_PERCENT: unit = "_ratio"; break;
	case NSX_CELL_INT: case NSX_CELL_ID: case NSX_CELL_DOUBLE: case NSX_CELL_STRING: break;
	}
	m = strlen(unit);
	return m && n + 1 >= m && strcmp(col->name + n + 1 - m, unit + 1) == 0 ? "" : unit;
}

static void
put_name(struct nsx_buf *b, const struct nsx_table *t, const struct nsx_table_col *col)
{
	const char *parts[] = { t->metric ? t->metric : "nsysx", "_", col->name, unit_of(col) };

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		for (const char *p = parts[i]; *p; p++)
			nsx_buf_char(b, nsx_is_word(*p) ? *p : '_');
}

/* A value in base units; integers of ns keep every digit. */
static void
put_base(struct nsx_buf *b, enum nsx_cell type, struct nsx_table_cell c)
{
	uint64_t v = c.v.i < 0 ? 0 - (uint64_t)c.v.i : (uint64_t)c.v.i;
	struct nsx_table_cell scaled = { true, { .f = 0 } };

	switch (type) {
	case NSX_CELL_NS: case NSX_CELL_TIME:
		nsx_buf_fmt(b, "%s%" PRIu64 ".%09" PRIu64, c.v.i < 0 ? "-" : "", v / 1000000000, v % 1000000000);
		return;
	case NSX_CELL_MEAN_NS: scaled.v.f = c.v.f / 1e9; break;
	case NSX_CELL_GBPS:    scaled.v.f = c.v.f * 1e9; break;
	case NSX_CELL_PERCENT: scaled.v.f = c.v.f / 100; break;
	case NSX_CELL_SHARE: case NSX_CELL_DOUBLE: scaled.v.f = c.v.f; break;
	default:
		nsx_table_number(b, type, c);
		return;
	}
	if (isnan(scaled.v.f))
		nsx_buf_c(b, "NaN");
	else if (isinf(scaled.v.f))
		nsx_buf_c(b, scaled.v.f < 0 ? "-Inf" : "+Inf");
	else
		nsx_table_number(b, NSX_CELL_DOUBLE, scaled);
}

void
nsx_table_metrics(struct nsx_buf *b, const struct nsx_table *t, size_t rows)
{
	struct nsx_buf labels = { 0 };

	for (size_t i = 0; i < t->ncols && !b->failed; i++) {
		struct nsx_intern seen = { 0 };

		if (is_label(&t->cols[i]))
			continue;
		nsx_buf_c(b, "# TYPE ");
		put_name(b, t, &t->cols[i]);
		nsx_buf_c(b, " gauge\n");
		for (size_t row = 0; row < rows; row++) {
			struct nsx_table_cell c = nsx_table_cell_of(t, row, i);

			put_labels(&labels, t, row, &seen);
			if (!c.has)
				continue;
			put_name(b, t, &t->cols[i]);
			if (labels.len) {
				nsx_buf_char(b, '{');
				nsx_buf_str(b, nsx_buf_view(&labels));
				nsx_buf_char(b, '}');
			}
			nsx_buf_char(b, ' ');
			put_base(b, t->cols[i].type, c);
			nsx_buf_char(b, '\n');
		}
		nsx_intern_free(&seen);
	}
	nsx_buf_c(b, "# EOF\n");
	b->failed |= labels.failed;
	nsx_buf_free(&labels);
}
