/* layout.c -- properties of a program that only HLO dumps have: computations of instructions, ids, groups, source stacks. */
#include <stdlib.h>
#include <string.h>

#include "synth.h"

bool
syn_recent(void)
{
	return strcmp(syn_opt.titles, "2026") == 0;
}

static bool
early(void)
{
	return strcmp(syn_opt.titles, "early") == 0;
}

/* Early dumps were written before small instructions became fusions. */
bool
syn_dumped(const struct syn_inst *in)
{
	return in->what != SYN_BUFFER && !(early() && strncmp(in->name, "wrapped_", 8) == 0);
}

/* ---- computations */

static uint32_t
home(struct syn_program *pr, enum syn_home_kind kind, const char *name, uint32_t of)
{
	syn_add(&pr->home, ((struct syn_home){ kind, name, 100 + (int64_t)pr->home.n, of, SYN_NONE, 0 }));
	return (uint32_t)pr->home.n - 1;
}

bool
syn_reduces(const struct syn_inst *in)
{
	return in->collective && strstr(in->collective, "reduce");
}

/* Instructions that run in a loop are in its body, those of a command buffer in the computation that it calls. */
static void
place_items(struct syn_plan *p, struct syn_program *pr)
{
	uint32_t body = SYN_NONE, graph = 0, nodes = SYN_NONE;

	for (size_t k = 0; k < pr->item.n; k++) {
		struct syn_item it = pr->item.p[k];
		struct syn_inst *in = &pr->inst.p[it.inst];

		if (it.act == SYN_OPEN) {
			body = in->calls[0] = home(pr, SYN_BODY, syn_fmt(p, "%s_body", in->name), it.inst);
			in->calls[1] = home(pr, SYN_COND, syn_fmt(p, "%s_cond", in->name), it.inst);
		} else if (it.act == SYN_CLOSE) {
			body = SYN_NONE;
		} else if (in->what != SYN_WHILE && in->home == SYN_NONE) {
			if (it.graph != graph && it.graph)
				nodes = home(pr, SYN_NODES, syn_fmt(p, "command_buffer.%u", it.graph), it.inst);
			graph = it.graph;
			in->home = body != SYN_NONE ? body : graph ? nodes : 0;
		}
		if (in->home == SYN_NONE)
			in->home = 0;
	}
}

static void
place_callees(struct syn_plan *p, struct syn_program *pr)
{
	uint32_t reducer = SYN_NONE;

	for (uint32_t i = 0; i < pr->inst.n; i++) {
		struct syn_inst *in = &pr->inst.p[i];

		if (in->wrapper)
			in->home = home(pr, SYN_WRAP, syn_fmt(p, "async_%s", in->name), i);
		if (strcmp(in->opcode, "fusion") == 0)
			in->calls[0] = home(pr, SYN_FUSED, in->body != SYN_NONE ? pr->comp.p[in->body].name : syn_fmt(p, "%s_computation", in->name), i);
		if (syn_reduces(in) && reducer == SYN_NONE)
			reducer = home(pr, SYN_REDUCER, "region_0.17.clone", i);
		if (syn_reduces(in))
			in->calls[0] = reducer;
		if (in->home != SYN_NONE) {
			struct syn_home *h = &pr->home.p[in->home];

			h->first = i < h->first ? i : h->first;
			h->last = i;
		}
	}
}

void
syn_layout(struct syn_plan *p, uint32_t prog)
{
	struct syn_program *pr = &p->prog.p[prog];
	int turn = 0;

	pr->local_ids = syn_recent() && (syn_opt.seed + prog) % 2;
	home(pr, SYN_ENTRY, syn_fmt(p, "main.%u_spmd", 10 * (prog + 1)), 0);
	pr->home.p[0].id = 7 + 4 * (int64_t)prog;
	place_items(p, pr);
	place_callees(p, pr);
	for (uint32_t i = 0; i < pr->inst.n; i++) {
		struct syn_inst *in = &pr->inst.p[i];

		/* Ids were small and unique in the module; now their upper half is the id of the computation. */
		if (in->what != SYN_BUFFER)
			in->uid = syn_recent() ? pr->home.p[in->home].id << 32 | (int64_t)(i + 1) : 10 + 2 * (int64_t)i;
		if (!in->collective)
			continue;
		if (in->group >= SYN_RING)
			in->form = SYN_PAIRS;
		else if (pr->replicas)
			in->form = SYN_LIST;
		else if (syn_recent())
			in->form = SYN_DEVICE_LIST + turn++ % 4;
		else if (in->group == SYN_WORLD && strcmp(in->opcode, "all-reduce") == 0)
			in->form = SYN_ALL_PARTITIONS;
		else
			in->form = in->group == SYN_WORLD && strcmp(in->opcode, "all-gather-start") == 0 ? SYN_NO_GROUPS : SYN_LIST;
		/* Only groups of equal size can be written without listing them. */
		if (in->form > SYN_DEVICE_LIST && in->form < SYN_PAIRS && syn_opt.groups > 0 && p->dev.n % (size_t)syn_opt.groups != 0)
			in->form = SYN_DEVICE_LIST;
	}
}

