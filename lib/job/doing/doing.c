/* doing.c -- what the thread that should have launched did while a device was idle. */
#include "job/doing/doing.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/sort.h"
#include "stream/order.h"

enum { OFTEN = 4096 };   /* records between two removals of what is past, at least */

const char *
nsx_doing_name(enum nsx_doing_state s)
{
	static const char *const names[NSX_DOING_STATES] = { "call", "gil", "os", "off", "running", "unknown" };

	return names[s];
}

struct nsx_str
nsx_doing_text(const struct nsx_doing *d, uint32_t text)
{
	return text == NSX_NONE ? NSX_STR("") : nsx_intern_str(&d->texts, text);
}

struct nsx_str
nsx_doing_frames(const struct nsx_doing *d, int64_t stack)
{
	return nsx_cat_frames(&d->cat, stack);
}

/* ---- metadata and records of threads */

/* NULL when out of memory. */
static struct nsx_doing_thread *
thread_at(struct nsx_doing *d, int64_t profile, int64_t pid, int64_t tid)
{
	uint32_t at = nsx_thread_number(&d->thread_of, profile, pid, tid);
	struct nsx_doing_thread t = { .profile = profile, .pid = pid, .tid = tid, .name = NSX_NONE, .first = NSX_ABSENT,
	                              .last = NSX_ABSENT, .done = NSX_ABSENT };

	return nsx_vec_next(&d->threads, at, t) ? &d->threads.p[at] : NULL;
}

static struct nsx_doing_thread *
thread_of(struct nsx_doing *d, const struct nsx_rec *rec)
{
	return thread_at(d, nsx_field_int(rec, NSX_ROLE_PROFILE, NSX_ABSENT),
	                 nsx_field_int(rec, NSX_ROLE_PID, NSX_ABSENT), nsx_field_int(rec, NSX_ROLE_TID, NSX_ABSENT));
}

/* A text that is not empty; NSX_NONE if it is, *good false when out of memory. */
static uint32_t
text_of(struct nsx_doing *d, struct nsx_str s, bool *good)
{
	uint32_t text = s.len ? nsx_intern(&d->texts, s) : NSX_NONE;

	*good = !s.len || text != NSX_NONE;
	return text;
}

static int
take_thread(struct nsx_doing *d, const struct nsx_rec *rec)
{
	struct nsx_doing_thread *t = thread_of(d, rec);
	bool good;

	if (!t)
		return NSX_NOMEM(d);
	t->name = text_of(d, nsx_string(rec, NSX_THREAD_name), &good);
	t->scheduled = nsx_int(rec, NSX_THREAD_scheduled, 0) == 1;
	t->python = nsx_int(rec, NSX_THREAD_python, 0) > 0;
	return good ? NSX_OK : NSX_NOMEM(d);
}

/* The name of the thread that has the GIL, as people read it. */
static uint32_t
holder_of(struct nsx_doing *d, const struct nsx_rec *rec, bool *good)
{
	struct nsx_str how = nsx_string(rec, NSX_GIL_how);
	int64_t by = nsx_int(rec, NSX_GIL_by, NSX_ABSENT);
	struct nsx_buf b = { 0 };
	uint32_t at, text;

	*good = true;
	if (nsx_str_eq(how, NSX_STR("sampler")))
		return text_of(d, NSX_STR("[profiler]"), good);
	if (by == NSX_ABSENT)
		return NSX_NONE;
	at = nsx_thread_find(&d->thread_of, nsx_int(rec, NSX_GIL_profile, NSX_ABSENT),
	                     nsx_int(rec, NSX_GIL_pid, NSX_ABSENT), by);
	if (at != NSX_NONE && d->threads.p[at].name != NSX_NONE)
		nsx_buf_str(&b, nsx_intern_str(&d->texts, d->threads.p[at].name));
	else
		nsx_buf_c(&b, "thread");
	nsx_buf_fmt(&b, " %lld", (long long)by);
	text = b.failed ? NSX_NONE : nsx_intern(&d->texts, nsx_buf_view(&b));
	*good = text != NSX_NONE;
	nsx_buf_free(&b);
	return text;
}

static int
take_native(struct nsx_doing *d, struct nsx_doing_thread *t, const struct nsx_rec *rec, int64_t at)
{
	struct nsx_doing_native n = { at, nsx_int(rec, NSX_SAMPLE_stack, NSX_ABSENT) };

	return nsx_vec_push(&t->native, n) ? NSX_OK : NSX_NOMEM(d);
}

