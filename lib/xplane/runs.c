/* runs.c -- executions of programs and of their instructions, as the ranges that XLA writes where a profiler records
 * NVTX: XlaModule around all calls of an execution, Thunk around those of one instruction. What launched an operation
 * tells its execution:
 *
 *   line of calls     cuLaunch  cuLaunch  cuLaunch      its operations say program and instruction
 *   line of TraceMes  [ jit_step:XLA GPU module   ]     holds them: one execution
 *
 * Calls and TraceMes of one thread are on two lines, whose names do not tell which belong together: that line of
 * TraceMes is taken whose executions hold most of the calls. Operations without a call, as all are on a CPU, get calls
 * that are no records: one after the other, on threads that exist for this only. */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "xplane/reading.h"

/* An execution on the thread of its calls. */
struct run { uint64_t gtid; int64_t start, end, program; uint32_t module; bool unmarked; /* no TraceMe holds it */ };
/* An operation of an execution. run: of runs; before these are known, of marks. line: of its call. */
struct part { uint32_t run, line, device, op, name; int64_t start, end, id; };
/* A thread for what has no calls, and until when it is taken. */
struct lane { uint32_t device; int64_t end; uint64_t gtid; };

struct runs {
	struct nsx_xspace *s;
	uint32_t          *op_call;      /* by operation: of calls; NSX_NONE: none */
	NSX_VEC(uint32_t)  modules;      /* of marks that are executions, by line and start */
	NSX_VEC(int64_t)   reach;        /* the latest end of those of the line up to there */
	struct nsx_map     run_of;
	NSX_VEC(struct run)  runs;
	NSX_VEC(struct part) parts, alone;
	NSX_VEC(struct lane) lanes;
	uint16_t           domain;       /* XLA's */
	int64_t            silent;       /* the next correlation id of a call that is no record */
};

/* ---- which call launched what */

static bool
join_calls(struct runs *x)
{
	struct nsx_xspace *s = x->s;

	x->op_call = malloc((s->ops.n + 1) * sizeof *x->op_call);
	for (uint32_t i = 0; i < s->calls.n; i++) {
		if (s->calls.p[i].row.correlation == NSX_NO_CORRELATION)
			continue;
		uint32_t *at = nsx_map_at(&s->call_of, (struct nsx_key){ (uint64_t)s->calls.p[i].row.correlation, 0 });
		if (!at)
			return false;
		if (*at == NSX_NONE || s->calls.p[i].row.start < s->calls.p[*at].row.start)
			*at = i;
	}
	for (size_t i = 0; x->op_call && i < s->ops.n; i++) {
		struct nsx_xop *o = &s->ops.p[i];
		const struct nsx_xcall *c;

		x->op_call[i] = o->row.correlation == NSX_NO_CORRELATION ? (uint32_t)NSX_NONE
		    : nsx_map_get(&s->call_of, (struct nsx_key){ (uint64_t)o->row.correlation, 0 });
		if (x->op_call[i] == NSX_NONE)
			continue;
		c = &s->calls.p[x->op_call[i]];
		/* Nodes of a graph may be known by their launch only; of a graph as a whole it says what it is. */
		if (c->hlo_op != NSX_NONE && (o->hlo_op == NSX_NONE || o->row.graph_node >= 0))
			o->hlo_op = c->hlo_op;
		if (c->program != NSX_NO_PROGRAM && o->program == NSX_NO_PROGRAM && o->hlo_op != NSX_NONE)
			o->program = c->program;
		if (o->module == NSX_NONE)
			o->module = c->module;
	}
	return x->op_call != NULL;
}

static bool
of_program(const struct nsx_xop *o)
{
	return o->program != NSX_NO_PROGRAM && o->hlo_op != NSX_NONE && o->module != NSX_NONE;
}

/* ---- lines of calls and of TraceMes */

static int
by_place(const void *a, const void *b, const void *marks)
{
	const struct nsx_xmark *x = (const struct nsx_xmark *)marks + *(const uint32_t *)a,
	    *y = (const struct nsx_xmark *)marks + *(const uint32_t *)b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->row.start != y->row.start)
		return x->row.start < y->row.start ? -1 : 1;
	if (x->row.end != y->row.end)
		return x->row.end > y->row.end ? -1 : 1;
	return (x->row.id > y->row.id) - (x->row.id < y->row.id);
}

