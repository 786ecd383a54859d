/* pass.h -- records passed on from a reader to a writer by a filter that leaves most of them as they are. Of a binary
 * stream what the filter does not look at is not decoded, and a block all of whose records are passed on goes out as it
 * came; of a block that is passed on in part, the records are written as nsx_write does. */
#ifndef NSX_STREAM_PASS_H
#define NSX_STREAM_PASS_H

#include "stream/reader.h"
#include "stream/writer.h"

NSX_BEGIN_C

struct nsx_pass;

/* Both are the caller's, outlive it, and are read and written by way of it alone until it is freed: whatever else is
 * written goes out before a record is read by nsx_pass_read, or after it gave NSX_EOF. NULL on failure, with err
 * filled. */
struct nsx_pass *nsx_pass_new(struct nsx_reader *in, struct nsx_writer *out, struct nsx_err *err);

/* From now on records may have only these columns, and those that their place in the order and their end rest on: a
 * bit a slot, by kind; NSX_NKINDS stands for kinds that we do not know. Values set in such records are not written. */
void nsx_pass_look(struct nsx_pass *p, const uint64_t columns[NSX_NKINDS + 1]);

/* The next record, as nsx_read gives it. */
int nsx_pass_read(struct nsx_pass *p, struct nsx_rec *rec);

/* Write the record read last with all its columns, now or later, in this order: NSX_OK or NSX_ERR. */
int nsx_pass_on(struct nsx_pass *p, const struct nsx_rec *rec);

void nsx_pass_free(struct nsx_pass *p);   /* NULL allowed */

NSX_END_C

#endif
