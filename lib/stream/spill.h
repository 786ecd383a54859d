/* spill.h -- a queue of records, returned in the order in which they were added: in memory up to a limit, in compressed
 * temporary files beyond it. */
#ifndef NSX_STREAM_SPILL_H
#define NSX_STREAM_SPILL_H

#include <stddef.h>

#include "base/err.h"
#include "stream/kinds.h"

struct nsx_hold;

/* A queue that keeps about `limit` bytes in memory. NULL on failure, with err filled; err must outlive it. */
struct nsx_hold *nsx_hold_new(size_t limit, struct nsx_err *err);

/* Append a copy of rec; rec->kind must outlive the queue. NSX_OK or NSX_ERR. */
int nsx_hold_push(struct nsx_hold *h, const struct nsx_rec *rec);

/* Remove the first record: NSX_OK, NSX_EOF if there is none, NSX_ERR. It is valid until the next call; values may be
 * changed and absent ones set in place. A record that was in a file has another kind object with the same columns. */
int nsx_hold_pop(struct nsx_hold *h, struct nsx_rec *rec);

void nsx_hold_free(struct nsx_hold *h);   /* NULL allowed */

#endif
