/* x26.c -- the programs of --xla26 as a compiler of 2026 would produce them: a tree of thunks, whose graph nodes are
 * hard to identify. Equal fusions of one command buffer, of two buffers and of two programs share kernels; thunks share
 * instructions. */
#include <stdlib.h>
#include <string.h>

#include "x26.h"

enum { PRED = 1, S32 = 4, F32 = 11, BF16 = 16, DEPTH = 8 };

/* The position of the next thunk. */
struct build {
	struct syn_plan    *p;
	struct syn_program *pr;
	struct x26_tree    *t;
	uint32_t home, buffer;
	int64_t  node, classes;
	int      depth;
	struct { uint32_t step, tail, home; bool other; } at[DEPTH];
};

enum x26_lists
x26_lists(void)
{
	static const char *const names[] = { "good", "none", "short", "other" };

	for (int i = 0; i < 4; i++)
		if (strcmp(syn_opt.lists, names[i]) == 0)
			return (enum x26_lists)i;
	return X26_GOOD;
}

static uint32_t
home(struct build *b, enum syn_home_kind kind, const char *name, uint32_t of)
{
	syn_add(&b->pr->home, ((struct syn_home){ kind, name, 100 + (int64_t)b->pr->home.n, of, SYN_NONE, 0 }));
	return (uint32_t)b->pr->home.n - 1;
}

/* An instruction of the computation under way. */
static uint32_t
put(struct build *b, const char *name, const char *opcode, const char *what)
{
	struct syn_inst in = { .name = name, .opcode = opcode, .op_name = *what ? syn_fmt(b->p, "jit(%s)/jit(main)/%s", b->pr->name + 4, what) : "" };

	in.what = SYN_COMPUTE;
	in.kernels = 1;
	in.nin = 1;
	in.in[0] = in.out = (struct syn_shape){ F32, 2, { 64, 1680 } };
	in.start = in.frame = in.body = in.inside = in.calls[0] = in.calls[1] = SYN_NONE;
	in.home = b->home;
	syn_add(&b->pr->inst, in);
	return (uint32_t)b->pr->inst.n - 1;
}

/* The kernel that is named after an instruction. */
static const char *
kernel_of(struct build *b, const char *name)
{
	char *own = syn_check(nsx_str_dup(nsx_str_c(name)));
	const char *copy;

	for (char *c = own; *c; c++)
		if (*c == '.' || *c == '-')
			*c = '_';
	copy = syn_fmt(b->p, "%s", own);
	free(own);
	return copy;
}

static uint32_t
add(struct build *b, struct x26_step s)
{
	uint32_t n = (uint32_t)b->t->step.n, tail = b->at[b->depth].tail, up = b->at[b->depth].step;

	s.child = s.other = s.next = SYN_NONE;
	s.buffer = b->buffer;
	if (b->buffer != SYN_NONE && s.kernels) {
		s.node = b->node + 1;
		b->node += s.kernels;
	}
	syn_add(&b->t->step, s);
	if (tail != SYN_NONE)
		b->t->step.p[tail].next = n;
	else if (up != SYN_NONE && b->at[b->depth].other)
		b->t->step.p[up].other = n;
	else if (up != SYN_NONE)
		b->t->step.p[up].child = n;
	b->at[b->depth].tail = n;
	return n;
}

/* The next thunks are children of step, in its second list (other) or its first, and in computation `in`. */
static void
down(struct build *b, uint32_t step, bool other, uint32_t in)
{
	b->depth++;
	b->at[b->depth].step = step;
	b->at[b->depth].tail = SYN_NONE;
	b->at[b->depth].other = other;
	b->at[b->depth].home = b->home;
	b->home = in;
}

static void
up(struct build *b)
{
	b->home = b->at[b->depth].home;
	b->depth--;
}

/* A fusion; same: a number that fusions with equal computations share, 0 if no other is equal. */
static uint32_t
fusion(struct build *b, const char *name, const char *what, int64_t same, int64_t cost)
{
	uint32_t i = put(b, name, "fusion", what);

	b->pr->inst.p[i].same = same ? same : ++b->classes;
	b->pr->inst.p[i].cost = cost;
	b->pr->inst.p[i].calls[0] = home(b, SYN_FUSED, syn_fmt(b->p, "fused_%s", name), i);
	return i;
}

