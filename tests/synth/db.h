/* db.h -- an Nsight Systems SQLite export being written: tables by name, columns as the schema version has them. */
#ifndef SYNTH_DB_H
#define SYNTH_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Schema versions, oldest first. */
extern const char *const db_versions[];
extern const char        db_version_choices[];   /* for the option table */

struct db_spec {
	const char *name;
	int         since, until;    /* indices in db_versions, both included */
	const char *cols;            /* NAME:TYPE[!][*][@SINCE][~UNTIL][=FILL] ...; I integer, T text, R real, ! not null, * primary key */
};
extern const struct db_spec db_specs[];

struct db;
struct db_table;

/* Create path, or replace it, in that schema version. shuffle: rows of small tables in random order, rowids with gaps.
 * Dies on failure, as all of these do. */
struct db *db_open(const char *path, int version, bool full, bool shuffle, uint64_t seed);
void       db_close(struct db *d);
int        db_version_of(const char *name);

/* The table of that name, created with its first row; NULL if this version has none. */
struct db_table *db_table(struct db *d, const char *name);
bool             db_has(struct db *d, const char *name);

/* Where to bind a column; 0 when this version has no such column (binding there does nothing). A column that is never bound holds its fill value. */
int  db_col(struct db_table *t, const char *name);
void db_int(struct db_table *t, int col, int64_t v);
void db_text(struct db_table *t, int col, const char *s);   /* NULL: null; borrowed until db_row */
void db_blob(struct db_table *t, int col, const void *p, size_t n);   /* copied */
void db_null(struct db_table *t, int col);

/* Insert the bound values; bindings are kept. The rowid is the last one + 1, with gaps when shuffled. */
int64_t db_row(struct db_table *t);
void    db_rowid(struct db_table *t, int64_t rowid);        /* insert with this rowid */

/* A row of a small table: "name:s id:i ..." and the values (const char *, int64_t) in that order. Written by db_close.
 * Columns that this version does not have are omitted; so is the row if the table is missing. */
void db_put(struct db *d, const char *table, const char *cols, ...);

#endif
