/* x26_run.c -- the job of --xla26 in true time: each command buffer runs op by op the first time and as a graph after
 * that. */
#include <stdlib.h>
#include <string.h>

#include "x26.h"

enum { STREAM_COMPUTE = 13, STREAM_ASIDE = 14, STREAM_COMM = 20, STREAM_HOST = 16 };

/* The current execution of a program on all devices. In a graph: the call that launches it, and when the graph's own
 * streams are free. */
struct exec {
	struct syn_plan *p;
	uint32_t  prog;
	int64_t   number;
	uint32_t *module, *call;
	int64_t  *aside;
	int64_t   graph;      /* 1: the first graph of the program; 0: none */
};

static struct syn_dev *
dev(struct exec *x, uint32_t d)
{
	return &x->p->dev.p[d];
}

static struct syn_thread *
thread_of(struct exec *x, uint32_t d)
{
	return &x->p->proc.p[dev(x, d)->proc].thread.p[dev(x, d)->thread];
}

static int64_t
max64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static uint32_t
call(struct exec *x, uint32_t d, const char *name)
{
	return syn_call(x->p, dev(x, d)->proc, dev(x, d)->thread, name, syn_rnd(x->p, 1800, 4000));
}

static const char *
call_of(const struct x26_step *s)
{
	return s->kind == X26_SET ? "cudaMemsetAsync_v3020" : s->copy_kind ? "cudaMemcpyAsync_v3020" : "cudaLaunchKernel_v7000";
}

static void
open_thunk(struct exec *x, uint32_t inst, uint32_t d)
{
	syn_open_thunk(x->p, &x->p->prog.p[x->prog].inst.p[inst], inst, d, x->module[d]);
}

/* The unit for step n on device d; its thunk is that of the open range. */
static uint32_t
unit(struct exec *x, uint32_t n, uint32_t d, uint32_t thunk)
{
	const struct x26_step *s = &x->p->prog.p[x->prog].tree->step.p[n];
	struct syn_unit u = { .t = x->p->thunk.p[thunk], .step = n, .buffer = s->buffer, .graph = x->graph > 0 };

	u.t.inst = s->inst;
	u.t.meet = (struct syn_meet){ SYN_NONE, 0, 0, 0 };
	u.t.module = x->module[d];
	u.t.dev = d;
	syn_add(&x->p->unit, u);
	return (uint32_t)x->p->unit.n - 1;
}

/* The time of the stream on which a step runs. */
static int64_t *
clock_of(struct exec *x, const struct x26_step *s, uint32_t d, int *stream)
{
	const struct syn_inst *in = &x->p->prog.p[x->prog].inst.p[s->inst];

	if ((in->collective || in->host) && in->what == SYN_ASYNC) {
		*stream = in->host ? STREAM_HOST : STREAM_COMM;
		return in->host ? &dev(x, d)->copy : &dev(x, d)->comm;
	}
	if (s->aside && x->graph) {
		*stream = STREAM_ASIDE;
		return &x->aside[d];
	}
	*stream = STREAM_COMPUTE;
	return &dev(x, d)->compute;
}

/* Operation k of a step, launched by that call; the caller gives its duration, or the collective sets it later. */
static uint32_t
operation(struct exec *x, uint32_t n, int k, uint32_t d, uint32_t launch, uint32_t u, int64_t dur)
{
	const struct x26_step *s = &x->p->prog.p[x->prog].tree->step.p[n];
	const struct syn_inst *in = &x->p->prog.p[x->prog].inst.p[s->inst];
	struct syn_op op = { .dev = d, .call = launch, .bytes = -1, .unit = u };
	int64_t *clock = clock_of(x, s, d, &op.stream);

	op.short_name = SYN_NONE;
	if (s->kind == X26_COLLECTIVE) {
		const char *name = strcmp(in->nccl, "SendRecv") == 0 ? "ncclDevKernel_SendRecv" :
		                   syn_fmt(x->p, "ncclDevKernel_%s%s_RING_LL", in->nccl, strstr(in->nccl, "Reduce") ? "_Sum_f32" : "");

		op.short_name = syn_name(x->p, name);
		op.name = syn_namef(x->p, "%s(ncclDevKernelArgsStorage<(unsigned long)4096>)", name);
	} else if (s->kind == X26_SET) {
		op.type = SYN_MEMSET;
		op.bytes = s->bytes;
		op.name = syn_name(x->p, "[CUDA memset]");
	} else if (s->copy_kind) {
		op.type = SYN_MEMCPY;
		op.bytes = s->bytes;
		op.copy_kind = (uint8_t)s->copy_kind;
		op.name = syn_namef(x->p, "[CUDA memcpy %s]", s->copy_kind == 1 ? "Host-to-Device" : s->copy_kind == 2 ? "Device-to-Host" : "Device-to-Device");
	} else {
		op.name = syn_name(x->p, s->kernel[k]);
	}
	/* Values are computed before they are sent or copied. */
	op.start = clock == &x->aside[d] ? *clock : max64(*clock, dev(x, d)->compute);
	op.start = max64(op.start, x->p->call.p[launch].end + 1500);
	op.end = op.start + dur;
	*clock = op.end + (x->graph ? 700 : 600);
	x->p->prog.p[x->prog].tree->nodes += x->graph > 0;
	if (x->graph)
		op.node = (x->graph * (int64_t)x->p->dev.n + dev(x, d)->local) << 32 | (s->node + k);
	return syn_op(x->p, op);
}

