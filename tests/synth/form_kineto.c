/* form_kineto.c -- a trace of PyTorch's profiler for each process. It records the ranges of PyTorch (operators without
 * their number, annotations of the user), calls and operations, and what a collective's kernel is told: no NVTX of
 * others, no ranges that start and end on two threads, no clock or overhead of exports. */
#include "form.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

enum { BASE_BEFORE = 5 };   /* the library counts from a time that many days before any trace */
static const int64_t DAY = INT64_C(86400000000000);

struct trace {
	struct syn_plan *p;
	uint32_t         proc;
	struct nsx_buf   out;
	bool             first;   /* no event so far */
};

/* An event up to its arguments, which follow, and then end(). start, end: local ns. */
static void
begin(struct trace *t, const char *cat, const char *name, int64_t pid, int64_t tid, int64_t start, int64_t end)
{
	/* Exports count from the start of the session, traces from a time of the library. */
	int64_t at = start + BASE_BEFORE * DAY + t->p->proc.p[t->proc].session, dur = end - start;

	nsx_buf_fmt(&t->out, "%s\n  {\n    \"ph\": \"X\", \"cat\": \"%s\", \"name\": ", t->first ? "" : ",", cat);
	nsx_buf_json(&t->out, nsx_str_c(name));
	nsx_buf_fmt(&t->out, ", \"pid\": %lld, \"tid\": %lld,\n    \"ts\": %lld.%03lld, \"dur\": %lld.%03lld,\n    \"args\": {\n      ",
	            (long long)pid, (long long)tid, (long long)(at / 1000), (long long)(at % 1000), (long long)(dur / 1000),
	            (long long)(dur % 1000));
	t->first = false;
}

static void
end(struct trace *t)
{
	nsx_buf_c(&t->out, "\n    }\n  }");
}

/* ---- operations */

static const char *
copy_name(struct syn_plan *p, const struct syn_op *op)
{
	static const char *const ways[] = { [1] = "HtoD", [2] = "DtoH", [8] = "DtoD" };

	return syn_fmt(p, "Memcpy %s (%s -> %s)", ways[op->copy_kind], op->pinned && op->copy_kind == 1 ? "Pinned" : "Device",
	               op->pinned && op->copy_kind == 2 ? "Pinned" : "Device");
}

/* What PyTorch tells the profiler of a collective, in a job where all devices run together. */
static void
collective(struct trace *t, const char *kernel)
{
	int64_t n = SYN_MESSAGE / 2, ranks = (int64_t)t->p->dev.n;

	if (!syn_opt.torch || !syn_in_lockstep() || strncmp(kernel, "ncclDevKernel_AllReduce", 23) != 0)
		return;
	nsx_buf_fmt(&t->out, ",\n      \"Collective name\": \"allreduce\", \"In msg nelems\": %lld, \"Out msg nelems\": %lld, "
	            "\"Group size\": %lld, \"dtype\": \"BFloat16\", \"Process Group Name\": \"0\", "
	            "\"Process Group Description\": \"default_pg\", \"Process Group Ranks\": \"[", (long long)n, (long long)n,
	            (long long)ranks);
	/* A long list is cut. */
	for (int64_t i = 0; i < ranks && i < 30; i++)
		nsx_buf_fmt(&t->out, "%s%lld", i ? ", " : "", (long long)i);
	nsx_buf_c(&t->out, ranks > 30 ? ", ...]\"" : "]\"");
}

static void
operation(struct trace *t, const struct syn_op *op)
{
	static const char *const cats[] = { "kernel", "gpu_memcpy", "gpu_memset" };
	const struct syn_dev *d = &t->p->dev.p[op->dev];
	const char *name = op->type == SYN_MEMCPY ? copy_name(t->p, op) : op->type == SYN_MEMSET ? "Memset (Device)"
	    : syn_str(t->p, op->name);

	if (op->type == SYN_GRAPH)
		syn_die("--kineto: a trace has no graphs as wholes");
	begin(t, cats[op->type], name, d->cuda, op->stream, syn_local(t->p, t->proc, op->start),
	      syn_local(t->p, t->proc, op->end));
	nsx_buf_fmt(&t->out, "\"device\": %lld, \"context\": 1, \"stream\": %d, \"correlation\": %u", (long long)d->cuda,
	            op->stream, op->call == SYN_NONE ? 0 : t->p->call.p[op->call].corr);
	if (op->node)
		nsx_buf_fmt(&t->out, ", \"graph node id\": %lld", (long long)op->node);
	if (op->type == SYN_KERNEL)
		collective(t, name);
	else
		nsx_buf_fmt(&t->out, ", \"bytes\": %lld, \"memory bandwidth (GB/s)\": %f", (long long)op->bytes,
		            (double)op->bytes / (double)(op->end - op->start));
	end(t);
}

/* ---- the host */

static void
call(struct trace *t, const struct syn_call *c)
{
	const struct syn_proc *pr = &t->p->proc.p[t->proc];
	int64_t tid = pr->thread.p[c->thread].tid;

	begin(t, c->is_driver ? "cuda_driver" : "cuda_runtime", form_call(t->p, c->name), pr->pid, tid,
	      syn_local(t->p, t->proc, c->start), syn_local(t->p, t->proc, c->end));
	nsx_buf_fmt(&t->out, "\"cbid\": 211, \"correlation\": %u", c->corr);
	end(t);
	if (c->driver == SYN_NONE)
		return;
	begin(t, "cuda_driver", form_call(t->p, c->driver), pr->pid, tid, syn_local(t->p, t->proc, c->start + 400),
	      syn_local(t->p, t->proc, c->end - 300));
	nsx_buf_fmt(&t->out, "\"cbid\": 652, \"correlation\": %u", c->corr);
	end(t);
}

