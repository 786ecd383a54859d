/* answers.c -- expected results for the exports, as tables. Times are on the clock of the export. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "x26.h"

static const char *const domain_names[] = { "", "TSL", "NCCL", "cuBLAS" };

struct key { uint32_t profile, device; int64_t start; uint32_t i; };

static int
by_key(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->profile != y->profile)
		return x->profile < y->profile ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

static uint32_t
profile_of_dev(const struct syn_plan *p, uint32_t dev)
{
	return p->proc.p[p->dev.p[dev].proc].xport;
}

static const char *
profile_name(struct syn_plan *p, uint32_t proc)
{
	return syn_profile(p, p->proc.p[proc].xport);
}

/* "" for the autotuner's modules. */
static const char *
id_text(struct syn_plan *p, uint32_t proc, uint32_t prog)
{
	return prog == SYN_NONE ? "" : syn_fmt(p, "%" PRId64, syn_program_id(proc, &p->prog.p[prog]));
}

static const char *
module_name(struct syn_plan *p, const struct syn_module *m)
{
	const char *text;

	if (m->prog != SYN_NONE)
		return p->prog.p[m->prog].name;
	text = strchr(syn_str(p, p->range.p[m->range].name), '=') + 1;
	return syn_fmt(p, "%.*s", (int)strcspn(text, "#"), text);
}

void
syn_answer_modules(struct syn_plan *p, const char *file, bool tuner, const struct syn_thunk *list, size_t nlist)
{
	int64_t *thunks = syn_check(calloc(p->module.n + 1, sizeof *thunks));
	struct key *v = syn_check(malloc((p->module.n + 1) * sizeof *v));
	struct syn_tsv t;
	size_t n = 0;

	for (uint32_t i = 0; i < p->module.n; i++)
		if (p->module.p[i].keep && (p->module.p[i].prog == SYN_NONE) == tuner)
			v[n++] = (struct key){ profile_of_dev(p, p->module.p[i].dev), p->module.p[i].dev, p->module.p[i].start, i };
	for (size_t i = 0; i < p->module.n && !list; i++)
		thunks[i] = p->module.p[i].thunks;
	for (size_t i = 0; i < nlist && list; i++)
		thunks[list[i].module] += list[i].keep;
	qsort(v, n, sizeof *v, by_key);
	syn_tsv_open(&t, file, "profile\tprogram_id\tname\texecution\tdevice\tstart\tdur\thost_start\thost_dur\tthunks\tsteady");
	for (size_t i = 0; i < n; i++) {
		const struct syn_module *m = &p->module.p[v[i].i];
		const struct syn_range *r = &p->range.p[m->range];

		syn_tsv_row(&t, "%s\t%s\t%s\t%" PRId64 "\t%d\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%d", profile_name(p, r->proc),
		            id_text(p, r->proc, m->prog), module_name(p, m), m->execution, p->dev.p[m->dev].global, m->start, m->end - m->start, r->lstart,
		            r->lend - r->lstart, thunks[v[i].i], m->steady);
	}
	syn_tsv_close(&t);
	free(thunks);
	free(v);
}

static size_t
kept_thunks(const struct syn_plan *p, const struct syn_thunk *list, size_t nlist, struct key *v, bool tuner)
{
	size_t n = 0;

	for (uint32_t i = 0; i < nlist; i++) {
		const struct syn_thunk *t = &list[i];

		if (t->keep && (p->module.p[t->module].prog == SYN_NONE) == tuner)
			v[n++] = (struct key){ profile_of_dev(p, t->dev), t->dev, t->start, i };
	}
	qsort(v, n, sizeof *v, by_key);
	return n;
}

static const char *
inst_name(const struct syn_plan *p, const struct syn_thunk *t)
{
	uint32_t prog = p->module.p[t->module].prog;

	return prog == SYN_NONE ? syn_str(p, t->inst) : p->prog.p[prog].inst.p[t->inst].name;
}

void
syn_answer_thunks(struct syn_plan *p, const char *file, const struct syn_thunk *list, size_t nlist, bool tuner)
{
	struct key *v = syn_check(malloc((nlist + 1) * sizeof *v));
	size_t n = kept_thunks(p, list, nlist, v, tuner);
	struct syn_tsv t;

	syn_tsv_open(&t, file, "profile\tprogram_id\tname\texecution\toccurrence\tdevice\tstart\tdur\thidden\thost_start\thost_dur\tcomm\tops\tsteady");
	for (size_t i = 0; i < n; i++) {
		const struct syn_thunk *k = &list[v[i].i];
		const struct syn_module *m = &p->module.p[k->module];
		const struct syn_range *r = &p->range.p[k->range];

		syn_tsv_row(&t, "%s\t%s\t%s\t%" PRId64 "\t%" PRId64 "\t%d\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%d\t%" PRId64 "\t%d",
		            profile_name(p, r->proc), id_text(p, r->proc, m->prog), inst_name(p, k), m->execution, k->occurrence, p->dev.p[k->dev].global, k->start,
		            k->end - k->start, k->hidden, r->lstart, r->lend - r->lstart, k->meet.instance != SYN_NONE, k->ops, m->steady);
	}
	syn_tsv_close(&t);
	free(v);
}

