/* queue.c -- see queue.h. */
#include "job/comm/queue.h"

#include <stdlib.h>
#include <string.h>

#include "job/comm/communication.h"

int
nsx_marks_begin(struct mark_queue *q, nsx_mark_put *put, nsx_mark_put *again, void *state, size_t hold_bytes,
                struct nsx_err *err)
{
	*q = (struct mark_queue){ .put = put, .again = again, .state = state, .err = err,
		.hold = nsx_hold_new(hold_bytes, err) };
	return q->hold ? NSX_OK : NSX_ERR;
}

void
nsx_marks_free(struct mark_queue *q)
{
	nsx_hold_free(q->hold);
	free(q->marks.p);
}

static bool
is_empty(const struct mark_queue *q)
{
	return q->head == q->gone + q->marks.n;
}

int
nsx_marks_pass(struct mark_queue *q, struct nsx_rec *rec, bool again)
{
	if (is_empty(q))
		return q->put(q->state, rec);
	q->behind++;
	if (again)
		return NSX_OK;
	q->plain++;
	return nsx_hold_push(q->hold, rec);
}

int
nsx_marks_push(struct mark_queue *q, const struct nsx_rec *rec, uint64_t *number)
{
	struct mark m = { .ahead = q->behind, .next = NSX_MARK_LAST, .instance = NSX_ABSENT, .wait = NSX_ABSENT,
	                  .group = NSX_ABSENT };

	*number = q->gone + q->marks.n;
	q->behind = 0;
	if (!nsx_vec_push(&q->marks, m))
		return nsx_err_nomem(q->err, NULL);
	return nsx_hold_push(q->hold, rec);
}

struct mark *
nsx_marks_of(struct mark_queue *q, uint64_t number)
{
	return &q->marks.p[number - q->gone];
}

/* Pass on n records without marks. */
static int
pass_plain(struct mark_queue *q, uint64_t n)
{
	struct nsx_rec rec;

	while (n--) {
		if ((q->plain ? nsx_hold_pop(q->hold, &rec) : q->again(q->state, &rec)) != NSX_OK
		    || q->put(q->state, &rec) != NSX_OK)
			return NSX_ERR;
		q->plain -= q->plain > 0;
	}
	return NSX_OK;
}

/* The size of the group, which was not known when the record was made, and the bandwidths that follow. */
static void
set_group(struct nsx_rec *rec, int64_t group)
{
	int64_t bytes = nsx_int(rec, NSX_COLLECTIVE_bytes, -1), dur = nsx_int(rec, NSX_COLLECTIVE_dur, 0);
	double algbw, busbw;

	if (group <= 0 || nsx_has(rec, NSX_COLLECTIVE_group))
		return;
	nsx_set_i(rec, NSX_COLLECTIVE_group, group);
	if (bytes < 0 || dur <= 0)
		return;
	nsx_comm_bandwidth(nsx_string(rec, NSX_COLLECTIVE_collective), bytes, group, dur, &algbw, &busbw);
	nsx_set_f(rec, NSX_COLLECTIVE_algbw, algbw);
	nsx_set_f(rec, NSX_COLLECTIVE_busbw, busbw);
}

static int
pass_marked(struct mark_queue *q, struct mark *m)
{
	struct nsx_rec rec;

	if (nsx_hold_pop(q->hold, &rec) != NSX_OK)
		return NSX_ERR;
	if (m->instance == 0)
		m->instance = ++q->instances;
	if (m->instance != NSX_ABSENT) {
		if (m->next != NSX_MARK_LAST)
			nsx_marks_of(q, m->next)->instance = m->instance;
		nsx_set_i(&rec, NSX_COLLECTIVE_instance, m->instance - 1);
	}
	if (m->wait != NSX_ABSENT) {
		nsx_set_i(&rec, NSX_COLLECTIVE_wait, m->wait);
		nsx_set_i(&rec, NSX_COLLECTIVE_late, m->late);
	}
	set_group(&rec, m->group);
	return q->put(q->state, &rec);
}

int
nsx_marks_drain(struct mark_queue *q)
{
	while (!is_empty(q)) {
		struct mark *m = nsx_marks_of(q, q->head);

		/* Records before the first that waits wait for nothing. */
		if (pass_plain(q, m->ahead) != NSX_OK)
			return NSX_ERR;
		m->ahead = 0;
		if (!m->known)
			break;
		if (pass_marked(q, m) != NSX_OK)
			return NSX_ERR;
		q->head++;
	}
	if (is_empty(q)) {
		if (pass_plain(q, q->behind) != NSX_OK)
			return NSX_ERR;
		q->behind = 0;
	}
	/* Moved when half of them are gone: each is moved once on average. */
	if (q->head - q->gone > q->marks.n / 2) {
		size_t used = (size_t)(q->head - q->gone);

		memmove(q->marks.p, q->marks.p + used, (q->marks.n - used) * sizeof *q->marks.p);
		q->marks.n -= used;
		q->gone = q->head;
	}
	return NSX_OK;
}
