/* judge.c -- modules, thunks and communication from the structure of the plan: the module of each thunk, and hidden times. If the projection by definition differs, the plan is wrong and nothing is written. */
#include <stdlib.h>

#include "x26.h"

static const struct syn_thunk *sorting;

static void
widen(int64_t *start, int64_t *end, int64_t n, int64_t s, int64_t e)
{
	if (!n || s < *start)
		*start = s;
	if (!n || e > *end)
		*end = e;
}

bool
syn_works(const struct syn_op *op)
{
	return op->type == SYN_KERNEL || op->type == SYN_GRAPH;
}

/* Give each operation to its module and to the thunks around its call; a call counts once, however many operations it
 * launches. */
static void
collect(struct syn_plan *p)
{
	uint8_t *seen = syn_check(calloc(p->call.n + 1, 1));

	for (size_t i = 0; i < p->op.n; i++) {
		const struct syn_op *op = &p->op.p[i];
		const struct syn_call *c = op->call == SYN_NONE ? NULL : &p->call.p[op->call];
		uint32_t proc = p->dev.p[op->dev].proc;
		int64_t s, e, first;

		if (op->gone || !c || c->gone)
			continue;
		first = !seen[op->call];
		seen[op->call] = 1;
		s = syn_local(p, proc, op->start);
		e = syn_local(p, proc, op->end);
		if (c->module != SYN_NONE) {
			struct syn_module *m = &p->module.p[c->module];

			widen(&m->start, &m->end, m->ops, s, e);
			m->ops += first;
		}
		for (uint32_t k = c->thunk; k != SYN_NONE; k = p->thunk.p[k].outer) {
			struct syn_thunk *t = &p->thunk.p[k];

			widen(&t->start, &t->end, t->ops, s, e);
			t->ops += first;
			t->works |= syn_works(op);
		}
	}
	free(seen);
}

static void
agree(const struct syn_plan *p, uint32_t range, int64_t start, int64_t end, int64_t ops)
{
	const struct syn_range *r = &p->range.p[range];

	if (!r->gone && (r->ops != ops || (ops && (r->gpu_start != start || r->gpu_end != end))))
		syn_die("the plan contradicts itself about %s", syn_str(p, r->name));
}

static void
choose(struct syn_plan *p)
{
	for (size_t i = 0; i < p->module.n; i++) {
		const struct syn_module *m = &p->module.p[i];

		agree(p, m->range, m->start, m->end, m->ops);
	}
	for (size_t i = 0; i < p->thunk.n; i++) {
		const struct syn_thunk *t = &p->thunk.p[i];

		agree(p, t->range, t->start, t->end, t->ops);
		if (t->ops && !p->range.p[t->range].gone)
			for (uint32_t k = t->outer; k != SYN_NONE; k = p->thunk.p[k].outer)
				p->thunk.p[k].inner = true;
	}
	for (size_t i = 0; i < p->thunk.n; i++) {
		struct syn_thunk *t = &p->thunk.p[i];
		struct syn_module *m = t->module == SYN_NONE ? NULL : &p->module.p[t->module];

		/* Those of --xla26 are classified by their operations, in any range. */
		t->keep = !syn_opt.xla26 && t->ops && !t->inner && !p->range.p[t->range].gone && m && !p->range.p[m->range].gone && !p->range.p[m->range].open;
		if (t->keep) {
			m->keep = true;
			m->thunks++;
		}
	}
}

