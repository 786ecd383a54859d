/* x26_expected.c -- the results that tools must have for the exports of --xla26. Each thunk is known from the plan; which operations of
 * graphs can be assigned to their instruction follows from the contents of the export and the files beside it: an execution of the command
 * buffer that ran op by op, a list of thunks that matches, a name that only one instruction can have. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "x26.h"

enum source { OP_BY_OP, LIST, NAME, LEFT, SOURCES };
static const char *const sources[] = { "execution", "list", "name", "left" };

/* The contents of a capture. */
struct sight {
	bool *seen;         /* by export and step: ran op by op */
	uint32_t *first;    /* of seen, by program */
	uint32_t steps;
	bool *own;          /* by step: no other instruction can have the name of its kernel */
};

static bool
alone(const struct syn_program *pr, const struct x26_step *s)
{
	const struct syn_inst *in = &pr->inst.p[s->inst];
	const char *name = in->name, *k = s->kernel[0];

	if (s->kind != X26_FUSION)
		return false;
	for (; *name && *k; name++, k++)
		if (*k != (*name == '.' || *name == '-' ? '_' : *name))
			break;
	if (*name || *k)
		return false;
	for (size_t i = 0; i < pr->inst.n; i++)
		if (&pr->inst.p[i] != in && pr->inst.p[i].same == in->same)
			return false;
	return true;
}

static void
look(const struct syn_plan *p, struct sight *v)
{
	v->first = syn_check(calloc(p->prog.n + 1, sizeof *v->first));
	for (size_t g = 0; g < p->prog.n; g++) {
		v->first[g] = v->steps;
		v->steps += (uint32_t)p->prog.p[g].tree->step.n;
	}
	v->seen = syn_check(calloc((size_t)p->nxports * v->steps + 1, sizeof *v->seen));
	v->own = syn_check(calloc(v->steps + 1, sizeof *v->own));
	for (size_t g = 0; g < p->prog.n; g++)
		for (size_t i = 0; i < p->prog.p[g].tree->step.n; i++)
			v->own[v->first[g] + i] = alone(&p->prog.p[g], &p->prog.p[g].tree->step.p[i]);
	for (size_t i = 1; i < p->unit.n; i++) {
		const struct syn_unit *u = &p->unit.p[i];

		if (!u->graph && u->t.keep)
			v->seen[p->proc.p[p->dev.p[u->t.dev].proc].xport * v->steps + v->first[p->module.p[u->t.module].prog] + u->step] = true;
	}
}

static enum source
source_of(const struct syn_plan *p, const struct sight *v, const struct syn_unit *u, bool dump)
{
	uint32_t prog = p->module.p[u->t.module].prog, at = v->first[prog] + u->step;

	if (v->seen[p->proc.p[p->dev.p[u->t.dev].proc].xport * v->steps + at])
		return OP_BY_OP;
	if (dump && p->prog.p[prog].tree->step.p[u->step].fits)
		return LIST;
	return dump && v->own[at] ? NAME : LEFT;
}

/* Times of thunks on the export's clock, from the operations that it shows; which thunks and modules count. */
void
x26_judge(struct syn_plan *p)
{
	for (size_t i = 0; i < p->op.n; i++) {
		const struct syn_op *op = &p->op.p[i];
		struct syn_unit *u = &p->unit.p[op->unit];
		uint32_t proc = p->dev.p[op->dev].proc;
		int64_t s, e;

		if (op->gone || p->call.p[op->call].gone)
			continue;
		s = syn_local(p, proc, op->start);
		e = syn_local(p, proc, op->end);
		if (!u->ops || s < u->start)
			u->start = s;
		if (!u->ops || e > u->end)
			u->end = e;
		u->ops++;
		u->t.works |= syn_works(op);
	}
	for (size_t i = 1; i < p->unit.n; i++) {
		struct syn_unit *u = &p->unit.p[i];
		struct syn_module *m = &p->module.p[u->t.module];

		u->t.start = u->start;
		u->t.end = u->end;
		u->t.ops = u->ops;
		u->t.keep = u->ops && !p->range.p[m->range].gone;
		m->keep = m->keep || u->t.keep;
	}
}

struct count { int64_t n, ns; };

