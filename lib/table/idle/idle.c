/* idle.c -- why devices were not computing: one pass over a stream. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/pattern.h"
#include "job/reach.h"
#include "table/idle/idle.h"
#include "job/missing.h"

/* Launches take hundreds of ns; a call of 1 ns is one whose times are not known. */
enum { SHORTEST_CALL = 1 };

enum { OFTEN = 4096 };   /* records between two removals of data that is no longer needed */

/* ---- devices */

/* The lowest `needed` of a process, and of incompletely known processes, in which each unknown field means all. */
static bool
needs(struct idle *f, int64_t profile, int64_t pid, int64_t needed)
{
	uint32_t *at = nsx_map_at(&f->need_of, (struct nsx_key){ (uint64_t)profile, (uint64_t)pid });

	if (at && *at == NSX_NONE && nsx_vec_push(&f->needs, needed))
		*at = (uint32_t)(f->needs.n - 1);
	if (!at || *at == NSX_NONE)
		return false;
	if (f->needs.p[*at] > needed)
		f->needs.p[*at] = needed;
	return true;
}

/* Remove pieces of a process's threads that no later gap can need: those before the earliest `busy` of its devices that
 * still have operations to come. False when out of memory. */
static bool
trim(struct idle *f)
{
	f->since_trim = 0;
	f->needs.n = 0;
	nsx_map_free(&f->need_of);
	for (size_t k = 0; k < f->devices.n; k++) {
		const struct nsx_idle_device *d = &f->devices.p[k];
		const struct nsx_cat_device *c = &f->cat.devices.p[k];

		if (d->begun && d->busy < f->now && (c->last == NSX_ABSENT || c->last >= f->now)
		    && !needs(f, c->profile == NSX_NONE ? NSX_ABSENT : f->cat.profiles.p[c->profile].number, c->pid,
		              d->busy))
			return false;
	}
	for (size_t i = 0; i < f->threads.n; i++) {
		struct nsx_host_thread *t = &f->threads.p[i];
		int64_t needed = f->now;

		for (int known = 0; known < 4; known++) {
			uint32_t at = nsx_map_get(&f->need_of, (struct nsx_key){ (uint64_t)(known & 1 ? t->profile
				: NSX_ABSENT), (uint64_t)(known & 2 ? t->pid : NSX_ABSENT) });

			if (at != NSX_NONE && f->needs.p[at] < needed)
				needed = f->needs.p[at];
		}
		nsx_host_forget(t, needed);
	}
	return true;
}

static int
flush_run(struct idle *f, struct nsx_idle_device *d)
{
	int64_t start = d->run_start, from, to;

	for (; nsx_idle_clip(f, d, start, d->run_end, &from, &to); start = to)
		if (nsx_idle_add_busy(f, d, d->run_part, from, to) != NSX_OK)
			return NSX_ERR;
	d->run_start = d->run_end;
	return NSX_OK;
}

/* For nsx_parts: the current operation, and its device. */
struct settling { struct idle *f; struct nsx_idle_device *d; const struct idle_op *op; };

/* The start of the gap [*start, end) before the work after it began to be awaited: until then the device ran what was
 * removed, or waited for it. */
static int
take_removed(struct idle *f, struct nsx_idle_device *d, int64_t *start, int64_t end)
{
	int64_t begin = *start, until = nsx_removed_end(&d->removed, begin, end), from, to;
	struct idle_segment all = { begin, until, NSX_ABSENT, NSX_ABSENT, f->host_paths.root, NSX_NONE,
	    NSX_CAUSE_REMOVED };

	if (until <= begin)
		return NSX_OK;
	*start = until;
	f->segments.n = 0;
	f->doubtful = false;
	if (!nsx_vec_push(&f->segments, all))
		return nsx_err_nomem(f->err, NULL);
	for (; nsx_idle_clip(f, d, begin, until, &from, &to); begin = to)
		if (nsx_idle_add_gap(f, d, from, to, false) != NSX_OK)
			return NSX_ERR;
	return NSX_OK;
}

