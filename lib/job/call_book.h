/* call_book.h -- the CUDA calls of which operations are still to come: a call precedes in the stream what it launched,
 * and is remembered until as many operations as it launched have come. What is held are the calls on their way, and
 * those of which a filter took operations. */
#ifndef NSX_JOB_CALL_BOOK_H
#define NSX_JOB_CALL_BOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "stream/kinds.h"
#include "stream/reader.h"

/* `mark` is the caller's, NSX_NONE at first. */
struct nsx_call_entry {
	int64_t  profile, id;
	int64_t  left;               /* operations still to come; INT64_MAX before its record has come */
	int64_t  early;              /* operations that came before its record: the clocks of GPU and host disagree */
	int64_t  stalled, loading;   /* ns; 0 where not known */
	uint32_t name;               /* in nsx_call_book.names; NSX_NONE: none, or no `call` record came before it */
	uint32_t mark;
	uint32_t place;              /* in nsx_call_book.list: no two calls that are remembered share one */
};

/* {0} is empty. */
struct nsx_call_book {
	struct nsx_intern names;
	NSX_VEC(struct nsx_call_entry) list;
	NSX_VEC(uint32_t) unused;    /* places in list */
	struct nsx_map at;           /* (profile, id) -> list */
	int64_t records;             /* call records met */
};

/* Tell a reader what the book uses of calls, and of the operations that are looked up in it. */
void nsx_call_book_need(struct nsx_reader *in);

/* Take in a `call` record. *entry is what is known of it now, where operations came before it (early > 0; if left is 0
 * it is forgotten already); else its early is 0. NSX_OK, or NSX_ERR (out of memory). */
int nsx_call_book_add(struct nsx_call_book *b, const struct nsx_rec *call, struct nsx_call_entry *entry,
                      struct nsx_err *err);

/* The call that launched an operation, made if it is new; NULL if op names none (*rc NSX_OK) or when out of memory (*rc
 * NSX_ERR). Valid until the next call of this book's functions. */
struct nsx_call_entry *nsx_call_book_of(struct nsx_call_book *b, const struct nsx_rec *op, int *rc,
                                        struct nsx_err *err);

/* The operation has been looked at: true if it was the last of its call, which is forgotten; what its entry was is in
 * *gone then. */
bool nsx_call_book_done(struct nsx_call_book *b, struct nsx_call_entry *c, struct nsx_call_entry *gone);

void nsx_call_book_free(struct nsx_call_book *b);

#endif
