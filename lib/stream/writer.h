/* writer.h -- records into a stream, text or binary, zstd-compressed or not. */
#ifndef NSX_STREAM_WRITER_H
#define NSX_STREAM_WRITER_H

#include "base/err.h"
#include "base/table.h"
#include "stream/kinds.h"
#include "stream/reader.h"

NSX_BEGIN_C

struct nsx_writer;

struct nsx_out {
	const char *path;     /* NULL or "-": standard output */
	bool        binary;
	int         zlevel;   /* 0: not compressed; else zstd's level 1..19 */
};

/* Open out for writing (nsx_outfile: a file gets its name at nsx_writer_finish only). NULL on failure, with err filled;
 * the writer keeps err, which must outlive it. */
struct nsx_writer *nsx_writer_open(const struct nsx_out *out, struct nsx_err *err);

/* The same to an open file descriptor, which the caller closes; name is for messages. */
struct nsx_writer *nsx_writer_fd(int fd, const char *name, bool binary, int zlevel, struct nsx_err *err);

/* Open out for a table instead, in TSV, JSON or CSV: the records of one kind, a row each, without kinds and `end`; the
 * columns are those of nsx_writer_declare or the first record. out->binary is ignored. */
struct nsx_writer *nsx_writer_open_table(const struct nsx_out *out, enum nsx_table_form form, struct nsx_err *err);

/* Write the headers of in at the same positions among the records as in `in`: every header that in has read is written
 * before the record that follows it. Call after both are open; in must outlive nsx_writer_finish. NULL: follow none. */
void nsx_writer_follow(struct nsx_writer *w, const struct nsx_reader *in);

/* Write the kind's header now if it has not been written: for kinds that may have no record, and for a kind whose
 * columns are the union of several inputs'. */
int nsx_writer_declare(struct nsx_writer *w, const struct nsx_kind *k);

/* Write rec (never `end`), its header first if it is the kind's first record: NSX_OK or NSX_ERR. If the header written
 * differs from rec->kind, columns are matched by name; a value whose column the header lacks is an error. */
int nsx_write(struct nsx_writer *w, const struct nsx_rec *rec);

/* Write `end`, flush everything, rename the file: NSX_OK or NSX_ERR. */
int nsx_writer_finish(struct nsx_writer *w);

/* From now on nsx_writer_finish fails unless at least one record of that kind was written ("no KIND record"). kind must
 * outlive w. */
void nsx_writer_require(struct nsx_writer *w, const char *kind);

int64_t nsx_writer_records(const struct nsx_writer *w);

/* The number of them that are compilation or work (stream/order.h): 0 if only metadata and diags were written. */
int64_t nsx_writer_work(const struct nsx_writer *w);

/* Free; without a successful finish no file of that name is created. NULL allowed. */
void nsx_writer_free(struct nsx_writer *w);

NSX_END_C

#endif
