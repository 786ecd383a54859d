/* runs.c -- converts XLA's NVTX ranges to executions of modules and thunks. A parent comes before its children in
 * trace.ranges, so one pass in order can pass down the module and thunk that contain a range. */
#include "extract/profile.h"

#include <math.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/sort.h"

/* A range that could be a module or a thunk: it has GPU work. */
struct candidate {
	uint32_t range;
	uint32_t module;    /* thunks: candidate module it belongs to; modules: final number; NSX_NONE: none, dropped */
	uint32_t device;
	uint32_t thunks;    /* modules: kept thunks */
	uint32_t fusion;    /* thunks: candidate thunk of the outermost fusion that it is, or is inside; NSX_NONE:
	                     * none */
	uint32_t buffers, seen;   /* modules: number of command buffers without a number in their names, and of those
	                           * processed so far */
	bool     wanted;    /* modules: has a program id, or autotuner runs are requested; thunks: kept */
	bool     inner;     /* thunks: contains another thunk */
};

struct runs {
	struct ex_profile *p;
	NSX_VEC(struct candidate) modules;
	NSX_VEC(struct candidate) thunks;
	int64_t *first;     /* by device: GPU start of the first wanted module */
	int64_t  edge, no_module, tuning, spread, cut, guessed, adopted, nameless;
	bool     held;      /* some thunks contain others */
};

static const struct nsx_span *
span_of(const struct runs *x, uint32_t range)
{
	return &x->p->trace.spans[x->p->trace.ranges[range].gpu];
}

/* The device of work that ran on several: that of the thread's first single-device range. */
static uint32_t
device_of(struct runs *x, uint32_t range)
{
	const struct nsx_trace *t = &x->p->trace;
	uint32_t d = span_of(x, range)->device;

	if (d != NSX_NONE)
		return d;
	x->spread++;
	const struct nsx_thread *thread = nsx_trace_thread(t, range);
	for (uint32_t r = thread->first; r < thread->first + thread->n; r++)
		if (t->ranges[r].gpu != NSX_NONE && t->spans[t->ranges[r].gpu].device != NSX_NONE)
			return t->spans[t->ranges[r].gpu].device;
	return 0;
}

/* Whether a thunk is a fusion: by its name, unless a dump contradicts. */
static bool
is_fusion(struct runs *x, const struct candidate *c, const struct nsx_title *title)
{
	struct ex_profile *p = x->p;

	if (!p->misnamed.n || c->module == NSX_NONE)
		return title->fusion;
	const struct nsx_title *module = nsx_extract_title(p, x->modules.p[c->module].range);
	bool misnamed = nsx_intern_find(&p->misnamed, nsx_extract_misnamed_key(p, module->program_id, title->hlo_op)) !=
	    NSX_NONE;
	return title->fusion != misnamed;
}

/* Find candidates; thunk_at and module_at temporarily hold the candidate that contains a range. */
static int
collect(struct runs *x)
{
	struct ex_profile *p = x->p;
	const struct nsx_trace *t = &p->trace;

	for (uint32_t r = 0; r < t->nranges; r++) {
		uint32_t parent = t->ranges[r].parent;
		p->module_at[r] = parent == NSX_NONE ? NSX_NONE : p->module_at[parent];
		p->thunk_at[r] = parent == NSX_NONE ? NSX_NONE : p->thunk_at[parent];
		if (t->ranges[r].gpu == NSX_NONE)
			continue;
		const struct nsx_title *title = nsx_extract_title(p, r);
		if (p->rc != NSX_OK)
			return NSX_ERR;
		if (!title || (title->kind != NSX_TITLE_MODULE && title->kind != NSX_TITLE_THUNK))
			continue;
		struct candidate c = { .range = r, .module = p->module_at[r], .device = device_of(x, r) };
		if (title->kind == NSX_TITLE_MODULE) {
			c.wanted = title->program_id >= 0 || p->opts->autotune;
			if (!nsx_vec_push(&x->modules, c))
				return nsx_err_nomem(&p->err, p->input->path);
			p->module_at[r] = (uint32_t)x->modules.n - 1;
			if (c.wanted && span_of(x, r)->start < x->first[c.device])
				x->first[c.device] = span_of(x, r)->start;
		} else {
			c.fusion = NSX_NONE;
			if (p->thunk_at[r] != NSX_NONE) {
				x->thunks.p[p->thunk_at[r]].inner = true;
				c.fusion = x->thunks.p[p->thunk_at[r]].fusion;
			}
			/* Slices that contain their copy. */
			if (c.fusion == NSX_NONE && is_fusion(x, &c, title))
				c.fusion = (uint32_t)x->thunks.n;
			if (!nsx_vec_push(&x->thunks, c))
				return nsx_err_nomem(&p->err, p->input->path);
			p->thunk_at[r] = (uint32_t)x->thunks.n - 1;
		}
	}
	return NSX_OK;
}

