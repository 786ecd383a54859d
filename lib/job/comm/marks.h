/* marks.h -- a stream with the records of its collectives, with instance, wait and late
 * (job/comm/pairing.h), for the filter that writes them. */
#ifndef NSX_JOB_COMM_MARKS_H
#define NSX_JOB_COMM_MARKS_H

#include "base/diag.h"
#include "job/comm/queue.h"

struct nsx_collective_marks;

/* put: gets every record, in the order of the stream: those behind a collective when its instance is complete, at the
 * latest at the end. About hold_bytes of them wait in memory, the others in temporary files. again: sets its record to
 * the next of those that the caller can read again, without collective records; used from
 * nsx_collective_marks_finish on. NULL on failure, with err filled; err and state must outlive it. */
struct nsx_collective_marks *nsx_collective_marks_new(nsx_mark_put *put, nsx_mark_put *again, void *state,
                                                      size_t hold_bytes, struct nsx_err *err);

/* Any record of the stream, in order; existing collective records are dropped. again: it, and all that come after it,
 * can be read again; allowed while nsx_collective_marks_wait. NSX_OK, NSX_ERR, or what put returned. */
int nsx_collective_marks_take(struct nsx_collective_marks *c, struct nsx_rec *rec, bool again);

/* Whether all records from the next one on wait for the end of the stream. */
bool nsx_collective_marks_wait(const struct nsx_collective_marks *c);

/* Set the columns that nsx_collective_marks_take uses: a bit for each slot, by kind. */
void nsx_collective_marks_look(uint64_t columns[NSX_NKINDS + 1]);

/* After the last record. NSX_OK, NSX_ERR, or what put returned. */
int nsx_collective_marks_finish(struct nsx_collective_marks *c);

/* Report what was missing or inferred. */
void nsx_collective_marks_diags(const struct nsx_collective_marks *c, struct nsx_diags *diags);

void nsx_collective_marks_free(struct nsx_collective_marks *c);   /* NULL allowed */

#endif
