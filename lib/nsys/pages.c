/* pages.c -- see pages.h. Pages have been checked (tree.h); of records it is only known that they lie within the page.
 *
 *   cell      varint payload bytes, varint rowid, payload; of a long one its first bytes, and the number of its first
 *             overflow page (4 bytes)
 *   payload   varint header bytes, a varint type for each column, values, which fill the payload exactly */
#include "nsys/pages.h"

#include <inttypes.h>

#include "nsys/tree.h"

struct read {
	const struct nsx_db          *db;
	const struct nsx_pages_table *t;
	const struct nsx_db_scan     *scan;
	struct nsx_tree  *tree;
	struct nsx_pager  pager;
	struct nsx_buf    whole;             /* a payload with its overflow pages */
	uint32_t          columns;           /* maximum of a row */
	struct nsx_err   *err;
	struct nsx_db_cell   cells[NSX_DB_MAX_COLS];
};

/* An integer of 1 to 8 bytes. Eight can always be read: NSX_PAGE_SLACK. */
static inline int64_t
integer(const unsigned char *p, uint32_t size)
{
	uint64_t v = (uint64_t)nsx_be32(p) << 32 | nsx_be32(p + 4);

	return (int64_t)v >> (64 - 8 * size);
}

static inline void
set_cell(struct nsx_db_cell *c, uint64_t type, const unsigned char *p, uint64_t size)
{
	if (type == 0)
		c->type = NSX_DB_NULL;
	else if (type <= 6)
		*c = (struct nsx_db_cell){ NSX_DB_INT, integer(p, (uint32_t)size), NULL };
	else if (type == 8 || type == 9)
		*c = (struct nsx_db_cell){ NSX_DB_INT, (int64_t)type - 8, NULL };
	else if (type >= 13 && (type & 1))
		*c = (struct nsx_db_cell){ NSX_DB_TEXT, (int64_t)size, (const char *)p };
	else
		c->type = NSX_DB_OTHER;
}

/* Decode the values of a payload into k->cells: false if it is malformed. */
static inline bool
decode(struct read *k, const unsigned char *p, const unsigned char *end)
{
	const unsigned char *type_at, *types_end, *value;
	uint64_t header, type;
	int i = 0;

	type_at = nsx_varint(p, end, &header);
	if (!type_at || header > (uint64_t)(end - p) || p + header < type_at)
		return false;
	types_end = value = p + header;
	for (; i < k->t->nstored && type_at < types_end; i++) {
		type_at = nsx_varint(type_at, types_end, &type);
		if (!type_at)
			return false;
		uint64_t size = nsx_value_size(type);
		if (size > (uint64_t)(end - value) || type == 10 || type == 11)
			return false;
		if (k->t->slot[i] >= 0)
			set_cell(&k->cells[k->t->slot[i]], type, value, size);
		value += size;
	}
	if (!nsx_record_rest(type_at, types_end, (uint64_t)(end - value), (uint32_t)i, k->columns))
		return false;
	/* Columns that were added after the row was written. */
	for (; i < k->t->nstored; i++)
		if (k->t->slot[i] >= 0)
			k->cells[k->t->slot[i]].type = NSX_DB_NULL;
	return true;
}

/* Assemble a long payload, whose first bytes are at p: NSX_OK or NSX_ERR. */
static int
gather(struct read *k, const unsigned char *p, uint64_t bytes)
{
	uint32_t local = nsx_local(k->db->usable, bytes), next = nsx_be32(p + local), room = k->db->usable - 4;

	k->whole.len = 0;
	nsx_buf_add(&k->whole, (const char *)p, local);
	for (uint64_t left = bytes - local; left; ) {
		uint32_t n = left < room ? (uint32_t)left : room;
		const unsigned char *page = nsx_pager_far(&k->pager, k->tree->name, next, &next, k->err);

		if (!page)
			return NSX_ERR;
		nsx_buf_add(&k->whole, (const char *)page, n);
		left -= n;
	}
	nsx_buf_add(&k->whole, "\0\0\0\0\0\0\0", NSX_PAGE_SLACK);
	return k->whole.failed ? nsx_err_nomem(k->err, k->db->path) : NSX_OK;
}

