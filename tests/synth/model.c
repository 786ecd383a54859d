/* model.c -- the programs of the job as a compiler would produce them: instructions, loops, collectives. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "synth.h"

enum { PRED = 1, S32 = 4, F32 = 11, BF16 = 16 };

static const char STEP[] = "jit(train_step)/jit(main)";

static uint32_t
frame(struct syn_plan *p, const char *file, const char *function, int line, int column, uint32_t parent)
{
	syn_add(&p->frame, ((struct syn_frame){ file, function, line, column, parent }));
	return (uint32_t)p->frame.n - 1;
}

static struct syn_program *
program(struct syn_plan *p, const char *name, int64_t id)
{
	struct syn_program pr = { 0 };

	pr.name = name;
	pr.id = id;
	pr.prefix = "";
	syn_add(&p->prog, pr);
	return &p->prog.p[p->prog.n - 1];
}

/* XLA names the first instruction `add`, the others `add.1`, `add.2`, ... The first number in a program depends on
 * everything before it, so it differs between seeds. */
static const char *
numbered(struct syn_plan *p, const char *base, int k)
{
	k += (int)((syn_opt.seed - 1) % 90) * 1000;
	return k ? syn_fmt(p, "%s.%d", base, k) : base;
}

static struct syn_inst
inst(const char *name, const char *opcode, const char *op_name, enum syn_what what, int64_t cost)
{
	struct syn_inst in = { 0 };

	in.name = name;
	in.opcode = opcode;
	in.op_name = op_name;
	in.what = what;
	in.cost = cost;
	in.kernels = 1;
	in.start = in.frame = in.body = in.home = in.calls[0] = in.calls[1] = SYN_NONE;
	in.nin = 1;
	in.in[0] = in.out = (struct syn_shape){ BF16, 2, { 1024, 512 } };
	return in;
}

static uint32_t
put(struct syn_program *pr, struct syn_inst in)
{
	syn_add(&pr->inst, in);
	return (uint32_t)pr->inst.n - 1;
}

static void
item(struct syn_program *pr, uint32_t i, enum syn_act act)
{
	syn_add(&pr->item, ((struct syn_item){ i, act, 0 }));
}

static uint32_t
run(struct syn_program *pr, struct syn_inst in)
{
	uint32_t i = put(pr, in);

	item(pr, i, SYN_RUN);
	return i;
}

/* A fusion, whose computation contains two instructions with their own op_names and frames. */
static struct syn_inst
fusion(struct syn_plan *p, struct syn_program *pr, const char *base, int k, const char *op_name, uint32_t fr, int64_t cost)
{
	struct syn_inst in = inst(numbered(p, base, k), "fusion", op_name, SYN_COMPUTE, cost), a, b;
	struct syn_comp c = { syn_fmt(p, "fused_%s", in.name), (uint32_t)pr->inner.n, 2 };

	a = inst(numbered(p, "multiply", (int)pr->inner.n), "multiply", *op_name ? syn_fmt(p, "%s/mul", op_name) : "", SYN_COMPUTE, 0);
	b = inst(numbered(p, "add", (int)pr->inner.n), "add", op_name, SYN_COMPUTE, 0);
	a.frame = fr;
	b.frame = fr != SYN_NONE && k % 2 ? p->frame.p[fr].parent : fr;
	syn_add(&pr->inner, a);
	syn_add(&pr->inner, b);
	syn_add(&pr->comp, c);
	in.frame = fr;
	in.body = (uint32_t)pr->comp.n - 1;
	return in;
}

static struct syn_inst
collective(const char *name, const char *opcode, const char *what, const char *nccl, enum syn_what how, enum syn_group group,
           struct syn_shape shape, int64_t cost)
{
	struct syn_inst in = inst(name, opcode, "", how, cost);

	in.collective = what;
	in.nccl = nccl;
	in.group = group;
	in.in[0] = in.out = shape;
	return in;
}

static uint32_t
done(struct syn_plan *p, struct syn_program *pr, uint32_t start, const char *base, const char *opcode, int k)
{
	struct syn_inst in = inst(numbered(p, base, k), opcode, "", SYN_DONE, 0);

	in.start = start;
	return run(pr, in);
}

