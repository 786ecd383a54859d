/* collect.c -- assigns GPU operations to executions. Holds a line for each measured execution and the ranges that are
 * open on the host or on the GPU.
 *
 *   of range step:  step [inner [step [op 20 ns]] [op 5 ns]]   ->  20 ns for the inner step, 25 ns for the outer one */
#include <stdlib.h>
#include <string.h>

#include "table/measure/measure.h"
#include "base/num.h"
#include "base/sort.h"
#include "job/catalogue.h"
#include "job/metadata.h"
#include "job/range_book.h"
#include "job/threads.h"

/* Marks of ranges: the subject that they are or are inside. */
enum {
	UNRESOLVED = NSX_NONE,
	RESOLVING = NSX_NONE - 1,    /* the range is being resolved: reaching it again means a cycle */
	NOWHERE = NSX_NONE - 2       /* in no measured range */
};

/* Of a range in the book, `name` is the subject that it is, NSX_NONE if it is not measured; `mark` the one that its
 * operations are in. */
/* The measured ranges of a process, by start on the host; latest: the latest end of those so far. */
struct interval { int64_t start, latest; };
struct process { NSX_VEC(struct interval) ranges; };

struct collecting {
	struct nsx_spans   *s;
	struct nsx_map      programs;   /* program -> subject, for programs that are measured */
	struct nsx_catalogue cat;       /* profiles, with the time that was seen */
	struct nsx_map      cut;        /* (program and device, execution): its module was not seen whole */
	struct nsx_threads  threads;
	NSX_VEC(bool)       owns;       /* by thread: it has measured ranges */
	NSX_VEC(struct process) processes;   /* by number in `threads` */
	struct nsx_range_book book;
	struct nsx_buf      scratch;
	NSX_VEC(struct nsx_range_entry *) chain;
};

static int
nomem(const struct collecting *c)
{
	return nsx_err_nomem(c->s->err, NULL);
}

static uint32_t
add_subject(struct nsx_spans *s, struct nsx_subject sub, struct nsx_str name)
{
	sub.name = nsx_intern(&s->names, name);
	sub.outer = NSX_NONE;
	if (sub.name == NSX_NONE || s->subjects.n >= NOWHERE || !nsx_vec_push(&s->subjects, sub))
		return NSX_NONE;
	return (uint32_t)(s->subjects.n - 1);
}

/* ---- operations into spans */

/* The span of the subject's execution on the device, which begins at `start` if it is new; NULL when out of memory. */
static struct nsx_span_sum *
span_at(struct nsx_spans *s, uint32_t subject, int64_t execution, int64_t device, int64_t start)
{
	struct nsx_span_key key = { subject, execution, device };
	uint32_t number = nsx_sums_number(&s->rows, &key);
	struct nsx_span_sum *sp = number == NSX_NONE ? NULL : nsx_sums_at(&s->rows, number);

	if (sp && !sp->ops) {
		sp->id = s->subjects.p[subject].id;
		sp->name = s->subjects.p[subject].name;
		sp->number = number;
		sp->start = sp->end = start;
	}
	return sp;
}

static void
widen(struct nsx_span_sum *sp, int64_t start, int64_t end, int64_t kernels, int64_t ops)
{
	sp->start = start < sp->start ? start : sp->start;
	sp->end = end > sp->end ? end : sp->end;
	sp->kernels = nsx_add_sat(sp->kernels, kernels, NULL);
	sp->ops += ops;
}

/* Whether the time was seen of the record's profile. */
static bool
is_seen(const struct collecting *c, const struct nsx_rec *rec, int64_t start, int64_t dur)
{
	uint32_t at = nsx_cat_find_profile(&c->cat, nsx_field_int(rec, NSX_ROLE_PROFILE, NSX_ABSENT));
	const struct nsx_cat_profile *p = at == NSX_NONE ? NULL : &c->cat.profiles.p[at];

	return !p || (start >= p->from && nsx_add_sat(start, dur, NULL) <= p->to);
}

