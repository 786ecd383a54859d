/* steps.c -- collect the steps of a job from a stream. */
#include "job/steps/steps.h"

#include <stdlib.h>

#include "base/num.h"
#include "base/sort.h"
#include "job/diags_of.h"
#include "job/steps/batch.h"
#include "job/steps/between.h"
#include "job/reach.h"
#include "job/steps/marks.h"
#include "job/steps/numbers.h"
#include "job/steps/periods.h"
#include "job/steps/class.h"

/* ---- threads */

static struct nsx_step_thread *
thread_at(struct nsx_step_set *s, int64_t profile, int64_t pid, int64_t tid)
{
	uint32_t at = nsx_thread_number(&s->thread_of, profile, pid, tid);
	struct nsx_step_thread new = { .profile = profile, .pid = pid, .tid = tid, .until = INT64_MIN };

	return nsx_vec_next(&s->threads, at, new) ? &s->threads.p[at] : NULL;
}

/* Record that the thread, NSX_NONE for all of them, has steps of the class: *n counts it if that is new. False when out
 * of memory. */
static bool
add_class(struct nsx_step_set *s, uint32_t thread, uint32_t class, size_t *n)
{
	uint32_t *at = nsx_map_at(&s->has_class, (struct nsx_key){ thread, class });

	if (!at)
		return false;
	*n += *at == NSX_NONE;
	*at = 1;
	return true;
}

/* ---- steps on devices */

/* The step on the device, created if it is new; NULL when out of memory. */
static struct nsx_step_of *
step_on(struct nsx_step_set *s, uint32_t step, uint32_t device)
{
	uint32_t *at = nsx_map_at(&s->list_of, (struct nsx_key){ step, device });
	struct nsx_step_of new = { .class = s->steps.p[step].class, .device = device, .step = step, .first = INT64_MAX,
	                           .last = INT64_MIN, .next = NSX_ABSENT, .period = NSX_ABSENT,
	                           .tag = s->steps.p[step].tag, .met = { NSX_ABSENT, NSX_ABSENT }, .other = NSX_NONE };

	if (at && *at == NSX_NONE && s->list.n < NSX_NONE && nsx_vec_push(&s->list, new))
		*at = (uint32_t)(s->list.n - 1);
	return at && *at != NSX_NONE ? &s->list.p[*at] : NULL;
}

/* An operation of the step that communicates ended. */
static void
meet(struct nsx_step_of *o, int64_t end)
{
	if (o->met[0] == NSX_ABSENT || end < o->met[0])
		o->met[0] = end;
	if (o->met[1] == NSX_ABSENT || end > o->met[1])
		o->met[1] = end;
}

static bool
add_op(struct nsx_step_set *s, uint32_t step, uint32_t device, const struct nsx_step_op *op, bool helper)
{
	struct nsx_step_of *o = step_on(s, step, device);
	int64_t start = op->start, end = op->end;

	if (!o)
		return false;
	if (op->comm)
		meet(o, end);
	o->first = start < o->first ? start : o->first;
	o->last = end > o->last ? end : o->last;
	o->ops++;
	o->helper += helper;
	return true;
}

/* ---- ranges */

/* Whether a record was seen whole, on the host in [start, end], and on the GPU. */
static bool
is_seen(const struct nsx_step_set *s, const struct nsx_rec *rec, int64_t start, int64_t end)
{
	int64_t profile = nsx_field_int(rec, NSX_ROLE_PROFILE, NSX_ABSENT);
	int64_t gpu = nsx_field_int(rec, NSX_ROLE_START, NSX_ABSENT);

	if (start != NSX_ABSENT && !nsx_step_is_seen(s, profile, start, end))
		return false;
	return gpu == NSX_ABSENT
	       || nsx_step_is_seen(s, profile, gpu, nsx_add_sat(gpu, nsx_field_int(rec, NSX_ROLE_DUR, 0), NULL));
}

