/* calls.c -- the host in the stream: calls by host start, merged from the threads, and the contents of their
 * records. */
#include "extract/emit.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/sort.h"

/* A thread: the next of its calls to write, and the end of its calls. */
struct ex_caller { int64_t start; uint32_t at, end; };

static bool
before(const struct ex_profile *p, const struct ex_caller *x, const struct ex_caller *y)
{
	(void)p;
	return x->start != y->start ? x->start < y->start : x->at < y->at;
}

NSX_HEAP(callers, struct ex_caller, const struct ex_profile *, before)

/* Advance from x->at to a call that is kept: false if there is none. */
static bool
seek(const struct ex_profile *p, struct ex_caller *x)
{
	for (; x->at < x->end; x->at++) {
		const struct nsx_host_call *c = &p->trace.calls[x->at];
		if (nsx_extract_in_window(p->opts, c->start, c->end)) {
			x->start = c->start;
			return true;
		}
	}
	return false;
}

bool
nsx_extract_calls_open(struct ex_calls *c, const struct ex_profile *p)
{
	const struct nsx_trace *t = &p->trace;

	*c = (struct ex_calls){ p, malloc(((size_t)t->nhost_threads + 1) * sizeof *c->heap), 0 };
	if (!c->heap)
		return false;
	for (uint32_t i = 0; i < t->nhost_threads; i++) {
		const struct nsx_calling_thread *th = &t->host_threads[i];
		struct ex_caller x = { 0, th->first, th->first + th->n };
		if (nsx_extract_process_kept(p, th->process) && seek(p, &x))
			c->heap[c->n++] = x;
	}
	callers_make(p, c->heap, c->n);
	return true;
}

bool
nsx_extract_calls_peek(const struct ex_calls *c, int64_t *start)
{
	if (c->n)
		*start = c->heap[0].start;
	return c->n != 0;
}

uint32_t
nsx_extract_calls_next(struct ex_calls *c)
{
	uint32_t found = c->heap[0].at++;

	if (!seek(c->p, &c->heap[0]))
		c->heap[0] = c->heap[--c->n];
	callers_down(c->p, c->heap, c->n);
	return found;
}

void
nsx_extract_calls_close(struct ex_calls *c)
{
	free(c->heap);
}

bool
nsx_extract_overhead_kept(const struct ex_profile *p, uint32_t overhead)
{
	const struct nsx_overhead *o = &p->trace.overheads[overhead];

	if (!nsx_extract_in_window(p->opts, o->start, o->end))
		return false;
	for (uint32_t i = 0; o->process == NSX_NONE && i < p->trace.nprocesses; i++)
		if (nsx_extract_process_kept(p, i))
			return true;
	return o->process != NSX_NONE && nsx_extract_process_kept(p, o->process);
}

/* ---- order */

int64_t
nsx_extract_host_dur(const struct ex_profile *p, const struct nsx_sort_start *e)
{
	if (e->tag == NSX_CALL)
		return nsx_extract_dur(p->trace.calls[e->i].start, p->trace.calls[e->i].end);
	return nsx_extract_dur(p->trace.overheads[e->i].start, p->trace.overheads[e->i].end);
}

int64_t
nsx_extract_tid(uint64_t gtid)
{
	return (int64_t)(gtid & 0xFFFFFF);
}

struct nsx_str
nsx_extract_text(const struct nsx_trace *t, uint32_t name)
{
	return name == NSX_NONE ? (struct nsx_str){ "", 0 } : nsx_intern_str(&t->names, name);
}

