/* pass_column.h -- one column of a kind replaced in the bytes of a binary block; all others are copied; private to
 * lib/stream. */
#ifndef NSX_STREAM_PASS_COLUMN_H
#define NSX_STREAM_PASS_COLUMN_H

#include "base/str.h"
#include "base/vec.h"
#include "stream/kinds.h"

/* The value of one record of a kind in a block. */
struct nsx_new_value { size_t row; int64_t value; };

/* The new values of a column of integers: those in cells, in order of rows, and `otherwise` in all other records of the
 * kind; NSX_ABSENT: none. */
struct nsx_new_column {
	uint64_t kind;        /* its number in the stream */
	unsigned column;      /* position in its header */
	int64_t  otherwise;
	size_t   rows;        /* records of the kind in the block */
	NSX_VEC(struct nsx_new_value) cells;
};

/* Memory that is reused for every block; {0} is empty. */
struct nsx_replacer {
	NSX_VEC(uint64_t) values, counts, presence;
	struct nsx_buf    column, records, list, block;
};

/* Whether the column can be replaced: no other column of the kind refers to it. message: a block with tag and length
 * that a reader has checked. */
bool nsx_column_is_free(struct nsx_str message, uint64_t kind, unsigned column);

/* The block with those columns, as tag, length and bytes: it belongs to r and is valid until the next call. False when
 * out of memory, or if the block is damaged. */
bool nsx_columns_replace(struct nsx_replacer *r, struct nsx_str message, const struct nsx_new_column *columns, size_t n,
                         struct nsx_str *out);

void nsx_replacer_free(struct nsx_replacer *r);

#endif
