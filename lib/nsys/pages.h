/* pages.h -- an export's tables read straight from SQLite's pages; private to lib/nsys.
 * SQLite interprets a program for each row, which costs several times what the row itself does. Its file format is
 * public and fixed, and plain tables of integers and text need little of it: that little is read here, in order of
 * rowid. */
#ifndef NSX_NSYS_PAGES_H
#define NSX_NSYS_PAGES_H

#include "nsys/db.h"

struct nsx_tree;

/* What is known of a table before its pages are read. */
struct nsx_pages_table {
	bool     plain;          /* false: leave the table to SQLite */
	int      nstored;        /* columns of a record up to the last one needed */
	int8_t   slot[128];      /* for each of them where its value goes among the scan's columns, -1: nowhere */
	int      rowid_slot;     /* -1: not asked for */
};

/* Give rows to scan->cells: NSX_OK, or NSX_ERR with err filled, also where pages are not what they should be. */
int nsx_pages_read(const struct nsx_db *db, struct nsx_tree *tree, const struct nsx_pages_table *t,
                   const struct nsx_db_scan *scan,
                   struct nsx_err *err);

#endif