int64_t
nsx_extract_host_number(const struct ex_profile *p, const struct nsx_sort_start *e, enum nsx_role role)
{
	const struct nsx_trace *t = &p->trace;
	bool call = e->tag == NSX_CALL;
	const struct nsx_overhead *o = call ? NULL : &t->overheads[e->i];
	const struct nsx_host_call *c = call ? &t->calls[e->i] : NULL;

	if (o && o->gtid == NSX_NO_GTID && (role == NSX_ROLE_PID || role == NSX_ROLE_TID))
		return INT64_MIN;
	switch (role) {
	case NSX_ROLE_PID:
		return t->processes[call ? nsx_trace_caller(t, e->i)->process : o->process].pid;
	case NSX_ROLE_TID:   return call ? nsx_trace_caller(t, e->i)->tid : nsx_extract_tid(o->gtid);
	case NSX_ROLE_RANGE: return call && c->range != NSX_NONE ? t->ranges[c->range].id : INT64_MIN;
	case NSX_ROLE_CALL:  return call ? c->id : o->has_call ? o->call : INT64_MIN;
	default:             return INT64_MIN;
	}
}

struct nsx_str
nsx_extract_host_name(const struct ex_profile *p, const struct nsx_sort_start *e)
{
	const struct nsx_trace *t = &p->trace;

	return nsx_extract_text(t, e->tag == NSX_CALL ? t->call_names[t->calls[e->i].name].name
	    : t->overheads[e->i].name);
}

/* ---- records */

/* The numbers of the operations that it awaited, ascending, as text that the outbox keeps; false when out of memory. */
static bool
set_awaits(struct ex_emit *e, const struct ex_profile *p, const struct nsx_awaits *a, uint32_t of, struct nsx_rec *r,
           int slot)
{
	size_t n;
	const struct nsx_await *awaited = nsx_awaits_of(a, of, &n);
	struct nsx_str text;

	if (!n)
		return true;
	e->name.len = e->numbers.n = 0;
	for (size_t i = 0; i < n; i++)
		if (!nsx_vec_push(&e->numbers, nsx_emit_op_number(p, awaited[i].op)))
			return false;
	/* Those of a source are in any order. */
	qsort(e->numbers.p, n, sizeof *e->numbers.p, nsx_sort_by_int);
	for (size_t i = 0; i < n; i++)
		nsx_buf_fmt(&e->name, i ? ",%" PRId64 : "%" PRId64, e->numbers.p[i]);
	text = e->name.failed ? (struct nsx_str){ NULL, 0 } : nsx_extract_outbox_keep(e->out, nsx_buf_view(&e->name));
	if (text.ptr)
		nsx_set_s(r, slot, text);
	return text.ptr != NULL;
}

bool
nsx_emit_after(struct ex_emit *e, const struct ex_profile *p, uint32_t op, struct nsx_rec *r)
{
	return set_awaits(e, p, &p->trace.after, op, r, NSX_OP_after);
}

bool
nsx_emit_waited(struct ex_emit *e, const struct ex_profile *p, uint32_t call, struct nsx_rec *r)
{
	return set_awaits(e, p, &p->trace.waited, call, r, NSX_CALL_waited);
}

static const struct nsx_call_loss *
loss_of(const struct nsx_trace *t, uint32_t call)
{
	static const struct nsx_call_loss none = { 0, 0, 0 };
	uint32_t lo = 0, hi = t->nlosses;

	if (!t->calls[call].lost)
		return &none;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (t->losses[mid].call < call)
			lo = mid + 1;
		else
			hi = mid;
	}
	return &t->losses[lo];
}

