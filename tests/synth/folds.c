/* folds.c -- expected results with dumps: instructions, and GPU time by source, op_name, opcode and module. They
 * come from the plan's instructions and its schedule. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "synth.h"

/* ---- instructions */

/* One number for every instruction of the plan: index of inst in prog is first[prog] + inst. */
static uint32_t *
first_numbers(const struct syn_plan *p, uint32_t *n)
{
	uint32_t *first = syn_check(malloc((p->prog.n + 1) * sizeof *first));

	*n = 0;
	for (size_t g = 0; g < p->prog.n; g++) {
		first[g] = *n;
		*n += (uint32_t)p->prog.p[g].inst.n;
	}
	return first;
}

static void
mark(const struct syn_plan *p, const struct syn_thunk *list, size_t n, const uint32_t *first, bool *executed)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].keep && p->module.p[list[i].module].prog != SYN_NONE)
			executed[first[p->module.p[list[i].module].prog] + list[i].inst] = true;
}

/* The devices of each group, as the instruction lists them; all devices if it lists none. */
static const char *
members(struct syn_plan *p, const struct syn_inst *in)
{
	struct nsx_buf text = { 0 };
	struct nsx_str whole;
	struct syn_groups g;
	size_t from = 0;

	if (!in->collective)
		return "";
	syn_groups(p, in, &g);
	for (size_t k = 0; k < g.end.n; k++)
		for (bool first = true; from < g.end.p[k]; from++, first = false)
			nsx_buf_fmt(&text, "%s%d", !first ? "," : k ? ";" : "", syn_logical_device(p, g.id.p[from]));
	free(g.id.p);
	free(g.end.p);
	whole = nsx_arena_str(&p->arena, nsx_buf_view(&text));
	nsx_buf_free(&text);
	return syn_check((void *)(uintptr_t)whole.ptr);
}

void
syn_answer_insts(struct syn_plan *p)
{
	uint32_t n, *first = first_numbers(p, &n);
	bool *executed = syn_check(calloc(n + 1, sizeof *executed));
	struct syn_tsv t;

	mark(p, p->thunk.p, p->thunk.n, first, executed);
	mark(p, p->split.p, p->split.n, first, executed);
	/* program_id as process 0 has it. */
	syn_tsv_open(&t, "insts", "program_id\tname\tinstruction\topcode\tcomm\tcollective\tbytes\tgroups\top_name\tscheduling_name");
	for (uint32_t g = 0; g < p->prog.n; g++)
		for (uint32_t i = 0; i < p->prog.p[g].inst.n; i++) {
			const struct syn_inst *in = &p->prog.p[g].inst.p[i];
			const char *scheduled = syn_scheduling_name(p, in);

			if (!executed[first[g] + i])
				continue;
			if (!syn_dumped(in)) {
				syn_tsv_row(&t, "%" PRId64 "\t%s\t%s\t\t%d\t%s\t\t\t\t", syn_program_id(0, &p->prog.p[g]), p->prog.p[g].name, in->name, in->collective != NULL,
				            in->collective ? in->collective : "");
				continue;
			}
			syn_tsv_row(&t, "%" PRId64 "\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s", syn_program_id(0, &p->prog.p[g]), p->prog.p[g].name, in->name, in->opcode,
			            in->collective != NULL, in->collective ? in->collective : "",
			            in->collective ? syn_fmt(p, "%" PRId64, syn_bytes(p, in, syn_logical_device(p, 0))) : "", members(p, in), in->op_name,
			            strcmp(scheduled, in->name) == 0 ? "" : scheduled);
		}
	syn_tsv_close(&t);
	free(executed);
	free(first);
}

/* ---- folded stacks */

enum by { SOURCE, OP_NAME, OPCODE, MODULE };

/* Shares are in 27720ths: the least common multiple of 1 to 12. */
enum { PARTS = 27720, MOST = 12 };
struct place { const char *op_name, *stack; };
struct line { uint32_t text; __int128 parts; int64_t ns; };
struct folded { NSX_VEC(struct line) line; struct nsx_map at; };

