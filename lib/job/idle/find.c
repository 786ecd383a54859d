/* find.c -- why devices were idle: one pass over a stream. */
#include "job/idle/idle.h"

#include <stdlib.h>

#include "base/num.h"
#include "job/frameworks.h"
#include "job/idle/own.h"
#include "job/reach.h"
#include "job/remedy.h"

/* Launches take hundreds of ns; a call of 1 ns is one whose times are not known. */
enum { SHORTEST_CALL = 1 };

/* Records between two removals of data that is no longer needed: so many, or so many for each device, which each
 * removal visits. */
enum { OFTEN = 4096, OFTEN_EACH = 8 };

/* ---- devices */

/* The lowest `needed` of a process, and of incompletely known processes, in which each unknown field means all. */
static bool
needs(struct nsx_idle_finder *f, int64_t profile, int64_t pid, int64_t needed)
{
	uint32_t at = nsx_map_number(&f->need_of, (struct nsx_key){ (uint64_t)profile, (uint64_t)pid });

	if (!nsx_vec_next(&f->needs, at, needed))
		return false;
	if (f->needs.p[at] > needed)
		f->needs.p[at] = needed;
	return true;
}

/* Remove pieces of a process's threads that no later gap can need: those before the earliest `busy` of its devices that
 * still have operations to come, which may be far ahead; a device's first operation ends no gap. False when out of
 * memory. */
static bool
trim(struct nsx_idle_finder *f)
{
	f->since_trim = 0;
	f->needs.n = 0;
	nsx_map_free(&f->need_of);
	for (size_t k = 0; k < f->devices.n; k++) {
		const struct nsx_idle_device *d = &f->devices.p[k];
		const struct nsx_cat_device *c = &f->cat->devices.p[k];

		if (d->begun && (c->last == NSX_ABSENT || c->last >= f->now)
		    && !needs(f, c->profile == NSX_NONE ? NSX_ABSENT : f->cat->profiles.p[c->profile].number, c->pid,
		              d->busy))
			return false;
	}
	for (size_t i = 0; i < f->threads.n; i++) {
		struct nsx_host_thread *t = &f->threads.p[i];
		int64_t needed = INT64_MAX;

		for (int known = 0; known < 4; known++) {
			uint32_t at = nsx_map_get(&f->need_of, (struct nsx_key){ (uint64_t)(known & 1 ? t->profile
				: NSX_ABSENT), (uint64_t)(known & 2 ? t->pid : NSX_ABSENT) });

			if (at != NSX_NONE && f->needs.p[at] < needed)
				needed = f->needs.p[at];
		}
		nsx_host_forget(t, needed == INT64_MAX ? f->now : needed);
	}
	return true;
}


static int
flush_run(struct nsx_idle_finder *f, struct nsx_idle_device *d)
{
	int64_t start = d->run_start;

	d->run_start = d->run_end;
	if (start >= d->run_end)
		return NSX_OK;

	const struct nsx_stretch run = { .device = d->index, .part = d->run_part, .start = start, .end = d->run_end,
	                                 .prev = NSX_NONE };

	return f->excerpt.on ? nsx_idle_cut_run(f, d, &run) : f->add(f->state, &run);
}

/* For nsx_parts: the current operation, and its device. */
struct settling { struct nsx_idle_finder *f; struct nsx_idle_device *d; const struct nsx_idle_op *op; };

int
nsx_idle_tell_removed(struct nsx_idle_finder *f, struct nsx_stretch *gap, int64_t until)
{
	struct nsx_idle_piece all = { gap->start, until, NSX_ABSENT, NSX_ABSENT, f->host_paths.root, NSX_NONE,
	                              NSX_CAUSE_REMOVED };
	struct nsx_stretch removed = { .device = gap->device, .part = NSX_PART_IDLE, .start = gap->start, .end = until,
	                               .pieces = &all, .n = 1, .blocked_to = gap->start, .prev = gap->prev };

	gap->start = until;
	return f->add(f->state, &removed);
}

/* The part of the gap before the work after it began to be awaited: until then the device ran what was removed, or
 * waited for it. */
static int
take_removed(struct nsx_idle_finder *f, struct nsx_idle_device *d, struct nsx_stretch *gap)
{
	int64_t until = nsx_removed_end(&d->removed, gap->start, gap->end);

	if (until <= gap->start)
		return NSX_OK;
	d->removed_in += until - gap->start;
	return nsx_idle_tell_removed(f, gap, until);
}