static bool
take_range(struct nsx_step_set *s, const struct nsx_rec *rec)
{
	int64_t start = nsx_int(rec, NSX_RANGE_host_start, NSX_ABSENT), end = nsx_add_sat(start,
		nsx_int(rec, NSX_RANGE_host_dur, 0), NULL);
	struct nsx_step_thread *t;
	struct nsx_step new;
	uint32_t class;

	if (s->kind == NSX_STEP_MODULE || start == NSX_ABSENT)
		return true;
	if (!nsx_step_class_of(s, rec, &class))
		return false;
	if (class == NSX_NONE)
		return true;
	t = thread_at(s, nsx_int(rec, NSX_RANGE_profile, NSX_ABSENT), nsx_int(rec, NSX_RANGE_pid, NSX_ABSENT),
	              nsx_int(rec, NSX_RANGE_tid, NSX_ABSENT));
	if (!t)
		return false;
	if (start < t->until && end <= t->until) {
		s->nested++;
		return true;
	}
	if (nsx_int(rec, NSX_RANGE_unended, 0) == 1) {
		s->unended++;
		return true;
	}
	t->until = end > t->until ? end : t->until;
	new = (struct nsx_step){ t->profile, t->pid, nsx_int(rec, NSX_RANGE_range, NSX_ABSENT), start, end, class,
	                         (uint32_t)(t - s->threads.p), !is_seen(s, rec, start, end), 0,
	                          nsx_step_tag(nsx_string(rec, NSX_RANGE_name)) };
	if (s->shaped) {
		uint32_t name = nsx_intern(&s->names, nsx_string(rec, NSX_RANGE_name));

		if (name == NSX_NONE)
			return false;
		new.name = name + 1;
	}
	if (s->steps.n >= NSX_NONE || !nsx_vec_push(&s->steps, new) || !nsx_vec_push(&t->steps,
	    (uint32_t)(s->steps.n - 1)))
		return false;
	return add_class(s, new.thread, class, &t->nclasses) && add_class(s, NSX_NONE, class, &s->nclasses);
}

/* The thread's step that contains the call; NSX_NONE: none. Steps of a thread do not nest, and calls are nearly in
 * order. */
static uint32_t
own_step(const struct nsx_step_set *s, const struct nsx_step_thread *t, int64_t from, int64_t to)
{
	size_t after;

	NSX_BISECT(after, 0, t->steps.n, s->steps.p[t->steps.p[after]].host_start > from);
	if (!after)
		return NSX_NONE;
	uint32_t step = t->steps.p[after - 1];

	return s->steps.p[step].host_end >= to ? step : (uint32_t)NSX_NONE;
}

/* ---- modules */

static bool
take_module(struct nsx_step_set *s, const struct nsx_rec *rec)
{
	uint32_t device = nsx_cat_device(&s->cat, rec), program = nsx_cat_program(&s->cat, rec);
	int64_t start = nsx_int(rec, NSX_MODULE_start, NSX_ABSENT), dur = nsx_int(rec, NSX_MODULE_dur, -1);
	int64_t host = nsx_int(rec, NSX_MODULE_host_start, NSX_ABSENT), execution = nsx_int(rec, NSX_MODULE_execution,
		NSX_ABSENT);
	struct nsx_step new = { nsx_int(rec, NSX_MODULE_profile, NSX_ABSENT), NSX_ABSENT, nsx_int(rec, NSX_MODULE_range,
		NSX_ABSENT), host,
	                        nsx_add_sat(host, nsx_int(rec, NSX_MODULE_host_dur, 0), NULL), NSX_NONE, NSX_NONE,
	                        false, 0, NSX_ABSENT };
	uint32_t *at;

	s->modules++;
	if (device == NSX_NONE || program == NSX_NONE)
		return false;
	if (s->kind != NSX_STEP_MODULE || start == NSX_ABSENT || dur < 0)
		return true;
	const struct nsx_cat_program *p = &s->cat.programs.p[program];

	bool named = !s->label || nsx_str_eq(nsx_cat_str(&s->cat, p->name), nsx_str_c(s->label)) ||
	             nsx_str_eq(nsx_cat_str(&s->cat, p->key), nsx_str_c(s->label));

	new.class = nsx_intern(&s->names, s->label && named ? nsx_str_c(s->label)
	                                                    : nsx_cat_program_label(&s->cat, program));
	new.cut = !is_seen(s, rec, host, new.host_end);
	if (!named)
		return new.class != NSX_NONE
		       && nsx_vec_push(&s->others, ((struct nsx_step_other){ device, new.class, start, dur }));
	struct nsx_step_of on = {
		.class = new.class, .device = device, .step = (uint32_t)s->steps.n, .first = start,
		.last = nsx_add_sat(start, dur, NULL), .next = NSX_ABSENT, .period = NSX_ABSENT, .tag = NSX_ABSENT,
		.met = { NSX_ABSENT, NSX_ABSENT }, .other = NSX_NONE
	};

	at = nsx_map_at(&s->list_of, (struct nsx_key){ (uint64_t)device << 32 | program, (uint64_t)execution });
	if (!at || new.class == NSX_NONE || s->list.n >= NSX_NONE || !nsx_vec_push(&s->steps, new) ||
	    !nsx_vec_push(&s->list, on))
		return false;
	*at = (uint32_t)(s->list.n - 1);
	return true;
}