/* The layer's activations go to the host's memory while the next layer computes, and come back for its backward pass. */
static uint32_t
transfer(struct syn_plan *p, struct syn_program *pr, int host, uint32_t out, int k)
{
	struct syn_inst in = inst(numbered(p, "copy-start", 100 + 2 * k + host), "copy-start", "", SYN_COPY, 150000);
	uint32_t i;

	in.host = host;
	in.in[0] = in.out = (struct syn_shape){ BF16, 2, { 4096, 1024 } };
	in.start = out;
	i = run(pr, in);
	if (host == 2)
		return i;
	in = inst(numbered(p, "copy-done", 100 + 2 * k + host), "copy-done", "", SYN_DONE, 0);
	in.host = host;
	in.in[0] = in.out = (struct syn_shape){ BF16, 2, { 4096, 1024 } };
	in.start = i;
	return run(pr, in);
}

static uint32_t
transferred(struct syn_plan *p, struct syn_program *pr, uint32_t start, int k)
{
	struct syn_inst in = inst(numbered(p, "copy-done", 100 + 2 * k + 2), "copy-done", "", SYN_DONE, 0);

	in.host = 2;
	in.in[0] = in.out = pr->inst.p[start].out;
	in.start = start;
	return run(pr, in);
}

/* One end of a pipeline's stages: what it sends to the next, and what only the first or the last computes. */
static void
stages(struct syn_plan *p, struct syn_program *pr, enum syn_only only)
{
	struct syn_inst in = fusion(p, pr, only == SYN_FIRST_STAGE ? "gather_fusion" : "softmax_fusion", 0,
	                            syn_fmt(p, "%s/%s", STEP, only == SYN_FIRST_STAGE ? "embed/gather" : "head/softmax"), SYN_NONE, 25000);
	uint32_t start;

	in.only = only;
	run(pr, in);
	if (!p->comm)
		return;
	for (enum syn_group g = SYN_EVEN; g <= SYN_ODD; g++) {
		if (g == SYN_ODD && p->dev.n < 3)
			continue;
		int k = 50 + 2 * (only == SYN_LAST_STAGE) + (g == SYN_ODD);
		start = run(pr, collective(numbered(p, "collective-permute-start", k), "collective-permute-start", "collective-permute", "SendRecv",
		                           SYN_ASYNC, g, (struct syn_shape){ BF16, 2, { 1024, 512 } }, 25000));
		pr->inst.p[done(p, pr, start, "collective-permute-done", "collective-permute-done", k)].group = g;
	}
}

static void
forward(struct syn_plan *p, struct syn_program *pr, int k, const uint32_t *fr)
{
	struct syn_shape shard = { BF16, 2, { 5040 / (int64_t)p->dev.n, 512 } };
	const char *at = syn_fmt(p, "%s/jvp(Transformer)/layers_%d", STEP, k);
	struct syn_inst in;
	uint32_t start = SYN_NONE, loop;

	if (p->comm)
		start = run(pr, collective(numbered(p, "all-gather-start", k), "all-gather-start", "all-gather", "AllGather", SYN_ASYNC,
		                           k % 2 ? SYN_BLOCK : SYN_WORLD, shard, 70000));
	run(pr, fusion(p, pr, "loop_convert_fusion", k, syn_fmt(p, "%s/norm/convert_element_type[new_dtype=bfloat16 weak_type=False]", at), fr[0], 18000));
	in = fusion(p, pr, "input_reduce_fusion", k, syn_fmt(p, "%s/norm/reduce_sum[axes=(0, 1)]", at), fr[0], 6000);
	in.kernels = syn_opt.graphs ? 1 : 2;
	run(pr, in);
	if (p->comm)
		done(p, pr, start, "all-gather-done", "all-gather-done", k);
	in = inst(numbered(p, "cublas-gemm", k), "custom-call", syn_fmt(p, "%s/attn/dot_general;q,k,v=[d h]", at), SYN_COMPUTE, 90000);
	in.kernel = "nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_TNN";
	in.frame = fr[1];
	run(pr, in);
	run(pr, fusion(p, pr, "gemm_fusion_dot", k, syn_fmt(p, "%s/mlp/dot_general", at), fr[2], 60000));
	if (k % 4 == 1) {
		/* A thunk that encloses others: each trip copies the condition to the host, then runs the body. */
		in = inst(numbered(p, "while", k / 4), "while", syn_fmt(p, "%s/while", at), SYN_WHILE, 1800);
		loop = put(pr, in);
		item(pr, loop, SYN_OPEN);
		in = fusion(p, pr, "loop_dynamic_slice_fusion", k / 4, syn_fmt(p, "%s/while/body/dynamic_slice", at), SYN_NONE, 9000);
		start = put(pr, in);
		for (int trip = 0; trip < 3; trip++) {
			item(pr, loop, SYN_RUN);
			item(pr, start, SYN_RUN);
		}
		item(pr, loop, SYN_CLOSE);
	}
	if (p->comm && k % 3 == 0)
		run(pr, collective(numbered(p, "all-to-all", k / 3), "all-to-all", "all-to-all", "SendRecv", SYN_SYNC, SYN_STRIDE, shard, 40000));
	if (p->comm && k % 3 == 1) {
		start = run(pr, collective(numbered(p, "collective-permute-start", k / 3), "collective-permute-start", "collective-permute", "SendRecv",
		                           SYN_ASYNC, SYN_RING, shard, 25000));
		run(pr, inst(numbered(p, "wrapped_slice", k / 3), "fusion", "", SYN_COMPUTE, 30000));
		done(p, pr, start, "collective-permute-done", "collective-permute-done", k / 3);
	}
}