/* Whether that holds for what the host did, too. */
static bool
is_whole(const struct collecting *c, const struct nsx_rec *rec)
{
	int64_t start = nsx_field_int(rec, NSX_ROLE_START, NSX_ABSENT), dur = nsx_field_int(rec, NSX_ROLE_DUR, 0);
	int64_t host = nsx_field_int(rec, NSX_ROLE_HOST_START, NSX_ABSENT);
	int64_t host_dur = nsx_field_int(rec, NSX_ROLE_HOST_DUR, 0);

	return (start == NSX_ABSENT || is_seen(c, rec, start, dur))
	       && (host == NSX_ABSENT || is_seen(c, rec, host, host_dur));
}

static int
add_op(struct collecting *c, uint32_t subject, int64_t execution, const struct nsx_rec *rec)
{
	struct nsx_spans *s = c->s;
	int64_t start = nsx_int(rec, NSX_OP_start, 0), dur = rec->v[NSX_OP_dur].i;
	struct nsx_span_sum *sp = span_at(s, subject, execution, nsx_int(rec, NSX_OP_device, NSX_ABSENT), start);

	if (!sp)
		return nomem(c);
	widen(sp, start, nsx_add_sat(start, dur, NULL), dur, 1);
	sp->cut |= !is_seen(c, rec, start, dur);
	if (s->options->what != NSX_MEASURE_LIST)
		return NSX_OK;

	struct nsx_span_op op = { sp->number, start, dur, nsx_intern(&s->names, nsx_string(rec, NSX_OP_type)),
	                          nsx_intern(&s->names, nsx_string(rec, NSX_OP_name)) };

	return op.type != NSX_NONE && op.name != NSX_NONE && nsx_vec_push(&s->ops, op) ? NSX_OK : nomem(c);
}

/* ---- programs */

static int
take_program(struct collecting *c, const struct nsx_rec *rec)
{
	struct nsx_str want = nsx_str_c(c->s->options->module);
	struct nsx_program_names p = nsx_program_names_of(rec);

	c->s->candidates++;
	if (!nsx_str_eq(p.name, want) && !nsx_str_eq(p.key, want)) {
		nsx_near_offer(&c->s->near, p.name);
		nsx_near_offer(&c->s->near, p.key);
		return NSX_OK;
	}
	uint32_t sub = add_subject(c->s, (struct nsx_subject){ .id = p.id }, p.name);
	int64_t number = p.number == NSX_ABSENT ? -1 : p.number;
	uint32_t *at = nsx_map_at(&c->programs, (struct nsx_key){ (uint64_t)number, 0 });
	if (sub == NSX_NONE || !at)
		return nomem(c);
	*at = sub;
	c->s->matching++;
	return NSX_OK;
}

static int
take_module_op(struct collecting *c, const struct nsx_rec *rec)
{
	uint32_t sub;

	if (!nsx_has(rec, NSX_OP_program) || !nsx_has(rec, NSX_OP_execution))
		return NSX_OK;
	sub = nsx_map_get(&c->programs, (struct nsx_key){ (uint64_t)rec->v[NSX_OP_program].i, 0 });
	return sub == NSX_NONE ? NSX_OK : add_op(c, sub, rec->v[NSX_OP_execution].i, rec);
}

static struct nsx_key
execution_key(uint32_t subject, int64_t device, int64_t execution)
{
	return (struct nsx_key){ (uint64_t)subject << 32 | (uint32_t)device, (uint64_t)execution };
}

static int
take_module(struct collecting *c, const struct nsx_rec *rec)
{
	uint32_t sub = nsx_map_get(&c->programs, (struct nsx_key){ (uint64_t)nsx_int(rec, NSX_MODULE_program, -1), 0 });
	uint32_t *at;

	if (sub == NSX_NONE || is_whole(c, rec))
		return NSX_OK;
	at = nsx_map_at(&c->cut, execution_key(sub, nsx_int(rec, NSX_MODULE_device, NSX_ABSENT),
	                                       nsx_int(rec, NSX_MODULE_execution, NSX_ABSENT)));
	if (!at)
		return nomem(c);
	*at = 1;
	return NSX_OK;
}

/* ---- ranges */

