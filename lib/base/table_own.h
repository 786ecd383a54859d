/* table_own.h -- the contents of a table, for the sources that fill it (table_rows.c) and those that write it
 * (table_forms.c, table_aligned.c). */
#ifndef NSX_BASE_TABLE_OWN_H
#define NSX_BASE_TABLE_OWN_H

#include "base/arena.h"
#include "base/map.h"
#include "base/table_row.h"
#include "base/vec.h"

/* A cell as it is kept: tables may have millions. */
union nsx_table_value { int64_t i; double f; uint32_t text; /* in nsx_table.texts */ };

struct nsx_table {
	const struct nsx_table_col *cols;
	size_t           ncols, nrows, beyond;   /* beyond: rows that were not added */
	bool             failed;
	struct nsx_intern texts;
	uint32_t         recall[NSX_RECALL];    /* of nsx_intern_recall */
	NSX_VEC(union nsx_table_value) values;  /* row by row, `stride` of each */
	NSX_VEC(bool)    has;                   /* which of these are present; as many */
	size_t           stride;
	const size_t    *among;                 /* by column, its index in the stride; NULL: the same index */
	struct nsx_buf   notes;                 /* lines */
	struct nsx_buf   lead;
	struct nsx_buf   title;
	NSX_VEC(size_t)  ranked;                /* columns that nsx_table_rank named, in its order */
	const char     **heads;                 /* headings by column, NULL: the name; NULL: names for all */
	NSX_VEC(size_t)  brief;                 /* columns that nsx_table_brief named, in its order */
	NSX_VEC(size_t)  spare;                 /* columns that nsx_table_spare named */
	bool             sentences;             /* column `below` is shown below rows */
	size_t           below;
	bool             adds;                  /* cells of column `added` add up to a whole */
	size_t           added;
	bool             shares;                /* cells of column `share` are shares of `whole` */
	size_t           share;
	const char      *whole;
	bool rough; /* cells of column `guess` come from as many samples as column `samples` has */
	size_t           guess, samples;
	int64_t          enough;                /* samples */
	size_t           uncovered;             /* rows that --cover omitted */
	struct nsx_table_col *own;              /* cols, if they are a copy */
	const char      *metric;                /* the beginning of names of metrics; NULL: nsysx */
};

/* NSX_ERR, with err listing the columns of the table. */
int nsx_table_no_column(const struct nsx_table *t, struct nsx_str name, struct nsx_err *err);

/* table_metrics.c: the first `rows` rows as OpenMetrics, which is by column. */
void nsx_table_metrics(struct nsx_buf *b, const struct nsx_table *t, size_t rows);

/* The heading of a column in human-readable forms. */
static inline const char *
nsx_table_head_of(const struct nsx_table *t, size_t col)
{
	return t->heads && t->heads[col] ? t->heads[col] : t->cols[col].name;
}

static inline struct nsx_table_cell
nsx_table_cell_of(const struct nsx_table *t, size_t row, size_t col)
{
	size_t at = row * t->stride + (t->among ? t->among[col] : col);
	struct nsx_table_cell c = { .has = t->has.p[at] };

	if (!c.has)
		return c;
	if (t->cols[col].type == NSX_CELL_STRING)
		c.v.s = nsx_intern_str(&t->texts, t->values.p[at].text);
	else if (nsx_table_is_int(t->cols[col].type))
		c.v.i = t->values.p[at].i;
	else
		c.v.f = t->values.p[at].f;
	return c;
}

/* Append "~" if the cell is a rough estimate. */
void nsx_table_doubt(struct nsx_buf *b, const struct nsx_table *t, size_t row, size_t col);

/* Append a cell in its human-readable form, "-" if it is absent; digits: shares have three digits instead of one after
 * the point. */
void nsx_table_human(struct nsx_buf *b, enum nsx_cell type, struct nsx_table_cell c, bool digits);

/* Append "... and 2,556 more", the number of rows after the first `rows`; their share if it is known, " (3.1% of
 * total)"; and the options that show them, ": --top 0", with a line's end. Nothing if there are none. */
void nsx_table_more(struct nsx_buf *b, const struct nsx_table *t, size_t rows);

/* Write the bytes of b once there are at least `least`. NSX_OK or NSX_ERR. */
int nsx_table_flush(struct nsx_buf *b, size_t least, struct nsx_outfile *out, struct nsx_err *err);

/* Different strings of a column may become alike when they are shortened to `width` columns. *recut becomes an array
 * with, for each of the first `rows` rows (at most NSX_TABLE_DISTINCT), a text of at most that width that shows where
 * such strings differ, or {0} if the string fits; NULL if fewer than two strings do not fit, or `width` is too small
 * for this. The caller frees it; the texts are in the arena. False when out of memory. */
enum { NSX_TABLE_DISTINCT = 4096 };
bool nsx_table_distinct(const struct nsx_table *t, size_t rows, size_t col, size_t width, struct nsx_arena *arena,
                        struct nsx_str **recut);

/* The first `rows` rows aligned, and the lines below them; width 0: no terminal to fit. NSX_OK or NSX_ERR. */
int nsx_table_aligned(const struct nsx_table *t, size_t rows, size_t width, int64_t diags, struct nsx_outfile *out,
                      struct nsx_err *err);

#endif
