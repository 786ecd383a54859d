/* form_xspace.c -- an XSpace for each process, as the profiler of JAX writes it: operations with their instruction and
 * program, calls, executions of programs on the thread that launches them, and the HLO of all programs. It has no
 * ranges of instructions (operations name theirs), none of NCCL, nothing of compilation. */
#include "form.h"

#include <stdlib.h>
#include <string.h>

#include "../unit/pb.h"

enum { BEHIND = 700 };   /* lines count from a time of their own, ns after the start of the session */

/* A plane: what its events and statistics are called comes behind its lines, by numbers of the plane. */
struct plane {
	struct nsx_intern events, stats;
	pb                lines, about;
};

static uint32_t
number(struct nsx_intern *names, const char *s)
{
	uint32_t n = nsx_intern(names, nsx_str_c(s));

	if (n == NSX_NONE)
		syn_die("out of memory");
	return n + 1;
}

static void
sub(pb *to, uint32_t field, pb *m)
{
	to->failed |= m->failed;
	pb_msg(to, field, m);
}

/* ---- statistics */

static void
stat_int(struct plane *pl, pb *to, uint32_t field, const char *name, int64_t v)
{
	pb m = { 0 };

	pb_int(&m, 1, number(&pl->stats, name));
	pb_int(&m, 4, v);
	sub(to, field, &m);
}

static void
stat_text(struct plane *pl, pb *to, uint32_t field, const char *name, const char *text)
{
	pb m = { 0 };

	pb_int(&m, 1, number(&pl->stats, name));
	pb_str(&m, 5, text);
	sub(to, field, &m);
}

/* Names that occur often are names of statistics. */
static void
stat_ref(struct plane *pl, pb *to, uint32_t field, const char *name, const char *text)
{
	pb m = { 0 };

	pb_int(&m, 1, number(&pl->stats, name));
	pb_int(&m, 7, number(&pl->stats, text));
	sub(to, field, &m);
}

/* ---- lines and events */

enum { EVENT_STAT = 4, PLANE_STAT = 6 };

static pb
line(int64_t id, const char *name)
{
	pb m = { 0 };

	pb_int(&m, 1, id);
	pb_str(&m, 2, name);
	pb_int(&m, 3, BEHIND);
	return m;
}

static pb
event(struct plane *pl, const char *name, int64_t start, int64_t end)
{
	pb m = { 0 };

	pb_int(&m, 1, number(&pl->events, name));
	pb_int(&m, 2, (start - BEHIND) * 1000);
	pb_int(&m, 3, (end - start) * 1000);
	return m;
}

static void
metas(pb *to, uint32_t field, const struct nsx_intern *names)
{
	for (uint32_t i = 0; i < names->n; i++) {
		pb entry = { 0 }, m = { 0 };

		pb_int(&entry, 1, i + 1);
		pb_int(&m, 1, i + 1);
		pb_str(&m, 2, nsx_intern_str(names, i).ptr);
		sub(&entry, 2, &m);
		sub(to, field, &entry);
	}
}

/* Append the plane, and empty it. */
static void
add_plane(pb *space, struct plane *pl, int64_t id, const char *name)
{
	pb m = { 0 };

	pb_int(&m, 1, id);
	pb_str(&m, 2, name);
	nsx_buf_str(&m, nsx_buf_view(&pl->lines));
	metas(&m, 4, &pl->events);
	metas(&m, 5, &pl->stats);
	nsx_buf_str(&m, nsx_buf_view(&pl->about));
	m.failed |= pl->lines.failed || pl->about.failed;
	sub(space, 1, &m);
	nsx_buf_free(&pl->lines);
	nsx_buf_free(&pl->about);
	nsx_intern_free(&pl->events);
	nsx_intern_free(&pl->stats);
	*pl = (struct plane){ 0 };
}

/* ---- what an operation or call executes */

/* The instruction that a title names. */
static const char *
instruction(struct syn_plan *p, uint32_t range)
{
	const char *s = strstr(syn_str(p, p->range.p[range].name), "hlo_op=");

	return s ? syn_fmt(p, "%.*s", (int)strcspn(s + 7, ",#"), s + 7) : NULL;
}

/* node: of the operation, NULL: none. The profiler saw how a graph was made, if that was in the capture, so that it
 * knows the instruction of each node; else that of the whole graph. */
static void
executes(struct syn_plan *p, struct plane *pl, pb *to, const struct syn_call *c, const struct syn_op *node)
{
	const struct syn_program *pr;
	const char *op;

	if (!c || c->module == SYN_NONE || c->thunk == SYN_NONE || p->module.p[c->module].prog == SYN_NONE)
		return;
	pr = &p->prog.p[p->module.p[c->module].prog];
	op = instruction(p, p->thunk.p[c->thunk].range);
	if (node && p->proc.p[c->proc].from == INT64_MIN)
		op = pr->inst.p[node->unit ? p->unit.p[node->unit].t.inst : node->inst].name;
	else if (node)
		return;
	if (!op)
		return;
	stat_ref(pl, to, EVENT_STAT, "hlo_op", op);
	stat_ref(pl, to, EVENT_STAT, "hlo_module", pr->name);
	stat_int(pl, to, EVENT_STAT, "program_id", syn_program_id(c->proc, pr));
}

