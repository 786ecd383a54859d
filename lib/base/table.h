/* table.h -- the table that a tool prints: aligned or in Markdown with human-readable units, TSV, or JSON. TSV and JSON
 * hold exact integers and unrounded doubles, and rows only. */
#ifndef NSX_BASE_TABLE_H
#define NSX_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/num.h"
#include "base/only.h"
#include "base/outfile.h"
#include "base/str.h"

NSX_BEGIN_C

/* The type of a column: it determines how TSV and JSON write a value, and its human-readable form. */
enum nsx_cell {
	NSX_CELL_INT,       /* integer */
	NSX_CELL_ID,        /* integer, the number of a thing such as a device: not a value but a key, as strings are */
	NSX_CELL_NS,        /* integer nanoseconds; 1.234 ms */
	NSX_CELL_TIME,      /* integer nanoseconds of a point in time; 1.234567890 s */
	NSX_CELL_BYTES,     /* integer bytes; 1.234 MB, of 1e6 bytes */
	NSX_CELL_FLOPS,     /* integer operations; 1.234 GFLOP */
	NSX_CELL_DOUBLE,    /* double */
	NSX_CELL_MEAN_NS,   /* double, nanoseconds; 1.234 ms */
	NSX_CELL_GBPS,      /* double, 1e9 bytes a second */
	NSX_CELL_SHARE,     /* double, 1 is the whole; 12.3% */
	NSX_CELL_PERCENT,   /* double, 100 is the whole; 12.3% */
	NSX_CELL_STRING
};

struct nsx_table_col { const char *name; enum nsx_cell type; };

enum nsx_table_form { NSX_TABLE_ALIGNED, NSX_TABLE_TSV, NSX_TABLE_JSON, NSX_TABLE_MARKDOWN, NSX_TABLE_CSV,
                      NSX_TABLE_OPENMETRICS };

struct nsx_table;

/* A table of ncols columns, which must outlive it; NULL when out of memory. */
struct nsx_table *nsx_table_new(const struct nsx_table_col *cols, int ncols);
/* The same with a copy of the columns and their names. */
struct nsx_table *nsx_table_new_copy(const struct nsx_table_col *cols, int ncols);
void nsx_table_free(struct nsx_table *t);   /* NULL allowed */

/* Begin a row whose cells are all absent; then fill its cells by column number. A string is copied, an empty one is
 * absent. The call must fit the column's type. When memory runs out, nsx_table_write reports it. */
void nsx_table_row(struct nsx_table *t);
void nsx_table_int(struct nsx_table *t, int col, int64_t v);
void nsx_table_double(struct nsx_table *t, int col, double v);
void nsx_table_str(struct nsx_table *t, int col, struct nsx_str s);

/* The same for a sum of ns in a column of integers. NSX_OK, or NSX_ERR with err filled if it exceeds 64 bits. */
int nsx_table_sum(struct nsx_table *t, int col, nsx_u128 ns, struct nsx_err *err);

/* Set the line above a table in Markdown, which is itself Markdown; other forms omit it. The last call counts. */
void nsx_table_title(struct nsx_table *t, const char *fmt, ...) NSX_PRINTF(2, 3);

/* Set a line of plain text above an aligned table or a table in Markdown; other forms omit it. The table
 * may be NULL. */
void nsx_table_lead(struct nsx_table *t, const char *text);

/* Add a line of plain text below the rows of an aligned table or a table in Markdown; other forms omit it. */
void nsx_table_note(struct nsx_table *t, const char *fmt, ...) NSX_PRINTF(2, 3);

/* Add the lines that another table has. */
void nsx_table_notes_of(struct nsx_table *t, const struct nsx_table *other);

/* Rank the columns, for a terminal that is too narrow for all of them: first those named (separated by spaces) in that
 * order, then the others from left to right. Further calls add names. Each name must be a column of the table. The
 * table may be NULL. */
void nsx_table_rank(struct nsx_table *t, const char *names);

/* Set the heading of the column of that name in human-readable forms; TSV and JSON keep its name. `head` must outlive
 * the table. The table may be NULL. */
void nsx_table_head(struct nsx_table *t, const char *name, const char *head);

/* Set the columns that Markdown shows, unless all are requested: those named, separated by spaces, in that order. A
 * terminal shows those of the highest rank that fit. The table may be NULL. */
void nsx_table_brief(struct nsx_table *t, const char *names);

/* Declare that the column of that name repeats others: a terminal that tables must fit does not have it. The table may
 * be NULL. */
void nsx_table_spare(struct nsx_table *t, const char *name);

/* Declare that the strings of the column of that name are sentences: on a terminal each is written below its row,
 * folded, and not in a column. The table may be NULL. */
