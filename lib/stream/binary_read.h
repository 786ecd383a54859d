/* binary_read.h -- the state of a reader of the binary encoding: binary_read.c reads blocks, binary_records.c returns
 * their records; private to lib/stream. */
#ifndef NSX_STREAM_BINARY_READ_H
#define NSX_STREAM_BINARY_READ_H

#include "base/worker.h"
#include "stream/binary_block.h"
#include "stream/codec.h"
#include "stream/run.h"

enum { NSX_BINARY_BATCH = 32 };

/* A declared kind. */
struct nsx_binary_kind {
	struct nsx_met    *met;       /* NULL: declared in this block, its header not reached yet */
	struct nsx_unread  message;   /* while met is NULL */
	bool               skip;      /* its records are not needed */
	struct nsx_run    *run;       /* if its records are passed on in runs, else NULL; */
	NSX_VEC(int64_t)   values, absent;   /* columns as those have them; one without values */
	const struct nsx_block_rows *in;   /* its records of this block */
	size_t             at;        /* the index of the next of them */
	bool               filled;
	size_t             passed;    /* of this block: its records in the runs so far */
	size_t             told;      /* and how many of in->c.picked are among them */
	/* Columns that have values, and their slots: the first nstrings are strings. */
	int                ncols, nstrings;
	struct nsx_binary_column { const uint64_t *from; uint8_t slot, col; bool dense; } way[NSX_MAX_COLS];
	uint64_t           has;       /* their slots */
	bool               straight;  /* column i goes to slot i */
	int                start, dur;   /* nsx_reader_times, of a kind that was met */
	int8_t             order[2];     /* nsx_order_slots */
	/* Records up to `ready` are assembled in v, `wide` apart, with their presence bits in is. */
	size_t             ready, wide;
	union nsx_val     *v;
	uint64_t           is[NSX_BINARY_BATCH];
};

struct nsx_binary {
	NSX_VEC(struct nsx_binary_kind) kinds;
	NSX_VEC(struct nsx_block_kind) declared;   /* the same */
	struct nsx_block_data data[2], *cur;       /* the block, and the one that is decoded ahead of it */
	size_t           run;         /* next of cur's runs */
	size_t           left;        /* records left of the current run */
	struct nsx_binary_kind *now;         /* its kind */
	size_t           taken;       /* bytes of the block in the window, consumed when all its records have been
	                               * returned */
	struct nsx_unread bytes;      /* the contents of the block */
	size_t           met;         /* kinds that were declared before it */
	int64_t          first;       /* records before it */
	int64_t          blocks;
	bool             all;         /* all columns of all kinds are needed */

	/* The next block, if it was given to the worker: its bytes are in the window. */
	struct nsx_worker *worker;
	enum { AHEAD_UNKNOWN, AHEAD_NEVER, AHEAD_IDLE, AHEAD_BEGUN } ahead;
	struct nsx_unread  next;
	size_t             next_taken;
	const char        *next_wrong;   /* nsx_block_decode's result */
	struct nsx_err     input;        /* reading it failed, unless empty */
};

/* Return the records of b->cur from here on. */
void nsx_binary_begin_records(struct nsx_binary *b);

/* Whether the block has another run of a kind that is needed, or has not been met: passes over those before it. */
static inline bool
nsx_binary_find_run(struct nsx_reader *r)
{
	struct nsx_binary *b = r->state;
	const struct nsx_block_data *d = b->cur;
	size_t run = b->run;
	int64_t passed = 0;

	for (; run < d->order_kinds.n; run++) {
		const struct nsx_binary_kind *k = &b->kinds.p[d->order_kinds.p[run]];

		if (!k->skip || !k->met)
			break;
		passed += (int64_t)d->order_counts.p[run];
	}
	r->records += passed;
	b->run = run;
	return run < d->order_kinds.n;
}

/* The next of the block's runs, whose records are of kind k, which was met: those that are not needed are passed over.
 * NSX_OK, or NSX_ERR (out of memory). */
int nsx_binary_begin_run(struct nsx_reader *r, struct nsx_binary_kind *k);

/* Assemble the next records, column by column: false when out of memory. */
bool nsx_binary_assemble(struct nsx_binary *b, struct nsx_binary_kind *k);

/* Pass on what is left of a run of a kind that has a k->run. NSX_OK or NSX_ERR. */
int nsx_binary_pass_run(struct nsx_reader *r, struct nsx_binary_kind *k);

#endif
