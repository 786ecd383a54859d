/* torch.c -- a job as PyTorch annotates it: inline text in the default domain, deep nesting on two threads, start/end
 * ranges that do not nest, some ended by another thread, and NCCL's domain with registered strings; or steps named as
 * servers of language models name them, after their contents. */
#include <stdlib.h>
#include <string.h>

#include "db.h"
#include "synth.h"
#include "torch.h"

enum { REDUCING = 90000 };
static const int64_t COMM = INT64_MIN + 0x7c4;

static struct syn_thread *
thread_of(struct torch *t, uint32_t thread)
{
	return &t->p->proc.p[t->proc].thread.p[thread];
}

/* ---- --slow RANGE:PERCENT */

static bool slowed;   /* a range of --slow ran */

/* What --slow adds to kernels launched in the innermost range of the thread. */
static int64_t
slower(struct torch *t, uint32_t thread, int64_t ns)
{
	const char *range = thread_of(t, thread)->top == SYN_NONE ? "" : syn_str(t->p, t->p->range.p[thread_of(t, thread)->top].name);
	size_t n = strcspn(range, ",");

	for (const char *s = syn_opt.slow, *end; s; s = *end ? end + 1 : NULL) {
		const char *colon;
		char *after = NULL;
		long percent = 0;

		end = s + strcspn(s, ",");
		colon = end;
		while (colon > s && *colon != ':')
			colon--;
		if (colon > s)
			percent = strtol(colon + 1, &after, 10);
		if (colon == s || after == colon + 1 || after != end)
			syn_die("--slow %.*s: want NAME:PERCENT", (int)(end - s), s);
		if (((size_t)(colon - s) != n || strncmp(s, range, n) != 0)
		    && (!t->phase || (size_t)(colon - s) != strlen(t->phase) || strncmp(s, t->phase, strlen(t->phase)) != 0))
			continue;
		slowed = true;
		ns += ns * percent / 100;
	}
	return ns;
}

/* GPU time of a kernel that computes: in lockstep devices and steps differ. */
static int64_t
spend(struct torch *t, uint32_t thread, int64_t ns)
{
	if (syn_opt.shorter)
		ns = ns / syn_opt.shorter + 500;
	if (syn_in_lockstep())
		ns = syn_vary(t->p, t->dev, ns * (1000 + t->p->dev.p[t->dev].slow) / 1000);
	return slower(t, thread, ns);
}

uint32_t
torch_op(struct torch *t, uint32_t thread, enum syn_op_type type, int stream, const char *name, int64_t dur)
{
	struct syn_plan *p = t->p;
	struct syn_dev *d = &p->dev.p[t->dev];
	struct syn_op o = { 0 };
	int64_t *tail = stream == 7 ? &d->compute : &d->comm;

	o.type = (uint8_t)type;
	o.dev = t->dev;
	o.stream = stream;
	o.bytes = -1;
	o.short_name = SYN_NONE;
	if (type == SYN_KERNEL) {
		o.call = syn_launch(p, t->proc, thread);
	} else {
		o.call = syn_call(p, t->proc, thread, type == SYN_MEMCPY ? "cudaMemcpyAsync_v3020" : "cudaMemsetAsync_v3020", syn_rnd(p, 1900, 4200));
		o.bytes = 1024 * syn_rnd(p, 1, 4096);
		o.copy_kind = type == SYN_MEMCPY ? 1 : 0;
		name = type == SYN_MEMCPY ? "[CUDA memcpy Host-to-Device]" : "[CUDA memset]";
	}
	o.name = syn_name(p, name);
	o.start = p->call.p[o.call].end + syn_rnd(p, 1000, 6000);
	if (o.start < *tail)
		o.start = *tail;
	/* Communication waits, by an event, for the data that it sends. */
	if (stream != 7 && o.start < d->compute)
		o.start = d->compute;
	dur += syn_rnd(p, 0, dur / 4);
	o.end = o.start + (type == SYN_KERNEL && stream == 7 ? syn_contend(d, o.start, spend(t, thread, dur)) : dur);
	*tail = o.end + 400;
	return syn_op(p, o);
}

