/* reader.h -- records from a stream, text or binary, zstd-compressed or not. */
#ifndef NSX_STREAM_READER_H
#define NSX_STREAM_READER_H

#include "base/err.h"
#include "stream/kinds.h"
#include "stream/run.h"

NSX_BEGIN_C

struct nsx_input;   /* base/input.h */
struct nsx_reader;

enum nsx_read_flags {
	NSX_READ_PARTIAL = 1,   /* accept a text stream without `end`, or (known kinds) without headers or first line */
	NSX_READ_ORDERED = 2    /* check docs/format.md "Order"; the record that breaks it is an error */
};

/* Open path; NULL or "-" is standard input. The first bytes, never the name, determine the encoding. NULL on failure,
 * with err filled; the reader keeps err, which must outlive it. An empty input is an error at the first nsx_read. */
struct nsx_reader *nsx_reader_open(const char *path, unsigned flags, struct nsx_err *err);

/* The same from an open file descriptor, which the reader closes; name is for messages. */
struct nsx_reader *nsx_reader_fd(int fd, const char *name, unsigned flags, struct nsx_err *err);

/* Report the consumed input to progress (base/progress.h); nsx_reader_open does so. Before the first nsx_read. */
void nsx_reader_watch(struct nsx_reader *r);

/* The bytes of r's input, decompressed where they are zstd, before they are read as a stream, or instead: for input
 * that may be a stream or something else. Examining bytes consumes nothing, so nsx_read still begins at the same
 * position; after bytes are consumed r can no longer be read as a stream. The reader owns it, its name and its err. */
struct nsx_input *nsx_reader_input(struct nsx_reader *r);

/* Every record of that kind gets this column too, absent unless the stream has it: for filters that set it. A known
 * column is given by its name. Call it before the first nsx_read. NSX_OK or NSX_ERR. */
int nsx_reader_add_column(struct nsx_reader *r, enum nsx_kind_id kind, const char *column, char type);
/* The same for all columns of a known kind: for programs that add records after a header that may lack some columns. */
int nsx_reader_add_columns(struct nsx_reader *r, enum nsx_kind_id kind);

/* Declare what a program reads from a stream; without a call, it reads everything. From the first call on a reader
 * returns only records of declared kinds, with only the columns that were declared in some call: anything else is
 * skipped without being decoded, and reads as absent. Skipped records are counted, as in nsx_reader_records, and the
 * stream's end is checked as always; order and damage are checked only where data is read. NSX_READ_ORDERED declares
 * the columns that it needs. kind: NSX_NKINDS means unknown kinds. columns: a bit for each slot, made with NSX_C; 0: no
 * columns, NSX_EVERY: all columns, unknown ones too. Before the first nsx_read. Not for programs that change records
 * and write them. */
void nsx_reader_need(struct nsx_reader *r, enum nsx_kind_id kind, uint64_t columns);

/* Besides nsx_reader_need: records of that known kind are needed only if they have a value in that slot; others are
 * skipped, those of a binary block before what was read of it. One slot for each kind, the same for all code that reads
 * r. */
void nsx_reader_need_value(struct nsx_reader *r, enum nsx_kind_id kind, int slot);

/* How many records were skipped so far because they lack that value. */
int64_t nsx_reader_lacking(const struct nsx_reader *r, enum nsx_kind_id kind);

/* Next record other than `end`: NSX_OK, NSX_EOF or NSX_ERR. The reader owns the memory that rec refers to, which is
 * valid until the next nsx_read; values may be changed and absent ones set in place before the record is written. */
int nsx_read(struct nsx_reader *r, struct nsx_rec *rec);

/* Read to the end and pass every record to take, which returns NSX_OK or fills err. require: a kind that must have a
 * record, NULL if none. NSX_OK, or NSX_ERR with err, the reader's own, filled. */
int nsx_read_all(struct nsx_reader *r, const char *require, nsx_take_fn *take, void *state, struct nsx_err *err);

/* In nsx_read_all pass the records of those kinds to runs->take, with nsx_read_all's state, where the stream has them
 * in columns (stream/run.h): in binary blocks, unless there is a listener. Others, and those of text, come to `take`
 * as ever; all of them in the order of the stream. Before the first nsx_read. */
void nsx_reader_runs(struct nsx_reader *r, const struct nsx_run_kinds *runs);

/* In nsx_read_all pass every record to `also` first, which declared what it needs and returns NSX_OK or fills the
 * reader's err: for metadata that a program needs of a stream which other code reads. One at a time. */
void nsx_reader_listen(struct nsx_reader *r, nsx_take_fn *also, void *state);

/* The kinds read so far, in order of their headers: *n pointers, valid until the next nsx_read. */
const struct nsx_kind *const *nsx_reader_kinds(const struct nsx_reader *r, int *n);

/* "FILE:LINE" or "FILE: record N" of the last record read, for messages; valid until the next call. */
const char *nsx_reader_where(struct nsx_reader *r);

/* Number of records read so far, without `end`; bytes of input consumed so far. */
int64_t nsx_reader_records(const struct nsx_reader *r);

/* Number of records read so far whose start + dur does not fit 64 bits: their ends are clamped. */
int64_t nsx_reader_beyond(const struct nsx_reader *r);

/* Number of diags read so far; -1: nothing was read, as of a file that is no stream and that others read. */
int64_t nsx_reader_diags(const struct nsx_reader *r);

/* Whether a diag read so far says that nothing in the stream is steady (steady.h). */
bool nsx_reader_unsteady(const struct nsx_reader *r);

void nsx_reader_close(struct nsx_reader *r);   /* NULL allowed */

NSX_END_C

#endif
