/* compile.c -- compilation of a program in a process: nested ranges on the main thread, parallel ones on workers. */
#include <string.h>

#include "synth.h"

/* The current position of the compilation. */
struct site { struct syn_plan *p; uint32_t proc, thread, prog, parent; bool folded; };

static struct syn_thread *
thread_of(struct site *s)
{
	return &s->p->proc.p[s->proc].thread.p[s->thread];
}

/* Open LABEL:#name=NAME,module=MODULE,program_id=ID# (id < 0: none; other parts NULL: none) as a compile record. */
static uint32_t
begin(struct site *s, const char *label, const char *key, const char *value, const char *module, int64_t id)
{
	struct syn_plan *p = s->p;
	const char *shown = value ? syn_fmt(p, "%s:#%s=%s#", label, key, value) : label;
	const char *text = syn_fmt(p, "%s%s%s%s%s%s%s%s%s", label, value || module ? ":#" : "", value ? key : "", value ? "=" : "", value ? value : "",
	                           value && module ? "," : "", module ? "module=" : "", module ? module : "",
	                           id >= 0 ? syn_fmt(p, ",program_id=%lld#", (long long)id) : value || module ? "#" : "");
	uint32_t i = syn_push(p, s->proc, s->thread, SYN_TSL, syn_name(p, text), false);
	struct syn_range *r = &p->range.p[i];

	r->strip = syn_name(p, shown);
	r->cprog = s->prog;
	r->cparent = s->parent;
	r->folded = s->folded;
	s->parent = i;
	return i;
}

static void
end(struct site *s, int64_t work)
{
	thread_of(s)->now += work;
	syn_pop(s->p, s->proc, s->thread);
	s->parent = s->p->range.p[s->parent].cparent;
}

static void
leaf(struct site *s, const char *label, const char *name, const char *module, int64_t id, int64_t lo, int64_t hi)
{
	begin(s, label, "name", name, module, id);
	end(s, syn_rnd(s->p, lo, hi));
}

static void
passes(struct site *s, const char *const *names, const char *module, int64_t id)
{
	for (; *names; names++)
		leaf(s, "XlaPass", *names, module, id, 1500, 60000);
}

/* Backends that emit code on several threads while the main thread waits in `around`. */
static void
parallel(struct site *s, const char *module, int workers)
{
	struct syn_plan *p = s->p;
	struct syn_proc *pr = &p->proc.p[s->proc];
	int64_t last = thread_of(s)->now, began = last;

	for (int w = 0; w < workers; w++) {
		struct site at = *s;

		at.thread = pr->workers + (uint32_t)w;
		thread_of(&at)->now = began + 2000 + syn_rnd(p, 0, 20000);
		for (int k = 0; k < 2; k++) {
			leaf(&at, "XlaOptimizeLlvmIr", NULL, module, -1, 200000, 500000);
			begin(&at, "XlaEmitGpuAsm", NULL, NULL, module, -1);
			leaf(&at, "XlaCompileGpuAsm", NULL, module, -1, 150000, 400000);
			end(&at, 3000);
			thread_of(&at)->now += syn_rnd(p, 0, 9000);
		}
		if (thread_of(&at)->now > last)
			last = thread_of(&at)->now;
	}
	thread_of(s)->now = last + 5000;
}

/* One candidate of an autotuned fusion runs on the GPU, in a module without a program id. */
static void
measure(struct site *s, const char *fusion)
{
	struct syn_plan *p = s->p;
	struct syn_dev *d = NULL;
	struct syn_module m = { 0 };
	struct syn_thunk t = { 0 };
	struct syn_op op = { 0 };
	uint32_t di;

	for (di = 0; di < p->dev.n && !d; di++)
		if (p->dev.p[di].proc == s->proc)
			d = &p->dev.p[di];
	m.prog = SYN_NONE;
	m.dev = di - 1;
	m.range = begin(s, "XlaModule", "hlo_module", fusion, NULL, -1);
	p->range.p[m.range].registered = true;
	p->range.p[m.range].strip = syn_name(p, "XlaModule");
	syn_add(&p->module, m);
	thread_of(s)->module = (uint32_t)p->module.n - 1;
	t.range = begin(s, "Thunk", "hlo_op", fusion, NULL, -1);
	p->range.p[t.range].registered = true;
	t.module = thread_of(s)->module;
	t.inst = syn_name(p, fusion);
	t.dev = m.dev;
	t.outer = t.meet.instance = SYN_NONE;
	syn_add(&p->thunk, t);
	thread_of(s)->thunk = (uint32_t)p->thunk.n - 1;
	op.call = syn_launch(p, s->proc, s->thread);
	end(s, 200);
	thread_of(s)->thunk = SYN_NONE;
	end(s, 200);
	thread_of(s)->module = SYN_NONE;
	op.dev = m.dev;
	op.name = syn_name(p, "triton_gemm_dot");
	op.short_name = SYN_NONE;
	op.stream = 13;
	op.bytes = -1;
	op.start = p->call.p[op.call].end + 1500;
	if (op.start < d->compute)
		op.start = d->compute;
	op.end = op.start + syn_rnd(p, 20000, 60000);
	d->compute = op.end + 600;
	syn_op(p, op);
	if (thread_of(s)->now < op.end)
		thread_of(s)->now = op.end + 2000;
}

