/* plan.c -- functions for building a plan: names, random numbers, clocks, processes, ranges, calls, operations. */
#include "x26.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"

static const struct nsx_cli who = { "nsysx-synth", "", "", NULL };

void
syn_die(const char *fmt, ...)
{
	char msg[8192];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof msg, fmt, ap);
	va_end(ap);
	nsx_cli_die(&who, msg);
}

void *
syn_check(void *p)
{
	if (!p)
		syn_die("out of memory");
	return p;
}

static const char *
format(struct syn_plan *p, const char *fmt, va_list ap)
{
	char text[4096];
	int n = vsnprintf(text, sizeof text, fmt, ap);
	struct nsx_str s;

	if (n < 0 || (size_t)n >= sizeof text)
		syn_die("a name is too long");
	s = nsx_arena_str(&p->arena, (struct nsx_str){ text, (size_t)n });
	if (!s.ptr)
		syn_die("out of memory");
	return s.ptr;
}

const char *
syn_fmt(struct syn_plan *p, const char *fmt, ...)
{
	va_list ap;
	const char *s;

	va_start(ap, fmt);
	s = format(p, fmt, ap);
	va_end(ap);
	return s;
}

uint32_t
syn_name(struct syn_plan *p, const char *s)
{
	uint32_t id = nsx_intern(&p->names, nsx_str_c(s));

	if (id == NSX_NONE)
		syn_die("out of memory");
	return id;
}

uint32_t
syn_namef(struct syn_plan *p, const char *fmt, ...)
{
	va_list ap;
	const char *s;

	va_start(ap, fmt);
	s = format(p, fmt, ap);
	va_end(ap);
	return syn_name(p, s);
}

/* Interned strings end in a NUL: they are arena strings. */
const char *
syn_str(const struct syn_plan *p, uint32_t name)
{
	return nsx_intern_str(&p->names, name).ptr;
}

int64_t
syn_rnd(struct syn_plan *p, int64_t lo, int64_t hi)
{
	p->random += 0x9e3779b97f4a7c15ULL;
	return lo + (int64_t)(nsx_hash_u64(p->random) % (uint64_t)(hi - lo + 1));
}

int64_t
syn_local(const struct syn_plan *p, uint32_t proc, int64_t t)
{
	const struct syn_proc *pr = &p->proc.p[proc];
	__int128 d = (__int128)t * pr->ppb;
	int64_t drift = (int64_t)(d / 1000000000);

	/* Rounded down, so that order is kept on both sides of 0. */
	if (d % 1000000000 < 0)
		drift--;
	return p->base + t + pr->offset - pr->session + drift;
}

int64_t
syn_program_id(uint32_t proc, const struct syn_program *pr)
{
	return pr->id + (syn_opt.disagree ? 2 * (int64_t)proc : 0);
}

const char *
syn_profile(struct syn_plan *p, uint32_t xport)
{
	return syn_opt.one_export ? "r" : syn_fmt(p, "r%u", xport);
}

uint64_t
syn_gpid(const struct syn_plan *p, uint32_t proc)
{
	const struct syn_proc *pr = &p->proc.p[proc];

	return (uint64_t)pr->vm << 48 | (uint64_t)pr->pid << 24;
}

uint64_t
syn_gtid(const struct syn_plan *p, uint32_t proc, uint32_t thread)
{
	return syn_gpid(p, proc) | p->proc.p[proc].thread.p[thread].tid;
}

static void
add_thread(struct syn_proc *pr, uint32_t tid, const char *name)
{
	struct syn_thread t = { tid, name, 1000000, SYN_NONE, SYN_NONE, SYN_NONE };

	syn_add(&pr->thread, t);
}

