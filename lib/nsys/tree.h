/* tree.h -- the b-trees of an export, held to the rules of SQLite's file format as SQLite's own integrity check holds
 * them: every page belongs to one tree or to the list of free pages, once; rowids rise and stay within what the page
 * above says of them; every byte of a page belongs to one cell, one free block or the fragments that are counted.
 * SQLite itself reads on over most breaches of these rules, and gives fewer rows. Private to lib/nsys.
 *
 * Interior pages, one in some hundred, are read when the export is opened. Leaves are checked as their rows are
 * read. */
#ifndef NSX_NSYS_TREE_H
#define NSX_NSYS_TREE_H

#include <stdatomic.h>
#include <string.h>

#include "nsys/db.h"

/* A leaf of a table: its rowids are at most `highest`, and above the highest of the leaf before it. */
struct nsx_leaf {
	int64_t  highest;
	uint32_t page;
	_Atomic unsigned char checked;   /* someone saw to it that its overflow pages are no one else's */
};

struct nsx_tree {
	char            *name;      /* of the table */
	uint32_t         root;
	bool             plain;     /* a table with rowids; false: nothing of it is checked but its interior pages */
	_Atomic uint32_t columns;   /* a row stores at most; set by db.c, 0: not known yet */
	bool             listed;    /* leaves are */
	atomic_bool      whole;     /* all leaves were checked */
	NSX_VEC(struct nsx_leaf) leaves;
};

/* So many bytes after a page can be read, too, whatever they are. */
enum { NSX_PAGE_SLACK = 8, NSX_PAGER_BLOCK = 1 << 17 /* bytes read ahead at most */ };

/* Pages read ahead, one reader a thread. */
struct nsx_pager {
	const struct nsx_db *db;
	uint32_t       npages;
	unsigned char *block;
	uint32_t       first, held;    /* which pages */
	unsigned char *far;            /* one overflow page */
};

/* An entry of sqlite_master. */
struct nsx_db_entry { struct nsx_str name; uint32_t root; bool table; };

/* Walk the trees of the database, whose sqlite_master has these entries; those of tables are in the order of
 * db->tables. NSX_OK, or NSX_ERR with err filled, also when one is not sound. */
int nsx_trees_open(struct nsx_db *db, const struct nsx_db_entry *entries, size_t n, struct nsx_err *err);
void nsx_trees_close(struct nsx_db *db);
uint32_t nsx_trees_npages(const struct nsx_db *db);   /* pages of the file */

/* The tree of a table with its leaves listed; NULL where nothing can be checked (the table has no rowids, or the
 * database was opened to be read by SQLite alone). NSX_OK or NSX_ERR. May be called from several threads. */
int nsx_tree_of(struct nsx_db *db, const char *table, struct nsx_tree **t, struct nsx_err *err);

/* Check the leaves that may hold rowids lo..hi, and their records; how many such rows there are in *rows, which may be
 * NULL. */
int nsx_tree_check(struct nsx_db *db, struct nsx_tree *t, int64_t lo, int64_t hi, uint64_t *rows, struct nsx_err *err);

/* The lowest and highest rowid; lo > hi if there are no rows. */
int nsx_tree_bounds(struct nsx_db *db, struct nsx_tree *t, int64_t *lo, int64_t *hi, struct nsx_err *err);

/* The number of the first leaf that may hold rowid lo or one above it. */
size_t nsx_tree_find(const struct nsx_tree *t, int64_t lo);

/* False when out of memory. */
bool nsx_pager_open(struct nsx_pager *r, const struct nsx_db *db, uint32_t npages);
void nsx_pager_close(struct nsx_pager *r);

/* Page `no`, which is one of the file, and `ahead` more that are likely to be wanted after it; NULL with err filled. */
const unsigned char *nsx_pager_page(struct nsx_pager *r, const char *table, uint32_t no, uint32_t ahead,
                                    struct nsx_err *err);

static inline bool
nsx_pager_holds(const struct nsx_pager *r, uint32_t no)
{
	return no >= r->first && no - r->first < r->held;
}