void
syn_answer_collectives(struct syn_plan *p)
{
	/* With graphs, as seen by a tool that reads the dumps: collectives are in command buffers too. */
	const struct syn_thunk *list = syn_opt.graphs || syn_opt.xla26 ? p->split.p : p->thunk.p;
	size_t nlist = syn_opt.graphs || syn_opt.xla26 ? p->split.n : p->thunk.n;
	struct key *v = syn_check(malloc((nlist + 1) * sizeof *v));
	size_t n = kept_thunks(p, list, nlist, v, false);
	struct syn_tsv t;

	syn_tsv_open(&t, "collectives",
	             "program_id\tname\texecution\toccurrence\tdevice\tcollective\tbytes\tgroup\tstart\tdur\thidden\twait\tprofile\tinstance\ttrue_execution");
	for (size_t i = 0; i < n; i++) {
		const struct syn_thunk *k = &list[v[i].i];
		const struct syn_module *m = &p->module.p[k->module];
		const struct syn_inst *in = &p->prog.p[m->prog].inst.p[k->inst];
		uint32_t proc = p->dev.p[k->dev].proc;

		/* An operation whose instance cannot be determined is in no collective. */
		if (k->meet.instance == SYN_NONE || in->what == SYN_BUFFER)
			continue;
		syn_tsv_row(&t, "%s\t%s\t%" PRId64 "\t%" PRId64 "\t%d\t%s\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%s\t%" PRIu32 "\t%" PRId64,
		            id_text(p, proc, m->prog), in->name, m->execution, k->occurrence, p->dev.p[k->dev].global, in->collective, k->meet.bytes, k->meet.group, k->start,
		            k->end - k->start, k->hidden, k->meet.wait, profile_name(p, proc), k->meet.instance, m->exec);
	}
	syn_tsv_close(&t);
	free(v);
}

static void
ranges(struct syn_plan *p)
{
	struct key *v = syn_check(malloc((p->range.n + 1) * sizeof *v));
	struct syn_tsv t;
	size_t n = 0;

	for (uint32_t i = 0; i < p->range.n; i++)
		if (!p->range.p[i].gone && p->range.p[i].ops)
			v[n++] = (struct key){ p->proc.p[p->range.p[i].proc].xport, 0, p->range.p[i].rowid, i };
	qsort(v, n, sizeof *v, by_key);
	syn_tsv_open(&t, "ranges", "profile\trange\tparent\tlevel\tdomain\tname\tpid\ttid\tstart\tdur\thost_start\thost_dur\tops");
	for (size_t i = 0; i < n; i++) {
		const struct syn_range *r = &p->range.p[v[i].i];

		syn_tsv_row(&t, "%s\t%" PRId64 "\t%s\t%d\t%s\t%s\t%" PRIu32 "\t%" PRIu32 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64,
		            profile_name(p, r->proc), r->rowid, r->parent == SYN_NONE ? "" : syn_fmt(p, "%" PRId64, p->range.p[r->parent].rowid), r->level,
		            domain_names[r->domain], syn_str(p, r->name), p->proc.p[r->proc].pid, p->proc.p[r->proc].thread.p[r->thread].tid, r->gpu_start,
		            r->gpu_end - r->gpu_start, r->lstart, r->lend - r->lstart, r->ops);
	}
	syn_tsv_close(&t);
	free(v);
}

