/* helpers.c -- GPU work launched by other threads than that of a range. */
#include "table/summary/helpers.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/sort.h"
#include "base/str.h"
#include "job/metadata.h"

void
nsx_helpers_need(const struct nsx_helpers *h, struct nsx_reader *in)
{
	nsx_reader_need(in, NSX_DEVICE, NSX_EVERY);
	nsx_reader_need(in, NSX_OP, NSX_C(OP, profile) | NSX_C(OP, device) | NSX_C(OP, tid) | NSX_C(OP, range));
	if (!h->keep)
		return;
	nsx_reader_need(in, NSX_RANGE, NSX_C(RANGE, profile) | NSX_C(RANGE, pid) | NSX_C(RANGE, tid)
	                               | NSX_C(RANGE, host_start) | NSX_C(RANGE, host_dur) | NSX_C(RANGE, unended));
	nsx_reader_need(in, NSX_OP, NSX_C(OP, host_start));
}

bool
nsx_helpers_device(struct nsx_helpers *h, const struct nsx_rec *rec)
{
	struct nsx_device_process d = nsx_device_process_of(rec);
	h->device_known = false;
	uint32_t at = nsx_map_number(&h->device_at, (struct nsx_key){ (uint64_t)d.device, 0 });

	if (at == NSX_NONE)
		return false;
	if (!nsx_vec_reach(&h->pids, at, &(int64_t){ NSX_ABSENT }))
		return false;
	h->pids.p[at] = d.pid;
	return true;
}

/* The number of a thread; NSX_NONE when out of memory. */
static uint32_t
thread_at(struct nsx_helpers *h, int64_t profile, int64_t pid, int64_t tid)
{
	uint32_t *last = &h->last[((uint64_t)tid ^ (uint64_t)pid ^ (uint64_t)profile) % NSX_HELPER_LAST];
	const struct nsx_helper_thread *t = h->threads.n ? &h->threads.p[*last] : NULL;

	if (t && t->tid == tid && t->pid == pid && t->profile == profile)
		return *last;
	uint32_t at = nsx_thread_number(&h->number, profile, pid, tid);

	if (at == h->threads.n) {
		uint32_t process = nsx_map_get(&h->number.process_of,
		                               (struct nsx_key){ (uint64_t)profile, (uint64_t)pid });

		if (!nsx_vec_push(&h->threads, ((struct nsx_helper_thread){ profile, pid, tid, process, 0, 0 })))
			return NSX_NONE;
	}
	*last = at == NSX_NONE ? 0 : at;
	return at;
}

/* The class of the row of ranges of that domain and name; NSX_NONE when out of memory. */
static uint32_t
class_of(struct nsx_helpers *h, struct nsx_str domain, struct nsx_str name, uint32_t row)
{
	if (!nsx_vec_reach(&h->class_of, row, &(uint32_t){ NSX_NONE }))
		return NSX_NONE;
	if (h->class_of.p[row] != NSX_NONE)
		return h->class_of.p[row];
	name = nsx_range_book_title(&h->book, domain, name, NSX_NAMES_DIGITS);
	h->class_of.p[row] = name.len ? nsx_intern(&h->classes, name) : (uint32_t)NSX_NONE;
	while (h->outer.n < h->classes.n)
		if (!nsx_vec_push(&h->outer, 0))
			return NSX_NONE;
	return h->class_of.p[row];
}

bool
nsx_helpers_row(struct nsx_helpers *h, struct nsx_str domain, struct nsx_str name, uint32_t row)
{
	return class_of(h, domain, name, row) != NSX_NONE;
}

bool
nsx_helpers_range(struct nsx_helpers *h, const struct nsx_rec *rec, uint32_t row)
{
	uint32_t thread, class, *has;
	int64_t start;

	class = class_of(h, nsx_string(rec, NSX_RANGE_domain), nsx_string(rec, NSX_RANGE_name), row);
	if (class == NSX_NONE)
		return false;
	if (!h->keep || !nsx_has(rec, NSX_RANGE_tid))
		return true;
	thread = thread_at(h, nsx_int(rec, NSX_RANGE_profile, NSX_ABSENT), nsx_int(rec, NSX_RANGE_pid, NSX_ABSENT),
	                   nsx_int(rec, NSX_RANGE_tid, NSX_ABSENT));
	if (thread == NSX_NONE)
		return false;
	has = nsx_map_at(&h->has, (struct nsx_key){ thread, class });
	if (!has)
		return false;
	*has = 1;
	start = nsx_int(rec, NSX_RANGE_host_start, NSX_ABSENT);
	/* Where a range without an end would have ended is not known. */
	if (start == NSX_ABSENT || nsx_int(rec, NSX_RANGE_unended, 0) == 1)
		return true;
	return nsx_vec_push(&h->ranges, ((struct nsx_helper_range){
		start, nsx_add_sat(start, nsx_int(rec, NSX_RANGE_host_dur, 0), NULL), thread, row }));
}