/* ---- operations */

static bool
reach_device(struct nsx_step_set *s, uint32_t device)
{
	while (s->timelines.n <= device)
		if (!nsx_vec_push(&s->timelines, ((struct nsx_timeline){ .removed_only = s->bounds })) ||
		    !nsx_vec_push(&s->removed, NSX_REMOVED_NONE))
			return false;
	return true;
}

int
nsx_steps_take_time(struct nsx_step_set *s, uint32_t device, enum nsx_part part, int64_t start, int64_t end,
                    const struct nsx_rec *op)
{
	if (!reach_device(s, device))
		return nsx_err_nomem(s->err, NULL);
	nsx_removed_take(&s->removed.p[device], op);
	return nsx_timeline_add(&s->timelines.p[device], part, start, end, &s->removed.p[device])
	       ? NSX_OK : nsx_err_nomem(s->err, NULL);
}

static bool
take_op(struct nsx_step_set *s, const struct nsx_rec *rec)
{
	uint32_t device = nsx_cat_device(&s->cat, rec);
	int64_t start = nsx_int(rec, NSX_OP_start, NSX_ABSENT), dur = nsx_int(rec, NSX_OP_dur, -1),
	    end = nsx_add_sat(start, dur, NULL);
	int64_t from = nsx_int(rec, NSX_OP_host_start, NSX_ABSENT), to = nsx_add_sat(from, nsx_int(rec, NSX_OP_host_dur,
		0), NULL);
	struct nsx_step_op op = { from, start, end, device, false };
	struct nsx_step_thread *t;
	uint32_t step, program;

	s->ops++;
	if (device == NSX_NONE)
		return false;
	if (!reach_device(s, device))
		return false;
	if (start == NSX_ABSENT || dur < 0 || !nsx_has(rec, NSX_OP_device)) {
		s->timeless++;
		return true;
	}
	op.comm = nsx_cat_communicates(&s->cat, rec);
	if (nsx_steps_take_time(s, device, nsx_part_of(rec, op.comm), start, end, rec)
	    != NSX_OK || (!s->bounds && !nsx_overruns_take_op(&s->overruns, device, rec)))
		return false;
	if (s->kind == NSX_STEP_MODULE) {
		if (nsx_has(rec, NSX_OP_program) && (program = nsx_cat_program(&s->cat, rec)) != NSX_NONE) {
			uint32_t at = nsx_map_get(&s->list_of, (struct nsx_key){ (uint64_t)device << 32 | program,
				(uint64_t)nsx_int(rec, NSX_OP_execution, NSX_ABSENT) });

			if (at != NSX_NONE) {
				s->list.p[at].ops++;
				if (op.comm)
					meet(&s->list.p[at], end);
			}
		}
		return true;
	}
	if (from == NSX_ABSENT || !nsx_has(rec, NSX_OP_tid)) {
		s->no_call++;
		return true;
	}
	t = thread_at(s, nsx_int(rec, NSX_OP_profile, NSX_ABSENT), s->cat.devices.p[device].pid, rec->v[NSX_OP_tid].i);
	if (!t)
		return false;
	step = own_step(s, t, from, to);
	if (step != NSX_NONE) {
		uint32_t *use = nsx_map_at(&s->uses, (struct nsx_key){ (uint64_t)(t - s->threads.p) << 32 |
			s->steps.p[step].class, device });

		if (!use || !add_op(s, step, device, &op, false))
			return false;
		*use = 1;
	}
	/* A step that contains the call has been read before, so its class is known. */
	if (t->nclasses < s->nclasses && !nsx_vec_push(&t->ops, op))
		return false;
	return true;
}

