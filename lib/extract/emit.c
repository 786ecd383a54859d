/* emit.c -- the stream of one or several exports, section by section; emit_metadata.c has the first of them. */
#include "extract/emit.h"

#include <stdlib.h>

#include "base/heap.h"

/* ---- compilation and ranges without GPU work: by profile and host start */

static void
set_thread(struct nsx_rec *r, const struct ex_profile *p, uint32_t range, int pid, int tid)
{
	const struct nsx_thread *thread = nsx_trace_thread(&p->trace, range);

	nsx_emit_set_pid(r, pid, &p->trace, thread->process);
	nsx_set_i(r, tid, thread->tid);
}

static int
emit_compile(struct ex_emit *e, const struct ex_profile *p, const struct ex_compile *c)
{
	const struct nsx_range *range = &p->trace.ranges[c->range];
	int64_t dur = nsx_extract_dur(range->start, range->end);
	struct nsx_rec *r = nsx_emit_begin(e, NSX_COMPILE);

	nsx_set_i(r, NSX_COMPILE_profile, p->number);
	nsx_set_i(r, NSX_COMPILE_range, range->id);
	if (c->parent != NSX_NONE)
		nsx_set_i(r, NSX_COMPILE_parent, p->trace.ranges[c->parent].id);
	set_thread(r, p, c->range, NSX_COMPILE_pid, NSX_COMPILE_tid);
	nsx_set_i(r, NSX_COMPILE_start, range->start);
	nsx_set_i(r, NSX_COMPILE_dur, dur);
	nsx_set_i(r, NSX_COMPILE_child, c->child);
	nsx_set_i(r, NSX_COMPILE_self, dur - c->child);
	nsx_set_i(r, NSX_COMPILE_children, c->children);
	if (c->program != NSX_NONE)
		nsx_set_i(r, NSX_COMPILE_program, p->programs.p[c->program].number);
	nsx_set_s(r, NSX_COMPILE_name, nsx_intern_str(&p->strings, c->name));
	return nsx_emit_done(e);
}

static int
emit_compiles(struct ex_emit *e, const struct ex_profile *p)
{
	struct nsx_sort_key *keys = malloc((p->compiles.n + 1) * sizeof *keys);
	size_t n = 0;
	int rc = NSX_OK;

	if (!keys)
		return nsx_err_nomem(&e->err, p->input->path);
	for (size_t i = 0; i < p->compiles.n; i++) {
		const struct nsx_range *r = &p->trace.ranges[p->compiles.p[i].range];
		if (nsx_extract_in_window(p->opts, r->start, r->end) && nsx_extract_process_kept(p,
		    nsx_trace_thread(&p->trace, p->compiles.p[i].range)->process))
			keys[n++] = (struct nsx_sort_key){ { r->start, -nsx_extract_dur(r->start, r->end), 0 },
			                                   (uint32_t)i };
	}
	nsx_sort_keys(keys, n);
	for (size_t i = 0; i < n && rc == NSX_OK; i++)
		rc = emit_compile(e, p, &p->compiles.p[keys[i].i]);
	free(keys);
	return rc;
}

/* By range, from its parent's level, which is computed earlier: walking up from each range would be quadratic where a
 * program never closes its ranges. */
static uint32_t *
levels_of(const struct nsx_trace *t)
{
	uint32_t *levels = malloc(((size_t)t->nranges + 1) * sizeof *levels);

	for (uint32_t i = 0; levels && i < t->nranges; i++)
		levels[i] = t->ranges[i].parent == NSX_NONE ? 0 : levels[t->ranges[i].parent] + 1;
	return levels;
}

static int
find_levels(struct ex_emit *e)
{
	e->levels = calloc((size_t)e->job->n + 1, sizeof *e->levels);
	if (!e->levels)
		return nsx_err_nomem(&e->err, NULL);
	for (int i = 0; i < e->job->n && e->job->opts->ranges != NSX_RANGES_NONE; i++)
		if (!(e->levels[i] = levels_of(&e->job->profiles[i].trace)))
			return nsx_err_nomem(&e->err, e->job->profiles[i].input->path);
	return NSX_OK;
}

