/* backlog.h -- the rest of a binary stream, read twice: first for a few of its columns, and when it has ended again,
 * whole. In the meantime its blocks wait as they are, which costs much less than to keep their records one by one. */
#ifndef NSX_STREAM_BACKLOG_H
#define NSX_STREAM_BACKLOG_H

#include "stream/reader.h"

NSX_BEGIN_C

struct nsx_backlog;

/* Without `begin` it reads `in` as nsx_read does. The reader belongs to the caller, must outlive it, declares no needs
 * and is read only through it. NULL on failure, with err filled; err must outlive it. */
struct nsx_backlog *nsx_backlog_new(struct nsx_reader *in, struct nsx_err *err);

/* From the next block on records may have only these columns when they are first read, and those that determine their
 * position in the order and their end: one bit for each slot, by kind; NSX_NKINDS means unknown kinds. About hold_bytes
 * of blocks wait in memory, the others in temporary files. Of a text stream there is no second reading. Once; NSX_OK or
 * NSX_ERR. */
int nsx_backlog_begin(struct nsx_backlog *b, const uint64_t columns[NSX_NKINDS + 1], size_t hold_bytes);

/* The next record, as nsx_read returns it. *again: it will be read a second time; of all records after it the same is
 * true. */
int nsx_backlog_read(struct nsx_backlog *b, struct nsx_rec *rec, bool *again);

/* After NSX_EOF: the next of the records that are read a second time, with all columns. NSX_OK, NSX_EOF or NSX_ERR. */
int nsx_backlog_again(struct nsx_backlog *b, struct nsx_rec *rec);

void nsx_backlog_free(struct nsx_backlog *b);   /* NULL allowed */

NSX_END_C

#endif
