/* db.h -- an export as a database: opened once, read by several threads; private to lib/nsys. */
#ifndef NSX_NSYS_DB_H
#define NSX_NSYS_DB_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/err.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

struct nsx_db_scan;

/* A connection and its current scan. */
struct nsx_db_conn {
	sqlite3 *sql;
	const struct nsx_db_scan *scan;
	uint64_t rows;               /* returned so far */
};

struct nsx_trees;

/* The state of a file by which a change is detected; see nsx_db_unchanged. */
struct nsx_db_stamp {
	dev_t           dev;
	ino_t           ino;
	off_t           size;
	struct timespec modified;
	unsigned char   header[100];
	bool            logs;      /* an SQLite file under its own name, beside which logs may exist */
};

struct nsx_db {
	const char        *path;     /* as the user gave it; borrowed */
	struct nsx_str     name;     /* points into path: without folder and known endings */
	int                fd;       /* of the SQLite file: the export, or an unlinked copy */
	struct nsx_intern  tables;   /* names of its tables, in lower case: to SQLite they are the same */
	struct nsx_intern  views;    /* the same of its views, which may stand for tables */
	struct nsx_intern  names;    /* of all entries, as spelled */
	size_t             ntables;
	uint32_t           page, usable;   /* bytes of a page, and those of it in use */
	uint32_t           npages;   /* according to its header; 0: not recorded */
	bool               utf8;     /* text encoding is UTF-8, as in every export */
	bool               checked;  /* rows are those that its pages have, checked by the rules in tree.h */
	struct nsx_trees  *trees;    /* NULL: not checked */
	struct nsx_db_stamp stamp;
	pthread_mutex_t    lock;     /* of idle */
	NSX_VEC(struct nsx_db_conn *) idle;
};

/* Open the export at path (SQLite, zstd of one, or an .nsys-rep), which must outlive db. fd: the file, opened for
 * reading, which is then db's; -1: not opened. With `alone` SQLite reads everything and nothing is checked, so that
 * tests can compare both ways. NSX_OK, or NSX_ERR with err filled and db closed. */
int nsx_db_open(struct nsx_db *db, const char *path, int fd, bool alone, struct nsx_err *err);
void nsx_db_close(struct nsx_db *db);

/* Is the file unchanged since it was opened, with no log beside it? NSX_OK, or NSX_ERR with err filled. */
int nsx_db_unchanged(const struct nsx_db *db, struct nsx_err *err);

/* An error may be the consequence of a change of the file: if it has changed, err, which is filled, then says so
 * instead. */
void nsx_db_explain(const struct nsx_db *db, struct nsx_err *err);

/* Read the names of its tables (called by nsx_db_open). */
int nsx_db_list(struct nsx_db *db, struct nsx_err *err);

/* Register the VFS "nsysx", whose file names are numbers of descriptors. False on failure. */
bool nsx_vfs_ready(void);

/* Convert the .nsys-rep into a database with the nsys of this machine: a descriptor of the (unlinked) file, -1 with err
 * filled. */
int nsx_rep_open(const char *path, struct nsx_err *err);

/* Fill err, unless it is filled, with SQLite's message for what sql (NULL: out of memory) last did with the table,
 * which is NULL if it concerns none. NSX_ERR. */
int nsx_db_failed(const struct nsx_db *db, sqlite3 *sql, const char *table, struct nsx_err *err);

/* Whether there is a table, or a view, of that name. */
bool nsx_db_has(const struct nsx_db *db, const char *table);

/* Do rows of the table have a rowid, by which it can be read in parts? Those of a view and of a table WITHOUT ROWID
 * have none: a scan returns all of them, whatever its part is, in SQLite's order, and numbers them from 1 as their
 * rowid, unless there is a column called rowid. */
int nsx_db_numbered(struct nsx_db *db, const char *table, bool *yes, struct nsx_err *err);

/* Names of tables and columns: SQLite does not distinguish upper and lower case of ASCII letters. The first returns
 * name's number, new or old, NSX_NONE when out of memory; the second the number of an existing name, NSX_NONE if there
 * is none or name has more than 128 bytes. */
uint32_t nsx_db_add_name(struct nsx_intern *names, const char *name);
uint32_t nsx_db_find(const struct nsx_intern *names, const char *name);

/* A column to read. An optional one reads as NULL if the table lacks it. */
struct nsx_db_col { const char *name; bool optional; };