static bool
while_compiling(struct runs *x, uint32_t range)
{
	for (uint32_t r = x->p->trace.ranges[range].parent; r != NSX_NONE; r = x->p->trace.ranges[r].parent) {
		const struct nsx_title *title = nsx_extract_title(x->p, r);
		if (title && (title->kind == NSX_TITLE_COMPILE || title->kind == NSX_TITLE_AUTOTUNER))
			return true;
	}
	return false;
}

/* The module of a thunk that is in no module's range: XLA of 2026 launches asynchronous thunks after the end of the
 * module's range. Modules are sorted by thread and host start. Of those of the same thread, the one whose GPU span
 * contains the thunk's GPU start, else the last one launched before it. */
static uint32_t
adopt(const struct runs *x, const struct candidate *c)
{
	const struct nsx_thread *thread = nsx_trace_thread(&x->p->trace, c->range);
	int64_t start = span_of(x, c->range)->start;
	size_t lo = 0, hi = x->modules.n;
	uint32_t latest = NSX_NONE;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (x->modules.p[mid].range < c->range)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* The GPU lags behind the host by a few modules at most, so only a few are examined, on a thread of many
	 * devices a few for each. */
	for (size_t m = lo, looked = 0, all = 0; m-- > 0 && x->modules.p[m].range >= thread->first && looked < 64 &&
	     all < 4096; all++) {
		const struct candidate *module = &x->modules.p[m];
		if (!module->wanted || module->device != c->device)
			continue;
		looked++;
		if (latest == NSX_NONE)
			latest = (uint32_t)m;
		if (span_of(x, module->range)->start <= start && start <= span_of(x, module->range)->end)
			return (uint32_t)m;
	}
	return latest;
}

/* Decide which thunks are kept and the module of each. */
static void
choose_thunks(struct runs *x)
{
	for (size_t i = 0; i < x->thunks.n; i++) {
		struct candidate *c = &x->thunks.p[i];
		x->held |= c->inner;
		/* Wrappers are replaced by the thunks that they contain, and the thunks that a fusion contains by the
		 * fusion. */
		if (c->fusion != NSX_NONE ? c->fusion != i : c->inner)
			continue;
		if (c->module == NSX_NONE) {
			if (while_compiling(x, c->range)) {
				x->tuning++;
				continue;
			}
			if (span_of(x, c->range)->start < x->first[c->device]) {
				x->edge++;
				continue;
			}
			c->module = adopt(x, c);
			if (c->module == NSX_NONE) {
				x->no_module++;
				continue;
			}
			x->adopted++;
		}
		if (!x->modules.p[c->module].wanted) {
			x->tuning++;
			continue;
		}
		c->wanted = true;
		x->modules.p[c->module].thunks++;
	}
}

/* The export records which modules were cut off by the end of the capture. */
static void
drop_cut(struct runs *x)
{
	for (size_t i = 0; i < x->modules.n; i++) {
		struct candidate *m = &x->modules.p[i];
		const struct nsx_range *r = &x->p->trace.ranges[m->range];
		bool at_stop = x->p->trace.stop != INT64_MIN && r->end >= x->p->trace.stop;
		if (m->wanted && m->thunks && ((r->flags & NSX_RANGE_UNFINISHED) || at_stop)) {
			m->wanted = false;
			x->cut++;
		}
	}
}

