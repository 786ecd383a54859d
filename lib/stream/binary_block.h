/* binary_block.h -- one block of a binary stream, decoded; private to lib/stream. Nothing of it refers to the stream
 * or its reader, so a block can be decoded while the records of the one before are returned. */
#ifndef NSX_STREAM_BINARY_BLOCK_H
#define NSX_STREAM_BINARY_BLOCK_H

#include "base/str.h"
#include "base/vec.h"
#include "stream/columns.h"
#include "stream/strings.h"

/* The properties of a declared kind that decoding needs. */
struct nsx_block_kind {
	struct nsx_heads heads;
	bool     skip;      /* its records are not needed */
	bool     compare;   /* its strings are compared, and assembled when they are asked for */
	uint64_t wanted;    /* columns of its header that are needed */
	int      value;     /* column without which its records are not needed, -1: none (nsx_reader_value) */
	uint64_t look;      /* columns that are needed in a block that is looked at */
};

/* The records of a kind in a block. */
struct nsx_block_rows {
	size_t   n;
	bool     read;      /* their message has been found */
	uint64_t now;       /* columns that are needed */
	struct nsx_columns c;
};

struct nsx_list { uint64_t *p; size_t n, cap; };

/* A decoded block. Its memory is reused for the next one; {0} is empty. */
struct nsx_block_data {
	size_t rows;                                /* records */
	bool   looked;                              /* decoded only as far as `look` requires */
	struct nsx_list order_kinds, order_counts;
	NSX_VEC(struct nsx_block_rows) kinds;       /* as many as are declared */
	struct nsx_strings strings;
	bool   compared;                            /* some of them are */
	struct nsx_pool    pool;
};

struct nsx_head;   /* stream/codec.h */

/* A Kind message: its name and *n columns, which refer to s; cols has space for NSX_MAX_COLS. False if it is
 * damaged. */
bool nsx_block_read_kind(struct nsx_unread s, struct nsx_str *name, struct nsx_head *cols, size_t *n);

/* Decode a block: bytes is its message, which is not used after that. kinds: the n that are declared, those from `met`
 * on by this block, in the order in which their first records come. looked: only as far as `look` requires, with all
 * else checked. all: assemble all strings. NULL, or what is damaged; "" when out of memory. */
const char *nsx_block_decode(struct nsx_block_data *d, struct nsx_unread bytes, const struct nsx_block_kind *kinds,
                             size_t n, size_t met, bool looked, bool all);

void nsx_block_data_free(struct nsx_block_data *d);

#endif
