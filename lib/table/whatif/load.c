/* load.c -- what a graph of events is made of: operations, calls and instances of collectives, from the records of a
 * stream. Records refer to others by number; references are resolved when all have come. */
#include <stdlib.h>

#include "base/num.h"
#include "base/sort.h"
#include "job/reach.h"
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
		.queue = NSX_NONE, .from = NSX_NONE
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
	struct wi_instance x = { (uint32_t)g->members.n, 0 };

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
	if (!nsx_in_reach(rec))
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

/* ---- references */

/* Calls of threads that launch, wait or call events; others do not tell when the host worked. */
static bool
keep_threads(struct wi_graph *g)
{
	static const char *const classes[] = { "launch", "graph-launch", "copy", "set", "sync", "event" };
	uint32_t ids[sizeof classes / sizeof *classes];
	size_t n = sizeof classes / sizeof *classes, kept = 0;
	bool *used = calloc(g->threads.thread_of.n + 1, sizeof *used);

	if (!used)
		return false;
	for (size_t k = 0; k < n; k++)
		ids[k] = nsx_intern_find(&g->names, nsx_str_c(classes[k]));
	for (size_t i = 0; i < g->calls.n; i++) {
		const struct wi_call *c = &g->calls.p[i];

		for (size_t k = 0; k < n; k++)
			used[c->thread] |= c->class == ids[k];
		used[c->thread] |= c->blocking;
	}
	for (size_t i = 0; i < g->calls.n; i++)
		if (used[g->calls.p[i].thread])
			g->calls.p[kept++] = g->calls.p[i];
	g->calls.n = kept;
	free(used);
	return true;
}

/* Map the numbers of operations and calls in their reports. */
static bool
map_numbers(struct wi_graph *g)
{
	if (!nsx_map_room(&g->op_of, g->ops.n) || !nsx_map_room(&g->call_of, g->calls.n))
		return false;
	for (size_t i = 0; i < g->ops.n; i++) {
		uint32_t *at = nsx_map_at(&g->op_of, (struct nsx_key){ g->ops.p[i].profile,
		                                                       (uint64_t)g->ops.p[i].number });

		if (!at)
			return false;
		*at = (uint32_t)i;
	}
	for (size_t i = 0; i < g->calls.n; i++) {
		uint32_t *at = nsx_map_at(&g->call_of, (struct nsx_key){ g->calls.p[i].profile,
		                                                         (uint64_t)g->calls.p[i].number });

		if (!at)
			return false;
		*at = (uint32_t)i;
	}
	return true;
}

/* The operations with these numbers, in refs; those that are not in the stream are left out. */
static bool
resolve(struct wi_graph *g, uint32_t profile, uint32_t *at, uint32_t *n)
{
	uint32_t from = *at, to = from + *n;

	*at = (uint32_t)g->refs.n;
	for (uint32_t i = from; i < to; i++) {
		uint32_t op = nsx_map_get(&g->op_of, (struct nsx_key){ profile, (uint64_t)g->numbers.p[i] });

		if (op != NSX_NONE && !nsx_vec_push(&g->refs, op))
			return false;
	}
	*n = (uint32_t)g->refs.n - *at;
	return true;
}

static bool
resolve_all(struct wi_graph *g)
{
	for (size_t i = 0; i < g->ops.n; i++) {
		struct wi_op *o = &g->ops.p[i];

		if (o->call != NSX_NONE)
			o->call = nsx_map_get(&g->call_of, (struct nsx_key){ o->profile,
			                      (uint64_t)g->numbers.p[o->call] });
		if (o->call != NSX_NONE) {
			struct wi_call *c = &g->calls.p[o->call];

			c->op = c->op == NSX_NONE ? (uint32_t)i : c->op;
			c->nops++;
		}
		if (!resolve(g, o->profile, &o->after, &o->nafter))
			return false;
	}
	for (size_t i = 0; i < g->calls.n; i++)
		if (!resolve(g, g->calls.p[i].profile, &g->calls.p[i].waited, &g->calls.p[i].nwaited))
			return false;
	free(g->numbers.p);
	g->numbers.p = NULL;
	g->numbers.n = g->numbers.cap = 0;
	nsx_map_free(&g->op_of);
	nsx_map_free(&g->call_of);
	g->op_of = g->call_of = (struct nsx_map){ 0 };
	return true;
}

/* What came before on the thread. */
static bool
link_calls(struct wi_graph *g)
{
	size_t nthreads = g->threads.thread_of.n;
	uint32_t *last = malloc((nthreads + 1) * sizeof *last);

	if (!last)
		return false;
	for (size_t i = 0; i < nthreads; i++)
		last[i] = NSX_NONE;
	for (size_t i = 0; i < g->calls.n; i++) {
		g->calls.p[i].before = last[g->calls.p[i].thread];
		last[g->calls.p[i].thread] = (uint32_t)i;
	}
	free(last);
	return true;
}