static void
count(struct syn_plan *p, struct folded *f, const char *text, int64_t ns, int n)
{
	uint32_t name = syn_name(p, text), *at = syn_check(nsx_map_at(&f->at, (struct nsx_key){ name, 0 }));

	if (*at == NSX_NONE) {
		*at = (uint32_t)f->line.n;
		syn_add(&f->line, ((struct line){ name, 0, 0 }));
	}
	f->line.p[*at].parts += (__int128)ns * PARTS / n;
}

static void
place(struct syn_plan *p, struct place *v, int *n, const struct syn_inst *in)
{
	struct place new = { in->op_name, syn_stack(p, in->frame) };

	for (int i = 0; i < *n; i++)
		if (strcmp(v[i].op_name, new.op_name) == 0 && strcmp(v[i].stack, new.stack) == 0)
			return;
	if (!*new.op_name && !*new.stack)
		return;
	if (*n == MOST)
		syn_die("an instruction has too many places");
	v[(*n)++] = new;
}

/* Its place and those of the direct instructions of the computations that it calls. */
static int
places(struct syn_plan *p, const struct syn_program *pr, const struct syn_inst *in, struct place *v)
{
	struct syn_inst add;
	int n = 0;

	if (!syn_dumped(in))
		return 0;
	place(p, v, &n, in);
	for (uint32_t k = 0; in->body != SYN_NONE && k < pr->comp.p[in->body].n; k++)
		place(p, v, &n, &pr->inner.p[pr->comp.p[in->body].first + k]);
	if (syn_reduces(in)) {
		add = syn_reducer(p, pr);
		place(p, v, &n, &add);
		add.frame = SYN_NONE;   /* of its parameters */
		place(p, v, &n, &add);
	}
	return n;
}

/* A frame: ';' would end it. */
static const char *
clean(struct syn_plan *p, const char *text)
{
	char *s = nsx_str_dup(nsx_str_c(text));
	const char *out;

	for (char *c = syn_check(s); *c; c++)
		*c = *c == ';' ? ',' : *c;
	out = syn_fmt(p, "%s", s);
	free(s);
	return out;
}

static const char *
slashes(struct syn_plan *p, const char *op_name)
{
	char *s = nsx_str_dup(nsx_str_c(clean(p, op_name)));
	const char *out;

	for (char *c = syn_check(s); *c; c++)
		*c = *c == '/' ? ';' : *c;
	out = syn_fmt(p, "[GPU active];%s", s);
	free(s);
	return out;
}

static void
count_source(struct syn_plan *p, struct folded *f, const struct place *v, int n, int64_t ns)
{
	int frames = 0, names = 0;

	for (int i = 0; i < n; i++) {
		frames += *v[i].stack != '\0';
		names += *v[i].op_name != '\0';
	}
	for (int i = 0; i < n; i++) {
		const char *op = *v[i].op_name ? syn_fmt(p, ";%s", clean(p, v[i].op_name)) : "";

		if (frames && *v[i].stack)
			count(p, f, syn_fmt(p, "[GPU active];%s%s", v[i].stack, op), ns, frames);
		else if (!frames && *op)
			count(p, f, syn_fmt(p, "[GPU active];[Unknown]%s", op), ns, names);
	}
	if (!n)
		count(p, f, "[GPU active];[Unknown]", ns, 1);
}

static void
count_op_name(struct syn_plan *p, struct folded *f, const struct place *v, int n, int64_t ns)
{
	const char *name[MOST];
	int names = 0;

	for (int i = 0; i < n; i++) {
		bool seen = !*v[i].op_name;

		for (int k = 0; k < names; k++)
			seen |= strcmp(name[k], v[i].op_name) == 0;
		if (!seen)
			name[names++] = v[i].op_name;
	}
	for (int i = 0; i < names; i++)
		count(p, f, slashes(p, name[i]), ns, names);
	if (!names)
		count(p, f, "[GPU active];[Unknown]", ns, 1);
}

static void
count_inst(struct syn_plan *p, struct folded *f, enum by by, const struct syn_program *pr, const struct syn_inst *in, int64_t ns)
{
	struct place v[MOST];

	switch (by) {
	case SOURCE:
		count_source(p, f, v, places(p, pr, in, v), ns);
		break;
	case OP_NAME:
		count_op_name(p, f, v, places(p, pr, in, v), ns);
		break;
	case OPCODE:
		count(p, f, syn_fmt(p, "[GPU active];%s", syn_dumped(in) ? in->opcode : "[no instruction]"), ns, 1);
		break;
	case MODULE:
		count(p, f, syn_fmt(p, "[GPU active];%s;%s", pr->name, in->name), ns, 1);
	}
}

