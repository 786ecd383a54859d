/* load.c -- what a graph of events is made of: operations, calls and instances of collectives, from the records of a
 * stream. Records refer to others by number; link.c resolves that when all have come. */
#include <stdlib.h>

#include "base/num.h"
#include "job/reach.h"
#include "job/steps/periods.h"
#include "table/whatif/graph.h"

/* ---- reading */

void
nsx_wi_need(struct wi_graph *g, struct nsx_reader *in)
{
	g->pairing.comm.cat.keep = NSX_CAT_NAMES;
	nsx_comm_need(&g->pairing.comm, in);
	nsx_nccl_need(in);
	nsx_reader_need(in, NSX_CALL, nsx_field_slots(NSX_CALL, NSX_REACH_ROLES) | NSX_C(CALL, profile)
	                | NSX_C(CALL, call) | NSX_C(CALL, pid) | NSX_C(CALL, tid) | NSX_C(CALL, name)
	                | NSX_C(CALL, class) | NSX_C(CALL, ops) | NSX_C(CALL, blocking) | NSX_C(CALL, stalled)
	                | NSX_C(CALL, waited));
	nsx_reader_need(in, NSX_OVERHEAD, nsx_field_slots(NSX_OVERHEAD, NSX_REACH_ROLES) | NSX_C(OVERHEAD, profile)
	                | NSX_C(OVERHEAD, pid) | NSX_C(OVERHEAD, tid) | NSX_C(OVERHEAD, class));
	nsx_reader_need(in, NSX_OP, nsx_field_slots(NSX_OP, NSX_REACH_ROLES | NSX_CAT_COMM_ROLES) | NSX_C(OP, profile)
	                | NSX_C(OP, op) | NSX_C(OP, type) | NSX_C(OP, device) | NSX_C(OP, stream) | NSX_C(OP, name)
	                | NSX_C(OP, graph_node) | NSX_C(OP, execution) | NSX_C(OP, call) | NSX_C(OP, after));
}

/* Add the numbers that a list has; *n of them from *at. */
static int
take_numbers(struct wi_graph *g, struct nsx_str list, uint32_t *at, uint32_t *n)
{
	*at = (uint32_t)g->numbers.n;
	for (size_t i = 0, k; i < list.len; i = k + 1) {
		int64_t number;

		for (k = i; k < list.len && list.ptr[k] != ',';)
			k++;
		if (nsx_get_int((struct nsx_str){ list.ptr + i, k - i }, &number) && !nsx_vec_push(&g->numbers, number))
			return nsx_err_nomem(g->err, NULL);
	}
	*n = (uint32_t)g->numbers.n - *at;
	return NSX_OK;
}

static bool
intern(struct wi_graph *g, struct nsx_str text, uint32_t *id)
{
	*id = nsx_intern(&g->names, text);
	return *id != NSX_NONE;
}

static int
take_call(struct wi_graph *g, const struct nsx_rec *rec)
{
	int64_t pid = nsx_int(rec, NSX_CALL_pid, 0), profile = nsx_int(rec, NSX_CALL_profile, 0);
	struct wi_call c = {
		.start = nsx_int(rec, NSX_CALL_start, 0), .number = nsx_int(rec, NSX_CALL_call, NSX_ABSENT),
		.stalled = nsx_int(rec, NSX_CALL_stalled, NSX_ABSENT), .profile = nsx_cat_profile(&g->pairing.comm.cat,
		rec), .blocking = nsx_int(rec, NSX_CALL_blocking, 0) == 1, .before = NSX_NONE, .op = NSX_NONE,
		.queue = NSX_NONE, .from = NSX_NONE, .beside = NSX_NONE
	};
	int64_t dur = nsx_int(rec, NSX_CALL_dur, 0);

	c.thread = nsx_thread_number(&g->threads, profile, pid, nsx_int(rec, NSX_CALL_tid, 0));
	c.process = nsx_map_get(&g->threads.process_of, (struct nsx_key){ (uint64_t)profile, (uint64_t)pid });
	c.end = c.start + (dur > 0 ? dur : 0);
	g->stalls |= c.stalled != NSX_ABSENT && c.stalled > WI_RETURN;
	if (!intern(g, nsx_string(rec, NSX_CALL_name), &c.name) || !intern(g, nsx_string(rec, NSX_CALL_class), &c.class)
	    || c.thread == NSX_NONE || c.profile == NSX_NONE)
		return nsx_err_nomem(g->err, NULL);
	if (take_numbers(g, nsx_string(rec, NSX_CALL_waited), &c.waited, &c.nwaited) != NSX_OK)
		return NSX_ERR;
	return nsx_vec_push(&g->calls, c) ? NSX_OK : nsx_err_nomem(g->err, NULL);
}

