/* tree.c -- see tree.h. No byte of the file is trusted: each offset and length is compared with the page before use;
 * page_format.h has the layout of a page. Page 1 begins with the header of the file, 100 bytes, and is the root of the
 * table of tables. Free pages are in a list of trunk pages: next trunk (4), how many numbers follow (4), numbers of
 * free pages. */
#include "nsys/tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_DEPTH = 20 };

struct nsx_trees {
	uint32_t          npages;
	_Atomic uint64_t *used;       /* a bit for each page: something refers to it */
	pthread_mutex_t   lock;       /* held while leaves are listed */
	NSX_VEC(struct nsx_tree) list;
};

int
nsx_tree_broken(const struct nsx_db *db, const char *table, uint32_t page, struct nsx_err *err, const char *fmt, ...)
{
	char why[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	return nsx_err_set(err, "%s: damaged: %s, page %" PRIu32 ": %s; export again, or try `sqlite3 %s .recover`",
	                   db->path, table, page, why, db->path);
}

/* Page `no` is referred to by page `from`: an error if it does not exist, or another page refers to it. */
static int
use(const struct nsx_db *db, const char *table, uint32_t from, uint32_t no, struct nsx_err *err)
{
	struct nsx_trees *all = db->trees;

	if (no < 2 || no > all->npages)
		return nsx_tree_broken(db, table, from, err, "refers to page %" PRIu32 " of %" PRIu32, no, all->npages);
	if (atomic_fetch_or(&all->used[no / 64], UINT64_C(1) << no % 64) >> no % 64 & 1)
		return nsx_tree_broken(db, table, from, err, "refers to page %" PRIu32 ", which is in use elsewhere",
		                       no);
	return NSX_OK;
}

/* The overflow pages of a cell belong to no other cell and are as many as it needs. */
static int
check_chain(struct nsx_pager *r, const char *table, uint32_t page, uint32_t no, uint64_t bytes, struct nsx_err *err)
{
	const struct nsx_db *db = r->db;
	uint64_t n = (bytes - nsx_local(db->usable, bytes) + db->usable - 5) / (db->usable - 4);

	if (n > r->npages)
		return nsx_tree_broken(db, table, page, err, "a cell of %" PRIu64 " bytes", bytes);
	for (; n && no; n--) {
		if (use(db, table, page, no, err) != NSX_OK || !nsx_pager_far(r, table, page = no, &no, err))
			return NSX_ERR;
	}
	return n || no ? nsx_tree_broken(db, table, page, err, "too %s pages follow for the rest of a cell", n ? "few" :
	                                 "many") : NSX_OK;
}

/* A leaf whose rowids are above `above` (if that is not NULL) and at most `highest`. */
static int
check_leaf(struct nsx_pager *r, const char *table, uint32_t no, const struct nsx_leaf_page *leaf, const int64_t *above,
           int64_t highest,
           struct nsx_err *err)
{
	const struct nsx_db *db = r->db;
	const unsigned char *page = leaf->page;
	uint32_t usable = db->usable;
	int64_t last = above ? *above : INT64_MIN;
	struct nsx_page_head d;

	for (uint32_t i = 0; i < leaf->cells; i++) {
		uint32_t at = nsx_be16(leaf->offsets + 2 * i), size;
		uint64_t bytes;
		int64_t rowid;

		if (at < leaf->content || at + 4 > usable || !(size = nsx_leaf_cell(page, usable, at, &bytes, &rowid)))
			return nsx_tree_broken(db, table, no, err, "cell %" PRIu32 " is not in the page", i);
		if ((rowid <= last && (i || above)) || rowid > highest)
			return nsx_tree_broken(db, table, no, err, "rowid %" PRId64 " comes after %" PRId64 ", %" PRId64
			                       " is the highest",
			                       rowid, last, highest);
		last = rowid;
		if (leaf->chains && bytes > nsx_most_local(usable)
		    && check_chain(r, table, no, nsx_be32(page + at + size - 4), bytes, err) != NSX_OK)
			return NSX_ERR;
	}
	if (nsx_page_check_head(db, table, no, page, &d, err) != NSX_OK)
		return NSX_ERR;
	return nsx_page_check_cover(db, table, page, &d, err);
}

/* ---- descending */

struct walk {
	struct nsx_db   *db;
	struct nsx_pager pager;
	const char      *table;
	struct nsx_tree *list;             /* the leaves are added to it; NULL: their pages are marked */
	bool             index;
	int              leaf_depth;       /* -1: no leaf was read yet */
	unsigned char   *levels;           /* the interior pages on the way down, MAX_DEPTH of them */
	struct nsx_err  *err;
};

static int
add_leaf(struct walk *k, uint32_t no, int64_t highest)
{
	if (!k->list)
		return NSX_OK;
	if (!nsx_vec_room(&k->list->leaves, 1))
		return nsx_err_nomem(k->err, k->db->path);
	struct nsx_leaf *leaf = &k->list->leaves.p[k->list->leaves.n++];
	leaf->highest = highest;
	leaf->page = no;
	atomic_init(&leaf->checked, 0);
	return NSX_OK;
}

static int visit(struct walk *k, uint32_t from, uint32_t no, int depth, const int64_t *above, int64_t highest);

/* The children of an interior page; for tables all rules are checked, for an index only its children are followed. */
static int
visit_children(struct walk *k, const unsigned char *page, const struct nsx_page_head *d, int depth,
               const int64_t *above, int64_t highest)
{
	uint32_t usable = k->db->usable;
	int64_t low = above ? *above : 0, key = 0;

	for (uint32_t i = 0; i <= d->cells; i++) {
		uint32_t at = i < d->cells ? nsx_be16(page + d->array + 2 * i) : 0;
		bool last = i == d->cells;

		if (!last && (at < d->content || at + 4 > usable || (!k->index && !nsx_interior_cell(page, usable, at,
		    &key))))
			return nsx_tree_broken(k->db, k->table, d->page, k->err, "cell %" PRIu32 " is not in the page",
			                       i);
		if (!last && !k->index && ((above && key <= low) || key > highest))
			return nsx_tree_broken(k->db, k->table, d->page, k->err, "rowid %" PRId64 " comes after %"
			                       PRId64 ", %" PRId64
			                       " is the highest", key, low, highest);
		if (visit(k, d->page, nsx_be32(last ? d->h + 8 : page + at), depth + 1, above, last ? highest : key) !=
		    NSX_OK)
			return NSX_ERR;
		low = key;
		above = &low;
	}
	return k->index ? NSX_OK : nsx_page_check_cover(k->db, k->table, page, d, k->err);
}

static int
visit(struct walk *k, uint32_t from, uint32_t no, int depth, const int64_t *above, int64_t highest)
{
	struct nsx_page_head d;

	/* Page 1 is a root only. */
	if (!k->list && (depth || no != 1) && use(k->db, k->table, from, no, k->err) != NSX_OK)
		return NSX_ERR;
	if (depth == k->leaf_depth)
		return add_leaf(k, no, highest);
	if (depth == MAX_DEPTH)
		return nsx_tree_broken(k->db, k->table, no, k->err, "too far below its root");
	const unsigned char *page = nsx_pager_page(&k->pager, k->table, no, 0, k->err);
	if (!page)
		return NSX_ERR;
	int type = page[no == 1 ? NSX_FILE_HEADER : 0];
	if (depth == 0)
		k->index = type == NSX_PAGE_INDEX_LEAF || type == NSX_PAGE_INDEX_INTERIOR;
	if (k->leaf_depth < 0 && type == (k->index ? NSX_PAGE_INDEX_LEAF : NSX_PAGE_LEAF)) {
		k->leaf_depth = depth;
		return add_leaf(k, no, highest);
	}
	if (type != (k->index ? NSX_PAGE_INDEX_INTERIOR : NSX_PAGE_INTERIOR))
		return nsx_tree_broken(k->db, k->table, no, k->err, "not a page of this table");
	page = memcpy(k->levels + (size_t)depth * k->db->page, page, k->db->page);
	if (nsx_page_check_head(k->db, k->table, no, page, &d, k->err) != NSX_OK)
		return NSX_ERR;
	return visit_children(k, page, &d, depth, above, highest);
}

/* Traverse a tree, to mark its pages or to list its leaves. */
static int
walk(struct nsx_db *db, const char *table, uint32_t root, struct nsx_tree *list, bool *index, struct nsx_err *err)
{
	struct walk k = { .db = db, .table = table, .list = list, .leaf_depth = -1, .err = err };

	if (!nsx_pager_open(&k.pager, db, db->trees->npages))
		return nsx_err_nomem(err, db->path);
	k.levels = malloc((size_t)MAX_DEPTH * db->page);
	int rc = k.levels ? visit(&k, 1, root, 0, NULL, INT64_MAX) : nsx_err_nomem(err, db->path);
	free(k.levels);
	nsx_pager_close(&k.pager);
	*index = k.index;
	return rc;
}

/* ---- leaves */

size_t
nsx_tree_find(const struct nsx_tree *t, int64_t lo)
{
	size_t a = 0, b = t->leaves.n;

	while (a < b) {
		size_t mid = a + (b - a) / 2;
		if (t->leaves.p[mid].highest < lo)
			a = mid + 1;
		else
			b = mid;
	}
	return a;
}

int
nsx_tree_leaf(struct nsx_pager *r, struct nsx_tree *t, size_t i, int64_t hi, struct nsx_leaf_page *out,
              struct nsx_err *err)
{
	struct nsx_leaf *leaf = &t->leaves.p[i];
	uint32_t ahead = 0, most = NSX_PAGER_BLOCK / r->db->page, no = leaf->page;
	struct nsx_page_head d;

	if (!nsx_pager_holds(r, no))
		while (ahead < most && i + ahead + 1 < t->leaves.n && leaf[ahead].highest < hi &&
		       leaf[ahead + 1].page == no + ahead + 1)
			ahead++;
	const unsigned char *page = nsx_pager_page(r, t->name, no, ahead, err);
	if (!page)
		return NSX_ERR;
	if (page[no == 1 ? NSX_FILE_HEADER : 0] != NSX_PAGE_LEAF)
		return nsx_tree_broken(r->db, t->name, no, err, "not a page of rows");
	if (nsx_page_check_head(r->db, t->name, no, page, &d, err) != NSX_OK)
		return NSX_ERR;
	if (d.cells == 0 && t->leaves.n > 1)
		return nsx_tree_broken(r->db, t->name, no, err, "no rows");
	bool packed = !nsx_be16(d.h + 1) && !d.h[7], chains = !atomic_exchange(&leaf->checked, 1);
	*out = (struct nsx_leaf_page){ page, page + d.array, d.cells, d.content, packed, chains };
	return NSX_OK;
}

int
nsx_tree_leaf_check(struct nsx_pager *r, struct nsx_tree *t, size_t i, const struct nsx_leaf_page *leaf,
                    struct nsx_err *err)
{
	const struct nsx_leaf *l = &t->leaves.p[i];

	return check_leaf(r, t->name, l->page, leaf, i ? &l[-1].highest : NULL, l->highest, err);
}

/* The rowid of cell i of a page that was checked. */
static int64_t
rowid_of(const struct nsx_db *db, const struct nsx_leaf_page *leaf, uint32_t i)
{
	uint64_t bytes;
	int64_t rowid = 0;

	nsx_leaf_cell(leaf->page, db->usable, nsx_be16(leaf->offsets + 2 * i), &bytes, &rowid);
	return rowid;
}

/* Is cell i a record of this table? If its types are not all in the page it is not checked. */
static bool
is_record(const struct nsx_db *db, uint32_t columns, const struct nsx_leaf_page *leaf, uint32_t i)
{
	const unsigned char *end = leaf->page + db->usable, *p = leaf->page + nsx_be16(leaf->offsets + 2 * i);
	uint64_t bytes, id, head;

	p = nsx_varint(nsx_varint(p, end, &bytes), end, &id);
	uint32_t local = nsx_local(db->usable, bytes);
	const unsigned char *types = nsx_varint(p, p + local, &head);
	if (!types || head > bytes || p + head < types)
		return false;
	return head > local || nsx_record_rest(types, p + head, bytes - head, 0, columns);
}

int
nsx_tree_check(struct nsx_db *db, struct nsx_tree *t, int64_t lo, int64_t hi, uint64_t *rows, struct nsx_err *err)
{
	struct nsx_pager r;
	uint64_t sum = 0;
	int rc = NSX_OK;

	if (!rows && atomic_load(&t->whole))
		return NSX_OK;
	if (!nsx_pager_open(&r, db, db->trees->npages))
		return nsx_err_nomem(err, db->path);
	for (size_t i = nsx_tree_find(t, lo); rc == NSX_OK && i < t->leaves.n &&
	     (!i || t->leaves.p[i - 1].highest < hi); i++) {
		struct nsx_leaf_page leaf;

		rc = nsx_tree_leaf(&r, t, i, hi, &leaf, err);
		if (rc == NSX_OK)
			rc = nsx_tree_leaf_check(&r, t, i, &leaf, err);
		for (uint32_t j = 0; rc == NSX_OK && j < leaf.cells; j++) {
			int64_t rowid = rowid_of(db, &leaf, j);
			sum += rowid >= lo && rowid <= hi;
			if (!is_record(db, atomic_load(&t->columns), &leaf, j))
				rc = nsx_tree_broken(db, t->name, t->leaves.p[i].page, err, "row %" PRId64
				                     " is not a record of this table", rowid);
		}
	}
	nsx_pager_close(&r);
	if (rc == NSX_OK && lo == INT64_MIN && hi == INT64_MAX)
		atomic_store(&t->whole, true);
	if (rows)
		*rows = sum;
	return rc;
}

int
nsx_tree_bounds(struct nsx_db *db, struct nsx_tree *t, int64_t *lo, int64_t *hi, struct nsx_err *err)
{
	struct nsx_pager r;
	int rc = NSX_OK;

	*lo = 1;
	*hi = 0;
	if (!nsx_pager_open(&r, db, db->trees->npages))
		return nsx_err_nomem(err, db->path);
	/* The lowest rowid of the first leaf and the highest one of the last leaf, after both are checked. */
	for (size_t i = 0; rc == NSX_OK && i < 2; i++) {
		size_t at = i ? t->leaves.n - 1 : 0;
		struct nsx_leaf_page leaf;

		rc = nsx_tree_leaf(&r, t, at, INT64_MIN, &leaf, err);
		if (rc == NSX_OK)
			rc = nsx_tree_leaf_check(&r, t, at, &leaf, err);
		if (rc == NSX_OK && leaf.cells)
			*(i ? hi : lo) = rowid_of(db, &leaf, i ? leaf.cells - 1 : 0);
	}
	nsx_pager_close(&r);
	return rc;
}

int
nsx_tree_of(struct nsx_db *db, const char *table, struct nsx_tree **out, struct nsx_err *err)
{
	uint32_t at = nsx_db_find(&db->tables, table);
	struct nsx_trees *all = db->trees;
	bool index;
	int rc = NSX_OK;

	*out = NULL;
	if (!all || at == NSX_NONE || !all->list.p[at].plain)
		return NSX_OK;
	struct nsx_tree *t = *out = &all->list.p[at];
	pthread_mutex_lock(&all->lock);
	if (!t->listed) {
		t->leaves.n = 0;
		rc = walk(db, t->name, t->root, t, &index, err);
		t->listed = rc == NSX_OK;
	}
	pthread_mutex_unlock(&all->lock);
	return rc;
}

/* ---- the whole database */

/* The list of free pages: none is in use elsewhere, and their number is that of the header. */
static int
check_free(struct nsx_db *db, const unsigned char *header, struct nsx_err *err)
{
	static const char name[] = "free pages";
	uint32_t trunk = nsx_be32(header + 32), from = 1;
	uint64_t n = 0, want = nsx_be32(header + 36);
	struct nsx_pager r;
	int rc = NSX_OK;

	if (!nsx_pager_open(&r, db, db->trees->npages))
		return nsx_err_nomem(err, db->path);
	while (rc == NSX_OK && trunk) {
		rc = use(db, name, from, trunk, err);
		const unsigned char *page = rc == NSX_OK ? nsx_pager_page(&r, name, trunk, 0, err) : NULL;
		uint32_t leaves = page ? nsx_be32(page + 4) : 0;

		if (!page)
			rc = NSX_ERR;
		else if (leaves > db->usable / 4 - 2)
			rc = nsx_tree_broken(db, name, trunk, err, "%" PRIu32 " pages are not on it", leaves);
		for (uint32_t i = 0; rc == NSX_OK && i < leaves; i++)
			rc = use(db, name, trunk, nsx_be32(page + 8 + 4 * i), err);
		n += 1 + (uint64_t)leaves;
		from = trunk;
		trunk = page ? nsx_be32(page) : 0;
	}
	nsx_pager_close(&r);
	if (rc == NSX_OK && n != want)
		rc = nsx_tree_broken(db, name, from, err, "%" PRIu64 " are listed, the header counts %" PRIu64, n,
		                     want);
	return rc;
}

/* sqlite_master, whose rows SQLite has read: it must have as many rows here. */
static int
check_schema(struct nsx_db *db, size_t nrows, struct nsx_err *err)
{
	static char name[] = "sqlite_master";
	struct nsx_tree t = { .name = name, .root = 1, .columns = 5 };
	uint64_t rows = 0;
	bool index;
	int rc = walk(db, name, 1, NULL, &index, err);

	if (rc == NSX_OK)
		rc = walk(db, name, 1, &t, &index, err);
	if (rc == NSX_OK && index)
		rc = nsx_tree_broken(db, name, 1, err, "not a table");
	if (rc == NSX_OK)
		rc = nsx_tree_check(db, &t, INT64_MIN, INT64_MAX, &rows, err);
	if (rc == NSX_OK && rows != nrows)
		rc = nsx_tree_broken(db, name, 1, err, "%zu of its %" PRIu64 " rows were read", nrows, rows);
	free(t.leaves.p);
	return rc;
}

/* Store the tree of an entry of sqlite_master, and mark its pages. */
static int
add_tree(struct nsx_db *db, const struct nsx_db_entry *e, struct nsx_err *err)
{
	struct nsx_tree t = { .root = e->root, .plain = e->root != 0 };
	char *name = nsx_str_dup(e->name);
	bool index = false;

	if (!name)
		return nsx_err_nomem(err, db->path);
	if (e->root == 1) {
		free(name);
		return nsx_tree_broken(db, "sqlite_master", 1, err, "it is the root of an entry");
	}
	int rc = e->root ? walk(db, name, e->root, NULL, &index, err) : NSX_OK;
	if (rc == NSX_OK && e->table) {
		t.name = name;
		t.plain &= !index;
		if (nsx_vec_push(&db->trees->list, t))
			return NSX_OK;
		rc = nsx_err_nomem(err, db->path);
	}
	free(name);
	return rc;
}

int
nsx_trees_open(struct nsx_db *db, const struct nsx_db_entry *entries, size_t n, struct nsx_err *err)
{
	struct nsx_trees *all = calloc(1, sizeof *all);
	struct stat st;

	if (!all)
		return nsx_err_nomem(err, db->path);
	pthread_mutex_init(&all->lock, NULL);
	db->trees = all;
	if (fstat(db->fd, &st) != 0)
		return nsx_err_set(err, "%s: %s", db->path, strerror(errno));
	uint64_t npages = (uint64_t)st.st_size / db->page;
	all->npages = npages < UINT32_MAX - 1 ? (uint32_t)npages : UINT32_MAX - 1;
	if (db->npages && db->npages < all->npages)
		all->npages = db->npages;
	all->used = calloc((size_t)all->npages / 64 + 1, sizeof *all->used);
	if (!all->used)
		return nsx_err_nomem(err, db->path);
	int rc = check_schema(db, n, err);
	/* In order of name to number, as nsx_db_list gives them. */
	for (size_t i = 0; rc == NSX_OK && i < n; i++)
		rc = add_tree(db, &entries[i], err);
	return rc == NSX_OK ? check_free(db, db->stamp.header, err) : rc;
}

uint32_t
nsx_trees_npages(const struct nsx_db *db)
{
	return db->trees->npages;
}

void
nsx_trees_close(struct nsx_db *db)
{
	struct nsx_trees *all = db->trees;

	if (!all)
		return;
	for (size_t i = 0; i < all->list.n; i++) {
		free(all->list.p[i].name);
		free(all->list.p[i].leaves.p);
	}
	free(all->list.p);
	free(all->used);
	pthread_mutex_destroy(&all->lock);
	free(all);
	db->trees = NULL;
}