/* A record of the thread lasts from start to end. */
static void
extend(struct nsx_doing_thread *t, int64_t start, int64_t end)
{
	if (t->first == NSX_ABSENT || start < t->first)
		t->first = start;
	if (t->last == NSX_ABSENT || end > t->last)
		t->last = end;
}

/* A record of what a thread did. */
static int
take_host(struct nsx_doing *d, const struct nsx_rec *rec)
{
	int64_t start = nsx_field_int(rec, NSX_ROLE_HOST_START, NSX_ABSENT), end;
	struct nsx_doing_thread *t = thread_of(d, rec);
	struct nsx_doing_value v = { NSX_NONE, NSX_ABSENT, 0 };
	enum nsx_doing_track_of to;
	bool good = true;

	if (!t)
		return NSX_NOMEM(d);
	if (start == NSX_ABSENT)
		return NSX_OK;
	end = nsx_add_sat(start, nsx_field_int(rec, NSX_ROLE_HOST_DUR, 0), NULL);
	t->calls_cuda |= rec->kind->id == NSX_CALL;
	if (rec->kind->id != NSX_OFF)
		extend(t, start, end);
	d->host += rec->kind->id != NSX_CALL;
	switch (rec->kind->id) {
	case NSX_CALL:
		to = NSX_DOES_CALL;
		v.id = nsx_int(rec, NSX_CALL_call, 0);
		v.what = text_of(d, nsx_string(rec, NSX_CALL_name), &good);
		break;
	case NSX_OS:
		to = NSX_DOES_OS;
		v.id = nsx_int(rec, NSX_OS_os, 0);
		v.what = text_of(d, nsx_string(rec, NSX_OS_name), &good);
		v.ref = 1;
		break;
	case NSX_OFF:
		to = NSX_DOES_OFF;
		v.what = text_of(d, nsx_string(rec, NSX_OFF_state), &good);
		v.ref = 1;
		break;
	case NSX_GIL:
		to = NSX_DOES_GIL;
		v.what = holder_of(d, rec, &good);
		v.ref = nsx_str_eq(nsx_string(rec, NSX_GIL_how), NSX_STR("free"));
		break;
	default:
		if (!nsx_str_eq(nsx_string(rec, NSX_SAMPLE_lang), NSX_STR("python")))
			return take_native(d, t, rec, start);
		to = NSX_DOES_SAMPLE;
		v.ref = nsx_int(rec, NSX_SAMPLE_stack, NSX_ABSENT);
		v.id = d->samples++;
		break;
	}
	return good && nsx_track_add(&t->tracks[to], start, end, v) ? NSX_OK : NSX_NOMEM(d);
}

/* ---- marks */

static uint32_t
path_of(struct nsx_doing *d, int64_t profile, int64_t range)
{
	struct nsx_range_entry *chain[512], *r;
	uint32_t node = NSX_STACKS_ROOT;
	size_t n = 0;

	for (; range != NSX_ABSENT && n < sizeof chain / sizeof *chain; range = r->parent) {
		r = nsx_range_book_find(&d->ranges, profile, range);
		if (!r)
			break;
		chain[n++] = r;
	}
	while (n && node != NSX_NONE)
		if (chain[--n]->name != NSX_NONE)
			node = nsx_stacks_child(&d->paths, node, chain[n]->name);
	return node;
}

static int
take_range(struct nsx_doing *d, const struct nsx_rec *rec)
{
	uint32_t name = nsx_stacks_frame(&d->paths, nsx_range_book_name(&d->ranges, rec, d->names));
	int64_t start = nsx_int(rec, NSX_RANGE_host_start, NSX_ABSENT), end;
	struct nsx_doing_thread *t;
	uint32_t path;

	if (name == NSX_NONE || nsx_range_book_add(&d->ranges, rec, name, d->err) != NSX_OK)
		return NSX_NOMEM(d);
	if (!d->whole || start == NSX_ABSENT)
		return NSX_OK;
	end = nsx_add_sat(start, nsx_int(rec, NSX_RANGE_host_dur, 0), NULL);
	path = path_of(d, nsx_int(rec, NSX_RANGE_profile, NSX_ABSENT), nsx_int(rec, NSX_RANGE_range, NSX_ABSENT));
	t = path == NSX_NONE ? NULL : thread_of(d, rec);
	if (!t)
		return NSX_NOMEM(d);
	extend(t, start, end);
	return nsx_track_add(&t->tracks[NSX_DOES_RANGE], start, end,
	                     (struct nsx_doing_value){ path, 1, nsx_int(rec, NSX_RANGE_range, 0) })
	       ? NSX_OK : NSX_NOMEM(d);
}

