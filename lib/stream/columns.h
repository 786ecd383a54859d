/* columns.h -- the records of one kind in one binary block, decoded column by column; private to lib/stream. */
#ifndef NSX_STREAM_COLUMNS_H
#define NSX_STREAM_COLUMNS_H

#include "stream/binary.h"
#include "stream/wire.h"

/* A kind as the stream declares it: what decoding needs of it. */
struct nsx_heads { int ncols; char type[NSX_MAX_COLS]; };

/* Decoded columns, by place in the header. */
struct nsx_columns {
	size_t    n;                       /* records */
	uint64_t  all;                     /* bit i: column i has a value in every record */
	uint64_t *has;                     /* per record; NULL if `all` says it of every one */
	uint64_t *v[NSX_MAX_COLS];         /* NULL where no record has the column; 0 where absent; strings as places */
};

/* Memory that is kept from block to block: n numbers taken of cap; {0} is empty. */
struct nsx_pool { uint64_t *p; size_t n, cap; };

/* Numbers that decoding s takes out of the pool, at most; SIZE_MAX if s is damaged. */
size_t nsx_columns_need(struct nsx_unread s, size_t rows);

/* What is known of the records before they are decoded. */
struct nsx_rows {
	const struct nsx_heads *heads;
	size_t   n;          /* how many the order says */
	size_t   strings;    /* how many the block has */
	uint64_t wanted;     /* bit i: column i is asked for; others are decoded where these rest on them */
	bool     check;      /* whether those that are not decoded have as many values as records */
};

/* Decode a Records message: NULL, or what is wrong with it. pool: has room for what nsx_columns_need said. */
const char *nsx_columns_decode(struct nsx_columns *c, struct nsx_unread s, const struct nsx_rows *rows,
                               struct nsx_pool *pool);

#endif