static int
emit_range(struct ex_emit *e, const struct ex_profile *p, uint32_t i)
{
	static const struct nsx_str kinds[NSX_RANGE_KINDS] = {
		[NSX_RANGE_ANY] = { "", 0 }, [NSX_RANGE_OP] = { "op", 2 },
		[NSX_RANGE_ANNOTATION] = { "annotation", 10 },
		[NSX_RANGE_PYTHON] = { "python", 6 }, [NSX_RANGE_RUNTIME] = { "runtime", 7 }
	};
	const struct nsx_trace *t = &p->trace;
	const struct nsx_range *range = &t->ranges[i];
	struct nsx_rec *r = nsx_emit_begin(e, NSX_RANGE);

	nsx_set_i(r, NSX_RANGE_profile, p->number);
	nsx_set_i(r, NSX_RANGE_range, range->id);
	if (range->parent != NSX_NONE)
		nsx_set_i(r, NSX_RANGE_parent, t->ranges[range->parent].id);
	nsx_set_i(r, NSX_RANGE_level, e->levels[p - e->job->profiles][i]);
	set_thread(r, p, i, NSX_RANGE_pid, NSX_RANGE_tid);
	nsx_set_s(r, NSX_RANGE_domain, nsx_intern_str(&t->domains, range->domain));
	if (range->name != NSX_NONE) {
		struct nsx_str name = nsx_range_name(t, range, &e->name);
		if (range->name & NSX_NAME_TEXT)
			name = nsx_extract_outbox_keep(e->out, name);
		if (!name.ptr)
			return nsx_err_nomem(&e->err, p->input->path);
		nsx_set_s(r, NSX_RANGE_name, name);
	}
	if (range->gpu != NSX_NONE) {
		const struct nsx_span *s = &t->spans[range->gpu];
		nsx_emit_set_known(r, NSX_RANGE_device, nsx_extract_global(p, s->device));
		nsx_set_i(r, NSX_RANGE_start, s->start);
		nsx_set_i(r, NSX_RANGE_dur, nsx_extract_dur(s->start, s->end));
		nsx_set_i(r, NSX_RANGE_ops, s->ops);
	}
	nsx_set_i(r, NSX_RANGE_host_start, range->start);
	nsx_set_i(r, NSX_RANGE_host_dur, nsx_extract_dur(range->start, range->end));
	if (range->flags & NSX_RANGE_UNFINISHED)
		nsx_set_i(r, NSX_RANGE_unended, 1);
	nsx_set_s(r, NSX_RANGE_kind, kinds[range->kind]);
	const struct nsx_operator *o = nsx_trace_operator(t, range);
	if (o) {
		nsx_emit_set_known(r, NSX_RANGE_seq, o->seq);
		nsx_set_s(r, NSX_RANGE_sizes, nsx_extract_text(t, o->sizes));
	}
	return nsx_emit_done(e);
}

/* ---- work, by time */

static int
emit_module(struct ex_emit *e, const struct ex_profile *p, const struct ex_module *m)
{
	const struct nsx_range *range = &p->trace.ranges[m->range];
	const struct nsx_span *s = &p->trace.spans[range->gpu];
	struct nsx_rec *r = nsx_emit_begin(e, NSX_MODULE);

	nsx_set_i(r, NSX_MODULE_profile, p->number);
	nsx_set_i(r, NSX_MODULE_program, p->programs.p[m->program].number);
	nsx_set_i(r, NSX_MODULE_execution, m->execution);
	nsx_set_i(r, NSX_MODULE_device, nsx_extract_global(p, m->device));
	nsx_set_i(r, NSX_MODULE_start, s->start);
	nsx_set_i(r, NSX_MODULE_dur, nsx_extract_dur(s->start, s->end));
	nsx_set_i(r, NSX_MODULE_host_start, range->start);
	nsx_set_i(r, NSX_MODULE_host_dur, nsx_extract_dur(range->start, range->end));
	nsx_set_i(r, NSX_MODULE_thunks, m->thunks);
	nsx_set_s(r, NSX_MODULE_name, p->programs.p[m->program].name);
	nsx_set_i(r, NSX_MODULE_range, range->id);
	return nsx_emit_done(e);
}