/* Compares NAME, or DOMAIN:NAME. */
static bool
is_named(struct nsx_str domain, struct nsx_str name, struct nsx_str want)
{
	if (nsx_str_eq(name, want))
		return true;
	return domain.len && want.len == domain.len + 1 + name.len && memcmp(want.ptr, domain.ptr, domain.len) == 0 &&
	       want.ptr[domain.len] == ':' && (!name.len || memcmp(want.ptr + domain.len + 1, name.ptr, name.len) == 0);
}

/* Whether the range is requested, by its full name, its key or the form of options.names; *as: the name that matched.
 * Valid until the next call. */
static bool
is_asked_for(struct collecting *c, const struct nsx_rec *rec, struct nsx_str *as)
{
	struct nsx_str want = nsx_str_c(c->s->options->range), domain = nsx_string(rec, NSX_RANGE_domain),
	    name = nsx_string(rec, NSX_RANGE_name);

	*as = name;
	if (is_named(domain, name, want))
		return true;
	if (c->s->options->names == NSX_NAMES_FULL)
		return false;
	*as = nsx_name(NSX_NAMES_KEY, domain, name, &c->scratch);
	if (is_named(domain, *as, want))
		return true;
	*as = nsx_name(c->s->options->names, domain, name, &c->scratch);
	return c->s->options->names == NSX_NAMES_DIGITS && is_named(domain, *as, want);
}

/* Collect similar names, as long as no range has the name. */
static int
offer(struct collecting *c, const struct nsx_rec *rec)
{
	struct nsx_str domain = nsx_string(rec, NSX_RANGE_domain);

	if (c->s->matching)
		return NSX_OK;
	nsx_near_offer(&c->s->near, nsx_name(c->s->options->names, domain, nsx_string(rec, NSX_RANGE_name),
	                                     &c->scratch));
	if (domain.len)
		nsx_near_offer(&c->s->near, nsx_range_book_name(&c->book, rec, c->s->options->names));
	return c->scratch.failed || c->book.text.failed ? nomem(c) : NSX_OK;
}

/* ---- helper threads: those without measured ranges, in a process that has some */

static struct nsx_key
process_key(const struct nsx_rec *rec, int64_t pid)
{
	return (struct nsx_key){ (uint64_t)nsx_field_int(rec, NSX_ROLE_PROFILE, NSX_ABSENT), (uint64_t)pid };
}

/* A measured range: its thread is no helper. False when out of memory. */
static bool
own(struct collecting *c, const struct nsx_rec *rec)
{
	int64_t start = nsx_int(rec, NSX_RANGE_host_start, NSX_ABSENT), latest;
	int64_t pid = nsx_int(rec, NSX_RANGE_pid, NSX_ABSENT);
	uint32_t thread = nsx_thread_number(&c->threads, nsx_int(rec, NSX_RANGE_profile, NSX_ABSENT), pid,
	                                    nsx_int(rec, NSX_RANGE_tid, NSX_ABSENT));
	uint32_t at = nsx_map_get(&c->threads.process_of, process_key(rec, pid));

	if (thread == NSX_NONE || !nsx_vec_reach(&c->owns, thread, NULL) || !nsx_vec_reach(&c->processes, at, NULL))
		return false;
	c->owns.p[thread] = true;
	if (start == NSX_ABSENT)
		return true;
	struct process *p = &c->processes.p[at];

	latest = nsx_add_sat(start, nsx_int(rec, NSX_RANGE_host_dur, 0), NULL);
	if (p->ranges.n && p->ranges.p[p->ranges.n - 1].latest > latest)
		latest = p->ranges.p[p->ranges.n - 1].latest;
	return nsx_vec_push(&p->ranges, ((struct interval){ start, latest }));
}