/* A thunk of a fusion that runs this kernel; NULL: its own kernel. */
static void
thunk(struct build *b, uint32_t inst, const char *kernel)
{
	struct x26_step s = { .kind = X26_FUSION, .inst = inst, .outer = SYN_NONE, .kernels = 1, .listed = "kCustomKernel" };

	s.kernel[0] = kernel ? kernel : kernel_of(b, b->pr->inst.p[inst].name);
	add(b, s);
}

static void
plain(struct build *b, const char *name, const char *what, int64_t cost)
{
	thunk(b, fusion(b, name, what, 0, cost), NULL);
}

/* Fusions of one class run the kernel of the first. */
static void
shared(struct build *b, const char *name, int64_t same, const char *kernel, int64_t cost)
{
	thunk(b, fusion(b, name, "mlp/dot_general", same, cost), kernel);
}

static void
library(struct build *b, const char *name, const char *listed, const char *kernel, const char *second, int64_t cost)
{
	struct x26_step s = { .kind = X26_LIBRARY, .outer = SYN_NONE, .listed = listed };

	s.inst = put(b, name, "custom-call", "attn/dot_general");
	b->pr->inst.p[s.inst].cost = cost;
	s.kernel[s.kernels++] = kernel;
	if (second)
		s.kernel[s.kernels++] = second;
	add(b, s);
}

static void
copy(struct build *b, const char *name, int64_t bytes)
{
	struct x26_step s = { .kind = X26_COPY, .outer = SYN_NONE, .kernels = 1, .bytes = bytes, .copy_kind = 8, .listed = "kCopy" };

	s.inst = put(b, name, "copy", "");
	b->pr->inst.p[s.inst].cost = 900 + bytes / 1000;
	add(b, s);
}

static void
set(struct build *b, const char *name, const char *opcode, int64_t bytes)
{
	struct x26_step s = { .kind = X26_SET, .outer = SYN_NONE, .kernels = 1, .bytes = bytes };

	s.listed = strcmp(opcode, "partition-id") == 0 ? "kPartitionId" : "kMemset32BitValue";
	s.inst = put(b, name, opcode, "");
	b->pr->inst.p[s.inst].cost = 1300;
	add(b, s);
}

/* The computation that an async-start calls contains the instruction; its `first` is the position of the start. */
static void
wrap(struct build *b, uint32_t i, const char *wrapper)
{
	uint32_t h = home(b, SYN_WRAP, syn_fmt(b->p, "async_%s", b->pr->inst.p[i].name), i);

	b->pr->home.p[h].first = b->home;
	b->pr->inst.p[i].wrapper = wrapper;
	b->pr->inst.p[i].home = h;
}

/* A collective; async: it runs until its done, which the caller adds. */
static uint32_t
collective(struct build *b, const char *name, const char *opcode, const char *kind, const char *nccl, bool async, struct syn_shape shape, int64_t cost)
{
	struct x26_step s = { .kind = X26_COLLECTIVE, .outer = SYN_NONE, .kernels = 1 };
	struct syn_inst *in;
	uint32_t i = s.inst = put(b, name, opcode, "");

	s.listed = strcmp(kind, "all-reduce") == 0 ? "kAllReduce" : strcmp(kind, "all-gather") == 0 ? "kAllGather" :
	           strcmp(kind, "reduce-scatter") == 0 ? "kReduceScatter" : strcmp(kind, "all-to-all") == 0 ? "kAllToAll" : "kCollectivePermute";
	in = &b->pr->inst.p[i];
	in->what = async ? SYN_ASYNC : SYN_SYNC;
	in->collective = kind;
	in->nccl = nccl;
	in->group = strcmp(kind, "collective-permute") == 0 ? SYN_RING : SYN_WORLD;
	in->form = in->group == SYN_RING ? SYN_PAIRS : SYN_DEVICE_LIST;
	in->in[0] = in->out = shape;
	in->cost = cost;
	if (strstr(kind, "reduce")) {
		uint32_t h = home(b, SYN_REDUCER, syn_fmt(b->p, "region_%u.clone", i), i);

		b->pr->inst.p[i].calls[0] = h;
	}
	if (async && strcmp(kind, "reduce-scatter") == 0)
		wrap(b, i, syn_fmt(b->p, "reduce-scatter-start%s", strrchr(name, '.')));
	s.outer = async ? i : SYN_NONE;
	add(b, s);
	return i;
}

static void
done(struct build *b, uint32_t start, const char *name, const char *opcode)
{
	struct x26_step s = { .kind = X26_DONE, .outer = SYN_NONE, .listed = "kAsyncDone" };

	s.inst = put(b, name, opcode, "");
	b->pr->inst.p[s.inst].what = SYN_DONE;
	b->pr->inst.p[s.inst].start = start;
	add(b, s);
}

