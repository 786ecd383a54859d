/* view.h -- queries of views, which an export may have instead of tables. Private to lib/nsys. */
#ifndef NSX_NSYS_VIEW_H
#define NSX_NSYS_VIEW_H

#include "nsys/db.h"

/* Run a query of the view on c, which counts the rows. The view may read tables, which are checked like those that are
 * read directly, and do nothing else. The query is stopped if it returns more rows, or takes more steps or more memory,
 * than filtering, joining by key or concatenating all tables of a file of this size could need: a join without a
 * condition would run for days. NSX_OK, or NSX_ERR with err filled. */
int nsx_view_run(struct nsx_db *db, struct nsx_db_conn *c, const char *view, const char *query, struct nsx_err *err);

#endif
