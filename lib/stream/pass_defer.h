/* pass_defer.h -- passes records from a reader to a writer, for a filter that sets a column of integers, some of whose
 * values are known only when later records have been read: records wait for these, in the order of the stream. Of a
 * block of a binary stream the bytes wait; columns that the filter does not read are not decoded, and those that it
 * does not set are copied. */
#ifndef NSX_STREAM_PASS_DEFER_H
#define NSX_STREAM_PASS_DEFER_H

#include "stream/reader.h"
#include "stream/writer.h"

NSX_BEGIN_C

struct nsx_defer;

/* A column that is set, of a known kind. otherwise: its value in records for which none is given; NSX_ABSENT: none. */
struct nsx_defer_column { enum nsx_kind_id kind; int slot; int64_t otherwise; };

enum { NSX_DEFER_COLUMNS = 4 };   /* kinds at most */

/* Reader and writer belong to the caller, must outlive the nsx_defer, and are used only through it until it is freed;
 * nothing has been read yet, and the writer follows no reader: headers keep their positions. The columns are added to
 * the reader. look: the columns that records must have, as for nsx_pass_look. Waiting records take hold_bytes of memory
 * at most, waiting blocks as much again; the others are in temporary files. NULL on failure, with err filled. */
struct nsx_defer *nsx_defer_new(struct nsx_reader *in, struct nsx_writer *out, const struct nsx_defer_column *columns,
                              int n, const uint64_t look[NSX_NKINDS + 1], size_t hold_bytes, struct nsx_err *err);

/* The next record, as nsx_read returns it. */
int nsx_defer_read(struct nsx_defer *d, struct nsx_rec *rec);

/* The record read last gets that value; for a value that is not known yet, NSX_ABSENT: *ticket stands for it. To be
 * called before nsx_defer_on. NSX_OK or NSX_ERR. */
int nsx_defer_set(struct nsx_defer *d, int64_t value, uint64_t *ticket);

/* The value, now known, of that ticket: not NSX_ABSENT. */
void nsx_defer_answer(struct nsx_defer *d, uint64_t ticket, int64_t value);

/* Pass on the record read last, once: NSX_OK or NSX_ERR. */
int nsx_defer_on(struct nsx_defer *d, struct nsx_rec *rec);

/* After NSX_EOF, when all tickets are answered: write what waits. NSX_OK or NSX_ERR. */
int nsx_defer_end(struct nsx_defer *d);

void nsx_defer_free(struct nsx_defer *d);   /* NULL allowed */

NSX_END_C

#endif