void
nsx_helpers_outer(struct nsx_helpers *h, uint32_t row, uint32_t thread)
{
	if (thread < 64)
		h->outer.p[h->class_of.p[row]] |= UINT64_C(1) << thread;
}

/* The place of a device in pids, NSX_NONE if it has none. */
static uint32_t
device_at(struct nsx_helpers *h, int64_t device)
{
	if (!h->device_known || h->device != device)
		h->device_place = nsx_map_get(&h->device_at, (struct nsx_key){ (uint64_t)device, 0 });
	h->device_known = true;
	h->device = device;
	return h->device_place;
}

bool
nsx_helpers_op(struct nsx_helpers *h, const struct nsx_helper_launch *op, uint32_t *out)
{
	uint32_t device = device_at(h, op->device);
	bool in_range = op->range != NSX_ABSENT;
	nsx_u128 dur = (nsx_u128)op->dur;
	uint32_t thread;

	*out = NSX_NONE;
	if (!in_range) {
		h->nalone++;
		h->alone += dur;
	}
	if (op->tid == NSX_ABSENT) {
		h->no_call += h->keep;
		h->threadless += in_range ? 0 : dur;
		return true;
	}
	thread = thread_at(h, op->profile, device == NSX_NONE ? NSX_ABSENT : h->pids.p[device], op->tid);
	*out = thread;
	if (thread == NSX_NONE)
		return false;
	h->threads.p[thread].launched += dur;
	h->threads.p[thread].alone += in_range ? 0 : dur;
	if (!h->keep)
		return true;
	if (in_range && device != NSX_NONE) {
		uint32_t *use = nsx_map_at(&h->uses, (struct nsx_key){ thread, device });

		if (!use)
			return false;
		*use = 1;
	}
	if (op->host_start == NSX_ABSENT) {
		h->no_call++;
		return true;
	}
	return nsx_vec_push(&h->ops, ((struct nsx_helper_op){ op->host_start, op->dur, thread, device }));
}

/* ---- assignment */

static int
by_start(const void *a, const void *b, const void *helpers)
{
	const struct nsx_helpers *h = helpers;
	const struct nsx_helper_range *x = a, *y = b;
	const struct nsx_helper_thread *s = &h->threads.p[x->thread], *t = &h->threads.p[y->thread];

	if (s->process != t->process)
		return s->process < t->process ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (s->tid > t->tid) - (s->tid < t->tid);
}

static int
by_call(const void *a, const void *b, const void *helpers)
{
	const struct nsx_helpers *h = helpers;
	const struct nsx_helper_op *x = a, *y = b;
	const struct nsx_helper_thread *s = &h->threads.p[x->thread], *t = &h->threads.p[y->thread];

	if (s->process != t->process)
		return s->process < t->process ? -1 : 1;
	return (x->call > y->call) - (x->call < y->call);
}

/* A range that is open; inner: it is in another of its class on its thread. */
struct open { const struct nsx_helper_range *range; uint32_t class; bool inner; };

/* Of a class, for the nth operation (from 1): the thread that it helps, and whether that uses its device. */
struct choice { size_t nth; uint32_t thread; bool uses; };

/* The open ranges of a process, by start; choices by class; and of each row the last operation that it counts. */
struct sweep { NSX_VEC(struct open) open; struct choice *choice; size_t *row; };

/* Add a range to those that are open. False when out of memory. */
static bool
enter(const struct nsx_helpers *h, struct sweep *s, const struct nsx_helper_range *r)
{
	struct open new = { r, h->class_of.p[r->row], false };

	for (size_t i = 0; i < s->open.n && !new.inner; i++)
		new.inner = s->open.p[i].class == new.class && s->open.p[i].range->thread == r->thread
		            && s->open.p[i].range->end >= r->end;
	return nsx_vec_push(&s->open, new);
}

