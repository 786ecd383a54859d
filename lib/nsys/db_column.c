/* db_column.c -- one column of rows that are known by their rowids. */
#include "nsys/db.h"

#include "base/map.h"

struct reading {
	struct nsx_map place;   /* rowid -> index of the key */
	int          (*found)(void *ctx, size_t i, sqlite3_value *v);
	void          *ctx;
};

static int
there(void *ctx, size_t i, sqlite3_value *v)
{
	(void)i;
	*(bool *)ctx = sqlite3_value_type(v) != SQLITE_NULL;
	return NSX_OK;
}

static int
row(void *ctx, sqlite3_value **v)
{
	struct reading *r = ctx;
	uint32_t at = nsx_map_get(&r->place, (struct nsx_key){ (uint64_t)sqlite3_value_int64(v[0]), 0 });

	return at == NSX_NONE ? NSX_OK : r->found(r->ctx, at, v[1]);
}

/* For rows without a rowid: all of them are read. */
static int
scan(struct nsx_db *db, const char *table, const char *column, const int64_t *ids, size_t n, struct reading *r,
     struct nsx_err *err)
{
	const struct nsx_db_col columns[] = { { .name = "rowid" }, { .name = column } };
	struct nsx_db_scan all = { table, columns, 2, .row = row, .ctx = r };
	int rc = NSX_OK;

	for (size_t i = 0; i < n && rc == NSX_OK; i++) {
		uint32_t *at = nsx_map_at(&r->place, (struct nsx_key){ (uint64_t)ids[i], 0 });

		if (at)
			*at = (uint32_t)i;
		else
			rc = nsx_err_nomem(err, db->path);
	}
	if (rc == NSX_OK)
		rc = nsx_db_run(db, &all, err);
	nsx_map_free(&r->place);
	return rc;
}

int
nsx_db_column(struct nsx_db *db, const char *table, const char *column, const int64_t *ids, size_t n,
              int (*found)(void *ctx, size_t i, sqlite3_value *v), void *ctx, struct nsx_err *err)
{
	static const int64_t one = 1;
	struct reading r = { .found = found, .ctx = ctx };
	bool exists = false, numbered;
	char *query = sqlite3_mprintf("SELECT 1 FROM pragma_table_info(%Q) WHERE name = %Q AND pk = 0 AND ?", table,
	                              column);
	int rc = query ? nsx_db_lookup(db, query, table, &one, 1, there, &exists, err) : nsx_err_nomem(err, db->path);

	sqlite3_free(query);
	if (rc != NSX_OK || !exists || !n)
		return rc;
	if (nsx_db_numbered(db, table, &numbered, err) != NSX_OK)
		return NSX_ERR;
	if (!numbered)
		return scan(db, table, column, ids, n, &r, err);
	query = sqlite3_mprintf("SELECT %s FROM %s WHERE rowid = ?", column, table);
	rc = query ? nsx_db_lookup(db, query, table, ids, n, found, ctx, err) : nsx_err_nomem(err, db->path);
	sqlite3_free(query);
	return rc;
}