static bool
list_modules(struct runs *x)
{
	const struct nsx_xspace *s = x->s;

	for (uint32_t i = 0; i < s->marks.n; i++)
		if (s->marks.p[i].module != NSX_NONE && !nsx_vec_push(&x->modules, i))
			return false;
	if (x->modules.n > 1)
		nsx_sort_with(x->modules.p, x->modules.n, sizeof *x->modules.p, by_place, s->marks.p);
	for (size_t i = 0; i < x->modules.n; i++) {
		const struct nsx_xmark *m = &s->marks.p[x->modules.p[i]];
		bool later = i && s->marks.p[x->modules.p[i - 1]].line == m->line && x->reach.p[i - 1] > m->row.end;

		if (!nsx_vec_push(&x->reach, later ? x->reach.p[i - 1] : m->row.end))
			return false;
	}
	return true;
}

/* The innermost execution of the module, or with NSX_NONE of any, on that line that holds the time, as a number of
 * marks; NSX_NONE: none. */
static uint32_t
holder(const struct runs *x, uint32_t line, uint32_t module, int64_t start, int64_t end)
{
	enum { BACK = 64 };   /* executions that began before and hold others, or are over */
	const struct nsx_xmark *marks = x->s->marks.p;
	size_t lo = 0, hi = x->modules.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct nsx_xmark *m = &marks[x->modules.p[mid]];
		if (m->line < line || (m->line == line && m->row.start <= start))
			lo = mid + 1;
		else
			hi = mid;
	}
	for (size_t i = lo; i-- > 0 && lo - i <= BACK && marks[x->modules.p[i]].line == line && x->reach.p[i] >= end;)
		if ((module == NSX_NONE || marks[x->modules.p[i]].module == module) &&
		    marks[x->modules.p[i]].row.end >= end)
			return x->modules.p[i];
	return NSX_NONE;
}

/* Which line of TraceMes each line of calls with operations of programs is. */
static bool
match_lines(struct runs *x)
{
	struct nsx_xspace *s = x->s;
	NSX_VEC(uint32_t) lines = { 0 };
	size_t n = s->lines.n;
	int64_t *held = calloc(n + 1, sizeof *held);
	NSX_VEC(uint32_t) ops = { 0 };
	uint32_t *first = calloc(n + 2, sizeof *first);
	bool good = held && first;

	/* Lines with executions. */
	for (size_t i = 0; good && i < x->modules.n; i++) {
		uint32_t line = s->marks.p[x->modules.p[i]].line;
		if (!lines.n || lines.p[lines.n - 1] != line)
			good = nsx_vec_push(&lines, line);
	}
	for (size_t i = 0; good && i < s->ops.n; i++)
		if (x->op_call[i] != NSX_NONE && of_program(&s->ops.p[i]))
			first[s->calls.p[x->op_call[i]].line + 1]++;
	for (size_t i = 1; good && i <= n; i++)
		first[i] += first[i - 1];
	good = good && nsx_vec_room(&ops, first[n] + 1);
	for (size_t i = 0; good && i < s->ops.n; i++)
		if (x->op_call[i] != NSX_NONE && of_program(&s->ops.p[i]))
			ops.p[first[s->calls.p[x->op_call[i]].line]++] = (uint32_t)i;
	/* first[line] is now the end of the line's. */
	for (uint32_t line = 0; good && line < n; line++) {
		uint32_t from = line ? first[line - 1] : 0, best = NSX_NONE;
		int64_t most = 0;

		for (size_t k = 0; k < lines.n && from < first[line]; k++) {
			int64_t count = 0;
			for (uint32_t i = from; i < first[line]; i++) {
				const struct nsx_xcall *c = &s->calls.p[x->op_call[ops.p[i]]];
				count += holder(x, lines.p[k], s->ops.p[ops.p[i]].module, c->row.start, c->row.end) !=
					 NSX_NONE;
			}
			if (count > most ||
			    (count && count == most && s->lines.p[lines.p[k]].id < s->lines.p[best].id)) {
				most = count;
				best = lines.p[k];
			}
		}
		s->lines.p[line].as = best;
		s->unmatched += from < first[line] && best == NSX_NONE;
		if (best != NSX_NONE && most > held[best]) {
			held[best] = most;
			s->lines.p[best].tid = s->lines.p[line].tid;
		}
	}
	free(lines.p);
	free(held);
	free(ops.p);
	free(first);
	return good;
}

