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
	NSX_CELL_NS,        /* integer nanoseconds; 1.234 ms */
	NSX_CELL_TIME,      /* integer nanoseconds of a point in time; 1.234567890 s */
	NSX_CELL_BYTES,     /* integer bytes; 1.234 MB, of 1e6 bytes */
	NSX_CELL_DOUBLE,    /* double */
	NSX_CELL_MEAN_NS,   /* double, nanoseconds; 1.234 ms */
	NSX_CELL_GBPS,      /* double, 1e9 bytes a second */
	NSX_CELL_SHARE,     /* double, 1 is the whole; 12.3% */
	NSX_CELL_PERCENT,   /* double, 100 is the whole; 12.3% */
	NSX_CELL_STRING
};

struct nsx_table_col { const char *name; enum nsx_cell type; };

enum nsx_table_form { NSX_TABLE_ALIGNED, NSX_TABLE_TSV, NSX_TABLE_JSON, NSX_TABLE_MARKDOWN };

struct nsx_table;

/* A table of ncols columns, which must outlive it; NULL when out of memory. */
struct nsx_table *nsx_table_new(const struct nsx_table_col *cols, int ncols);
void nsx_table_free(struct nsx_table *t);   /* NULL allowed */

/* Begin a row, all its cells absent; then fill cells of it by column number. A string is copied, an empty one is
 * absent. The call must fit the column's type. When memory runs out, nsx_table_write reports it. */
void nsx_table_row(struct nsx_table *t);
void nsx_table_int(struct nsx_table *t, int col, int64_t v);
void nsx_table_double(struct nsx_table *t, int col, double v);
void nsx_table_str(struct nsx_table *t, int col, struct nsx_str s);

/* The same for a sum of ns in a column of integers. NSX_OK, or NSX_ERR with err filled if it exceeds 64 bits. */
int nsx_table_sum(struct nsx_table *t, int col, nsx_u128 ns, struct nsx_err *err);

/* The line above a table in Markdown, which is Markdown itself; other forms omit it. The last one counts. */
void nsx_table_title(struct nsx_table *t, const char *fmt, ...) NSX_PRINTF(2, 3);

/* Add a line below the rows of an aligned table, or of one in Markdown, where it is plain text too; other forms omit
 * it. */
void nsx_table_note(struct nsx_table *t, const char *fmt, ...) NSX_PRINTF(2, 3);

/* Which columns matter most if a terminal is too narrow for all: those named, separated by spaces, in that order, then
 * the others from left to right. Further calls add names; NULL is allowed. Each must be a column of the table. */
void nsx_table_rank(struct nsx_table *t, const char *names);

/* People see the column of that name headed so; TSV and JSON keep its name. `head` must outlive the table. NULL is
 * allowed as a table. */
void nsx_table_head(struct nsx_table *t, const char *name, const char *head);

/* The columns that Markdown shows, and a terminal, unless all are wanted: those named, separated by spaces; Markdown in
 * that order. NULL is allowed as a table. */
void nsx_table_brief(struct nsx_table *t, const char *names);

/* On a terminal the strings of the column of that name, which are sentences, are below their rows and folded, instead
 * of among the columns. NULL is allowed as a table. */
void nsx_table_below(struct nsx_table *t, const char *name);

/* The cells of the column of that name, which are integers, add up to a whole: the line about rows that are not shown
 * tells their share of it. NULL is allowed. */
void nsx_table_adds(struct nsx_table *t, const char *name);

/* Order rows by the column of that name: numbers with the greatest first, strings with the least, what is absent last;
 * rows that are equal stay as they are. NSX_OK, or NSX_ERR if there is no such column; err says which there are. */
int nsx_table_sort(struct nsx_table *t, const char *name, struct nsx_err *err);

/* Remove all rows but those wanted. NSX_OK, or NSX_ERR if there is no such column; err says which there are. */
int nsx_table_only(struct nsx_table *t, const struct nsx_only *only, struct nsx_err *err);

/* n rows more belong to the table, which were not put into it because nobody will see them. */
void nsx_table_beyond(struct nsx_table *t, size_t n);

size_t nsx_table_rows(const struct nsx_table *t);   /* number of rows that were added */

/* Reorder the rows: row order[i] becomes row i; `order` is a permutation. */
void nsx_table_permute(struct nsx_table *t, const size_t *order);

/* Write the whole table. An absent cell is empty in TSV and Markdown, null in JSON (as are infinities and NaN), "-" in
 * an aligned table. An aligned table ends with its notes and a line with the number of diags of the stream (unless that
 * number is negative: no stream). Strings in Markdown are code, which can hold any string. NSX_OK or NSX_ERR; err is
 * for lack of memory, out has its own. */
int nsx_table_write(const struct nsx_table *t, enum nsx_table_form form, int64_t diags, struct nsx_outfile *out,
                    struct nsx_err *err);

/* The part of a table that is shown. */
struct nsx_table_look {
	size_t top;     /* the first rows only; 0: all */
	size_t width;   /* columns of the terminal that an aligned table must fit; 0: no limit */
	bool   wide;    /* all columns, whatever nsx_table_brief says */
};

/* The same for the first rows; an aligned or Markdown table then has a line with the number of the others. To fit a
 * terminal an aligned table omits the columns that matter least, whose number another line has, and those without
 * values if it has rows; it shortens strings in the middle (those that would look alike so that they differ, where
 * there is room), keeps of kernels what distinguishes them, prints shares with three digits, and folds the lines
 * below it: no line is wider than the terminal, if that has at least 8 columns. */
int nsx_table_show(const struct nsx_table *t, enum nsx_table_form form, struct nsx_table_look look, int64_t diags,
                   struct nsx_outfile *out, struct nsx_err *err);

/* Append it all as TSV to b, whose `failed` is set if memory runs out. */
void nsx_table_tsv(const struct nsx_table *t, struct nsx_buf *b);

NSX_END_C

#endif