/* folded: instructions below the autotuner's ranges count for these, as in tools by default. */
static void
compilation(struct syn_plan *p, const char *file, bool folded)
{
	struct key *v = syn_check(malloc((p->range.n + 1) * sizeof *v));
	int64_t *child = syn_check(calloc(p->range.n + 1, sizeof *child));
	struct syn_tsv t;
	size_t n = 0;

	for (uint32_t i = 0; i < p->range.n; i++) {
		const struct syn_range *r = &p->range.p[i];

		if (r->strip == SYN_NONE || r->gone || (folded && r->folded))
			continue;
		v[n++] = (struct key){ p->proc.p[r->proc].xport, 0, r->lstart, i };
		if (r->cparent != SYN_NONE && p->range.p[r->cparent].thread == r->thread)
			child[r->cparent] += r->lend - r->lstart;
	}
	qsort(v, n, sizeof *v, by_key);
	syn_tsv_open(&t, file, "profile\tprogram_id\tname\tpid\ttid\tstart\tdur\tdepth\tself\tmodule");
	for (size_t i = 0; i < n; i++) {
		const struct syn_range *r = &p->range.p[v[i].i];
		const char *name = syn_str(p, r->strip);
		int depth = 0;

		for (uint32_t k = r->cparent; k != SYN_NONE; k = p->range.p[k].cparent)
			depth++;
		if (folded && r->measures)
			name = syn_fmt(p, "%.*s", (int)strcspn(name, ":"), name);
		syn_tsv_row(&t, "%s\t%s\t%s\t%" PRIu32 "\t%" PRIu32 "\t%" PRId64 "\t%" PRId64 "\t%d\t%" PRId64 "\t%s", profile_name(p, r->proc),
		            id_text(p, r->proc, r->cprog), name, p->proc.p[r->proc].pid, p->proc.p[r->proc].thread.p[r->thread].tid, r->lstart, r->lend - r->lstart,
		            depth, r->lend - r->lstart - child[v[i].i], p->prog.p[r->cprog].name);
	}
	syn_tsv_close(&t);
	free(child);
	free(v);
}

static void
operations(struct syn_plan *p)
{
	static const char *const types[] = { "kernel", "memcpy", "memset", "graph" };
	struct key *v = syn_check(malloc((p->op.n + 1) * sizeof *v));
	struct syn_tsv t;
	size_t n = 0;

	for (uint32_t i = 0; i < p->op.n; i++)
		if (!p->op.p[i].gone)
			v[n++] = (struct key){ profile_of_dev(p, p->op.p[i].dev), p->op.p[i].dev, p->op.p[i].start, i };
	qsort(v, n, sizeof *v, by_key);
	syn_tsv_open(&t, "ops", "profile\ttype\tdevice\tstream\tname\tstart\tdur");
	for (size_t i = 0; i < n; i++) {
		const struct syn_op *o = &p->op.p[v[i].i];
		uint32_t proc = p->dev.p[o->dev].proc;
		int64_t s = syn_local(p, proc, o->start);

		syn_tsv_row(&t, "%s\t%s\t%d\t%d\t%s\t%" PRId64 "\t%" PRId64, profile_name(p, proc), types[o->type], p->dev.p[o->dev].global, o->stream,
		            syn_str(p, o->name), s, syn_local(p, proc, o->end) - s);
	}
	syn_tsv_close(&t);
	free(v);
}

static void
clocks(struct syn_plan *p)
{
	struct syn_tsv t;

	/* An event at true time T is shown at T + offset_ns + drift_ppm * 1e-6 * (T - ref_ns), rounded down. */
	syn_tsv_open(&t, "clocks", "device\tprofile\toffset_ns\tdrift_ppm\tref_ns");
	for (size_t i = 0; i < p->dev.n; i++) {
		const struct syn_proc *pr = &p->proc.p[p->dev.p[i].proc];

		syn_tsv_row(&t, "%d\t%s\t%" PRId64 "\t%.3f\t%" PRId64, p->dev.p[i].global, profile_name(p, p->dev.p[i].proc), pr->offset - pr->session,
		            (double)pr->ppb / 1000, p->base);
	}
	syn_tsv_close(&t);
}

static void
programs(struct syn_plan *p)
{
	struct syn_tsv t;

	/* One `program` number is one program, for any id that a process gives it. */
	syn_tsv_open(&t, "programs", "profile\tprogram_id\tprogram\tname\tcomm\texecutions\tfingerprint");
	for (uint32_t r = 0; r < p->proc.n; r++)
		for (uint32_t g = 0; g < p->prog.n; g++) {
			int64_t execs = 0;

			for (size_t m = 0; m < p->module.n; m++)
				execs += p->module.p[m].keep && p->module.p[m].prog == g && p->dev.p[p->module.p[m].dev].proc == r && p->dev.p[p->module.p[m].dev].local == 0;
			if (execs)
				syn_tsv_row(&t, "%s\t%s\t%" PRIu32 "\t%s\t%d\t%" PRId64 "\t%s", profile_name(p, r), id_text(p, r, g), g, p->prog.p[g].name,
				            p->prog.p[g].comm, execs, syn_opt.torch || syn_opt.nccl ? "" : syn_fingerprint(p, r, g));
		}
	syn_tsv_close(&t);
}

