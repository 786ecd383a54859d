/* run.c -- the job in true time: devices run the same programs concurrently, and wait for each other in collectives. */
#include <stdlib.h>
#include <string.h>

#include "synth.h"

enum { STREAM_COMPUTE = 13, STREAM_COPY = 14, STREAM_COMM = 20, STREAM_READBACK = 22, STREAM_OFFLOAD = 23 };

static struct syn_thread *
thread_of(struct syn_plan *p, const struct syn_dev *d)
{
	return &p->proc.p[d->proc].thread.p[d->thread];
}

static int64_t
max64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* GPU time of one operation of this cost, on this device, in this execution. */
int64_t
syn_spend(struct syn_plan *p, const struct syn_dev *d, int64_t cost, int64_t exec)
{
	int64_t t = cost * (1000 + d->slow + syn_rnd(p, -20, 20)) / 1000;

	return exec == 0 && !syn_opt.no_warmup ? t + t * 2 / 5 : t;
}

void
syn_open_module(struct syn_plan *p, uint32_t prog, uint32_t dev)
{
	struct syn_program *pr = &p->prog.p[prog];
	struct syn_dev *d = &p->dev.p[dev];
	struct syn_thread *th = thread_of(p, d);
	struct syn_module m = { 0 };

	m.prog = prog;
	m.dev = dev;
	m.exec = pr->execs;
	m.range = syn_push(p, d->proc, d->thread, SYN_TSL,
	                   syn_namef(p, "XlaModule:#%s%s%shlo_module=%s,program_id=%lld%s", *pr->prefix ? "prefix=" : "", pr->prefix, *pr->prefix ? "," : "",
	                             pr->name, (long long)syn_program_id(d->proc, pr), strcmp(syn_opt.titles, "early") == 0 ? "" : "#"), true);
	syn_add(&p->module, m);
	th->module = (uint32_t)p->module.n - 1;
}

void
syn_open_thunk(struct syn_plan *p, const struct syn_inst *in, uint32_t i, uint32_t dev, uint32_t module)
{
	struct syn_dev *d = &p->dev.p[dev];
	struct syn_thread *th = thread_of(p, d);
	struct syn_thunk t = { 0 };

	t.outer = th->thunk;
	t.module = module;
	t.inst = i;
	t.dev = dev;
	t.meet.instance = SYN_NONE;
	th->now += syn_rnd(p, 300, 1200);
	t.range = syn_push(p, d->proc, d->thread, SYN_TSL, in->title, true);
	syn_add(&p->thunk, t);
	th->thunk = (uint32_t)p->thunk.n - 1;
}

void
syn_close_thunk(struct syn_plan *p, uint32_t dev)
{
	struct syn_dev *d = &p->dev.p[dev];
	struct syn_thread *th = thread_of(p, d);

	syn_pop(p, d->proc, d->thread);
	th->thunk = p->thunk.p[th->thunk].outer;
}

static uint32_t
kernel(struct syn_plan *p, uint32_t dev, uint32_t call, const struct syn_inst *in, int64_t dur)
{
	struct syn_dev *d = &p->dev.p[dev];
	struct syn_op op = { 0 };
	const char *name = in->kernel;

	if (!name) {
		/* XLA's kernels are named after their instruction. */
		char *own = syn_check(nsx_str_dup(nsx_str_c(in->name)));

		for (char *c = own; *c; c++)
			if (*c == '.' || *c == '-')
				*c = '_';
		op.name = syn_name(p, own);
		free(own);
	} else {
		op.name = syn_name(p, name);
	}
	op.short_name = SYN_NONE;
	op.dev = dev;
	op.call = call;
	op.stream = STREAM_COMPUTE;
	op.bytes = -1;
	op.start = max64(d->compute, p->call.p[call].end + syn_rnd(p, 1200, 2500));
	d->compute = op.end = op.start + syn_contend(d, op.start, syn_vary(p, dev, dur));
	d->compute += 600;
	return syn_op(p, op);
}