uint32_t
torch_push(struct torch *t, uint32_t thread, const char *name)
{
	return syn_push(t->p, t->proc, thread, SYN_DEFAULT, syn_namef(t->p, "%s, op_id = %lld", name, (long long)t->op_id++), false);
}

void
torch_pop(struct torch *t, uint32_t thread)
{
	syn_pop(t->p, t->proc, thread);
}

/* Start/end ranges do not nest as a stack. */
static uint32_t
start_range(struct torch *t, uint32_t thread, const char *name)
{
	uint32_t top = thread_of(t, thread)->top, i = syn_push(t->p, t->proc, thread, SYN_DEFAULT, syn_name(t->p, name), false);

	thread_of(t, thread)->top = top;
	t->p->range.p[i].type = SYN_STARTEND;
	t->p->range.p[i].range_id = t->p->proc.p[t->proc].next_range_id++;
	return i;
}

static void
end_range(struct torch *t, uint32_t range, uint32_t thread)
{
	struct syn_range *r = &t->p->range.p[range];

	thread_of(t, thread)->now += syn_rnd(t->p, 300, 700);
	r->end = thread_of(t, thread)->now;
	if (r->thread != thread)
		r->end_thread = thread;
}

static void
linear(struct torch *t, uint32_t thread, int layer)
{
	torch_push(t, thread, "aten::linear");
	torch_push(t, thread, "aten::t");
	torch_pop(t, thread);
	torch_push(t, thread, layer % 2 ? "aten::addmm" : "aten::matmul");
	torch_op(t, thread, SYN_KERNEL, 7, "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN", 40000 + 200 * t->tokens);
	if (layer % 3 == 0)
		torch_op(t, thread, SYN_MEMSET, 7, NULL, 900);
	torch_pop(t, thread);
	torch_pop(t, thread);
	if (syn_planted("layout")) {
		syn_plant_subject("direct_copy_kernel");
		torch_push(t, thread, "aten::contiguous");
		torch_op(t, thread, SYN_KERNEL, 7, "void at::native::elementwise_kernel<(int)128, (int)4, void at::native::gpu_kernel_impl_nocast<"
		                             "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase &)>>(int, T3)", 260000);
		torch_pop(t, thread);
	}
	torch_push(t, thread, "aten::gelu");
	torch_op(t, thread, SYN_KERNEL, 7, "void at::native::vectorized_elementwise_kernel<(int)8, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase &)::"
	                             "[lambda(float) (instance 1)], std::array<char *, (unsigned long)2>>(int, T2, T3)", 12000);
	torch_pop(t, thread);
}

/* In lockstep, NCCL's ranges have payloads where exports of this version have them. */
static void
payload(struct torch *t, uint32_t range, enum syn_shape_of shape)
{
	struct syn_plan *p = t->p;
	const struct syn_dev *d = &p->dev.p[t->dev];

	if (!syn_in_lockstep() || db_version_of(syn_opt.schema) < 4)
		return;
	syn_add(&p->payload, ((struct syn_payload){ (int)shape, COMM, shape == SYN_N_INIT ? 0 : SYN_MESSAGE, -1, (int64_t)p->dev.n, t->dev, d->cuda }));
	p->range.p[range].payload = (uint32_t)p->payload.n;
}

static void
all_reduce(struct torch *t, uint32_t thread)
{
	syn_push(t->p, t->proc, thread, SYN_NCCL, syn_name(t->p, "ncclGroupStart"), true);
	syn_pop(t->p, t->proc, thread);
	payload(t, syn_push(t->p, t->proc, thread, SYN_NCCL, syn_name(t->p, "ncclAllReduce"), true), SYN_N_REDUCE);
	t->joined = torch_op(t, thread, SYN_KERNEL, 24, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)", REDUCING);
	syn_pop(t->p, t->proc, thread);
}

