/* spool.h -- records stored in a compressed temporary file ($TMPDIR) to be read back in order, or read again from the
 * file they came from. */
#ifndef NSX_STREAM_SPOOL_H
#define NSX_STREAM_SPOOL_H

#include "stream/reader.h"
#include "stream/writer.h"

NSX_BEGIN_C

struct nsx_spool;

/* NULL on failure, with err filled; err must outlive the spool. */
struct nsx_spool *nsx_spool_open(struct nsx_err *err);

/* A spool for all records of `in`, from which nothing has been read, with the possible exception of its diags. If `in`
 * is a file that can be read again nothing is stored: the spool's reader reads the file, including its diags. NULL as
 * above. */
struct nsx_spool *nsx_spool_open_all(const struct nsx_reader *in, struct nsx_err *err);

/* Whether `in` is a file that can be read again, so that nsx_spool_open_all stores nothing. */
bool nsx_spool_again(const struct nsx_reader *in);
/* A spool for all of `in`, from which nothing has been read, that stores the bytes of the input as they are read: the
 * caller writes no records to it, and the second pass can use records and columns that the first one does not request.
 * NSX_OK with the spool in *s, or with NULL in *s if the input is not an uncompressed binary stream: then its records
 * must be stored. NSX_ERR with err filled. */
int nsx_spool_open_bytes(struct nsx_reader *in, struct nsx_spool **s, struct nsx_err *err);

/* Whether records are stored, so that the first pass must declare (nsx_reader_need) what the second one uses. */
bool nsx_spool_keeps(const struct nsx_spool *s);

/* Keep the headers of in at the same positions among the records, as nsx_writer_follow does. in must outlive
 * nsx_spool_reader. */
void nsx_spool_follow(struct nsx_spool *s, const struct nsx_reader *in);
/* What stores its records, for code that writes streams; NULL if nothing is stored. The spool finishes and closes it.
 */
struct nsx_writer *nsx_spool_writer(struct nsx_spool *s);
int nsx_spool_write(struct nsx_spool *s, const struct nsx_rec *rec);
int64_t nsx_spool_records(const struct nsx_spool *s);

/* Finish writing and return a reader from the beginning; the caller closes it, before or after nsx_spool_free. NULL on
 * failure. Only once. */
struct nsx_reader *nsx_spool_reader(struct nsx_spool *s);
/* The same with flags of nsx_reader_fd. */
struct nsx_reader *nsx_spool_reader_of(struct nsx_spool *s, unsigned flags);
void nsx_spool_free(struct nsx_spool *s);   /* NULL allowed */

NSX_END_C

#endif
