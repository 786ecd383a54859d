/* x26_list.c -- XLA's list of a program's thunks, in its two files, and the nodes of graphs that it identifies. Forms:
 * with --lists good the list contains what ran; with short a thunk is missing in one of the files; other is the list of
 * another compilation, with other thunks in the first command buffer. */
#include <stdlib.h>
#include <string.h>

#include "../unit/pb.h"
#include "dump.h"
#include "x26.h"

/* Groups that the list distinguishes: kernels of one name, NCCL's, copies, memsets, kernels of libraries. */
static uint64_t
group_of(const struct x26_step *s, int k)
{
	switch (s->kind) {
	case X26_COLLECTIVE:  return 1;
	case X26_SLICE:
	case X26_COPY:        return 2;
	case X26_SET:         return 3;
	case X26_LIBRARY:     return 4;
	default:              return nsx_hash(s->kernel[k], strlen(s->kernel[k])) | 16;
	}
}

static bool
is_first_buffer(const struct syn_program *pr, uint32_t buffer)
{
	return buffer != SYN_NONE && strcmp(pr->inst.p[buffer].name, "command_buffer_1") == 0;
}

/* The number of additional thunks of that group in the list of another compilation: one in the first command buffer. */
static int
more(const struct syn_program *pr, uint32_t buffer, uint64_t group)
{
	static const struct x26_step extra = { .kind = X26_FUSION, .kernel = { "gemm_fusion_dot_67" } };

	return x26_lists() == X26_OTHER && is_first_buffer(pr, buffer) && (group <= 2 || group == group_of(&extra, 0));
}

/* The nodes of a step can be assigned if the list has as many thunks of each of its groups in the buffer as there are
 * nodes. */
void
x26_fit(struct syn_plan *p, uint32_t prog)
{
	struct syn_program *pr = &p->prog.p[prog];
	struct x26_tree *t = pr->tree;

	for (size_t i = 0; i < t->step.n; i++) {
		struct x26_step *s = &t->step.p[i];

		s->fits = s->kernels && s->buffer != SYN_NONE && (x26_lists() == X26_GOOD || x26_lists() == X26_OTHER);
		for (int k = 0; k < s->kernels && s->fits; k++) {
			uint64_t group = group_of(s, k);
			int listed = more(pr, s->buffer, group), nodes = 0;

			for (size_t j = 0; j < t->step.n; j++) {
				const struct x26_step *o = &t->step.p[j];
				bool has = false;

				for (int q = 0; o->buffer == s->buffer && q < o->kernels; q++)
					if (group_of(o, q) == group) {
						has = true;
						nodes++;
					}
				listed += has;
			}
			s->fits = listed == nodes;
		}
	}
}

/* ---- the files */

struct list {
	struct syn_plan          *p;
	const struct syn_program *pr;
	struct nsx_buf text;
	pb       meta;
	int64_t  id, hide;    /* the next number; the number of the thunk that is missing in the metadata */
};

static void
line(struct list *l, int depth, int64_t id, const char *kind, const char *rest)
{
	static const char *const edges[] = { "[source       | next=014 (2)]", "[prev=003 (1) | sink        ]", "[prev=002 (4) | next=017 (1)]", "[source | sink]" };

	nsx_buf_str(&l->text, nsx_str_c(syn_fmt(l->p, "%*s%03lld: %-15s %s %s\n", 4 * depth, "", (long long)id, kind, edges[id % 4], rest)));
}

/* id -1: no id is written. */
static void
record(struct list *l, const char *name, int64_t id, const char *kind)
{
	pb thunk = { 0 }, info = { 0 };

	if (id >= 0 && id == l->hide)
		return;
	pb_str(&info, 1, name);
	if (id > 0)
		pb_int(&info, 3, id);
	dump_msg(&thunk, 1, &info);
	pb_str(&thunk, 2, kind);
	dump_msg(&l->meta, 1, &thunk);
}

static void
entry(struct list *l, int depth, const char *name, const char *kind, const char *rest)
{
	int64_t id = l->id++;

	line(l, depth, id, kind, rest);
	record(l, name, id, kind);
}

