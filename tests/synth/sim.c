/* sim.c -- runs a job of causes. Threads take their steps in order of time; the time of an operation is known as soon as those of all its sources are,
 * so that nothing but threads needs a clock.
 *
 * Example: a thread launches a (latency 4, takes 10) at 0 and b at 3, in one stream with a gap of 1, and waits for b, which its call returns 2 after.
 * a starts at 4 and ends at 14, which is known when it is launched; b starts at the later of 3 + 4 and 14 + 1, and the call returns at 27. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

static void
link_end(struct sim *s, uint32_t op, struct sim_link l)
{
	l.next = s->op.p[op].links;
	s->op.p[op].links = (uint32_t)s->link.n;
	syn_add(&s->link, l);
}

static void
op_from(struct sim_op *o, int64_t t, uint32_t from, enum sim_class class)
{
	if (t > o->start) {
		o->start = t;
		o->began = (struct sim_cause){ from, class };
	}
}

static void
call_from(struct sim_call *c, int64_t t, uint32_t from, enum sim_class class)
{
	if (t > c->end) {
		c->end = t;
		c->ended = (struct sim_cause){ from, class };
	}
}

/* An operation starts lag after another one ends. */
static void
follow(struct sim *s, uint32_t op, uint32_t before, int64_t lag, enum sim_class class)
{
	struct sim_op *o = &s->op.p[op];

	if (before == SYN_NONE)
		return;
	if (s->op.p[before].known) {
		op_from(o, s->op.p[before].end + lag, sim_end(before), class);
		return;
	}
	o->need++;
	link_end(s, before, (struct sim_link){ .to = op, .lag = lag, .class = class });
}

/* A call returns lag after an operation ends. */
static void
call_awaits(struct sim *s, uint32_t call, uint32_t op, int64_t lag, enum sim_class class)
{
	if (op == SYN_NONE)
		return;
	if (s->op.p[op].known) {
		call_from(&s->call.p[call], s->op.p[op].end + lag, sim_end(op), class);
		return;
	}
	s->call.p[call].need++;
	link_end(s, op, (struct sim_link){ .to = call, .lag = lag, .class = class, .call = true });
}

/* The thread goes on after its call. */
static void
go_on(struct sim *s, uint32_t call)
{
	const struct sim_call *c = &s->call.p[call];
	struct sim_thread *th = &s->thread.p[c->thread];

	th->parked = false;
	th->now = c->end;
	th->from = sim_leave(s, call);
}

static void
ends(struct sim *s, uint32_t op, int64_t end, uint32_t from, enum sim_class class)
{
	struct sim_op *o = &s->op.p[op];

	o->end = end;
	o->ended = (struct sim_cause){ from, class };
	o->known = true;
	for (uint32_t k = o->links; k != SYN_NONE; k = s->link.p[k].next) {
		const struct sim_link *l = &s->link.p[k];

		if (l->call) {
			call_from(&s->call.p[l->to], end + l->lag, sim_end(op), l->class);
			if (--s->call.p[l->to].need == 0)
				go_on(s, l->to);
		} else {
			op_from(&s->op.p[l->to], end + l->lag, sim_end(op), l->class);
			if (--s->op.p[l->to].need == 0)
				syn_add(&s->ready, l->to);
		}
	}
}

/* A member of a collective starts: when the last one has, all end. */
static void
meet(struct sim *s, uint32_t op)
{
	struct sim_op *o = &s->op.p[op];
	struct sim_meet *m = &s->meet.p[o->meet];
	uint32_t last = m->first, of = op;
	bool found = false;

	/* Members that started are kept in a list through their links. */
	syn_add(&s->link, ((struct sim_link){ .next = last, .to = op }));
	m->first = (uint32_t)s->link.n - 1;
	if (++m->known < m->n && !s->no_wait)
		return;
	if (s->no_wait) {
		ends(s, op, o->start + o->dur, sim_start(op), SIM_RDV);
		return;
	}
	for (uint32_t k = m->first; k != SYN_NONE; k = s->link.p[k].next)
		if (!found || s->op.p[s->link.p[k].to].start >= s->op.p[of].start) {
			of = s->link.p[k].to;
			found = true;
		}
	for (uint32_t k = m->first, next; k != SYN_NONE; k = next) {
		uint32_t member = s->link.p[k].to;

		next = s->link.p[k].next;
		ends(s, member, s->op.p[of].start + s->op.p[member].dur,
		     s->op.p[member].start == s->op.p[of].start ? sim_start(member) : sim_start(of), SIM_RDV);
	}
}

static void
settle(struct sim *s)
{
	while (s->ready.n) {
		uint32_t op = s->ready.p[--s->ready.n];
		struct sim_op *o = &s->op.p[op];

		if (o->meet != SYN_NONE)
			meet(s, op);
		else
			ends(s, op, o->start + o->dur, sim_start(op), SIM_DUR);
	}
}