/* A value of a row. */
enum nsx_db_type { NSX_DB_NULL, NSX_DB_INT, NSX_DB_TEXT, NSX_DB_OTHER };
struct nsx_db_cell { enum nsx_db_type type; int64_t i; /* the integer; of a text its length */ const char *text; };

enum { NSX_DB_MAX_COLS = 16 };   /* of a scan with cells */

/* A scan over the rows of one table, in rowid order. */
struct nsx_db_scan {
	const char              *table;
	const struct nsx_db_col *cols;
	int                      ncols;
	bool                     part;     /* only rowids lo..hi */
	int64_t                  lo, hi;
	/* Called with the columns of each row; NSX_ERR stops the scan. Values live until it returns. */
	int                    (*row)(void *ctx, sqlite3_value **v);
	void                    *ctx;
	/* Used instead of row: several times faster, as most rows are then not read through SQLite (pages.h). */
	int                    (*cells)(void *ctx, const struct nsx_db_cell *v);
};

/* Run it: NSX_OK; NSX_ERR with err filled, also if `row` failed (which fills err, or "out of memory" is reported). May
 * be called from several threads. The table must exist. */
int nsx_db_run(struct nsx_db *db, const struct nsx_db_scan *scan, struct nsx_err *err);

/* Check a whole table; nsx_db_run checks the rows that it reads. NSX_OK or NSX_ERR. */
int nsx_db_check(struct nsx_db *db, const char *table, struct nsx_err *err);

/* The lowest and highest rowid of a table; lo > hi if it is empty. Both are 1 where rows have no rowid: one part is all
 * of it. NSX_OK or NSX_ERR. */
int nsx_db_bounds(struct nsx_db *db, const char *table, int64_t *lo, int64_t *hi, struct nsx_err *err);

/* Does SQLite find rows by this column without reading the table? */
int nsx_db_is_rowid(struct nsx_db *db, const char *table, const char *column, bool *yes, struct nsx_err *err);

/* For each of the n keys run query, whose one parameter is the key; if there is a row, pass its first column to found,
 * with the index of the key. NSX_OK or NSX_ERR, as nsx_db_run. */
int nsx_db_lookup(struct nsx_db *db, const char *query, const char *table, const int64_t *keys, size_t n,
                  int (*found)(void *ctx, size_t i, sqlite3_value *v), void *ctx, struct nsx_err *err);

/* Pass the column of the rows of these n rowids to found, with the index of the rowid; nothing if the table has no such
 * column. Names are words of our own. NSX_OK or NSX_ERR, as nsx_db_lookup. */
int nsx_db_column(struct nsx_db *db, const char *table, const char *column, const int64_t *ids, size_t n,
                  int (*found)(void *ctx, size_t i, sqlite3_value *v), void *ctx, struct nsx_err *err);

static inline bool
nsx_cell_int(const struct nsx_db_cell *v, int64_t *out)
{
	*out = v->i;
	return v->type == NSX_DB_INT;
}

/* The same where NULL is allowed: *there is false for NULL. */
static inline bool
nsx_cell_int_null(const struct nsx_db_cell *v, int64_t *out, bool *there)
{
	*out = v->i;
	*there = v->type == NSX_DB_INT;
	return v->type <= NSX_DB_INT;
}

/* A text, valid as long as the row; ptr is NULL if it is not a text. */
static inline struct nsx_str
nsx_cell_text(const struct nsx_db_cell *v)
{
	return v->type == NSX_DB_TEXT ? (struct nsx_str){ v->text, (size_t)v->i } : (struct nsx_str){ NULL, 0 };
}

/* v as an integer; false if it is anything else, including NULL. */
static inline bool
nsx_db_int(sqlite3_value *v, int64_t *out)
{
	if (sqlite3_value_type(v) != SQLITE_INTEGER)
		return false;
	*out = sqlite3_value_int64(v);
	return true;
}

/* v as text, valid as long as v; ptr is NULL if it is not text. */
static inline struct nsx_str
nsx_db_text(sqlite3_value *v)
{
	/* Converted to UTF-8: some databases store UTF-16. */
	const char *p = sqlite3_value_type(v) == SQLITE_TEXT ? (const char *)sqlite3_value_text(v) : NULL;

	return p ? (struct nsx_str){ p, (size_t)sqlite3_value_bytes(v) } : (struct nsx_str){ NULL, 0 };
}

#endif