/* The requested rows of leaf i. Cells whose rowids increase and which lie one before the other from the end of the page
 * to the start of its content, as most do, satisfy all rules; at the first cell that does not, the page is checked rule
 * by rule. */
static int
read_leaf(struct read *k, size_t i)
{
	const struct nsx_db_scan *scan = k->scan;
	const struct nsx_leaf *about = &k->tree->leaves.p[i];
	uint32_t usable = k->db->usable, most = nsx_most_local(usable), top = usable;
	int64_t lo = scan->part ? scan->lo : INT64_MIN, hi = scan->part ? scan->hi : INT64_MAX;
	int64_t last = i ? about[-1].highest : INT64_MIN, highest = about->highest;
	struct nsx_leaf_page leaf;

	if (nsx_tree_leaf(&k->pager, k->tree, i, hi, &leaf, k->err) != NSX_OK)
		return NSX_ERR;
	const unsigned char *page = leaf.page, *end = page + usable;
	bool sure = false;
	if (!leaf.packed) {
		if (nsx_tree_leaf_check(&k->pager, k->tree, i, &leaf, k->err) != NSX_OK)
			return NSX_ERR;
		sure = true;
	}
	for (uint32_t j = 0; j < leaf.cells; j++) {
		uint32_t at = nsx_be16(leaf.offsets + 2 * j);
		const unsigned char *p = page + at;
		uint64_t bytes = 0, id = 0;

		if (at >= leaf.content && at + 4 <= usable && (p = nsx_varint(p, end, &bytes)))
			p = nsx_varint(p, end, &id);
		int64_t rowid = (int64_t)id;
		if (!sure && (!p || at < leaf.content || rowid <= last || rowid > highest || bytes > most ||
		              (uint64_t)(p - page) + bytes != top || top - at < 4)) {
			if (nsx_tree_leaf_check(&k->pager, k->tree, i, &leaf, k->err) != NSX_OK)
				return NSX_ERR;
			sure = true;
		}
		last = rowid;
		top = at;
		if (rowid < lo || rowid > hi)
			continue;
		if (bytes > most) {
			if (gather(k, p, bytes) != NSX_OK)
				return NSX_ERR;
			p = (const unsigned char *)k->whole.ptr;
		}
		if (!decode(k, p, p + bytes))
			return nsx_tree_broken(k->db, k->tree->name, about->page, k->err, "row %" PRId64
			                       " is not a record of this table", rowid);
		if (k->t->rowid_slot >= 0)
			k->cells[k->t->rowid_slot] = (struct nsx_db_cell){ NSX_DB_INT, rowid, NULL };
		if (k->t->alias_slot >= 0)
			k->cells[k->t->alias_slot] = (struct nsx_db_cell){ NSX_DB_INT, rowid, NULL };
		if (scan->cells(scan->ctx, k->cells) != NSX_OK)
			return nsx_err_nomem(k->err, k->db->path);
	}
	return sure || top == leaf.content ? NSX_OK : nsx_tree_leaf_check(&k->pager, k->tree, i, &leaf, k->err);
}

int
nsx_pages_read(const struct nsx_db *db, struct nsx_tree *tree, const struct nsx_pages_table *t,
               const struct nsx_db_scan *scan,
               struct nsx_err *err)
{
	struct read k = { .db = db, .t = t, .scan = scan, .tree = tree, .columns = atomic_load(&tree->columns),
	                  .err = err };
	const struct nsx_leaf *leaves = tree->leaves.p;
	int rc = NSX_OK;

	if (!nsx_pager_open(&k.pager, db, nsx_trees_npages(db)))
		return nsx_err_nomem(err, db->path);
	for (size_t i = scan->part ? nsx_tree_find(tree, scan->lo) : 0; rc == NSX_OK && i < tree->leaves.n; i++) {
		if (i && scan->part && leaves[i - 1].highest >= scan->hi)
			break;
		rc = read_leaf(&k, i);
	}
	/* Every leaf has been checked as nsx_tree_check does. */
	if (rc == NSX_OK && !scan->part)
		atomic_store(&tree->whole, true);
	nsx_buf_free(&k.whole);
	nsx_pager_close(&k.pager);
	return rc;
}