static void
add_proc(struct syn_plan *p, int i)
{
	const struct syn_opts *o = &syn_opt;
	struct syn_proc pr = { 0 };
	const char *slice = strcmp(o->titles, "2026") == 0 ? "partition" : "slice";
	int64_t world = o->procs * o->devices;

	/* Processes of a host share clock and capture, and are started in any order; on every other host in the order
	 * of ranks. */
	int on_host = o->hosts ? (int)(o->procs / o->hosts) : 1, rank = i % on_host;
	const struct syn_proc *first = rank ? &p->proc.p[i - rank] : NULL;
	int order = i / on_host % 2 ? rank : rank % 2 ? rank - 1 : rank + 1 < on_host ? rank + 1 : rank;

	/* Process ids of containers: they repeat from one export to another, never within one. */
	pr.pid = (uint32_t)(4242 + 37 * (o->one_export ? i : o->hosts ? order : i % 3));
	pr.vm = 1;
	/* The order of report names also differs from that of ranks. */
	pr.xport = o->one_export ? 0 : (uint32_t)(o->hosts ? o->hosts - 1 - i / on_host : i);
	pr.from = INT64_MIN;
	pr.until = INT64_MAX;
	if (first) {
		pr.offset = first->offset;
		pr.ppb = first->ppb;
		pr.session = first->session;
	}
	if (i > 0 && !first && o->offset)
		pr.offset = syn_rnd(p, -o->offset, o->offset);
	if (i > 0 && !first && o->drift)
		pr.ppb = syn_rnd(p, -o->drift * 1000, o->drift * 1000);
	if (i > 0 && !first && o->sessions && !o->one_export)
		pr.session = syn_rnd(p, -o->sessions, o->sessions);
	/* A library may have different domain numbers in different processes. */
	pr.domain_id[SYN_TSL] = i % 2 ? 2 : 1;
	pr.domain_id[SYN_NCCL] = i % 2 ? 1 : 2;
	pr.domain_id[SYN_CUBLAS] = 3;
	pr.next_range_id = 1;
	add_thread(&pr, pr.pid, "python3");
	for (int l = 0; l < o->devices; l++) {
		int g = i * (int)o->devices + l;
		const char *name = o->torch ? "pt_autograd_0" : syn_fmt(p, "XlaLauncher:#global=%d,local=%d,process=%d,%s=%d#", g, l, i, slice, world > 8 ? g / 8 : 0);
		struct syn_dev d = { 0 };

		add_thread(&pr, pr.pid + 40 + (uint32_t)l, name);
		d.proc = (uint32_t)i;
		/* A process with one device launches from its main thread, although the launcher thread has a name
		 * too. */
		d.thread = o->devices > 1 && !o->torch ? 1 + (uint32_t)l : 0;
		d.local = l;
		d.global = g;
		d.cuda = o->one_export && strcmp(o->one_export, "ordinal") == 0 ? g : l;
		d.compute = d.comm = d.copy = 1000000;
		d.slow = g == 0 ? 0 : (int)syn_rnd(p, 0, 40);
		syn_add(&p->dev, d);
	}
	pr.workers = (uint32_t)pr.thread.n;
	for (uint32_t w = 0; w < 4; w++)
		add_thread(&pr, pr.pid + 60 + w, syn_fmt(p, "llvm-worker-%u", w));
	add_thread(&pr, pr.pid + 70, "cuda-EvtHandlr");
	add_thread(&pr, pr.pid + 71, "grpc_global_tim");
	syn_add(&p->proc, pr);
}

void
syn_people(struct syn_plan *p)
{
	p->base = 2000000000 + syn_opt.offset + syn_opt.sessions;
	p->nxports = syn_opt.one_export ? 1 : (uint32_t)(syn_opt.hosts ? syn_opt.hosts : syn_opt.procs);
	p->comm = !syn_opt.no_comm && syn_opt.procs * syn_opt.devices > 1;
	for (int i = 0; i < syn_opt.procs; i++)
		add_proc(p, i);
	syn_plant_people(p);
	syn_vary_people(p);
}

uint32_t
syn_push(struct syn_plan *p, uint32_t proc, uint32_t thread, int domain, uint32_t name, bool registered)
{
	struct syn_thread *th = &p->proc.p[proc].thread.p[thread];
	struct syn_range r = { 0 };

	th->now += syn_rnd(p, 300, 900);
	r.start = th->now;
	r.end = INT64_MAX;
	r.name = name;
	r.proc = proc;
	r.thread = thread;
	r.domain = (uint8_t)domain;
	r.registered = registered;
	r.type = SYN_PUSHPOP;
	r.end_thread = r.strip = r.cprog = r.cparent = SYN_NONE;
	r.parent = th->top;
	syn_add(&p->range, r);
	return th->top = (uint32_t)p->range.n - 1;
}

void
syn_pop(struct syn_plan *p, uint32_t proc, uint32_t thread)
{
	struct syn_thread *th = &p->proc.p[proc].thread.p[thread];
	struct syn_range *r = &p->range.p[th->top];

	th->now += syn_rnd(p, 200, 600);
	r->end = th->now;
	th->top = r->parent;
}