static int
emit_thunk(struct ex_emit *e, const struct ex_profile *p, const struct ex_thunk *th)
{
	const struct nsx_range *range = &p->trace.ranges[th->range];
	const struct ex_module *m = &p->modules.p[th->module];
	const struct nsx_extract_inst *inst = &p->insts.p[th->inst];
	const struct ex_job_program *program = &e->job->programs.p[p->programs.p[m->program].number];
	struct nsx_rec *r = nsx_emit_begin(e, NSX_THUNK);

	nsx_set_i(r, NSX_THUNK_profile, p->number);
	nsx_set_i(r, NSX_THUNK_program, p->programs.p[m->program].number);
	nsx_set_i(r, NSX_THUNK_execution, m->execution);
	nsx_set_i(r, NSX_THUNK_device, nsx_extract_global(p, th->device));
	nsx_set_i(r, NSX_THUNK_inst, inst->number);
	nsx_set_i(r, NSX_THUNK_occurrence, th->occurrence);
	nsx_set_s(r, NSX_THUNK_name, nsx_intern_str(&p->inst_names, inst->name));
	nsx_set_i(r, NSX_THUNK_start, th->start);
	nsx_set_i(r, NSX_THUNK_dur, nsx_extract_dur(th->start, th->end));
	nsx_set_i(r, NSX_THUNK_host_start, range->start);
	nsx_set_i(r, NSX_THUNK_host_dur, nsx_extract_dur(range->start, range->end));
	nsx_set_i(r, NSX_THUNK_ops, th->ops);
	bool comm = e->job->insts.p[program->first_inst + inst->number].comm;
	nsx_set_i(r, NSX_THUNK_comm, comm);
	nsx_set_i(r, NSX_THUNK_range, range->id);
	nsx_set_i(r, NSX_THUNK_copy, th->copies && !th->works && !comm);
	return nsx_emit_done(e);
}

/* Set whether the operation communicates: its instruction decides, if that is settled for its operations; else the name
 * of its kernel. And set the kind of collective: from the NCCL calls that it executes, else from its instruction, else
 * from the range around its launch, else from its name. */
static void
set_comm(struct ex_emit *e, const struct ex_profile *p, uint32_t i, uint32_t thunk, struct nsx_rec *r)
{
	const struct ex_job_inst *inst = NULL;
	const char *own = nsx_extract_op_kind(p, i), *named = nsx_extract_op_named(p, i);
	const struct ex_carried *c = nsx_extract_op_carried(p, i);

	if (thunk != NSX_NONE) {
		const struct ex_job_program *program =
		    &e->job->programs.p[p->programs.p[p->modules.p[p->thunks.p[thunk].module].program].number];
		inst = &e->job->insts.p[program->first_inst + p->insts.p[p->thunks.p[thunk].inst].number];
	}
	bool comm = inst && inst->settled ? inst->comm : own != NULL;
	nsx_set_i(r, NSX_OP_comm, comm);
	if (!comm)
		return;
	struct nsx_str kind = inst && inst->comm && inst->collective.len ? inst->collective
	                                                                 : nsx_str_c(named ? named : own);
	/* A kind known by a call's name only does not replace that of an instruction: merging could not distinguish
	 * it. */
	if (c && c->kind && (c->calls > 0 || c->comm_id.len || !(inst && inst->settled && inst->collective.len)))
		kind = nsx_str_c(c->kind);
	nsx_set_s(r, NSX_OP_collective, kind);
	if (!c)
		return;
	nsx_emit_set_known(r, NSX_OP_bytes, c->bytes);
	nsx_set_s(r, NSX_OP_comm_id, c->comm_id);
	nsx_emit_set_known(r, NSX_OP_calls, c->calls);
	if (c->group > 0)
		nsx_set_i(r, NSX_OP_group, c->group);
	nsx_set_s(r, NSX_OP_pair, c->pair);
}

static int
emit_op(struct ex_emit *e, const struct ex_profile *p, uint32_t i)
{
	static const struct nsx_str types[NSX_OP_TYPES] = { { "kernel", 6 }, { "memcpy", 6 }, { "memset", 6 },
	                                                    { "graph", 5 } };
	const struct nsx_gpu_op *op = &p->trace.ops[i];
	uint32_t module = op->range != NSX_NONE && p->module_at ? p->module_at[op->range] : NSX_NONE,
	    thunk = nsx_extract_op_thunk(p, i);
	struct nsx_rec *r = nsx_emit_begin(e, NSX_OP);

	nsx_set_i(r, NSX_OP_profile, p->number);
	nsx_set_i(r, NSX_OP_op, nsx_emit_op_number(p, i));
	nsx_set_s(r, NSX_OP_type, types[op->type]);
	nsx_set_i(r, NSX_OP_device, nsx_extract_global(p, op->device));
	nsx_set_i(r, NSX_OP_stream, op->stream);
	if (op->name != NSX_NONE)
		nsx_set_s(r, NSX_OP_name, nsx_intern_str(&p->trace.names, op->name));
	nsx_set_i(r, NSX_OP_start, op->start);
	nsx_set_i(r, NSX_OP_dur, nsx_extract_dur(op->start, op->end));
	if (op->range != NSX_NONE)
		nsx_set_i(r, NSX_OP_range, p->trace.ranges[op->range].id);
	nsx_emit_set_known(r, NSX_OP_bytes, op->bytes);
	if (op->graph_node != -1)
		nsx_set_i(r, NSX_OP_graph_node, op->graph_node);
	if (module != NSX_NONE) {
		nsx_set_i(r, NSX_OP_program, p->programs.p[p->modules.p[module].program].number);
		nsx_set_i(r, NSX_OP_execution, p->modules.p[module].execution);
	}
	if (thunk != NSX_NONE)
		nsx_set_i(r, NSX_OP_inst, p->insts.p[p->thunks.p[thunk].inst].number);
	nsx_extract_set_op_host(p, i, r);
	set_comm(e, p, i, thunk, r);
	if (!nsx_emit_after(e, p, i, r))
		return nsx_err_nomem(&e->err, p->input->path);
	return nsx_emit_done(e);
}