/* A copy or memset launched by op->call, not earlier than given. */
static uint32_t
place(struct syn_plan *p, struct syn_op op, int64_t dur, int64_t not_before)
{
	struct syn_dev *d = &p->dev.p[op.dev];
	const char *what = op.copy_kind == 1 ? "Host-to-Device" : op.copy_kind == 2 ? "Device-to-Host" : "Device-to-Device";

	op.name = op.type == SYN_MEMSET ? syn_name(p, "[CUDA memset]") : syn_namef(p, "[CUDA memcpy %s]", what);
	op.short_name = SYN_NONE;
	op.start = max64(not_before, p->call.p[op.call].end + syn_rnd(p, 900, 1500));
	op.end = op.start + dur;
	if (op.stream == STREAM_COMPUTE)
		d->compute = op.end + 600;
	else
		d->copy = op.end + 600;
	return syn_op(p, op);
}

static void
copy_to_host(struct syn_plan *p, uint32_t dev, int stream, int64_t bytes, int64_t dur, int64_t not_before)
{
	struct syn_dev *d = &p->dev.p[dev];
	struct syn_op op = { .dev = dev, .stream = stream, .type = SYN_MEMCPY, .copy_kind = 2, .bytes = bytes };

	op.call = syn_call(p, d->proc, d->thread, "cudaMemcpyAsync_v3020", syn_rnd(p, 1800, 3000));
	place(p, op, dur, not_before);
}

/* The operations of one instruction that computes, launched by `call`; SYN_NONE: by separate calls. */
static void
work(struct syn_plan *p, const struct syn_inst *in, uint32_t dev, uint32_t call, int64_t exec)
{
	struct syn_dev *d = &p->dev.p[dev];
	struct syn_op op = { .dev = dev, .call = call, .stream = STREAM_COMPUTE };

	if (in->what == SYN_COMPUTE) {
		for (int k = 0; k < in->kernels; k++)
			kernel(p, dev, call == SYN_NONE ? syn_launch(p, d->proc, d->thread) : call, in, syn_spend(p, d, in->cost, exec));
		return;
	}
	if (call == SYN_NONE)
		op.call = syn_call(p, d->proc, d->thread, in->what == SYN_COPY ? "cudaMemcpyAsync_v3020" : "cudaMemsetAsync_v3020", syn_rnd(p, 1800, 3000));
	if (in->host) {
		op.type = SYN_MEMCPY;
		op.stream = STREAM_OFFLOAD;
		op.copy_kind = (uint8_t)in->host;
		op.pinned = true;
		op.bytes = syn_bytes(p, in, (int)dev);
		place(p, op, syn_spend(p, d, in->cost, exec), max64(d->copy, d->compute));
		return;
	}
	op.type = in->what == SYN_COPY ? SYN_MEMCPY : SYN_MEMSET;
	op.copy_kind = in->what == SYN_COPY ? 8 : 0;
	op.bytes = in->what == SYN_COPY ? 4194304 : 65536;
	place(p, op, syn_spend(p, d, in->cost, exec), d->compute);
}

static void
compute(struct syn_plan *p, const struct syn_inst *in, uint32_t i, uint32_t dev, uint32_t module, int64_t exec)
{
	syn_open_thunk(p, in, i, dev, module);
	work(p, in, dev, SYN_NONE, exec);
	syn_close_thunk(p, dev);
}

/* A collective's kernel on one device, from its earliest possible start; its end depends on its group. */
static uint32_t
arrive(struct syn_plan *p, const struct syn_inst *in, uint32_t dev, uint32_t call)
{
	const char *reduce = strstr(in->nccl, "Reduce") ? in->in[0].type == 16 ? "_Sum_bf16" : "_Sum_f32" : "";
	const char *name = syn_fmt(p, "ncclDevKernel_%s%s_RING_LL", in->nccl, reduce);
	struct syn_dev *d = &p->dev.p[dev];
	struct syn_op op = { .dev = dev, .call = call, .bytes = -1, .stream = in->what == SYN_SYNC ? STREAM_COMPUTE : STREAM_COMM };

	op.short_name = syn_name(p, name);
	op.name = syn_namef(p, "%s(ncclDevKernelArgsStorage<(unsigned long)4096>)", name);
	/* Its operands are computed first, unless they are not from this program. */
	op.start = max64(in->outside ? d->comm : max64(d->comm, d->compute), p->call.p[call].end + syn_rnd(p, 1200, 2500));
	return syn_op(p, op);
}

