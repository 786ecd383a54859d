/* op_reading.h -- a stream's operations and calls as sums over them need them: those within reach (job/reach.h), the
 * operations with their times and device, and the calls in flight. */
#ifndef NSX_JOB_OP_READING_H
#define NSX_JOB_OP_READING_H

#include "base/diag.h"
#include "job/call_book.h"
#include "job/catalogue.h"

/* {0} with err set, and what the catalogue keeps, is empty. */
struct nsx_op_reading {
	struct nsx_err      *err;
	struct nsx_catalogue cat;
	struct nsx_call_book calls;
	int64_t diags, ops;             /* number of records */
	int64_t timeless, beyond;       /* operations without a start or duration; records beyond reach: ignored */
};

/* An operation: its device in the catalogue, and times, ns. */
struct nsx_read_op { uint32_t device; int64_t start, dur, end; };

/* Declare to a reader what is used, of operations also type and name. */
void nsx_op_reading_need(const struct nsx_op_reading *r, struct nsx_reader *in);

/* Take any record, in the order of the stream. The id of its kind if the caller has to take it: a call, a range, or an
 * operation, which *op then describes. NSX_NKINDS if that was all; -1 with err filled when out of memory. */
int nsx_op_reading_take(struct nsx_op_reading *r, const struct nsx_rec *rec, struct nsx_read_op *op);

/* What was ignored. */
void nsx_op_reading_diags(const struct nsx_op_reading *r, struct nsx_diags *diags);

void nsx_op_reading_free(struct nsx_op_reading *r);

#endif
