/* catalogue.c -- the list of findings: their names, and the first action for each. docs/diagnose.md has the rest. */
#include "table/diagnose/diagnose.h"

/* action: a sentence that completes "do first:"; for NSX_FIND_IDLE those of the causes are used instead. */
static const struct { const char *name, *action; } kinds[NSX_NFINDS] = {
	[NSX_FIND_SLOW] = { "slow-collective",
		"see which algorithm and protocol NCCL chose for it (NCCL_DEBUG=INFO), and whether another collective "
		"uses its links at the same time" },
	[NSX_FIND_LATE_HOST] = { "late-host",
		"see what its host does instead of launching (data loading, logging, a checkpoint, a busy CPU), and "
		"move that out of the way of launches" },
	[NSX_FIND_STRAGGLER] = { "straggler",
		"compare its kernels with those of another device: where a few are longer its work is uneven, where "
		"all are the device is slow (clock, heat, power)" },
	[NSX_FIND_LATE_DEVICE] = { "late-device",
		"compare what it does before these collectives with what another device does" },
	[NSX_FIND_BLOCKING] = { "blocking",
		"do not wait for the GPU in every step: read results a step later or every n steps, and copy to pinned "
		"memory" },
	[NSX_FIND_LAUNCH_BOUND] = { "launch-bound",
		"give each launch more work: larger batches, fusion, or CUDA graphs (XLA: command buffers)" },
	[NSX_FIND_LAYOUT] = { "layout",
		"choose the order of dimensions where these tensors are made so that no kernel has to change it" },
	[NSX_FIND_COPIES] = { "copies",
		"copy from pinned memory and overlap copies with computation, or keep the data on the device" },
	[NSX_FIND_WAITING] = { "waiting",
		"look for work that is uneven from step to step: batches, experts, host noise" },
	[NSX_FIND_EXPOSED] = { "exposed-communication",
		"overlap it with computation (XLA: latency-hiding scheduler; PyTorch: bucket sizes, prefetch), or send "
		"fewer bytes" },
	[NSX_FIND_IDLE] = { "idle", NULL },
	[NSX_FIND_ROOFLINE] = { "roofline",
		"begin with the first instruction: fuse it where memory bounds it, change shapes or types where math "
		"does"
	},
	[NSX_FIND_VARIABILITY] = { "variability",
		"see what takes longer in the slow steps: computing, communication, or a host that is late" },
};

static const char *const idle[NSX_NCAUSES] = {
	[NSX_CAUSE_GRAPH] = "look at the graph on a timeline (nsysx-perfetto): which nodes wait for which",
	[NSX_CAUSE_NO_CALL] = "record again from before the first step, so that launches are in the profile",
	[NSX_CAUSE_PROFILER] = "leave it: profiling causes it, and runs without a profiler do not have it",
	[NSX_CAUSE_QUEUE_FULL] =
	"look at a timeline (nsysx-perfetto) for the stream whose queue is full while others are "
		"empty",
	[NSX_CAUSE_LOADING] =
	"load code before the first step: CUDA_MODULE_LOADING=EAGER, or a step that is not counted",
	[NSX_CAUSE_SYNC] = "launch the next work before the host waits, or do not wait",
	[NSX_CAUSE_LAUNCH] = "launch fewer and longer kernels: larger batches, fusion, CUDA graphs",
	[NSX_CAUSE_ALLOC] = "allocate once, or from a pool (cudaMallocAsync, the framework's allocator)",
	[NSX_CAUSE_API] = "take the calls before the longest gaps out of the step",
	[NSX_CAUSE_COMPILE] = "find what is compiled again, such as shapes that change from step to step",
	[NSX_CAUSE_RANGE] =
	"move what the host does in these ranges to another thread, or behind the launch of the next "
		"work",
	[NSX_CAUSE_HOST] = "annotate the host's code with NVTX ranges and record again, to see what it does",
	[NSX_CAUSE_LATENCY] = "run fewer and longer kernels one after the other: fusion, CUDA graphs",
	[NSX_CAUSE_DEPENDENCY] = "look at a timeline (nsysx-perfetto) for the stream whose event is awaited",
	[NSX_CAUSE_UNRESOLVED] = "look at a timeline (nsysx-perfetto) for what else runs before this work starts",
};

void
nsx_look_put_name(const struct nsx_finding *f, struct nsx_buf *to)
{
	nsx_buf_c(to, kinds[f->kind].name);
	if (f->kind == NSX_FIND_IDLE)
		nsx_buf_fmt(to, ":%s", nsx_cause_name(f->cause));
}

const char *
nsx_look_action(const struct nsx_finding *f)
{
	if (f->action)
		return f->action;
	return f->kind == NSX_FIND_IDLE ? idle[f->cause] : kinds[f->kind].action;
}

bool
nsx_look_is_one(const struct nsx_finding *f)
{
	return f->kind <= NSX_FIND_BLOCKING;
}