/* The host's part of a collective on one device. */
static uint32_t
join_collective(struct syn_plan *p, const struct syn_inst *in, uint32_t i, uint32_t dev, uint32_t module)
{
	struct syn_dev *d = &p->dev.p[dev];
	uint32_t call;

	syn_open_thunk(p, in, i, dev, module);
	syn_push(p, d->proc, d->thread, SYN_NCCL, syn_name(p, "ncclGroupStart"), true);
	syn_pop(p, d->proc, d->thread);
	for (int k = 0; k < in->nin; k++) {
		syn_push(p, d->proc, d->thread, SYN_NCCL, syn_namef(p, "nccl%s", strcmp(in->nccl, "SendRecv") ? in->nccl : "Send"), true);
		syn_pop(p, d->proc, d->thread);
	}
	syn_push(p, d->proc, d->thread, SYN_NCCL, syn_name(p, "ncclGroupEnd"), true);
	syn_call(p, d->proc, d->thread, "cudaStreamWaitEvent_v3020", 700);
	call = syn_launch(p, d->proc, d->thread);
	syn_pop(p, d->proc, d->thread);
	syn_close_thunk(p, dev);
	return arrive(p, in, dev, call);
}

/* The devices' kernels op[] begin when each arrives; those of a group end together. */
void
syn_meet(struct syn_plan *p, const struct syn_inst *in, const uint32_t *op, struct syn_meet *part, int64_t exec)
{
	uint32_t n = (uint32_t)p->dev.n, first = p->instances;
	int64_t *latest = syn_check(malloc(n * sizeof *latest));
	int size;

	for (uint32_t g = 0; g < n; g++)
		latest[g] = INT64_MIN;
	for (uint32_t d = 0; d < n; d++) {
		if (op[d] == SYN_NONE)
			continue;
		int64_t *g = &latest[syn_group(p, in->group, (int)d, &size)];

		*g = max64(*g, p->op.p[op[d]].start);
	}
	for (uint32_t d = 0; d < n; d++) {
		if (op[d] == SYN_NONE)
			continue;
		struct syn_dev *dev = &p->dev.p[d];
		struct syn_op *o = &p->op.p[op[d]];
		int group = syn_group(p, in->group, (int)d, &size);
		uint32_t instance = first + (uint32_t)group;
		int64_t last = latest[group], end;

		/* The time is drawn from the instance, not the device. */
		end = last + in->cost + in->cost * (int64_t)(nsx_hash_u64(instance ^ (uint64_t)syn_opt.seed << 32) % 41) / 1000;
		if (exec == 0 && !syn_opt.no_warmup)
			end += in->cost / 2;
		if (syn_opt.jitter)
			end = max64(end + syn_rnd(p, -syn_opt.jitter, syn_opt.jitter), o->start + 1000);
		o->end = end;
		part[d] = (struct syn_meet){ instance, last - o->start, size, syn_bytes(p, in, (int)d) };
		if (instance >= p->instances)
			p->instances = instance + 1;
		dev->comm = end + 600;
		syn_contend_comm(dev, o->start, end);
		if (in->what == SYN_SYNC)
			dev->compute = end + 600;
	}
	free(latest);
}

static void
run_collective(struct syn_plan *p, uint32_t prog, uint32_t i, const uint32_t *module, int64_t exec)
{
	const struct syn_inst *in = &p->prog.p[prog].inst.p[i];
	size_t n = p->dev.n;
	uint32_t *op = syn_check(calloc(n, sizeof *op)), *thunk = syn_check(calloc(n, sizeof *thunk));
	struct syn_meet *part = syn_check(calloc(n, sizeof *part));

	for (uint32_t d = 0; d < n; d++) {
		op[d] = syn_runs(p, in, (int)d) ? join_collective(p, in, i, d, module[d]) : SYN_NONE;
		thunk[d] = (uint32_t)p->thunk.n - 1;
	}
	syn_meet(p, in, op, part, exec);
	for (uint32_t d = 0; d < n; d++)
		if (op[d] != SYN_NONE)
			p->thunk.p[thunk[d]].meet = part[d];
	free(part);
	free(thunk);
	free(op);
}

