/* sums.h -- tables that are sums by key, as definitions: a row is a struct that begins with its key, and each column
 * says what of the struct it shows.
 *
 *   struct row { int64_t device; int64_t count; nsx_u128 wait; };
 *   #define NSX_ROW struct row
 *   static const struct nsx_sum_col cols[] = { NSX_COL("device", ID, device), NSX_COL("wait", NS, wait) };
 *   static const struct nsx_sum_def def = { NSX_ROWS(cols), .key = sizeof(int64_t), .order = "-wait device" };
 *
 *   ((struct row *)nsx_sums_row(&sums, &device))->wait += ns;      for each record
 *   table = nsx_sums_table(&sums, err);                            at the end: the longest wait first */
#ifndef NSX_TABLE_SUMS_H
#define NSX_TABLE_SUMS_H

#include <stddef.h>

#include "base/err.h"
#include "base/map.h"
#include "base/table.h"
#include "base/vec.h"

enum nsx_sum_as {
	NSX_SUM_TEXT,    /* a uint32_t, of which nsx_sums.texts has the text */
	NSX_SUM_INT,     /* an int64_t; NSX_ABSENT: no cell */
	NSX_SUM_TOTAL,   /* an nsx_u128; beyond 63 bits the table is refused; no cell if it is NSX_SUM_NONE */
	NSX_SUM_MEAN,    /* the nsx_u128 at `at` divided by the int64_t at `per`; no cell if that is 0 */
	NSX_SUM_RATIO,   /* the int64_t at `at` divided by that at `per`; no cell if that is 0 */
	NSX_SUM_SAID,    /* what `say` says of the row; "" is no cell */
	NSX_SUM_STR,     /* a struct nsx_str; "" is no cell */
	NSX_SUM_WORD,    /* a const char *; "" and NULL are no cell */
	NSX_SUM_REAL,    /* a double; NaN: no cell */
	NSX_SUM_SHARE,   /* the nsx_u128 at `at` as a share of that at `per`, where per is 0 of nsx_sums.whole; no cell
	                  * if that is 0, or `at` is NSX_SUM_NONE */
	/* Of a struct nsx_stat; no cell if it has no values, for the last two if it has only one. Its number, sum and
	 * mean are cells as above: INT of its n, TOTAL of its sum, MEAN of its sum per n. */
	NSX_SUM_MIN, NSX_SUM_MAX, NSX_SUM_STD,
	NSX_SUM_RELSTD,  /* the deviation as a share of the mean, which is above 0 */
	NSX_SUM_PERCENTILE   /* of a struct nsx_samples the percentile `per`; no cell if it has no values */
};

/* n sorted values, which the caller keeps. */
struct nsx_samples { const int64_t *sorted; size_t n; };

#define NSX_SUM_NONE (~(nsx_u128)0)

struct nsx_sum_col {
	const char     *name;
	enum nsx_cell   type;
	enum nsx_sum_as as;
	size_t          at, per;                     /* offsets in the row; per 0: none. Of a percentile: p */
	const char   *(*say)(const void *row);
};

/* Columns of a row whose type is NSX_ROW, which a file defines. cell: without NSX_CELL_. How a member is read its type
 * tells, so that a column cannot read it as something else. */
