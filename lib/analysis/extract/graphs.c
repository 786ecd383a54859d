/* graphs.c -- what ran inside a command buffer. With node-level traces of CUDA graphs the operations of a launch are known; those that can be told to be an
 * instruction's become thunks of it, the rest stays with the command buffer's own thunk. */
#include "analysis/extract/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

/* Its operations by GPU start: indices in trace.ops; call: the place among the calls, NSX_NONE: not known. */
struct launch { uint32_t *ops, n, call; };

struct graphs {
	struct ex_profile    *p;
	const struct nsx_hlo *h;
	struct nsx_intern     kernels;   /* names of kernels as XLA makes them of instructions' names */
	uint32_t             *inst_of;   /* by number in kernels: instruction of h */
	uint32_t             *found;     /* by operation of the launch: instruction of h, NSX_NONE: not told */
	bool                 *used;      /* by instruction of h: a kernel of this launch has its name */
	NSX_VEC(struct nsx_sort_key) left;   /* instructions by their order */
	NSX_VEC(struct nsx_sort_key) calls;  /* the entry computation's, by their order */
	NSX_VEC(uint32_t)     rest;      /* operations, as places in the launch */
	struct nsx_buf        name;
	int64_t               all, told, again;   /* again: of an instruction that ran in the same launch before */
};

/* XLA names kernels after instructions, with '_' for what C identifiers lack. */
static void
kernel_name(struct nsx_str inst, struct nsx_buf *out)
{
	out->len = 0;
	for (size_t i = 0; i < inst.len; i++) {
		char c = inst.ptr[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
		nsx_buf_char(out, plain ? c : '_');
	}
}

static bool
index_kernels(struct graphs *g)
{
	g->inst_of = malloc((g->h->ninsts + 1) * sizeof *g->inst_of);
	g->used = malloc(g->h->ninsts + 1);
	if (!g->inst_of || !g->used)
		return false;
	for (uint32_t i = 0; i < g->h->ninsts; i++) {
		kernel_name(g->h->insts[i].name, &g->name);
		uint32_t known = g->kernels.n, k = g->name.failed ? NSX_NONE : nsx_intern(&g->kernels, nsx_buf_view(&g->name));
		if (k == NSX_NONE)
			return false;
		/* Of two instructions that differ in nothing but this, the first. */
		if (k == known)
			g->inst_of[k] = i;
	}
	return true;
}

static struct nsx_str
op_name(const struct graphs *g, uint32_t op)
{
	uint32_t n = g->p->trace.ops[op].name;

	return n == NSX_NONE ? (struct nsx_str){ "", 0 } : nsx_intern_str(&g->p->trace.names, n);
}

static bool
is_nccl(struct nsx_str kernel)
{
	return nsx_str_starts(kernel, "nccl");
}

/* The computation that most operations found by name are of; NSX_NONE if there are none. */
static uint32_t
computation(const struct graphs *g, const struct launch *l)
{
	uint32_t best = NSX_NONE;
	int64_t votes = 0;

	/* A majority, if there is one, survives pairing off. */
	for (uint32_t i = 0; i < l->n; i++) {
		if (g->found[i] == NSX_NONE)
			continue;
		uint32_t c = g->h->insts[g->found[i]].comp;
		if (!votes)
			best = c;
		votes += c == best ? 1 : -1;
	}
	return best;
}

/* Give the kernels in g->rest to the instructions in g->left, one to one, if there are as many operations as instructions. */
static bool
pair_up(struct graphs *g, const struct launch *l)
{
	if (g->rest.n != g->left.n)
		return false;
	nsx_sort_keys(g->left.p, g->left.n);
	for (size_t i = 0; i < g->rest.n; i++) {
		if (g->p->trace.ops[l->ops[g->rest.p[i]]].type != NSX_OP_KERNEL)
			continue;
		g->found[g->rest.p[i]] = g->left.p[i].i;
		g->used[g->left.p[i].i] = true;
	}
	return true;
}

/* By order: NCCL's kernels to collectives, or other kernels to the instructions that need one and have none. */
static bool
by_order(struct graphs *g, const struct launch *l, uint32_t comp, bool nccl)
{
	g->left.n = 0;
	for (uint32_t i = 0; i < g->h->ninsts; i++) {
		const struct nsx_hlo_inst *inst = &g->h->insts[i];
		bool wanted = nccl ? inst->comm : nsx_str_eq(inst->opcode, NSX_STR("custom-call")) || nsx_str_eq(inst->opcode, NSX_STR("fusion"));
		if (inst->comp == comp && wanted && !g->used[i] && (nccl || !inst->comm) &&
		    !nsx_vec_push(&g->left, ((struct nsx_sort_key){ { inst->order, 0, 0 }, i })))
			return false;
	}
	/* A fusion may be a memset and nothing else: where kernels alone are too few, the launch's memsets have their turn among them. */
	for (int memsets = 0; memsets < (nccl ? 1 : 2); memsets++) {
		bool any = false;
		g->rest.n = 0;
		for (uint32_t i = 0; i < l->n; i++) {
			const struct nsx_gpu_op *op = &g->p->trace.ops[l->ops[i]];
			bool kernel = op->type == NSX_OP_KERNEL && is_nccl(op_name(g, l->ops[i])) == nccl;
			if (g->found[i] != NSX_NONE || !(kernel || (memsets && op->type == NSX_OP_MEMSET)))
				continue;
			any |= kernel;
			if (!nsx_vec_push(&g->rest, i))
				return false;
		}
		if (!any || pair_up(g, l))
			break;
	}
	return true;
}

static bool
assign(struct graphs *g, const struct launch *l)
{
	memset(g->used, 0, g->h->ninsts);
	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t k = nsx_intern_find(&g->kernels, op_name(g, l->ops[i]));
		g->found[i] = k == NSX_NONE ? NSX_NONE : g->inst_of[k];
		if (g->found[i] == NSX_NONE)
			continue;
		g->again += g->used[g->found[i]];
		g->used[g->found[i]] = true;
	}
	uint32_t comp = computation(g, l);
	if (comp == NSX_NONE && l->call != NSX_NONE)
		comp = g->h->insts[g->calls.p[l->call].i].runs;
	return comp == NSX_NONE || (by_order(g, l, comp, true) && by_order(g, l, comp, false));
}

