/* pages.h -- an export's tables read straight from SQLite's pages; private to lib/nsys.
 * SQLite interprets a program for each row, which costs several times what the row itself does. Its file format is public and
 * fixed, and plain tables of integers and text need little of it: that little is read here, in order of rowid. Whatever is not
 * understood at sight is left to SQLite, which reads it, or says what is wrong with it. */
#ifndef NSX_NSYS_PAGES_H
#define NSX_NSYS_PAGES_H

#include "nsys/db.h"

/* What is known of a table before its pages are read. */
struct nsx_pages_table {
	uint32_t root;           /* page; 0: leave the table to SQLite */
	int      nstored;        /* columns of a record up to the last one needed */
	int8_t   slot[128];      /* for each of them where its value goes among the scan's columns, -1: nowhere */
	int      rowid_slot;     /* -1: not asked for */
};

/* How far a walk came. */
struct nsx_pages_walk {
	int64_t lo, hi;          /* rowids wanted; on return lo is the first that was not given */
	bool    done;            /* all were */
	bool    single;          /* leave only row lo to SQLite, then go on */
	bool    failed;          /* the row function said so */
};

/* Give rows to scan->cells until all are given, or something is to be left to SQLite. False when out of memory. */
bool nsx_pages_read(const struct nsx_db *db, const struct nsx_pages_table *t, const struct nsx_db_scan *scan, struct nsx_pages_walk *w);

#endif