static int
settled(void *state, enum nsx_part part, int64_t start, int64_t end)
{
	struct settling *s = state;
	struct nsx_idle_device *d = s->d;

	if (part == d->run_part && start == d->run_end && part != NSX_PART_IDLE) {
		d->run_end = end;
		return NSX_OK;
	}
	if (flush_run(s->f, d) != NSX_OK)
		return NSX_ERR;
	d->run_part = part;
	d->run_start = part == NSX_PART_IDLE ? end : start;
	d->run_end = end;
	if (part != NSX_PART_IDLE)
		return NSX_OK;

	struct nsx_stretch gap = { .device = d->index, .part = part, .start = start, .end = end, .next = s->op,
	                           .prev = d->prev, .read = d->read };

	if ((s->f->excerpt.on && nsx_idle_cut_gap(s->f, d, &gap) != NSX_OK) || take_removed(s->f, d, &gap) != NSX_OK
	    || (s->f->marked ? nsx_idle_recall(s->f, d, &gap) : nsx_idle_explain(s->f, d, &gap)) != NSX_OK)
		return NSX_ERR;
	return gap.start < gap.end ? s->f->add(s->f->state, &gap) : NSX_OK;
}

/* The state of the device of that index in the catalogue, created with those before it; NULL when out of memory. */
static struct nsx_idle_device *
device_at(struct nsx_idle_finder *f, uint32_t index)
{
	while (index != NSX_NONE && f->devices.n <= index) {
		struct nsx_idle_device new = { .index = (uint32_t)f->devices.n, .prev = NSX_NONE, .told = NSX_NONE };

		if (!nsx_vec_push(&f->devices, new))
			return NULL;
	}
	return index == NSX_NONE ? NULL : &f->devices.p[index];
}

/* The first operation of a device, which begins its time. */
static int
begin(struct nsx_idle_finder *f, struct nsx_idle_device *d, int64_t start)
{
	struct nsx_stretch none = { .device = d->index, .part = NSX_PART_IDLE, .start = start, .end = start,
	                            .blocked_to = start, .prev = NSX_NONE };

	d->begun = true;
	d->busy = d->run_start = d->run_end = start;
	d->run_part = NSX_PART_IDLE;
	d->removed = NSX_REMOVED_NONE;
	return f->add(f->state, &none);
}

/* Marks have the frames of gaps, but for the operations around them. */
static bool
needs_names(const struct nsx_idle_finder *f)
{
	return f->marked ? f->prevs : f->frames;
}

/* Whether it copies to memory of the host, so that the host can read what the device computed. */
static bool
is_read(const struct nsx_rec *rec)
{
	struct nsx_str dst = nsx_string(rec, NSX_OP_dst);

	return nsx_str_eq(dst, NSX_STR("pageable")) || nsx_str_eq(dst, NSX_STR("pinned"));
}