/* One item of a command buffer on every device; its operations become nodes of the graph. */
static void
run_node(struct syn_plan *p, uint32_t prog, size_t item, const uint32_t *call, int64_t exec)
{
	uint32_t i = p->prog.p[prog].item.p[item].inst;
	const struct syn_inst *in = &p->prog.p[prog].inst.p[i];
	size_t n = p->dev.n, before = p->op.n;
	uint32_t *op = syn_check(calloc(n, sizeof *op));
	struct syn_meet *part = syn_check(calloc(n, sizeof *part));

	for (uint32_t d = 0; d < n; d++) {
		part[d].instance = SYN_NONE;
		if (in->collective)
			op[d] = arrive(p, in, d, call[d]);
		else
			work(p, in, d, call[d], exec);
	}
	if (in->collective)
		syn_meet(p, in, op, part, exec);
	for (; before < p->op.n; before++) {
		struct syn_op *o = &p->op.p[before];

		o->node = (int64_t)(p->dev.p[o->dev].local + 1) << 32 | (int64_t)(item + 1);
		o->inst = i;
		o->meet = part[o->dev];
	}
	free(part);
	free(op);
}

/* Traced as a whole, a graph is one operation from its first node to its last. */
static void
fuse(struct syn_plan *p, size_t before, const uint32_t *call)
{
	struct syn_op *whole = syn_check(calloc(p->dev.n, sizeof *whole));

	for (size_t k = before; k < p->op.n; k++) {
		struct syn_op *w = &whole[p->op.p[k].dev];

		if (!w->end || p->op.p[k].start < w->start)
			w->start = p->op.p[k].start;
		w->end = max64(w->end, p->op.p[k].end);
	}
	p->op.n = before;
	for (uint32_t d = 0; d < p->dev.n; d++) {
		whole[d].type = SYN_GRAPH;
		whole[d].dev = d;
		whole[d].call = call[d];
		whole[d].stream = STREAM_COMPUTE;
		whole[d].bytes = -1;
		whole[d].name = syn_name(p, "[CUDA graph]");
		whole[d].short_name = SYN_NONE;
		syn_op(p, whole[d]);
	}
	free(whole);
}

/* The command buffer that begins at an item; the item after it. */
static size_t
run_buffer(struct syn_plan *p, uint32_t prog, size_t item, const uint32_t *module, int64_t exec)
{
	const struct syn_program *pr = &p->prog.p[prog];
	uint32_t *call = syn_check(calloc(p->dev.n, sizeof *call)), graph = pr->item.p[item].graph;
	size_t before = p->op.n;

	for (uint32_t d = 0; d < p->dev.n; d++) {
		struct syn_dev *dev = &p->dev.p[d];

		syn_open_thunk(p, &pr->inst.p[pr->buffer], pr->buffer, d, module[d]);
		if (exec == 0)
			syn_call(p, dev->proc, dev->thread, "cudaGraphInstantiateWithFlags_v11040", 30000);
		call[d] = syn_call(p, dev->proc, dev->thread, "cudaGraphLaunch_v10000", syn_rnd(p, 7000, 12000));
		syn_close_thunk(p, d);
	}
	for (; item < pr->item.n && pr->item.p[item].graph == graph; item++)
		run_node(p, prog, item, call, exec);
	for (uint32_t d = 0; d < p->dev.n; d++)
		syn_host_node(p, d, call[d], STREAM_COMPUTE, (int64_t)(p->dev.p[d].local + 1) << 32 | 0xffff, &p->dev.p[d].compute);
	if (strcmp(syn_opt.graphs, "whole") == 0)
		fuse(p, before, call);
	free(call);
	return item;
}

/* The compute stream waits for the communication that its start began. */
static void
wait_done(struct syn_plan *p, const struct syn_inst *in, uint32_t i, uint32_t dev, uint32_t module)
{
	struct syn_dev *d = &p->dev.p[dev];

	syn_open_thunk(p, in, i, dev, module);
	syn_call(p, d->proc, d->thread, "cudaStreamWaitEvent_v3020", 900);
	syn_close_thunk(p, dev);
	d->compute = max64(d->compute, in->host ? d->copy : d->comm);
}