static int
emit_call(struct ex_emit *e, const struct ex_profile *p, uint32_t i)
{
	struct nsx_rec *r = nsx_emit_begin(e, NSX_CALL);

	nsx_extract_set_call(p, i, r);
	if (!nsx_emit_waited(e, p, i, r))
		return nsx_err_nomem(&e->err, p->input->path);
	return nsx_emit_done(e);
}

static int
emit_overhead(struct ex_emit *e, const struct ex_profile *p, uint32_t i)
{
	nsx_extract_set_overhead(p, i, nsx_emit_begin(e, NSX_OVERHEAD));
	return nsx_emit_done(e);
}

static int
emit_cpu(struct ex_emit *e, const struct ex_profile *p, const struct nsx_sort_start *ev)
{
	nsx_extract_set_cpu(p, ev, nsx_emit_begin(e, (enum nsx_kind_id)ev->tag));
	return nsx_emit_done(e);
}

static int
emit_metric(struct ex_emit *e, const struct ex_profile *p, const struct nsx_metric *m)
{
	struct nsx_rec *r = nsx_emit_begin(e, NSX_METRIC);

	nsx_set_i(r, NSX_METRIC_profile, p->number);
	nsx_set_i(r, NSX_METRIC_device, nsx_extract_global(p, m->device));
	nsx_set_i(r, NSX_METRIC_start, m->start);
	nsx_set_i(r, NSX_METRIC_dur, nsx_extract_dur(m->start, m->end));
	nsx_set_s(r, NSX_METRIC_name, nsx_intern_str(&p->trace.metric_names, m->name));
	nsx_set_i(r, NSX_METRIC_value, m->value);
	return nsx_emit_done(e);
}

static int
emit_memory(struct ex_emit *e, const struct ex_profile *p, const struct nsx_memory *m)
{
	struct nsx_rec *r = nsx_emit_begin(e, NSX_MEMORY);

	nsx_set_i(r, NSX_MEMORY_profile, p->number);
	nsx_emit_set_known(r, NSX_MEMORY_device, nsx_extract_global(p, m->device));
	nsx_set_i(r, NSX_MEMORY_pid, (int64_t)(m->gpid >> 24 & 0xFFFFFF));
	if (m->gtid != NSX_NO_GTID)
		nsx_set_i(r, NSX_MEMORY_tid, nsx_extract_tid(m->gtid));
	nsx_set_i(r, NSX_MEMORY_start, m->start);
	nsx_set_s(r, NSX_MEMORY_change, m->frees ? NSX_STR("free") : NSX_STR("alloc"));
	nsx_set_s(r, NSX_MEMORY_memory, nsx_memory_kind_names[m->kind]);
	nsx_set_i(r, NSX_MEMORY_bytes, m->bytes);
	nsx_set_i(r, NSX_MEMORY_address, m->address);
	nsx_emit_set_known(r, NSX_MEMORY_context, m->context);
	nsx_emit_set_known(r, NSX_MEMORY_stream, m->stream);
	nsx_emit_set_known(r, NSX_MEMORY_call, m->call);
	nsx_set_s(r, NSX_MEMORY_by, nsx_extract_text(&p->trace, m->by));
	if (m->range != NSX_NONE)
		nsx_set_i(r, NSX_MEMORY_range, p->trace.ranges[m->range].id);
	nsx_set_s(r, NSX_MEMORY_variable, nsx_extract_text(&p->trace, m->variable));
	nsx_emit_set_known(r, NSX_MEMORY_pool, m->pool);
	nsx_emit_set_known(r, NSX_MEMORY_pool_size, m->pool_size);
	nsx_emit_set_known(r, NSX_MEMORY_pool_used, m->pool_used);
	return nsx_emit_done(e);
}

/* A profile's events, and the current one. */
struct cursor { struct ex_events events; const struct nsx_sort_start *next; };