static void
backward(struct syn_plan *p, struct syn_program *pr, int k, const uint32_t *fr)
{
	struct syn_shape whole = { F32, 2, { 5040, 256 } };   /* divided by any small group */
	const char *at = syn_fmt(p, "%s/transpose(jvp(Transformer))/layers_%d", STEP, k);
	struct syn_inst in = fusion(p, pr, "loop_multiply_fusion", k, syn_fmt(p, "%s/mlp/mul", at), fr[2], 14000);
	/* Groups of a reduce-scatter have one size. */
	bool equal = syn_opt.groups > 0 && p->dev.n % (size_t)syn_opt.groups == 0;
	uint32_t start = SYN_NONE;

	run(pr, in);
	if (p->comm) {
		/* An async-start around the collective; its range has the name of the instruction in it. */
		in = collective(numbered(p, "reduce-scatter", k), "reduce-scatter", "reduce-scatter", "ReduceScatter", SYN_ASYNC,
		                k % 2 && equal ? SYN_BLOCK : SYN_WORLD, whole, 80000);
		in.wrapper = numbered(p, "reduce-scatter-start", k);
		start = run(pr, in);
	}
	run(pr, inst(numbered(p, "wrapped_transpose", k), "fusion", "", SYN_COMPUTE, 10000));
	in = fusion(p, pr, "gemm_fusion_dot", k + (int)syn_opt.layers, syn_fmt(p, "%s/mlp/transpose[permutation=(1,0)]/dot_general", at), fr[2], 45000);
	in.kernel = "triton_gemm_dot_kernel";
	run(pr, in);
	if (p->comm)
		done(p, pr, start, "reduce-scatter-done", "async-done", k);
}

