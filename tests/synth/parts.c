/* parts.c -- --torch=checkpoints: a training step as emit_nvtx annotates it, in which operators and their derivatives
 * have sequence numbers in common and every other block is computed again in the backward pass; and to which phase and
 * module each operation belongs, as it was planned. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "torch.h"

enum { FORWARD, BACKWARD, RECOMPUTE, OPTIMIZER, UNKNOWN, PHASES };

static const char *const phase_names[PHASES] = { "forward", "backward", "recompute", "optimizer", "unknown" };

/* block: number of the block, -1: only the model, -2: none. leaf: below it. */
struct part { uint32_t op; int phase, block; const char *leaf; };
static NSX_VEC(struct part) parts;

static const char nothing[] = "[no scope]", adamw[] = "Optimizer.step#AdamW.step";

static void
kernel(struct torch *t, uint32_t thread, const char *name, int64_t dur, int phase, int block, const char *leaf)
{
	syn_add(&parts, ((struct part){ torch_op(t, thread, SYN_KERNEL, 7, name, dur), phase, block, leaf }));
}

/* A range of an operator or of a node of the graph, with a sequence number. */
static void
push_seq(struct torch *t, uint32_t thread, const char *name, int64_t seq)
{
	syn_push(t->p, t->proc, thread, SYN_DEFAULT,
	         syn_namef(t->p, "%s, seq = %lld, op_id = %lld", name, (long long)seq, (long long)t->op_id++), false);
}

/* The operators of a block, which have the numbers from `seq` on. */
static void
block(struct torch *t, uint32_t thread, int layer, int64_t seq, int phase)
{
	syn_push(t->p, t->proc, thread, SYN_DEFAULT, syn_namef(t->p, "nn.Module: Block_%d", layer), false);
	syn_push(t->p, t->proc, thread, SYN_DEFAULT, syn_name(t->p, "nn.Module: Linear"), false);
	push_seq(t, thread, "aten::linear", seq);
	torch_push(t, thread, "aten::t");
	torch_pop(t, thread);
	push_seq(t, thread, "aten::addmm", seq);
	kernel(t, thread, "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN", 40000, phase, layer, "Linear");
	torch_pop(t, thread);
	torch_pop(t, thread);
	torch_pop(t, thread);
	push_seq(t, thread, "aten::gelu", seq + 1);
	kernel(t, thread, "void at::native::vectorized_elementwise_kernel<(int)8, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase &)>(int, T2, T3)",
	       12000, phase, layer, "");
	torch_pop(t, thread);
	torch_pop(t, thread);
}

