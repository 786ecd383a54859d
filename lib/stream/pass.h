/* pass.h -- passes records from a reader to a writer, for a filter that leaves most of them unchanged. Columns of a
 * binary stream that the filter does not read are not decoded, and a block all of whose records are passed on is copied
 * unchanged; if only some records of a block are passed on, they are written as by nsx_write. */
#ifndef NSX_STREAM_PASS_H
#define NSX_STREAM_PASS_H

#include "stream/reader.h"
#include "stream/writer.h"

NSX_BEGIN_C

struct nsx_pass;

/* Both belong to the caller, must outlive the nsx_pass, and are read and written only through it until it is freed:
 * anything else is written before nsx_pass_read reads a record, or after it has returned NSX_EOF. NULL on failure, with
 * err filled. */
struct nsx_pass *nsx_pass_new(struct nsx_reader *in, struct nsx_writer *out, struct nsx_err *err);

/* From now on records may have only these columns, and those that determine their position in the order and their end:
 * one bit for each slot, by kind; NSX_NKINDS means unknown kinds. Values set in such records are not written, but
 * those given to nsx_pass_on_with are. */
void nsx_pass_look(struct nsx_pass *p, const uint64_t columns[NSX_NKINDS + 1]);

/* The next record, as nsx_read returns it. */
int nsx_pass_read(struct nsx_pass *p, struct nsx_rec *rec);

/* Write the record read last with all its columns, now or later, in this order: NSX_OK or NSX_ERR. */
int nsx_pass_on(struct nsx_pass *p, const struct nsx_rec *rec);

/* The same, with an integer in a column that was added to the reader (nsx_reader_add_column); rec is given it, too. */
int nsx_pass_on_with(struct nsx_pass *p, struct nsx_rec *rec, int slot, int64_t value);

void nsx_pass_free(struct nsx_pass *p);   /* NULL allowed */

NSX_END_C

#endif
