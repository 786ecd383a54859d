/* outbox.h -- a queue of records for the writer: made by the caller, encoded and written in order by a separate
 * thread. */
#ifndef NSX_EXTRACT_OUTBOX_H
#define NSX_EXTRACT_OUTBOX_H

#include <stdbool.h>

#include "stream/writer.h"

struct ex_outbox;

/* threads: maximum number, 0 for one per processor. With one, or if no thread can be created, the caller's thread does
 * all the work. NULL when out of memory. Until nsx_extract_outbox_close nothing else may use the writer or its
 * error. */
struct ex_outbox *nsx_extract_outbox_open(struct nsx_writer *out, int threads);

/* The next record, without any value. Its strings must live until nsx_extract_outbox_close, or be copied by
 * nsx_extract_outbox_keep. */
struct nsx_rec *nsx_extract_outbox_rec(struct ex_outbox *o, const struct nsx_kind *kind);

/* A copy of s that lives until the record being made is written. ptr is NULL when out of memory, or s.ptr is. */
struct nsx_str nsx_extract_outbox_keep(struct ex_outbox *o, struct nsx_str s);

/* The record is filled. NSX_ERR if the writer has failed, at this record or one before. */
int nsx_extract_outbox_put(struct ex_outbox *o);

/* Write the rest, free: NSX_OK, or NSX_ERR if the writer failed; its error has the reason. NULL allowed. */
int nsx_extract_outbox_close(struct ex_outbox *o);

#endif
