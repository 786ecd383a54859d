/* sim_jobs.c -- the pieces of which jobs of causes are built: threads, streams, calls with their operations, collectives. */
#include <string.h>

#include "sim.h"

/* Nanoseconds, and by how much they vary. */
enum {
	LAUNCH_LATENCY = 4200, LAUNCH_LATENCY_VARIES = 900, GAP = 900, GAP_VARIES = 160, AWAIT = 1500, AWAIT_VARIES = 400,
	LAUNCH_CALL = 2800, LAUNCH_CALL_VARIES = 1400, EVENT_CALL = 700, EVENT_CALL_VARIES = 400, GRAPH_CALL = 6000, GRAPH_CALL_VARIES = 2500,
	SYNC_CALL = 1500, SYNC_RETURN = 1700, SYNC_RETURN_VARIES = 600, WAKE = 6000, WAKE_VARIES = 3000, NCCL_CALL = 400
};

int64_t
sim_draw(struct sim *s, int64_t lo, int64_t hi)
{
	s->random += 0x9e3779b97f4a7c15ULL;
	return lo + (int64_t)(nsx_hash_u64(s->random) % (uint64_t)(hi - lo + 1));
}

int64_t
sim_noise(struct sim *s, int64_t ns, int64_t most)
{
	int64_t extra = sim_draw(s, 0, most);

	/* A few are much longer. */
	if (sim_draw(s, 0, 39) == 0)
		extra += sim_draw(s, 0, 5 * most);

	return ns + (s->steady ? most / 2 : extra);
}

uint32_t
sim_thread(struct sim *s, uint32_t proc, const char *name)
{
	struct syn_proc *pr = &s->p->proc.p[proc];
	uint32_t tid = pr->pid + (uint32_t)pr->thread.n;

	syn_add(&pr->thread, ((struct syn_thread){ .tid = tid, .name = name, .top = SYN_NONE, .thunk = SYN_NONE, .module = SYN_NONE }));
	syn_add(&s->thread, ((struct sim_thread){ .proc = proc, .thread = (uint32_t)pr->thread.n - 1 }));
	return (uint32_t)s->thread.n - 1;
}

uint32_t
sim_process(struct sim *s, int devices)
{
	struct syn_plan *p = s->p;
	uint32_t proc = (uint32_t)p->proc.n, first = (uint32_t)p->dev.n;
	struct syn_proc pr = { .pid = 4242 + 37 * proc, .vm = 1, .from = INT64_MIN, .until = INT64_MAX, .domain_id = { [SYN_TSL] = 2, [SYN_NCCL] = 1, [SYN_CUBLAS] = 3 } };

	syn_add(&p->proc, pr);
	syn_add(&p->mark, ((struct syn_mark){ 0, proc, 0, syn_name(p, "NCCL"), 75, SYN_NCCL, 0 }));
	for (int i = 0; i < devices; i++)
		syn_add(&p->dev, ((struct syn_dev){ .proc = proc, .local = i, .global = (int)first + i, .cuda = (int64_t)first + i }));
	return first;
}

uint32_t
sim_stream(struct sim *s, uint32_t dev, int id)
{
	syn_add(&s->stream, ((struct sim_stream){ .dev = dev, .id = id, .last = SYN_NONE }));
	return (uint32_t)s->stream.n - 1;
}

uint32_t
sim_sem(struct sim *s, uint32_t count)
{
	syn_add(&s->sem, ((struct sim_sem){ count, count }));
	return (uint32_t)s->sem.n - 1;
}

static void
add(struct sim *s, uint32_t th, struct sim_step step)
{
	syn_add(&s->thread.p[th].step, step);
}

static void
call(struct sim *s, uint32_t th, enum sim_do what, const char *name, int64_t ns, uint32_t arg, uint32_t arg2)
{
	add(s, th, (struct sim_step){ .what = what, .ns = ns, .extra = sim_noise(s, SYNC_RETURN, SYNC_RETURN_VARIES), .arg = arg, .arg2 = arg2, .name = syn_name(s->p, name) });
}