/* The devices' kernels of a collective end together, when the last has begun and the data are there. */
static void
meet(struct torch *all, int64_t cost)
{
	struct syn_plan *p = all[0].p;
	int64_t last = 0, end;

	for (uint32_t d = 0; d < p->dev.n; d++)
		if (p->op.p[all[d].joined].start > last)
			last = p->op.p[all[d].joined].start;
	end = last + cost + syn_rnd(p, 0, cost / 20);
	for (uint32_t d = 0; d < p->dev.n; d++) {
		p->op.p[all[d].joined].end = end;
		p->dev.p[d].comm = end + 400;
		syn_contend_comm(&p->dev.p[d], p->op.p[all[d].joined].start, end);
	}
}

static void
backward(struct torch *t, uint32_t thread, int layer)
{
	struct syn_plan *p = t->p;

	syn_push(p, t->proc, thread, SYN_DEFAULT,
	         syn_namef(p, "autograd::engine::evaluate_function: AddmmBackward0, seq = %lld, op_id = %lld", (long long)t->seq++, (long long)t->op_id++), false);
	torch_push(t, thread, "aten::mm");
	torch_op(t, thread, SYN_KERNEL, 7, "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_NNT", 55000);
	torch_pop(t, thread);
	torch_push(t, thread, "aten::sum");
	torch_op(t, thread, SYN_KERNEL, 7, "void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float, at::native::func_wrapper_t<float>>>(T3)", 8000);
	torch_pop(t, thread);
	if (layer % 2 == 0 && p->comm)
		all_reduce(t, thread);
	torch_pop(t, thread);
}

/* The forward pass, and what is under way when the backward pass begins. */
static void
forward(struct torch *t, int64_t k)
{
	struct syn_plan *p = t->p;

	syn_push(p, t->proc, 0, SYN_DEFAULT, syn_namef(p, syn_vary_other() ? "EvaluationStep#%lld" : "ProfilerStep#%lld", (long long)k), false);
	torch_push(t, 0, "aten::to");
	torch_op(t, 0, SYN_MEMCPY, 7, NULL, 15000);
	torch_pop(t, 0);
	syn_memory_begin(p, t->dev, 0, k);
	syn_push(p, t->proc, 0, SYN_DEFAULT, syn_name(p, "forward; \xe2\x86\x92 \"loss\", scaled"), false);
	for (int layer = 0; layer < syn_opt.layers; layer++) {
		/* Begins inside one iteration's forward pass and ends inside the next one's. */
		if (layer == syn_opt.layers / 2 && !syn_in_lockstep()) {
			if (t->overlapping != SYN_NONE)
				end_range(t, t->overlapping, 0);
			t->overlapping = k + 1 < syn_opt.steps ? start_range(t, 0, "prefetch window") : SYN_NONE;
		}
		syn_push(p, t->proc, 0, SYN_DEFAULT, syn_namef(p, "nn.Module: Block_%d", layer), false);
		linear(t, 0, layer);
		torch_pop(t, 0);
	}
	torch_pop(t, 0);
	t->inside = start_range(t, 0, "loss scaling");
	torch_push(t, 0, "aten::mul");
	torch_op(t, 0, SYN_KERNEL, 7, "void at::native::elementwise_kernel<(int)128, (int)2>(at::TensorIteratorBase &)", 3000);
	torch_pop(t, 0);
	end_range(t, t->inside, 0);
	t->cross = start_range(t, 0, "handed to autograd");
	if (thread_of(t, 1)->now < thread_of(t, 0)->now)
		thread_of(t, 1)->now = thread_of(t, 0)->now + 5000;
}

static void
backward_layer(struct torch *t, int layer)
{
	backward(t, 1, layer);
	if (layer == syn_opt.layers / 2)
		end_range(t, t->cross, 1);
}