/* ---- GPUs */

static void
operation(struct syn_plan *p, struct plane *pl, pb *to, const struct syn_op *op)
{
	static const char *const ways[] = { [1] = "MemcpyH2D", [2] = "MemcpyD2H", [8] = "MemcpyD2D" };
	const struct syn_call *c = op->call == SYN_NONE ? NULL : &p->call.p[op->call];
	uint32_t proc = p->dev.p[op->dev].proc;
	const char *name = op->type == SYN_MEMCPY ? ways[op->copy_kind] : op->type == SYN_MEMSET ? "Memset"
	    : op->type == SYN_GRAPH ? "CUDAGraphExec" : syn_str(p, op->name);
	pb m = event(pl, name, syn_local(p, proc, op->start), syn_local(p, proc, op->end));

	if (c)
		stat_int(pl, &m, EVENT_STAT, "correlation_id", c->corr);
	if (op->type == SYN_MEMCPY)
		stat_text(pl, &m, EVENT_STAT, "memcpy_details",
		          syn_fmt(p, "kind_src:%s kind_dst:%s size:%lld dest:0 async:1",
		                  op->pinned && op->copy_kind == 1 ? "pinned" : "device",
		                  op->pinned && op->copy_kind == 2 ? "pinned" : "device", (long long)op->bytes));
	else if (op->type == SYN_MEMSET)
		stat_text(pl, &m, EVENT_STAT, "memset_details", syn_fmt(p, "kind:device num_bytes:%lld async:1", (long long)op->bytes));
	else if (op->type == SYN_KERNEL)
		stat_text(pl, &m, EVENT_STAT, "kernel_details", "regs:32 static_shared:0 dynamic_shared:0 grid:1,1,1 block:128,1,1");
	else
		stat_int(pl, &m, EVENT_STAT, "cuda_graph_exec_id", 2);
	if (op->node)
		stat_int(pl, &m, EVENT_STAT, "cuda_graph_node_id", op->node);
	executes(p, pl, &m, c, op->node ? op : NULL);
	sub(to, 4, &m);
}

static void
gpu(struct syn_plan *p, pb *space, uint32_t dev)
{
	const struct syn_dev *d = &p->dev.p[dev];
	struct plane pl = { 0 };
	pb steps = line(-1, "Steps"), m;
	int last = -1;

	/* A line for each stream. */
	for (;;) {
		int stream = INT32_MAX;
		pb l;

		for (size_t i = 0; i < p->op.n; i++)
			if (p->op.p[i].dev == dev && p->op.p[i].stream > last && p->op.p[i].stream < stream)
				stream = p->op.p[i].stream;
		if (stream == INT32_MAX)
			break;
		l = line(stream, syn_fmt(p, "Stream #%d(Kernel)", stream));
		for (size_t i = 0; i < p->op.n; i++)
			if (p->op.p[i].dev == dev && p->op.p[i].stream == stream && !p->op.p[i].gone && !p->op.p[i].decompress)
				operation(p, &pl, &l, &p->op.p[i]);
		sub(&pl.lines, 3, &l);
		last = stream;
	}
	/* Derived: counted, it would double the time. */
	m = event(&pl, "step 0", p->base, p->base + 1000000000);
	sub(&steps, 4, &m);
	sub(&pl.lines, 3, &steps);
	stat_text(&pl, &pl.about, PLANE_STAT, "device_vendor", "Nvidia");
	stat_text(&pl, &pl.about, PLANE_STAT, "gpu_device_name", "Example H300");
	stat_int(&pl, &pl.about, PLANE_STAT, "core_count", 132);
	stat_int(&pl, &pl.about, PLANE_STAT, "memory_size", 85899345920);
	stat_int(&pl, &pl.about, PLANE_STAT, "compute_cap_major", 9);
	stat_int(&pl, &pl.about, PLANE_STAT, "compute_cap_minor", 0);
	add_plane(space, &pl, 10 + d->local, syn_fmt(p, "/device:GPU:%lld", (long long)d->cuda));
}

/* ---- the host */

static void
call(struct syn_plan *p, struct plane *pl, pb *to, const struct syn_call *c)
{
	pb m = event(pl, form_call(p, c->name), syn_local(p, c->proc, c->start), syn_local(p, c->proc, c->end));

	stat_int(pl, &m, EVENT_STAT, "correlation_id", c->corr);
	executes(p, pl, &m, c, NULL);
	sub(to, 4, &m);
	if (c->driver == SYN_NONE)
		return;
	m = event(pl, form_call(p, c->driver), syn_local(p, c->proc, c->start + 400), syn_local(p, c->proc, c->end - 300));
	stat_int(pl, &m, EVENT_STAT, "correlation_id", c->corr);
	sub(to, 4, &m);
}