/* A step that runs something, on every device. */
static void
leaf(struct exec *x, uint32_t n)
{
	const struct x26_step *s = &x->p->prog.p[x->prog].tree->step.p[n];
	const struct syn_inst *in = &x->p->prog.p[x->prog].inst.p[s->inst];
	uint32_t ndev = (uint32_t)x->p->dev.n, *op = syn_check(calloc(ndev, sizeof *op)), *u = syn_check(calloc(ndev, sizeof *u));
	struct syn_meet *part = syn_check(calloc(ndev, sizeof *part));

	for (uint32_t d = 0; d < ndev; d++) {
		uint32_t thunk;
		int ranges = 0;

		if (x->graph) {
			thunk = x->p->call.p[x->call[d]].thunk;
		} else {
			/* An async-start has the title of the instruction in it, except those whose instruction has no -start. */
			if (s->outer != SYN_NONE && in->wrapper) {
				struct syn_inst outer = *in;

				outer.title = syn_namef(x->p, "Thunk:#%shlo_op=%s#", syn_reduces(in) ? "name=pool/add," : "", in->wrapper);
				syn_open_thunk(x->p, &outer, s->inst, d, x->module[d]);
				ranges++;
			} else if (s->outer != SYN_NONE) {
				open_thunk(x, s->outer, d);
				ranges++;
			}
			open_thunk(x, s->inst, d);
			ranges++;
			thunk = thread_of(x, d)->thunk;
			if (in->inside != SYN_NONE) {
				open_thunk(x, in->inside, d);
				ranges++;
			}
		}
		u[d] = unit(x, n, d, thunk);
		for (int k = 0; k < s->kernels; k++)
			op[d] = operation(x, n, k, d, x->graph ? x->call[d] : call(x, d, call_of(s)), u[d],
			                  s->kind == X26_COLLECTIVE ? 0 : syn_spend(x->p, dev(x, d), k ? in->cost / 4 : in->cost, x->number));
		while (ranges--)
			syn_close_thunk(x->p, d);
	}
	if (s->kind == X26_COLLECTIVE)
		syn_meet(x->p, in, op, part, x->number);
	for (uint32_t d = 0; d < ndev; d++) {
		if (in->collective)
			x->p->unit.p[u[d]].t.meet = part[d];
		/* An ungrouped collective keeps the other stream free. */
		if (s->kind == X26_COLLECTIVE && in->what == SYN_SYNC)
			dev(x, d)->comm = max64(dev(x, d)->comm, dev(x, d)->compute);
	}
	free(part);
	free(u);
	free(op);
}

static void
wait(struct exec *x, const struct x26_step *s)
{
	const struct syn_inst *in = &x->p->prog.p[x->prog].inst.p[s->inst];

	for (uint32_t d = 0; d < x->p->dev.n; d++) {
		struct syn_dev *v = dev(x, d);

		if (!x->graph) {
			open_thunk(x, s->inst, d);
			call(x, d, "cudaStreamWaitEvent_v3020");
			syn_close_thunk(x->p, d);
		}
		v->compute = max64(v->compute, x->p->prog.p[x->prog].inst.p[in->start].host ? v->copy : v->comm);
	}
}

/* A predicate is copied to the host: a copy directly under the thunk that needs it. */
static void
predicate(struct exec *x)
{
	for (uint32_t d = 0; d < x->p->dev.n && !x->graph; d++) {
		struct syn_op op = { .dev = d, .type = SYN_MEMCPY, .copy_kind = 2, .bytes = 1, .stream = STREAM_COMPUTE };

		op.call = call(x, d, "cudaMemcpyAsync_v3020");
		op.name = syn_name(x->p, "[CUDA memcpy Device-to-Host]");
		op.short_name = SYN_NONE;
		op.start = max64(dev(x, d)->compute, x->p->call.p[op.call].end + 1100);
		op.end = op.start + syn_rnd(x->p, 1200, 1400);
		dev(x, d)->compute = op.end + 600;
		syn_op(x->p, op);
	}
}

