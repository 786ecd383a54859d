/* host.c -- what host threads did: calls, overheads and ranges of the stream, to the threads that thread.h keeps. */
#include "base/num.h"
#include "job/frameworks.h"
#include "job/idle/own.h"
#include "job/reach.h"

static struct nsx_host_thread *
thread_at(struct nsx_idle_finder *f, const struct nsx_rec *rec)
{
	int64_t profile = nsx_field_int(rec, NSX_ROLE_PROFILE, NSX_ABSENT), pid = nsx_field_int(rec, NSX_ROLE_PID,
		NSX_ABSENT);
	int64_t tid = nsx_field_int(rec, NSX_ROLE_TID, NSX_ABSENT);

	return nsx_idle_thread(f, profile, pid, tid);
}

bool
nsx_idle_frame(struct nsx_idle_finder *f, struct nsx_str text, uint32_t *id)
{
	*id = NSX_NONE;
	if (!f->frames || !text.len)
		return true;
	*id = nsx_stacks_frame(f->paths, text);
	return *id != NSX_NONE;
}

void
nsx_idle_host_need(struct nsx_reader *in)
{
	nsx_reader_need(in, NSX_OVERHEAD, NSX_EVERY);
	nsx_reader_need(in, NSX_CALL, nsx_field_slots(NSX_CALL, NSX_REACH_ROLES) | NSX_C(CALL, profile)
	                              | NSX_C(CALL, pid) | NSX_C(CALL, tid) | NSX_C(CALL, class) | NSX_C(CALL, blocking)
	                              | NSX_C(CALL, call) | NSX_C(CALL, name));
	nsx_range_book_need(in, false);
	nsx_reader_need(in, NSX_RANGE, NSX_C(RANGE, pid) | NSX_C(RANGE, tid));
}

static int
take_call(struct nsx_idle_finder *f, const struct nsx_rec *rec)
{
	struct nsx_host_thread *t = thread_at(f, rec);
	int64_t start = nsx_int(rec, NSX_CALL_start, NSX_ABSENT);
	struct nsx_open_interval i = {
		.start = start, .end = nsx_add_sat(start, nsx_int(rec, NSX_CALL_dur, 0), NULL),
		.id = nsx_int(rec, NSX_CALL_call, NSX_ABSENT),
		.what = nsx_int(rec, NSX_CALL_blocking, 0) == 1 ? NSX_CAUSE_SYNC
		        : nsx_cause_of_call(nsx_string(rec, NSX_CALL_class))
	};

	f->calls++;
	if (!t || !nsx_idle_frame(f, nsx_string(rec, NSX_CALL_name), &i.name))
		return nsx_err_nomem(f->err, NULL);
	return start == NSX_ABSENT ? NSX_OK : nsx_host_call(t, i, &f->host_paths, f->err);
}

static int
take_overhead(struct nsx_idle_finder *f, const struct nsx_rec *rec)
{
	int64_t start = nsx_int(rec, NSX_OVERHEAD_start, NSX_ABSENT);
	struct nsx_open_interval i = {
		.start = start, .end = nsx_add_sat(start, nsx_int(rec, NSX_OVERHEAD_dur, 0), NULL), .name = NSX_NONE
	};
	struct nsx_host_thread *t;

	i.what = nsx_cause_of_overhead(nsx_string(rec, NSX_OVERHEAD_class), &i.path);
	if (i.what == NSX_NCAUSES || start == NSX_ABSENT)
		return NSX_OK;
	if (!nsx_has(rec, NSX_OVERHEAD_tid)) {
		f->threadless++;
		return NSX_OK;
	}
	t = thread_at(f, rec);
	return t ? nsx_host_overhead(t, i, &f->host_paths, f->err) : nsx_err_nomem(f->err, NULL);
}

static bool
compiles(const struct nsx_idle_finder *f, struct nsx_str name)
{
	size_t i = f->compile;

	return nsx_framework_next(NSX_FRAMEWORK_COMPILE, name, &i) && !nsx_framework_is(NSX_FRAMEWORK_NO_COMPILE, name);
}

static int
take_range(struct nsx_idle_finder *f, const struct nsx_rec *rec)
{
	int64_t start = nsx_int(rec, NSX_RANGE_host_start, NSX_ABSENT);
	struct nsx_open_interval i = {
		.start = start, .end = nsx_add_sat(start, nsx_int(rec, NSX_RANGE_host_dur, 0), NULL),
		.id = nsx_int(rec, NSX_RANGE_range, NSX_ABSENT),
		.name = NSX_NONE,
		.what = compiles(f, nsx_string(rec, NSX_RANGE_name)) ? NSX_CAUSE_COMPILE : NSX_CAUSE_RANGE
	};
	struct nsx_host_thread *t;

	f->host_only += !nsx_has(rec, NSX_RANGE_start);
	if (f->frames && (!nsx_idle_frame(f, nsx_range_book_name(&f->ranges, rec, f->names), &i.name) ||
	    nsx_range_book_add(&f->ranges, rec, i.name, f->err) != NSX_OK))
		return nsx_err_nomem(f->err, NULL);
	if (start == NSX_ABSENT)
		return NSX_OK;
	t = thread_at(f, rec);
	return t ? nsx_host_range(t, i, f->err) : nsx_err_nomem(f->err, NULL);
}

int
nsx_idle_take_host(struct nsx_idle_finder *f, const struct nsx_rec *rec)
{
	return rec->kind->id == NSX_CALL ? take_call(f, rec) : rec->kind->id == NSX_OVERHEAD ? take_overhead(f, rec)
	     : take_range(f, rec);
}

uint32_t
nsx_idle_path(struct nsx_idle_finder *f, int64_t profile, int64_t range)
{
	struct nsx_range_entry *chain[512], *r;
	uint32_t node = f->host_paths.root;
	size_t n = 0;

	for (; range != NSX_ABSENT && n < sizeof chain / sizeof *chain; range = r->parent) {
		r = nsx_range_book_find(&f->ranges, profile, range);
		if (!r)
			break;
		if (r->mark != NSX_NONE) {
			node = r->mark;
			break;
		}
		chain[n++] = r;
	}
	while (n && node != NSX_NONE) {
		r = chain[--n];
		if (r->name != NSX_NONE)
			node = nsx_stacks_child(f->paths, node, r->name);
		r->mark = node;
	}
	return node;
}