static int
by_id(const void *a, const void *b, const void *lines)
{
	int64_t x = ((const struct nsx_xline *)lines)[*(const uint32_t *)a].id,
	    y = ((const struct nsx_xline *)lines)[*(const uint32_t *)b].id;

	return x != y ? (x < y ? -1 : 1) : (*(const uint32_t *)a > *(const uint32_t *)b) - 1
	       + (*(const uint32_t *)a == *(const uint32_t *)b);
}

/* Threads of lines: their ids of the system; others get numbers above 2^23 in the order of their lines' ids, which also
 * number the streams of a CPU: its lines with instructions. */
static bool
number_lines(struct runs *x)
{
	struct nsx_xspace *s = x->s;
	uint32_t *order = malloc((s->lines.n + 1) * sizeof *order), *rank = calloc(s->lines.n + 1, sizeof *rank),
	    streams = 0;
	bool good = order && rank;

	for (uint32_t i = 0; good && i < s->lines.n; i++)
		order[i] = i;
	if (good && s->lines.n > 1)
		nsx_sort_with(order, s->lines.n, sizeof *order, by_id, s->lines.p);
	for (size_t i = 0; good && i < s->ops.n; i++)
		if (s->ops.p[i].has_run)
			rank[s->ops.p[i].row.stream] = 1;
	for (uint32_t i = 0; good && i < s->lines.n; i++) {
		struct nsx_xline *l = &s->lines.p[order[i]];
		uint64_t tid = l->tid >= 0 ? (uint64_t)l->tid : (UINT64_C(1) << 23) + i + 1;
		l->gtid = (uint64_t)s->pid << 24 | tid;
		if (rank[order[i]])
			rank[order[i]] = streams++;
	}
	for (size_t i = 0; good && i < s->ops.n; i++)
		if (s->ops.p[i].has_run)
			s->ops.p[i].row.stream = rank[s->ops.p[i].row.stream];
	free(order);
	free(rank);
	return good;
}

/* ---- ranges with XLA's titles */

/* id: a free one; of ranges with one interval the lower is outside. program: NSX_NO_PROGRAM: an instruction. */
static int
add_range(struct runs *x, int64_t id, uint64_t gtid, int64_t start, int64_t end, uint32_t name, int64_t program)
{
	struct nsx_xspace *s = x->s;
	struct nsx_str of = nsx_intern_str(&s->t->names, name);
	struct nsx_build_range r = { .start = start, .end = end, .id = id, .gtid = gtid, .domain = x->domain };

	s->text.len = 0;
	if (program != NSX_NO_PROGRAM)
		nsx_buf_fmt(&s->text, "XlaModule:#hlo_module=%.*s,program_id=%lld#", (int)of.len, of.ptr,
			    (long long)program);
	else
		nsx_buf_fmt(&s->text, "Thunk:#hlo_op=%.*s#", (int)of.len, of.ptr);
	r.name = s->text.failed ? (uint32_t)NSX_NONE : nsx_intern(&s->t->names, nsx_buf_view(&s->text));
	return r.name != NSX_NONE && nsx_build_range(&s->build, &r) ? NSX_OK : nsx_xspace_nomem(s);
}

/* ---- executions with calls */

/* The run of a part, whose `run` is still its TraceMe; NULL when out of memory. Calls that no TraceMe holds are one
 * execution up to the thread's next call for another: of two that cross, the inner one would get what is the outer's.
 */
static struct run *
take_run(struct runs *x, struct part *p, const struct part *before)
{
	struct nsx_xspace *s = x->s;
	const struct nsx_xop *o = &s->ops.p[p->op];
	uint32_t mark = p->run, none = NSX_NONE, *at = &none;

	if (mark != NSX_NONE) {
		at = nsx_map_at(&x->run_of, (struct nsx_key){ (uint64_t)mark << 32 | p->line, (uint64_t)o->program });
		if (!at)
			return NULL;
	} else if (before && before->line == p->line && x->runs.p[before->run].unmarked
	           && x->runs.p[before->run].program == o->program) {
		none = before->run;
	}
	if (*at == NSX_NONE) {
		/* A little longer than an instruction that is all of it: that is inside. */
		struct run new = { s->lines.p[p->line].gtid, p->start, p->end + 1, o->program, o->module,
			           mark == NSX_NONE };
		if (mark != NSX_NONE) {
			new.start = s->marks.p[mark].row.start;
			new.end = s->marks.p[mark].row.end;
		}
		*at = (uint32_t)x->runs.n;
		if (!nsx_vec_push(&x->runs, new))
			return NULL;
	}
	p->run = *at;
	return &x->runs.p[*at];
}

