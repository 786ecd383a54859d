/* load.c -- what a graph of events is made of: operations, calls and instances of collectives, from the records of a
 * stream. Records refer to others by number; link.c resolves that when all have come. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/num.h"
#include "job/reach.h"
#include "job/steps/periods.h"
#include "table/whatif/graph.h"

const struct wi_more nsx_wi_no_more = { .bytes = NSX_ABSENT, .group = NSX_ABSENT, .node = NSX_ABSENT, .kind = NSX_NONE,
                                        .instance = NSX_NONE, .item = NSX_NONE };
const struct wi_call_more nsx_wi_no_call_more = { .from = NSX_NONE, .drained = NSX_NONE };

enum { ROOM = 1 << 17 };   /* operations and calls, at first */

/* ---- reading */

void
nsx_wi_need(struct wi_graph *g, struct nsx_reader *in)
{
	const char *allowed = nsx_memory_limit();
	int64_t most = INT64_MAX;

	/* A quarter of what is allowed: the rest is for what is live. */
	if (allowed)
		nsx_size_parse(allowed, &most);
	g->large.limit = most / 4 < WI_MEMORY ? (size_t)most / 4 : WI_MEMORY;
	g->large.mapped = 2 * g->large.limit;
	g->large.err = g->err;
	g->pairing.comm.cat.keep = NSX_CAT_NAMES | NSX_CAT_COSTS;
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

/* Add the numbers that a list has. */
static int
add_numbers(struct wi_graph *g, struct nsx_str list)
{
	for (size_t i = 0, k; i < list.len; i = k + 1) {
		int64_t number;

		for (k = i; k < list.len && list.ptr[k] != ',';)
			k++;
		if (nsx_get_int((struct nsx_str){ list.ptr + i, k - i }, &number)
		    && !nsx_large_push(&g->large, &g->numbers, number))
			return nsx_err_nomem(g->err, NULL);
	}
	return NSX_OK;
}

/* The same; *n of them from *at. Most have none. */
static inline int
take_numbers(struct wi_graph *g, struct nsx_str list, uint32_t *at, uint32_t *n)
{
	int rc;

	*at = (uint32_t)g->numbers.n;
	rc = list.len ? add_numbers(g, list) : NSX_OK;
	*n = (uint32_t)g->numbers.n - *at;
	return rc;
}

static bool
intern(struct wi_graph *g, struct nsx_str text, uint32_t *id)
{
	*id = nsx_intern_recall(&g->names, g->recall, text);
	return *id != NSX_NONE;
}

static bool
is_text(const struct wi_graph *g, uint32_t id, struct nsx_str text)
{
	return nsx_str_eq(nsx_intern_str(&g->names, id), text);
}

/* Whether this class of a thread's calls tells when it works: those of threads that launch, wait or call events. */
static void
look_at_work(const struct wi_graph *g, struct wi_of_thread *t, const struct wi_api *api)
{
	static const char *const classes[] = { "launch", "graph-launch", "copy", "set", "sync", "event" };

	t->works |= api->blocking;
	for (size_t k = 0; k < sizeof classes / sizeof *classes && !t->works; k++)
		t->works = is_text(g, api->class, nsx_str_c(classes[k]));
}

/* Where the kind of call is that had such a name last. Those of CUDA begin alike. */
static uint32_t *
last_api(struct wi_graph *g, struct nsx_str name)
{
	uint64_t middle = 0, end = 0;

	if (name.len >= sizeof end) {
		memcpy(&middle, name.ptr + (name.len - sizeof middle) / 2, sizeof middle);
		memcpy(&end, name.ptr + name.len - sizeof end, sizeof end);
	}
	return &g->last_apis[((middle << 1) + end + name.len) * 0x9e3779b97f4a7c15ULL >> 58];
}

/* The kind of call that a record is; NSX_NONE when out of memory. */
static uint32_t
api_of(struct wi_graph *g, const struct nsx_rec *rec)
{
	struct nsx_str name = nsx_string(rec, NSX_CALL_name), class = nsx_string(rec, NSX_CALL_class);
	struct wi_api api = { 0, 0, nsx_int(rec, NSX_CALL_blocking, 0) == 1 };
	uint32_t *last = last_api(g, name), at;
	const struct wi_api *x = *last < g->apis.n ? &g->apis.p[*last] : NULL;

	if (x && x->blocking == api.blocking && is_text(g, x->name, name) && is_text(g, x->class, class))
		return *last;
	if (!intern(g, name, &api.name) || !intern(g, class, &api.class))
		return NSX_NONE;
	at = nsx_map_number(&g->api_of, (struct nsx_key){ api.name, (uint64_t)api.class << 1 | api.blocking });
	if (at == NSX_NONE || (at == g->apis.n && !nsx_vec_push(&g->apis, api)))
		return NSX_NONE;
	return *last = at;
}

/* The thread of a call, whose number it has; NULL when out of memory. */
static struct wi_of_thread *
thread_of(struct wi_graph *g, const struct nsx_rec *rec, uint32_t number)
{
	static const struct wi_of_thread no_thread = { NSX_NONE, NSX_NONE, false };
	struct wi_of_thread *t = number == NSX_NONE || !nsx_vec_reach(&g->of_threads, number, &no_thread) ? NULL
	                         : &g->of_threads.p[number];

	if (t && t->process == NSX_NONE) {
		t->profile = nsx_cat_profile(&g->pairing.comm.cat, rec);
		t->process = nsx_map_get(&g->threads.process_of,
		                         (struct nsx_key){ (uint64_t)nsx_int(rec, NSX_CALL_profile, 0),
		                                           (uint64_t)nsx_int(rec, NSX_CALL_pid, 0) });
	}
	return t && t->profile != NSX_NONE ? t : NULL;
}

/* The report of a call of a thread: that of the thread, unless it is absent in one of them. */
static uint32_t
report_of(struct wi_graph *g, const struct nsx_rec *rec, const struct wi_of_thread *t)
{
	struct nsx_catalogue *cat = &g->pairing.comm.cat;

	return cat->profiles.p[t->profile].number == nsx_int(rec, NSX_CALL_profile, NSX_ABSENT) ? t->profile
	       : nsx_cat_profile(cat, rec);
}

static int
take_call(struct wi_graph *g, const struct nsx_rec *rec)
{
	int64_t number = nsx_int(rec, NSX_CALL_call, NSX_ABSENT), dur = nsx_int(rec, NSX_CALL_dur, 0);
	struct wi_call_more more = { nsx_int(rec, NSX_CALL_stalled, 0), 0, 0, NSX_NONE, NSX_NONE };
	struct wi_call c = { .start = nsx_int(rec, NSX_CALL_start, 0), .before = NSX_NONE, .op = NSX_NONE,
	                     .queue = NSX_NONE, .more = NSX_NONE };
	struct wi_of_thread *t;
	uint32_t api, report;

	c.thread = nsx_thread_number(&g->threads, nsx_int(rec, NSX_CALL_profile, 0), nsx_int(rec, NSX_CALL_pid, 0),
	                             nsx_int(rec, NSX_CALL_tid, 0));
	c.end = c.start + (dur > 0 ? dur : 0);
	g->stalls |= more.stalled > WI_RETURN;
	t = thread_of(g, rec, c.thread);
	api = t ? api_of(g, rec) : (uint32_t)NSX_NONE;
	report = t ? report_of(g, rec, t) : (uint32_t)NSX_NONE;
	if (api == NSX_NONE || report == NSX_NONE)
		return nsx_err_nomem(g->err, NULL);
	c.api = api & (UINT32_MAX >> 2);
	if (!t->works)
		look_at_work(g, t, &g->apis.p[api]);
	if (take_numbers(g, nsx_string(rec, NSX_CALL_waited), &more.waited, &more.nwaited) != NSX_OK)
		return NSX_ERR;
	if (more.stalled > 0 || more.nwaited) {
		c.more = (uint32_t)g->call_mores.n;
		if (!nsx_large_push(&g->large, &g->call_mores, more))
			return nsx_err_nomem(g->err, NULL);
	}
	if (g->numbered && !nsx_large_push(&g->large, &g->call_numbers, number))
		return nsx_err_nomem(g->err, NULL);
	return nsx_wi_number_set(&g->call_of, &g->large, report, number, (uint32_t)g->calls.n)
	       && nsx_large_push(&g->large, &g->calls, c) ? NSX_OK : nsx_err_nomem(g->err, NULL);
}

/* An operation that communicates, of an instruction: its record of a collective is the operation's own, whether the
 * stream has executions of instructions or not. */
static int
pair_inst(struct wi_graph *g, const struct nsx_rec *op, const struct wi_op *o, size_t ticket)
{
	union nsx_val v[NSX_MAX_COLS];
	struct nsx_rec thunk = { nsx_kind_builtin(NSX_THUNK), 0, v };
	struct nsx_comm_record r;
	struct nsx_pairable x;
	uint32_t inst = nsx_cat_inst(&g->pairing.comm.cat, op), *count;
	int64_t execution = nsx_int(op, NSX_OP_execution, -1);

	count = inst == NSX_NONE ? NULL : nsx_map_at(&g->occurrences,
	                                             (struct nsx_key){ (uint64_t)wi_device(g, o) << 32 | inst,
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

static bool
is_copy(struct nsx_str type)
{
	return type.len >= 3 && memcmp(type.ptr, "mem", 3) == 0;
}

/* What an operation of a lane does, most often what followed its last one before; NSX_NONE when out of memory. */
static uint32_t
task_of(struct wi_graph *g, const struct nsx_rec *rec, struct wi_lane *lane)
{
	struct nsx_catalogue *cat = &g->pairing.comm.cat;
	struct nsx_str kernel = nsx_string(rec, NSX_OP_name), name = kernel, of_inst;
	struct wi_task t = { .inst = NSX_NONE, .next = NSX_NONE, .comm = nsx_cat_communicates(cat, rec),
	                     .copy = is_copy(nsx_string(rec, NSX_OP_type)) };
	uint32_t at = lane->task == NSX_NONE ? (uint32_t)NSX_NONE : g->tasks.p[lane->task].next;
	const struct wi_task *next = at == NSX_NONE ? NULL : &g->tasks.p[at];

	if (nsx_has(rec, NSX_OP_inst)) {
		t.inst = nsx_cat_inst(cat, rec);
		if (t.inst == NSX_NONE)
			return NSX_NONE;
	}
	if (next && next->inst == t.inst && next->comm == t.comm && next->copy == t.copy
	    && is_text(g, next->kernel, kernel))
		return lane->task = at;
	if (t.inst != NSX_NONE) {
		of_inst = nsx_cat_str(cat, cat->insts.p[t.inst].name);
		name = of_inst.len ? of_inst : name;
	}
	if (!intern(g, name, &t.name))
		return NSX_NONE;
	t.kernel = t.name;
	if (name.ptr != kernel.ptr && !intern(g, kernel, &t.kernel))
		return NSX_NONE;
	at = nsx_map_number(&g->task_of, (struct nsx_key){ (uint64_t)t.name << 32 | t.inst,
	                                                   (uint64_t)t.kernel << 2 | t.comm << 1 | t.copy });
	if (at == NSX_NONE || (at == g->tasks.n && !nsx_vec_push(&g->tasks, t)))
		return NSX_NONE;
	if (lane->task != NSX_NONE)
		g->tasks.p[lane->task].next = at;
	return lane->task = at;
}

/* The report and the device of an operation, recalled by the number of the device; NSX_NONE: out of memory. */
static struct wi_lane
where(struct wi_graph *g, const struct nsx_rec *rec)
{
	struct nsx_catalogue *cat = &g->pairing.comm.cat;
	int64_t profile = nsx_int(rec, NSX_OP_profile, NSX_ABSENT), device = nsx_int(rec, NSX_OP_device, NSX_ABSENT);
	struct wi_where *w = &g->wheres[(uint64_t)device % WI_DEVICES];

	if (!w->known || w->profile != profile || w->device != device) {
		struct wi_lane lane = { nsx_cat_profile(cat, rec), nsx_cat_device(cat, rec), NSX_NONE, NSX_NONE };

		*w = (struct wi_where){ profile, device, lane, false };
		w->known = w->lane.profile != NSX_NONE && w->lane.device != NSX_NONE;
	}
	return w->lane;
}

/* The stream that it ran in, most often that of one of its device's last operations; NSX_NONE when out of memory. */
static uint32_t
lane_of(struct wi_graph *g, const struct nsx_rec *rec)
{
	static const struct wi_last_lane none = { { { 0, NSX_NONE }, { 0, NSX_NONE }, { 0, NSX_NONE },
	                                            { 0, NSX_NONE } } };
	struct wi_lane l = where(g, rec);
	int64_t stream = nsx_int(rec, NSX_OP_stream, 0);
	size_t k = (uint64_t)stream % WI_STREAMS;
	struct wi_last_lane *last;
	uint32_t at;

	if (l.profile == NSX_NONE || l.device == NSX_NONE || !nsx_vec_reach(&g->last_lanes, l.device, &none))
		return NSX_NONE;
	last = &g->last_lanes.p[l.device];
	at = last->of[k].lane;
	if (at != NSX_NONE && last->of[k].stream == stream && g->lanes.p[at].profile == l.profile)
		return at;
	l.stream = nsx_map_number(&g->streams, (struct nsx_key){ l.device, (uint64_t)stream });
	if (l.stream == NSX_NONE)
		return NSX_NONE;
	at = nsx_map_number(&g->lane_of, (struct nsx_key){ l.profile, l.stream });
	if (at == NSX_NONE || (at == g->lanes.n && !nsx_vec_push(&g->lanes, l)))
		return NSX_NONE;
	last->of[k].stream = stream;
	last->of[k].lane = at;
	return at;
}

/* What few operations have. */
static int
take_more(struct wi_graph *g, const struct nsx_rec *rec, struct wi_op *o)
{
	struct wi_more more = nsx_wi_no_more;

	more.node = nsx_int(rec, NSX_OP_graph_node, NSX_ABSENT);
	more.guessed = nsx_str_eq(nsx_string(rec, NSX_OP_comm_id), NSX_STR("unknown"));
	if (take_numbers(g, nsx_string(rec, NSX_OP_after), &more.after, &more.nafter) != NSX_OK)
		return NSX_ERR;
	if (!wi_task(g, o)->comm && more.node == NSX_ABSENT && !more.guessed && !more.nafter)
		return NSX_OK;
	o->more = (uint32_t)g->mores.n;
	return nsx_large_push(&g->large, &g->mores, more) ? NSX_OK : nsx_err_nomem(g->err, NULL);
}

/* Look up the call of an operation among the last ones. It came before the operation unless clocks differ. */
static bool
find_call(struct wi_graph *g, size_t at)
{
	int64_t number = g->last_calls[at % WI_LAST];
	struct wi_op *o = &g->ops.p[at];

	if (number == NSX_ABSENT)
		return true;
	o->call = nsx_wi_number_get(&g->call_of, g->lanes.p[o->lane].profile, number);
	if (o->call != NSX_NONE)
		return true;
	if (!nsx_vec_room(&g->early_ops, 1))
		return false;
	g->early_ops.p[g->early_ops.n].number = number;
	g->early_ops.p[g->early_ops.n++].op = (uint32_t)at;
	return true;
}

/* The call of the operation to come is far away, and looked up when it has been fetched. */
static bool
take_call_of(struct wi_graph *g, const struct nsx_rec *rec, const struct wi_op *o)
{
	size_t at = g->ops.n;

	if (at >= WI_LAST && !find_call(g, at - WI_LAST))
		return false;
	g->last_calls[at % WI_LAST] = nsx_int(rec, NSX_OP_call, NSX_ABSENT);
	if (nsx_has(rec, NSX_OP_call))
		nsx_wi_number_fetch(&g->call_of, g->lanes.p[o->lane].profile, g->last_calls[at % WI_LAST]);
	return true;
}

bool
nsx_wi_find_calls(struct wi_graph *g)
{
	for (size_t i = g->ops.n < WI_LAST ? 0 : g->ops.n - WI_LAST; i < g->ops.n; i++)
		if (!find_call(g, i))
			return false;
	return true;
}

static int
take_op(struct wi_graph *g, const struct nsx_rec *rec)
{
	struct wi_op o = { .start = nsx_int(rec, NSX_OP_start, 0), .call = NSX_NONE, .before = NSX_NONE,
	                   .more = NSX_NONE };
	int64_t number = nsx_int(rec, NSX_OP_op, NSX_ABSENT);
	size_t at = g->ops.n;
	struct nsx_pairable x;

	if (!nsx_has(rec, NSX_OP_start) || nsx_int(rec, NSX_OP_dur, -1) < 0) {
		g->timeless++;
		return NSX_OK;
	}
	o.end = o.start + rec->v[NSX_OP_dur].i;
	o.lane = lane_of(g, rec);
	o.task = o.lane == NSX_NONE ? (uint32_t)NSX_NONE : task_of(g, rec, &g->lanes.p[o.lane]);
	if (o.task == NSX_NONE)
		return nsx_err_nomem(g->err, NULL);
	if (take_more(g, rec, &o) != NSX_OK)
		return NSX_ERR;
	if (!take_call_of(g, rec, &o) || (g->numbered && !nsx_large_push(&g->large, &g->op_numbers, number))
	    || !nsx_wi_number_set(&g->op_of, &g->large, g->lanes.p[o.lane].profile, number, (uint32_t)at)
	    || !nsx_large_push(&g->large, &g->ops, o))
		return nsx_err_nomem(g->err, NULL);
	if (!wi_task(g, &o)->comm)
		return NSX_OK;
	if (nsx_cat_inst_communicates(&g->pairing.comm.cat, rec))
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

	/* Instances of one record come device by device: each is far from the one before. */
	if (!(g->given++ % 128))
		nsx_large_rest(&g->large);
	g->apart += apart ? (int64_t)n : 0;
	g->alone += n == 1 && (of->group > 1 || of->apart);
	for (size_t i = 0; i < n; i++) {
		struct wi_more *o = &g->mores.p[g->ops.p[of[i].ticket].more];

		o->bytes = of[i].bytes;
		o->group = of[i].group;
		if (of[i].kind != NSX_NONE && !intern(g, nsx_cat_str(&g->pairing.comm.cat, of[i].kind), &o->kind))
			return nsx_err_nomem(g->err, NULL);
		if (n > 1 && !apart) {
			if (!nsx_large_push(&g->large, &g->members, (uint32_t)of[i].ticket))
				return nsx_err_nomem(g->err, NULL);
			o->instance = (uint32_t)g->instances.n;
			x.n++;
		}
	}
	return !x.n || nsx_large_push(&g->large, &g->instances, x) ? NSX_OK : nsx_err_nomem(g->err, NULL);
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
	int64_t start = g->from == INT64_MIN && g->to == INT64_MAX ? NSX_ABSENT
	                : kind == NSX_OP ? nsx_int(rec, NSX_OP_start, NSX_ABSENT)
	                : kind == NSX_CALL || kind == NSX_OVERHEAD ? nsx_field_int(rec, NSX_ROLE_HOST_START, NSX_ABSENT)
	                : NSX_ABSENT;

	return start != NSX_ABSENT && (start < g->from || start >= g->to);
}

/* Before the first record. Room that is not used costs nothing, and arrays are copied as they grow; where memory is
 * short they are in files, and room is not free. */
static bool
begin(struct wi_graph *g)
{
	g->pairing.instance = take_instance;
	g->pairing.state = g;
	g->pairing.err = g->err;
	nsx_pairing_begin(&g->pairing);
	return g->large.limit < WI_MEMORY || (nsx_large_room(&g->large, &g->ops, ROOM)
	                                      && nsx_large_room(&g->large, &g->calls, ROOM));
}

int
nsx_wi_take(void *graph, const struct nsx_rec *rec)
{
	struct nsx_rec of_all;
	struct wi_graph *g = graph;

	if (!g->pairing.instance && !begin(g))
		return nsx_err_nomem(g->err, NULL);
	/* The search for steps counts what is beyond. */
	if (!nsx_in_reach(rec) || is_outside(g, rec))
		return NSX_OK;
	nsx_large_pause(&g->large, g->ops.n + g->calls.n);
	/* The pairing has no use for what the host did. */
	if (rec->kind->id == NSX_CALL)
		return take_call(g, rec);
	if (rec->kind->id == NSX_OP && may_be_of_all(g, rec)) {
		of_all = *rec;
		nsx_set_s(&of_all, NSX_OP_comm_id, NSX_STR("unknown"));
		rec = &of_all;
	}
	if (nsx_pairing_take(&g->pairing, rec) != NSX_OK)
		return NSX_ERR;
	switch (rec->kind->id) {
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
	nsx_map_free(&g->lane_of);
	nsx_map_free(&g->task_of);
	nsx_map_free(&g->api_of);
	nsx_map_free(&g->occurrences);
	nsx_wi_numbers_free(&g->op_of, &g->large);
	nsx_wi_numbers_free(&g->call_of, &g->large);
	free(g->lanes.p);
	free(g->last_lanes.p);
	free(g->tasks.p);
	free(g->apis.p);
	free(g->of_threads.p);
	free(g->early_ops.p);
	free(g->nodes.p);
	free(g->items.p);
	free(g->overheads.p);
	free(g->steps.p);
	free(g->limits.p);
	free(g->usual.p);
	free(g->unqueued.p);
	nsx_large_end(&g->large);
	free(g->fars.p);
}
