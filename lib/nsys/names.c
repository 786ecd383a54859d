/* names.c -- the strings of string ids: only of those that are used. */
#include <stdlib.h>
#include <string.h>

#include "nsys/load.h"

static int
name(struct nsx_loader *l, size_t i, struct nsx_str s)
{
	if (s.ptr && l->id_names[i] == NSX_NONE && (l->id_names[i] = nsx_intern(&l->t->names, s)) == NSX_NONE)
		return NSX_ERR;
	return NSX_OK;
}

static int
found(void *ctx, size_t i, sqlite3_value *v)
{
	return name(ctx, i, nsx_db_text(v));
}

static int
read_row(void *ctx, const struct nsx_db_cell *v)
{
	struct nsx_loader *l = ctx;
	int64_t id;

	if (!nsx_cell_int(&v[0], &id))
		return NSX_OK;
	uint32_t at = nsx_map_get(&l->ids.map, (struct nsx_key){ (uint64_t)id, 0 });
	return at == NSX_NONE ? NSX_OK : name(l, at, nsx_cell_text(&v[1]));
}

/* Many ids are needed, or SQLite cannot look one up quickly: read the whole table. */
static int
read_all(struct nsx_loader *l)
{
	static const struct nsx_db_col columns[] = { { "id", false }, { "value", false } };
	struct nsx_db_scan scan = { "StringIds", columns, 2, .cells = read_row, .ctx = l };

	return nsx_db_run(&l->db, &scan, l->err);
}

int
nsx_names_read(struct nsx_loader *l)
{
	int64_t lo, hi;
	bool quick;
	uint64_t missing = 0;
	int rc = NSX_OK;

	l->id_names = malloc((l->ids.list.n + 1) * sizeof *l->id_names);
	if (!l->id_names)
		return nsx_load_nomem(l);
	memset(l->id_names, 0xff, (l->ids.list.n + 1) * sizeof *l->id_names);
	if (l->ids.list.n && nsx_db_has(&l->db, "StringIds")) {
		rc = nsx_db_bounds(&l->db, "StringIds", &lo, &hi, l->err);
		if (rc == NSX_OK)
			rc = nsx_db_is_rowid(&l->db, "StringIds", "id", &quick, l->err);
		/* A look-up costs about as much as a few rows of a scan. */
		if (rc == NSX_OK && quick && lo <= hi && l->ids.list.n < ((uint64_t)hi - (uint64_t)lo) / 8)
			rc = nsx_db_lookup(&l->db, "SELECT value FROM StringIds WHERE id = ?", "StringIds",
			                   l->ids.list.p, l->ids.list.n,
			                   found, l, l->err);
		else if (rc == NSX_OK)
			rc = read_all(l);
	}
	for (size_t i = 0; i < l->ids.list.n; i++)
		missing += l->id_names[i] == NSX_NONE;
	nsx_load_diag(l, NSX_WARNING, missing, "strings that names refer to: not in StringIds");
	return rc;
}