/* A leaf that is being read. */
struct nsx_leaf_page {
	const unsigned char *page, *offsets;   /* of cells */
	uint32_t             cells, content;   /* how many; where they begin */
	bool                 packed;           /* no free blocks and no fragments are in it */
	bool                 chains;           /* no one has checked its overflow pages yet */
};

/* Leaf i's page, valid until the next call: its header is sound, of its cells nothing is known. NSX_OK or NSX_ERR.
 * Where runs of leaves lie on pages one after the other, those for rowids up to hi are read together. */
int nsx_tree_leaf(struct nsx_pager *r, struct nsx_tree *t, size_t i, int64_t hi, struct nsx_leaf_page *leaf,
                  struct nsx_err *err);

/* Hold leaf i to all rules. NSX_OK or NSX_ERR. */
int nsx_tree_leaf_check(struct nsx_pager *r, struct nsx_tree *t, size_t i, const struct nsx_leaf_page *leaf,
                        struct nsx_err *err);

/* Overflow page `no` of a cell that was checked: its content (usable bytes less 4), the next page's number in *next.
 * NULL with err filled. Valid until the next call. */
const unsigned char *nsx_pager_far(struct nsx_pager *r, const char *table, uint32_t no, uint32_t *next,
                                   struct nsx_err *err);

/* Fill err: this page of this table breaks a rule. Always NSX_ERR. */
int nsx_tree_broken(const struct nsx_db *db, const char *table, uint32_t page, struct nsx_err *err, const char *fmt,
                    ...)
	NSX_PRINTF(5, 6);

static inline uint32_t
nsx_be16(const unsigned char *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static inline uint32_t
nsx_be32(const unsigned char *p)
{
	return nsx_be16(p) << 16 | nsx_be16(p + 2);
}

/* A varint that begins before end; what follows it, NULL if it does not end in time. */
static inline const unsigned char *
nsx_varint(const unsigned char *p, const unsigned char *end, uint64_t *v)
{
	if (p < end && *p < 0x80) {
		*v = *p;
		return p + 1;
	}
	*v = 0;
	for (int i = 0; i < 8; i++, p++) {
		if (p >= end)
			return NULL;
		*v = *v << 7 | (*p & 0x7f);
		if (*p < 0x80)
			return p + 1;
	}
	if (p >= end)
		return NULL;
	*v = *v << 8 | *p;
	return p + 1;
}

/* Bytes of a value of this type; the types 10 and 11 are in no file. */
static inline uint64_t
nsx_value_size(uint64_t type)
{
	static const uint8_t sizes[12] = { 0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0 };

	return type < 12 ? sizes[type] : (type - 12) / 2;
}

/* Hold a record's remaining types, `have` were before them, against the bytes that are there for their values and the
 * columns that the table has: they take all of them. */
static inline bool
nsx_record_rest(const unsigned char *types, const unsigned char *end, uint64_t bytes, uint32_t have, uint32_t columns)
{
	uint64_t taken = 0, type;

	/* Eight columns that are NULL, as those after the last of interest often are. */
	for (uint64_t eight; end - types >= 8 && (memcpy(&eight, types, 8), eight == 0); types += 8)
		have += 8;
	for (; types < end; have++) {
		if (*types < 0x80) {
			taken += nsx_value_size(*types++);
			continue;
		}
		types = nsx_varint(types, end, &type);
		if (!types || (type - 12) / 2 > bytes)
			return false;
		taken += (type - 12) / 2;
	}
	return taken == bytes && have <= columns;
}

/* The most that a payload of a leaf may have without going on elsewhere. */
static inline uint32_t
nsx_most_local(uint32_t usable)
{
	return usable - 35;
}

/* Of a payload of so many bytes in a leaf, how many are in the cell. */
static inline uint32_t
nsx_local(uint32_t usable, uint64_t bytes)
{
	if (bytes <= nsx_most_local(usable))
		return (uint32_t)bytes;
	uint32_t least = (usable - 12) * 32 / 255 - 23;
	uint32_t k = least + (uint32_t)((bytes - least) % (usable - 4));

	return k <= nsx_most_local(usable) ? k : least;
}

#endif