/* A fusion of slices, which copies. host: 1 from the host's memory, 2 to it; wrapper: the async-start around it, or NULL. */
static uint32_t
slice(struct build *b, const char *name, const char *inside, int host, const char *wrapper, int64_t bytes)
{
	struct x26_step s = { .kind = X26_SLICE, .outer = SYN_NONE, .kernels = 1, .bytes = bytes, .listed = "kCopy" };
	uint32_t i = s.inst = fusion(b, name, host == 2 ? "while/body/dynamic_update_slice" : "while/body/dynamic_slice", 0, 900 + bytes / 1000), in, at = b->home;
	struct syn_inst *f;

	b->home = b->pr->inst.p[i].calls[0];
	in = put(b, inside, "copy", "");
	b->home = at;
	f = &b->pr->inst.p[i];
	f->inside = in;
	f->host = host;
	f->in[0] = f->out = (struct syn_shape){ F32, 2, { 1, bytes / 4 } };
	s.copy_kind = host ? host : 8;
	if (host)
		f->what = wrapper ? SYN_ASYNC : SYN_SYNC;
	if (wrapper) {
		wrap(b, i, wrapper);
		s.outer = i;
	}
	add(b, s);
	return i;
}

static uint32_t
buffer(struct build *b, int number)
{
	struct x26_step s = { .kind = X26_BUFFER, .outer = SYN_NONE, .listed = "kCommandBuffer" };
	uint32_t n;

	s.inst = put(b, number ? syn_fmt(b->p, "command_buffer_%d", number) : "command_buffer", "", "");
	b->pr->inst.p[s.inst].what = SYN_BUFFER;
	n = add(b, s);
	down(b, n, false, b->home);
	b->buffer = s.inst;
	b->node = 0;
	b->t->buffers++;
	return n;
}

static void
end_buffer(struct build *b)
{
	up(b);
	b->buffer = SYN_NONE;
}

/* A loop; its body follows, then condition(), the condition, and up(). */
static uint32_t
loop(struct build *b, const char *name, int trips, bool counted)
{
	struct x26_step s = { .kind = X26_WHILE, .outer = SYN_NONE, .trips = trips, .counted = counted, .listed = "kWhile" };
	uint32_t n, i = s.inst = put(b, name, "while", "while"), h = home(b, SYN_BODY, syn_fmt(b->p, "%s_body", name), i);

	b->pr->inst.p[i].what = SYN_WHILE;
	b->pr->inst.p[i].calls[0] = h;
	n = add(b, s);
	down(b, n, false, h);
	return n;
}

static void
condition(struct build *b, uint32_t step)
{
	uint32_t i = b->t->step.p[step].inst, h;

	up(b);
	h = home(b, SYN_COND, syn_fmt(b->p, "%s_cond", b->pr->inst.p[i].name), i);
	b->pr->inst.p[i].calls[1] = h;
	down(b, step, true, h);
}

/* A conditional of two branches with a fusion each. */
static void
choice(struct build *b, const char *name, const char *first, const char *second)
{
	struct x26_step s = { .kind = X26_CHOICE, .outer = SYN_NONE, .listed = "kConditional" };
	uint32_t n, i = s.inst = put(b, name, "conditional", "cond"), h[2];

	b->pr->inst.p[i].what = SYN_WHILE;
	n = add(b, s);
	for (int k = 0; k < 2; k++) {
		h[k] = home(b, SYN_BODY, syn_fmt(b->p, "%s_branch_%d", name, k), i);
		b->pr->inst.p[i].calls[k] = h[k];
		down(b, n, k, h[k]);
		plain(b, k ? second : first, "cond/branch/exp", 9000 + 4000 * k);
		up(b);
	}
}

static const char NVJET[] = "nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_TNN";
static const char SPLIT[] = "void cublasLt::splitKreduce_kernel<32, 16, int, float, __half, float, false>(cublasLt::cublasSplitKParams<float>, float const*)";
static const char TOPK[] = "void raft::matrix::detail::select::radix::impl::radix_topk_one_block_kernel<float, unsigned int, 8>(float const*, long)";