static void steps(struct exec *x, uint32_t n);

static void
launch(struct exec *x, uint32_t n)
{
	const struct syn_program *pr = &x->p->prog.p[x->prog];
	uint32_t inst = pr->tree->step.p[n].inst, seq = 1;
	bool *ran = &pr->tree->ran.p[inst];

	for (uint32_t i = 0; i < n; i++)
		seq += pr->tree->step.p[i].kind == X26_BUFFER;
	for (uint32_t d = 0; d < x->p->dev.n; d++) {
		open_thunk(x, inst, d);
		if (!*ran)
			continue;
		x->call[d] = call(x, d, "cudaGraphLaunch_v10000");
		x->aside[d] = max64(dev(x, d)->compute, x->p->call.p[x->call[d]].end + 1500) + 350;
	}
	if (*ran)
		x->graph = 1 + (int64_t)(x->prog * 4096 + seq);
	steps(x, pr->tree->step.p[n].child);
	for (uint32_t d = 0; d < x->p->dev.n; d++) {
		syn_close_thunk(x->p, d);
		if (x->graph)
			dev(x, d)->compute = max64(dev(x, d)->compute, x->aside[d]);
	}
	x->graph = 0;
	*ran = true;
}

static void
open_all(struct exec *x, uint32_t inst)
{
	for (uint32_t d = 0; d < x->p->dev.n && !x->graph; d++)
		open_thunk(x, inst, d);
}

static void
close_all(struct exec *x)
{
	for (uint32_t d = 0; d < x->p->dev.n && !x->graph; d++)
		syn_close_thunk(x->p, d);
}

static void
steps(struct exec *x, uint32_t n)
{
	const struct x26_tree *t = x->p->prog.p[x->prog].tree;

	for (; n != SYN_NONE; n = t->step.p[n].next) {
		const struct x26_step *s = &t->step.p[n];

		switch (s->kind) {
		case X26_BUFFER:
			launch(x, n);
			break;
		case X26_WHILE:
			open_all(x, s->inst);
			for (int k = 0; k <= s->trips; k++) {
				if (!s->counted) {
					steps(x, s->other);
					predicate(x);
				}
				if (k < s->trips)
					steps(x, s->child);
			}
			close_all(x);
			break;
		case X26_CHOICE:
			open_all(x, s->inst);
			predicate(x);
			steps(x, x->number % 2 ? s->other : s->child);
			close_all(x);
			break;
		case X26_DONE:
			wait(x, s);
			break;
		default:
			leaf(x, n);
		}
	}
}

static void
execute(struct syn_plan *p, uint32_t prog)
{
	size_t n = p->dev.n;
	struct syn_program *pr = &p->prog.p[prog];
	struct exec x = { .p = p, .prog = prog, .number = pr->execs };

	x.module = syn_check(calloc(n, sizeof *x.module));
	x.call = syn_check(calloc(n, sizeof *x.call));
	x.aside = syn_check(calloc(n, sizeof *x.aside));
	while (pr->tree->ran.n < pr->inst.n)
		syn_add(&pr->tree->ran, false);
	for (uint32_t d = 0; d < n; d++) {
		syn_open_module(p, prog, d);
		x.module[d] = (uint32_t)p->module.n - 1;
	}
	steps(&x, 0);
	for (uint32_t d = 0; d < n; d++) {
		syn_pop(p, dev(&x, d)->proc, dev(&x, d)->thread);
		thread_of(&x, d)->module = SYN_NONE;
	}
	pr->execs++;
	free(x.aside);
	free(x.call);
	free(x.module);
}

/* Captures begin here: everything before has ended, nothing after has begun. */
static void
begin_warm(struct syn_plan *p)
{
	bool all = strcmp(syn_opt.xla26, "warm") == 0;

	syn_settle(p);
	for (uint32_t r = 0; r < p->proc.n; r++) {
		struct syn_proc *pr = &p->proc.p[r];
		int64_t last = 0;

		for (size_t t = 0; t < pr->thread.n; t++)
			last = max64(last, pr->thread.p[t].now);
		for (size_t t = 0; t < pr->thread.n; t++)
			pr->thread.p[t].now = last + 10000;
		if (all || (int64_t)r == syn_opt.late)
			pr->from = last + 5000;
	}
}

void
x26_job(struct syn_plan *p)
{
	syn_domains(p);
	syn_add(&p->unit, (struct syn_unit){ 0 });
	for (int64_t k = 0; k < syn_opt.steps || p->prog.p[0].tree->nodes < syn_opt.nodes; k++) {
		if (k == 2)
			begin_warm(p);
		execute(p, 0);
		execute(p, 1);
		if (k % 2 == 0)
			execute(p, 2);
	}
	syn_settle(p);
}
