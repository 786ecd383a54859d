/* tree.h -- the b-trees of an export, checked against the rules of SQLite's file format as SQLite's own integrity check
 * does: every page belongs to one tree or to the list of free pages, once; rowids increase and stay within the limits
 * that the page above gives; every byte of a page belongs to one cell, one free block or the fragments that are
 * counted. SQLite itself continues after most violations of these rules, and returns fewer rows. Private to lib/nsys.
 *
 * Interior pages, one in some hundred, are read when the export is opened. Leaves are checked as their rows are
 * read. */
#ifndef NSX_NSYS_TREE_H
#define NSX_NSYS_TREE_H

#include <stdatomic.h>

#include "nsys/db.h"
#include "nsys/page_format.h"

/* A leaf of a table: its rowids are at most `highest`, and above those of the leaf before it. */
struct nsx_leaf {
	int64_t  highest;
	uint32_t page;
	_Atomic unsigned char checked;   /* its overflow pages were checked to belong to no other cell */
};

struct nsx_tree {
	char            *name;      /* of the table */
	uint32_t         root;
	bool             plain;     /* a table with rowids; false: only its interior pages are checked */
	_Atomic uint32_t columns;   /* maximum of a row; set by db.c, 0: not known yet */
	bool             listed;    /* leaves are listed */
	atomic_bool      whole;     /* all leaves were checked */
	NSX_VEC(struct nsx_leaf) leaves;
};

/* This many bytes after a page can be read too; their values do not matter. */
enum { NSX_PAGE_SLACK = 8, NSX_PAGER_BLOCK = 1 << 17 /* bytes read ahead at most */ };

/* Pages read ahead, one pager per thread. */
struct nsx_pager {
	const struct nsx_db *db;
	uint32_t       npages;
	unsigned char *block;
	uint32_t       first, held;    /* which pages */
	unsigned char *far;            /* one overflow page */
};

/* An entry of sqlite_master. */
struct nsx_db_entry { struct nsx_str name; uint32_t root; bool table; };

/* Traverse the trees of the database, whose sqlite_master has these entries; those of tables are in the order of
 * db->tables. NSX_OK, or NSX_ERR with err filled, also when one is not valid. */
int nsx_trees_open(struct nsx_db *db, const struct nsx_db_entry *entries, size_t n, struct nsx_err *err);
void nsx_trees_close(struct nsx_db *db);
uint32_t nsx_trees_npages(const struct nsx_db *db);   /* pages of the file */

/* The tree of a table with its leaves listed; NULL if nothing can be checked (the table has no rowids, or the
 * database was opened to be read by SQLite alone). NSX_OK or NSX_ERR. May be called from several threads. */
int nsx_tree_of(struct nsx_db *db, const char *table, struct nsx_tree **t, struct nsx_err *err);

/* Check the leaves that may hold rowids lo..hi, and their records; *rows, which may be NULL, is the number of such
 * rows. */
int nsx_tree_check(struct nsx_db *db, struct nsx_tree *t, int64_t lo, int64_t hi, uint64_t *rows, struct nsx_err *err);

/* The lowest and highest rowid; lo > hi if there are no rows. */
int nsx_tree_bounds(struct nsx_db *db, struct nsx_tree *t, int64_t *lo, int64_t *hi, struct nsx_err *err);

/* The index of the first leaf that may hold a rowid of at least lo. */
size_t nsx_tree_find(const struct nsx_tree *t, int64_t lo);

/* False when out of memory. */
bool nsx_pager_open(struct nsx_pager *r, const struct nsx_db *db, uint32_t npages);
void nsx_pager_close(struct nsx_pager *r);

/* Page `no`, which must exist in the file, and `ahead` more that are likely to be needed after it; NULL with err
 * filled. */
const unsigned char *nsx_pager_page(struct nsx_pager *r, const char *table, uint32_t no, uint32_t ahead,
                                    struct nsx_err *err);

static inline bool
nsx_pager_holds(const struct nsx_pager *r, uint32_t no)
{
	return no >= r->first && no - r->first < r->held;
}

/* A leaf during reading. */
struct nsx_leaf_page {
	const unsigned char *page, *offsets;   /* of cells */
	uint32_t             cells, content;   /* how many; where they begin */
	bool                 packed;           /* it has no free blocks and no fragments */
	bool                 chains;           /* its overflow pages have not been checked yet */
};

/* Leaf i's page, valid until the next call: its header has been checked, its cells have not. NSX_OK or NSX_ERR. Where
 * successive leaves are on successive pages, those for rowids up to hi are read together. */
int nsx_tree_leaf(struct nsx_pager *r, struct nsx_tree *t, size_t i, int64_t hi, struct nsx_leaf_page *leaf,
                  struct nsx_err *err);

/* Check leaf i against all rules. NSX_OK or NSX_ERR. */
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

/* ---- one page (page_rules.c) */

/* The header of a page, and offsets from the page's start. */
struct nsx_page_head { const unsigned char *h; uint32_t page, cells, content, array; };

/* Fill d from page `no`, whose type is known; the array of cells must end before the content. NSX_OK or NSX_ERR. */
int nsx_page_check_head(const struct nsx_db *db, const char *table, uint32_t no, const unsigned char *page,
                        struct nsx_page_head *d, struct nsx_err *err);

/* Check that each byte of the content belongs to one cell or one free block, and that the number of the other bytes is
 * the number of fragments that the page records. The cells are known to be complete. NSX_OK or NSX_ERR. */
int nsx_page_check_cover(const struct nsx_db *db, const char *table, const unsigned char *page,
                         const struct nsx_page_head *d, struct nsx_err *err);

#endif