/* Steady module time of all devices, and that from the first start to the last end on each. */
static void
module_time(const struct syn_plan *p, int64_t *sum, int64_t *span)
{
	*sum = *span = 0;
	for (uint32_t d = 0; d < p->dev.n; d++) {
		int64_t first = INT64_MAX, last = INT64_MIN;

		for (size_t i = 0; i < p->module.n; i++) {
			const struct syn_module *m = &p->module.p[i];

			if (!m->keep || !m->steady || m->prog == SYN_NONE || m->dev != d)
				continue;
			*sum += m->end - m->start;
			first = m->start < first ? m->start : first;
			last = m->end > last ? m->end : last;
		}
		if (first < last)
			*span += last - first;
	}
}

static const struct syn_plan *sorting;

static int
by_text(const void *a, const void *b)
{
	return strcmp(syn_str(sorting, ((const struct line *)a)->text), syn_str(sorting, ((const struct line *)b)->text));
}

static int
by_rest(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int64_t p = (int64_t)(x->parts % PARTS), q = (int64_t)(y->parts % PARTS);

	return p != q ? p > q ? -1 : 1 : by_text(a, b);
}

/* Whole nanoseconds: those missing from the sum are added to the largest remainders. */
static void
share(struct folded *f)
{
	__int128 rest = 0;

	for (size_t i = 0; i < f->line.n; i++) {
		f->line.p[i].ns = (int64_t)(f->line.p[i].parts / PARTS);
		rest += f->line.p[i].parts % PARTS;
	}
	if (rest % PARTS)
		syn_die("the shares of time are not whole");
	qsort(f->line.p, f->line.n, sizeof *f->line.p, by_rest);
	for (size_t i = 0; i < (size_t)(rest / PARTS); i++)
		f->line.p[i].ns++;
}

static void
fold(struct syn_plan *p, enum by by, const char *file)
{
	const struct syn_thunk *list = syn_opt.graphs ? p->split.p : p->thunk.p;
	size_t n = syn_opt.graphs ? p->split.n : p->thunk.n;
	uint32_t all, *first = first_numbers(p, &all);
	int64_t active = 0, modules, span, *ns = syn_check(calloc(all + 1, sizeof *ns));
	struct folded f = { { 0 }, { 0 } };
	struct syn_tsv t;

	for (size_t i = 0; i < n; i++) {
		const struct syn_module *m = &p->module.p[list[i].module];

		if (list[i].keep && m->prog != SYN_NONE && m->steady)
			ns[first[m->prog] + list[i].inst] += list[i].end - list[i].start - list[i].hidden;
	}
	for (uint32_t g = 0; g < p->prog.n; g++)
		for (uint32_t i = 0; i < p->prog.p[g].inst.n; i++) {
			active += ns[first[g] + i];
			if (ns[first[g] + i])
				count_inst(p, &f, by, &p->prog.p[g], &p->prog.p[g].inst.p[i], ns[first[g] + i]);
		}
	module_time(p, &modules, &span);
	if (modules > active)
		count(p, &f, "[GPU idle during module execution]", modules - active, 1);
	if (span > modules)
		count(p, &f, "[GPU idle between module executions]", span - modules, 1);
	sorting = p;
	if (f.line.n) {
		share(&f);
		qsort(f.line.p, f.line.n, sizeof *f.line.p, by_text);
	}
	syn_tsv_open(&t, file, "stack\tns");
	for (size_t i = 0; i < f.line.n; i++)
		if (f.line.p[i].ns)
			syn_tsv_row(&t, "%s\t%" PRId64, syn_str(p, f.line.p[i].text), f.line.p[i].ns);
	syn_tsv_close(&t);
	nsx_map_free(&f.at);
	free(f.line.p);
	free(first);
	free(ns);
}

void
syn_folds(struct syn_plan *p)
{
	syn_answer_insts(p);
	fold(p, SOURCE, "fold_source");
	fold(p, OP_NAME, "fold_op_name");
	fold(p, OPCODE, "fold_opcode");
	fold(p, MODULE, "fold_module");
}
