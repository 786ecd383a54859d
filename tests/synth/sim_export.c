/* sim_export.c -- a run of a job of causes as a plan, which export.c writes; and what tells which operation a call or a stream waited for. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "xport.h"

enum { EVENT_BASE = 1300, NO_EVENT = -1, QUEUE_FULL = 8, PROFILER = 3 };   /* kinds of overheads */
/* Types of rows of SYNCHRONIZATION. */
enum { EVENT_SYNC = 1, STREAM_WAIT = 2, STREAM_SYNC = 3, CONTEXT_SYNC = 4 };

static struct sim *shown;   /* NULL: none */
static bool leaves_out(const char *what) { return syn_opt.without && strcmp(syn_opt.without, what) == 0; }

/* Without the queue a call ends when its own work is done, as if the host had done something else in the meantime. */
static int64_t
shown_end(const struct sim_call *c)
{
	return c->stalled && leaves_out("queue") ? c->own : c->end;
}

void
sim_plan(struct sim *s)
{
	struct syn_plan *p = s->p;

	shown = s;
	for (size_t i = 0; i < s->range.n; i++) {
		const struct sim_range *r = &s->range.p[i];
		const struct sim_thread *th = &s->thread.p[r->thread];
		struct syn_range x = { .start = r->start, .end = r->end, .name = r->name, .proc = th->proc, .thread = th->thread, .payload = r->payload, .type = SYN_PUSHPOP };

		x.domain = strncmp(syn_str(p, r->name), "nccl", 4) == 0 ? SYN_NCCL : SYN_DEFAULT;
		x.end_thread = x.strip = x.cprog = x.cparent = x.parent = SYN_NONE;
		syn_add(&p->range, x);
	}
	for (size_t i = 0; i < s->payload.n; i++)
		syn_add(&p->payload, s->payload.p[i]);
	for (size_t i = 0; i < s->call.n; i++) {
		const struct sim_call *c = &s->call.p[i];
		const struct sim_thread *th = &s->thread.p[c->thread];

		syn_add(&p->call, ((struct syn_call){ .start = c->start, .end = shown_end(c), .name = c->name, .proc = th->proc, .thread = th->thread, .thunk = SYN_NONE,
		                                      .module = SYN_NONE, .driver = SYN_NONE, .launches = c->nops > 0 }));
	}
	for (size_t i = 0; i < s->op.n; i++) {
		const struct sim_op *o = &s->op.p[i];
		const struct sim_stream *st = &s->stream.p[o->stream];

		syn_add(&p->op, ((struct syn_op){ .start = o->start, .end = o->end, .bytes = o->bytes, .dev = st->dev, .call = o->call, .name = o->name, .short_name = o->name,
		                                  .stream = st->id, .type = o->type, .copy_kind = o->copy_kind, .pageable = s->call.p[o->call].step.what == SIM_COPY,
		                                  .pinned = o->type == SYN_MEMCPY, .node = o->node, .inst = SYN_NONE }));
	}
}

void
syn_sim(struct syn_plan *p)
{
	static struct sim s;
	const char *why;

	syn_opt.one_export = "ordinal";
	syn_opt.torch = "";
	syn_opt.details = true;
	s.p = p;
	s.random = (uint64_t)syn_opt.seed * 0xd1342543de82ef95ULL;
	s.steady = syn_opt.steady;
	sim_build(&s, syn_opt.sim);
	why = syn_opt.change ? sim_change(&s, syn_opt.change) : NULL;
	if (why)
		syn_die("--change %s: %s", syn_opt.change, why);
	sim_run(&s);
	p->base = 2000000000;
	p->nxports = 1;
	sim_answers(&s, !syn_opt.change, syn_opt.slack);
	sim_plan(&s);
	syn_show(p);
	syn_export(p);
	sim_free(&s);
}

/* The number of a record in its process, from 0. */
static int64_t
number_of(const struct sim *s, uint32_t record)
{
	const struct sim_call *c = &s->call.p[s->record.p[record].call];
	int64_t n = 0;

	for (size_t i = 0; i < s->record.n; i++) {
		const struct sim_call *x = &s->call.p[s->record.p[i].call];

		n += s->thread.p[x->thread].proc == s->thread.p[c->thread].proc && x->start < c->start;
	}
	return n;
}