/* What came before in the stream: an operation, or a launch of a graph, whose nodes are one. */
static bool
link_ops(struct wi_graph *g)
{
	struct nsx_sort_key *keys = malloc((g->ops.n + g->items.n + 1) * sizeof *keys);
	size_t n = 0, nops = g->ops.n;

	if (!keys)
		return false;
	for (size_t i = 0; i < nops; i++) {
		const struct wi_op *o = &g->ops.p[i];

		if (o->item == NSX_NONE)
			keys[n++] = (struct nsx_sort_key){ { o->stream, o->start, o->end }, (uint32_t)i };
	}
	for (size_t i = 0; i < g->items.n; i++) {
		const struct wi_item *x = &g->items.p[i];

		keys[n++] = (struct nsx_sort_key){ { x->stream, x->start, x->end }, (uint32_t)(nops + i) };
	}
	nsx_sort_keys(keys, n);
	for (size_t i = 1; i < n; i++) {
		uint32_t at = keys[i].i, before = keys[i - 1].i;
		const struct wi_item *x = at < nops ? NULL : &g->items.p[at - nops];

		for (uint32_t k = 0; k < (x ? x->n : 1) && keys[i].k[0] == keys[i - 1].k[0]; k++) {
			struct wi_op *o = &g->ops.p[x ? g->nodes.p[x->first + k] : at];

			if (o->npreds)
				continue;
			o->before = before < nops ? before : NSX_NONE;
			o->before_item = before < nops ? NSX_NONE : before - (uint32_t)nops;
		}
	}
	free(keys);
	return true;
}

/* Whether the records of an instance are of one collective: all overlap, and end together. */
static bool
end_together(const struct wi_graph *g, const struct wi_instance *x)
{
	enum { TOGETHER = 50000 };   /* ns */
	int64_t first = INT64_MAX, last = INT64_MIN, start = INT64_MIN;

	for (uint32_t k = 0; k < x->n; k++) {
		const struct wi_op *o = &g->ops.p[g->members.p[x->first + k]];

		first = o->end < first ? o->end : first;
		last = o->end > last ? o->end : last;
		start = o->start > start ? o->start : start;
	}
	return start < first && last - first <= TOGETHER;
}

/* Collectives of one kind whose communicator is not known are of all devices if nine in ten end together; else which
 * devices waited for each other is not known. */
static bool
judge_guesses(struct wi_graph *g)
{
	struct { size_t n, good; } *kinds = calloc(g->names.n + 1, sizeof *kinds);

	if (!kinds)
		return false;
	for (size_t i = 0; i < g->instances.n; i++) {
		const struct wi_instance *x = &g->instances.p[i];
		const struct wi_op *o = &g->ops.p[g->members.p[x->first]];

		if (o->guessed && o->kind != NSX_NONE) {
			kinds[o->kind].n++;
			kinds[o->kind].good += end_together(g, x);
		}
	}
	for (size_t i = 0; i < g->ops.n; i++) {
		struct wi_op *o = &g->ops.p[i];

		if (!o->guessed || o->instance == NSX_NONE || o->kind == NSX_NONE)
			continue;
		if (10 * kinds[o->kind].good < 9 * kinds[o->kind].n || !end_together(g, &g->instances.p[o->instance]))
			o->instance = NSX_NONE;
		g->guessed++;
	}
	free(kinds);
	return true;
}

static int
by_thread(const void *a, const void *b)
{
	const struct wi_overhead *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

int
nsx_wi_loaded(struct wi_graph *g)
{
	if (g->overheads.n)
		qsort(g->overheads.p, g->overheads.n, sizeof *g->overheads.p, by_thread);
	if (g->pairing.instance && nsx_pairing_finish(&g->pairing) != NSX_OK)
		return NSX_ERR;
	if (!judge_guesses(g) || !keep_threads(g) || !map_numbers(g) || !resolve_all(g) || !link_calls(g))
		return nsx_err_nomem(g->err, NULL);
	return nsx_wi_find_items(g) == NSX_OK && link_ops(g) ? NSX_OK : nsx_err_nomem(g->err, NULL);
}

/* ---- steps */

/* The first operation of the device that starts then. */
static uint32_t
op_at(const struct wi_graph *g, uint32_t device, int64_t start)
{
	size_t i = nsx_sort_first(g->ops.p, g->ops.n, sizeof *g->ops.p, offsetof(struct wi_op, start), start);

	for (; i < g->ops.n && g->ops.p[i].start == start; i++)
		if (g->ops.p[i].device == device)
			return (uint32_t)i;
	return NSX_NONE;
}

/* The last step of a device has no period, unless the next one began before the recording ended: its start suffices. */
static struct nsx_step_of
with_next(const struct nsx_step_set *s, struct nsx_step_of o)
{
	for (size_t i = 0; i < s->dropped.n && o.next == NSX_ABSENT; i++) {
		const struct nsx_step_of *d = &s->dropped.p[i];
		const struct nsx_step *x = &s->steps.p[d->step];

		if (d->class == o.class && d->device == o.device && d->first > o.first
		    && nsx_step_is_seen(s, x->profile, x->host_start, d->first)) {
			o.next = d->first;
			nsx_step_measure(s, &o);
			o.kept = true;
		}
	}
	return o;
}

int
nsx_wi_find_steps(struct wi_graph *g, const struct nsx_step_set *s)
{
	for (size_t i = 0, n; i < s->list.n; i += n) {
		const struct nsx_step_of *o = &s->list.p[i];
		uint32_t device = nsx_cat_find_device(&g->pairing.comm.cat, s->cat.devices.p[o->device].number);

		for (n = 1; i + n < s->list.n && o[n].class == o->class && o[n].device == o->device;)
			n++;
		/* What happened before the first one is not known. */
		for (size_t k = n >= 4; k < n; k++) {
			struct nsx_step_of of = with_next(s, o[k]);
			struct wi_step x = { of.number, of.sums.removed, of.class, device, NSX_NONE, NSX_NONE };

			if (!of.kept || device == NSX_NONE)
				continue;
			x.first = op_at(g, device, of.first);
			x.next = op_at(g, device, of.next);
			if (x.first != NSX_NONE && x.next != NSX_NONE && !nsx_vec_push(&g->steps, x))
				return nsx_err_nomem(g->err, NULL);
		}
	}
	return NSX_OK;
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
	free(g->times);
}