void
nsx_extract_set_call(const struct ex_profile *p, uint32_t call, struct nsx_rec *r)
{
	static const struct nsx_str classes[NSX_CALL_CLASSES] = {
		[NSX_CALL_OTHER] = { "other", 5 }, [NSX_CALL_LAUNCH] = { "launch", 6 },
		[NSX_CALL_GRAPH_LAUNCH] = { "graph-launch", 12 },
		[NSX_CALL_COPY] = { "copy", 4 }, [NSX_CALL_SET] = { "set", 3 }, [NSX_CALL_SYNC] = { "sync", 4 },
		[NSX_CALL_EVENT] = { "event", 5 },
		[NSX_CALL_ALLOC] = { "alloc", 5 }, [NSX_CALL_MODULE] = { "module", 6 }
	};
	const struct nsx_trace *t = &p->trace;
	const struct nsx_host_call *c = &t->calls[call];
	const struct nsx_calling_thread *th = nsx_trace_caller(t, call);
	const struct nsx_call_name *name = &t->call_names[c->name];

	nsx_set_i(r, NSX_CALL_profile, p->number);
	nsx_set_i(r, NSX_CALL_call, c->id);
	nsx_emit_set_pid(r, NSX_CALL_pid, t, th->process);
	nsx_set_i(r, NSX_CALL_tid, th->tid);
	nsx_set_i(r, NSX_CALL_start, c->start);
	nsx_set_i(r, NSX_CALL_dur, nsx_extract_dur(c->start, c->end));
	if (name->name != NSX_NONE)
		nsx_set_s(r, NSX_CALL_name, nsx_intern_str(&t->names, name->name));
	nsx_set_s(r, NSX_CALL_class, classes[name->class]);
	nsx_set_i(r, NSX_CALL_ops, c->ops);
	if (c->range != NSX_NONE)
		nsx_set_i(r, NSX_CALL_range, t->ranges[c->range].id);
	if (nsx_call_blocks(t, c))
		nsx_set_i(r, NSX_CALL_blocking, 1);
	if (t->losses_known) {
		const struct nsx_call_loss *loss = loss_of(t, call);
		nsx_set_i(r, NSX_CALL_stalled, loss->stalled);
		nsx_set_i(r, NSX_CALL_loading, loss->loading);
	}
}

void
nsx_extract_set_overhead(const struct ex_profile *p, uint32_t overhead, struct nsx_rec *r)
{
	static const struct nsx_str classes[] = {
		[NSX_OVERHEAD_PROFILER] = { "profiler", 8 }, [NSX_OVERHEAD_QUEUE_FULL] = { "queue-full", 10 },
		[NSX_OVERHEAD_LOADING] = { "loading", 7 }, [NSX_OVERHEAD_UNKNOWN] = { "", 0 }
	};
	const struct nsx_trace *t = &p->trace;
	const struct nsx_overhead *o = &t->overheads[overhead];

	nsx_set_i(r, NSX_OVERHEAD_profile, p->number);
	if (o->gtid != NSX_NO_GTID) {
		nsx_emit_set_pid(r, NSX_OVERHEAD_pid, t, o->process);
		nsx_set_i(r, NSX_OVERHEAD_tid, nsx_extract_tid(o->gtid));
	}
	if (o->has_call)
		nsx_set_i(r, NSX_OVERHEAD_call, o->call);
	nsx_set_i(r, NSX_OVERHEAD_start, o->start);
	nsx_set_i(r, NSX_OVERHEAD_dur, nsx_extract_dur(o->start, o->end));
	nsx_set_s(r, NSX_OVERHEAD_class, classes[o->class]);
	nsx_set_s(r, NSX_OVERHEAD_name, nsx_extract_text(t, o->name));
}

void
nsx_extract_set_op_host(const struct ex_profile *p, uint32_t op, struct nsx_rec *r)
{
	const struct nsx_trace *t = &p->trace;
	const struct nsx_gpu_op *o = &t->ops[op];

	if (o->launch != NSX_NONE) {
		const struct nsx_issue *c = &t->issues[o->launch];
		nsx_set_i(r, NSX_OP_call, c->id);
		nsx_set_i(r, NSX_OP_tid, nsx_extract_tid(c->gtid));
		nsx_set_i(r, NSX_OP_host_start, c->start);
		nsx_set_i(r, NSX_OP_host_dur, nsx_extract_dur(c->start, c->end));
		if (t->waits_known)
			nsx_set_i(r, NSX_OP_waits, t->op_waits ? t->op_waits[op] : 0);
	}
	if (o->src < NSX_MEMORY_KINDS)
		nsx_set_s(r, NSX_OP_src, nsx_memory_kind_names[o->src]);
	if (o->dst < NSX_MEMORY_KINDS)
		nsx_set_s(r, NSX_OP_dst, nsx_memory_kind_names[o->dst]);
}
