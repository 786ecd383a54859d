/* backlog.c -- see backlog.h. A block waits as records of a kind of its own: its size and kinds, then its bytes in
 * pieces. */
#include "stream/backlog.h"

#include <stdlib.h>

#include "stream/codec.h"
#include "stream/spill.h"

enum { BLOCK_SIZE, BLOCK_ROWS, BLOCK_MET, BLOCK_DECLARED, BLOCK_PIECE, BLOCK_COLUMNS, PIECE_BYTES = 1 << 20 };
static const struct nsx_col block_columns[BLOCK_COLUMNS] = {
	{ "size", 'i', NULL, NULL }, { "rows", 'i', NULL, NULL }, { "met", 'i', NULL, NULL },
	{ "declared", 'i', NULL, NULL }, { "piece", 's', NULL, NULL }
};
static const struct nsx_kind block_kind = {
	.id = NSX_NKINDS, .name = "block", .nslots = BLOCK_COLUMNS, .cols = block_columns, .ncols = BLOCK_COLUMNS,
	.order = { 0, 1, 2, 3, 4 }
};

struct nsx_backlog {
	struct nsx_reader *in;
	struct nsx_err    *err;
	struct nsx_hold   *blocks;   /* NULL: not begun */
	bool               again;    /* the current block waits */
	int64_t            end;      /* records of the stream up to the end of the block that was read last */
	struct nsx_buf     bytes;    /* of the block that is read again, */
	size_t             left;     /* and how many of its records are */
};

struct nsx_backlog *
nsx_backlog_new(struct nsx_reader *in, struct nsx_err *err)
{
	struct nsx_backlog *b = calloc(1, sizeof *b);

	if (!b) {
		nsx_err_nomem(err, NULL);
		return NULL;
	}
	b->in = in;
	b->err = err;
	return b;
}

void
nsx_backlog_free(struct nsx_backlog *b)
{
	if (!b)
		return;
	nsx_hold_free(b->blocks);
	nsx_buf_free(&b->bytes);
	free(b);
}

int
nsx_backlog_begin(struct nsx_backlog *b, const uint64_t columns[NSX_NKINDS + 1], size_t hold_bytes)
{
	if (b->in->dec != &nsx_binary_decoder)
		return NSX_OK;
	nsx_look(b->in, NULL, columns);
	b->end = nsx_binary_block(b->in).first + (int64_t)nsx_binary_block(b->in).rows;
	b->blocks = nsx_hold_new(hold_bytes, b->err);
	return b->blocks ? NSX_OK : NSX_ERR;
}

/* Keep the block of which the first record was read. */
static int
keep(struct nsx_backlog *b)
{
	struct nsx_block block = nsx_binary_block(b->in);
	struct nsx_str bytes = block.contents;
	union nsx_val v[BLOCK_COLUMNS] = { { .i = (int64_t)bytes.len }, { .i = (int64_t)block.rows },
		{ .i = (int64_t)block.met }, { .i = (int64_t)block.declared } };
	struct nsx_rec rec = { &block_kind, (1ULL << BLOCK_COLUMNS) - 1, v };

	b->end = block.first + (int64_t)block.rows;
	while (bytes.len) {
		v[BLOCK_PIECE].s = (struct nsx_str){ bytes.ptr, bytes.len < PIECE_BYTES ? bytes.len : PIECE_BYTES };
		if (nsx_hold_push(b->blocks, &rec) != NSX_OK)
			return NSX_ERR;
		bytes.ptr += v[BLOCK_PIECE].s.len;
		bytes.len -= v[BLOCK_PIECE].s.len;
		rec.has = 1ULL << BLOCK_PIECE;
	}
	return NSX_OK;
}

int
nsx_backlog_read(struct nsx_backlog *b, struct nsx_rec *rec, bool *again)
{
	int rc = nsx_read(b->in, rec);

	if (rc == NSX_OK && b->blocks && b->in->records > b->end) {
		b->again = true;
		rc = keep(b);
	}
	*again = b->again;
	return rc;
}

static int
lost(struct nsx_backlog *b)
{
	return nsx_err_set(b->err, "a temporary file holds too few blocks");
}

/* Decode the next block. */
static int
next_block(struct nsx_backlog *b)
{
	struct nsx_rec rec;
	int rc = nsx_hold_pop(b->blocks, &rec);

	if (rc != NSX_OK)
		return rc;
	size_t size = (size_t)rec.v[BLOCK_SIZE].i, met = (size_t)rec.v[BLOCK_MET].i,
	    declared = (size_t)rec.v[BLOCK_DECLARED].i;
	b->left = (size_t)rec.v[BLOCK_ROWS].i;
	b->bytes.len = 0;
	for (;;) {
		nsx_buf_str(&b->bytes, rec.v[BLOCK_PIECE].s);
		if (b->bytes.failed)
			return nsx_err_nomem(b->err, NULL);
		if (b->bytes.len >= size)
			return nsx_binary_replay(b->in, nsx_buf_view(&b->bytes), met, declared);
		if ((rc = nsx_hold_pop(b->blocks, &rec)) != NSX_OK)
			return rc == NSX_EOF ? lost(b) : NSX_ERR;
	}
}

int
nsx_backlog_again(struct nsx_backlog *b, struct nsx_rec *rec)
{
	int rc = NSX_OK;

	while (!b->left && rc == NSX_OK)
		rc = b->blocks ? next_block(b) : NSX_EOF;
	if (rc != NSX_OK)
		return rc;
	b->left--;
	return b->in->dec->next(b->in, rec);
}