static bool
before(const struct ex_emit *e, struct cursor *const *a, struct cursor *const *b)
{
	(void)e;
	return nsx_extract_event_cmp((*a)->events.p, (*a)->next, (*b)->events.p, (*b)->next) < 0;
}

NSX_HEAP(cursors, struct cursor *, const struct ex_emit *, before)

static int
emit_event(struct ex_emit *e, const struct ex_profile *p, const struct nsx_sort_start *ev)
{
	switch (ev->tag) {
	case NSX_CALL:   return emit_call(e, p, ev->i);
	case NSX_OVERHEAD: return emit_overhead(e, p, ev->i);
	case NSX_OS: case NSX_OFF: case NSX_GIL: case NSX_SAMPLE: return emit_cpu(e, p, ev);
	case NSX_METRIC: return emit_metric(e, p, &p->trace.metrics[ev->i]);
	case NSX_MEMORY: return emit_memory(e, p, &p->trace.memory[ev->i]);
	case NSX_MODULE: return emit_module(e, p, &p->modules.p[ev->i]);
	case NSX_RANGE:  return emit_range(e, p, ev->i);
	case NSX_THUNK:  return emit_thunk(e, p, &p->thunks.p[ev->i]);
	default:         return emit_op(e, p, ev->i);
	}
}

/* The next event of c, if there is one. */
static int
turn(struct ex_emit *e, struct cursor *c)
{
	c->next = nsx_extract_events_peek(&c->events);
	return c->events.failed ? nsx_err_nomem(&e->err, c->events.p->input->path) : NSX_OK;
}

static int
merge_events(struct ex_emit *e, struct cursor *all, struct cursor **heap)
{
	uint64_t events = 0, passed = 0;   /* for progress */
	size_t n = 0;
	int rc = NSX_OK;

	for (int i = 0; i < e->job->n; i++) {
		if (!nsx_extract_events_open(&all[i].events, &e->job->profiles[i]))
			return nsx_err_nomem(&e->err, e->job->profiles[i].input->path);
		events += all[i].events.n + (e->job->opts->ranges ? e->job->profiles[i].trace.nranges : 0) +
		    e->job->profiles[i].trace.ncalls;
		if (turn(e, &all[i]) != NSX_OK)
			return NSX_ERR;
		if (all[i].next)
			heap[n++] = &all[i];
	}
	cursors_make(e, heap, n);
	while (n && rc == NSX_OK) {
		struct cursor *c = heap[0];
		if (++passed % 4096 == 0)
			nsx_portion_reach(&e->job->writing, passed, events);
		rc = emit_event(e, c->events.p, c->next);
		c->events.turn++;
		if (rc == NSX_OK)
			rc = turn(e, c);
		if (rc == NSX_OK && !c->next) {
			nsx_extract_events_close(&c->events);
			heap[0] = heap[--n];
		}
		if (rc == NSX_OK)
			cursors_down(e, heap, n);
	}
	return rc;
}

static int
emit_work(struct ex_emit *e)
{
	struct cursor *all = calloc((size_t)e->job->n + 1, sizeof *all);
	struct cursor **heap = calloc((size_t)e->job->n + 1, sizeof *heap);
	int rc = all && heap ? merge_events(e, all, heap) : nsx_err_nomem(&e->err, NULL);

	for (int i = 0; all && i < e->job->n; i++)
		nsx_extract_events_close(&all[i].events);
	free(all);
	free(heap);
	return rc;
}

static int
emit_all(struct ex_emit *e)
{
	struct ex_job *job = e->job;

	if (nsx_emit_metadata(e) != NSX_OK)
		return NSX_ERR;
	for (int i = 0; i < job->n; i++)
		if (emit_compiles(e, &job->profiles[i]) != NSX_OK)
			return NSX_ERR;
	return emit_work(e);
}

int
nsx_extract_emit(struct ex_job *job, struct nsx_writer *out)
{
	struct ex_emit e = { .job = job, .out = nsx_extract_outbox_open(out, job->opts->jobs) };

	if (!e.out)
		return nsx_err_nomem(job->err, NULL);
	int rc = find_levels(&e) == NSX_OK ? emit_all(&e) : NSX_ERR;
	nsx_portion_reach(&job->writing, 1, 1);
	/* If both failed, the writer's error is the first. */
	if (nsx_extract_outbox_close(e.out) != NSX_OK)
		rc = NSX_ERR;
	else if (rc != NSX_OK)
		nsx_err_set(job->err, "%s", e.err.msg);
	for (int i = 0; i < job->n && e.levels; i++)
		free(e.levels[i]);
	free(e.levels);
	free(e.places);
	nsx_buf_free(&e.name);
	free(e.numbers.p);
	return rc;
}