struct execution { struct nsx_str name; uint32_t device, candidate; int64_t start; double ops; };

NSX_ORDER(by_name, struct execution, nsx_str_cmp(a->name, b->name), NSX_CMP(a->device, b->device),
          NSX_CMP(a->start, b->start), NSX_CMP(a->candidate, b->candidate))

/* If the export does not record the end of the capture: the last execution of a name counts as cut off if it has fewer
 * GPU operations than mean - population standard deviation of the others (the rule of NVIDIA's nsys-jax). */
static int
guess_cut(struct runs *x)
{
	struct execution *e = malloc((x->modules.n + 1) * sizeof *e);
	size_t n = 0;

	if (!e)
		return nsx_err_nomem(&x->p->err, x->p->input->path);
	for (size_t i = 0; i < x->modules.n; i++) {
		const struct candidate *m = &x->modules.p[i];
		if (m->wanted && m->thunks)
			e[n++] = (struct execution){ nsx_extract_title(x->p, m->range)->module, m->device, (uint32_t)i,
				x->p->trace.ranges[m->range].start, span_of(x, m->range)->ops };
	}
	qsort(e, n, sizeof *e, by_name);
	for (size_t i = 0, k; i < n; i = k) {
		double sum = 0, squares = 0;
		for (k = i + 1; k < n && nsx_str_eq(e[k].name, e[i].name) && e[k].device == e[i].device; k++)
			sum += e[k - 1].ops;
		size_t others = k - i - 1;
		if (!others)
			continue;
		for (size_t o = i; o < i + others; o++)
			squares += (e[o].ops - sum / (double)others) * (e[o].ops - sum / (double)others);
		if (e[k - 1].ops < sum / (double)others - sqrt(squares / (double)others)) {
			x->modules.p[e[k - 1].candidate].wanted = false;
			x->guessed++;
		}
	}
	free(e);
	return NSX_OK;
}

/* XLA truncates long titles, and the name is at their end. */
static struct nsx_str
or_nameless(struct nsx_str name, int64_t *count)
{
	if (name.len)
		return name;
	++*count;
	return NSX_STR("[nameless]");
}

/* Ranges that contain other thunks, for dumps to decide whether they are fusions. */
static bool
note_holder(struct runs *x, const struct candidate *c)
{
	struct ex_profile *p = x->p;
	uint32_t program = p->modules.p[x->modules.p[c->module].module].program;
	const struct nsx_title *title = nsx_extract_title(p, c->range);
	uint32_t name = nsx_intern(&p->inst_names, title->hlo_op);
	uint32_t *at = name == NSX_NONE ? NULL : nsx_map_at(&p->holder_of, (struct nsx_key){ program, name });

	if (!at)
		return false;
	if (*at != NSX_NONE)
		return true;
	*at = (uint32_t)p->holders.n;
	return nsx_vec_push(&p->holders, ((struct ex_holder){ program, name, is_fusion(x, c, title) }));
}

/* The name of a command buffer without the suffix that XLA adds when a profiler makes it run op by op. */
static struct nsx_str
buffer_name(struct nsx_str op)
{
	for (size_t i = 0; i + 1 < op.len; i++)
		if (op.ptr[i] == ' ' && op.ptr[i + 1] == '(')
			op.len = i;
	return op;
}

/* Whether candidate thunk i is a command buffer in a module that is kept: launched as a graph, or run op by op. */
static bool
is_buffer(struct runs *x, size_t i)
{
	const struct candidate *c = &x->thunks.p[i];

	return (c->wanted || c->inner) && c->module != NSX_NONE && x->modules.p[c->module].module != NSX_NONE &&
	       nsx_str_starts(nsx_extract_title(x->p, c->range)->hlo_op, NSX_BUFFER_NAME);
}

/* The key of a command buffer: its name, and if that has no number (before 2026) its position among those of the
 * execution. */