/* The executions of a device: each is inside one of the runtime, which knows the device's number in the job. */
static void
execution(struct syn_plan *p, struct plane *pl, pb *to, const struct syn_module *mod)
{
	const struct syn_range *r = &p->range.p[mod->range];
	const struct syn_dev *d = &p->dev.p[mod->dev];
	const char *name = p->prog.p[mod->prog].name;
	pb m;

	if (r->gone || r->open)
		return;
	m = event(pl, syn_fmt(p, "[%lld] CommonPjRtLoadedExecutable::Execute (%s)", (long long)d->cuda, name), r->lstart,
	          r->lend);
	stat_int(pl, &m, EVENT_STAT, "global_device_id", d->global);
	sub(to, 4, &m);
	m = event(pl, syn_fmt(p, "%s:XLA GPU module", name), r->lstart, r->lend);
	sub(to, 4, &m);
}

/* Two lines of each thread: its calls, by the number that the system gives it, and what it says that it does, by
 * another. */
static void
host(struct syn_plan *p, pb *space, uint32_t proc)
{
	const struct syn_proc *pr = &p->proc.p[proc];
	struct plane pl = { 0 };

	for (uint32_t t = 0; t < pr->thread.n; t++) {
		int64_t hash = (int64_t)nsx_hash_u64((uint64_t)proc << 32 | t);
		pb calls = line(pr->thread.p[t].tid, syn_fmt(p, "Host Threads/%u", pr->thread.p[t].tid)),
		   says = line(hash, syn_fmt(p, "py_xla_execute/%lld", (long long)hash));
		size_t empty = calls.len, silent = says.len;

		for (size_t i = 0; i < p->call.n; i++)
			if (p->call.p[i].proc == proc && p->call.p[i].thread == t && !p->call.p[i].gone)
				call(p, &pl, &calls, &p->call.p[i]);
		for (size_t i = 0; i < p->module.n; i++) {
			const struct syn_module *m = &p->module.p[i];
			if (m->prog != SYN_NONE && p->dev.p[m->dev].proc == proc && p->dev.p[m->dev].thread == t)
				execution(p, &pl, &says, m);
		}
		if (calls.len > empty)
			sub(&pl.lines, 3, &calls);
		if (says.len > silent)
			sub(&pl.lines, 3, &says);
		nsx_buf_free(&calls);
		nsx_buf_free(&says);
	}
	add_plane(space, &pl, 2, "/host:CPU");
}

/* The programs: metadata of events that do not occur. */
static void
programs(struct syn_plan *p, pb *space, uint32_t proc)
{
	pb plane = { 0 }, process = { 0 };

	pb_int(&plane, 1, 1);
	pb_str(&plane, 2, "/host:metadata");
	for (uint32_t g = 0; g < p->prog.n; g++) {
		pb entry = { 0 }, m = { 0 }, stat = { 0 }, hlo = syn_hlo(p, proc, g);

		pb_int(&entry, 1, 3 * g + 9);
		pb_int(&m, 1, 3 * g + 9);
		pb_str(&m, 2, syn_fmt(p, "%s(%lld)", p->prog.p[g].name, (long long)syn_program_id(proc, &p->prog.p[g])));
		pb_int(&stat, 1, 1);
		sub(&stat, 6, &hlo);
		sub(&m, 5, &stat);
		sub(&entry, 2, &m);
		sub(&plane, 4, &entry);
	}
	for (int i = 0; i < 2; i++) {
		static const char *const names[] = { "Hlo Proto", "process_id" };
		pb entry = { 0 }, name = { 0 };

		pb_int(&entry, 1, i + 1);
		pb_int(&name, 1, i + 1);
		pb_str(&name, 2, names[i]);
		sub(&entry, 2, &name);
		sub(&plane, 5, &entry);
	}
	pb_int(&process, 1, 2);
	pb_int(&process, 4, p->proc.p[proc].pid);
	sub(&plane, 6, &process);
	sub(space, 1, &plane);
}

static void
form(struct syn_plan *p, uint32_t proc)
{
	struct plane task = { 0 };
	pb space = { 0 };

	programs(p, &space, proc);
	host(p, &space, proc);
	for (uint32_t d = 0; d < p->dev.n; d++)
		if (p->dev.p[d].proc == proc)
			gpu(p, &space, d);
	stat_int(&task, &task.about, PLANE_STAT, "profile_start_time", SYN_UTC + p->proc.p[proc].session);
	add_plane(&space, &task, 3, "Task Environment");
	pb_str(&space, 4, syn_host_name(p, proc));
	syn_write_file(syn_fmt(p, "%s/r%u.xplane.pb", syn_opt.dir, proc), &space);
	nsx_buf_free(&space);
}

void
syn_xspace(struct syn_plan *p)
{
	for (uint32_t r = 0; r < p->proc.n; r++)
		form(p, r);
}