/* An operation that communicates, of an instruction: its record of a collective is the operation's own, whether the
 * stream has executions of instructions or not. */
static int
pair_inst(struct wi_graph *g, const struct nsx_rec *op, struct wi_op *o, size_t ticket)
{
	union nsx_val v[NSX_MAX_COLS];
	struct nsx_rec thunk = { nsx_kind_builtin(NSX_THUNK), 0, v };
	struct nsx_comm_record r;
	struct nsx_pairable x;
	uint32_t inst = nsx_cat_inst(&g->pairing.comm.cat, op), *count;
	int64_t execution = nsx_int(op, NSX_OP_execution, -1);

	count = inst == NSX_NONE ? NULL : nsx_map_at(&g->occurrences,
	                                             (struct nsx_key){ (uint64_t)o->device << 32 | inst,
	                                                               (uint64_t)execution });
	if (!count)
		return nsx_err_nomem(g->err, NULL);
	*count = *count == NSX_NONE ? 0 : *count + 1;
	nsx_set_i(&thunk, NSX_THUNK_occurrence, *count);
	nsx_set_i(&thunk, NSX_THUNK_execution, execution);
	nsx_set_i(&thunk, NSX_THUNK_program, nsx_int(op, NSX_OP_program, NSX_ABSENT));
	nsx_set_i(&thunk, NSX_THUNK_inst, nsx_int(op, NSX_OP_inst, NSX_ABSENT));
	nsx_set_i(&thunk, NSX_THUNK_profile, nsx_int(op, NSX_OP_profile, NSX_ABSENT));
	nsx_set_i(&thunk, NSX_THUNK_device, nsx_int(op, NSX_OP_device, NSX_ABSENT));
	nsx_set_i(&thunk, NSX_THUNK_start, o->start);
	nsx_set_i(&thunk, NSX_THUNK_dur, o->end - o->start);
	if (nsx_comm_describe(&g->pairing.comm, &thunk, &r, g->err) != NSX_OK
	    || nsx_pairing_thunk(&g->pairing, &thunk, &r, &x) != NSX_OK)
		return NSX_ERR;
	return nsx_pairing_add(&g->pairing, &x, ticket);
}