void
syn_execute(struct syn_plan *p, uint32_t prog)
{
	uint32_t n = (uint32_t)p->dev.n, *module = syn_check(calloc(n, sizeof *module));
	int64_t exec = p->prog.p[prog].execs;
	bool closed = false;

	for (uint32_t d = 0; d < n; d++) {
		syn_open_module(p, prog, d);
		module[d] = (uint32_t)p->module.n - 1;
	}
	for (size_t k = 0; k < p->prog.p[prog].item.n; k++) {
		struct syn_item it = p->prog.p[prog].item.p[k];
		const struct syn_inst *in = &p->prog.p[prog].inst.p[it.inst];

		if (in->outside && !closed) {
			closed = true;
			for (uint32_t d = 0; d < n; d++) {
				syn_pop(p, p->dev.p[d].proc, p->dev.p[d].thread);
				thread_of(p, &p->dev.p[d])->module = SYN_NONE;
			}
		}
		if (it.graph) {
			k = run_buffer(p, prog, k, module, exec) - 1;
			continue;
		}
		if (in->collective) {
			run_collective(p, prog, it.inst, module, exec);
			continue;
		}
		for (uint32_t d = 0; d < n; d++) {
			struct syn_dev *dev = &p->dev.p[d];

			if (!syn_runs(p, in, (int)d))
				continue;
			if (it.act == SYN_OPEN)
				syn_open_thunk(p, in, it.inst, d, module[d]);
			else if (it.act == SYN_CLOSE)
				syn_close_thunk(p, d);
			else if (in->what == SYN_WHILE)
				copy_to_host(p, d, STREAM_COPY, 1, syn_spend(p, dev, in->cost, exec), max64(dev->copy, dev->compute));
			else if (in->what == SYN_DONE)
				wait_done(p, in, it.inst, d, module[d]);
			else
				compute(p, in, it.inst, d, module[d], exec);
		}
	}
	for (uint32_t d = 0; d < n; d++) {
		if (!closed)
			syn_pop(p, p->dev.p[d].proc, p->dev.p[d].thread);
		thread_of(p, &p->dev.p[d])->module = SYN_NONE;
		/* Warming up also costs host time. */
		if (exec == 0 && !syn_opt.no_warmup)
			thread_of(p, &p->dev.p[d])->now += 40000;
	}
	p->prog.p[prog].execs++;
	free(module);
}

/* The loss of the previous step is copied to the host, outside of all ranges, and the host waits for the copy. */
static void
read_loss(struct syn_plan *p, uint32_t dev)
{
	struct syn_dev *d = &p->dev.p[dev];
	struct syn_thread *th = thread_of(p, d);

	th->now += 15000;
	copy_to_host(p, dev, STREAM_READBACK, 4, 1300 + d->slow, max64(d->copy, d->step_end));
	syn_decompress(p, dev, d->thread, STREAM_READBACK, &d->copy);
	syn_host_fn(p, dev, d->thread, STREAM_READBACK, &d->copy);
	syn_call(p, d->proc, d->thread, "cudaStreamSynchronize_v3020", 1500);
	th->now = max64(th->now, d->copy + 4000);
	d->step_end = max64(d->compute, d->comm);
}

/* All GPUs are idle, and every host has noticed that. */
void
syn_settle(struct syn_plan *p)
{
	for (uint32_t d = 0; d < p->dev.n; d++) {
		struct syn_dev *dev = &p->dev.p[d];

		thread_of(p, dev)->now = max64(thread_of(p, dev)->now, max64(max64(dev->compute, dev->comm), dev->copy) + 20000);
	}
}

/* What a capture that begins in the middle of a module contains of it: thunks without their module. */
static void
leftovers(struct syn_plan *p, uint32_t prog)
{
	const struct syn_program *pr = &p->prog.p[prog];
	int found = 0;

	for (uint32_t i = 0; i < pr->inst.n && found < 2; i++) {
		if (pr->inst.p[i].what != SYN_COMPUTE)
			continue;
		found++;
		for (uint32_t d = 0; d < p->dev.n; d++)
			compute(p, &pr->inst.p[i], i, d, SYN_NONE, 1);
	}
}

