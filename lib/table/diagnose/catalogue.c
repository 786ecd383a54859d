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
	return f->kind == NSX_FIND_IDLE ? nsx_causes[f->cause].action : kinds[f->kind].action;
}

bool
nsx_look_is_one(const struct nsx_finding *f)
{
	return f->kind <= NSX_FIND_BLOCKING;
}