static uint32_t
buffer_at(struct runs *x, const struct candidate *c)
{
	struct candidate *m = &x->modules.p[c->module];
	struct ex_profile *p = x->p;
	struct ex_buffer_key k = { .program = p->modules.p[m->module].program, .ref = NSX_NONE };
	struct nsx_str name = buffer_name(nsx_extract_title(p, c->range)->hlo_op);

	if (nsx_str_eq(name, NSX_STR(NSX_BUFFER_NAME))) {
		k.place = m->seen++;
		k.of = m->buffers;
	}
	k.name = nsx_intern(&p->inst_names, name);
	uint32_t *at = k.name == NSX_NONE ? NULL
		: nsx_map_at(&p->buffers.by_key, (struct nsx_key){ (uint64_t)k.program << 32 | k.name,
			(uint64_t)k.of << 32 | k.place });
	if (!at)
		return NSX_NONE;
	if (*at == NSX_NONE) {
		if (!nsx_vec_push(&p->buffers.keys, k))
			return NSX_NONE;
		*at = (uint32_t)p->buffers.keys.n - 1;
	}
	return *at;
}

/* The command buffers: launches, and among executions op by op the one with the most operations. */
static bool
note_buffers(struct runs *x)
{
	struct ex_profile *p = x->p;
	uint32_t thunk = 0;

	for (size_t i = 0; i < x->thunks.n; i++)
		if (is_buffer(x, i) && nsx_str_eq(buffer_name(nsx_extract_title(p, x->thunks.p[i].range)->hlo_op),
		    NSX_STR(NSX_BUFFER_NAME)))
			x->modules.p[x->thunks.p[i].module].buffers++;
	for (size_t i = 0; i < x->thunks.n; i++) {
		const struct candidate *c = &x->thunks.p[i];
		while (thunk < p->thunks.n && p->thunks.p[thunk].range < c->range)
			thunk++;
		if (!is_buffer(x, i))
			continue;
		uint32_t key = buffer_at(x, c);
		if (key == NSX_NONE)
			return false;
		struct ex_buffer_key *k = &p->buffers.keys.p[key];
		if (c->wanted) {
			if (!nsx_vec_push(&p->buffers.list, ((struct ex_buffer){ k->program, key, thunk })))
				return false;
		} else if (k->ref == NSX_NONE || span_of(x, c->range)->ops > span_of(x, k->ref)->ops) {
			k->ref = c->range;
		}
	}
	return true;
}

/* Candidates that are kept become modules and thunks. */
static int
keep(struct runs *x)
{
	struct ex_profile *p = x->p;
	const struct nsx_trace *t = &p->trace;

	for (size_t i = 0; i < x->modules.n; i++) {
		struct candidate *c = &x->modules.p[i];
		c->module = NSX_NONE;
		if (!c->wanted || !c->thunks)
			continue;
		const struct nsx_title *title = nsx_extract_title(p, c->range);
		uint32_t program = nsx_extract_program(p, title->program_id, or_nameless(title->module, &x->nameless),
		                                       nsx_trace_thread(t, c->range)->process);
		struct ex_module m = { .range = c->range, .program = program, .device = c->device };
		if (program == NSX_NONE || !nsx_vec_push(&p->modules, m))
			return nsx_err_nomem(&p->err, p->input->path);
		p->programs.p[program].executed = true;
		p->devices[c->device].ran = true;
		c->module = (uint32_t)p->modules.n - 1;
	}
	for (size_t i = 0; i < x->thunks.n; i++) {
		const struct candidate *c = &x->thunks.p[i];
		if (c->inner && p->input->dumps && c->module != NSX_NONE && x->modules.p[c->module].module !=
		    NSX_NONE && !note_holder(x, c))
			return nsx_err_nomem(&p->err, p->input->path);
		uint32_t module = c->wanted ? x->modules.p[c->module].module : NSX_NONE;
		if (module == NSX_NONE)
			continue;
		const struct nsx_title *title = nsx_extract_title(p, c->range);
		struct nsx_str op = or_nameless(title->hlo_op, &x->nameless);
		uint32_t inst = nsx_extract_inst(p, p->modules.p[module].program, op, title->op_id);
		if (inst == NSX_NONE)
			return nsx_err_nomem(&p->err, p->input->path);
		if (!title->truncated)
			p->insts.p[inst].op_name = title->name;
		const struct nsx_span *s = span_of(x, c->range);
		struct ex_thunk th = { .range = c->range, .module = module, .inst = inst, .start = s->start,
		                       .end = s->end,
			.device = c->device, .ops = s->ops };
		if (!nsx_vec_push(&p->thunks, th))
			return nsx_err_nomem(&p->err, p->input->path);
		p->modules.p[module].thunks++;
	}
	return note_buffers(x) ? NSX_OK : nsx_err_nomem(&p->err, p->input->path);
}