void
sim_work(struct sim *s, uint32_t th, int64_t ns)
{
	add(s, th, (struct sim_step){ .what = SIM_WORK, .ns = ns });
}

void
sim_do(struct sim *s, uint32_t th, enum sim_do what, uint32_t arg)
{
	add(s, th, (struct sim_step){ .what = what, .ns = what == SIM_TAKE ? sim_noise(s, WAKE, WAKE_VARIES) : 0, .arg = arg });
}

void
sim_push(struct sim *s, uint32_t th, const char *name, const struct syn_payload *payload)
{
	if (payload)
		syn_add(&s->payload, *payload);
	add(s, th, (struct sim_step){ .what = SIM_PUSH, .arg = payload ? (uint32_t)s->payload.n : 0, .name = syn_name(s->p, name) });
}

static uint32_t
add_op(struct sim *s, uint32_t stream, const char *name, int64_t dur)
{
	struct sim_op o = { .name = syn_name(s->p, name), .stream = stream, .meet = SYN_NONE, .dur = dur, .bytes = -1, .pred = { SYN_NONE, SYN_NONE }, .type = SYN_KERNEL };

	o.launch = sim_noise(s, LAUNCH_LATENCY, LAUNCH_LATENCY_VARIES);
	o.gap = sim_noise(s, GAP, GAP_VARIES);
	o.await = sim_noise(s, AWAIT, AWAIT_VARIES);
	syn_add(&s->op, o);
	return (uint32_t)s->op.n - 1;
}

uint32_t
sim_kernel(struct sim *s, uint32_t th, uint32_t stream, const char *name, int64_t dur)
{
	uint32_t op = add_op(s, stream, name, dur);

	call(s, th, SIM_LAUNCH, "cudaLaunchKernel_v7000", sim_noise(s, LAUNCH_CALL, LAUNCH_CALL_VARIES), op, 0);
	return op;
}

uint32_t
sim_copy(struct sim *s, uint32_t th, uint32_t stream, int kind, int64_t bytes, int64_t dur, bool blocking)
{
	uint32_t op = add_op(s, stream, kind == 1 ? "[CUDA memcpy Host-to-Device]" : "[CUDA memcpy Device-to-Host]", dur);

	s->op.p[op].type = SYN_MEMCPY;
	s->op.p[op].copy_kind = (uint8_t)kind;
	s->op.p[op].bytes = bytes;
	call(s, th, blocking ? SIM_COPY : SIM_LAUNCH, "cudaMemcpyAsync_v3020", sim_noise(s, LAUNCH_CALL, LAUNCH_CALL_VARIES), op, 0);
	return op;
}

uint32_t
sim_node(struct sim *s, uint32_t stream, const char *name, int64_t dur, int64_t node, uint32_t pred, uint32_t other)
{
	uint32_t op = add_op(s, stream, name, dur);

	s->op.p[op].node = node;
	s->op.p[op].pred[0] = pred;
	s->op.p[op].pred[1] = other;
	return op;
}

void
sim_graph(struct sim *s, uint32_t th, uint32_t first, uint32_t n)
{
	call(s, th, SIM_GRAPH, "cudaGraphLaunch_v10000", sim_noise(s, GRAPH_CALL, GRAPH_CALL_VARIES), first, n);
}

uint32_t
sim_record(struct sim *s, uint32_t th, uint32_t stream, int64_t event)
{
	uint32_t record = (uint32_t)s->record.n;

	syn_add(&s->record, ((struct sim_record){ .event = event, .last = SYN_NONE, .stream = stream }));
	call(s, th, SIM_RECORD, "cudaEventRecord_v3020", sim_noise(s, EVENT_CALL, EVENT_CALL_VARIES), record, stream);
	return record;
}

void
sim_await(struct sim *s, uint32_t th, uint32_t stream, uint32_t record)
{
	call(s, th, SIM_AWAIT, "cudaStreamWaitEvent_v3020", sim_noise(s, EVENT_CALL, EVENT_CALL_VARIES), record, stream);
}