/* Thunks of the operations that were told; the command buffer's own keeps the span of the others. */
static bool
split(struct graphs *g, uint32_t thunk, uint32_t program, const struct launch *l)
{
	struct ex_profile *p = g->p;
	int64_t start = INT64_MAX, end = INT64_MIN;
	uint32_t module = p->thunks.p[thunk].module;

	for (uint32_t i = 0; i < l->n; i++) {
		const struct nsx_gpu_op *op = &p->trace.ops[l->ops[i]];
		if (g->found[i] == NSX_NONE) {
			start = op->start < start ? op->start : start;
			end = op->end > end ? op->end : end;
			continue;
		}
		uint32_t inst = ex_inst(p, program, g->h->insts[g->found[i]].name, -1);
		if (inst == NSX_NONE || (p->insts.p[inst].info == NSX_NONE && !ex_describe(p, inst, g->h, &g->h->insts[g->found[i]])))
			return false;
		struct ex_thunk th = { .range = p->thunks.p[thunk].range, .module = module, .inst = inst, .start = op->start, .end = op->end,
			.device = op->device, .ops = 1 };
		if (!nsx_vec_push(&p->thunks, th))
			return false;
		p->op_thunk[l->ops[i]] = (uint32_t)p->thunks.n - 1;
		p->modules.p[module].thunks++;
		g->told++;
	}
	g->all += l->n;
	if (start == INT64_MAX) {
		p->thunks.p[thunk].gone = true;
		p->modules.p[module].thunks--;
	} else {
		p->thunks.p[thunk].start = start;
		p->thunks.p[thunk].end = end;
	}
	return true;
}

/* ---- the command buffers of all programs */

/* Operations of graph nodes, gathered by the thunk that launched them. */
static bool
gather(struct ex_profile *p)
{
	const struct nsx_trace *t = &p->trace;
	struct ex_buffers *b = &p->buffers;
	size_t nthunks = p->thunks.n;

	b->first = calloc(nthunks + 3, sizeof *b->first);
	b->ops = malloc((t->nops + (size_t)1) * sizeof *b->ops);
	for (int pass = 0; b->first && b->ops && pass < 2; pass++) {
		for (uint32_t i = 0; i < t->nops; i++) {
			uint32_t th = t->ops[i].range == NSX_NONE || t->ops[i].graph_node == -1 ? NSX_NONE : p->thunk_at[t->ops[i].range];
			if (th == NSX_NONE)
				continue;
			if (pass == 0)
				b->first[th + 2]++;
			else
				b->ops[b->first[th + 1]++] = i;
		}
		for (size_t i = 2; pass == 0 && i < nthunks + 2; i++)
			b->first[i] += b->first[i - 1];
	}
	return b->first && b->ops;
}

static int
by_program(const void *x, const void *y)
{
	const struct ex_buffer *a = x, *b = y;

	if (a->program != b->program)
		return a->program < b->program ? -1 : 1;
	return (a->thunk > b->thunk) - (a->thunk < b->thunk);
}