static bool
is_helper(const struct collecting *c, const struct nsx_rec *op)
{
	int64_t at = nsx_int(op, NSX_OP_host_start, NSX_ABSENT), tid = nsx_int(op, NSX_OP_tid, NSX_ABSENT);
	uint32_t device = nsx_cat_find_device(&c->cat, nsx_int(op, NSX_OP_device, NSX_ABSENT)), process, thread;

	if (at == NSX_ABSENT || device == NSX_NONE)
		return false;
	process = nsx_map_get(&c->threads.process_of, process_key(op, c->cat.devices.p[device].pid));
	if (process >= c->processes.n)
		return false;
	thread = nsx_map_get(&c->threads.thread_of, (struct nsx_key){ process, (uint64_t)tid });
	if (thread < c->owns.n && c->owns.p[thread])
		return false;
	const struct process *p = &c->processes.p[process];
	size_t after = nsx_sort_first(p->ranges.p, p->ranges.n, sizeof *p->ranges.p,
	                              offsetof(struct interval, start), at + 1);

	return after && p->ranges.p[after - 1].latest > at;
}

static int
take_range(struct collecting *c, const struct nsx_rec *rec)
{
	struct nsx_str as;
	uint32_t subject = NSX_NONE;
	bool matches = is_asked_for(c, rec, &as);

	c->s->candidates++;
	c->s->matching += matches;
	if (c->scratch.failed)
		return nomem(c);
	if (!matches && offer(c, rec) != NSX_OK)
		return NSX_ERR;
	if (!nsx_has(rec, NSX_RANGE_start))
		return NSX_OK;   /* no GPU work */
	if (matches) {
		int64_t host_start = nsx_int(rec, NSX_RANGE_host_start, rec->v[NSX_RANGE_start].i);
		subject = add_subject(c->s, (struct nsx_subject){ .id = nsx_int(rec, NSX_RANGE_range, INT64_MIN),
			.host_start = host_start, .cut = !is_whole(c, rec) }, as);
		if (subject == NSX_NONE || !own(c, rec))
			return nomem(c);
	}
	return nsx_range_book_add(&c->book, rec, subject, c->s->err);
}

/* The measured range that an open one is or is inside, for it and all around it. A parent may come after its child if
 * both start at the same time, so it is resolved when the first operation comes. */
static int
resolve(struct collecting *c, struct nsx_range_entry *at)
{
	uint32_t around = NOWHERE;

	c->chain.n = 0;
	while (at->mark == UNRESOLVED) {
		struct nsx_range_entry *up;

		at->mark = RESOLVING;
		if (!nsx_vec_push(&c->chain, at))
			return nomem(c);
		up = at->parent == NSX_ABSENT ? NULL : nsx_range_book_find(&c->book, at->profile, at->parent);
		/* In a malformed stream the chain of parents may be a cycle: it ends there. */
		if (!up || up->mark == RESOLVING)
			break;
		at = up;
	}
	if (at->mark != RESOLVING)
		around = at->mark;
	while (c->chain.n) {
		struct nsx_range_entry *g = c->chain.p[--c->chain.n];

		if (g->name != NSX_NONE) {
			c->s->subjects.p[g->name].outer = around == NOWHERE ? (uint32_t)NSX_NONE : around;
			around = g->name;
		}
		g->mark = around;
	}
	return NSX_OK;
}

static int
take_range_op(struct collecting *c, const struct nsx_rec *rec)
{
	struct nsx_range_entry *at;
	uint32_t sub;

	c->s->helper += is_helper(c, rec);
	if (!nsx_has(rec, NSX_OP_range))
		return NSX_OK;
	at = nsx_range_book_find(&c->book, nsx_int(rec, NSX_OP_profile, NSX_ABSENT), rec->v[NSX_OP_range].i);
	if (!at) {
		c->s->no_range++;
		return NSX_OK;
	}
	if (at->mark == UNRESOLVED && resolve(c, at) != NSX_OK)
		return NSX_ERR;
	if (at->mark == NOWHERE)
		return NSX_OK;
	if (c->s->options->what != NSX_MEASURE_LIST)
		return add_op(c, at->mark, 0, rec);   /* carry_outward() does the rest */
	for (sub = at->mark; sub != NSX_NONE; sub = c->s->subjects.p[sub].outer)
		if (add_op(c, sub, 0, rec) != NSX_OK)
			return NSX_ERR;
	return NSX_OK;
}

/* Order measured ranges so that each comes before the one around it: a range is next when all inside it have been
 * placed. NULL when out of memory. */