static int
by_call(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->id != y->id ? (x->id < y->id ? -1 : 1) : (x->op > y->op) - (x->op < y->op);
}

/* The operations of programs, with calls and without. */
static bool
list_parts(struct runs *x)
{
	struct nsx_xspace *s = x->s;

	for (uint32_t i = 0; i < s->ops.n; i++) {
		const struct nsx_xop *o = &s->ops.p[i];
		struct part p = { .run = NSX_NONE, .device = o->row.device, .op = i, .name = o->hlo_op,
		                  .start = o->row.start, .end = o->row.end, .id = o->row.id };

		if (!of_program(o)) {
			s->nameless += o->hlo_op != NSX_NONE;
			continue;
		}
		if (x->op_call[i] == NSX_NONE) {
			if (!nsx_vec_push(&x->alone, p))
				return false;
			continue;
		}
		const struct nsx_xcall *c = &s->calls.p[x->op_call[i]];
		uint32_t as = s->lines.p[c->line].as;
		if (as != NSX_NONE)
			p.run = holder(x, as, o->module, c->row.start, c->row.end);
		p.line = c->line;
		p.start = c->row.start;
		p.end = c->row.end;
		p.id = c->row.id;
		s->outside += p.run == NSX_NONE;
		if (!nsx_vec_push(&x->parts, p))
			return false;
	}
	return true;
}

static bool
collect(struct runs *x)
{
	if (!list_parts(x))
		return false;
	if (x->parts.n > 1)
		qsort(x->parts.p, x->parts.n, sizeof *x->parts.p, by_call);
	for (size_t i = 0; i < x->parts.n; i++) {
		struct part *p = &x->parts.p[i];
		struct run *r = take_run(x, p, i ? p - 1 : NULL);

		if (!r)
			return false;
		r->start = p->start < r->start ? p->start : r->start;
		r->end = p->end >= r->end ? p->end + 1 : r->end;
	}
	return true;
}

static int
by_launch(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->id != y->id ? (x->id < y->id ? -1 : 1) : (x->op > y->op) - (x->op < y->op);
}

/* Instructions that run others. What they do themselves, such as the copy of a condition, is before, between and behind
 * these. */
static bool
runs_others(const struct runs *x, uint32_t name)
{
	struct nsx_str s = nsx_intern_str(&x->s->t->names, name);

	return nsx_str_starts(s, "while") || nsx_str_starts(s, "conditional");
}

/* What an instruction runs that runs others, from its first launch in the execution to its last. */
static int
put_holders(struct runs *x, const struct part *p, size_t n)
{
	NSX_VEC(struct part) held = { 0 };
	int rc = NSX_OK;

	for (size_t i = 0; i < n && rc == NSX_OK; i++) {
		size_t k = 0;

		if (!runs_others(x, p[i].name))
			continue;
		while (k < held.n && held.p[k].name != p[i].name)
			k++;
		if (k == held.n && !nsx_vec_push(&held, p[i]))
			rc = nsx_xspace_nomem(x->s);
		else if (p[i].end > held.p[k].end)
			held.p[k].end = p[i].end;
	}
	for (size_t k = 0; k < held.n && rc == NSX_OK; k++)
		rc = add_range(x, x->s->next++, x->runs.p[p->run].gtid, held.p[k].start, held.p[k].end, held.p[k].name,
		               NSX_NO_PROGRAM);
	free(held.p);
	return rc;
}