/* plan.split: the thunks that a tool finds. count[] gets the number of operations in graphs, by export and source. */
static void
tell(struct syn_plan *p, const struct sight *v, bool dump, struct count *count)
{
	p->split.n = 0;
	for (size_t i = 1; i < p->unit.n; i++) {
		const struct syn_unit *u = &p->unit.p[i];
		struct syn_thunk t = u->t;

		if (!t.keep)
			continue;
		if (u->graph && source_of(p, v, u, dump) == LEFT)
			continue;
		syn_add(&p->split, t);
	}
	for (size_t i = 0; i < p->op.n; i++) {
		const struct syn_op *op = &p->op.p[i];
		const struct syn_unit *u = &p->unit.p[op->unit];
		uint32_t proc = p->dev.p[op->dev].proc, prog;
		enum source how;
		struct syn_thunk t = u->t;

		if (op->gone || !op->unit || !t.keep || !u->graph)
			continue;
		prog = p->module.p[t.module].prog;
		how = source_of(p, v, u, dump);
		t.start = syn_local(p, proc, op->start);
		t.end = syn_local(p, proc, op->end);
		if (count) {
			count[p->proc.p[proc].xport * SOURCES + how].n++;
			count[p->proc.p[proc].xport * SOURCES + how].ns += t.end - t.start;
		}
		if (how != LEFT)
			continue;
		t.inst = syn_rest(p, &p->prog.p[prog], u->buffer, &p->prog.p[prog].inst.p[u->t.inst]);
		t.ops = 1;
		t.works = syn_works(op);
		syn_add(&p->split, t);
	}
	syn_number(p, p->split.p, p->split.n);
}

static void
by_source(struct syn_plan *p, const char *file, const struct count *count)
{
	struct syn_tsv t;

	syn_tsv_open(&t, file, "profile\tsource\toperations\tns");
	for (uint32_t e = 0; e < p->nxports; e++)
		for (int k = 0; k < SOURCES; k++)
			syn_tsv_row(&t, "%s\t%s\t%" PRId64 "\t%" PRId64, syn_profile(p, e), sources[k], count[e * SOURCES + (uint32_t)k].n, count[e * SOURCES + (uint32_t)k].ns);
	syn_tsv_close(&t);
}

/* Operations directly under a loop or conditional, in modules that count. */
static void
direct(struct syn_plan *p)
{
	struct count *count = syn_check(calloc(p->nxports, sizeof *count));
	struct syn_tsv t;

	for (size_t i = 0; i < p->op.n; i++) {
		const struct syn_op *op = &p->op.p[i];
		uint32_t proc = p->dev.p[op->dev].proc;

		if (op->unit || op->gone || p->call.p[op->call].gone || !p->module.p[p->call.p[op->call].module].keep)
			continue;
		count[p->proc.p[proc].xport].n++;
		count[p->proc.p[proc].xport].ns += syn_local(p, proc, op->end) - syn_local(p, proc, op->start);
	}
	syn_tsv_open(&t, "direct", "profile\toperations\tns");
	for (uint32_t e = 0; e < p->nxports; e++)
		syn_tsv_row(&t, "%s\t%" PRId64 "\t%" PRId64, syn_profile(p, e), count[e].n, count[e].ns);
	syn_tsv_close(&t);
	free(count);
}

/* Thunks and time of each name, of all devices and executions. */
static void
sums(struct syn_plan *p, const char *file)
{
	uint32_t *first = syn_check(calloc(p->prog.n + 1, sizeof *first)), n = 0;
	struct count *count;
	struct syn_tsv t;

	for (size_t g = 0; g < p->prog.n; g++) {
		first[g] = n;
		n += (uint32_t)p->prog.p[g].inst.n;
	}
	count = syn_check(calloc(n + 1, sizeof *count));
	for (size_t i = 0; i < p->split.n; i++) {
		struct count *c = &count[first[p->module.p[p->split.p[i].module].prog] + p->split.p[i].inst];

		c->n++;
		c->ns += p->split.p[i].end - p->split.p[i].start;
	}
	syn_tsv_open(&t, file, "program_id\tname\tcount\tdur");
	for (uint32_t g = 0; g < p->prog.n; g++)
		for (uint32_t i = 0; i < p->prog.p[g].inst.n; i++)
			if (count[first[g] + i].n)
				syn_tsv_row(&t, "%" PRId64 "\t%s\t%" PRId64 "\t%" PRId64, syn_program_id(0, &p->prog.p[g]), p->prog.p[g].inst.p[i].name,
				            count[first[g] + i].n, count[first[g] + i].ns);
	syn_tsv_close(&t);
	free(count);
	free(first);
}

void
x26_answers(struct syn_plan *p)
{
	struct count *count = syn_check(calloc((size_t)p->nxports * SOURCES, sizeof *count));
	struct sight v = { 0 };

	look(p, &v);
	if (!syn_opt.nodes) {
		tell(p, &v, false, count);
		syn_answer_modules(p, "modules", false, p->split.p, p->split.n);
		syn_answer_thunks(p, "thunks", p->split.p, p->split.n, false);
		by_source(p, "graphs", count);
		memset(count, 0, (size_t)p->nxports * SOURCES * sizeof *count);
	}
	tell(p, &v, true, count);
	if (!syn_opt.nodes) {
		syn_answer_modules(p, "modules_dump", false, p->split.p, p->split.n);
		syn_answer_thunks(p, "thunks_dump", p->split.p, p->split.n, false);
		syn_answer_collectives(p);
	}
	syn_answer_insts(p);
	sums(p, "sums_dump");
	by_source(p, "graphs_dump", count);
	direct(p);
	free(v.own);
	free(v.seen);
	free(v.first);
	free(count);
}
