/* queue.h -- collective records whose marks (instance, wait, late) are not known before the last record of
 * their instance has come, and the records of the stream behind them: a queue, passed on from its front as marks
 * become known.
 *
 *   thunk  C1?  thunk  C2?  op        C1 and C2 are one instance: with its last record, C2, both are known, and all is
 *                                     passed on; records that nothing waits before are so at once
 *
 * Records without marks can be left to the caller, if they can be had again. */
#ifndef NSX_JOB_COMM_QUEUE_H
#define NSX_JOB_COMM_QUEUE_H

#include "base/vec.h"
#include "stream/spill.h"

/* A record that is marked. `next`: the number of the next record of its instance, larger than its own; NONE: it is the
 * last. */
struct mark {
	uint64_t ahead;           /* records between the one before it in the queue and it */
	uint64_t next;
	int64_t  instance, wait;  /* NSX_ABSENT: none */
	int64_t  group;           /* NSX_ABSENT: as the record has it */
	bool     known, late;
};
#define NSX_MARK_LAST UINT64_MAX

/* Takes a record whose turn has come; it may be changed. NSX_OK or NSX_ERR. */
typedef int nsx_mark_put(void *state, struct nsx_rec *rec);

struct mark_queue {
	nsx_mark_put      *put, *again;
	void              *state;
	struct nsx_err    *err;
	struct nsx_hold   *hold;
	NSX_VEC(struct mark) marks;     /* marks.p[0] has number `gone` */
	uint64_t           gone, head;  /* head: number of the first that waits */
	uint64_t           behind;      /* records behind the last mark */
	uint64_t           plain;       /* records without marks in hold: those that are not come behind them */
	int64_t            instances;   /* numbers given */
};

/* Keep about hold_bytes of waiting records in memory, the others in temporary files. again: sets its record to the next
 * of those that were not kept. NSX_OK or NSX_ERR. */
int nsx_marks_begin(struct mark_queue *q, nsx_mark_put *put, nsx_mark_put *again, void *state, size_t hold_bytes,
                    struct nsx_err *err);

/* A record without marks. again: if it waits it need not be kept, nor all those after it. NSX_OK or NSX_ERR, here and
 * below. */
int nsx_marks_pass(struct mark_queue *q, struct nsx_rec *rec, bool again);

/* A collective record, which gets that number. It waits until nsx_marks_of was told that it is known. */
int nsx_marks_push(struct mark_queue *q, const struct nsx_rec *rec, uint64_t *number);

/* The marks of a record that waits, to be filled; then `known` is set. `instance` 0 of the first record of an instance
 * stands for the next number, which the others of its list get. */
struct mark *nsx_marks_of(struct mark_queue *q, uint64_t number);

/* Pass on what nothing waits before. */
int nsx_marks_drain(struct mark_queue *q);

void nsx_marks_free(struct mark_queue *q);

#endif