void
sim_sync(struct sim *s, uint32_t th, enum sim_do what, uint32_t arg)
{
	call(s, th, what, what == SIM_SYNC_STREAM ? "cudaStreamSynchronize_v3020" : what == SIM_SYNC_DEVICE ? "cudaDeviceSynchronize_v3020" : "cudaEventSynchronize_v3020",
	     SYNC_CALL, arg, 0);
}

void
sim_other(struct sim *s, uint32_t th, const char *name, int64_t ns)
{
	call(s, th, SIM_OTHER, name, ns, 0, 0);
}

/* ---- collectives */

void
sim_communicator(struct sim *s, uint32_t th, int64_t comm, int ranks, int rank)
{
	const struct syn_proc *pr = &s->p->proc.p[s->thread.p[th].proc];
	int64_t cuda = 0;

	for (size_t i = 0; i < s->p->dev.n; i++)
		if (&s->p->proc.p[s->p->dev.p[i].proc] == pr)
			cuda = s->p->dev.p[i].cuda;
	sim_push(s, th, "ncclCommInitRankConfig", &(struct syn_payload){ .shape = SYN_N_INIT, .comm = comm, .peer = -1, .ranks = ranks, .rank = rank, .cuda = cuda });
	sim_work(s, th, 1000);
	sim_do(s, th, SIM_POP, 0);
	sim_work(s, th, 500);
}

static uint32_t
member(struct sim *s, uint32_t th, uint32_t stream, const char *kernel, const char *kind, struct nsx_key key, int64_t bytes, int64_t transfer)
{
	uint32_t *at = nsx_map_at(&s->meets, key), op = sim_kernel(s, th, stream, kernel, transfer);

	if (!at)
		syn_die("out of memory");
	if (*at == NSX_NONE) {
		*at = (uint32_t)s->meet.n;
		syn_add(&s->meet, (struct sim_meet){ 0 });
	}
	s->meet.p[*at].n++;
	s->op.p[op].meet = *at;
	s->op.p[op].kind = kind;
	s->op.p[op].bytes = bytes;
	return op;
}

uint32_t
sim_collective(struct sim *s, uint32_t th, uint32_t stream, const char *kind, int64_t comm, int64_t group, struct nsx_key key, int64_t bytes, int64_t transfer)
{
	static const char *const names[][3] = {
		{ "all-reduce", "ncclAllReduce", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)" },
		{ "all-gather", "ncclAllGather", "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)" },
		{ "reduce-scatter", "ncclReduceScatter", "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)" }
	};
	size_t i = 0;
	uint32_t op;

	while (strcmp(names[i][0], kind) != 0)
		i++;
	sim_push(s, th, names[i][1], &(struct syn_payload){ .shape = i == 1 ? SYN_N_COLL : SYN_N_REDUCE, .comm = comm, .size = bytes, .peer = -1 });
	sim_work(s, th, NCCL_CALL);
	op = member(s, th, stream, names[i][2], names[i][0], key, bytes, transfer);
	sim_do(s, th, SIM_POP, 0);
	s->op.p[op].group = group;
	return op;
}

uint32_t
sim_exchange(struct sim *s, uint32_t th, uint32_t stream, int64_t comm, int to, int from, struct nsx_key key, int64_t bytes, int64_t transfer)
{
	int peer[2] = { to, from };
	uint32_t op;

	sim_push(s, th, "ncclGroupStart", NULL);
	sim_work(s, th, NCCL_CALL);
	sim_do(s, th, SIM_POP, 0);
	for (int i = 0; i < 2; i++) {
		if (peer[i] < 0)
			continue;
		sim_push(s, th, i ? "ncclRecv" : "ncclSend", &(struct syn_payload){ .shape = SYN_N_P2P, .comm = comm, .size = bytes, .peer = peer[i] });
		sim_work(s, th, NCCL_CALL);
		sim_do(s, th, SIM_POP, 0);
	}
	sim_push(s, th, "ncclGroupEnd", NULL);
	sim_work(s, th, NCCL_CALL);
	op = member(s, th, stream, "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<(unsigned long)4096>)", "send-recv", key, bytes, transfer);
	sim_do(s, th, SIM_POP, 0);
	s->op.p[op].group = 2;
	return op;
}