/* What autograd's thread does for the operator `seq`. again: first the block is computed once more. */
static void
node(struct torch *t, const char *name, int64_t seq, int layer, const char *leaf, const char *op_name, int64_t dur, bool again)
{
	torch_push(t, 1, syn_fmt(t->p, "autograd::engine::evaluate_function: %s", name));
	push_seq(t, 1, name, seq);
	if (again) {
		block(t, 1, layer, t->seq, RECOMPUTE);
		t->seq += 2;
	}
	torch_push(t, 1, op_name);
	kernel(t, 1, "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_NNT", dur, BACKWARD, layer, leaf);
	torch_pop(t, 1);
	torch_pop(t, 1);
	torch_pop(t, 1);
	if (strcmp(leaf, "Linear") != 0)
		return;
	torch_push(t, 1, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad");
	torch_push(t, 1, "aten::add_");
	kernel(t, 1, "void at::native::vectorized_elementwise_kernel<(int)4, at::native::CUDAFunctor_add<float>>(int, T2, T3)", 5000, BACKWARD, -2, nothing);
	torch_pop(t, 1);
	torch_pop(t, 1);
}

static void
follow(struct torch *t, uint32_t thread, uint32_t other)
{
	struct syn_thread *a = &t->p->proc.p[t->proc].thread.p[thread], *b = &t->p->proc.p[t->proc].thread.p[other];

	if (a->now < b->now + 4000)
		a->now = b->now + 4000;
}

void
torch_checkpointed(struct torch *t, int64_t k)
{
	struct syn_plan *p = t->p;
	int64_t first = t->seq;

	syn_push(p, t->proc, 0, SYN_DEFAULT, syn_namef(p, "ProfilerStep#%lld", (long long)k), false);
	torch_push(t, 0, "aten::to");
	syn_add(&parts, ((struct part){ torch_op(t, 0, SYN_MEMCPY, 7, NULL, 15000), FORWARD, -2, nothing }));
	torch_pop(t, 0);
	syn_push(p, t->proc, 0, SYN_DEFAULT, syn_name(p, "nn.Module: Model"), false);
	for (int layer = 0; layer < syn_opt.layers; layer++, t->seq += 2)
		block(t, 0, layer, t->seq, FORWARD);
	push_seq(t, 0, "aten::mse_loss", t->seq++);
	kernel(t, 0, "void at::native::elementwise_kernel<(int)128, (int)2>(at::TensorIteratorBase &)", 3000, FORWARD, -1, "");
	torch_pop(t, 0);
	torch_pop(t, 0);
	follow(t, 1, 0);
	for (int layer = (int)syn_opt.layers - 1; layer >= 0; layer--) {
		node(t, "GeluBackward0", first + 2 * layer + 1, layer, "", "aten::gelu_backward", 9000, layer % 2 == 1);
		node(t, "AddmmBackward0", first + 2 * layer, layer, "Linear", "aten::mm", 55000, false);
	}
	follow(t, 0, 1);
	torch_push(t, 0, adamw);
	torch_push(t, 0, "aten::_fused_adamw_");
	kernel(t, 0, "void at::native::multi_tensor_apply_kernel<at::native::TensorListMetadata<(int)4>>(T1, T2, T3...)", 70000, OPTIMIZER, -2, adamw);
	torch_pop(t, 0);
	torch_pop(t, 0);
	torch_pop(t, 0);
	syn_add(&parts, ((struct part){ torch_op(t, 0, SYN_MEMCPY, 7, NULL, 2000), UNKNOWN, -2, nothing }));
	p->proc.p[t->proc].thread.p[0].now += syn_rnd(p, 20000, 60000);
}

/* ---- answers */

struct sum { int64_t count, self, total, phase[PHASES]; };

static void
add(struct sum *s, const struct part *part, int64_t ns, bool self)
{
	s->count++;
	s->total += ns;
	s->self += self ? ns : 0;
	s->phase[part->phase] += ns;
}

static void
scope(struct syn_tsv *t, const char *name, const struct sum *s)
{
	syn_tsv_row(t, "%s\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64, name, s->count, s->total, s->self,
	            s->phase[FORWARD], s->phase[BACKWARD], s->phase[RECOMPUTE], s->phase[OPTIMIZER]);
}

void
torch_parts_answers(struct syn_plan *p)
{
	struct sum phases[PHASES] = { { 0 } }, none = { 0 }, optimizer = { 0 }, model = { 0 };
	struct sum *blocks, *linears;
	struct syn_tsv t;

	if (strcmp(syn_opt.torch, "checkpoints") != 0)
		return;
	blocks = syn_check(calloc((size_t)syn_opt.layers, sizeof *blocks));
	linears = syn_check(calloc((size_t)syn_opt.layers, sizeof *linears));
	for (size_t i = 0; i < parts.n; i++) {
		const struct part *part = &parts.p[i];
		const struct syn_op *o = &p->op.p[part->op];
		uint32_t proc = p->dev.p[o->dev].proc;
		int64_t ns = syn_local(p, proc, o->end) - syn_local(p, proc, o->start);

		if (o->gone)
			continue;
		add(&phases[part->phase], part, ns, true);
		if (part->block == -2) {
			add(part->leaf == nothing ? &none : &optimizer, part, ns, true);
			continue;
		}
		add(&model, part, ns, part->block == -1);
		if (part->block >= 0)
			add(&blocks[part->block], part, ns, !*part->leaf);
		if (*part->leaf)
			add(&linears[part->block], part, ns, true);
	}
	syn_tsv_open(&t, "phases", "phase\tcount\ttotal");
	for (int i = 0; i < PHASES; i++)
		syn_tsv_row(&t, "%s\t%" PRId64 "\t%" PRId64, phase_names[i], phases[i].count, phases[i].total);
	syn_tsv_close(&t);
	syn_tsv_open(&t, "scopes", "scope\tcount\ttotal\tself\tforward\tbackward\trecompute\toptimizer");
	scope(&t, nothing, &none);
	scope(&t, adamw, &optimizer);
	scope(&t, "Model", &model);
	for (int i = 0; i < syn_opt.layers; i++) {
		scope(&t, syn_fmt(p, "Model/Block_%d", i), &blocks[i]);
		scope(&t, syn_fmt(p, "Model/Block_%d/Linear", i), &linears[i]);
	}
	syn_tsv_close(&t);
	free(blocks);
	free(linears);
	free(parts.p);
}