static void
leaf(struct list *l, int depth, const struct x26_step *s)
{
	const struct syn_inst *in = &l->pr->inst.p[s->inst];

	if (s->outer != SYN_NONE) {
		const char *rest = syn_fmt(l->p, "stream=communication_stream[0], async_id=%lld", (long long)l->id + 1);

		/* An instruction in a start is numbered before it. */
		line(l, depth, l->id + 1, "kAsyncStart", rest);
		record(l, in->wrapper ? in->wrapper : in->name, l->id + 1, "kAsyncStart");
		depth++;
	}
	if (in->inside != SYN_NONE) {
		int64_t id = l->id + (s->outer == SYN_NONE ? 0 : 2);

		line(l, depth, id, "kDynamicSliceFusion", "params=1, results=1");
		record(l, in->name, id, "kDynamicSliceFusion");
		depth++;
		line(l, depth, id + 1, "kCopy", "kCopy");
		record(l, l->pr->inst.p[in->inside].name, id + 1, "kCopy");
		l->id = id + 2;
		return;
	}
	line(l, depth, l->id, s->listed,
	     s->kind == X26_FUSION ? syn_fmt(l->p, "%s grid: [%d, 1, 1] threads: [128, 1, 1]  shared_memory: 0 bytes", s->kernel[0], 16 * (1 + (int)(s->inst % 7))) : s->listed);
	record(l, in->name, l->id, s->listed);
	l->id += s->outer == SYN_NONE ? 1 : 2;
}

static void
label(struct list *l, int spaces, const char *text)
{
	nsx_buf_str(&l->text, nsx_str_c(syn_fmt(l->p, "%*s%s:\n", spaces, "", text)));
}

static void
list(struct list *l, uint32_t n, int depth)
{
	const struct x26_tree *t = l->pr->tree;

	for (; n != SYN_NONE; n = t->step.p[n].next) {
		const struct x26_step *s = &t->step.p[n];
		const char *name = l->pr->inst.p[s->inst].name;

		switch (s->kind) {
		case X26_BUFFER:
			line(l, depth, 0, "kCommandBuffer", "");
			record(l, name, 0, "kCommandBuffer");
			record(l, "", -1, "kSequential");
			list(l, s->child, depth + 1);
			if (x26_lists() == X26_OTHER && is_first_buffer(l->pr, s->inst)) {
				entry(l, depth + 1, "gemm_fusion_dot.67", "kCustomKernel", "gemm_fusion_dot_67 grid: [16, 1, 1] threads: [128, 1, 1]  shared_memory: 0 bytes");
				entry(l, depth + 1, "copy.777", "kCopy", "kCopy");
				entry(l, depth + 1, "all-reduce.77", "kAllReduce", "kAllReduce");
			}
			break;
		case X26_WHILE:
			entry(l, depth, name, "kWhile", " ");
			label(l, 4 * depth, "condition");
			list(l, s->other, depth + 1);
			label(l, 4 * depth + 2, "body");
			list(l, s->child, depth + 1);
			break;
		case X26_CHOICE:
			entry(l, depth, name, "kConditional", "");
			label(l, 4 * depth, "branch_0");
			list(l, s->child, depth + 1);
			label(l, 4 * depth, "branch_1");
			list(l, s->other, depth + 1);
			break;
		case X26_DONE:
			entry(l, depth, name, "kAsyncDone", "async_id=4");
			break;
		default:
			leaf(l, depth, s);
		}
	}
}

void
x26_write_lists(struct syn_plan *p, uint32_t prog, const char *base)
{
	struct list l = { .p = p, .pr = &p->prog.p[prog], .id = 1, .hide = x26_lists() == X26_SHORT ? 6 : -2 };

	/* A program without command buffers has none. */
	if (x26_lists() == X26_NO_LISTS || !l.pr->tree->buffers)
		return;
	list(&l, 0, 0);
	if (l.text.failed || l.meta.failed)
		syn_die("out of memory");
	syn_write_dump(syn_fmt(p, "%s.thunk_sequence_after_thunk_passes.txt", base), &l.text);
	syn_write_dump(syn_fmt(p, "%s.thunk_metadata.pb", base), &l.meta);
	nsx_buf_free(&l.text);
	nsx_buf_free(&l.meta);
}