/* Number executions per program and device by host start. */
static int
number_executions(struct ex_profile *p)
{
	struct nsx_sort_key *keys = malloc((p->modules.n + 1) * sizeof *keys);

	if (!keys)
		return nsx_err_nomem(&p->err, p->input->path);
	for (size_t i = 0; i < p->modules.n; i++) {
		const struct ex_module *m = &p->modules.p[i];
		keys[i] = (struct nsx_sort_key){ { m->device, m->program, p->trace.ranges[m->range].start },
		                                 (uint32_t)i };
	}
	nsx_sort_keys(keys, p->modules.n);
	for (size_t i = 0; i < p->modules.n; i++) {
		bool first = !i || keys[i].k[0] != keys[i - 1].k[0] || keys[i].k[1] != keys[i - 1].k[1];
		p->modules.p[keys[i].i].execution = first ? 0 : p->modules.p[keys[i - 1].i].execution + 1;
	}
	free(keys);
	return NSX_OK;
}

int
nsx_extract_number_occurrences(struct ex_profile *p)
{
	struct nsx_sort_key *keys = malloc((p->thunks.n + 1) * sizeof *keys);
	size_t n = 0;

	if (!keys)
		return nsx_err_nomem(&p->err, p->input->path);
	for (size_t i = 0; i < p->thunks.n; i++) {
		const struct ex_thunk *th = &p->thunks.p[i];
		if (th->gone)
			continue;
		/* Thunks are sorted by thread and host start, so the index orders equal GPU starts. */
		keys[n++] = (struct nsx_sort_key){ { th->module, th->inst, th->start }, (uint32_t)i };
	}
	nsx_sort_keys(keys, n);
	for (size_t i = 0; i < n; i++) {
		bool first = !i || keys[i].k[0] != keys[i - 1].k[0] || keys[i].k[1] != keys[i - 1].k[1];
		p->thunks.p[keys[i].i].occurrence = first ? 0 : p->thunks.p[keys[i - 1].i].occurrence + 1;
	}
	free(keys);
	return NSX_OK;
}

/* Value of thunk_at for a range that contains thunks but is not one, and for the ranges inside it that are in none of
 * those thunks. */
enum { HOLDER = NSX_NONE - 1 };

/* Operations directly under a wrapper that contains thunks, such as copies of predicates under a while or conditional,
 * belong to none of those thunks. */
static void
count_direct(struct runs *x)
{
	struct ex_profile *p = x->p;
	int64_t n = 0, ns = 0;

	for (uint32_t i = 0; i < p->trace.nops; i++) {
		const struct nsx_gpu_op *op = &p->trace.ops[i];
		if (op->range == NSX_NONE || p->thunk_at[op->range] != HOLDER || p->module_at[op->range] == NSX_NONE)
			continue;
		n++;
		ns = nsx_add_sat(ns, nsx_extract_dur(op->start, op->end), NULL);
	}
	for (uint32_t r = 0; r < p->trace.nranges; r++)
		if (p->thunk_at[r] == HOLDER)
			p->thunk_at[r] = NSX_NONE;
	nsx_diag_add(&p->diags, NSX_INFO, p->trace.name.ptr, n,
		"GPU operations directly under a range that contains thunks, such as a while or conditional, belong to "
		"no thunk: %s", nsx_ns_exact(ns).s);
}

/* thunk_at and module_at: from candidates to those that were kept, for GPU operations to find their thunk and
 * module. */