static void
totals(struct syn_plan *p)
{
	int64_t shown = 0, projected = 0, calls = 0, ops[4] = { 0 }, orphans = 0, op_time = 0, nmodules = 0, module_time = 0, nthunks = 0, thunk_time = 0;
	int64_t comm_time = 0, hidden = 0, stray = 0, nested = 0, cut = 0, cross = 0, decompressions = 0, host_fns = 0, host_fn_time = 0;
	struct syn_tsv t;

	for (size_t i = 0; i < p->range.n; i++) {
		shown += !p->range.p[i].gone;
		cross += !p->range.p[i].gone && p->range.p[i].end_thread != SYN_NONE;
		projected += !p->range.p[i].gone && p->range.p[i].ops;
	}
	for (size_t i = 0; i < p->call.n; i++)
		calls += p->call.p[i].gone ? 0 : 1 + (p->call.p[i].driver != SYN_NONE);
	for (size_t i = 0; i < p->op.n; i++) {
		const struct syn_op *o = &p->op.p[i];
		uint32_t proc = p->dev.p[o->dev].proc;

		if (o->gone)
			continue;
		ops[o->type]++;
		decompressions += o->decompress;
		op_time += syn_local(p, proc, o->end) - syn_local(p, proc, o->start);
		orphans += o->call == SYN_NONE || p->call.p[o->call].gone;
	}
	for (size_t i = 0; i < p->host_fn.n; i++) {
		const struct syn_host_fn *h = &p->host_fn.p[i];
		uint32_t proc = p->dev.p[h->dev].proc;

		host_fns += !h->gone;
		host_fn_time += h->gone ? 0 : syn_local(p, proc, h->end) - syn_local(p, proc, h->start);
	}
	for (size_t i = 0; i < p->module.n; i++) {
		const struct syn_module *m = &p->module.p[i];

		cut += !p->range.p[m->range].gone && p->range.p[m->range].open;
		if (!m->keep || m->prog == SYN_NONE)
			continue;
		nmodules++;
		module_time += m->end - m->start;
	}
	for (size_t i = 0; i < p->thunk.n; i++) {
		const struct syn_thunk *k = &p->thunk.p[i];
		bool seen = k->ops && !p->range.p[k->range].gone;

		nested += seen && k->inner;
		stray += seen && !k->inner && (k->module == SYN_NONE || p->range.p[p->module.p[k->module].range].gone);
		if (!k->keep || p->module.p[k->module].prog == SYN_NONE)
			continue;
		nthunks++;
		thunk_time += k->end - k->start;
		hidden += k->hidden;
		if (k->meet.instance != SYN_NONE)
			comm_time += k->end - k->start;
	}
	syn_tsv_open(&t, "totals", "quantity\tvalue");
#define ROW(name, v) syn_tsv_row(&t, "%s\t%" PRId64, name, (int64_t)(v))
	ROW("exports", p->nxports);
	ROW("processes", p->proc.n);
	ROW("devices", p->dev.n);
	ROW("ranges", shown);
	ROW("projected", projected);
	ROW("cross_thread_ranges", cross);
	ROW("calls", calls);
	ROW("kernels", ops[SYN_KERNEL]);
	ROW("memcpys", ops[SYN_MEMCPY]);
	ROW("memsets", ops[SYN_MEMSET]);
	ROW("graphs", ops[SYN_GRAPH]);
	ROW("decompressions", decompressions);
	ROW("host_functions", host_fns);
	ROW("host_function_time", host_fn_time);
	ROW("ops_without_call", orphans);
	ROW("op_time", op_time);
	ROW("modules", nmodules);
	ROW("module_time", module_time);
	ROW("modules_unfinished", cut);
	ROW("thunks", nthunks);
	ROW("thunk_time", thunk_time);
	ROW("comm_time", comm_time);
	ROW("hidden_time", hidden);
	ROW("thunks_enclosing", nested);
	ROW("thunks_before_first_module", stray);
#undef ROW
	syn_tsv_close(&t);
}

void
syn_answers(struct syn_plan *p)
{
	if (syn_opt.xla26) {
		x26_answers(p);
		if (syn_opt.nodes)
			return;
		ranges(p);
		operations(p);
		clocks(p);
		programs(p);
		totals(p);
		return;
	}
	if (syn_opt.graphs) {
		syn_answer_modules(p, "modules", false, p->bare.p, p->bare.n);
		syn_answer_thunks(p, "thunks", p->bare.p, p->bare.n, false);
		syn_answer_modules(p, "modules_dump", false, p->split.p, p->split.n);
		syn_answer_thunks(p, "thunks_dump", p->split.p, p->split.n, false);
	} else {
		syn_answer_modules(p, "modules", false, NULL, 0);
		syn_answer_thunks(p, "thunks", p->thunk.p, p->thunk.n, false);
	}
	syn_answer_modules(p, "modules_autotune", true, NULL, 0);
	syn_answer_thunks(p, "thunks_autotune", p->thunk.p, p->thunk.n, true);
	syn_answer_collectives(p);
	ranges(p);
	compilation(p, "compile", true);
	compilation(p, "compile_raw", false);
	operations(p);
	clocks(p);
	programs(p);
	totals(p);
}
