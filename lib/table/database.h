/* database.h -- a stream as an SQLite database, for programs that speak SQL.
 *
 * A kind K with columns is a table K_raw, a row a record in the order of the stream, whose columns of text hold numbers
 * of the table string(id, text); and a view K that has the text itself. The table "column"(kind, "column", type, unit,
 * meaning) describes them. An absent value is NULL. */
#ifndef NSX_TABLE_DATABASE_H
#define NSX_TABLE_DATABASE_H

#include "base/err.h"
#include "stream/reader.h"

struct nsx_database_options {
	const char *kinds;     /* only these, separated by commas; NULL: all */
	const char *require;   /* a kind that must have a record; NULL: none */
	const char *index;     /* KIND.COLUMN, separated by commas: columns that get an index; NULL: none */
};

/* Write every record of `in` to the database at path: a file that exists is replaced once the new one is complete; a
 * pipe or a device is refused. *rows: how many records that were. NSX_OK, or NSX_ERR with err, that of `in`, filled,
 * and nothing written. A kind of `index` that the stream does not have, or a column that the kind does not have, is an
 * error. */
int nsx_database_write(struct nsx_reader *in, const char *path, const struct nsx_database_options *o, int64_t *rows,
                       struct nsx_err *err);

#endif
