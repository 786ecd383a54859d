/* view.c -- see view.h. */
#include "nsys/view.h"

#include <inttypes.h>
#include <stdlib.h>

/* Limits of a view, which grow with the size of the file. Filters, UNION, ORDER BY and joins by key take less than one
 * step of SQLite for each byte of an export, as its rows take 60 bytes or more; few bytes may still need many steps
 * where a join finds no key. Rows that are sorted are held in memory. */
enum {
	CHECK_EACH = 10000,             /* steps */
	FEW_ROWS = 1000000, BYTES_PER_ROW = 8,
	FEW_STEPS = 200000000, STEPS_PER_BYTE = 20,
	MEMORY_PER_BYTE = 16
};
static const uint64_t FEW_BYTES = UINT64_C(256) << 20;

struct bound {
	const struct nsx_db_conn *c;
	uint64_t steps, max_steps;
	uint64_t max_rows, max_bytes;
	const char *passed;            /* which limit */
};

/* Called by SQLite every CHECK_EACH steps; not 0 stops the query. */
static int
within(void *ctx)
{
	struct bound *b = ctx;

	b->steps += CHECK_EACH;
	if (b->c->rows > b->max_rows)
		b->passed = "returns more rows";
	else if (b->steps > b->max_steps)
		b->passed = "takes more steps";
	else if (sqlite3_memory_used() > (int64_t)b->max_bytes)
		b->passed = "takes more memory";
	return b->passed != NULL;
}

/* The tables that a view reads, collected while SQLite prepares its query. */
struct reads { struct nsx_intern tables; bool failed, endless; };

static int
allow(void *ctx, int what, const char *table, const char *column, const char *base, const char *by)
{
	struct reads *r = ctx;

	(void)column;
	(void)base;
	(void)by;
	if (what == SQLITE_READ && table)
		r->failed |= nsx_db_add_name(&r->tables, table) == NSX_NONE;
	r->endless |= what == SQLITE_RECURSIVE;
	return what == SQLITE_READ || what == SQLITE_SELECT || what == SQLITE_FUNCTION ? SQLITE_OK : SQLITE_DENY;
}

/* The end of a message: how the view becomes a table. */
#define MAKE_TABLE "`sqlite3 %s 'CREATE TABLE t AS SELECT * FROM %s; DROP VIEW %s; ALTER TABLE t RENAME TO %s'`"

static int
prepare(struct nsx_db *db, struct nsx_db_conn *c, const char *view, const char *query, sqlite3_stmt **s,
        struct nsx_err *err)
{
	struct reads r = { .failed = false };
	int rc = NSX_OK;

	sqlite3_set_authorizer(c->sql, allow, &r);
	int sq = sqlite3_prepare_v2(c->sql, query, -1, s, NULL);
	if (r.endless)
		rc = nsx_err_set(err, "%s: %s: a view that is recursive is not read: make a table of it: " MAKE_TABLE,
		                 db->path, view, db->path, view, view, view);
	else if (sq != SQLITE_OK)
		rc = nsx_db_failed(db, c->sql, view, err);
	sqlite3_set_authorizer(c->sql, NULL, NULL);
	if (rc == NSX_OK && r.failed)
		rc = nsx_err_nomem(err, db->path);
	for (uint32_t i = 0; i < r.tables.n && rc == NSX_OK; i++) {
		char *table = nsx_str_dup(nsx_intern_str(&r.tables, i));
		rc = table ? nsx_db_check(db, table, err) : nsx_err_nomem(err, db->path);
		free(table);
	}
	nsx_intern_free(&r.tables);
	return rc;
}

int
nsx_view_run(struct nsx_db *db, struct nsx_db_conn *c, const char *view, const char *query, struct nsx_err *err)
{
	uint64_t size = (uint64_t)db->stamp.size;
	struct bound b = {
		.c = c,
		.max_rows = FEW_ROWS + size / BYTES_PER_ROW,
		.max_steps = FEW_STEPS + size * STEPS_PER_BYTE,
		.max_bytes = FEW_BYTES + size * MEMORY_PER_BYTE
	};
	sqlite3_stmt *s = NULL;
	int sq = SQLITE_OK, rc = prepare(db, c, view, query, &s, err);

	sqlite3_progress_handler(c->sql, CHECK_EACH, within, &b);
	while (rc == NSX_OK && (sq == SQLITE_OK || sq == SQLITE_ROW))
		sq = sqlite3_step(s);
	if (rc == NSX_OK && sq != SQLITE_DONE)
		rc = !b.passed ? nsx_db_failed(db, c->sql, view, err)
		   : nsx_err_set(err, "%s: %s: the view %s than a file of %" PRIu64 " bytes can need (stopped after "
		                 "%" PRIu64 " rows and %" PRIu64 " steps of SQLite): does it join tables without a "
		                 "condition? If it does what it should, make a table of it: " MAKE_TABLE, db->path,
		                 view, b.passed, size, c->rows, b.steps, db->path, view, view, view);
	sqlite3_progress_handler(c->sql, 0, NULL, NULL);
	sqlite3_finalize(s);
	return rc;
}