static int
put_runs(struct runs *x)
{
	int rc = NSX_OK;

	for (size_t i = 0; i < x->runs.n && rc == NSX_OK; i++) {
		const struct run *r = &x->runs.p[i];
		rc = add_range(x, x->s->next++, r->gtid, r->start, r->end, r->module, r->program);
	}
	if (x->parts.n > 1)
		qsort(x->parts.p, x->parts.n, sizeof *x->parts.p, by_launch);
	for (size_t i = 0, n; i < x->parts.n && rc == NSX_OK; i += n) {
		const struct part *p = &x->parts.p[i];

		for (n = 1; i + n < x->parts.n && p[n].run == p->run && p[n].device == p->device;)
			n++;
		rc = put_holders(x, p, n);
	}
	for (size_t i = 0, n; i < x->parts.n && rc == NSX_OK; i += n) {
		const struct part *p = &x->parts.p[i];
		int64_t end = p->end;

		n = 1;
		if (runs_others(x, p->name))
			continue;
		/* A maximal series of launches of one instruction; one call is never in two. */
		for (; i + n < x->parts.n && p[n].run == p->run && p[n].device == p->device
		     && (p[n].name == p->name || p[n].id == p[n - 1].id); n++)
			end = p[n].end > end ? p[n].end : end;
		rc = add_range(x, x->s->next++, x->runs.p[p->run].gtid, p->start, end, p->name, NSX_NO_PROGRAM);
	}
	return rc;
}

/* Copies that the runtime makes during an execution are not part of the program. */
static bool
set_apart(struct runs *x)
{
	struct nsx_xspace *s = x->s;
	bool *runs = calloc(s->calls.n + 1, sizeof *runs);

	for (size_t i = 0; runs && i < s->ops.n; i++)
		if (x->op_call[i] != NSX_NONE && of_program(&s->ops.p[i]))
			runs[x->op_call[i]] = true;
	for (size_t i = 0; runs && i < s->calls.n; i++) {
		struct nsx_xcall *c = &s->calls.p[i];
		uint32_t as = s->lines.p[c->line].as;
		c->row.apart = !runs[i] && as != NSX_NONE
		    && holder(x, as, NSX_NONE, c->row.start, c->row.end) != NSX_NONE;
	}
	free(runs);
	return runs != NULL;
}

/* ---- what has no calls */

static int
by_run(const void *a, const void *b, const void *ops)
{
	const struct part *x = a, *y = b;
	const struct nsx_xop *o = (const struct nsx_xop *)ops + x->op, *p = (const struct nsx_xop *)ops + y->op;

	if (o->row.device != p->row.device)
		return o->row.device < p->row.device ? -1 : 1;
	if (o->program != p->program)
		return o->program < p->program ? -1 : 1;
	if (o->run != p->run)
		return o->run < p->run ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end != y->end ? (x->end < y->end ? -1 : 1) : (x->id > y->id) - (x->id < y->id);
}

/* A thread that has nothing from `start` on. */
static bool
lane_at(struct runs *x, uint32_t device, int64_t start, size_t *lane)
{
	for (*lane = 0; *lane < x->lanes.n; ++*lane)
		if (x->lanes.p[*lane].device == device && x->lanes.p[*lane].end < start)
			return true;
	uint64_t tid = (UINT64_C(3) << 22) + x->lanes.n;
	return nsx_vec_push(&x->lanes, ((struct lane){ device, INT64_MIN, (uint64_t)x->s->pid << 24 | tid }));
}

/* The n parts of an execution: calls and instructions one after the other, close to when they ran. */
static int
put_alone(struct runs *x, const struct part *p, size_t n)
{
	struct nsx_xspace *s = x->s;
	struct nsx_xop *o = &s->ops.p[p->op];
	int64_t first = p->start, last = first - 1, from = 0;
	size_t lane;

	if (!lane_at(x, o->row.device, first, &lane))
		return nsx_xspace_nomem(s);
	uint64_t gtid = x->lanes.p[lane].gtid;
	for (size_t i = 0; i < n; i++) {
		struct nsx_xop *op = &s->ops.p[p[i].op];
		int64_t start = p[i].start > last ? p[i].start : last + 1,
		    most = i + 1 < n ? p[i + 1].start - 1 : p[i].end, end = p[i].end < most ? p[i].end : most;
		struct nsx_build_call c = { .start = start,
					    .end = start,
					    .id = -1,
					    .correlation = x->silent++,
					    .gtid = gtid,
					    .name = p[i].name,
					    .silent = true };

		last = end > start ? end : start;
		op->row.correlation = c.correlation;
		if (!nsx_build_call(&s->build, &c))
			return nsx_xspace_nomem(s);
		/* On a CPU each is one; of a GPU a series of one instruction. */
		if (i == 0 || op->has_run || p[i].name != p[i - 1].name)
			from = start;
		if ((i + 1 == n || op->has_run || p[i + 1].name != p[i].name)
		    && add_range(x, s->next++, gtid, from, last, p[i].name, NSX_NO_PROGRAM) != NSX_OK)
			return NSX_ERR;
	}
	/* A little longer than an instruction that is all of it: that is inside. */
	last++;
	x->lanes.p[lane].end = last;
	return add_range(x, s->next++, gtid, first, last, o->module, o->program);
}

