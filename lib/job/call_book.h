/* call_book.h -- the CUDA calls whose operations have not all been read: a call precedes its operations in the stream,
 * and is kept until as many operations as it launched have been read. Memory holds the calls in flight, and calls some
 * of whose operations a filter removed. */
#ifndef NSX_JOB_CALL_BOOK_H
#define NSX_JOB_CALL_BOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "stream/kinds.h"
#include "stream/reader.h"

/* `mark` belongs to the caller, NSX_NONE at first. */
struct nsx_call_entry {
	int64_t  profile, id;
	int64_t  left;               /* operations not yet read; INT64_MAX before the record of the call */
	int64_t  early;              /* operations that came before the record: the clocks of GPU and host disagree */
	int64_t  stalled, loading;   /* ns; 0 if unknown */
	uint32_t name;               /* in nsx_call_book.names; NSX_NONE: none, or no `call` record came before it */
	uint32_t mark;
	uint32_t place;              /* index in nsx_call_book.list: unique among the calls that are kept */
};

/* {0} is empty. */
struct nsx_call_book {
	struct nsx_intern names;
	NSX_VEC(struct nsx_call_entry) list;
	NSX_VEC(uint32_t) unused;    /* unused indices of list */
	struct nsx_map at;           /* (profile, id) -> list */
	int64_t records;             /* number of call records */
	struct nsx_map losses;       /* profiles with calls of which stalled or loading is known */
};

/* Whether the time that calls of a profile lose is known, if there was any: of some call read so far it is. */
static inline bool
nsx_call_book_knows(const struct nsx_call_book *b, int64_t profile)
{
	return nsx_map_get(&b->losses, (struct nsx_key){ (uint64_t)profile, 0 }) != NSX_NONE;
}

/* Declare to a reader what the book uses of calls, and of the operations that are looked up in it. */
void nsx_call_book_need(struct nsx_reader *in);

/* Add a `call` record. If operations came before it, *entry is its entry (early > 0; if left is 0 it has been removed
 * already); else its early is 0. NSX_OK, or NSX_ERR (out of memory). */
int nsx_call_book_add(struct nsx_call_book *b, const struct nsx_rec *call, struct nsx_call_entry *entry,
                      struct nsx_err *err);

/* The call that launched an operation, created if it is new; NULL if op refers to none (*rc NSX_OK) or when out of
 * memory (*rc NSX_ERR). Valid until the next call of this book's functions. */
struct nsx_call_entry *nsx_call_book_of(struct nsx_call_book *b, const struct nsx_rec *op, int *rc,
                                        struct nsx_err *err);

/* Count the operation as processed: true if it was the last of its call, which is then removed, with its entry in
 * *gone. */
bool nsx_call_book_done(struct nsx_call_book *b, struct nsx_call_entry *c, struct nsx_call_entry *gone);

void nsx_call_book_free(struct nsx_call_book *b);

#endif