/* Remove the ranges of other processes, and those that have ended when the operation is launched. */
static void
leave(const struct nsx_helpers *h, struct sweep *s, const struct nsx_helper_op *op)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->open.n; i++)
		if (h->threads.p[s->open.p[i].range->thread].process == h->threads.p[op->thread].process
		    && s->open.p[i].range->end > op->call)
			s->open.p[kept++] = s->open.p[i];
	s->open.n = kept;
}

/* Whether the operation's thread may help that range. */
static bool
helps(const struct nsx_helpers *h, const struct nsx_helper_op *op, const struct open *o)
{
	return o->range->thread != op->thread
	       && nsx_map_get(&h->has, (struct nsx_key){ op->thread, o->class }) == NSX_NONE;
}

/* Add the nth operation to the open ranges that it helps. */
static void
help(const struct nsx_helpers *h, struct sweep *s, const struct nsx_helper_op *op, size_t nth, nsx_u128 *helped)
{
	for (size_t i = 0; i < s->open.n; i++) {
		const struct open *o = &s->open.p[i];
		struct choice *c = &s->choice[o->class];
		bool uses;

		if (o->inner || !helps(h, op, o))
			continue;
		uses = op->device != NSX_NONE && nsx_map_get(&h->uses,
			(struct nsx_key){ o->range->thread, op->device }) != NSX_NONE;
		if (c->nth != nth || uses >= c->uses)
			*c = (struct choice){ nth, o->range->thread, uses };
	}
	for (size_t i = 0; i < s->open.n; i++) {
		const struct nsx_helper_range *r = s->open.p[i].range;
		const struct choice *c = &s->choice[s->open.p[i].class];

		if (c->nth != nth || c->thread != r->thread || s->row[r->row] == nth)
			continue;
		s->row[r->row] = nth;
		helped[r->row] += (nsx_u128)op->dur;
	}
}

bool
nsx_helpers_assign(struct nsx_helpers *h, nsx_u128 *helped, size_t nrows)
{
	struct sweep s = { .choice = calloc(h->classes.n + 1, sizeof *s.choice),
	                   .row = calloc(nrows + 1, sizeof *s.row) };
	bool good = s.choice && s.row;
	size_t next = 0;

	if (good && h->ranges.n)
		nsx_sort_with(h->ranges.p, h->ranges.n, sizeof *h->ranges.p, by_start, h);
	if (good && h->ops.n)
		nsx_sort_with(h->ops.p, h->ops.n, sizeof *h->ops.p, by_call, h);
	for (size_t i = 0; good && i < h->ops.n; i++) {
		const struct nsx_helper_op *op = &h->ops.p[i];
		uint32_t process = h->threads.p[op->thread].process;

		for (; good && next < h->ranges.n; next++) {
			const struct nsx_helper_range *r = &h->ranges.p[next];
			uint32_t of = h->threads.p[r->thread].process;

			if (of > process || (of == process && r->start > op->call))
				break;
			good = of < process || enter(h, &s, r);
		}
		leave(h, &s, op);
		help(h, &s, op, i + 1, helped);
	}
	free(s.open.p);
	free(s.choice);
	free(s.row);
	return good;
}

/* ---- what is reported */