static void
train_step(struct syn_plan *p, struct syn_program *pr)
{
	uint32_t top = frame(p, "train.py", "<module>", 212, 0, SYN_NONE);
	uint32_t loop = frame(p, "train.py", "main", 187, 10, top);
	uint32_t step = frame(p, "train.py", "train_step", 96, 17, loop);
	uint32_t net = frame(p, "/opt/example/model/transformer.py", "Transformer.__call__", 55, 8, step);
	uint32_t fr[3] = { frame(p, "/opt/example/model/layers.py", "norm", 14, 4, net), frame(p, "/opt/example/model/layers.py", "attention", 41, 11, net),
	                   frame(p, "/opt/example/model[v2]/mlp.py", "mlp.<locals>.gelu/tanh", 77, 11, net) };
	struct syn_inst in;
	uint32_t start = SYN_NONE, *out = syn_check(calloc((size_t)syn_opt.layers, sizeof *out));   /* of --offload: the done of each layer */

	pr->spread = true;
	if (syn_opt.pipeline)
		stages(p, pr, SYN_FIRST_STAGE);
	for (int k = 0; k < syn_opt.layers; k++) {
		forward(p, pr, k, fr);
		if (syn_opt.offload) {
			if (k)
				out[k - 1] = transferred(p, pr, out[k - 1], k - 1);
			out[k] = transfer(p, pr, 2, SYN_NONE, k);
		}
	}
	if (syn_opt.offload)
		out[syn_opt.layers - 1] = transferred(p, pr, out[syn_opt.layers - 1], (int)syn_opt.layers - 1);
	if (syn_opt.pipeline)
		stages(p, pr, SYN_LAST_STAGE);
	run(pr, fusion(p, pr, "loss_fusion", 0, syn_fmt(p, "%s/d\xc3\xa9" "codeur/log_softmax", STEP), step, 22000));
	for (int k = (int)syn_opt.layers - 1; k >= 0; k--) {
		if (syn_opt.offload)
			transfer(p, pr, 1, out[k], k);
		backward(p, pr, k, fr);
	}
	free(out);
	if (p->comm) {
		in = collective("all-reduce-start", "all-reduce-start", "all-reduce", "AllReduce", SYN_ASYNC, SYN_WORLD,
		                (struct syn_shape){ BF16, 2, { 512, 1024 } }, 120000);
		in.nin = 2;
		in.in[1] = (struct syn_shape){ F32, 1, { 1024 } };
		start = run(pr, in);
	}
	run(pr, fusion(p, pr, "loop_add_fusion", 0, syn_fmt(p, "%s/adam/add", STEP), step, 70000));
	/* Only one of its instructions has a source location. */
	in = fusion(p, pr, "loop_add_fusion", 3, syn_fmt(p, "%s/adam/sqrt", STEP), SYN_NONE, 90000);
	pr->inner.p[pr->inner.n - 1].frame = step;
	run(pr, in);
	if (p->comm) {
		done(p, pr, start, "all-reduce-done", "all-reduce-done", 0);
		run(pr, collective("all-reduce.1", "all-reduce", "all-reduce", "AllReduce", SYN_SYNC, SYN_WORLD, (struct syn_shape){ F32, 0, { 0 } }, 11000));
	}
	in = inst("copy.1", "copy", syn_fmt(p, "%s/copy", STEP), SYN_COPY, 2500);
	run(pr, in);
	run(pr, inst("memset_thunk", "fusion", "", SYN_SET, 1500));
	if (p->comm && syn_opt.outside) {
		in = collective("all-gather-start.99", "all-gather-start", "all-gather", "AllGather", SYN_ASYNC, SYN_WORLD,
		                (struct syn_shape){ BF16, 1, { 4096 } }, 9000);
		in.outside = true;
		run(pr, in);
	}
}

/* What --evaluate runs in place of some steps: the forward pass alone. */
static void
eval_step(struct syn_plan *p)
{
	struct syn_program *pr = program(p, "jit_eval_step", 57);
	const uint32_t none[3] = { SYN_NONE, SYN_NONE, SYN_NONE };

	for (int k = 0; k < syn_opt.layers; k++)
		forward(p, pr, k, none);
	run(pr, fusion(p, pr, "metric_fusion", 0, "jit(eval_step)/jit(main)/accuracy", SYN_NONE, 12000));
}

static void
psum(struct syn_plan *p, int64_t id)
{
	struct syn_program *pr = program(p, "jit__psum", id);
	uint32_t start;

	pr->replicas = true;
	run(pr, inst("wrapped_copy", "fusion", "", SYN_COMPUTE, 2000));
	if (!p->comm)
		return;
	start = run(pr, collective("all-reduce-start", "all-reduce-start", "all-reduce", "AllReduce", SYN_ASYNC, SYN_WORLD,
	                           (struct syn_shape){ S32, 1, { 8 } }, 12000));
	pr->inst.p[start].op_name = "jit(_psum)/jit(main)/reduce_sum[axes=(0,)]";
	done(p, pr, start, "all-reduce-done", "all-reduce-done", 0);
}