/* A gap, or a part of it, whose segments are clipped to it. */
static int
add_part(struct settling *s, int64_t start, int64_t end, bool drained)
{
	if (nsx_idle_add_gap(s->f, s->d, start, end, drained) != NSX_OK)
		return NSX_ERR;
	if (s->f->options->form == NSX_IDLE_FOLDED)
		return nsx_idle_fold_segments(s->f, s->d->index);
	if (s->f->marks)
		return nsx_idle_mark_gap(s->f, s->d, s->op, drained);
	return s->f->listed ? nsx_idle_list_gap(s->f, s->d, s->op, start, end, drained) : NSX_OK;
}

/* The gap [start, end), which is explained. */
static int
add_gap(struct settling *s, int64_t start, int64_t end, bool drained)
{
	struct idle *f = s->f;
	int64_t from, to;

	if (!f->options->steps && !nsx_idle_filters(f))
		return start < end ? add_part(s, start, end, drained) : NSX_OK;
	if (!nsx_idle_clip_begin(f))
		return nsx_err_nomem(f->err, NULL);
	for (; nsx_idle_clip(f, s->d, start, end, &from, &to); start = to) {
		if (!nsx_idle_clip_gap(f, from, to, drained))
			return nsx_err_nomem(f->err, NULL);
		if (add_part(s, from, to, drained) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

static int
settled(void *state, enum nsx_part part, int64_t start, int64_t end)
{
	struct settling *s = state;
	struct idle *f = s->f;
	struct nsx_idle_device *d = s->d;
	bool drained;

	if (part == d->run_part && start == d->run_end && part != NSX_PART_IDLE) {
		d->run_end = end;
		return NSX_OK;
	}
	if (flush_run(f, d) != NSX_OK)
		return NSX_ERR;
	d->run_part = part;
	d->run_start = start;
	d->run_end = end;
	if (part != NSX_PART_IDLE)
		return NSX_OK;
	d->run_start = end;
	if (take_removed(f, d, &start, end) != NSX_OK)
		return NSX_ERR;
	if (nsx_idle_explain(f, d, s->op, start, end, &drained) != NSX_OK)
		return NSX_ERR;
	return add_gap(s, start, end, drained);
}

struct nsx_idle_device *
nsx_idle_device(struct idle *f, uint32_t index)
{
	while (index != NSX_NONE && f->devices.n <= index) {
		struct nsx_idle_device new = { .index = (uint32_t)f->devices.n, .prev = NSX_NONE, .window = NSX_NONE,
		                               .between = NSX_NONE };

		if (!nsx_vec_push(&f->devices, new) ||
		    nsx_idle_take_steps(f, &f->devices.p[f->devices.n - 1]) != NSX_OK)
			return NULL;
	}
	return index == NSX_NONE ? NULL : &f->devices.p[index];
}

static int
take_op(struct idle *f, const struct nsx_rec *rec)
{
	uint32_t index = nsx_cat_device(&f->cat, rec);
	struct nsx_idle_device *d = nsx_idle_device(f, index);
	int64_t start = nsx_int(rec, NSX_OP_start, NSX_ABSENT), dur = nsx_int(rec, NSX_OP_dur, NSX_ABSENT);
	bool has_call = nsx_has(rec, NSX_OP_call) && nsx_has(rec, NSX_OP_host_start), second,
	    comm = nsx_cat_communicates(&f->cat, rec);
	struct idle_op op;

	if (!d)
		return nsx_err_nomem(f->err, NULL);
	f->ops++;
	if (start == NSX_ABSENT || dur < 0 || !nsx_has(rec, NSX_OP_device)) {
		f->timeless++;
		return NSX_OK;
	}
	op = (struct idle_op){
		.name = NSX_NONE, .path = f->host_paths.root, .start = start, .end = nsx_add_sat(start, dur, NULL),
		.call = nsx_int(rec, NSX_OP_call, NSX_ABSENT),
		.tid = nsx_int(rec, NSX_OP_tid, NSX_ABSENT), .host_start = nsx_int(rec, NSX_OP_host_start, NSX_ABSENT),
		.host_end = has_call ? nsx_add_sat(rec->v[NSX_OP_host_start].i, nsx_int(rec, NSX_OP_host_dur, 0),
		                                   NULL) : NSX_ABSENT,
		.waits = nsx_int(rec, NSX_OP_waits, 0), .pid = f->cat.devices.p[index].pid, .profile = nsx_int(rec,
			NSX_OP_profile, NSX_ABSENT),
		.op = f->marks ? nsx_int(rec, NSX_OP_op, NSX_ABSENT) : NSX_ABSENT,
		.range = f->marks ? nsx_int(rec, NSX_OP_range, NSX_ABSENT) : NSX_ABSENT,
		.graph_node = nsx_has(rec, NSX_OP_graph_node),
		.doubtful = has_call && nsx_has(rec, NSX_OP_host_dur) && rec->v[NSX_OP_host_dur].i <= SHORTEST_CALL
	};
	f->no_launch += !has_call;
	if (!nsx_overruns_take_op(&f->overruns, index, rec))
		return nsx_err_nomem(f->err, NULL);
	if (!d->begun) {
		d->begun = true;
		d->first = d->busy = d->run_start = d->run_end = start;
		d->run_part = NSX_PART_IDLE;
		d->removed = NSX_REMOVED_NONE;
		nsx_idle_place(f, d);
		if (f->options->by == NSX_IDLE_GIVEN && nsx_idle_open_given(f, d) != NSX_OK)
			return NSX_ERR;
	}
	if (f->frames && start > d->busy) {
		op.path = nsx_idle_path(f, op.profile, nsx_int(rec, NSX_OP_range, NSX_ABSENT));
		if (op.path == NSX_NONE || !nsx_idle_frame(f, nsx_string(rec, NSX_OP_name), &op.name))
			return nsx_err_nomem(f->err, NULL);
	}
	nsx_removed_take(&d->removed, rec);
	bool gap = start > d->busy;
	if (nsx_parts_add(&d->parts, nsx_part_of(rec, comm), start, op.end, settled, &(struct settling){ f, d, &op }) !=
	    NSX_OK)
		return NSX_ERR;
	/* Nodes that end no gap are recorded too. */
	if (!gap && nsx_idle_is_second_node(f, d, &op, &second) != NSX_OK)
		return NSX_ERR;
	if (op.end > d->busy) {
		d->busy = op.end;
		if (f->listed && !nsx_idle_frame(f, nsx_string(rec, NSX_OP_name), &d->prev))
			return nsx_err_nomem(f->err, NULL);
	}
	return NSX_OK;
}

/* ---- the whole stream */

void
nsx_idle_need(const struct idle *f, struct nsx_reader *in)
{
	nsx_cat_need(&f->cat, in);
	nsx_reader_need(in, NSX_DIAG, 0);
	nsx_reader_need(in, NSX_MODULE, NSX_EVERY);
	nsx_reader_need(in, NSX_OVERHEAD, NSX_EVERY);
	nsx_reader_need(in, NSX_CALL, nsx_field_slots(NSX_CALL, NSX_REACH_ROLES) | NSX_C(CALL, profile)
	                              | NSX_C(CALL, pid) | NSX_C(CALL, tid) | NSX_C(CALL, class) | NSX_C(CALL, blocking)
	                              | NSX_C(CALL, call) | NSX_C(CALL, name));
	nsx_range_book_need(in, false);
	nsx_reader_need(in, NSX_RANGE, NSX_C(RANGE, pid) | NSX_C(RANGE, tid) | NSX_C(RANGE, device));
	nsx_reader_need(in, NSX_OP, nsx_field_slots(NSX_OP, NSX_REACH_ROLES | NSX_CAT_COMM_ROLES) | NSX_C(OP, device)
	                            | NSX_C(OP, stream) | NSX_C(OP, type) | NSX_C(OP, call) | NSX_C(OP, tid) | NSX_C(OP,
	                            	profile)
	                            | (f->marks ? NSX_C(OP, op) | NSX_C(OP, range) : 0) | NSX_C(OP, waits)
	                            | NSX_C(OP, graph_node) | NSX_C(OP, removed) | (f->frames
	                            	? NSX_C(OP, name) : 0));
}

int
nsx_idle_take(void *state, const struct nsx_rec *rec)
{
	struct idle *f = state;
	int64_t start = nsx_field_int(rec, NSX_ROLE_START, NSX_ABSENT);
	int rc = NSX_OK;

	f->ndiags += rec->kind->id == NSX_DIAG;
	if (!nsx_in_reach(rec)) {
		f->beyond++;
		return NSX_OK;
	}
	switch (rec->kind->id) {
	case NSX_CALL:     rc = nsx_idle_take_call(f, rec); break;
	case NSX_OVERHEAD: rc = nsx_idle_take_overhead(f, rec); break;
	case NSX_RANGE:    rc = nsx_idle_take_range(f, rec); break;
	case NSX_MODULE:   rc = nsx_idle_take_module(f, rec); break;
	case NSX_OP:
		f->now = start != NSX_ABSENT ? start : f->now;
		rc = take_op(f, rec);
		break;
	case NSX_DEVICE:
		rc = nsx_cat_take(&f->cat, rec, f->err) == NSX_OK && (!f->cat.devices.n ||
			nsx_idle_device(f, (uint32_t)f->cat.devices.n - 1)) ? NSX_OK
		     : nsx_err_nomem(f->err, NULL);
		break;
	default:
		rc = nsx_cat_take(&f->cat, rec, f->err);
	}
	if (++f->since_trim >= OFTEN && !trim(f))
		return nsx_err_nomem(f->err, NULL);
	return rc;
}

int
nsx_idle_finish(struct idle *f)
{
	for (size_t i = 0; i < f->devices.n; i++) {
		struct nsx_idle_device *d = &f->devices.p[i];

		if (nsx_parts_finish(&d->parts, settled, &(struct settling){ f, d, NULL }) != NSX_OK ||
		    flush_run(f, d) != NSX_OK)
			return NSX_ERR;
	}
	return nsx_idle_end_windows(f);
}

/* Report devices for which the data is incomplete. */
static int
report_clocks(struct idle *f)
{
	enum { UUID, ALIGNED, MIXED };   /* the first device of a UUID; the first aligned one of a profile; whether
	                                  * others of it differ */
	struct nsx_map first = { 0 };
	int rc = NSX_OK;

	for (size_t i = 0; i < f->cat.devices.n && rc == NSX_OK; i++) {
		const struct nsx_cat_device *d = &f->cat.devices.p[i];
		uint32_t *uuid = NULL, *mixed = NULL;

		if (d->uuid != NSX_NONE) {
			uuid = nsx_map_at(&first, (struct nsx_key){ UUID, d->uuid });
			if (uuid && *uuid != NSX_NONE) {
				nsx_diag_add(f->diags, NSX_WARNING, "", 1,
					"two processes share one GPU: work of the other process counts as idle time");
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
			else if (*mixed != NSX_NONE || f->cat.devices.p[same].offset != d->offset) {
				*mixed = 1;
				nsx_diag_add(f->diags, NSX_WARNING, "", 1,
					"devices of one profile have different clocks, so their times differ from the "
					"host's");
			}
		}
	}
	nsx_map_free(&first);
	return rc;
}

int
nsx_idle_report(struct idle *f)
{
	int rc = NSX_OK;

	if (!f->ops)
		nsx_diag_add(f->diags, NSX_WARNING, "", 1,
		             "no operations in the stream: extract with --ops --calls --ranges=all (-a)");
	else if (!f->calls)
		nsx_diag_add(f->diags, NSX_WARNING, "", 1,
		             "no CUDA calls in the stream, so the host's activity is not known: extract with --calls");
	else if (!f->host_only)
		nsx_diag_add(f->diags, NSX_INFO, "", 1,
			"no ranges without GPU work in the stream, so causes compile and range may be counted as host: "
			"extract with --ranges=all");
	if (f->ops && !f->windows.n && f->options->by == NSX_IDLE_RANGE)
		rc = nsx_missing_range(&f->near, f->options->range, false, f->diags, f->err);
	nsx_diag_add(f->diags, NSX_INFO, "", f->no_launch,
	             "operations whose call is not in the export: a gap before one is no-call");
	nsx_diag_add(f->diags, NSX_WARNING, "", f->short_calls,
	             "gaps that end with an operation whose call took 1 ns or less, which no launch does: no verdict "
	             "rests on them");
	nsx_diag_add(f->diags, NSX_WARNING, "", f->late_calls,
		"gaps that end with an operation that starts before its call: the clocks of GPU and host disagree");
	nsx_overruns_report(&f->overruns, f->diags, "idle time under them is not seen");
	nsx_diag_add(f->diags, NSX_WARNING, "", f->timeless,
	             "operations without a device, start or duration: ignored");
	nsx_diag_add(f->diags, NSX_WARNING, "", f->threadless, "overheads without a thread: ignored");
	nsx_diag_add(f->diags, NSX_WARNING, "", f->beyond, NSX_BEYOND_REACH);
	int64_t crowded = 0, stale = 0;

	for (size_t i = 0; i < f->threads.n; i++) {
		crowded += f->threads.p[i].crowded;
		stale += f->threads.p[i].stale;
	}
	nsx_diag_add(f->diags, NSX_WARNING, "", crowded,
		"calls, overheads and ranges nested thousands deep in others of their thread: causes ignore them");
	nsx_diag_add(f->diags, NSX_WARNING, "", stale,
	             "ranges that end before many that started in them: stacks of the latter keep naming them");
	return rc == NSX_OK ? report_clocks(f) : rc;
}

static uint32_t
push_path(void *state, uint32_t path, uint32_t name)
{
	return nsx_stacks_child(state, path, name);
}

void
nsx_idle_free(struct idle *f)
{
	for (size_t i = 0; i < f->threads.n; i++)
		nsx_host_thread_free(&f->threads.p[i]);
	for (size_t i = 0; i < f->devices.n; i++) {
		struct nsx_idle_device *d = &f->devices.p[i];

		nsx_map_free(&d->launches);
		free(d->launch_list.p);
		free(d->modules.p);
		free(d->open.p);
	}
	for (size_t i = 0; i < f->windows.n; i++)
		nsx_map_free(&f->windows.p[i].reasons);
	nsx_cat_free(&f->cat);
	nsx_stacks_free(&f->paths);
	nsx_stacks_free(&f->folded);
	free(f->steps.p);
	nsx_intern_free(&f->classes);
	if (f->has_pattern)
		regfree(&f->pattern);
	nsx_near_free(&f->near);
	nsx_buf_free(&f->scratch);
	nsx_buf_free(&f->full);
	nsx_buf_free(&f->match);
	free(f->needs.p);
	nsx_map_free(&f->need_of);
	free(f->threads.p);
	nsx_threads_free(&f->thread_of);
	free(f->devices.p);
	free(f->windows.p);
	nsx_map_free(&f->window_of);
	free(f->reasons.p);
	nsx_map_free(&f->folded_of);
	nsx_range_book_free(&f->ranges);
	free(f->gaps.p);
	nsx_overruns_free(&f->overruns);
	free(f->within.p);
	free(f->segments.p);
	free(f->whole.p);
	free(f->pieces.list.p);
}

int
nsx_idle_begin(struct idle *f)
{
	const struct nsx_idle_options *o = f->options;

	f->reasoned = o->form == NSX_IDLE_VERDICT || o->notes;
	f->listed = o->form == NSX_IDLE_LIST || o->gaps;
	f->frames = f->reasoned || f->listed || o->form == NSX_IDLE_FOLDED;
	f->host_paths = (struct nsx_host_paths){ push_path, &f->paths, NSX_STACKS_ROOT };
	if (o->by == NSX_IDLE_RANGE) {
		if (nsx_pattern_compile(o->range, REG_NOSUB, &f->pattern, f->err) != NSX_OK)
			return NSX_ERR;
		f->has_pattern = true;
		f->near.want = nsx_str_c(o->range);
	}
	return NSX_OK;
}

/* Read all of `in`, twice if steps have to be known first. *ndiags: the diags of a first reading. */
static int
read_all(struct idle *f, struct nsx_idle_options *o, struct nsx_reader *in, int64_t *ndiags)
{
	struct nsx_reader *again;
	int rc;

	if (!o->steps && o->by != NSX_IDLE_STEP) {
		nsx_idle_need(f, in);
		return nsx_read_all(in, o->require, nsx_idle_take, f, f->err);
	}
	again = nsx_idle_find_steps(f, in, ndiags);
	if (o->steps && o->by == NSX_IDLE_DEVICE) {
		o->by = NSX_IDLE_GIVEN;
		o->given = f->within.p;
		o->ngiven = f->within.n;
	}
	if (again)
		nsx_idle_need(f, again);
	rc = again ? nsx_read_all(again, NULL, nsx_idle_take, f, f->err) : NSX_ERR;
	nsx_reader_close(again);
	return rc;
}

/* A device that compiles is not in its steady state: results for the whole recording may not apply to its steps. */
static void
note_compiling(struct idle *f, struct nsx_table *t)
{
	nsx_u128 ns = 0;

	if (f->options->by != NSX_IDLE_DEVICE || f->options->steps)
		return;
	for (size_t i = 0; i < f->windows.n; i++)
		ns += (nsx_u128)f->windows.p[i].cells[nsx_cause_cell(NSX_CAUSE_COMPILE)].ns;
	if (!ns)
		return;
	f->full.len = 0;
	nsx_buf_ns(&f->full, (double)ns);
	nsx_table_note(t, "these windows are whole recordings, with %.*s of idle time during compilation; "
	               "--steps analyzes only the steps", (int)f->full.len, f->full.ptr);
}

/* The verdicts below the table, in the order of its rows. False when out of memory. */
static bool
note_verdicts(struct idle *f, struct nsx_table *t)
{
	uint32_t *order = nsx_idle_window_order(f);

	for (size_t i = 0; order && i < f->windows.n; i++) {
		if (!f->windows.p[order[i]].length)
			continue;
		f->full.len = 0;
		nsx_idle_verdict_text(f, order[i], &f->full);
		nsx_table_note(t, "%.*s", (int)f->full.len, f->full.ptr);
	}
	free(order);
	return order != NULL;
}

int
nsx_idle(struct nsx_reader *in, const struct nsx_idle_options *options, struct nsx_outfile *out,
         struct nsx_table **table, int64_t *ndiags,
         struct nsx_diags *diags, struct nsx_err *err)
{
	struct nsx_idle_options o = *options;
	struct idle f = { .options = &o, .diags = diags, .err = err };
	int64_t spooled = -1;   /* the diags of a first reading */
	int rc = nsx_idle_begin(&f);

	*table = NULL;
	if (rc == NSX_OK)
		rc = read_all(&f, &o, in, &spooled);
	if (rc == NSX_OK)
		rc = nsx_idle_finish(&f);
	if (rc == NSX_OK)
		rc = nsx_idle_report(&f);
	if (rc == NSX_OK) {
		*ndiags = spooled >= 0 ? spooled : f.ndiags;
		if (options->form == NSX_IDLE_FOLDED) {
			rc = nsx_stacks_print(&f.folded, out, err);
		} else {
			*table = options->form == NSX_IDLE_LIST ? nsx_idle_list_table(&f) : options->form ==
			    NSX_IDLE_VERDICT ? nsx_idle_verdicts(&f) : nsx_idle_table(&f);
			if (*table && options->notes && !note_verdicts(&f, *table)) {
				nsx_table_free(*table);
				*table = NULL;
			}
			if (*table && !nsx_table_rows(*table) && (options->drained || options->causes))
				nsx_diag_add(diags, NSX_WARNING, "", 1, options->drained
				             ? "no gap begins after the host waited for the GPU"
				             : "no idle time has these causes");
			if (*table && options->notes)
				note_compiling(&f, *table);
			*table = nsx_idle_sound(&f, *table);
			rc = *table ? NSX_OK : nsx_err_nomem(err, NULL);
		}
	}
	nsx_idle_free(&f);
	return rc;
}