/* The cause of that name, if it is looked at; NSX_NCAUSES: it is not. */
static enum nsx_cause
cause_of(const struct nsx_doing *d, struct nsx_str name)
{
	enum nsx_cause c = nsx_cause_named(name);

	return c != NSX_NCAUSES && nsx_causes[c].group == NSX_CAUSES_STARVED && (!d->causes || d->causes >> c & 1)
	       ? c : NSX_NCAUSES;
}

/* The gap of a mark: that of the one before on the device if it touches that, and is before the same operation. False
 * when out of memory. */
static bool
find_gap(struct nsx_doing *d, struct nsx_doing_mark *m, int64_t op)
{
	struct nsx_doing_gap *g;

	if (!nsx_vec_reach(&d->gaps, m->device, &(struct nsx_doing_gap){ INT64_MIN, NSX_ABSENT, 0 }))
		return false;
	g = &d->gaps.p[m->device];
	if (g->end != m->start || g->op != op)
		g->number = d->ngaps++;
	g->end = m->end;
	g->op = op;
	m->gap = g->number;
	return true;
}

static int
take_mark(struct nsx_doing *d, const struct nsx_rec *rec)
{
	struct nsx_doing_mark m = {
		.start = nsx_int(rec, NSX_IDLE_start, NSX_ABSENT), .device = nsx_cat_device(&d->cat, rec),
		.cause = cause_of(d, nsx_string(rec, NSX_IDLE_cause))
	};
	int64_t profile = nsx_int(rec, NSX_IDLE_profile, NSX_ABSENT);
	struct nsx_doing_thread *t;

	d->marked++;
	if (m.device == NSX_NONE)
		return NSX_NOMEM(d);
	if (m.start == NSX_ABSENT || d->whole)
		return NSX_OK;
	m.end = nsx_add_sat(m.start, nsx_int(rec, NSX_IDLE_dur, 0), NULL);
	if (!find_gap(d, &m, nsx_int(rec, NSX_IDLE_op, NSX_ABSENT)))
		return NSX_NOMEM(d);
	if (m.cause == NSX_NCAUSES)
		return NSX_OK;
	t = thread_at(d, profile, d->cat.devices.p[m.device].pid, nsx_int(rec, NSX_IDLE_tid, NSX_ABSENT));
	m.path = path_of(d, profile, nsx_int(rec, NSX_IDLE_range, NSX_ABSENT));
	if (!t || m.path == NSX_NONE)
		return NSX_NOMEM(d);
	m.thread = (uint32_t)(t - d->threads.p);
	nsx_vec_pass(&d->marks, &d->head);
	return nsx_vec_push(&d->marks, m) ? NSX_OK : NSX_NOMEM(d);
}

/* The value of a track of the thread at a time, and in *to, if it is earlier, the next change. */
static struct nsx_doing_value
value_at(const struct nsx_doing_thread *thread, enum nsx_doing_track_of of, int64_t time, int64_t *to)
{
	const struct nsx_doing_track *t = &thread->tracks[of];
	static const struct nsx_doing_value none = { NSX_NONE, NSX_ABSENT, NSX_ABSENT };
	size_t at = nsx_track_at(t, time), next = at == SIZE_MAX ? t->head : at + 1;

	if (next < t->list.n && t->list.p[next].start < *to)
		*to = t->list.p[next].start;
	return at == SIZE_MAX ? none : t->list.p[at].value;
}

/* The state of the piece, and what. */
static void
judge(const struct nsx_doing_thread *t, struct nsx_doing_piece *p)
{
	struct nsx_doing_value call = value_at(t, NSX_DOES_CALL, p->start, &p->end);
	struct nsx_doing_value os = value_at(t, NSX_DOES_OS, p->start, &p->end);
	struct nsx_doing_value off = value_at(t, NSX_DOES_OFF, p->start, &p->end);
	struct nsx_doing_value gil = value_at(t, NSX_DOES_GIL, p->start, &p->end);
	struct nsx_doing_value sample = value_at(t, NSX_DOES_SAMPLE, p->start, &p->end);
	bool wants = gil.ref != NSX_ABSENT, in_call = call.id != NSX_ABSENT;

	p->what = NSX_NONE;
	p->off = off.ref == 1;
	p->stack = sample.id == NSX_ABSENT ? NSX_ABSENT : sample.ref;
	p->sample = sample.id;
	if (in_call) {
		p->state = NSX_DOING_CALL;
		p->what = call.what;
	} else if (wants && !(gil.ref == 1 && p->off)) {
		p->state = NSX_DOING_GIL;
		p->what = gil.what;
		p->free = gil.ref == 1;
	} else if (wants || (os.ref != 1 && p->off)) {
		p->state = NSX_DOING_OFF;
		p->what = off.what;
	} else if (os.ref == 1) {
		p->state = NSX_DOING_OS;
		p->what = os.what;
	} else {
		p->state = t->scheduled ? NSX_DOING_RUNNING : NSX_DOING_UNKNOWN;
	}
}