const char *
syn_kernel_kind(const struct syn_inst *in)
{
	static const char *const kinds[][2] = { { "AllReduce", "all-reduce" }, { "AllGather", "all-gather" }, { "ReduceScatter", "reduce-scatter" } };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(in->nccl, kinds[i][0]) == 0)
			return kinds[i][1];
	/* --xla26 runs ncclDevKernel_SendRecv, whose name shows its kind; with the suffix in other jobs it may run any
	 * operation. */
	return syn_opt.xla26 ? "send-recv" : "nccl";
}

static const char *
rest_name(struct syn_plan *p, const struct syn_program *pr, uint32_t buffer, const struct syn_inst *in)
{
	return syn_fmt(p, "%s (%s)", pr->inst.p[buffer].name, syn_kernel_kind(in));
}

uint32_t
syn_rest(struct syn_plan *p, const struct syn_program *pr, uint32_t buffer, const struct syn_inst *in)
{
	const char *name;

	if (!in->nccl)
		return buffer;
	name = rest_name(p, pr, buffer, in);
	for (uint32_t i = 0; i < pr->inst.n; i++)
		if (strcmp(pr->inst.p[i].name, name) == 0)
			return i;
	syn_die("%s is not in the plan", name);
}

void
syn_rests(struct syn_plan *p, struct syn_program *pr, uint32_t buffer, const struct syn_inst *in)
{
	struct syn_inst rest = inst(rest_name(p, pr, buffer, in), "", "", SYN_BUFFER, 0);

	rest.inside = SYN_NONE;
	rest.collective = syn_kernel_kind(in);
	for (size_t i = 0; i < pr->inst.n; i++)
		if (strcmp(pr->inst.p[i].name, rest.name) == 0)
			return;
	rest.home = pr->inst.p[buffer].home;
	put(pr, rest);
}

/* Two or more consecutive instructions that a graph can contain become a command buffer. */
static void
buffers(struct syn_plan *p, struct syn_program *pr)
{
	struct syn_inst in = inst("command_buffer", "", "", SYN_BUFFER, 0);
	uint32_t graph = 0;

	in.title = syn_name(p, "Thunk:#hlo_op=command_buffer#");
	pr->buffer = put(pr, in);
	for (size_t i = 0, n; i < pr->item.n; i += n) {
		for (n = 0; i + n < pr->item.n; n++) {
			const struct syn_inst *it = &pr->inst.p[pr->item.p[i + n].inst];

			if (it->what != SYN_COMPUTE && it->what != SYN_COPY && it->what != SYN_SET && it->what != SYN_SYNC)
				break;
		}
		graph += n > 1;
		for (size_t k = 0; k < n && n > 1; k++)
			pr->item.p[i + k].graph = graph;
		n += n == 0;
	}
	for (size_t i = 0; i < pr->item.n; i++) {
		struct syn_inst it = pr->inst.p[pr->item.p[i].inst];

		if (pr->item.p[i].graph && it.nccl)
			syn_rests(p, pr, pr->buffer, &it);
	}
}

/* The longest common prefix of all op_names, cut at a '/'. */
static const char *
common_prefix(struct syn_plan *p, const struct syn_program *pr)
{
	const char *first = NULL;
	size_t len = 0;

	for (size_t i = 0; i < pr->inst.n; i++) {
		const char *s = pr->inst.p[i].op_name;
		size_t k = 0;

		if (!*s)
			continue;
		if (!first) {
			first = s;
			len = strlen(s);
		}
		while (k < len && s[k] == first[k])
			k++;
		len = k;
	}
	while (len > 0 && first[len] != '/')
		len--;
	return len ? syn_fmt(p, "%.*s", (int)len, first) : "";
}

/* The text of an instruction's range, as each generation of XLA writes it. */
static const char *
title(struct syn_plan *p, const struct syn_program *pr, const struct syn_inst *in)
{
	bool recent = syn_recent();
	const char *op = in->op_name, *kind = in->opcode;
	size_t n = strlen(pr->prefix);

	if (!recent && strcmp(kind, "fusion") != 0 && strcmp(kind, "custom-call") != 0)
		op = "";
	if (n && strncmp(op, pr->prefix, n) == 0 && op[n] == '/')
		op += n + 1;
	return syn_fmt(p, recent ? "Thunk:#%s%s%shlo_op=%s,unique_hlo_op_id=%lld#" : "Thunk:#%s%s%shlo_op=%s#", *op ? "name=" : "", op, *op ? "," : "",
	               in->name, (long long)in->uid);
}

