/* interleave.h -- a stream with further records, each at its place in the order. */
#ifndef NSX_STREAM_INTERLEAVE_H
#define NSX_STREAM_INTERLEAVE_H

#include "stream/reader.h"
#include "stream/writer.h"

NSX_BEGIN_C

/* The further records: of one kind, which needs a start, in the order of the stream (stream/order.h). */
struct nsx_interleave {
	enum nsx_kind_id kind;
	size_t           n;        /* their number */
	/* Fill the i-th, which is empty; its strings live until the next call. */
	void           (*fill)(void *state, size_t i, struct nsx_rec *rec);
	/* Whether a record of the input stays; NULL: all do. */
	bool           (*keep)(void *state, const struct nsx_rec *rec);
	void            *state;
};

/* Write all of `in`, from which nothing has been read, to `out`, with the records `more` in place of those of their
 * kind. `out` may have been told to follow `in` and follows nothing afterwards; it is not finished. NSX_EOF when all is
 * written, or NSX_ERR. */
int nsx_interleave(struct nsx_reader *in, struct nsx_writer *out, const struct nsx_interleave *more,
                   struct nsx_err *err);

NSX_END_C

#endif