static int
take_op(struct wi_graph *g, const struct nsx_rec *rec)
{
	struct nsx_catalogue *cat = &g->pairing.comm.cat;
	struct nsx_str name = nsx_string(rec, NSX_OP_name), type = nsx_string(rec, NSX_OP_type), of_inst;
	struct wi_op o = {
		.start = nsx_int(rec, NSX_OP_start, 0), .number = nsx_int(rec, NSX_OP_op, NSX_ABSENT),
		.bytes = NSX_ABSENT, .group = NSX_ABSENT, .profile = nsx_cat_profile(cat, rec),
		.device = nsx_cat_device(cat, rec), .kind = NSX_NONE, .inst = NSX_NONE, .call = NSX_NONE,
		.before = NSX_NONE, .before_item = NSX_NONE, .item = NSX_NONE, .instance = NSX_NONE,
		.copy = nsx_str_starts(type, "mem"), .node = nsx_int(rec, NSX_OP_graph_node, NSX_ABSENT)
	};
	size_t at = g->ops.n;
	struct nsx_pairable x;

	if (!nsx_has(rec, NSX_OP_start) || nsx_int(rec, NSX_OP_dur, -1) < 0) {
		g->timeless++;
		return NSX_OK;
	}
	o.end = o.start + rec->v[NSX_OP_dur].i;
	if (nsx_has(rec, NSX_OP_inst)) {
		uint32_t inst = nsx_cat_inst(cat, rec);

		if (inst == NSX_NONE)
			return nsx_err_nomem(g->err, NULL);
		o.inst = inst;
		of_inst = nsx_cat_str(cat, cat->insts.p[inst].name);
		name = of_inst.len ? of_inst : name;
	}
	o.stream = nsx_map_number(&g->streams, (struct nsx_key){ o.device, (uint64_t)nsx_int(rec, NSX_OP_stream, 0) });
	o.comm = nsx_cat_communicates(cat, rec);
	o.guessed = nsx_str_eq(nsx_string(rec, NSX_OP_comm_id), NSX_STR("unknown"));
	if (!intern(g, name, &o.name) || o.profile == NSX_NONE || o.device == NSX_NONE || o.stream == NSX_NONE)
		return nsx_err_nomem(g->err, NULL);
	if (take_numbers(g, nsx_string(rec, NSX_OP_after), &o.after, &o.nafter) != NSX_OK)
		return NSX_ERR;
	/* Until all have come, the number of its call. */
	if (nsx_has(rec, NSX_OP_call) && !nsx_vec_push(&g->numbers, rec->v[NSX_OP_call].i))
		return nsx_err_nomem(g->err, NULL);
	o.call = nsx_has(rec, NSX_OP_call) ? (uint32_t)g->numbers.n - 1 : NSX_NONE;
	if (!nsx_vec_push(&g->ops, o))
		return nsx_err_nomem(g->err, NULL);
	if (!o.comm)
		return NSX_OK;
	if (nsx_cat_inst_communicates(cat, rec))
		return pair_inst(g, rec, &o, at);
	return nsx_pairing_op(&g->pairing, rec, &x) == NSX_OK ? nsx_pairing_add(&g->pairing, &x, at) : NSX_ERR;
}

static int
take_overhead(struct wi_graph *g, const struct nsx_rec *rec)
{
	struct wi_overhead o = { nsx_int(rec, NSX_OVERHEAD_start, 0), 0, NSX_NONE };

	if (!nsx_str_eq(nsx_string(rec, NSX_OVERHEAD_class), NSX_STR("profiler")))
		return NSX_OK;
	o.end = o.start + nsx_int(rec, NSX_OVERHEAD_dur, 0);
	o.thread = nsx_thread_number(&g->threads, nsx_int(rec, NSX_OVERHEAD_profile, 0),
	                             nsx_int(rec, NSX_OVERHEAD_pid, 0), nsx_int(rec, NSX_OVERHEAD_tid, 0));
	return o.thread != NSX_NONE && nsx_vec_push(&g->overheads, o) ? NSX_OK : nsx_err_nomem(g->err, NULL);
}

/* The records of one instance. */
static int
take_instance(void *state, struct nsx_collective *of, size_t n)
{
	struct wi_graph *g = state;
	bool apart = n > 1 && of->wait == NSX_ABSENT;
	struct wi_instance x = { (uint32_t)g->members.n, 0, 0, INT64_MIN };

	g->apart += apart ? (int64_t)n : 0;
	g->alone += n == 1 && (of->group > 1 || of->apart);
	for (size_t i = 0; i < n; i++) {
		struct wi_op *o = &g->ops.p[of[i].ticket];

		o->bytes = of[i].bytes;
		o->group = of[i].group;
		if (of[i].kind != NSX_NONE && !intern(g, nsx_cat_str(&g->pairing.comm.cat, of[i].kind), &o->kind))
			return nsx_err_nomem(g->err, NULL);
		if (n > 1 && !apart) {
			if (!nsx_vec_push(&g->members, (uint32_t)of[i].ticket))
				return nsx_err_nomem(g->err, NULL);
			o->instance = (uint32_t)g->instances.n;
			x.n++;
		}
	}
	return !x.n || nsx_vec_push(&g->instances, x) ? NSX_OK : nsx_err_nomem(g->err, NULL);
}