void
nsx_steps_need(const struct nsx_step_set *s, struct nsx_reader *in)
{
	nsx_cat_need(&s->cat, in);
	nsx_reader_need(in, NSX_DIAG, NSX_C(DIAG, source));
	nsx_reader_need(in, NSX_STEP, NSX_EVERY);
	if (s->brief)
		return;
	nsx_reader_need(in, NSX_CALL, nsx_field_slots(NSX_CALL, NSX_REACH_ROLES));
	nsx_reader_need(in, NSX_MODULE, NSX_EVERY);
	nsx_range_book_need(in, false);
	nsx_reader_need(in, NSX_RANGE, NSX_C(RANGE, kind));
	nsx_reader_need(in, NSX_RANGE, NSX_C(RANGE, pid) | NSX_C(RANGE, tid) | NSX_C(RANGE, unended));
	nsx_reader_need(in, NSX_OP, nsx_field_slots(NSX_OP, NSX_REACH_ROLES | NSX_CAT_COMM_ROLES) | NSX_C(OP, device)
	                            | NSX_C(OP, type) | NSX_C(OP, stream) | NSX_C(OP, graph_node)
	                            | NSX_C(OP, execution) | NSX_C(OP, tid) | NSX_C(OP, profile)
	                            | NSX_C(OP, removed));
	nsx_between_need(in);
}

int
nsx_steps_take(struct nsx_step_set *s, const struct nsx_rec *rec)
{
	bool good = true;

	s->warm |= nsx_is_diag_of(rec, "nsysx-warmup");
	s->calls += rec->kind->id == NSX_CALL;
	s->came |= rec->kind->id == NSX_OP;
	if (!nsx_in_reach(rec)) {
		s->beyond++;
		return NSX_OK;
	}
	switch (rec->kind->id) {
	case NSX_RANGE:
		good = take_range(s, rec) && (!s->batched || nsx_step_batch_take(s, rec));
		if (good && nsx_between_take(&s->between, s, rec) != NSX_OK)
			return NSX_ERR;
		break;
	case NSX_STEP:
		s->excerpt |= nsx_int(rec, NSX_STEP_cut, 0) == 1;
		good = s->shaped || nsx_step_mark_take(s, rec);
		break;
	case NSX_MODULE: good = take_module(s, rec); break;
	case NSX_OP:     good = take_op(s, rec); break;
	default:         return nsx_cat_take(&s->cat, rec, s->err);
	}
	return good ? NSX_OK : nsx_err_nomem(s->err, NULL);
}

/* ---- helper threads */

NSX_ORDER(by_call, struct nsx_step_op, NSX_CMP(a->call, b->call), NSX_CMP(a->start, b->start))

/* The open step to which a helper thread's operation belongs: NSX_NONE if none is open. */
static uint32_t
choose(const struct nsx_step_set *s, const uint32_t *open, size_t n, const struct nsx_step_op *op)
{
	uint32_t best = NSX_NONE;
	bool used = false;

	for (size_t i = 0; i < n; i++) {
		const struct nsx_step *x = &s->steps.p[open[i]];
		bool uses = nsx_map_get(&s->uses, (struct nsx_key){ (uint64_t)x->thread << 32 | x->class,
			op->device }) != NSX_NONE;

		if (uses < used)
			continue;
		if (best == NSX_NONE || uses > used || x->host_start > s->steps.p[best].host_start)
			best = open[i];
		used |= uses;
	}
	return best;
}

/* The first operation of the thread, from `lo` on, whose call begins at `call` or later. */
static size_t
first_from(const struct nsx_step_thread *t, size_t lo, int64_t call)
{
	return lo + nsx_sort_first(t->ops.p + lo, t->ops.n - lo, sizeof *t->ops.p,
	                           offsetof(struct nsx_step_op, call), call);
}

/* Assign the operations of a thread without a step of the class to the open steps of its process: `steps` of n, by
 * start. */
static bool
help(struct nsx_step_set *s, const struct nsx_step_thread *t, const uint32_t *steps, size_t n)
{
	NSX_VEC(uint32_t) open = { 0 };
	size_t next = 0;
	bool good = true;

	for (size_t i = 0; good && i < t->ops.n; i++) {
		const struct nsx_step_op *op = &t->ops.p[i];
		size_t kept = 0;
		uint32_t step;

		for (; good && next < n && s->steps.p[steps[next]].host_start <= op->call; next++)
			good = nsx_vec_push(&open, steps[next]);
		for (size_t k = 0; k < open.n; k++)
			if (s->steps.p[open.p[k]].host_end > op->call)
				open.p[kept++] = open.p[k];
		open.n = kept;
		if (!open.n) {
			/* No step is open until the next begins: skip to its first operation. */
			if (next == n)
				break;
			i = first_from(t, i + 1, s->steps.p[steps[next]].host_start) - 1;
			continue;
		}
		step = choose(s, open.p, open.n, op);
		if (good && step != NSX_NONE)
			good = add_op(s, step, op->device, op, true);
	}
	free(open.p);
	return good;
}

