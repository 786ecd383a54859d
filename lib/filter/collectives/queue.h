/* queue.h -- collective records whose marks (instance, wait, late) are not known before the last record of their
 * instance has come, and the records of the stream behind them: a queue, which is written from its front as marks
 * become known.
 *
 *   thunk  C1?  thunk  C2?  op        C1 and C2 are one instance: with its last record, C2, both are known, and all is
 *                                     written; records that nothing waits before are written at once */
#ifndef NSX_FILTER_COLLECTIVES_QUEUE_H
#define NSX_FILTER_COLLECTIVES_QUEUE_H

#include "base/vec.h"
#include "stream/spill.h"
#include "stream/writer.h"

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

struct mark_queue {
	struct nsx_reader *in;
	struct nsx_writer *out;
	struct nsx_err    *err;
	struct nsx_hold   *hold;
	NSX_VEC(struct mark) marks;     /* marks.p[0] has number `gone` */
	uint64_t           gone, head;  /* head: number of the first that waits */
	uint64_t           behind;      /* records behind the last mark */
	int64_t            instances;   /* numbers given */
	uint64_t           came, left;  /* records that came, and that are written */
	NSX_VEC(uint64_t)  headers;     /* of each kind of `in`: records that came before its header */
	int                declared;
};

/* Keep about hold_bytes of waiting records in memory, the others in temporary files. `in` is where records come from:
 * its headers stay where they were among them. NSX_OK or NSX_ERR. */
int nsx_marks_begin(struct mark_queue *q, struct nsx_reader *in, struct nsx_writer *out, size_t hold_bytes, struct nsx_err *err);

/* A record without marks. NSX_OK or NSX_ERR, here and below. */
int nsx_marks_pass(struct mark_queue *q, const struct nsx_rec *rec);

/* A collective record, which gets that number. It waits until nsx_marks_of was told that it is known. */
int nsx_marks_push(struct mark_queue *q, const struct nsx_rec *rec, uint64_t *number);

/* The marks of a record that waits, to be filled; then `known` is set. `instance` 0 of the first record of an instance
 * stands for the next number, which the others of its list get. */
struct mark *nsx_marks_of(struct mark_queue *q, uint64_t number);

/* All records have been drained: write the headers behind them. */
int nsx_marks_end(struct mark_queue *q);

/* Write what nothing waits before. */
int nsx_marks_drain(struct mark_queue *q);

void nsx_marks_free(struct mark_queue *q);

#endif