static void
optimize(struct torch *t, int64_t k)
{
	struct syn_plan *p = t->p;

	if (thread_of(t, 0)->now < thread_of(t, 1)->now)
		thread_of(t, 0)->now = thread_of(t, 1)->now + 4000;
	torch_push(t, 0, "Optimizer.step#AdamW.step");
	/* The optimizer waits by an event for all gradients. */
	if (p->dev.p[t->dev].compute < p->dev.p[t->dev].comm)
		p->dev.p[t->dev].compute = p->dev.p[t->dev].comm;
	torch_op(t, 0, SYN_KERNEL, 7, "void at::native::multi_tensor_apply_kernel<at::native::TensorListMetadata<(int)4>>(T1, T2, T3...)", 70000);
	torch_pop(t, 0);
	syn_memory_end(p, t->dev, 0, k);
	torch_pop(t, 0);
	torch_push(t, 0, "inflate");
	syn_decompress(p, t->dev, 0, 7, &p->dev.p[t->dev].compute);
	torch_pop(t, 0);
	/* Work in no range. */
	torch_op(t, 0, SYN_MEMCPY, 7, NULL, 2000);
	syn_host_fn(p, t->dev, 0, 7, &p->dev.p[t->dev].compute);
	thread_of(t, 0)->now += syn_rnd(p, 20000, 60000);
}

static void
train(struct torch *t, int64_t k)
{
	forward(t, k);
	for (int layer = (int)syn_opt.layers - 1; layer >= 0; layer--)
		backward_layer(t, layer);
	optimize(t, k);
}

/* ---- devices that run together */

/* Without gradients there is nothing to reduce. */
static void
evaluated(struct torch *t)
{
	end_range(t, t->cross, 0);
	torch_pop(t, 0);
	thread_of(t, 0)->now += syn_rnd(t->p, 20000, 60000);
}

/* The loss is copied to the host, which waits for it. */
static void
read_loss(struct torch *t)
{
	struct syn_plan *p = t->p;
	int64_t *now = &thread_of(t, 0)->now;
	uint32_t copy, wait;

	torch_push(t, 0, "aten::item");
	copy = torch_op(t, 0, SYN_MEMCPY, 7, NULL, 1500);
	p->op.p[copy].copy_kind = 2;
	p->op.p[copy].bytes = 4;
	p->op.p[copy].name = p->op.p[copy].short_name = syn_name(p, "[CUDA memcpy Device-to-Host]");
	wait = syn_call(p, t->proc, 0, "cudaStreamSynchronize_v3020", 1500);
	if (*now < p->op.p[copy].end + 3000)
		*now = p->call.p[wait].end = p->op.p[copy].end + 3000;
	torch_pop(t, 0);
}

static void
step_together(struct torch *all, int64_t k)
{
	struct syn_plan *p = all[0].p;
	uint32_t n = (uint32_t)p->dev.n;

	syn_vary_step(k);
	syn_plant_before(p);
	for (uint32_t d = 0; d < n; d++) {
		syn_vary_before(p, d);
		forward(&all[d], k);
	}
	for (int layer = (int)syn_opt.layers - 1; layer >= 0 && !syn_vary_other(); layer--) {
		for (uint32_t d = 0; d < n; d++)
			backward_layer(&all[d], layer);
		if (layer % 2 == 0 && p->comm)
			meet(all, layer == 0 && syn_planted("slow-collective") ? 10 * REDUCING : REDUCING);
	}
	for (uint32_t d = 0; d < n; d++) {
		if (syn_vary_other())
			evaluated(&all[d]);
		else
			optimize(&all[d], k);
		if (!syn_plant_after(p, d))
			read_loss(&all[d]);
		syn_vary_after(p, d);
	}
}

/* A step of a server: every fourth one accepts requests (prefill) of 512 tokens each, the others generate a token for
 * each (decode). */
