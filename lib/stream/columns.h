/* columns.h -- the records of one kind in one binary block, decoded column by column; private to lib/stream. */
#ifndef NSX_STREAM_COLUMNS_H
#define NSX_STREAM_COLUMNS_H

#include "stream/binary.h"
#include "stream/values.h"
#include "stream/wire.h"

/* The properties of a declared kind that decoding needs. */
struct nsx_heads { int ncols; char type[NSX_MAX_COLS]; };

/* Decoded columns, by position in the header. */
struct nsx_columns {
	size_t    n;                       /* records */
	const uint32_t *picked;            /* those that are needed, npicked in order; NULL: all are */
	size_t    npicked;
	uint64_t  dense;                   /* bit i: column i has values of these alone, one after the other */
	uint64_t  all;                     /* bit i: column i has a value in every needed record */
	uint64_t *has;                     /* per record, beside `all`; NULL: `all` holds for every record */
	uint64_t *v[NSX_MAX_COLS];         /* NULL if no needed record has the column; 0 where absent; strings as
	                                    * indices */
};

/* Memory that is reused for every block: n numbers used of cap; {0} is empty. */
struct nsx_pool { uint64_t *p; size_t n, cap; };

/* The maximum of numbers that decoding s allocates from the pool; SIZE_MAX if s is damaged. */
size_t nsx_columns_need(struct nsx_unread s, size_t rows);

/* The data of the records that are known before decoding. */
struct nsx_rows {
	const struct nsx_heads *heads;
	size_t   n;          /* number according to the order */
	size_t   strings;    /* how many the block has */
	uint64_t wanted;     /* bit i: column i is needed; others are decoded if these refer to them */
	int      value;      /* the column without which a record is not needed; -1: none, from ncols on: all lack it */
	bool     check;      /* whether those that are not needed are checked as if they were; strings are decoded */
};

/* Decode a Records message: NULL, or what is wrong with it. pool: must have the capacity that nsx_columns_need
 * returned. */
const char *nsx_columns_decode(struct nsx_columns *c, struct nsx_unread s, const struct nsx_rows *rows,
                               struct nsx_pool *pool);

/* ---- between columns.c and columns_check.c */

/* The records of a kind in a block while they are decoded (columns.c). */
struct nsx_decoding {
	struct nsx_columns     *c;
	const struct nsx_heads *k;
	size_t                  rows, strings;
	struct nsx_values       values[NSX_MAX_COLS];
	size_t                  nvalues;
	struct nsx_pool        *pool;
	struct nsx_unread         keys[NSX_MAX_KEYS];
	int32_t                *prev[NSX_MAX_KEYS];   /* computed when first used */
	size_t                  nkeys;
	uint64_t                partial;              /* columns that some records lack */
	uint64_t                sound;                /* columns decoded or checked so far */
	uint64_t                bases;                /* columns that others, which are decoded, refer to */
	struct nsx_unread       pick;                 /* presence runs of the needed records, if there are others */
};

/* Check what decoding checks, for a column that is not of strings and whose values are not needed: NULL, or what is
 * wrong. */
const char *nsx_columns_check(const struct nsx_decoding *d, const struct nsx_values *s);

#endif
