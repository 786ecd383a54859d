/* runs.c -- executions of programs and of their instructions, as the ranges that XLA writes where a profiler records
 * NVTX: XlaModule around all calls of an execution, Thunk around those of one instruction. What launched an operation
 * tells its execution:
 *
 *   line of calls     cuLaunch  cuLaunch  cuLaunch      its operations say program and instruction
 *   line of TraceMes  [ jit_step:XLA GPU module   ]     holds them: one execution
 *
 * Which line of TraceMes is of the thread of a line of calls, lines.c finds. Operations without a call, as all are on a
 * CPU, get calls that are no records: one after the other, on threads that exist for this only. */
#include <stdlib.h>

#include "base/sort.h"
#include "source/launches.h"
#include "xplane/runs.h"

/* ---- which call launched what */

static bool
join_calls(struct nsx_xruns *x)
{
	struct nsx_xspace *s = x->s;

	struct nsx_launches ids = { 0 };
	NSX_VEC(uint32_t) first = { 0 };   /* by id: its first call */
	bool good = nsx_launches_room(&ids, s->calls.n);

	x->op_call = malloc((s->ops.n + 1) * sizeof *x->op_call);
	for (uint32_t i = 0; good && i < s->calls.n; i++) {
		if (s->calls.p[i].row.correlation == NSX_NO_CORRELATION)
			continue;
		uint32_t at = nsx_launch_at(&ids, 0, s->calls.p[i].row.correlation);
		good = at != NSX_NONE && (at < first.n || nsx_vec_push(&first, i));
		if (good && s->calls.p[i].row.start < s->calls.p[first.p[at]].row.start)
			first.p[at] = i;
	}
	good = good && x->op_call;
	for (size_t i = 0; good && i < s->ops.n; i++) {
		struct nsx_xop *o = &s->ops.p[i];
		const struct nsx_xcall *c;
		uint32_t at = o->row.correlation == NSX_NO_CORRELATION ? (uint32_t)NSX_NONE
		    : nsx_launch_find(&ids, 0, o->row.correlation);

		x->op_call[i] = at == NSX_NONE ? (uint32_t)NSX_NONE : first.p[at];
		if (at == NSX_NONE)
			continue;
		c = &s->calls.p[x->op_call[i]];
		/* Nodes of a graph may be known by their launch only. Those that are known are in the range of the
		 * whole graph still: it has one launch. */
		bool node = o->row.graph_node >= 0, own = o->hlo_op != NSX_NONE;
		if (node && own && o->hlo_op != c->hlo_op)
			o->row.inst = o->hlo_op + 1;
		if (c->hlo_op != NSX_NONE ? !own || node : node && own)
			o->hlo_op = c->hlo_op != NSX_NONE ? c->hlo_op : x->buffer;
		if (c->program != NSX_NO_PROGRAM && o->program == NSX_NO_PROGRAM && o->hlo_op != NSX_NONE)
			o->program = c->program;
		if (o->module == NSX_NONE)
			o->module = c->module;
	}
	nsx_launches_free(&ids);
	free(first.p);
	return good;
}

/* ---- ranges with XLA's titles */

/* id: a free one; of ranges with one interval the lower is outside. program: NSX_NO_PROGRAM: an instruction. */
static int
add_range(struct nsx_xruns *x, int64_t id, uint64_t gtid, int64_t start, int64_t end, uint32_t name, int64_t program)
{
	struct nsx_xspace *s = x->s;
	uint32_t *title = nsx_map_at(&x->title_of, (struct nsx_key){ name, (uint64_t)program });
	struct nsx_build_range r = { .start = start, .end = end, .id = id, .gtid = gtid, .domain = x->domain };

	if (title && *title == NSX_NONE) {
		struct nsx_str of = nsx_intern_str(&s->t->names, name);

		s->text.len = 0;
		if (program != NSX_NO_PROGRAM)
			nsx_buf_fmt(&s->text, "XlaModule:#hlo_module=%.*s,program_id=%lld#", (int)of.len, of.ptr,
				    (long long)program);
		else
			nsx_buf_fmt(&s->text, "Thunk:#hlo_op=%.*s#", (int)of.len, of.ptr);
		*title = s->text.failed ? (uint32_t)NSX_NONE : nsx_intern(&s->t->names, nsx_buf_view(&s->text));
	}
	r.name = title ? *title : (uint32_t)NSX_NONE;
	return r.name != NSX_NONE && nsx_build_range(&s->build, &r) ? NSX_OK : nsx_xspace_nomem(s);
}

/* ---- executions with calls */