static uint32_t *
inner_first(const struct nsx_spans *s)
{
	size_t count = s->subjects.n, n = 0;
	uint32_t *within = calloc(count + 1, sizeof *within), *order = within ? malloc((count + 1) * sizeof *order)
	    : NULL;

	for (size_t i = 0; order && i < count; i++)
		if (s->subjects.p[i].outer != NSX_NONE)
			within[s->subjects.p[i].outer]++;
	for (size_t i = 0; order && i < count; i++)
		if (!within[i])
			order[n++] = (uint32_t)i;
	for (size_t i = 0; order && i < n; i++) {
		uint32_t outer = s->subjects.p[order[i]].outer;

		if (outer != NSX_NONE && --within[outer] == 0)
			order[n++] = outer;
	}
	free(within);
	return order;
}

/* The operations of a range belong to the measured ranges around it too. Each range's spans are added once to the next
 * one outside, inner ranges first, so that the time is linear in the number of rows; operations were added to their
 * innermost range only. */
static int
carry_outward(struct collecting *c)
{
	struct nsx_spans *s = c->s;
	size_t count = s->subjects.n;
	uint32_t *order = inner_first(s), *head = malloc((count + 1) * sizeof *head);
	NSX_VEC(uint32_t) next = { 0 };   /* of the same subject: head, next */
	bool good = order && head;

	for (size_t i = 0; good && i < count; i++)
		head[i] = NSX_NONE;
	for (uint32_t i = 0; good && i < nsx_sums_count(&s->rows); i++) {
		const struct nsx_span_sum *sp = nsx_sums_at(&s->rows, i);

		good = nsx_vec_push(&next, head[sp->key.subject]);
		head[sp->key.subject] = i;
	}
	for (size_t i = 0; good && i < count; i++) {
		uint32_t outer = s->subjects.p[order[i]].outer;

		for (uint32_t k = head[order[i]]; good && outer != NSX_NONE && k != NSX_NONE; k = next.p[k]) {
			struct nsx_span_sum from = *(const struct nsx_span_sum *)nsx_sums_at(&s->rows, k);
			struct nsx_span_sum *sp = span_at(s, outer, 0, from.key.device, from.start);

			if (sp && (size_t)sp->number == next.n) {
				good = nsx_vec_push(&next, head[outer]);
				head[outer] = (uint32_t)sp->number;
			}
			good = good && sp;
			if (good)
				widen(sp, from.start, from.end, from.kernels, from.ops);
		}
	}
	free(order);
	free(head);
	free(next.p);
	return good ? NSX_OK : nomem(c);
}

/* Whether all of a span was seen: else it is no execution. */
static bool
seen_whole(void *collecting, const void *row)
{
	const struct collecting *c = collecting;
	const struct nsx_span_sum *sp = row;
	bool cut = sp->cut || c->s->subjects.p[sp->key.subject].cut || nsx_map_get(&c->cut, execution_key(
		(uint32_t)sp->key.subject, sp->key.device, sp->key.execution)) != NSX_NONE;

	c->s->cut += cut;
	return !cut;
}

/* Executions of ranges: counted by host start, for each device. */
static int
count_executions(struct collecting *c)
{
	struct nsx_spans *s = c->s;
	size_t n = nsx_sums_count(&s->rows);
	struct nsx_sort_key *keys = malloc((n + 1) * sizeof *keys);
	int64_t execution = 0;

	if (!keys)
		return nomem(c);
	for (uint32_t i = 0; i < n; i++) {
		const struct nsx_span_sum *sp = nsx_sums_at(&s->rows, i);

		keys[i] = (struct nsx_sort_key){ { sp->key.device, s->subjects.p[sp->key.subject].host_start, sp->id },
		                                 i };
	}
	nsx_sort_keys(keys, n);
	for (size_t i = 0; i < n; i++) {
		execution = i && keys[i].k[0] == keys[i - 1].k[0] ? execution + 1 : 0;
		((struct nsx_span_sum *)nsx_sums_at(&s->rows, keys[i].i))->key.execution = execution;
	}
	free(keys);
	return NSX_OK;
}