/* An operator's range ends with its number, which the profiler has beside its name. */
static const char *
operator_name(struct syn_plan *p, const char *range)
{
	const char *seq = strstr(range, ", seq = "), *id = strstr(range, ", op_id = ");

	return id ? syn_fmt(p, "%.*s", (int)((seq ? seq : id) - range), range) : NULL;
}

static void
range(struct trace *t, const struct syn_range *r)
{
	const struct syn_proc *pr = &t->p->proc.p[t->proc];
	const char *name = syn_str(t->p, r->name), *cat = "user_annotation", *op = operator_name(t->p, name);
	int64_t tid = pr->thread.p[r->thread].tid;

	if (r->type == SYN_STARTEND || r->open)
		return;
	if (r->domain == SYN_NCCL && strcmp(name, "ncclAllReduce") == 0)
		name = "nccl:all_reduce";
	else if (r->domain == SYN_NCCL && strcmp(name, "ncclGroupStart") == 0)
		op = "record_param_comms";
	else if (r->domain != SYN_DEFAULT)
		return;
	const char *number = op ? strstr(name, ", seq = ") : NULL;
	/* This is PyTorch's own annotation, and no operator. */
	if (op && strncmp(op, "Optimizer.step#", 15) == 0) {
		name = op;
		op = NULL;
	}
	begin(t, op ? "cpu_op" : cat, op ? op : name, pr->pid, tid, r->lstart, r->lend);
	nsx_buf_fmt(&t->out, "\"External id\": %lld", (long long)(r - t->p->range.p) + 1);
	if (op && number)
		nsx_buf_fmt(&t->out, ", \"Sequence number\": %d, \"Fwd thread id\": 1", atoi(number + 8));
	end(t);
	if (op || !r->ops)
		return;
	/* The profiler's own projection, which is a little longer. */
	begin(t, "gpu_user_annotation", name, 0, 7, r->gpu_start - 1, r->gpu_end + 1);
	nsx_buf_fmt(&t->out, "\"External id\": %lld", (long long)(r - t->p->range.p) + 1);
	end(t);
}

/* ---- the file */

static void
header(struct trace *t)
{
	const struct syn_plan *p = t->p;
	const char *comma = "";

	nsx_buf_c(&t->out, "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [");
	for (size_t i = 0; i < p->dev.n; i++) {
		if (p->dev.p[i].proc != t->proc)
			continue;
		nsx_buf_fmt(&t->out, "%s\n    {\"id\": %lld, \"name\": \"Example H300\", \"totalGlobalMem\": 85899345920, "
		            "\"computeMajor\": 9, \"computeMinor\": 0, \"warpSize\": 32, \"numSms\": 132}", comma,
		            (long long)p->dev.p[i].cuda);
		comma = ",";
	}
	nsx_buf_fmt(&t->out, "\n  ],\n  \"cuda_runtime_version\": 12090,\n  \"distributedInfo\": {\"backend\": \"nccl\", "
	            "\"rank\": %u, \"world_size\": %zu, \"pg_count\": 1, \"pg_config\": [{\"pg_name\": \"0\", "
	            "\"pg_desc\": \"default_pg\", \"pg_size\": %zu, \"ranks\": [", t->proc, p->proc.n, p->proc.n);
	for (uint32_t r = 0; r < p->proc.n; r++)
		nsx_buf_fmt(&t->out, "%s%u", r ? ", " : "", r);
	nsx_buf_fmt(&t->out, "]}]},\n  \"baseTimeNanoseconds\": %lld,\n  \"traceEvents\": [",
	            (long long)(SYN_UTC - BASE_BEFORE * DAY));
}

static void
process(struct syn_plan *p, uint32_t proc)
{
	struct trace t = { .p = p, .proc = proc, .first = true };
	const struct syn_proc *pr = &p->proc.p[proc];

	header(&t);
	for (size_t i = 0; i < p->op.n; i++)
		if (p->dev.p[p->op.p[i].dev].proc == proc && !p->op.p[i].gone && !p->op.p[i].decompress)
			operation(&t, &p->op.p[i]);
	for (size_t i = 0; i < p->range.n; i++)
		if (p->range.p[i].proc == proc && !p->range.p[i].gone)
			range(&t, &p->range.p[i]);
	for (size_t i = 0; i < p->call.n; i++)
		if (p->call.p[i].proc == proc && !p->call.p[i].gone)
			call(&t, &p->call.p[i]);
	nsx_buf_fmt(&t.out, "%s\n  {\n    \"name\": \"process_name\", \"ph\": \"M\", \"ts\": 0.000, \"pid\": %u, \"tid\": 0,\n"
	            "    \"args\": {\n      \"name\": \"python3\"\n    }\n  }\n  ],\n  \"traceName\": \"r%u.pt.trace.json\"\n}\n",
	            t.first ? "" : ",", pr->pid, proc);
	syn_write_file(syn_fmt(p, "%s/r%u.pt.trace.json", syn_opt.dir, proc), &t.out);
	nsx_buf_free(&t.out);
}

void
syn_kineto(struct syn_plan *p)
{
	for (uint32_t r = 0; r < p->proc.n; r++)
		process(p, r);
}