void nsx_table_below(struct nsx_table *t, const char *name);

/* Declare that the cells of the column of that name, which are integers, add up to a total: the line about rows that
 * are not shown reports their share of it. The table may be NULL. */
void nsx_table_adds(struct nsx_table *t, const char *name);

/* Declare that cells of the column of that name are estimates from so many samples as the column `of` has: people's
 * forms write "~" before those from fewer than `least`. */
void nsx_table_rough(struct nsx_table *t, const char *name, const char *of, int64_t least);

/* Declare that the cells of the column of that name are shares of one whole, called `of`, which must outlive the table:
 * the line about rows that are not shown reports the share of it that is in no row shown, so that it and the shares
 * shown add up to 1. After nsx_table_only, or where rows overlap so that those shown exceed 1, it reports what
 * nsx_table_adds declares. The table may be NULL. */
void nsx_table_shares(struct nsx_table *t, const char *name, const char *of);

/* The table has n more rows, which --cover omitted, and whose share is counted as not shown. The table may be NULL. */
void nsx_table_uncovered(struct nsx_table *t, size_t n);

/* Sort the rows by the column of that name or heading: numbers in descending order, strings in ascending order, absent
 * values last; equal rows keep their order. NSX_OK, or NSX_ERR if there is no such column; err then lists the columns
 * of the table. */
int nsx_table_sort(struct nsx_table *t, const char *name, struct nsx_err *err);

/* Remove all rows that `only` does not select. NSX_OK, or NSX_ERR if it names a column that does not exist; err then
 * lists the columns of the table. */
int nsx_table_only(struct nsx_table *t, const struct nsx_only *only, struct nsx_err *err);

/* The table has n more rows, which were not added because they will not be shown. */
void nsx_table_beyond(struct nsx_table *t, size_t n);

size_t nsx_table_rows(const struct nsx_table *t);   /* number of rows that were added */
bool nsx_table_failed(const struct nsx_table *t);   /* memory ran out: rows or cells are missing */

/* A cell as it is read: an integer, a double or a string, as its column's type has it; s lives as long as
 * the table, or the row. */
struct nsx_table_cell {
	bool has;
	union { int64_t i; double f; struct nsx_str s; } v;
};

/* The column of that name, or of that heading in an aligned table, which a user may take for the name; the number of
 * columns if there is none. */
size_t nsx_table_named(const struct nsx_table *t, struct nsx_str name);
/* Its columns; *n: how many. */
const struct nsx_table_col *nsx_table_columns(const struct nsx_table *t, size_t *n);
/* The cell of that row and column, which the table has. */
struct nsx_table_cell nsx_table_get(const struct nsx_table *t, size_t row, size_t col);

/* Reorder the rows: row order[i] becomes row i; `order` is a permutation. */
void nsx_table_permute(struct nsx_table *t, const size_t *order);

/* Write the whole table. An absent cell is empty in TSV and Markdown, null in JSON (as are infinities and NaN), "-" in
 * an aligned table. An aligned table ends with its notes and a line with the number of diags of the stream (unless that
 * number is negative: no stream). Strings in Markdown are code, which can hold any string. NSX_OK or NSX_ERR; err is
 * for lack of memory, out has its own. */
int nsx_table_write(const struct nsx_table *t, enum nsx_table_form form, int64_t diags, struct nsx_outfile *out,
                    struct nsx_err *err);

/* The name of the program, which metrics begin with; it must outlive the table. */
void nsx_table_metric(struct nsx_table *t, const char *name);

/* The part of a table that is shown. */
struct nsx_table_look {
	size_t top;     /* the first rows only; 0: all */
	size_t width;   /* columns of the terminal that an aligned table must fit; 0: no limit */
	bool   wide;    /* Markdown: all columns, also those that nsx_table_brief does not name */
};

/* Write the part `look` of the table. If rows are not shown, an aligned or Markdown table has a line with their number.
 * To fit a terminal, an aligned table omits the columns of lowest rank (another line reports their number) and, if it
 * has rows, columns without values; it shortens strings in the middle, so that different strings remain different where
 * there is room and names of kernels keep what distinguishes them; it prints shares with three digits and folds the
 * lines below the rows. No line is wider than the terminal, if that has at least 8 columns. */
int nsx_table_show(const struct nsx_table *t, enum nsx_table_form form, struct nsx_table_look look, int64_t diags,
                   struct nsx_outfile *out, struct nsx_err *err);

/* Append the whole table as TSV to b, whose `failed` is set if memory runs out. */
void nsx_table_tsv(const struct nsx_table *t, struct nsx_buf *b);

NSX_END_C

#endif