/* ---- groups */

/* Recent jobs count their devices in reverse order. */
int
syn_logical_device(const struct syn_plan *p, int id)
{
	return syn_recent() ? (int)p->dev.n - 1 - id : id;
}

/* The groups in order of their first devices, the devices of each in ascending order: one pass to size, one to fill. */
static void
list_groups(const struct syn_plan *p, const struct syn_inst *in, struct syn_groups *g)
{
	int n = (int)p->dev.n, size;
	size_t *at = syn_check(calloc((size_t)n, sizeof *at)), sum = 0;   /* by group: 1 + the next position */

	for (int id = 0; id < n; id++)
		syn_add(&g->id, 0);
	for (int id = 0; id < n; id++) {
		size_t *to = &at[syn_group(p, in->group, syn_logical_device(p, id), &size)];

		if (!*to) {
			*to = 1 + sum;
			sum += (size_t)size;
			syn_add(&g->end, sum);
		}
		g->id.p[(*to)++ - 1] = id;
	}
	free(at);
}

void
syn_groups(const struct syn_plan *p, const struct syn_inst *in, struct syn_groups *g)
{
	int n = (int)p->dev.n;

	*g = (struct syn_groups){ { 0 }, { 0 } };
	if (in->group < SYN_RING) {
		list_groups(p, in, g);
		return;
	}
	if (in->group > SYN_RING) {
		for (int d = in->group == SYN_ODD; d + 1 < n; d += 2) {
			syn_add(&g->id, syn_logical_device(p, d));
			syn_add(&g->id, syn_logical_device(p, d + 1));
			syn_add(&g->end, g->id.n);
		}
		return;
	}
	for (int first = 0; first < n; first++) {
		syn_add(&g->id, first);
		syn_add(&g->id, (first + 1) % n);
		syn_add(&g->end, g->id.n);
	}
}

int
syn_first_group(const struct syn_plan *p, const struct syn_inst *in)
{
	int size;

	syn_group(p, in->group, syn_logical_device(p, 0), &size);
	return size;
}

/* ---- names */

const char *
syn_stack(struct syn_plan *p, uint32_t frame)
{
	const struct syn_frame *f;
	const char *inner;

	if (frame == SYN_NONE)
		return "";
	f = &p->frame.p[frame];
	/* Before the table of frames existed: one line. */
	if (early())
		return syn_fmt(p, "%s:%d", f->file, f->line);
	inner = syn_recent() && f->column ? syn_fmt(p, "%s:%d:%d[%s]", f->file, f->line, f->column, f->function) : syn_fmt(p, "%s:%d[%s]", f->file, f->line, f->function);
	return f->parent == SYN_NONE ? inner : syn_fmt(p, "%s;%s", syn_stack(p, f->parent), inner);
}

const char *
syn_fingerprint(struct syn_plan *p, uint32_t proc, uint32_t prog)
{
	const struct syn_program *pr = &p->prog.p[prog];
	uint64_t h = nsx_hash(pr->name, strlen(pr->name)) + prog + (syn_opt.disagree ? 1000 * (uint64_t)proc : 0);

	return syn_fmt(p, "%016llx%016llx", (unsigned long long)nsx_hash_u64(h), (unsigned long long)nsx_hash_u64(h + 99));
}

/* Fusions consist of instructions with another scheduling name. */
const char *
syn_scheduling_name(struct syn_plan *p, const struct syn_inst *in)
{
	if (!syn_recent())
		return "";
	return strncmp(in->name, "gemm_fusion", 11) == 0 ? syn_fmt(p, "triton_%s", in->name) : in->name;
}

struct syn_inst
syn_reducer(struct syn_plan *p, const struct syn_program *pr)
{
	struct syn_inst in = { .name = "region_add.1", .opcode = "add", .nin = 1, .frame = SYN_NONE, .body = SYN_NONE };

	/* In a program of --xla26 computations called by a fusion have a different op_name, which shortens the fusion's
	 * title. */
	in.op_name = syn_fmt(p, "jit(%s)/jit(main)/%s", pr->name + 4, pr->tree ? "pool/add" : "reduce_sum[axes=(0,)]");
	in.in[0] = in.out = (struct syn_shape){ 11, 0, { 0 } };
	/* If the program has source locations, this instruction has one too. */
	for (size_t i = 0; i < pr->inst.n && in.frame == SYN_NONE; i++)
		if (pr->inst.p[i].frame != SYN_NONE)
			in.frame = p->frame.p[pr->inst.p[i].frame].parent;
	return in;
}