uint32_t
syn_call(struct syn_plan *p, uint32_t proc, uint32_t thread, const char *name, int64_t dur)
{
	struct syn_thread *th = &p->proc.p[proc].thread.p[thread];
	struct syn_call c = { 0 };

	th->now += syn_rnd(p, 150, 400);
	c.start = th->now;
	c.end = th->now += dur;
	c.name = syn_name(p, name);
	c.proc = proc;
	c.thread = thread;
	c.thunk = th->thunk;
	c.module = th->module;
	c.driver = SYN_NONE;
	syn_add(&p->call, c);
	return (uint32_t)p->call.n - 1;
}

uint32_t
syn_launch(struct syn_plan *p, uint32_t proc, uint32_t thread)
{
	int64_t how = syn_rnd(p, 0, 9), dur = syn_rnd(p, 2500, 5000);
	uint32_t c = syn_call(p, proc, thread, how < 6 ? "cudaLaunchKernel_v7000" : how < 8 ? "cuLaunchKernelEx" : "cudaLaunchKernelExC_v11060", dur);

	p->call.p[c].is_driver = how >= 6 && how < 8;
	/* Both layers recorded: two rows with one correlation id. */
	if (how >= 8)
		p->call.p[c].driver = syn_name(p, "cuLaunchKernelEx");
	return c;
}

uint32_t
syn_op(struct syn_plan *p, struct syn_op op)
{
	if (op.call != SYN_NONE)
		p->call.p[op.call].launches = true;
	if (op.short_name == SYN_NONE)
		op.short_name = op.name;
	syn_add(&p->op, op);
	return (uint32_t)p->op.n - 1;
}

int
syn_group(const struct syn_plan *p, enum syn_group kind, int device, int *size)
{
	int world = (int)p->dev.n, n = (int)syn_opt.groups, rows;

	*size = kind >= SYN_RING ? 2 : world;
	if (kind >= SYN_EVEN) {
		int first = kind == SYN_ODD, pair = (device - first) / 2;

		return device < first || first + 2 * pair + 1 >= world ? -1 : pair;
	}
	if (kind == SYN_RING || kind == SYN_WORLD || n <= 0 || n >= world)
		return 0;
	if (kind == SYN_BLOCK) {
		int g = device / n;

		*size = (g + 1) * n <= world ? n : world - g * n;
		return g;
	}
	rows = (world + n - 1) / n;
	*size = world / rows + (device % rows < world % rows);
	return device % rows;
}

bool
syn_runs(const struct syn_plan *p, const struct syn_inst *in, int device)
{
	int size;

	if (in->only == SYN_FIRST_STAGE)
		return device == 0;
	if (in->only == SYN_LAST_STAGE)
		return device == (int)p->dev.n - 1;
	return in->group < SYN_EVEN || syn_group(p, in->group, device, &size) >= 0;
}

static int64_t
width(int type)
{
	switch (type) {
	case 1: case 2: case 6:    return 1;
	case 10: case 16:          return 2;
	case 4: case 8: case 11:   return 4;
	default:                   return 8;
	}
}

int64_t
syn_bytes(const struct syn_plan *p, const struct syn_inst *in, int device)
{
	int64_t sum = 0;
	int size;

	for (int i = 0; i < in->nin; i++) {
		int64_t n = width(in->in[i].type);

		for (int d = 0; d < in->in[i].ndim; d++)
			n *= in->in[i].dim[d];
		sum += n;
	}
	syn_group(p, in->group, device, &size);
	return in->collective && strcmp(in->collective, "reduce-scatter") == 0 ? sum / size : sum;
}

void
syn_free(struct syn_plan *p)
{
	for (size_t i = 0; i < p->prog.n; i++) {
		free(p->prog.p[i].inst.p);
		free(p->prog.p[i].inner.p);
		free(p->prog.p[i].comp.p);
		free(p->prog.p[i].item.p);
		free(p->prog.p[i].home.p);
		if (p->prog.p[i].tree) {
			free(p->prog.p[i].tree->step.p);
			free(p->prog.p[i].tree->ran.p);
			free(p->prog.p[i].tree);
		}
	}
	for (size_t i = 0; i < p->proc.n; i++)
		free(p->proc.p[i].thread.p);
	free(p->prog.p);
	free(p->frame.p);
	free(p->proc.p);
	free(p->dev.p);
	free(p->range.p);
	free(p->call.p);
	free(p->op.p);
	free(p->thunk.p);
	free(p->unit.p);
	free(p->split.p);
	free(p->bare.p);
	free(p->module.p);
	free(p->mark.p);
	free(p->payload.p);
	free(p->capture.p);
	free(p->memory.p);
	free(p->host_fn.p);
	nsx_intern_free(&p->names);
	nsx_arena_free(&p->arena);
}