/* Executions without calls in the order of their starts, so that few threads are needed. */
struct group { int64_t start; size_t first, n; };

static int
by_group_start(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return x->start != y->start ? (x->start < y->start ? -1 : 1) : (x->first > y->first) - (x->first < y->first);
}

static int
put_all_alone(struct runs *x)
{
	struct nsx_xspace *s = x->s;
	NSX_VEC(struct group) groups = { 0 };
	int rc = NSX_OK;

	if (x->alone.n > 1)
		nsx_sort_with(x->alone.p, x->alone.n, sizeof *x->alone.p, by_run, s->ops.p);
	for (size_t i = 0, n; i < x->alone.n && rc == NSX_OK; i += n) {
		const struct nsx_xop *o = &s->ops.p[x->alone.p[i].op];

		for (n = 1; i + n < x->alone.n; n++) {
			const struct nsx_xop *p = &s->ops.p[x->alone.p[i + n].op];
			if (p->row.device != o->row.device || p->program != o->program || p->run != o->run)
				break;
		}
		s->alone += o->has_run ? 0 : (int64_t)n;
		if (!nsx_vec_push(&groups, ((struct group){ x->alone.p[i].start, i, n })))
			rc = nsx_xspace_nomem(s);
	}
	if (groups.n > 1)
		qsort(groups.p, groups.n, sizeof *groups.p, by_group_start);
	for (size_t i = 0; i < groups.n && rc == NSX_OK; i++)
		rc = put_alone(x, x->alone.p + groups.p[i].first, groups.p[i].n);
	free(groups.p);
	return rc;
}

/* ---- all */

/* Before the ranges that are added to them, whose numbers are higher. */
static bool
put_marks(struct runs *x)
{
	struct nsx_xspace *s = x->s;

	for (size_t i = 0; i < s->marks.n; i++) {
		s->marks.p[i].row.gtid = s->lines.p[s->marks.p[i].line].gtid;
		if (!nsx_build_range(&s->build, &s->marks.p[i].row))
			return false;
	}
	return true;
}

static bool
put_rows(struct runs *x)
{
	struct nsx_xspace *s = x->s;

	for (size_t i = 0; i < s->calls.n; i++) {
		s->calls.p[i].row.gtid = s->lines.p[s->calls.p[i].line].gtid;
		if (!nsx_build_call(&s->build, &s->calls.p[i].row))
			return false;
	}
	free(s->calls.p);
	s->calls.p = NULL;
	for (size_t i = 0; i < s->ops.n; i++)
		if (!nsx_build_op(&s->build, &s->ops.p[i].row))
			return false;
	free(s->ops.p);
	s->ops.p = NULL;
	return true;
}

int
nsx_xspace_runs(struct nsx_xspace *s)
{
	struct runs x = { .s = s, .silent = INT64_MIN + 1 };
	uint32_t domain = nsx_intern(&s->t->domains, NSX_STR("TSL"));
	int rc;

	x.domain = (uint16_t)domain;
	if (domain == NSX_NONE || !join_calls(&x) || !list_modules(&x) || !match_lines(&x) || !number_lines(&x)
	    || !collect(&x) || !set_apart(&x) || !put_marks(&x))
		rc = nsx_xspace_nomem(s);
	else
		rc = put_runs(&x);
	if (rc == NSX_OK)
		rc = put_all_alone(&x);
	if (rc == NSX_OK && !put_rows(&x))
		rc = nsx_xspace_nomem(s);
	free(x.op_call);
	free(x.modules.p);
	free(x.reach.p);
	nsx_map_free(&x.run_of);
	free(x.runs.p);
	free(x.parts.p);
	free(x.alone.p);
	free(x.lanes.p);
	return rc;
}