/* The queue has room for a launch when the operation so many launches before has ended. */
static void
enqueue(struct sim *s, uint32_t dev, uint32_t op, uint32_t call)
{
	struct sim_queue *q = &s->device.p[dev];

	if ((int64_t)q->issued.n >= s->queue) {
		uint32_t room = q->issued.p[q->issued.n - (size_t)s->queue];

		if (!s->op.p[room].known || s->op.p[room].end > s->call.p[call].own)
			s->call.p[call].stalled = true;
		call_awaits(s, call, room, 0, SIM_QUEUE);
	}
	syn_add(&q->issued, op);
}

/* Put an operation into its stream. A root of a graph is one, too. */
static void
issue(struct sim *s, uint32_t op, uint32_t call)
{
	struct sim_op *o = &s->op.p[op];
	struct sim_stream *st = &s->stream.p[o->stream];

	o->call = call;
	op_from(o, s->call.p[call].start + o->launch, sim_enter(s, call), SIM_LAUNCHED);
	follow(s, op, st->last, o->gap, SIM_STREAM);
	for (size_t i = 0; i < st->pending.n; i++)
		follow(s, op, st->pending.p[i], o->await, SIM_EVENT);
}

static void
launch(struct sim *s, uint32_t op, uint32_t call)
{
	struct sim_stream *st = &s->stream.p[s->op.p[op].stream];

	issue(s, op, call);
	st->pending.n = 0;
	st->last = op;
	enqueue(s, st->dev, op, call);
	if (s->op.p[op].need == 0)
		syn_add(&s->ready, op);
}

/* A graph is one item of the stream of its first node, and ends with its last one. */
static void
launch_graph(struct sim *s, uint32_t first, uint32_t n, uint32_t call)
{
	struct sim_stream *st = &s->stream.p[s->op.p[first].stream];

	for (uint32_t op = first; op < first + n; op++) {
		struct sim_op *o = &s->op.p[op];

		o->call = call;
		if (o->pred[0] == SYN_NONE) {
			uint32_t stream = o->stream;

			o->stream = s->op.p[first].stream;
			issue(s, op, call);
			s->op.p[op].stream = stream;
		}
		for (int k = 0; k < 2; k++)
			follow(s, op, s->op.p[op].pred[k], s->op.p[op].gap, SIM_STREAM);
	}
	st->pending.n = 0;
	st->last = first + n - 1;
	enqueue(s, st->dev, st->last, call);
	for (uint32_t op = first; op < first + n; op++)
		if (s->op.p[op].need == 0)
			syn_add(&s->ready, op);
}

static void
block(struct sim *s, uint32_t call)
{
	const struct sim_step *st = &s->call.p[call].step;

	if (s->no_sync)
		return;
	if (st->what == SIM_SYNC_STREAM)
		call_awaits(s, call, s->stream.p[st->arg].last, st->extra, SIM_SYNC);
	else if (st->what == SIM_SYNC_EVENT)
		call_awaits(s, call, s->record.p[st->arg].last, st->extra, SIM_SYNC);
	else if (st->what == SIM_COPY)
		call_awaits(s, call, st->arg, st->extra, SIM_SYNC);
	else
		for (size_t i = 0; i < s->stream.n; i++)
			if (s->stream.p[i].dev == st->arg)
				call_awaits(s, call, s->stream.p[i].last, st->extra, SIM_SYNC);
}

static void
take_call(struct sim *s, uint32_t thread, struct sim_step step)
{
	struct sim_thread *th = &s->thread.p[thread];
	uint32_t call = (uint32_t)s->call.n;
	struct sim_call c = { .thread = thread, .name = step.name, .step = step, .start = th->now, .own = th->now + step.ns, .end = th->now + step.ns,
	                      .op = SYN_NONE, .began = { th->from, SIM_GAP }, .ended = { sim_enter(s, call), SIM_CALL } };

	/* While it waits for itself the call is not done. */
	c.need = 1;
	syn_add(&s->call, c);
	th->parked = true;
	switch (step.what) {
	case SIM_LAUNCH: case SIM_COPY:
		s->call.p[call].op = step.arg;
		s->call.p[call].nops = 1;
		launch(s, step.arg, call);
		settle(s);
		if (step.what == SIM_COPY)
			block(s, call);
		break;
	case SIM_GRAPH:
		s->call.p[call].op = step.arg;
		s->call.p[call].nops = step.arg2;
		launch_graph(s, step.arg, step.arg2, call);
		settle(s);
		break;
	case SIM_RECORD:
		s->record.p[step.arg].last = s->stream.p[step.arg2].last;
		s->record.p[step.arg].call = call;
		break;
	case SIM_AWAIT:
		if (s->record.p[step.arg].last != SYN_NONE)
			syn_add(&s->stream.p[step.arg2].pending, s->record.p[step.arg].last);
		break;
	case SIM_OTHER:
		break;
	default:
		block(s, call);
	}
	if (--s->call.p[call].need == 0)
		go_on(s, call);
}