static int
by_process(const void *a, const void *b, const void *set)
{
	const struct nsx_step_set *s = set;
	const struct nsx_step *x = &s->steps.p[*(const uint32_t *)a], *y = &s->steps.p[*(const uint32_t *)b];

	return NSX_FIRST(NSX_CMP(x->class, y->class), NSX_CMP(x->profile, y->profile), NSX_CMP(x->pid, y->pid),
	                 NSX_CMP(x->host_start, y->host_start), NSX_CMP(x, y));
}

/* Whether the step's process comes before the thread's. */
static bool
process_before(const struct nsx_step *x, const struct nsx_step_thread *t)
{
	return x->profile != t->profile ? x->profile < t->profile : x->pid < t->pid;
}

/* Assign operations of threads without a step of the class to steps of their process: `steps` of n, by process and
 * start. */
static bool
helpers_of(struct nsx_step_set *s, const uint32_t *steps, size_t n)
{
	bool good = true;

	for (size_t i = 0; good && i < s->threads.n; i++) {
		const struct nsx_step_thread *t = &s->threads.p[i];
		size_t from, to;

		if (!t->ops.n ||
		    nsx_map_get(&s->has_class, (struct nsx_key){ i, s->steps.p[steps[0]].class }) != NSX_NONE)
			continue;
		NSX_BISECT(from, 0, n, !process_before(&s->steps.p[steps[from]], t));
		for (to = from; to < n && s->steps.p[steps[to]].profile == t->profile && s->steps.p[steps[to]].pid ==
		     t->pid;)
			to++;
		good = help(s, t, steps + from, to - from);
	}
	return good;
}

static bool
helpers(struct nsx_step_set *s)
{
	uint32_t *order = malloc((s->steps.n + 1) * sizeof *order);
	bool good = order != NULL;

	for (size_t i = 0; good && i < s->steps.n; i++)
		order[i] = (uint32_t)i;
	if (good)
		nsx_sort_with(order, s->steps.n, sizeof *order, by_process, s);
	for (size_t i = 0, n; good && i < s->steps.n; i += n) {
		for (n = 1; i + n < s->steps.n && s->steps.p[order[i + n]].class == s->steps.p[order[i]].class;)
			n++;
		good = helpers_of(s, order + i, n);
	}
	free(order);
	return good;
}

/* ---- the end of the stream */

static int
by_class(const void *a, const void *b, const void *set)
{
	const struct nsx_step_set *s = set;
	const struct nsx_step_of *x = a, *y = b;
	int64_t dx = s->cat.devices.p[x->device].number, dy = s->cat.devices.p[y->device].number;

	if (x->class != y->class)
		return nsx_str_cmp(nsx_intern_str(&s->names, x->class), nsx_intern_str(&s->names, y->class));
	return NSX_FIRST(NSX_CMP(dx, dy), NSX_CMP(x->first, y->first), NSX_CMP(x->step, y->step));
}

/* Count the steps without GPU work. False when out of memory. */
static bool
count_empty(struct nsx_step_set *s)
{
	uint8_t *met = calloc(s->steps.n + 1, 1);

	s->empty = 0;
	for (size_t i = 0; met && i < s->list.n; i++)
		met[s->list.p[i].step] = 1;
	for (size_t i = 0; met && i < s->steps.n; i++)
		s->empty += !met[i];
	free(met);
	return met != NULL;
}

static int
finish_found(struct nsx_step_set *s)
{
	for (size_t i = 0; i < s->threads.n; i++)
		nsx_sort(s->threads.p[i].ops.p, s->threads.p[i].ops.n, by_call);
	if (!helpers(s) || (s->kind != NSX_STEP_MODULE && !count_empty(s)))
		return nsx_err_nomem(s->err, NULL);
	/* Without operations it is not known when an execution communicated, but it ends soon after that. */
	for (size_t i = 0; i < s->list.n && !s->ops; i++)
		meet(&s->list.p[i], s->list.p[i].last);
	nsx_sort_with(s->list.p, s->list.n, sizeof *s->list.p, by_class, s);
	return nsx_step_periods(s) == NSX_OK ? nsx_step_numbers(s->list.p, s->list.n, &s->cat, s->err) : NSX_ERR;
}