/* [m->start, m->end) of a thread. */
static int
cut(struct nsx_doing *d, const struct nsx_doing_mark *m)
{
	struct nsx_doing_thread *t = &d->threads.p[m->thread];
	const struct nsx_doing_native *seen = t->native.p + t->native_head, *end = t->native.p + t->native.n;
	int rc = NSX_OK;

	/* Much may be kept that is before it, for other devices. */
	seen += nsx_sort_first(seen, (size_t)(end - seen), sizeof *seen, offsetof(struct nsx_doing_native, at),
	                       m->start);
	for (int i = 0; i < NSX_DOING_TRACKS; i++)
		if (!nsx_track_settle(&t->tracks[i], m->end))
			return NSX_NOMEM(d);
	for (int64_t at = m->start; at < m->end && rc == NSX_OK;) {
		struct nsx_doing_piece p = { .start = at, .end = m->end, .device = m->device, .thread = m->thread,
		                             .cause = m->cause, .path = m->path, .gap = m->gap };

		if (d->whole) {
			struct nsx_doing_value in = value_at(t, NSX_DOES_RANGE, p.start, &p.end);

			p.path = in.id == NSX_ABSENT ? NSX_STACKS_ROOT : in.what;
		}
		judge(t, &p);
		p.native = seen;
		while (seen < end && seen->at < p.end)
			seen++;
		p.nnative = (size_t)(seen - p.native);
		if (p.state != NSX_DOING_RUNNING && p.state != NSX_DOING_UNKNOWN)
			p.nnative = 0;
		rc = d->piece(d->state, &p);
		at = p.end;
	}
	return rc;
}

/* What is before `time` will not be asked for. */
static void
forget(struct nsx_doing *d, int64_t time)
{
	nsx_vec_pass(&d->marks, &d->head);
	for (size_t i = 0; i < d->threads.n; i++) {
		struct nsx_doing_thread *t = &d->threads.p[i];

		for (int k = 0; k < NSX_DOING_TRACKS; k++)
			nsx_track_forget(&t->tracks[k], time);
		while (t->native_head < t->native.n && t->native.p[t->native_head].at < time)
			t->native_head++;
		nsx_vec_pass(&t->native, &t->native_head);
	}
}