static bool
find_buffers(struct ex_profile *p)
{
	struct ex_buffers *b = &p->buffers;

	b->made = true;
	if (!p->trace.nops)
		return true;
	for (uint32_t i = 0; i < p->thunks.n; i++)
		if (ex_is_command_buffer(p, p->thunks.p[i].inst) &&
		    !nsx_vec_push(&b->list, ((struct ex_buffer){ p->modules.p[p->thunks.p[i].module].program, i })))
			return false;
	if (!b->list.n)
		return true;
	qsort(b->list.p, b->list.n, sizeof *b->list.p, by_program);
	b->launches = calloc(p->modules.n + 1, sizeof *b->launches);
	b->opened = calloc(p->modules.n + 1, sizeof *b->opened);
	p->op_thunk = malloc(p->trace.nops * sizeof *p->op_thunk);
	if (!b->launches || !b->opened || !p->op_thunk || !gather(p))
		return false;
	memset(p->op_thunk, 0xff, p->trace.nops * sizeof *p->op_thunk);
	return true;
}

void
ex_buffers_free(struct ex_buffers *b)
{
	free(b->list.p);
	free(b->first);
	free(b->ops);
	free(b->launches);
	free(b->opened);
}

/* Those of one program; *n of them. */
static const struct ex_buffer *
buffers_of(const struct ex_profile *p, uint32_t program, size_t *n)
{
	const struct ex_buffer *list = p->buffers.list.p;
	size_t lo = 0, hi = p->buffers.list.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (list[mid].program < program)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (*n = 0; lo + *n < p->buffers.list.n && list[lo + *n].program == program; ++*n)
		;
	return *n ? list + lo : NULL;
}

/* ---- those of one program */

/* The calls of the entry computation that run what a command buffer may hold. */
static bool
index_calls(struct graphs *g)
{
	for (uint32_t i = 0; i < g->h->ninsts; i++)
		if (g->h->insts[i].entry && g->h->insts[i].runs != NSX_NONE &&
		    !nsx_vec_push(&g->calls, ((struct nsx_sort_key){ { g->h->insts[i].order, 0, 0 }, i })))
			return false;
	nsx_sort_keys(g->calls.p, g->calls.n);
	return true;
}

static bool
open_all(struct graphs *g, uint32_t program, const struct ex_buffer *list, size_t n)
{
	struct ex_profile *p = g->p;
	const struct ex_buffers *b = &p->buffers;
	uint32_t longest = 0;
	bool good = index_kernels(g) && index_calls(g);

	for (size_t i = 0; i < n; i++) {
		uint32_t ops = b->first[list[i].thunk + 1] - b->first[list[i].thunk];
		longest = ops > longest ? ops : longest;
		b->launches[p->thunks.p[list[i].thunk].module]++;
	}
	g->found = malloc(((size_t)longest + 1) * sizeof *g->found);
	good = good && g->found;
	for (size_t i = 0; good && i < n; i++) {
		uint32_t thunk = list[i].thunk, module = p->thunks.p[thunk].module;
		struct launch l = { b->ops + b->first[thunk], b->first[thunk + 1] - b->first[thunk], NSX_NONE };
		/* Executions launch in the order of the calls; where there are as many, a launch is known by its place. */
		if (b->launches[module] == g->calls.n)
			l.call = b->opened[module]++;
		if (l.n)
			good = assign(g, &l) && split(g, thunk, program, &l);
	}
	for (size_t i = 0; i < n; i++)
		b->launches[p->thunks.p[list[i].thunk].module] = b->opened[p->thunks.p[list[i].thunk].module] = 0;
	return good;
}

int
ex_open_graphs(struct ex_profile *p, uint32_t program, const struct nsx_hlo *h)
{
	struct graphs g = { .p = p, .h = h };
	size_t n;

	if (!p->buffers.made && !find_buffers(p))
		return nsx_err_nomem(&p->err, p->input->path);
	const struct ex_buffer *list = buffers_of(p, program, &n);
	if (!n)
		return NSX_OK;
	bool good = open_all(&g, program, list, n);
	nsx_diag_add(&p->diags, NSX_INFO, p->trace.name.ptr, g.told, "GPU operations in command buffers told to be an instruction's");
	nsx_diag_add(&p->diags, NSX_WARNING, p->trace.name.ptr, g.all - g.told, "GPU operations in command buffers that could not be told to be an instruction's: they count for the command buffer");
	/* XLA compiles equal fusions once: whose turn it is, the name does not tell. */
	nsx_diag_add(&p->diags, NSX_INFO, p->trace.name.ptr, g.again, "GPU operations in command buffers have the kernel of an instruction that ran before them there: counted for it, though others may share it");
	nsx_intern_free(&g.kernels);
	free(g.inst_of);
	free(g.found);
	free(g.used);
	free(g.left.p);
	free(g.calls.p);
	free(g.rest.p);
	nsx_buf_free(&g.name);
	return good ? NSX_OK : nsx_err_nomem(&p->err, p->input->path);
}