static void
compile_all(struct syn_plan *p, bool spread)
{
	if (syn_opt.no_warmup)
		return;
	for (uint32_t r = 0; r < p->proc.n; r++) {
		struct syn_proc *pr = &p->proc.p[r];

		/* The main thread compiles when the launchers are idle, and they wait for it. */
		for (uint32_t t = 0; t < pr->workers; t++)
			pr->thread.p[0].now = max64(pr->thread.p[0].now, pr->thread.p[t].now);
		for (uint32_t g = 0; g < p->prog.n; g++)
			if (p->prog.p[g].spread == spread)
				syn_compile(p, r, g);
		for (uint32_t t = 1; t < pr->workers; t++)
			pr->thread.p[t].now = max64(pr->thread.p[t].now, pr->thread.p[0].now);
	}
}

/* Process `late` misses the first half of step 0; a cut process sees half of the last step. */
static void
windows(struct syn_plan *p, uint32_t step)
{
	for (uint32_t i = 0; i < p->module.n; i++) {
		struct syn_module *m = &p->module.p[i];
		struct syn_proc *pr = &p->proc.p[p->dev.p[m->dev].proc];
		const struct syn_range *r = &p->range.p[m->range];
		int64_t half = r->start + (r->end - r->start) / 2;

		if (m->prog != step)
			continue;
		if (p->dev.p[m->dev].proc == syn_opt.late && m->exec == 0)
			pr->from = max64(pr->from, half);
		if (pr->cut && m->exec == syn_opt.steps - 1 && half < pr->until)
			pr->until = half;
	}
}

void
syn_domains(struct syn_plan *p)
{
	static const char *const domains[] = { NULL, "TSL", "NCCL", "cuBLAS" };

	for (uint32_t r = 0; r < p->proc.n; r++)
		for (int d = SYN_TSL; d < SYN_DOMAINS; d++)
			syn_add(&p->mark, ((struct syn_mark){ 1000 + 10 * d, r, 0, syn_name(p, domains[d]), 75, d, 0 }));
}

void
syn_job(struct syn_plan *p)
{
	uint32_t step = 3;

	syn_domains(p);
	for (uint32_t r = 0; r < p->proc.n; r++) {
		if (syn_opt.unfinished) {
			p->proc.p[r].cut = true;
			p->proc.p[r].open_null = strcmp(syn_opt.unfinished, "stop") != 0 && (*syn_opt.unfinished || r % 2 == 0);
		}
	}
	if (!syn_opt.no_warmup)
		leftovers(p, step);
	syn_settle(p);
	compile_all(p, false);
	for (int k = 0; k < 3; k++)
		syn_execute(p, 0);
	for (uint32_t g = 4; g < p->prog.n; g++)
		for (int k = 0; k < 2; k++)
			syn_execute(p, g);
	syn_execute(p, 1);
	syn_execute(p, 2);
	syn_execute(p, 1);
	syn_settle(p);
	compile_all(p, true);
	for (uint32_t d = 0; d < p->dev.n; d++)
		syn_memory_first(p, d, p->dev.p[d].thread);
	for (int64_t k = 0; k < syn_opt.steps; k++) {
		if (syn_opt.unfinished && k == syn_opt.steps - 1)
			syn_settle(p);
		syn_vary_step(k);
		syn_plant_before(p);
		for (uint32_t d = 0; d < p->dev.n; d++)
			syn_vary_before(p, d);
		syn_execute(p, syn_vary_other() ? (uint32_t)p->prog.n - 1 : step);
		for (uint32_t d = 0; d < p->dev.n; d++) {
			if (!syn_plant_after(p, d))
				read_loss(p, d);
			syn_vary_after(p, d);
		}
		if (k % 2 == 1)
			syn_execute(p, 1);
	}
	syn_vary_step(-1);
	syn_settle(p);
	windows(p, step);
}