/* Whether it is a collective that ends for all devices at once, and its communicator is not known: it may be one of all
 * devices of the stream, which is judged when all have come. */
static bool
may_be_of_all(struct wi_graph *g, const struct nsx_rec *op)
{
	static const char *const kinds[] = { "all-reduce", "all-gather", "reduce-scatter", "all-to-all" };
	bool together = false;

	if (nsx_has(op, NSX_OP_comm_id) || !nsx_has(op, NSX_OP_collective)
	    || nsx_cat_inst_communicates(&g->pairing.comm.cat, op))
		return false;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		together |= nsx_str_eq(nsx_string(op, NSX_OP_collective), nsx_str_c(kinds[i]));
	return together && nsx_comm_one_clock(&g->pairing.comm);
}

static bool
is_outside(const struct wi_graph *g, const struct nsx_rec *rec)
{
	enum nsx_kind_id kind = rec->kind->id;
	int64_t start = kind == NSX_OP ? nsx_int(rec, NSX_OP_start, NSX_ABSENT)
	                : kind == NSX_CALL || kind == NSX_OVERHEAD ? nsx_field_int(rec, NSX_ROLE_HOST_START, NSX_ABSENT)
	                : NSX_ABSENT;

	return start != NSX_ABSENT && (start < g->from || start >= g->to);
}

int
nsx_wi_take(void *graph, const struct nsx_rec *rec)
{
	struct nsx_rec of_all;
	struct wi_graph *g = graph;

	if (!g->pairing.instance) {
		g->pairing.instance = take_instance;
		g->pairing.state = g;
		g->pairing.err = g->err;
		nsx_pairing_begin(&g->pairing);
	}
	/* The search for steps counts what is beyond. */
	if (!nsx_in_reach(rec) || is_outside(g, rec))
		return NSX_OK;
	if (rec->kind->id == NSX_OP && may_be_of_all(g, rec)) {
		of_all = *rec;
		nsx_set_s(&of_all, NSX_OP_comm_id, NSX_STR("unknown"));
		rec = &of_all;
	}
	if (nsx_pairing_take(&g->pairing, rec) != NSX_OK)
		return NSX_ERR;
	switch (rec->kind->id) {
	case NSX_CALL:     return take_call(g, rec);
	case NSX_OP:       return take_op(g, rec);
	case NSX_OVERHEAD: return take_overhead(g, rec);
	default:           return NSX_OK;
	}
}

void
nsx_wi_free(struct wi_graph *g)
{
	nsx_pairing_free(&g->pairing);
	nsx_intern_free(&g->names);
	nsx_threads_free(&g->threads);
	nsx_map_free(&g->streams);
	nsx_map_free(&g->op_of);
	nsx_map_free(&g->call_of);
	nsx_map_free(&g->occurrences);
	free(g->ops.p);
	free(g->calls.p);
	free(g->numbers.p);
	free(g->refs.p);
	free(g->members.p);
	free(g->instances.p);
	free(g->nodes.p);
	free(g->items.p);
	free(g->overheads.p);
	free(g->steps.p);
	free(g->limits.p);
	free(g->usual.p);
	free(g->unqueued.p);
	free(g->edges.p);
	free(g->lags.p);
	free(g->first);
	free(g->order);
	free(g->by_device);
	free(g->device_first);
	free(g->times);
}