static int
finish_timelines(struct nsx_step_set *s)
{
	bool good = true;

	for (size_t i = 0; i < s->timelines.n; i++)
		good = good && nsx_timeline_finish(&s->timelines.p[i]);
	return good ? NSX_OK : nsx_err_nomem(s->err, NULL);
}

int
nsx_steps_finish(struct nsx_step_set *s)
{
	if (finish_timelines(s) != NSX_OK)
		return NSX_ERR;
	s->elsewhere = s->excerpt && !s->marks.n;
	if (!s->marks.n)
		return finish_found(s);
	nsx_step_marks_use(s);
	nsx_step_marks_measure(s);
	nsx_sort_with(s->list.p, s->list.n, sizeof *s->list.p, by_class, s);
	return NSX_OK;
}

int
nsx_steps_finish_times(struct nsx_step_set *s)
{
	if (finish_timelines(s) != NSX_OK)
		return NSX_ERR;
	nsx_step_marks_measure(s);
	return NSX_OK;
}

/* Steps that the recording, or --time, cuts. */
static void
report_cut(const struct nsx_step_set *s, struct nsx_diags *diags)
{
	for (uint32_t i = 0; i < s->cut.n; i++) {
		struct nsx_str class = nsx_intern_str(&s->names, i);

		nsx_diag_add(diags, NSX_WARNING, "", s->cut.p[i], "steps that are not whole, because the recording or "
		             "--time cuts them, are no steps; class '%.*s'", (int)(class.len < 200 ? class.len : 200),
		             class.ptr);
	}
}

void
nsx_steps_report_ranges(const struct nsx_step_set *s, struct nsx_diags *diags)
{
	nsx_diag_add(diags, NSX_INFO, "", s->nested, "matches within a step of their thread are ignored");
	nsx_diag_add(diags, NSX_WARNING, "", s->unended, "steps have no end in the export and are ignored");
	nsx_diag_add(diags, NSX_INFO, "", s->empty, "steps without GPU work are ignored");
	report_cut(s, diags);
}

void
nsx_steps_report(const struct nsx_step_set *s, struct nsx_diags *diags)
{
	if (!s->came && !s->brief)
		nsx_diag_lack(diags, "no operations in the stream, so the GPU time of steps is not known: extract with "
		              "--ops --ranges=all");
	nsx_steps_report_ranges(s, diags);
	nsx_diag_add(diags, NSX_WARNING, "", s->elsewhere && s->list.n,
	             "cut by other steps: nsysx-steps --cut made the stream with steps whose marks are not used here, "
	             "so periods may have in them what was cut away: look for these steps before the cut");
	nsx_diag_add(diags, NSX_WARNING, "", s->timeless, "operations without a device, start or duration: ignored");
	nsx_diag_add(diags, NSX_WARNING, "", s->beyond, NSX_BEYOND_REACH);
	nsx_diag_add(diags, NSX_WARNING, "", s->odd,
	             "marks of steps with a duration or period below 0 or beyond 73 years: ignored");
	nsx_diag_add(diags, NSX_INFO, "", s->no_call, "operations whose call is not in the profile belong to no step");
}

void
nsx_steps_free(struct nsx_step_set *s)
{
	nsx_overruns_free(&s->overruns);
	for (size_t i = 0; i < s->timelines.n; i++)
		nsx_timeline_free(&s->timelines.p[i]);
	for (size_t i = 0; i < s->threads.n; i++) {
		free(s->threads.p[i].steps.p);
		free(s->threads.p[i].ops.p);
	}
	nsx_cat_free(&s->cat);
	nsx_near_free(&s->near);
	nsx_range_book_free(&s->book);
	nsx_intern_free(&s->names);
	nsx_intern_free(&s->overlapping);
	nsx_buf_free(&s->text);
	free(s->timelines.p);
	free(s->removed.p);
	free(s->marks.p);
	free(s->marked.p);
	nsx_map_free(&s->batch_of);
	free(s->batches.p);
	nsx_between_free(&s->between);
	free(s->others.p);
	free(s->cut.p);
	free(s->dropped.p);
	free(s->threads.p);
	nsx_threads_free(&s->thread_of);
	free(s->steps.p);
	free(s->list.p);
	nsx_map_free(&s->list_of);
	nsx_map_free(&s->uses);
	nsx_map_free(&s->has_class);
}