/* All kinds of work that one command buffer may contain. */
static void
first_buffer(struct build *b, int64_t gemm)
{
	struct syn_shape s = { F32, 2, { 64, 1680 } };
	uint32_t i;

	buffer(b, 1);
	plain(b, "loop_select_fusion", "select", 8000);
	shared(b, "gemm_fusion_dot.67", gemm, NULL, 61000);
	copy(b, "copy.101", 1048576);
	shared(b, "gemm_fusion_dot.69", gemm, "gemm_fusion_dot_67", 43000);
	set(b, "partition-id.4.0", "partition-id", 4);
	copy(b, "copy.34", 1048576);
	copy(b, "copy.35", 65536);
	set(b, "broadcast.9", "broadcast", 4);
	/* Two thunks of one instruction; their kernel is named after an instruction inside it. */
	i = fusion(b, "fusion.1", "sort", 0, 17000);
	thunk(b, i, "sort_12_1");
	thunk(b, i, "sort_12_1");
	collective(b, "all-reduce.5", "all-reduce", "all-reduce", "AllReduce", false, s, 25000);
	library(b, "custom-call.3", "kCublasLtMatmul", NVJET, NULL, 88000);
	collective(b, "all-reduce.6", "all-reduce", "all-reduce", "AllReduce", false, (struct syn_shape){ F32, 1, { 64 } }, 11000);
	library(b, "custom-call.4", "kCublasLtMatmul", NVJET, NULL, 31000);
	library(b, "custom-call.7", "kSelectK", TOPK, NULL, 21000);
	/* Among the nodes of its kernel it has the highest number, but does not start last. */
	shared(b, "gemm_fusion_dot.70", gemm, "gemm_fusion_dot_67", 52000);
	b->t->step.p[b->t->step.n - 1].aside = true;
	end_buffer(b);
}

/* A loop that the host drives, with a command buffer launched in each iteration. */
static void
host_loop(struct build *b, int64_t gemm)
{
	uint32_t n = loop(b, "while.30", 3, false), i;

	slice(b, "loop_dynamic_slice_fusion.7", "copy.114", 0, NULL, 262144);
	i = collective(b, "reduce-scatter.2", "reduce-scatter", "reduce-scatter", "ReduceScatter", true, (struct syn_shape){ F32, 2, { 5040, 64 } }, 47000);
	buffer(b, 2);
	plain(b, "loop_add_fusion.1", "while/body/add", 7000);
	shared(b, "gemm_fusion_dot.71", gemm, "gemm_fusion_dot_67", 66000);
	slice(b, "loop_dynamic_slice_fusion.8", "copy.115", 0, NULL, 262144);
	copy(b, "copy.36", 262144);
	end_buffer(b);
	done(b, i, "reduce-scatter-done.2", "async-done");
	condition(b, n);
	plain(b, "loop_compare_fusion", "while/cond/lt", 1500);
	up(b);
}

/* A loop inside the graph: each node of its body runs once per iteration. */
static void
inner_loop(struct build *b)
{
	int64_t gemm = ++b->classes, twin = ++b->classes;
	struct syn_shape s = { F32, 2, { 64, 1680 } };
	uint32_t n, i;

	buffer(b, 3);
	n = loop(b, "while.31", 4, false);
	shared(b, "gemm_fusion_dot.80", gemm, NULL, 33000);
	copy(b, "copy.201", 131072);
	shared(b, "gemm_fusion_dot.81", gemm, "gemm_fusion_dot_80", 21000);
	copy(b, "copy.202", 131072);
	/* More thunks than instructions, more operations than nodes: only their order identifies them. */
	i = fusion(b, "fusion.5", "while/body/sort", twin, 12000);
	thunk(b, i, NULL);
	thunk(b, i, "fusion_5");
	thunk(b, fusion(b, "fusion.6", "while/body/sort", twin, 15000), "fusion_5");
	collective(b, "all-reduce.9", "all-reduce", "all-reduce", "AllReduce", false, s, 14000);
	plain(b, "loop_multiply_fusion", "while/body/mul", 6000);
	condition(b, n);
	plain(b, "loop_compare_fusion.2", "while/cond/lt", 1500);
	up(b);
	choice(b, "conditional.2", "loop_tanh_fusion", "loop_exponential_fusion");
	shared(b, "gemm_fusion_dot.82", gemm, "gemm_fusion_dot_80", 27000);
	end_buffer(b);
}