static void
put_wait(struct xport *x, const struct sim *s, uint32_t call, int type, uint32_t stream, uint32_t dev, uint32_t record)
{
	const struct sim_call *c = &s->call.p[call];
	uint32_t proc = s->thread.p[c->thread].proc;

	db_put(x->d, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "start:i end:i deviceId:i contextId:i streamId:i correlationId:i globalPid:i syncType:i eventId:i eventSyncId:i",
	       syn_local(x->p, proc, c->start), syn_local(x->p, proc, c->end), x->p->dev.p[dev].cuda, (int64_t)1,
	       stream == SYN_NONE ? INT64_C(4294967295) : (int64_t)s->stream.p[stream].id, (int64_t)x->p->call.p[call].corr, (int64_t)syn_gpid(x->p, proc), (int64_t)type,
	       record == SYN_NONE ? INT64_C(4294967295) : s->record.p[record].event,
	       record == SYN_NONE ? INT64_C(4294967295) : EVENT_BASE + number_of(s, record));
}

static void
put_record(struct xport *x, const struct sim *s, uint32_t record)
{
	const struct sim_record *r = &s->record.p[record];
	uint32_t proc = s->thread.p[s->call.p[r->call].thread].proc;

	db_put(x->d, "CUPTI_ACTIVITY_KIND_CUDA_EVENT", "deviceId:i contextId:i streamId:i correlationId:i globalPid:i eventId:i eventSyncId:i",
	       x->p->dev.p[s->stream.p[r->stream].dev].cuda, (int64_t)1, (int64_t)s->stream.p[r->stream].id, (int64_t)x->p->call.p[r->call].corr, (int64_t)syn_gpid(x->p, proc),
	       r->event, EVENT_BASE + number_of(s, record));
}

static void
put_overhead(struct xport *x, uint32_t proc, uint32_t thread, int64_t start, int64_t end, uint32_t corr, int type)
{
	db_put(x->d, "CUPTI_ACTIVITY_KIND_OVERHEAD", "start:i end:i eventClass:i globalTid:i correlationId:i nameId:i overheadType:i", syn_local(x->p, proc, start),
	       syn_local(x->p, proc, end), (int64_t)103, (int64_t)syn_gtid(x->p, proc, thread), (int64_t)corr, xport_cstring(x, type == QUEUE_FULL ? "Command Buffer Full" : "Buffer Flush"), (int64_t)type);
}

bool
xport_sim(struct xport *x)
{
	const struct sim *s = shown;

	if (!s)
		return false;
	for (uint32_t i = 0; i < s->call.n; i++) {
		const struct sim_call *c = &s->call.p[i];
		const struct sim_step *st = &c->step;
		const struct sim_thread *th = &s->thread.p[c->thread];

		if (st->what == SIM_AWAIT && !leaves_out("wait"))
			put_wait(x, s, i, STREAM_WAIT, st->arg2, s->stream.p[st->arg2].dev, st->arg);
		else if (st->what == SIM_SYNC_STREAM && !leaves_out("sync"))
			put_wait(x, s, i, STREAM_SYNC, st->arg, s->stream.p[st->arg].dev, SYN_NONE);
		else if (st->what == SIM_SYNC_DEVICE && !leaves_out("sync"))
			put_wait(x, s, i, CONTEXT_SYNC, SYN_NONE, st->arg, SYN_NONE);
		else if (st->what == SIM_SYNC_EVENT && !leaves_out("sync"))
			put_wait(x, s, i, EVENT_SYNC, SYN_NONE, s->stream.p[s->record.p[st->arg].stream].dev, st->arg);
		if (c->stalled && c->end > c->own && !leaves_out("queue") && !leaves_out("stall"))
			put_overhead(x, th->proc, th->thread, c->own, c->end, x->p->call.p[i].corr, QUEUE_FULL);
	}
	/* Recent exports have a row for each record. */
	if (db_version_of(syn_opt.schema) >= db_version_of("3.25.0") && !leaves_out("wait"))
		for (uint32_t i = 0; i < s->record.n; i++)
			put_record(x, s, i);
	for (size_t i = 0; i < s->profiler.n; i++) {
		const struct sim_range *r = &s->profiler.p[i];

		put_overhead(x, s->thread.p[r->thread].proc, s->thread.p[r->thread].thread, r->start, r->end, 0, PROFILER);
	}
	return true;
}