static int
by_gpu(const void *a, const void *b)
{
	const struct syn_thunk *x = &sorting[*(const uint32_t *)a], *y = &sorting[*(const uint32_t *)b];

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static bool
computes(const struct syn_plan *p, const struct syn_thunk *t)
{
	return t->meet.instance == SYN_NONE && p->module.p[t->module].prog != SYN_NONE && t->works;
}

/* The part of [t->start, t->end) in which other thunks of the n compute, overlapping ones counted once; those that only
 * copy do not compute. The thunks of a
 * device are sorted by start, and v[i] is t; nothing lasts longer than 50 ms, so nothing that starts more than 50 ms
 * before t overlaps it. */
static int64_t
hidden(const struct syn_plan *p, const struct syn_thunk *list, const uint32_t *v, size_t n, size_t i)
{
	const struct syn_thunk *t = &list[v[i]];
	int64_t at = t->start, sum = 0;
	size_t k = i;

	while (k > 0 && list[v[k - 1]].dev == t->dev && list[v[k - 1]].start > t->start - 50000000)
		k--;
	for (; k < n && list[v[k]].dev == t->dev && list[v[k]].start < t->end; k++) {
		const struct syn_thunk *c = &list[v[k]];
		int64_t s = c->start > at ? c->start : at, e = c->end < t->end ? c->end : t->end;

		if (!computes(p, c) || e <= s)
			continue;
		sum += e - s;
		at = e;
	}
	return sum;
}

/* Occurrences in order of GPU start, and hidden time of communication. */
void
syn_number(struct syn_plan *p, struct syn_thunk *list, size_t nlist)
{
	uint32_t *order = syn_check(malloc((nlist + 1) * sizeof *order));
	size_t n = 0;
	struct nsx_map count = { 0 };

	for (uint32_t i = 0; i < nlist; i++)
		if (list[i].keep)
			order[n++] = i;
	sorting = list;
	qsort(order, n, sizeof *order, by_gpu);
	for (size_t i = 0; i < n; i++) {
		struct syn_thunk *t = &list[order[i]];
		uint32_t *seen = syn_check(nsx_map_at(&count, (struct nsx_key){ t->module, t->inst }));

		*seen = *seen == NSX_NONE ? 0 : *seen + 1;
		t->occurrence = *seen;
		if (t->meet.instance != SYN_NONE)
			t->hidden = hidden(p, list, order, n, i);
	}
	nsx_map_free(&count);
	free(order);
}

/* Take command buffers apart: an operation of a graph belongs to its instruction if a dump is available and no other
 * instruction can have that kernel name, which holds for fusions here; otherwise it remains with the buffer, as a
 * separate thunk. */
static void
split(struct syn_plan *p, bool dump)
{
	struct syn_thunk t;

	for (size_t i = 0; i < p->thunk.n; i++) {
		t = p->thunk.p[i];
		if (!t.keep || (p->module.p[t.module].prog != SYN_NONE && p->prog.p[p->module.p[t.module].prog].inst.p[t.inst].what == SYN_BUFFER))
			continue;
		if (dump)
			syn_add(&p->split, t);
		else
			syn_add(&p->bare, t);
	}
	for (size_t i = 0; i < p->op.n; i++) {
		const struct syn_op *op = &p->op.p[i];
		const struct syn_program *pr;
		const struct syn_inst *in;
		uint32_t proc = p->dev.p[op->dev].proc;

		if (op->gone || !(op->node || op->type == SYN_GRAPH) || p->call.p[op->call].gone || !p->thunk.p[p->call.p[op->call].thunk].keep)
			continue;
		t = p->thunk.p[p->call.p[op->call].thunk];
		pr = &p->prog.p[p->module.p[t.module].prog];
		in = &pr->inst.p[op->inst];
		t.start = syn_local(p, proc, op->start);
		t.end = syn_local(p, proc, op->end);
		t.ops = 1;
		t.works = syn_works(op);
		if (op->type == SYN_KERNEL) {
			t.inst = dump && !in->kernel && !in->nccl && syn_dumped(in) ? op->inst : syn_rest(p, pr, pr->buffer, in);
			t.meet = op->meet;
		}
		if (dump)
			syn_add(&p->split, t);
		else
			syn_add(&p->bare, t);
	}
}

static void
executions(struct syn_plan *p)
{
	uint8_t *compiled = syn_check(calloc(p->nxports * p->prog.n, 1));
	struct nsx_map count = { 0 };
	bool any = false;

	for (size_t i = 0; i < p->range.n; i++)
		if (p->range.p[i].strip != SYN_NONE && !p->range.p[i].gone)
			compiled[p->proc.p[p->range.p[i].proc].xport * p->prog.n + p->range.p[i].cprog] = 1;
	/* Modules are in order of host start on each device. */
	for (size_t i = 0; i < p->module.n; i++) {
		struct syn_module *m = &p->module.p[i];
		uint32_t *seen;

		if (!m->keep)
			continue;
		/* The autotuner's programs have no id: they are distinguished by name. */
		seen = syn_check(nsx_map_at(&count, (struct nsx_key){ m->dev, m->prog != SYN_NONE ? m->prog : (uint64_t)p->range.p[m->range].name << 32 | SYN_NONE }));
		*seen = *seen == NSX_NONE ? 0 : *seen + 1;
		m->execution = *seen;
		if (m->prog == SYN_NONE) {
			m->steady = m->execution >= p->comm;
			continue;
		}
		m->steady = m->execution >= compiled[p->proc.p[p->dev.p[m->dev].proc].xport * p->prog.n + m->prog] + p->comm;
		any = any || m->steady;
	}
	for (size_t i = 0; i < p->module.n && !any; i++)
		p->module.p[i].steady = p->module.p[i].keep;
	nsx_map_free(&count);
	free(compiled);
}

/* Thunks without a module lie before the first module of their device; the last module of a cut process is open. */
static void
edges(const struct syn_plan *p)
{
	const struct syn_range **last = syn_check(calloc(p->dev.n, sizeof *last));
	int64_t *first = syn_check(malloc(p->dev.n * sizeof *first));

	for (uint32_t d = 0; d < p->dev.n; d++)
		first[d] = INT64_MAX;
	for (size_t k = 0; k < p->module.n; k++) {
		const struct syn_module *m = &p->module.p[k];

		if (m->keep && m->start < first[m->dev])
			first[m->dev] = m->start;
		if (!p->range.p[m->range].gone)
			last[m->dev] = &p->range.p[m->range];
	}
	for (size_t i = 0; i < p->thunk.n; i++) {
		const struct syn_thunk *t = &p->thunk.p[i];

		if (p->range.p[t->range].gone || !t->ops || (t->module != SYN_NONE && !p->range.p[p->module.p[t->module].range].gone))
			continue;
		if (first[t->dev] <= t->start)
			syn_die("the plan has a stray thunk after a module");
	}
	for (uint32_t d = 0; d < p->dev.n; d++)
		if (p->proc.p[p->dev.p[d].proc].cut && last[d] && !last[d]->open)
			syn_die("the plan was cut between modules");
	free(first);
	free(last);
}

void
syn_judge(struct syn_plan *p)
{
	collect(p);
	choose(p);
	if (syn_opt.xla26) {
		x26_judge(p);
		executions(p);
		return;
	}
	syn_number(p, p->thunk.p, p->thunk.n);
	if (syn_opt.graphs) {
		split(p, true);
		syn_number(p, p->split.p, p->split.n);
		split(p, false);
		syn_number(p, p->bare.p, p->bare.n);
	}
	executions(p);
	edges(p);
}