/* Thunks of two kernels, kernels of two kinds of collectives, communication that the graph waits for later. */
static void
last_buffer(struct build *b)
{
	struct syn_shape s = { F32, 2, { 64, 1680 } };
	uint32_t i;

	buffer(b, 4);
	i = collective(b, "all-gather-start.7", "all-gather-start", "all-gather", "AllGather", true, s, 52000);
	library(b, "custom-call.20", "kCublasLtMatmul", NVJET, SPLIT, 35000);
	library(b, "custom-call.21", "kCublasLtMatmul", NVJET, SPLIT, 24000);
	done(b, i, "all-gather-done.7", "all-gather-done");
	collective(b, "all-to-all.3", "all-to-all", "all-to-all", "SendRecv", false, s, 36000);
	plain(b, "loop_divide_fusion", "div", 5000);
	collective(b, "collective-permute.4", "collective-permute", "collective-permute", "SendRecv", false, s, 18000);
	end_buffer(b);
}

/* A copy between the host's memory and the device's: from it (1), to it (2). */
static uint32_t
host_copy(struct build *b, const char *name, const char *opcode, int host, int64_t bytes)
{
	struct x26_step s = { .kind = X26_COPY, .outer = SYN_NONE, .kernels = 1, .bytes = bytes, .copy_kind = host, .listed = "kCopy" };
	struct syn_inst *in;

	s.inst = put(b, name, opcode, "");
	in = &b->pr->inst.p[s.inst];
	in->host = host;
	in->what = strcmp(opcode, "copy") == 0 ? SYN_SYNC : SYN_ASYNC;
	in->in[0] = in->out = (struct syn_shape){ F32, 2, { 1, bytes / 4 } };
	in->cost = 900 + bytes / 1000;
	add(b, s);
	return s.inst;
}

/* A loop whose number of iterations XLA knows: its condition never runs. */
static void
counted_loop(struct build *b)
{
	uint32_t n = loop(b, "while.40", 2, true);

	plain(b, "loop_add_fusion.2", "while/body/add", 4000);
	condition(b, n);
	plain(b, "loop_compare_fusion.4", "while/cond/lt", 1500);
	up(b);
}

static void
offload(struct build *b)
{
	uint32_t in = slice(b, "wrapped_dynamic-slice", "copy.30", 1, "dynamic-slice-start.1", 524288), out;

	plain(b, "loop_subtract_fusion", "sub", 40000);
	done(b, in, "dynamic-slice-done.1", "async-done");
	out = slice(b, "wrapped_dynamic-update-slice", "copy.31", 2, "dynamic-update-slice-start.1", 1048576);
	plain(b, "loop_subtract_fusion.1", "sub", 30000);
	done(b, out, "dynamic-update-slice-done.1", "async-done");
	/* No computation hides this copy. */
	slice(b, "loop_dynamic_slice_fusion.20", "copy.32", 1, NULL, 131072);
	host_copy(b, "copy.60", "copy", 1, 262144);
	out = host_copy(b, "copy-start.1", "copy-start", 2, 524288);
	plain(b, "loop_subtract_fusion.2", "sub", 10000);
	done(b, out, "copy-done.1", "copy-done");
}

/* Buffers like those of many layers. */
static void
layer(struct build *b, int k)
{
	int64_t same[3] = { ++b->classes, ++b->classes, ++b->classes };
	const char *kernel[3] = { 0 };

	buffer(b, 100 + k);
	for (int i = 0; i < 18; i++) {
		const char *name = syn_fmt(b->p, "gemm_fusion_dot.%d", 1000 + 100 * k + i);

		if (i % 6 == 5) {
			plain(b, syn_fmt(b->p, "loop_add_fusion.%d", 1000 + 100 * k + i), "layers/add", 5000 + 100 * i);
			continue;
		}
		if (!kernel[i % 3])
			kernel[i % 3] = kernel_of(b, name);
		shared(b, name, same[i % 3], kernel[i % 3], 11000 + 1700 * i);
	}
	for (int i = 0; i < 4; i++)
		copy(b, syn_fmt(b->p, "copy.%d", 1000 + 100 * k + i), 262144);
	end_buffer(b);
}

