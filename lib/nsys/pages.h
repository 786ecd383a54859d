/* pages.h -- reads the tables of an export directly from SQLite's pages; private to lib/nsys. SQLite interprets a
 * program for each row, which costs several times as much as decoding the row. Its file format is public and fixed, and
 * plain tables of integers and text need a small part of it: that part is implemented here. Rows come in order of
 * rowid. */
#ifndef NSX_NSYS_PAGES_H
#define NSX_NSYS_PAGES_H

#include "nsys/db.h"

struct nsx_tree;

/* Properties of a table that are known before its pages are read. */
struct nsx_pages_table {
	bool     plain;          /* false: leave the table to SQLite */
	int      nstored;        /* columns of a record up to the last one needed */
	int8_t   slot[128];      /* for each of them the index of its value among the scan's columns, -1: not needed */
	int      rowid_slot;     /* -1: not needed */
	int      alias_slot;     /* of the column that is another name of the rowid; -1: not needed, or none */
};

/* Pass rows to scan->cells: NSX_OK, or NSX_ERR with err filled, also if pages are malformed. */
int nsx_pages_read(const struct nsx_db *db, struct nsx_tree *tree, const struct nsx_pages_table *t,
                   const struct nsx_db_scan *scan,
                   struct nsx_err *err);

#endif
