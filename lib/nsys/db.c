/* db.c -- connections to an export, and scans of its tables. A scan calls a function for each row from within SQLite,
 * as an aggregate: that avoids returning from and calling sqlite3_step for each row, a fifth of its time. */
#include "nsys/pages.h"
#include "nsys/tree.h"
#include "nsys/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
nsx_db_failed(const struct nsx_db *db, sqlite3 *sql, const char *table, struct nsx_err *err)
{
	int code = sql ? sqlite3_errcode(sql) & 0xff : SQLITE_NOMEM;
	const char *colon = table ? ": " : "", *what = sql ? sqlite3_errmsg(sql) : "out of memory";

	if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
		return nsx_err_set(err, "%s: damaged: %s%s%s; export again, or try `sqlite3 %s .recover`", db->path,
		                   table ? table : "", colon,
		                   what, db->path);
	return nsx_err_set(err, "%s: %s%s%s", db->path, table ? table : "", colon, what);
}

static void
row_step(sqlite3_context *sc, int n, sqlite3_value **v)
{
	struct nsx_db_conn *c = sqlite3_user_data(sc);
	const struct nsx_db_scan *scan = c->scan;
	struct nsx_db_cell cells[NSX_DB_MAX_COLS];

	for (int i = 0; scan->cells && i < n; i++) {
		struct nsx_str s = nsx_db_text(v[i]);
		if (s.ptr)
			cells[i] = (struct nsx_db_cell){ NSX_DB_TEXT, (int64_t)s.len, s.ptr };
		else if (nsx_db_int(v[i], &cells[i].i))
			cells[i].type = NSX_DB_INT;
		else
			cells[i].type = sqlite3_value_type(v[i]) == SQLITE_NULL ? NSX_DB_NULL : NSX_DB_OTHER;
	}
	c->rows++;
	if ((scan->cells ? scan->cells(scan->ctx, cells) : scan->row(scan->ctx, v)) != NSX_OK)
		sqlite3_result_error_nomem(sc);
}

static void
row_end(sqlite3_context *sc)
{
	sqlite3_result_null(sc);
}

/* The number of the row that is being read, counted from 1, for tables whose rows have no rowid. */
static void
at_row(sqlite3_context *sc, int n, sqlite3_value **v)
{
	const struct nsx_db_conn *c = sqlite3_user_data(sc);

	(void)n;
	(void)v;
	sqlite3_result_int64(sc, (int64_t)c->rows + 1);
}