static void
step(struct build *b)
{
	struct syn_shape s = { F32, 2, { 64, 1680 } };
	int64_t gemm = ++b->classes;
	uint32_t i;

	plain(b, "loop_broadcast_fusion.8", "broadcast_in_dim", 3000);
	i = collective(b, "all-gather-start.2", "all-gather-start", "all-gather", "AllGather", true, s, 60000);
	first_buffer(b, gemm);
	done(b, i, "all-gather-done.2", "all-gather-done");
	host_loop(b, gemm);
	inner_loop(b);
	/* It calls another computation, whose op_names are shorter. */
	i = fusion(b, "loop_reduce_window_fusion", "pool/window/reduce_window", 0, 9000);
	b->pr->inst.p[i].pools = true;
	thunk(b, i, NULL);
	/* Here the fusion itself has no op_name either: only a computation called by its own computation has one. */
	i = fusion(b, "loop_reduce_window_fusion.1", "", 0, 7000);
	b->pr->inst.p[i].pools = true;
	thunk(b, i, NULL);
	last_buffer(b);
	choice(b, "conditional.1", "loop_sine_fusion", "loop_cosine_fusion");
	counted_loop(b);
	offload(b);
	for (int k = 0; k < syn_opt.layers; k++)
		layer(b, k);
	collective(b, "all-reduce.8", "all-reduce", "all-reduce", "AllReduce", false, (struct syn_shape){ F32, 0, { 0 } }, 9000);
}

/* A program whose buffer and kernels have the same names as those of another program. */
static void
eval(struct build *b)
{
	int64_t same = ++b->classes;

	plain(b, "loop_convert_fusion", "convert_element_type", 2500);
	buffer(b, 1);
	shared(b, "gemm_fusion_dot.40", same, NULL, 23000);
	shared(b, "gemm_fusion_dot.67", ++b->classes, NULL, 34000);
	shared(b, "gemm_fusion_dot.69", same, "gemm_fusion_dot_40", 45000);
	copy(b, "copy.1", 1048576);
	end_buffer(b);
	collective(b, "all-reduce.1", "all-reduce", "all-reduce", "AllReduce", false, (struct syn_shape){ F32, 0, { 0 } }, 9000);
}

static void
small(struct build *b)
{
	plain(b, "wrapped_convert", "convert_element_type", 1800);
	copy(b, "copy.2", 4096);
}

/* The text of an instruction's range; op_name without the program's prefix. Computations called by a fusion shorten it. */
static const char *
title(struct build *b, const struct syn_inst *in)
{
	const char *op = in->op_name;
	size_t n = strlen(b->pr->prefix);

	if (in->what == SYN_BUFFER)
		return syn_fmt(b->p, "Thunk:#hlo_op=%s#", in->name);
	if (n && strncmp(op, b->pr->prefix, n) == 0 && op[n] == '/')
		op += n + 1;
	if (in->pools || syn_reduces(in))
		op = *op ? "pool" : "pool/add";
	if (syn_opt.no_uid)
		return syn_fmt(b->p, "Thunk:#%s%s%shlo_op=%s#", *op ? "name=" : "", op, *op ? "," : "", in->name);
	return syn_fmt(b->p, "Thunk:#%s%s%shlo_op=%s,unique_hlo_op_id=%lld#", *op ? "name=" : "", op, *op ? "," : "", in->name, (long long)in->uid);
}

static void
program(struct syn_plan *p, const char *name, int64_t id, void (*make)(struct build *))
{
	struct syn_program pr = { .name = name, .id = id };
	struct build b = { .p = p, .home = 0, .buffer = SYN_NONE };

	syn_add(&p->prog, pr);
	b.pr = &p->prog.p[p->prog.n - 1];
	b.pr->prefix = syn_fmt(p, "jit(%s)/jit(main)", name + 4);
	b.pr->comm = strcmp(name, "jit_small") != 0;
	b.t = b.pr->tree = syn_check(calloc(1, sizeof *b.t));
	b.at[0].step = b.at[0].tail = SYN_NONE;
	home(&b, SYN_ENTRY, syn_fmt(p, "main.%lld", (long long)(10 * id)), 0);
	b.pr->home.p[0].id = 7 + 4 * id;
	make(&b);
	for (size_t i = 0; i < b.t->step.n; i++) {
		const struct x26_step *s = &b.t->step.p[i];

		if (s->buffer != SYN_NONE && s->kind == X26_COLLECTIVE)
			syn_rests(p, b.pr, s->buffer, &b.pr->inst.p[s->inst]);
	}
	for (size_t i = 0; i < b.pr->inst.n; i++) {
		struct syn_inst *in = &b.pr->inst.p[i];

		in->uid = b.pr->home.p[in->home].id << 32 | (int64_t)(i + 1);
		in->title = syn_name(p, title(&b, in));
	}
	x26_fit(p, (uint32_t)p->prog.n - 1);
}

void
x26_model(struct syn_plan *p)
{
	program(p, "jit_step", 1, step);
	program(p, "jit_eval", 2, eval);
	program(p, "jit_small", 3, small);
}