static int
take_op(struct nsx_idle_finder *f, const struct nsx_rec *rec, uint32_t index, bool comm)
{
	struct nsx_idle_device *d = device_at(f, index);
	int64_t start = nsx_int(rec, NSX_OP_start, NSX_ABSENT), dur = nsx_int(rec, NSX_OP_dur, NSX_ABSENT);
	bool has_call = nsx_has(rec, NSX_OP_call) && nsx_has(rec, NSX_OP_host_start), second;
	struct nsx_idle_op op;

	if (!d)
		return nsx_err_nomem(f->err, NULL);
	f->ops++;
	if (start == NSX_ABSENT || dur < 0 || !nsx_has(rec, NSX_OP_device)) {
		f->timeless++;
		return NSX_OK;
	}
	op = (struct nsx_idle_op){
		.name = NSX_NONE, .path = f->host_paths.root, .start = start, .end = nsx_add_sat(start, dur, NULL),
		.call = nsx_int(rec, NSX_OP_call, NSX_ABSENT),
		.tid = nsx_int(rec, NSX_OP_tid, NSX_ABSENT), .host_start = nsx_int(rec, NSX_OP_host_start, NSX_ABSENT),
		.host_end = has_call ? nsx_add_sat(rec->v[NSX_OP_host_start].i, nsx_int(rec, NSX_OP_host_dur, 0),
		                                   NULL) : NSX_ABSENT,
		.waits = nsx_int(rec, NSX_OP_waits, 0), .pid = f->cat->devices.p[index].pid,
		.profile = nsx_int(rec, NSX_OP_profile, NSX_ABSENT),
		.op = f->ids ? nsx_int(rec, NSX_OP_op, NSX_ABSENT) : NSX_ABSENT,
		.range = f->ids ? nsx_int(rec, NSX_OP_range, NSX_ABSENT) : NSX_ABSENT,
		.graph_node = nsx_has(rec, NSX_OP_graph_node),
		.doubtful = has_call && nsx_has(rec, NSX_OP_host_dur) && rec->v[NSX_OP_host_dur].i <= SHORTEST_CALL
	};
	f->no_launch += !has_call;
	f->waits_unknown += has_call && !nsx_has(rec, NSX_OP_waits);
	if (!nsx_overruns_take_op(&f->overruns, index, rec))
		return nsx_err_nomem(f->err, NULL);
	if (!d->begun && begin(f, d, start) != NSX_OK)
		return NSX_ERR;
	if (f->frames && !f->marked && start > d->busy)
		op.path = nsx_idle_path(f, op.profile, nsx_int(rec, NSX_OP_range, NSX_ABSENT));
	if (op.path == NSX_NONE || (needs_names(f) && start > d->busy
	                            && !nsx_idle_frame(f, nsx_string(rec, NSX_OP_name), &op.name)))
		return nsx_err_nomem(f->err, NULL);
	nsx_removed_take(&d->removed, rec);
	bool gap = start > d->busy;
	if (nsx_parts_add(&d->parts, nsx_part_of(rec, comm), start, op.end, settled, &(struct settling){ f, d, &op }) !=
	    NSX_OK)
		return NSX_ERR;
	/* Nodes that end no gap are recorded too. */
	if (!gap && !f->marked && nsx_idle_is_second_node(f, d, &op, &second) != NSX_OK)
		return NSX_ERR;
	if (op.end > d->busy) {
		d->busy = op.end;
		d->read = is_read(rec);
		if (f->prevs && !nsx_idle_frame(f, nsx_string(rec, NSX_OP_name), &d->prev))
			return nsx_err_nomem(f->err, NULL);
	}
	return NSX_OK;
}

/* ---- the whole stream */

void
nsx_idle_op_need(const struct nsx_idle_finder *f, struct nsx_reader *in)
{
	nsx_reader_need(in, NSX_OP, nsx_field_slots(NSX_OP, NSX_REACH_ROLES | NSX_CAT_COMM_ROLES) | NSX_C(OP, device)
	                            | NSX_C(OP, stream) | NSX_C(OP, type) | NSX_C(OP, call) | NSX_C(OP, tid)
	                            | NSX_C(OP, profile) | NSX_C(OP, waits) | NSX_C(OP, graph_node)
	                            | NSX_C(OP, removed) | NSX_C(OP, dst)
	                            | (f->ids ? NSX_C(OP, op) | NSX_C(OP, range) : 0)
	                            | (needs_names(f) ? NSX_C(OP, name) : 0));
}

static int
take_mark(struct nsx_idle_finder *f, const struct nsx_rec *rec)
{
	struct nsx_idle_device *d = device_at(f, nsx_cat_device(f->cat, rec));

	return d ? nsx_idle_take_mark(f, d, rec) : nsx_err_nomem(f->err, NULL);
}

void
nsx_idle_finder_need(const struct nsx_idle_finder *f, struct nsx_reader *in)
{
	nsx_idle_op_need(f, in);
	if (f->marked) {
		nsx_idle_mark_need(f, in);
		nsx_idle_count_need(f, in);
	} else {
		nsx_idle_host_need(in);
	}
	nsx_excerpt_need(in);
}

int
nsx_idle_finder_take(struct nsx_idle_finder *f, const struct nsx_rec *rec)
{
	bool op = rec->kind->id == NSX_OP;

	f->came |= op;
	if (!nsx_in_reach(rec)) {
		f->beyond++;
		return NSX_OK;
	}
	return nsx_idle_finder_take_known(f, rec, op ? nsx_cat_device(f->cat, rec) : (uint32_t)NSX_NONE,
	                                  op && nsx_cat_communicates(f->cat, rec));
}