/* The run of a part, whose `run` is still its TraceMe; NULL when out of memory. Calls that no TraceMe holds are one
 * execution up to the thread's next call for another: of two that cross, the inner one would get what is the outer's.
 */
static struct nsx_xrun *
take_run(struct nsx_xruns *x, struct nsx_xpart *p, const struct nsx_xpart *before)
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
		struct nsx_xrun new = { s->lines.p[p->line].gtid, p->start, p->end + 1, o->program, o->module,
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

NSX_SORT_KEYS(by_call, struct nsx_xpart, a->line, a->start, a->id)

/* The operations of programs, with calls and without. */
static bool
list_parts(struct nsx_xruns *x)
{
	struct nsx_xspace *s = x->s;

	for (uint32_t i = 0; i < s->ops.n; i++) {
		const struct nsx_xop *o = &s->ops.p[i];
		struct nsx_xpart p = { .run = NSX_NONE, .device = o->row.device, .op = i, .name = o->hlo_op,
		                  .start = o->row.start, .end = o->row.end, .id = o->row.id };

		if (!nsx_xop_of_program(o)) {
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
			p.run = nsx_xspace_holder(x, as, o->module, c->row.start, c->row.end);
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
collect(struct nsx_xruns *x)
{
	if (!list_parts(x) || !nsx_sort_by(x->parts.p, x->parts.n, sizeof *x->parts.p, by_call, NULL))
		return false;
	for (size_t i = 0; i < x->parts.n; i++) {
		struct nsx_xpart *p = &x->parts.p[i];
		struct nsx_xrun *r = take_run(x, p, i ? p - 1 : NULL);

		if (!r)
			return false;
		r->start = p->start < r->start ? p->start : r->start;
		r->end = p->end >= r->end ? p->end + 1 : r->end;
	}
	return true;
}

/* Of parts that are sorted by call. */
NSX_SORT_KEYS(by_launch, struct nsx_xpart, (int64_t)a->run << 32 | a->device, a->start, a->id)

/* Instructions that run others. What they do themselves, such as the copy of a condition, is before, between and behind
 * these. */
static bool
runs_others(const struct nsx_xruns *x, uint32_t name)
{
	struct nsx_str s = nsx_intern_str(&x->s->t->names, name);

	return nsx_str_starts(s, "while") || nsx_str_starts(s, "conditional");
}

/* What an instruction runs that runs others, from its first launch in the execution to its last; where nothing is in
 * between it has no range, and what it does is the program's. */
static int
put_holders(struct nsx_xruns *x, const struct nsx_xpart *p, size_t n)
{
	NSX_VEC(struct holder_part { const struct nsx_xpart *first, *last; }) held = { 0 };
	int rc = NSX_OK;

	for (size_t i = 0; i < n && rc == NSX_OK; i++) {
		size_t k = 0;

		if (!runs_others(x, p[i].name))
			continue;
		while (k < held.n && held.p[k].first->name != p[i].name)
			k++;
		if (k == held.n && !nsx_vec_push(&held, ((struct holder_part){ &p[i], &p[i] })))
			rc = nsx_xspace_nomem(x->s);
		else
			held.p[k].last = &p[i];
	}
	for (size_t k = 0; k < held.n && rc == NSX_OK; k++) {
		const struct nsx_xpart *first = held.p[k].first, *last = held.p[k].last, *q = first;

		while (q < last && q->name == first->name)
			q++;
		if (q < last)
			rc = add_range(x, x->s->next++, x->runs.p[p->run].gtid, first->start, last->end, first->name,
			               NSX_NO_PROGRAM);
	}
	free(held.p);
	return rc;
}

static int
put_runs(struct nsx_xruns *x)
{
	int rc = NSX_OK;

	for (size_t i = 0; i < x->runs.n && rc == NSX_OK; i++) {
		const struct nsx_xrun *r = &x->runs.p[i];
		rc = add_range(x, x->s->next++, r->gtid, r->start, r->end, r->module, r->program);
	}
	if (rc == NSX_OK && !nsx_sort_by(x->parts.p, x->parts.n, sizeof *x->parts.p, by_launch, NULL))
		rc = nsx_xspace_nomem(x->s);
	for (size_t i = 0, n; i < x->parts.n && rc == NSX_OK; i += n) {
		const struct nsx_xpart *p = &x->parts.p[i];

		for (n = 1; i + n < x->parts.n && p[n].run == p->run && p[n].device == p->device;)
			n++;
		rc = put_holders(x, p, n);
	}
	for (size_t i = 0, n; i < x->parts.n && rc == NSX_OK; i += n) {
		const struct nsx_xpart *p = &x->parts.p[i];
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
set_apart(struct nsx_xruns *x)
{
	struct nsx_xspace *s = x->s;
	bool *runs = calloc(s->calls.n + 1, sizeof *runs);

	for (size_t i = 0; runs && i < s->ops.n; i++)
		if (x->op_call[i] != NSX_NONE && nsx_xop_of_program(&s->ops.p[i]))
			runs[x->op_call[i]] = true;
	for (size_t i = 0; runs && i < s->calls.n; i++) {
		struct nsx_xcall *c = &s->calls.p[i];
		uint32_t as = s->lines.p[c->line].as;
		c->row.apart = !runs[i] && as != NSX_NONE
		    && nsx_xspace_holder(x, as, NSX_NONE, c->row.start, c->row.end) != NSX_NONE;
	}
	free(runs);
	return runs != NULL;
}

/* ---- what has no calls */

NSX_SORT_KEYS(by_time, struct nsx_xpart, a->start, a->end)

static void
by_run(const void *part, const void *ops, int64_t k[3])
{
	const struct nsx_xop *o = (const struct nsx_xop *)ops + ((const struct nsx_xpart *)part)->op;

	k[0] = o->row.device;
	k[1] = o->program;
	k[2] = o->run;
}

/* A thread that has nothing from `start` on. */
static bool
lane_at(struct nsx_xruns *x, uint32_t device, int64_t start, size_t *lane)
{
	for (*lane = 0; *lane < x->lanes.n; ++*lane)
		if (x->lanes.p[*lane].device == device && x->lanes.p[*lane].end < start)
			return true;
	uint64_t tid = (UINT64_C(3) << 22) + x->lanes.n;
	return nsx_vec_push(&x->lanes, ((struct nsx_xlane){ device, INT64_MIN, (uint64_t)x->s->pid << 24 | tid }));
}

/* The n parts of an execution: calls and instructions one after the other, close to when they ran. */
static int
put_alone(struct nsx_xruns *x, const struct nsx_xpart *p, size_t n)
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

NSX_SORT_KEYS(by_group_start, struct group, a->start)

static int
put_all_alone(struct nsx_xruns *x)
{
	struct nsx_xspace *s = x->s;
	NSX_VEC(struct group) groups = { 0 };
	int rc = nsx_sort_by(x->alone.p, x->alone.n, sizeof *x->alone.p, by_time, s->ops.p)
	    && nsx_sort_by(x->alone.p, x->alone.n, sizeof *x->alone.p, by_run, s->ops.p) ? NSX_OK : nsx_xspace_nomem(s);
	for (size_t i = 0, n; i < x->alone.n && rc == NSX_OK; i += n) {
		const struct nsx_xop *o = &s->ops.p[x->alone.p[i].op];

		for (n = 1; i + n < x->alone.n; n++) {
			const struct nsx_xop *p = &s->ops.p[x->alone.p[i + n].op];
			if (p->row.device != o->row.device || p->program != o->program || p->run != o->run)
				break;
		}
		s->alone += o->has_run ? 0 : (int64_t)n;
		s->on_cpu += o->has_run ? (int64_t)n : 0;
		if (!nsx_vec_push(&groups, ((struct group){ x->alone.p[i].start, i, n })))
			rc = nsx_xspace_nomem(s);
	}
	if (rc == NSX_OK && !nsx_sort_by(groups.p, groups.n, sizeof *groups.p, by_group_start, NULL))
		rc = nsx_xspace_nomem(s);
	for (size_t i = 0; i < groups.n && rc == NSX_OK; i++)
		rc = put_alone(x, x->alone.p + groups.p[i].first, groups.p[i].n);
	free(groups.p);
	return rc;
}

/* ---- all */

/* Before the ranges that are added to them, whose numbers are higher. */
static bool
put_marks(struct nsx_xruns *x)
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
put_rows(struct nsx_xruns *x)
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
	struct nsx_xruns x = { .s = s, .silent = INT64_MIN + 1 };
	uint32_t domain = nsx_intern(&s->t->domains, NSX_STR("TSL"));
	int rc;

	x.domain = (uint16_t)domain;
	x.buffer = nsx_intern(&s->t->names, NSX_STR("command_buffer"));
	if (domain == NSX_NONE || x.buffer == NSX_NONE || !join_calls(&x) || !nsx_xspace_match(&x)
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
	nsx_map_free(&x.title_of);
	free(x.runs.p);
	free(x.parts.p);
	free(x.alone.p);
	free(x.lanes.p);
	return rc;
}