int
nsx_doing_stretch(struct nsx_doing *d, const struct nsx_stretch *s, int64_t device, int64_t from, int64_t to)
{
	uint32_t at = nsx_cat_find_device(&d->cat, device);
	struct nsx_doing_thread *t;

	if (at == NSX_NONE || !s->next || s->part != NSX_PART_IDLE)
		return NSX_OK;
	t = thread_at(d, s->next->profile, s->next->pid, s->next->tid);
	if (!t)
		return NSX_NOMEM(d);
	d->ngaps++;
	for (size_t i = 0; i < s->n; i++) {
		const struct nsx_idle_piece *p = &s->pieces[i];
		struct nsx_doing_mark m = { .start = p->start > from ? p->start : from,
					    .end = p->end < to ? p->end : to,
					    .gap = d->ngaps,
					    .device = at,
					    .cause = p->cause,
					    .thread = (uint32_t)(t - d->threads.p) };

		if (nsx_causes[p->cause].group != NSX_CAUSES_STARVED || m.start >= m.end)
			continue;
		m.path = path_of(d, s->next->profile, p->range);
		if (m.path == NSX_NONE)
			return NSX_NOMEM(d);
		if (cut(d, &m) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

/* With `whole`: pass on what threads did before `time`. */
static int
cut_threads(struct nsx_doing *d, int64_t time)
{
	for (size_t i = 0; i < d->threads.n; i++) {
		struct nsx_doing_thread *t = &d->threads.p[i];
		struct nsx_doing_mark m = { .device = NSX_NONE, .thread = (uint32_t)i, .cause = NSX_NCAUSES };

		if (t->first == NSX_ABSENT)
			continue;
		m.start = t->done == NSX_ABSENT ? t->first : t->done;
		m.end = time < t->last ? time : t->last;
		if (m.start >= m.end)
			continue;
		if (cut(d, &m) != NSX_OK)
			return NSX_ERR;
		t->done = m.end;
	}
	return NSX_OK;
}

/* The stream has reached the time: marks that end by then can be cut. */
static int
reach(struct nsx_doing *d, int64_t time)
{
	for (; d->head < d->marks.n && d->marks.p[d->head].end <= time; d->head++)
		if (cut(d, &d->marks.p[d->head]) != NSX_OK)
			return NSX_ERR;
	if (++d->since >= OFTEN && d->since >= 8 * (int64_t)d->threads.n) {
		if (d->whole && cut_threads(d, time) != NSX_OK)
			return NSX_ERR;
		int64_t first = d->needed < time ? d->needed : time;

		if (d->head < d->marks.n && d->marks.p[d->head].start < first)
			first = d->marks.p[d->head].start;
		forget(d, first);
		d->since = 0;
	}
	return NSX_OK;
}

/* ---- reading */

void
nsx_doing_begin(struct nsx_doing *d)
{
	d->cat.keep = NSX_CAT_NAMES | NSX_CAT_STACKS;
	d->needed = INT64_MAX;
}

void
nsx_doing_need(const struct nsx_doing *d, struct nsx_reader *in)
{
	nsx_cat_need(&d->cat, in);
	nsx_range_book_need(in, false);
	nsx_reader_need(in, NSX_THREAD, NSX_EVERY);
	nsx_reader_need(in, NSX_CALL, NSX_C(CALL, profile) | NSX_C(CALL, call) | NSX_C(CALL, pid) | NSX_C(CALL, tid)
	                              | NSX_C(CALL, start) | NSX_C(CALL, dur) | NSX_C(CALL, name));
	nsx_reader_need(in, NSX_OS, NSX_EVERY);
	nsx_reader_need(in, NSX_OFF, NSX_EVERY);
	nsx_reader_need(in, NSX_GIL, NSX_EVERY);
	nsx_reader_need(in, NSX_SAMPLE, NSX_EVERY);
	nsx_reader_need(in, NSX_IDLE, NSX_EVERY);
}

int
nsx_doing_take(struct nsx_doing *d, const struct nsx_rec *rec)
{
	int64_t time;

	if (nsx_order_time(rec, &time) && reach(d, time) != NSX_OK)
		return NSX_ERR;
	switch (rec->kind->id) {
	case NSX_THREAD: return take_thread(d, rec);
	case NSX_RANGE:  return take_range(d, rec);
	case NSX_CALL: case NSX_OS: case NSX_OFF: case NSX_GIL: case NSX_SAMPLE: return take_host(d, rec);
	case NSX_IDLE:   return take_mark(d, rec);
	default:         return nsx_cat_take(&d->cat, rec, d->err);
	}
}

int
nsx_doing_finish(struct nsx_doing *d, struct nsx_diags *diags)
{
	int64_t crowded = 0;

	for (; d->head < d->marks.n; d->head++)
		if (cut(d, &d->marks.p[d->head]) != NSX_OK)
			return NSX_ERR;
	for (size_t i = 0; i < d->threads.n; i++)
		for (int k = 0; k < NSX_DOING_TRACKS; k++)
			crowded += d->threads.p[i].tracks[k].crowded;
	nsx_diag_add(diags, NSX_WARNING, "", crowded,
	             "records of host threads nested thousands deep in others of their thread: ignored");
	return d->whole ? cut_threads(d, INT64_MAX) : NSX_OK;
}

void
nsx_doing_free(struct nsx_doing *d)
{
	for (size_t i = 0; i < d->threads.n; i++) {
		struct nsx_doing_thread *t = &d->threads.p[i];

		for (int k = 0; k < NSX_DOING_TRACKS; k++)
			nsx_track_free(&t->tracks[k]);
		free(t->native.p);
	}
	free(d->threads.p);
	free(d->marks.p);
	free(d->gaps.p);
	nsx_threads_free(&d->thread_of);
	nsx_intern_free(&d->texts);
	nsx_stacks_free(&d->paths);
	nsx_range_book_free(&d->ranges);
	nsx_cat_free(&d->cat);
}