int
nsx_idle_finder_take_known(struct nsx_idle_finder *f, const struct nsx_rec *rec, uint32_t device, bool communicates)
{
	int rc = NSX_OK;

	switch (rec->kind->id) {
	case NSX_CALL: case NSX_OVERHEAD: case NSX_RANGE:
		if (f->marked)
			nsx_idle_count_host(f, rec);
		else
			rc = nsx_idle_take_host(f, rec);
		break;
	case NSX_IDLE:
		rc = f->marked ? take_mark(f, rec) : NSX_OK;
		break;
	case NSX_STEP:
		rc = nsx_excerpt_take(&f->excerpt, rec, nsx_cat_device(f->cat, rec))
		     ? NSX_OK : nsx_err_nomem(f->err, NULL);
		break;
	case NSX_DIAG:
		if (f->marked)
			nsx_idle_take_told(f, rec);
		break;
	case NSX_OP:
		f->came = true;
		f->now = nsx_int(rec, NSX_OP_start, f->now);
		rc = take_op(f, rec, device, communicates);
		break;
	default:
		rc = nsx_cat_take(f->cat, rec, f->err);
	}
	f->since_trim += !f->marked;
	if (f->since_trim >= OFTEN && f->since_trim >= OFTEN_EACH * (int64_t)f->devices.n && !trim(f))
		return nsx_err_nomem(f->err, NULL);
	return rc;
}

int
nsx_idle_finder_finish(struct nsx_idle_finder *f)
{
	for (size_t i = 0; i < f->devices.n; i++) {
		struct nsx_idle_device *d = &f->devices.p[i];

		if (nsx_parts_finish(&d->parts, settled, &(struct settling){ f, d, NULL }) != NSX_OK ||
		    flush_run(f, d) != NSX_OK || (f->excerpt.on && nsx_idle_cut_rest(f, d) != NSX_OK))
			return NSX_ERR;
	}
	return NSX_OK;
}

/* Whether the recording of a's profile ended before that of b's began. */
static bool
ended_before(const struct nsx_catalogue *cat, const struct nsx_cat_device *a, const struct nsx_cat_device *b)
{
	if (a->profile == NSX_NONE || b->profile == NSX_NONE || a->profile == b->profile || a->last == NSX_ABSENT)
		return false;
	const struct nsx_cat_profile *p = &cat->profiles.p[a->profile], *q = &cat->profiles.p[b->profile];
	int64_t first = q->from > 0 ? q->from : 0, last = a->last < p->to ? a->last : p->to, end, begin;

	return p->start_utc > 0 && q->start_utc > 0 && !__builtin_add_overflow(p->start_utc, last, &end)
	       && !__builtin_add_overflow(q->start_utc, first, &begin) && end < begin;
}

/* Report devices for which the data is incomplete. */
static int
report_clocks(struct nsx_idle_finder *f, struct nsx_diags *diags)
{
	enum { UUID, ALIGNED, MIXED };   /* the first device of a UUID; the first aligned one of a profile; whether
	                                  * others of it differ */
	struct nsx_map first = { 0 };
	int rc = NSX_OK;

	for (size_t i = 0; i < f->cat->devices.n && rc == NSX_OK; i++) {
		const struct nsx_cat_device *d = &f->cat->devices.p[i];
		uint32_t *uuid = NULL, *mixed = NULL;

		if (d->uuid != NSX_NONE) {
			uuid = nsx_map_at(&first, (struct nsx_key){ UUID, d->uuid });
			if (uuid && *uuid != NSX_NONE) {
				const struct nsx_cat_device *other = &f->cat->devices.p[*uuid];
				bool apart = ended_before(f->cat, d, other) || ended_before(f->cat, other, d);

				nsx_diag_add(diags, NSX_WARNING, "", 1, "%s", apart
					? "recordings of one GPU at different times: these are two runs, which "
					  "nsysx-compare compares, not two devices of a job"
					: "two processes share one GPU: work of the other process counts as idle time");
				continue;
			}
			rc = uuid ? NSX_OK : nsx_err_nomem(f->err, NULL);
			if (uuid)
				*uuid = (uint32_t)i;
		}
		if (rc == NSX_OK && d->profile != NSX_NONE && d->aligned) {
			uint32_t *aligned = nsx_map_at(&first, (struct nsx_key){ ALIGNED, d->profile }), same = aligned
			    ? *aligned : (uint32_t)NSX_NONE;

			if (aligned && same == NSX_NONE)
				*aligned = same = (uint32_t)i;
			mixed = aligned ? nsx_map_at(&first, (struct nsx_key){ MIXED, d->profile }) : NULL;
			if (!mixed)
				rc = nsx_err_nomem(f->err, NULL);
			else if (*mixed != NSX_NONE || f->cat->devices.p[same].offset != d->offset) {
				*mixed = 1;
				nsx_diag_add(diags, NSX_WARNING, "", 1,
					"devices of one profile have different clocks, so their times differ from the "
					"host's");
			}
		}
	}
	nsx_map_free(&first);
	return rc;
}