/* Report that no instruction has this name given to --slow, with the names that exist. */
static void
no_such_instruction(const struct syn_plan *p, struct nsx_str name)
{
	struct nsx_buf names = { 0 };

	for (size_t k = 0; k < p->prog.n; k++)
		for (size_t i = 0; i < p->prog.p[k].inst.n; i++) {
			const struct syn_inst *in = &p->prog.p[k].inst.p[i];

			if (in->what != SYN_BUFFER)
				nsx_buf_fmt(&names, "%s%s", names.len ? ", " : "", in->name);
		}
	nsx_buf_add(&names, "", 1);
	syn_die("--slow %.*s: no such instruction: want one of %s", (int)name.len, name.ptr, names.failed ? "" : names.ptr);
}

/* Change the cost of the instructions named by --slow, "NAME:PERCENT,...". */
static void
slow_down(struct syn_plan *p)
{
	for (const char *s = syn_opt.slow, *end; s; s = *end ? end + 1 : NULL) {
		const char *colon = s + strcspn(s, ":,");
		char *after;
		int found = 0;

		end = s + strcspn(s, ",");
		long percent = *colon == ':' ? strtol(colon + 1, &after, 10) : 0;
		if (*colon != ':' || after == colon + 1 || after != end)
			syn_die("--slow %.*s: want NAME:PERCENT", (int)(end - s), s);
		for (size_t k = 0; k < p->prog.n; k++)
			for (size_t i = 0; i < p->prog.p[k].inst.n; i++) {
				struct syn_inst *in = &p->prog.p[k].inst.p[i];

				if (in->what == SYN_BUFFER || strlen(in->name) != (size_t)(colon - s) || strncmp(in->name, s, strlen(in->name)) != 0)
					continue;
				in->cost += in->cost * percent / 100;
				found++;
			}
		if (!found)
			no_such_instruction(p, (struct nsx_str){ s, (size_t)(colon - s) });
	}
}

static void
finish(struct syn_plan *p, uint32_t prog)
{
	struct syn_program *pr = &p->prog.p[prog];

	pr->prefix = common_prefix(p, pr);
	syn_layout(p, prog);
	for (size_t i = 0; i < pr->inst.n; i++) {
		struct syn_inst *in = &pr->inst.p[i];

		if (in->what == SYN_BUFFER)
			continue;
		in->title = syn_name(p, title(p, pr, in));
		if (in->collective)
			pr->comm = true;
	}
}

void
syn_model(struct syn_plan *p)
{
	struct syn_program *pr = program(p, "jit_convert_element_type", 3);

	run(pr, inst("wrapped_convert", "fusion", "", SYN_COMPUTE, 1900));
	pr->inst.p[0].op_name = "args[0]";
	psum(p, 1);
	pr = program(p, "jit_init_params", 19);
	run(pr, inst("memset.1", "fusion", "", SYN_SET, 1700));
	for (int k = 0; k < 5; k++)
		run(pr, fusion(p, pr, "loop_select_fusion", k, syn_fmt(p, "jit(init_params)/jit(main)/jit(_uniform)/p%d/max", k), SYN_NONE, 15000));
	pr = program(p, "jit_train_step", 40);
	train_step(p, pr);
	syn_plant_costs(pr);
	if (syn_opt.graphs)
		buffers(p, pr);
	if (syn_opt.disagree) {
		/* Two programs of one name: one with the same instructions, one with others. */
		psum(p, 38);
		pr = program(p, "jit_convert_element_type", 21);
		run(pr, inst("loop_convert_fusion", "fusion", "jit(convert_element_type)/jit(main)/convert_element_type", SYN_COMPUTE, 2200));
	}
	if (syn_opt.evaluate)
		eval_step(p);
	slow_down(p);
	for (uint32_t i = 0; i < p->prog.n; i++)
		finish(p, i);
}