/* A thread that waits follows the one that posts. */
static void
post(struct sim *s, struct sim_thread *th, uint32_t sem)
{
	s->sem.p[sem].count++;
	for (size_t i = 0; i < s->thread.n; i++) {
		struct sim_thread *t = &s->thread.p[i];

		if (!t->taking || t->step.p[t->at].arg != sem || !s->sem.p[sem].count)
			continue;
		s->sem.p[sem].count--;
		t->parked = t->taking = false;
		t->now = th->now + t->step.p[t->at++].ns;
		t->from = th->from;
	}
}

static void
take(struct sim *s, struct sim_thread *th, const struct sim_step *st)
{
	if (s->sem.p[st->arg].count) {
		s->sem.p[st->arg].count--;
		th->at++;
	} else {
		th->parked = th->taking = true;
	}
}

static void
step(struct sim *s, uint32_t thread)
{
	struct sim_thread *th = &s->thread.p[thread];
	const struct sim_step *st = &th->step.p[th->at];

	switch (st->what) {
	case SIM_WORK:
		if (st->extra)
			syn_add(&s->profiler, ((struct sim_range){ thread, 0, 0, th->now, th->now + st->extra }));
		th->now += st->ns + st->extra;
		break;
	case SIM_POST:
		post(s, th, st->arg);
		break;
	case SIM_TAKE:
		take(s, th, st);
		return;
	case SIM_PUSH:
		syn_add(&s->range, ((struct sim_range){ thread, st->name, st->arg, th->now, INT64_MAX }));
		break;
	case SIM_POP:
		for (size_t i = s->range.n; i-- > 0;)
			if (s->range.p[i].thread == thread && s->range.p[i].end == INT64_MAX) {
				s->range.p[i].end = th->now;
				break;
			}
		break;
	default:
		th->at++;
		take_call(s, thread, *st);
		return;
	}
	th->at++;
}

static void
begin(struct sim *s)
{
	s->call.n = s->range.n = s->link.n = s->ready.n = s->profiler.n = 0;
	for (size_t i = 0; i < s->thread.n; i++) {
		struct sim_thread *th = &s->thread.p[i];

		th->at = 0;
		th->now = 0;
		th->from = SYN_NONE;
		th->parked = th->taking = false;
	}
	for (size_t i = 0; i < s->stream.n; i++) {
		s->stream.p[i].last = SYN_NONE;
		s->stream.p[i].pending.n = 0;
	}
	for (size_t i = 0; i < s->op.n; i++) {
		struct sim_op *o = &s->op.p[i];

		o->call = o->links = SYN_NONE;
		o->need = 0;
		o->start = o->end = INT64_MIN;
		o->known = false;
	}
	for (size_t i = 0; i < s->record.n; i++)
		s->record.p[i].last = SYN_NONE;
	for (size_t i = 0; i < s->meet.n; i++)
		s->meet.p[i] = (struct sim_meet){ .n = s->meet.p[i].n, .first = SYN_NONE };
	for (size_t i = 0; i < s->sem.n; i++)
		s->sem.p[i].count = s->sem.p[i].first;
	while (s->device.n < s->p->dev.n)
		syn_add(&s->device, (struct sim_queue){ 0 });
	for (size_t i = 0; i < s->device.n; i++)
		s->device.p[i].issued.n = 0;
}

void
sim_run(struct sim *s)
{
	begin(s);
	for (;;) {
		uint32_t next = SYN_NONE;
		bool waiting = false;

		for (uint32_t i = 0; i < s->thread.n; i++) {
			const struct sim_thread *th = &s->thread.p[i];

			waiting |= th->at < th->step.n;
			if (!th->parked && th->at < th->step.n && (next == SYN_NONE || th->now < s->thread.p[next].now))
				next = i;
		}
		if (next == SYN_NONE && waiting)
			syn_die("threads wait for each other");
		if (next == SYN_NONE)
			break;
		step(s, next);
	}
	for (size_t i = 0; i < s->op.n; i++)
		if (!s->op.p[i].known)
			syn_die("operation %zu does not end", i);
}

void
sim_free(struct sim *s)
{
	for (size_t i = 0; i < s->thread.n; i++)
		free(s->thread.p[i].step.p);
	for (size_t i = 0; i < s->stream.n; i++)
		free(s->stream.p[i].pending.p);
	for (size_t i = 0; i < s->device.n; i++)
		free(s->device.p[i].issued.p);
	free(s->thread.p);
	free(s->stream.p);
	free(s->op.p);
	free(s->record.p);
	free(s->meet.p);
	free(s->sem.p);
	free(s->payload.p);
	free(s->profiler.p);
	free(s->call.p);
	free(s->range.p);
	free(s->link.p);
	free(s->device.p);
	free(s->ready.p);
	nsx_map_free(&s->meets);
}