static void
settle(struct runs *x)
{
	struct ex_profile *p = x->p;
	uint32_t module = 0, thunk = 0;
	size_t holder = 0;

	for (uint32_t r = 0; r < p->trace.nranges; r++) {
		uint32_t parent = p->trace.ranges[r].parent;
		p->module_at[r] = parent == NSX_NONE ? NSX_NONE : p->module_at[parent];
		p->thunk_at[r] = parent == NSX_NONE ? NSX_NONE : p->thunk_at[parent];
		if (module < p->modules.n && p->modules.p[module].range == r)
			p->module_at[r] = module++;
		while (holder < x->thunks.n && x->thunks.p[holder].range < r)
			holder++;
		if (holder < x->thunks.n && x->thunks.p[holder].range == r && x->thunks.p[holder].inner &&
		    p->thunk_at[r] == NSX_NONE)
			p->thunk_at[r] = HOLDER;
		if (thunk < p->thunks.n && p->thunks.p[thunk].range == r) {
			p->module_at[r] = p->thunks.p[thunk].module;
			p->thunk_at[r] = thunk++;
		}
	}
	if (x->held)
		count_direct(x);
}

static void
report(struct runs *x)
{
	const char *who = x->p->trace.name.ptr;
	struct nsx_diags *d = &x->p->diags;

	nsx_diag_add(d, NSX_WARNING, who, x->edge,
		"thunks dropped: their GPU work started before the first module of their device (the capture started "
		"within a module)");
	nsx_diag_add(d, NSX_WARNING, who, x->no_module,
		"thunks dropped: outside any module range, and their thread launched no module on their device shortly "
		"before");
	nsx_diag_add(d, NSX_INFO, who, x->adopted,
	             "thunks outside any module range: assigned to the module running at their start");
	nsx_diag_add(d, NSX_INFO, who, x->tuning, "thunks of autotuner runs ignored; --autotune keeps them");
	nsx_diag_add(d, NSX_WARNING, who, x->spread,
	             "modules and thunks with work on several devices: counted on the first");
	nsx_diag_add(d, NSX_WARNING, who, x->nameless,
	             "modules and thunks whose range name was cut before their own name: called [nameless]");
	nsx_diag_add(d, NSX_WARNING, who, x->cut, "module executions dropped: cut off by the end of the capture");
	nsx_diag_add(d, NSX_WARNING, who, x->guessed,
		"last module executions dropped: they have so few GPU operations that the end of the capture must have "
		"cut them off");
}

static int
run(struct runs *x)
{
	struct ex_profile *p = x->p;

	for (uint32_t d = 0; d < p->trace.ndevices; d++)
		x->first[d] = INT64_MAX;
	if (collect(x) != NSX_OK)
		return NSX_ERR;
	choose_thunks(x);
	drop_cut(x);
	if (p->trace.stop == INT64_MIN && guess_cut(x) != NSX_OK)
		return NSX_ERR;
	if (keep(x) != NSX_OK || number_executions(p) != NSX_OK || nsx_extract_number_occurrences(p) != NSX_OK)
		return NSX_ERR;
	settle(x);
	report(x);
	return p->rc;
}

/* Whether any range is XLA's: the millions of PyTorch need no tables. */
static bool
any_title(struct ex_profile *p)
{
	for (uint32_t r = 0; r < p->trace.nranges && p->rc == NSX_OK; r++)
		if (nsx_extract_title(p, r))
			return true;
	return false;
}

int
nsx_extract_find_runs(struct ex_profile *p)
{
	struct runs x = { .p = p };
	size_t n = p->trace.nranges;

	if (!any_title(p))
		return p->rc;
	x.first = malloc((p->trace.ndevices + 1) * sizeof *x.first);
	p->thunk_at = malloc(n * sizeof *p->thunk_at);
	p->module_at = malloc(n * sizeof *p->module_at);
	int rc = x.first && p->thunk_at && p->module_at ? run(&x) : nsx_err_nomem(&p->err, p->input->path);
	free(x.first);
	free(x.modules.p);
	free(x.thunks.p);
	return rc;
}