/* The executions that the tables show, complete. */
static int
finish(struct collecting *c)
{
	struct nsx_spans *s = c->s;
	const struct nsx_measure_options *o = s->options;

	if (o->range && o->what != NSX_MEASURE_LIST && carry_outward(c) != NSX_OK)
		return NSX_ERR;
	s->all = nsx_sums_count(&s->rows);
	nsx_sums_keep(&s->rows, seen_whole, c);
	s->whole = nsx_sums_count(&s->rows);
	if (o->range && count_executions(c) != NSX_OK)
		return NSX_ERR;
	for (size_t i = 0; i < s->whole; i++) {
		struct nsx_span_sum *sp = nsx_sums_at(&s->rows, i);

		sp->events = nsx_sub_sat(sp->end, sp->start, NULL);
	}
	return NSX_OK;
}

/* ---- the stream */

static int
take(void *state, const struct nsx_rec *rec)
{
	struct collecting *c = state;
	struct nsx_spans *s = c->s;

	switch (rec->kind->id) {
	case NSX_PROGRAM:
		return s->options->module ? take_program(c, rec) : NSX_OK;
	case NSX_PROFILE: case NSX_DEVICE:
		return nsx_cat_take(&c->cat, rec, s->err);
	case NSX_MODULE:
		return s->options->module ? take_module(c, rec) : NSX_OK;
	case NSX_RANGE:
		return s->options->range ? take_range(c, rec) : NSX_OK;
	case NSX_OP:
		s->met++;
		if (!nsx_has(rec, NSX_OP_dur) || rec->v[NSX_OP_dur].i < 0) {
			s->timeless++;
			return NSX_OK;
		}
		return s->options->module ? take_module_op(c, rec) : take_range_op(c, rec);
	default:
		return NSX_OK;
	}
}

static void
need(const struct collecting *c, struct nsx_reader *in)
{
	const struct nsx_spans *s = c->s;

	nsx_cat_need(&c->cat, in);
	if (s->options->module)
		nsx_reader_need(in, NSX_MODULE, NSX_EVERY);
	nsx_reader_need(in, NSX_OP, NSX_C(OP, start) | NSX_C(OP, dur) | NSX_C(OP, device) | NSX_C(OP, type)
	                            | NSX_C(OP, name) | NSX_C(OP, profile));
	if (s->options->module) {
		nsx_reader_need(in, NSX_PROGRAM, NSX_EVERY);
		nsx_reader_need(in, NSX_OP, NSX_C(OP, program) | NSX_C(OP, execution));
	} else {
		nsx_range_book_need(in, false);
		nsx_reader_need(in, NSX_OP, NSX_C(OP, tid) | NSX_C(OP, host_start));
		nsx_reader_need(in, NSX_RANGE, NSX_C(RANGE, pid) | NSX_C(RANGE, tid) | NSX_C(RANGE, host_start)
		                               | NSX_C(RANGE, host_dur));
	}
}

int
nsx_spans_read(struct nsx_spans *s, struct nsx_reader *in)
{
	struct collecting c = { .s = s };
	int rc;

	s->rows = (struct nsx_sums){ .def = &nsx_span_rows[!s->options->module], .texts = &s->names };
	need(&c, in);
	rc = nsx_read_all(in, s->options->require, take, &c, s->err);
	if (rc == NSX_OK)
		rc = finish(&c);
	nsx_map_free(&c.programs);
	nsx_map_free(&c.cut);
	nsx_threads_free(&c.threads);
	free(c.owns.p);
	for (size_t i = 0; i < c.processes.n; i++)
		free(c.processes.p[i].ranges.p);
	free(c.processes.p);
	nsx_cat_free(&c.cat);
	nsx_range_book_free(&c.book);
	nsx_buf_free(&c.scratch);
	free(c.chain.p);
	return rc;
}

void
nsx_spans_free(struct nsx_spans *s)
{
	nsx_intern_free(&s->names);
	free(s->subjects.p);
	nsx_sums_free(&s->rows);
	free(s->ops.p);
	nsx_near_free(&s->near);
}