#define NSX_COL(name, cell, member) \
	{ name, NSX_CELL_##cell, NSX_SUM_OF(member), offsetof(NSX_ROW, member), 0, NULL }
/* The member divided by another one. */
#define NSX_COL_PER(name, cell, member, by) \
	{ name, NSX_CELL_##cell, NSX_SUM_BY(member, by), offsetof(NSX_ROW, member), offsetof(NSX_ROW, by), NULL }
/* A total as a share of nsx_sums.whole. */
#define NSX_COL_SHARE(name, member) { name, NSX_CELL_SHARE, NSX_SUM_SHARE, offsetof(NSX_ROW, member), 0, NULL }
/* Of a struct nsx_stat: its mean; MIN, MAX, STD or RELSTD. */
#define NSX_COL_MEAN(name, cell, member) \
	{ name, NSX_CELL_##cell, NSX_SUM_MEAN, offsetof(NSX_ROW, member.sum), offsetof(NSX_ROW, member.n), NULL }
#define NSX_COL_STAT(name, cell, what, member) \
	{ name, NSX_CELL_##cell, NSX_SUM_##what, offsetof(NSX_ROW, member), 0, NULL }
#define NSX_COL_PERCENTILE(name, member, p) \
	{ name, NSX_CELL_NS, NSX_SUM_PERCENTILE, offsetof(NSX_ROW, member), p, NULL }
/* What a function says. */
#define NSX_COL_SAID(name, say) { name, NSX_CELL_STRING, NSX_SUM_SAID, 0, 0, say }

#define NSX_SUM_OF(member) \
	_Generic(((NSX_ROW *)0)->member, uint32_t: NSX_SUM_TEXT, int64_t: NSX_SUM_INT, nsx_u128: NSX_SUM_TOTAL, \
	         __int128: NSX_SUM_TOTAL, struct nsx_str: NSX_SUM_STR, const char *: NSX_SUM_WORD, \
	         double: NSX_SUM_REAL)
#define NSX_SUM_BY(member, by) \
	_Generic(((NSX_ROW *)0)->member, int64_t: NSX_SUM_RATIO, \
	         default: _Generic(((NSX_ROW *)0)->by, int64_t: NSX_SUM_MEAN, nsx_u128: NSX_SUM_SHARE))

/* Of a definition: rows of that type, with those columns. */
#define NSX_ROWS(list) .size = sizeof(NSX_ROW), .cols = list, .ncols = sizeof list / sizeof *list

enum { NSX_SUM_COLS = 48 };   /* columns of a table */

struct nsx_sum_def {
	size_t size, key;                /* bytes of a row, and of the key that it begins with, which has no padding */
	const struct nsx_sum_col *cols;
	int         ncols;
	const char *order;               /* names of columns, the first deciding; with - the largest first. A number
	                                  * that has no cell is below all others. NULL: that of first use */
	const char *rank, *adds;         /* nsx_table_rank, nsx_table_adds; NULL: none */
	const char *shown;               /* names of the columns that the table has, in its order; NULL: all ncols. So
	                                  * several tables of one kind of row need one list of columns, and `order`
	                                  * may name some that are in none */
	struct { const char *name, *head; } heads[6];   /* nsx_table_head of a column, if the table has it */
};

/* {0} with def set, and texts or text if there are columns of it, is empty. */
struct nsx_sums {
	const struct nsx_sum_def *def;
	const struct nsx_intern  *texts; /* which outlive the table's making */
	const char       *none;          /* the text of NSX_NONE; NULL: "" */
	struct nsx_str  (*text)(const void *state, uint32_t id);   /* in place of both */
	const void       *state;         /* for text */
	struct nsx_intern keys;
	NSX_VEC(unsigned char) rows;     /* by number of the key */
	nsx_u128          whole;         /* for NSX_SUM_SHARE; 0: not known */
	/* Columns behind those of the definition, whose cells the caller fills in after nsx_sums_put, from column
	 * `cells` on; nsx_sums_begin copies them. */
	const struct nsx_table_col *more;
	int               nmore;
	/* Own: */
	struct nsx_map    shorts;        /* in place of `keys` if they have 16 bytes at most */
	size_t            cut;           /* nsx_sums_add_first: so many are sorted, and first so far; 0: none */
	int               cells, show[NSX_SUM_COLS];   /* the columns of the table, from nsx_sums_begin on */
};

/* The number of the row of that key, from 0 in order of first use; a new one is all 0 but for its key. NSX_NONE when
 * out of memory. All def->key bytes of `key` are read and compared, here and below: if the last member of the key is
 * shorter than its alignment, it is followed by one that fills the rest. */
uint32_t nsx_sums_number(struct nsx_sums *s, const void *key);
/* That row itself, valid until the next new one; NULL when out of memory. */
void *nsx_sums_row(struct nsx_sums *s, const void *key);

/* The number of the row of that key; NSX_NONE: there is none. */
uint32_t nsx_sums_find(const struct nsx_sums *s, const void *key);

/* For rows of a list, without keys: a new row, all 0, valid until the next; NULL when out of memory. */
void *nsx_sums_add(struct nsx_sums *s);

size_t nsx_sums_count(const struct nsx_sums *s);
/* The row of that number; after sorting the one at that place. */
static inline void *
nsx_sums_at(const struct nsx_sums *s, size_t i)
{
	return s->rows.p + i * s->def->size;
}

/* For each row, as a pointer `r` to that type; none may be added meanwhile. */
#define NSX_SUMS_EACH(type, r, sums) \
	for (type *r = (void *)(sums)->rows.p; r && (const unsigned char *)r < (sums)->rows.p + (sums)->rows.n; r++)

/* Remove the rows that `keep` does not want: their number. The others keep their order. None may be added
 * afterwards. */
size_t nsx_sums_keep(struct nsx_sums *s, bool (*keep)(void *state, const void *row), void *state);

/* Sort the rows. None may be added afterwards. */
void nsx_sums_sort(struct nsx_sums *s);

/* Sort the rows and keep the first n. Only rows without keys may be added afterwards. */
void nsx_sums_cut(struct nsx_sums *s, size_t n);

/* For a list of the first n of many rows without keys: add a row, of which the cells that order rows are set, unless n
 * others are known to come before it; those that will not be among the first may be removed, so that about 2 n are
 * kept. n: always the same. False when out of memory. */
bool nsx_sums_add_first(struct nsx_sums *s, size_t n, const void *row);

/* Sort the rows and make the table, which the caller frees. NULL with err filled when out of memory, or
 * if a total exceeds 63 bits. No row may be added afterwards. */
struct nsx_table *nsx_sums_table(struct nsx_sums *s, struct nsx_err *err);

/* The same in steps, for rows that are not kept or come in their order: the empty table, which the caller frees, NULL
 * with err filled when out of memory; and a row behind its last, NSX_OK, or NSX_ERR with err filled. */
struct nsx_table *nsx_sums_begin(struct nsx_sums *s, struct nsx_err *err);
int nsx_sums_put(const struct nsx_sums *s, struct nsx_table *t, const void *row, struct nsx_err *err);

/* The table of n rows, in the order of the definition, which the caller frees. NULL with err filled. */
struct nsx_table *nsx_sums_list(const struct nsx_sum_def *def, const void *rows, size_t n, struct nsx_err *err);

void nsx_sums_free(struct nsx_sums *s);

#endif