int
nsx_idle_finder_report(struct nsx_idle_finder *f, struct nsx_diags *diags)
{
	int64_t crowded = f->told_crowded, stale = f->told_stale;

	if (!f->came)
		nsx_diag_lack(diags, "no operations in the stream: extract with --ops --calls --ranges=all (-a)");
	else if (!f->calls)
		nsx_diag_add(diags, NSX_WARNING, "", 1, "%s",
		             nsx_no_calls(f->cat, "no CUDA calls in the stream, so the host's activity is not known: "
		                                  "extract with --calls"));
	else if (!f->host_only)
		nsx_diag_add(diags, NSX_INFO, "", 1,
			"no ranges without GPU work in the stream, so causes compile and range may be counted as host: "
			"extract with --ranges=all");
	nsx_diag_add(diags, NSX_INFO, "", f->no_launch,
	             "operations whose call is not in the profile: a gap before one is no-call");
	nsx_diag_add(diags, NSX_WARNING, "", f->short_calls,
	             "gaps that end with an operation whose call took 1 ns or less, which no launch does: no verdict "
	             "rests on them");
	nsx_diag_add(diags, NSX_WARNING, "", f->late_calls,
		"gaps that end with an operation that starts before its call: the clocks of GPU and host disagree");
	nsx_overruns_report(&f->overruns, diags, "idle time under them is not seen");
	nsx_diag_add(diags, NSX_WARNING, "", f->timeless,
	             "operations without a device, start or duration: ignored");
	nsx_diag_add(diags, NSX_INFO, "", f->threadless, "overheads without a thread: ignored");
	nsx_diag_add(diags, NSX_INFO, "", f->waits_unknown,
		"operations of which it is not recorded whether they wait for events: a gap before one that is not "
		"latency is unresolved");
	nsx_diag_add(diags, NSX_WARNING, "", f->beyond, NSX_BEYOND_REACH);
	for (size_t i = 0; i < f->threads.n; i++) {
		crowded += f->threads.p[i].crowded;
		stale += f->threads.p[i].stale;
	}
	nsx_diag_add(diags, NSX_WARNING, "", crowded, NSX_IDLE_CROWDED);
	nsx_diag_add(diags, NSX_WARNING, "", stale, NSX_IDLE_STALE);
	return report_clocks(f, diags);
}

static uint32_t
push_path(void *state, uint32_t path, uint32_t name)
{
	return nsx_stacks_child(state, path, name);
}

void
nsx_idle_finder_begin(struct nsx_idle_finder *f)
{
	f->host_paths = (struct nsx_host_paths){ push_path, f->paths, NSX_STACKS_ROOT };
	nsx_framework_at(NSX_FRAMEWORK_COMPILE, &f->compile);
}

void
nsx_idle_finder_free(struct nsx_idle_finder *f)
{
	for (size_t i = 0; i < f->threads.n; i++)
		nsx_host_thread_free(&f->threads.p[i]);
	for (size_t i = 0; i < f->devices.n; i++) {
		nsx_map_free(&f->devices.p[i].launches);
		free(f->devices.p[i].launch_list.p);
		free(f->devices.p[i].marks.p);
	}
	free(f->threads.p);
	nsx_threads_free(&f->thread_of);
	free(f->devices.p);
	nsx_range_book_free(&f->ranges);
	free(f->pieces.p);
	free(f->host_pieces.list.p);
	free(f->needs.p);
	nsx_map_free(&f->need_of);
	nsx_series_free(&f->told);
	nsx_intern_free(&f->mark_paths);
	free(f->mark_nodes.p);
	nsx_overruns_free(&f->overruns);
	nsx_excerpt_free(&f->excerpt);
}
