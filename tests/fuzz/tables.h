/* tables.h -- rows of a valid database read from its pages equal those of SQLite. */
#ifndef NSX_FUZZ_TABLES_H
#define NSX_FUZZ_TABLES_H

#include "bytes.h"

#include <string.h>

#include "base/str.h"
#include "nsys/db.h"

static inline int
fuzz_row(void *ctx, sqlite3_value **v)
{
	struct nsx_buf *b = ctx;

	for (int i = 0; i < 3; i++) {
		struct nsx_str s = nsx_db_text(v[i]);
		int64_t n = 0;
		if (s.ptr) {
			nsx_buf_fmt(b, "t%zu:", s.len);
			nsx_buf_str(b, s);
		} else {
			char type = nsx_db_int(v[i], &n) ? 'i' : sqlite3_value_type(v[i]) == SQLITE_NULL ? 'n' : 'o';
			nsx_buf_fmt(b, "%c%lld;", type, (long long)n);
		}
	}
	return NSX_OK;
}

static inline int
fuzz_cells(void *ctx, const struct nsx_db_cell *v)
{
	struct nsx_buf *b = ctx;

	for (int i = 0; i < 3; i++) {
		if (v[i].type == NSX_DB_TEXT) {
			nsx_buf_fmt(b, "t%zu:", (size_t)v[i].i);
			nsx_buf_str(b, nsx_cell_text(&v[i]));
		} else {
			nsx_buf_fmt(b, "%c%lld;", "ni?o"[v[i].type], v[i].type == NSX_DB_INT ? (long long)v[i].i : 0LL);
		}
	}
	return NSX_OK;
}

/* The first and last of its columns and its rowid, both ways. */
static inline void
fuzz_table(struct nsx_db *db, sqlite3 *sql, const char *table)
{
	struct nsx_err err = { "" };
	struct nsx_buf a = { 0 }, b = { 0 };
	char first[64] = "", last[64] = "";
	sqlite3_stmt *s = NULL;

	fuzz_must(sqlite3_prepare_v2(sql, "SELECT name FROM pragma_table_info(?)", -1, &s, NULL) == SQLITE_OK);
	sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
	while (sqlite3_step(s) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(s, 0);
		if (!name || !name[0] || strlen(name) >= sizeof first || strchr(name, '"') || sqlite3_stricmp(name, "rowid") == 0)
			continue;
		strcpy(first[0] ? last : first, name);
	}
	sqlite3_finalize(s);
	if (!first[0] || strchr(table, '"'))
		return;
	const struct nsx_db_col cols[] = { { "rowid", false }, { first, false }, { last[0] ? last : "no such column", true } };
	struct nsx_db_scan rows = { .table = table, .cols = cols, .ncols = 3, .row = fuzz_row, .ctx = &a };
	struct nsx_db_scan cells = { .table = table, .cols = cols, .ncols = 3, .cells = fuzz_cells, .ctx = &b };
	if (nsx_db_run(db, &rows, &err) == NSX_OK)
		fuzz_must(nsx_db_run(db, &cells, &err) == NSX_OK && nsx_str_eq(nsx_buf_view(&a), nsx_buf_view(&b)));
	nsx_buf_free(&a);
	nsx_buf_free(&b);
}

static inline bool
fuzz_sound(sqlite3 *sql)
{
	sqlite3_stmt *s = NULL;
	bool sound = sqlite3_prepare_v2(sql, "PRAGMA quick_check(1)", -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW
	             && strcmp((const char *)sqlite3_column_text(s, 0), "ok") == 0;

	sqlite3_finalize(s);
	return sound;
}

static inline void
fuzz_tables(const char *path)
{
	struct nsx_err err = { "" };
	struct nsx_db db;
	sqlite3 *sql = NULL;
	char uri[64];

	if (nsx_db_open(&db, path, -1, false, &err) != NSX_OK) {
		fuzz_must(err.msg[0]);
		return;
	}
	snprintf(uri, sizeof uri, "file:%d?immutable=1", db.fd);
	if (sqlite3_open_v2(uri, &sql, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, "nsysx") == SQLITE_OK && fuzz_sound(sql))
		for (size_t i = 0; i < db.tables.n; i++) {
			char *table = nsx_str_dup(nsx_intern_str(&db.tables, (uint32_t)i));
			fuzz_must(table != NULL);
			fuzz_table(&db, sql, table);
			free(table);
		}
	sqlite3_close(sql);
	nsx_db_close(&db);
}

#endif
