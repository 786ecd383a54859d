/* database_library.h -- the functions of libsqlite3 that write a database; private to lib/table. The library is loaded
 * when the first one is written: a tool that only may write one would start several times as slowly with it. */
#ifndef NSX_TABLE_DATABASE_LIBRARY_H
#define NSX_TABLE_DATABASE_LIBRARY_H

#include <sqlite3.h>

#include "base/err.h"

#define NSX_SQLITE_FUNCTIONS(X) \
	X(open_v2) X(close) X(exec) X(errmsg) X(prepare_v2) X(step) X(reset) X(finalize) \
	X(bind_null) X(bind_int64) X(bind_double) X(bind_text) X(bind_text64)

/* Each by its name without sqlite3_. {0} is not loaded. */
struct nsx_sqlite {
#define X(name) __typeof__(sqlite3_##name) *name;
	NSX_SQLITE_FUNCTIONS(X)
#undef X
};

/* NSX_OK, or NSX_ERR with err filled: there is no libsqlite3, or it lacks a function. It stays loaded. */
int nsx_sqlite_load(struct nsx_sqlite *l, struct nsx_err *err);

#endif