static struct nsx_db_conn *
connect_new(struct nsx_db *db, struct nsx_err *err)
{
	struct nsx_db_conn *c = calloc(1, sizeof *c);
	char uri[64];

	if (!c || !nsx_vfs_ready()) {
		nsx_err_nomem(err, db->path);
		free(c);
		return NULL;
	}
	snprintf(uri, sizeof uri, "file:%d?immutable=1&mode=ro", db->fd);
	int rc = sqlite3_open_v2(uri, &c->sql, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, "nsysx");
	/* An export may come from an untrusted source: nothing in its schema may be executed. A small cache stays in
	 * the cache of the processor. */
	if (rc == SQLITE_OK)
		rc = sqlite3_db_config(c->sql, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(c->sql, "PRAGMA cache_size=-256; PRAGMA temp_store=memory", NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_create_function(c->sql, "nsx_row", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, c, NULL, row_step,
		                             row_end);
	if (rc == SQLITE_OK)
		rc = sqlite3_create_function(c->sql, "nsx_at", 0, SQLITE_UTF8 | SQLITE_DIRECTONLY, c, at_row, NULL,
		                             NULL);
	if (rc == SQLITE_OK)
		return c;
	nsx_db_failed(db, c->sql, NULL, err);
	sqlite3_close(c->sql);
	free(c);
	return NULL;
}

static struct nsx_db_conn *
take(struct nsx_db *db, struct nsx_err *err)
{
	struct nsx_db_conn *c = NULL;

	pthread_mutex_lock(&db->lock);
	if (db->idle.n)
		c = db->idle.p[--db->idle.n];
	pthread_mutex_unlock(&db->lock);
	return c ? c : connect_new(db, err);
}

static void
give(struct nsx_db *db, struct nsx_db_conn *c)
{
	pthread_mutex_lock(&db->lock);
	bool kept = nsx_vec_push(&db->idle, c);
	pthread_mutex_unlock(&db->lock);
	if (!kept) {
		sqlite3_close(c->sql);
		free(c);
	}
}

/* ---- tables and columns */

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

uint32_t
nsx_db_add_name(struct nsx_intern *names, const char *name)
{
	char *folded = nsx_str_dup(nsx_str_c(name));
	uint32_t number;

	if (!folded)
		return NSX_NONE;
	for (char *p = folded; *p; p++)
		*p = lower(*p);
	number = nsx_intern(names, nsx_str_c(folded));
	free(folded);
	return number;
}

uint32_t
nsx_db_find(const struct nsx_intern *names, const char *name)
{
	char folded[128];
	size_t n = strlen(name);

	if (n > sizeof folded)
		return NSX_NONE;
	for (size_t i = 0; i < n; i++)
		folded[i] = lower(name[i]);
	return nsx_intern_find(names, (struct nsx_str){ folded, n });
}

static int
add_name(struct nsx_db *db, struct nsx_intern *names, sqlite3 *sql, const char *query, const char *arg,
         struct nsx_err *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(sql, query, -1, &s, NULL);

	if (rc == SQLITE_OK && arg)
		rc = sqlite3_bind_text(s, 1, arg, -1, SQLITE_STATIC);
	while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		const char *p = (const char *)sqlite3_column_text(s, 0);
		rc = p && nsx_db_add_name(names, p) == NSX_NONE ? SQLITE_NOMEM : SQLITE_OK;
	}
	if (rc == SQLITE_NOMEM)
		nsx_err_nomem(err, db->path);
	else if (rc != SQLITE_DONE)
		nsx_db_failed(db, sql, arg, err);
	sqlite3_finalize(s);
	return rc == SQLITE_DONE ? NSX_OK : NSX_ERR;
}

/* The current entry of s; names go into db->tables. */
static int
read_entry(struct nsx_db *db, sqlite3_stmt *s, struct nsx_db_entry *e, struct nsx_err *err)
{
	enum { VIEW = 2 };
	static const char *const types[] = { "table", "index", "view", "trigger" };
	const char *type = (const char *)sqlite3_column_text(s, 0), *name = (const char *)sqlite3_column_text(s, 1);
	int64_t root = sqlite3_column_int64(s, 2);
	size_t i = 0;

	while (type && i < 4 && strcmp(type, types[i]) != 0)
		i++;
	if (!type || !name || i == 4 || root < 0 || root > UINT32_MAX)
		return nsx_tree_broken(db, "sqlite_master", 1, err,
		                       "an entry that is no table, index, view or trigger");
	*e = (struct nsx_db_entry){ .root = (uint32_t)root, .table = i == 0 };
	uint32_t spelled = nsx_intern(&db->names, nsx_str_c(name));
	uint32_t number = e->table ? nsx_db_add_name(&db->tables, name) : i == VIEW ? nsx_db_add_name(&db->views,
		name) : 0;
	if (spelled == NSX_NONE || number == NSX_NONE)
		return nsx_err_nomem(err, db->path);
	if (e->table && number + 1 != ++db->ntables)
		return nsx_tree_broken(db, "sqlite_master", 1, err, "two tables called %.100s", name);
	e->name = nsx_intern_str(&db->names, spelled);
	return NSX_OK;
}

int
nsx_db_list(struct nsx_db *db, struct nsx_err *err)
{
	struct nsx_db_conn *c = take(db, err);
	NSX_VEC(struct nsx_db_entry) entries = { 0 };
	sqlite3_stmt *s = NULL;
	int rc = NSX_OK;

	if (!c)
		return NSX_ERR;
	int sq = sqlite3_prepare_v2(c->sql, "SELECT type, name, rootpage FROM sqlite_master", -1, &s, NULL);
	while (rc == NSX_OK && (sq == SQLITE_OK || sq == SQLITE_ROW) && (sq = sqlite3_step(s)) == SQLITE_ROW) {
		if (!nsx_vec_room(&entries, 1))
			rc = nsx_err_nomem(err, db->path);
		else if ((rc = read_entry(db, s, &entries.p[entries.n], err)) == NSX_OK)
			entries.n++;
	}
	if (rc == NSX_OK && sq != SQLITE_DONE)
		rc = nsx_db_failed(db, c->sql, NULL, err);
	sqlite3_finalize(s);
	give(db, c);
	if (rc == NSX_OK && db->checked)
		rc = nsx_trees_open(db, entries.p, entries.n, err);
	free(entries.p);
	return rc;
}

bool
nsx_db_has(const struct nsx_db *db, const char *table)
{
	return nsx_db_find(&db->tables, table) != NSX_NONE || nsx_db_find(&db->views, table) != NSX_NONE;
}

/* One integer; *there is false if the query returns none. */
static int
ask(struct nsx_db *db, const char *query, const char *table, int64_t *out, bool *there, struct nsx_err *err)
{
	struct nsx_db_conn *c = take(db, err);
	sqlite3_stmt *s = NULL;

	*there = false;
	if (!c)
		return NSX_ERR;
	int rc = sqlite3_prepare_v2(c->sql, query, -1, &s, NULL);
	if (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		*there = sqlite3_column_type(s, 0) == SQLITE_INTEGER;
		*out = sqlite3_column_int64(s, 0);
		rc = SQLITE_DONE;
	}
	rc = rc == SQLITE_DONE ? NSX_OK : nsx_db_failed(db, c->sql, table, err);
	sqlite3_finalize(s);
	give(db, c);
	return rc;
}

/* nsx_tree_of, before the number of columns of the table is known. */
static int
tree_of(struct nsx_db *db, const char *table, struct nsx_tree **t, struct nsx_err *err)
{
	char *query;
	int64_t n = 0;
	bool there;

	if (nsx_tree_of(db, table, t, err) != NSX_OK)
		return NSX_ERR;
	if (!*t || atomic_load(&(*t)->columns))
		return NSX_OK;
	/* Generated columns that are not stored are in no row. */
	query = sqlite3_mprintf("SELECT count(*) FROM pragma_table_xinfo(%Q) WHERE hidden <> 2", table);
	if (!query)
		return nsx_err_nomem(err, db->path);
	int rc = ask(db, query, table, &n, &there, err);
	sqlite3_free(query);
	if (rc == NSX_OK)
		atomic_store(&(*t)->columns, (uint32_t)n);
	return rc;
}

int
nsx_db_numbered(struct nsx_db *db, const char *table, bool *yes, struct nsx_err *err)
{
	char query[320];
	bool there;
	int64_t n = 0;

	*yes = false;
	if (nsx_db_find(&db->views, table) != NSX_NONE)
		return NSX_OK;
	/* SQLite lists the key of a table WITHOUT ROWID as an index, which has no entry in sqlite_master. */
	snprintf(query, sizeof query, "SELECT count(*) FROM pragma_index_list('%s') AS i WHERE i.origin = 'pk' "
	         "AND i.name NOT IN (SELECT name FROM sqlite_master)", table);
	if (ask(db, query, table, &n, &there, err) != NSX_OK)
		return NSX_ERR;
	*yes = n == 0;
	return NSX_OK;
}

/* Append the text of a scan's query to b. */
static int
compose(struct nsx_db *db, sqlite3 *sql, const struct nsx_db_scan *scan, struct nsx_buf *b, struct nsx_err *err)
{
	struct nsx_intern have = { 0 };
	bool view = nsx_db_find(&db->views, scan->table) != NSX_NONE, numbered;
	int rc = add_name(db, &have, sql, "SELECT name FROM pragma_table_info(?)", scan->table, err);

	if (rc == NSX_OK)
		rc = nsx_db_numbered(db, scan->table, &numbered, err);
	nsx_buf_c(b, "SELECT nsx_row(");
	for (int i = 0; rc == NSX_OK && i < scan->ncols; i++) {
		const struct nsx_db_col *col = &scan->cols[i];

		if (i)
			nsx_buf_char(b, ',');
		if (strcmp(col->name, "rowid") == 0)
			nsx_buf_c(b, numbered || nsx_db_find(&have, "rowid") != NSX_NONE ? "rowid" : "nsx_at()");
		else if (nsx_db_find(&have, col->name) != NSX_NONE)
			nsx_buf_fmt(b, "\"%s\"", col->name);
		else if (col->optional)
			nsx_buf_c(b, "NULL");
		else
			rc = nsx_err_set(err, "%s: %s: no column %s", db->path, scan->table, col->name);
	}
	/* A damaged index may contain other rows than the table. */
	nsx_buf_fmt(b, ") FROM \"%s\"%s", scan->table, view ? "" : " NOT INDEXED");
	if (scan->part && numbered)
		nsx_buf_fmt(b, " WHERE rowid BETWEEN %" PRId64 " AND %" PRId64, scan->lo, scan->hi);
	nsx_buf_char(b, '\0');
	if (rc == NSX_OK && b->failed)
		rc = nsx_err_nomem(err, db->path);
	nsx_intern_free(&have);
	return rc;
}

static int
run_table(struct nsx_db *db, struct nsx_db_conn *c, const char *table, const char *query, struct nsx_err *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(c->sql, query, -1, &s, NULL);

	while (rc == SQLITE_OK || rc == SQLITE_ROW)
		rc = sqlite3_step(s);
	rc = rc == SQLITE_DONE ? NSX_OK : nsx_db_failed(db, c->sql, table, err);
	sqlite3_finalize(s);
	return rc;
}

/* Let SQLite return the rows, and check that there are as many as in the leaves. */
static int
run_sql(struct nsx_db *db, const struct nsx_db_scan *scan, struct nsx_err *err)
{
	struct nsx_buf query = { 0 };
	uint64_t rows = 0;
	struct nsx_tree *tree;

	if (tree_of(db, scan->table, &tree, err) != NSX_OK)
		return NSX_ERR;
	if (tree && nsx_tree_check(db, tree, scan->part ? scan->lo : INT64_MIN, scan->part ? scan->hi : INT64_MAX,
	    &rows, err) != NSX_OK)
		return NSX_ERR;
	struct nsx_db_conn *c = take(db, err);
	if (!c)
		return NSX_ERR;
	int rc = compose(db, c->sql, scan, &query, err);
	if (rc == NSX_OK) {
		c->scan = scan;
		c->rows = 0;
		if (nsx_db_find(&db->views, scan->table) != NSX_NONE)
			rc = nsx_view_run(db, c, scan->table, query.ptr, err);
		else
			rc = run_table(db, c, scan->table, query.ptr, err);
		if (rc == NSX_OK && tree && c->rows != rows)
			rc = nsx_tree_broken(db, scan->table, tree->root, err, "%" PRIu64 " of %" PRIu64
			                     " rows were read", c->rows, rows);
	}
	nsx_buf_free(&query);
	give(db, c);
	return rc;
}

/* Find the properties of a table that pages.c needs. */
static int
describe(struct nsx_db *db, const struct nsx_db_scan *scan, struct nsx_pages_table *t, struct nsx_err *err)
{
	struct nsx_db_conn *c = take(db, err);
	sqlite3_stmt *s = NULL;
	bool plain = db->utf8 && scan->ncols <= NSX_DB_MAX_COLS;

	*t = (struct nsx_pages_table){ .rowid_slot = -1, .alias_slot = -1 };
	memset(t->slot, -1, sizeof t->slot);
	if (!c)
		return NSX_ERR;
	for (int i = 0; i < scan->ncols; i++)
		if (strcmp(scan->cols[i].name, "rowid") == 0)
			t->rowid_slot = i;
	int rc = sqlite3_prepare_v2(c->sql,
	                            "SELECT x.cid, x.name, x.hidden, x.pk, x.dflt_value IS NULL, upper(x.type), "
		/* An alias of the rowid: the one column of the key, of that type, and the key has no index. */
		"CASE WHEN x.pk <> 1 OR upper(x.type) <> 'INTEGER' THEN 0 ELSE "
		"(SELECT count(*) FROM pragma_table_info(m.name) WHERE pk > 0) = 1 AND "
		"NOT EXISTS (SELECT 1 FROM pragma_index_list(m.name) WHERE origin = 'pk') END "
		"FROM sqlite_master AS m, pragma_table_xinfo(m.name) AS x WHERE m.type = 'table' AND m.name = ? "
		"COLLATE NOCASE",
	                            -1, &s, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(s, 1, scan->table, -1, SQLITE_STATIC);
	while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		int cid = sqlite3_column_int(s, 0);
		const char *name = (const char *)sqlite3_column_text(s, 1), *type = (const char *)sqlite3_column_text(s,
			5);

		rc = name && type ? SQLITE_OK : SQLITE_NOMEM;
		/* Generated columns are stored elsewhere, or not at all; a column called rowid hides the rowid. */
		plain = plain && sqlite3_column_int(s, 2) == 0 && name && sqlite3_stricmp(name, "rowid") != 0;
		for (int i = 0; rc == SQLITE_OK && i < scan->ncols; i++) {
			if (sqlite3_stricmp(scan->cols[i].name, name) != 0)
				continue;
			if (sqlite3_column_int(s, 6)) {
				t->alias_slot = i;
				continue;
			}
			/* A default replaces what rows lack; REAL columns store integers. */
			plain = plain && cid < (int)sizeof t->slot && sqlite3_column_int(s, 3) == 0 &&
			    sqlite3_column_int(s, 4)
			        && (strcmp(type, "INTEGER") == 0 || strcmp(type, "TEXT") == 0);
			if (plain) {
				t->slot[cid] = (int8_t)i;
				t->nstored = cid + 1 > t->nstored ? cid + 1 : t->nstored;
			}
		}
	}
	t->plain = plain;
	rc = rc == SQLITE_DONE ? NSX_OK : nsx_db_failed(db, c->sql, scan->table, err);
	sqlite3_finalize(s);
	give(db, c);
	return rc;
}

/* A required column is missing: the scan through SQLite reports it. */
static bool
all_there(const struct nsx_db_scan *scan, const struct nsx_pages_table *t)
{
	for (int i = 0; i < scan->ncols; i++)
		if (!scan->cols[i].optional && i != t->rowid_slot && i != t->alias_slot &&
		    !memchr(t->slot, i, sizeof t->slot))
			return false;
	return true;
}

static int
run_cells(struct nsx_db *db, const struct nsx_db_scan *scan, struct nsx_err *err)
{
	struct nsx_pages_table t;
	struct nsx_tree *tree;

	if (tree_of(db, scan->table, &tree, err) != NSX_OK)
		return NSX_ERR;
	if (!tree)
		return run_sql(db, scan, err);
	if (describe(db, scan, &t, err) != NSX_OK)
		return NSX_ERR;
	return t.plain && all_there(scan, &t) ? nsx_pages_read(db, tree, &t, scan, err) : run_sql(db, scan, err);
}

int
nsx_db_run(struct nsx_db *db, const struct nsx_db_scan *scan, struct nsx_err *err)
{
	return scan->cells ? run_cells(db, scan, err) : run_sql(db, scan, err);
}

int
nsx_db_check(struct nsx_db *db, const char *table, struct nsx_err *err)
{
	struct nsx_tree *tree;

	if (tree_of(db, table, &tree, err) != NSX_OK)
		return NSX_ERR;
	return tree ? nsx_tree_check(db, tree, INT64_MIN, INT64_MAX, NULL, err) : NSX_OK;
}

int
nsx_db_lookup(struct nsx_db *db, const char *query, const char *table, const int64_t *keys, size_t n,
              int (*found)(void *ctx, size_t i, sqlite3_value *v), void *ctx, struct nsx_err *err)
{
	sqlite3_stmt *s = NULL;

	if (nsx_db_check(db, table, err) != NSX_OK)
		return NSX_ERR;
	struct nsx_db_conn *c = take(db, err);
	if (!c)
		return NSX_ERR;
	int rc = sqlite3_prepare_v2(c->sql, query, -1, &s, NULL);
	for (size_t i = 0; i < n && rc == SQLITE_OK; i++) {
		rc = sqlite3_bind_int64(s, 1, keys[i]);
		if (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW)
			rc = found(ctx, i, sqlite3_column_value(s, 0)) == NSX_OK ? SQLITE_DONE : SQLITE_NOMEM;
		if (rc == SQLITE_DONE)
			rc = sqlite3_reset(s);
	}
	if (rc != SQLITE_OK)
		rc == SQLITE_NOMEM ? nsx_err_nomem(err, db->path) : nsx_db_failed(db, c->sql, table, err);
	sqlite3_finalize(s);
	give(db, c);
	return rc == SQLITE_OK ? NSX_OK : NSX_ERR;
}

int
nsx_db_bounds(struct nsx_db *db, const char *table, int64_t *lo, int64_t *hi, struct nsx_err *err)
{
	struct nsx_tree *tree;
	char query[160];
	bool there = false;

	if (tree_of(db, table, &tree, err) != NSX_OK)
		return NSX_ERR;
	if (tree)
		return nsx_tree_bounds(db, tree, lo, hi, err);
	*lo = 1;
	*hi = 0;
	if (nsx_db_numbered(db, table, &there, err) != NSX_OK)
		return NSX_ERR;
	if (!there) {
		*lo = *hi = 1;
		return NSX_OK;
	}
	/* Two queries: only then does SQLite find both without reading the table. */
	snprintf(query, sizeof query, "SELECT min(rowid) FROM \"%s\"", table);
	if (ask(db, query, table, lo, &there, err) != NSX_OK)
		return NSX_ERR;
	if (!there)
		return NSX_OK;
	snprintf(query, sizeof query, "SELECT max(rowid) FROM \"%s\"", table);
	return ask(db, query, table, hi, &there, err);
}

int
nsx_db_is_rowid(struct nsx_db *db, const char *table, const char *column, bool *yes, struct nsx_err *err)
{
	char query[320];
	int64_t n = 0;
	bool there;

	snprintf(query, sizeof query,
		"SELECT count(*) FROM pragma_table_info('%s') WHERE name = '%s' COLLATE NOCASE AND pk = 1 "
	         "AND upper(type) = 'INTEGER' "
	         "AND (SELECT count(*) FROM pragma_table_info('%s') WHERE pk > 0) = 1", table, column, table);
	int rc = ask(db, query, table, &n, &there, err);
	*yes = rc == NSX_OK && n == 1;
	return rc;
}