static void
serve(struct torch *t, int64_t k)
{
	struct syn_plan *p = t->p;
	int takes = k % 4 == 0 ? 1 + (int)(k / 4 % 2) : 0, has = k ? 6 + (int)(k / 4 % 3) : 0;
	uint32_t name = torch_serving(t, k, takes, has);

	t->tokens = 512 * takes + has;
	t->phase = !takes ? "decode" : has ? "mixed" : "prefill";
	syn_push(p, t->proc, 0, SYN_DEFAULT, name, false);
	torch_push(t, 0, "aten::to");
	torch_op(t, 0, SYN_MEMCPY, 7, NULL, 3000);
	torch_pop(t, 0);
	for (int layer = 0; layer < syn_opt.layers; layer++) {
		syn_push(p, t->proc, 0, SYN_DEFAULT, syn_namef(p, "{'Module': 'model.layers.%d', 'TrainableParams': 4096}", layer), false);
		linear(t, 0, layer);
		if (p->comm)
			all_reduce(t, 0);
		torch_pop(t, 0);
	}
	torch_push(t, 0, "aten::argmax");
	torch_op(t, 0, SYN_KERNEL, 7, "void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float, at::native::ArgMaxOps<float>>>(T3)", 6000);
	torch_pop(t, 0);
	/* The tokens are needed before the next step can be prepared. */
	if (thread_of(t, 0)->now < p->dev.p[t->dev].compute)
		syn_call(p, t->proc, 0, "cudaStreamSynchronize_v3020", p->dev.p[t->dev].compute - thread_of(t, 0)->now + syn_rnd(p, 2000, 5000));
	torch_pop(t, 0);
	torch_served(t);
	thread_of(t, 0)->now += syn_rnd(p, 20000, 60000);
}

static struct torch
begin(struct syn_plan *p, uint32_t dev)
{
	struct torch t = { p, p->dev.p[dev].proc, dev, 990346 + 1000 * (int64_t)dev, 45328, 0, SYN_NONE, SYN_NONE, SYN_NONE, SYN_NONE, NULL };

	/* The second device of a process follows the first on the same threads. */
	if (p->dev.p[dev].local == 0) {
		p->proc.p[t.proc].domain_id[SYN_NCCL] = 1;
		syn_add(&p->mark, ((struct syn_mark){ 1000, t.proc, 0, syn_name(p, "NCCL"), 75, SYN_NCCL, 0 }));
		syn_add(&p->mark, ((struct syn_mark){ 1200, t.proc, 0, syn_name(p, "io"), 33, SYN_DEFAULT, 1 }));
		syn_add(&p->mark, ((struct syn_mark){ 1400, t.proc, 0, syn_name(p, "epoch 0"), 34, SYN_DEFAULT, 0 }));
	}
	return t;
}

static void
together(struct syn_plan *p)
{
	struct torch *all = syn_check(calloc(p->dev.n, sizeof *all));

	for (uint32_t d = 0; d < p->dev.n; d++) {
		all[d] = begin(p, d);
		if (p->comm) {
			payload(&all[d], syn_push(p, all[d].proc, 0, SYN_NCCL, syn_name(p, "ncclCommInitRankConfig"), true), SYN_N_INIT);
			syn_pop(p, all[d].proc, 0);
		}
	}
	if (syn_planted("slow-collective"))
		syn_plant_subject("all-reduce");
	for (uint32_t d = 0; d < p->dev.n; d++)
		syn_memory_first(p, d, 0);
	for (int64_t k = 0; k < syn_opt.steps; k++)
		step_together(all, k);
	syn_vary_step(-1);
	free(all);
}

void
syn_torch(struct syn_plan *p)
{
	if (syn_in_lockstep())
		together(p);
	for (uint32_t d = 0; d < p->dev.n && !syn_in_lockstep(); d++) {
		struct torch t = begin(p, d);

		for (int64_t k = 0; k < syn_opt.steps; k++)
			if (strcmp(syn_opt.torch, "checkpoints") == 0)
				torch_checkpointed(&t, k);
			else if (*syn_opt.torch && strcmp(syn_opt.torch, "train") != 0)
				serve(&t, k);
			else
				train(&t, k);
	}
	if (syn_opt.slow && !slowed)
		syn_die("--slow %s: no such range launches a kernel that computes: want one of aten::addmm, aten::matmul, aten::gelu, aten::mm, aten::sum, aten::mul, "
		        "aten::argmax, Optimizer.step#AdamW.step", syn_opt.slow);
}