static void
autotune(struct site *s, const char *module, int64_t id)
{
	struct syn_plan *p = s->p;
	struct syn_proc *pr = &p->proc.p[s->proc];
	int64_t began, last;

	begin(s, "XlaPass", "name", "gemm-fusion-autotuner", module, id);
	p->range.p[begin(s, "XlaAutotunerCompilation", NULL, NULL, NULL, -1)].tuner = true;
	s->folded = true;
	began = last = thread_of(s)->now;
	for (uint32_t w = 0; w < 2; w++) {
		struct site at = *s;
		const char *extracted = syn_fmt(p, "gemm_fusion_dot.%u", w);

		at.thread = pr->workers + w;
		thread_of(&at)->now = began + 1000 + 3000 * w;
		begin(&at, "XlaCompileBackend", NULL, NULL, extracted, 1000 + 10 * id + w);
		leaf(&at, "XlaOptimizeLlvmIr", NULL, extracted, -1, 50000, 90000);
		end(&at, 4000);
		if (thread_of(&at)->now > last)
			last = thread_of(&at)->now;
	}
	thread_of(s)->now = last + 3000;
	s->folded = false;
	end(s, 2000);
	for (int k = 0; k < 2; k++) {
		const char *fusion = syn_fmt(p, "gemm_fusion_dot.%d", k);
		struct syn_range *r = &p->range.p[begin(s, "XlaAutotunerMeasurement", "hlo_op", fusion, NULL, -1)];

		r->tuner = r->measures = true;
		s->folded = true;
		for (int n = 0; n < 2; n++)
			measure(s, fusion);
		s->folded = false;
		end(s, 1500);
	}
	end(s, 1200);
}

void
syn_compile(struct syn_plan *p, uint32_t proc, uint32_t prog)
{
	static const char *const before[] = { "call-inliner", "zero_sized_hlo_elimination", "topk-rewriter", NULL };
	static const char *const simplify[] = { "algsimp", "dce", "tuple-simplifier", NULL };
	struct site s = { p, proc, 0, prog, SYN_NONE, false };
	const struct syn_program *pr = &p->prog.p[prog];
	const char *module = pr->name;
	int64_t id = syn_program_id(proc, pr);

	thread_of(&s)->now += 30000;
	/* Writing the dump comes before the compilation and does not belong to it. */
	leaf(&s, "XlaDumpHloModule", NULL, module, id, 8000, 40000);
	p->range.p[p->range.n - 1].strip = p->range.p[p->range.n - 1].cprog = SYN_NONE;
	begin(&s, "XlaCompile", NULL, NULL, module, pr->spread || prog == 1 ? id : -1);
	begin(&s, "XlaPassPipeline", "name", "pre-spmd-partitioner", module, id);
	passes(&s, before, module, id);
	end(&s, 2000);
	begin(&s, "XlaPassPipeline", "name", "optimization", module, id);
	for (int k = 0; k < 2; k++) {
		begin(&s, "XlaPassPipeline", "name", "simplification", module, id);
		passes(&s, simplify, module, id);
		end(&s, 900);
	}
	if (pr->spread && syn_opt.autotune)
		autotune(&s, module, id);
	begin(&s, "XlaPass", "name", "cublas-gemm-rewriter", module, id);
	/* A range of a library inside a pass: its time belongs to the pass. */
	syn_push(p, proc, 0, SYN_CUBLAS, syn_name(p, "cublasCreate_v2"), false);
	thread_of(&s)->now += 70000;
	syn_pop(p, proc, 0);
	end(&s, 1000);
	end(&s, 4000);
	begin(&s, "XlaCompileBackend", NULL, NULL, module, id);
	leaf(&s, "XlaMemoryScheduler", NULL, module, id, 9000, 20000);
	leaf(&s, "XlaBufferAssignment", NULL, module, id, 9000, 30000);
	leaf(&s, "XlaEmitLlvmIr", NULL, module, id, 40000, 90000);
	if (pr->spread) {
		parallel(&s, module, 3);
	} else {
		leaf(&s, "XlaOptimizeLlvmIr", NULL, module, -1, 30000, 90000);
		begin(&s, "XlaEmitGpuAsm", NULL, NULL, module, -1);
		leaf(&s, "XlaCompileGpuAsm", NULL, module, -1, 100000, 200000);
		end(&s, 1000);
	}
	leaf(&s, "XlaCreateGpuExecutable", NULL, module, -1, 7000, 15000);
	end(&s, 3000);
	end(&s, 6000);
}