/* Threads with the most time in no range first. */
static int
by_alone(const void *a, const void *b, const void *helpers)
{
	const struct nsx_helpers *h = helpers;
	const struct nsx_helper_thread *x = &h->threads.p[*(const uint32_t *)a],
	    *y = &h->threads.p[*(const uint32_t *)b];

	if (x->alone != y->alone)
		return x->alone > y->alone ? -1 : 1;
	if (x->profile != y->profile)
		return x->profile < y->profile ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* Append a time: its exact nanoseconds, or in the unit that a reader expects. */
static void
put_time(struct nsx_buf *b, nsx_u128 ns, bool exact)
{
	if (exact)
		nsx_buf_fmt(b, "%" PRIu64 " ns", ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns);
	else
		nsx_buf_ns(b, (double)ns);
}

/* Append the threads that launched operations in no range, the first three of them by number. False when out of
 * memory. */
static bool
list_threads(const struct nsx_helpers *h, struct nsx_buf *b, bool exact)
{
	enum { NUMBERED = 3 };
	uint32_t *order = malloc((h->threads.n + 1) * sizeof *order);
	nsx_u128 rest = 0;
	size_t n = 0;

	if (!order)
		return false;
	for (size_t i = 0; i < h->threads.n; i++)
		if (h->threads.p[i].alone)
			order[n++] = (uint32_t)i;
	nsx_sort_with(order, n, sizeof *order, by_alone, h);
	for (size_t i = 0; i < n; i++) {
		const struct nsx_helper_thread *t = &h->threads.p[order[i]];

		if (i >= NUMBERED) {
			rest += t->alone;
			continue;
		}
		nsx_buf_fmt(b, "%sthread %" PRId64, i ? ", " : "", t->tid);
		if (t->pid != NSX_ABSENT)
			nsx_buf_fmt(b, " of process %" PRId64, t->pid);
		nsx_buf_char(b, ' ');
		put_time(b, t->alone, exact);
	}
	if (n > NUMBERED) {
		nsx_buf_fmt(b, ", %zu other threads ", n - NUMBERED);
		put_time(b, rest, exact);
	}
	if (h->threadless) {
		nsx_buf_fmt(b, "%sunknown CUDA calls ", n ? ", " : "");
		put_time(b, h->threadless, exact);
	}
	free(order);
	return !b->failed;
}

/* "TIME (PERCENT of GPU time) was launched in no range: THREADS". False when out of memory. */
static bool
tell_alone(const struct nsx_helpers *h, nsx_u128 all, struct nsx_buf *b, bool exact)
{
	b->len = 0;
	put_time(b, h->alone, exact);
	nsx_buf_fmt(b, " of GPU work, %.1f%%, was launched in no range: ", 100 * nsx_sum_share(h->alone, all));
	return list_threads(h, b, exact);
}

/* Whether, of the threads of a process that launched work, one has outermost ranges of a class and another has not. */
static bool
differ(const struct nsx_helpers *h)
{
	size_t n = h->threads.n < 64 ? h->threads.n : 64;

	for (size_t t = 0; t < n; t++) {
		uint64_t others = 0;

		for (size_t u = 0; u < n; u++)
			if (h->threads.p[u].process == h->threads.p[t].process && h->threads.p[u].launched)
				others |= UINT64_C(1) << u;
		for (size_t class = 0; h->threads.p[t].launched && class < h->outer.n; class++)
			if (h->outer.p[class] & others && !(h->outer.p[class] >> t & 1))
				return true;
	}
	return false;
}

#define OWN_THREAD \
	"gpu_time counts only the work that the thread of a range launched, and several threads of a process " \
	"launched work: --helpers adds what the others launched meanwhile"

bool
nsx_helpers_report(const struct nsx_helpers *h, nsx_u128 all, struct nsx_table *t, struct nsx_diags *diags)
{
	struct nsx_buf b = { 0 };
	bool good = true;

	if (h->alone) {
		good = tell_alone(h, all, &b, false);
		if (good && 100 * h->alone >= all)
			nsx_table_note(t, "%.*s", (int)b.len, b.ptr);
		good = good && tell_alone(h, all, &b, true);
		if (good)
			nsx_diag_add(diags, NSX_INFO, "", h->nalone, "%.*s", (int)b.len, b.ptr);
	}
	if (!h->keep && differ(h)) {
		nsx_table_note(t, OWN_THREAD);
		nsx_diag_add(diags, NSX_INFO, "", 1, OWN_THREAD);
	}
	nsx_diag_add(diags, NSX_WARNING, "", h->no_call, "operations whose CUDA call is not known: not in gpu_helper");
	nsx_buf_free(&b);
	return good;
}

void
nsx_helpers_free(struct nsx_helpers *h)
{
	nsx_map_free(&h->device_at);
	nsx_threads_free(&h->number);
	nsx_range_book_free(&h->book);
	nsx_intern_free(&h->classes);
	free(h->class_of.p);
	nsx_map_free(&h->has);
	nsx_map_free(&h->uses);
	free(h->outer.p);
	free(h->pids.p);
	free(h->threads.p);
	free(h->ranges.p);
	free(h->ops.p);
}
