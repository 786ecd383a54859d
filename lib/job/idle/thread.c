/* thread.c -- the activity of a host thread at each time. */
#include "job/idle/thread.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/heap.h"
#include "base/num.h"
#include "base/outfile.h"
#include "base/sort.h"
#include "stream/kinds.h"

/* Pieces of a thread in memory; beyond that the older half goes to a file, in pieces of fixed size, so that one is
 * found by binary search. */
enum { MANY = 1 << 20 };

/* The time per record grows with the intervals that a thread has open, so their number is limited; no real program
 * reaches the limit: where ranges nest, deeper ones are represented by those around them. */
enum { MOST_OPEN = 4096 };

/* If ranges do not nest, each end changes the paths of ranges that remain open: of at most this many. */
enum { MOST_REMADE = 64 };

static bool
starts_before(const void *unused, const struct nsx_open_interval *a, const struct nsx_open_interval *b)
{
	(void)unused;
	return a->start < b->start;
}
NSX_HEAP(coming, struct nsx_open_interval, const void *, starts_before)

int
nsx_host_thread_init(struct nsx_host_thread *t, int64_t profile, int64_t pid, int64_t tid,
                     const struct nsx_host_paths *paths, struct nsx_err *err)
{
	struct nsx_host_piece first = { INT64_MIN, NSX_ABSENT, NSX_ABSENT, paths->root, NSX_NONE, NSX_CAUSE_HOST,
	    false };

	*t = (struct nsx_host_thread){ .profile = profile, .pid = pid, .tid = tid, .settled = INT64_MIN, .fd = -1 };
	return nsx_vec_push(&t->list, first) ? NSX_OK : nsx_err_nomem(err, NULL);
}

void
nsx_host_thread_free(struct nsx_host_thread *t)
{
	free(t->calls.list.p);
	free(t->overheads.list.p);
	free(t->ranges.list.p);
	free(t->coming.p);
	free(t->list.p);
	if (t->fd >= 0)
		close(t->fd);
}

/* ---- pieces */

static int
write_all(int fd, const void *p, size_t n, off_t at, struct nsx_err *err)
{
	const char *from = p;

	while (n) {
		ssize_t k = pwrite(fd, from, n, at);

		if (k <= 0)
			return nsx_err_set(err, "temporary file: cannot write the activity of threads");
		from += k;
		at += k;
		n -= (size_t)k;
	}
	return NSX_OK;
}

static int
read_all(int fd, void *p, size_t n, off_t at, struct nsx_err *err)
{
	char *to = p;

	while (n) {
		ssize_t k = pread(fd, to, n, at);

		if (k <= 0)
			return nsx_err_set(err, "temporary file: cannot read back the activity of threads");
		to += k;
		at += k;
		n -= (size_t)k;
	}
	return NSX_OK;
}

/* Write the older half of the pieces in memory to the file. */
static int
spill(struct nsx_host_thread *t, struct nsx_err *err)
{
	size_t n = (t->list.n - t->head) / 2, size = sizeof *t->list.p;

	if (t->fd < 0 && (t->fd = nsx_tmpfile(err)) < 0)
		return NSX_ERR;
	if (write_all(t->fd, t->list.p + t->head, n * size, (off_t)(t->spilled * size), err) != NSX_OK)
		return NSX_ERR;
	t->spilled += n;
	t->head += n;
	return NSX_OK;
}

static bool
same(const struct nsx_host_piece *a, const struct nsx_host_piece *b)
{
	return a->state == b->state && a->call == b->call && a->path == b->path && a->blocking == b->blocking &&
	       a->call_name == b->call_name && a->range == b->range;
}

static int
push_piece(struct nsx_host_thread *t, struct nsx_host_piece p, struct nsx_err *err)
{
	/* If there are several changes at one time, the last is used. */
	if (t->list.p[t->list.n - 1].start == p.start && t->list.n - t->head > 1)
		t->list.n--;
	if (same(&t->list.p[t->list.n - 1], &p))
		return NSX_OK;
	if (t->list.n - t->head >= MANY && spill(t, err) != NSX_OK)
		return NSX_ERR;
	nsx_vec_pass(&t->list, &t->head);
	return nsx_vec_push(&t->list, p) ? NSX_OK : nsx_err_nomem(err, NULL);
}

/* The activity of the thread from `at` on, given the open intervals. */
static int
note(struct nsx_host_thread *t, int64_t at, const struct nsx_host_paths *paths, struct nsx_err *err)
{
	const struct nsx_open_interval *call = nsx_open_innermost(&t->calls), *range = nsx_open_innermost(&t->ranges);
	const struct nsx_open_interval *first = NULL;
	struct nsx_host_piece p = { at > t->settled ? at : t->settled, NSX_ABSENT,
	                            range && t->keeps_ranges ? range->id : NSX_ABSENT, range ? range->path
	                            : paths->root,
	                            NSX_NONE, NSX_CAUSE_HOST, false };

	if (call) {
		p.call = call->id;
		p.call_name = call->name;
		p.blocking = call->what == NSX_CAUSE_SYNC;
		p.state = (uint8_t)call->what;
	} else if (range) {
		p.state = range->within ? NSX_CAUSE_COMPILE : NSX_CAUSE_RANGE;
	}
	for (size_t i = 0; i < t->overheads.list.n; i++) {
		const struct nsx_open_interval *o = &t->overheads.list.p[i];

		first = !first || o->path < first->path ? o : first;
	}
	if (first)
		p.state = (uint8_t)first->what;
	return push_piece(t, p, err);
}

/* ---- the sweep */

/* Compute the paths of the open ranges from that position on, and whether they are within one that compiles. */
static int
make_paths(struct nsx_host_thread *t, size_t from, const struct nsx_host_paths *paths, struct nsx_err *err)
{
	uint32_t path = from ? t->ranges.list.p[from - 1].path : paths->root;
	bool within = from && t->ranges.list.p[from - 1].within;

	for (size_t i = from; i < t->ranges.list.n; i++) {
		struct nsx_open_interval *r = &t->ranges.list.p[i];

		r->within = within = within || r->what == NSX_CAUSE_COMPILE;
		if (i - from >= MOST_REMADE && r->name != NSX_NONE) {
			t->stale += i - from == MOST_REMADE;
			continue;
		}
		if (r->name != NSX_NONE)
			path = paths->push(paths->state, path, r->name);
		if (path == NSX_NONE)
			return nsx_err_nomem(err, NULL);
		r->path = path;
	}
	return NSX_OK;
}

/* The first of the ranges that have not begun. */
static int64_t
next_coming(const struct nsx_host_thread *t)
{
	return t->coming.n ? t->coming.p[0].start : INT64_MAX;
}

/* Open the ranges that begin at `at`. */
static int
open_coming(struct nsx_host_thread *t, int64_t at, const struct nsx_host_paths *paths, struct nsx_err *err)
{
	size_t place;

	while (t->coming.n && t->coming.p[0].start <= at) {
		struct nsx_open_interval i = coming_pop(NULL, t->coming.p, t->coming.n--);

		if (t->ranges.list.n >= MOST_OPEN) {
			t->crowded++;
			continue;
		}
		if (!nsx_open_add(&t->ranges, i, &place))
			return nsx_err_nomem(err, NULL);
		if (make_paths(t, place, paths, err) != NSX_OK)
			return NSX_ERR;
	}
	return NSX_OK;
}

int
nsx_host_settle(struct nsx_host_thread *t, int64_t to, const struct nsx_host_paths *paths, struct nsx_err *err)
{
	for (;;) {
		int64_t call = nsx_open_next_end(&t->calls), overhead = nsx_open_next_end(&t->overheads);
		int64_t range = nsx_open_next_end(&t->ranges);
		int64_t at = nsx_min(nsx_min(nsx_min(call, overhead), range), next_coming(t));

		if (at > to || at == INT64_MAX)
			break;
		if (call <= at)
			nsx_open_close(&t->calls, at);
		if (overhead <= at)
			nsx_open_close(&t->overheads, at);
		if ((range <= at && make_paths(t, nsx_open_close(&t->ranges, at), paths, err) != NSX_OK)
		    || open_coming(t, at, paths, err) != NSX_OK || note(t, at, paths, err) != NSX_OK)
			return NSX_ERR;
	}
	t->settled = to > t->settled ? to : t->settled;
	return NSX_OK;
}

static int
begin(struct nsx_host_thread *t, struct nsx_open_intervals *where, struct nsx_open_interval i,
      const struct nsx_host_paths *paths, struct nsx_err *err)
{
	size_t at;

	if (nsx_host_settle(t, i.start, paths, err) != NSX_OK)
		return NSX_ERR;
	/* An interval that is over, or has no length, contains no time that can be queried. */
	if (i.end <= i.start || i.end <= t->settled)
		return NSX_OK;
	if (where->list.n >= MOST_OPEN) {
		t->crowded++;
		return NSX_OK;
	}
	if (!nsx_open_add(where, i, &at))
		return nsx_err_nomem(err, NULL);
	return note(t, i.start, paths, err);
}

int
nsx_host_call(struct nsx_host_thread *t, struct nsx_open_interval i, const struct nsx_host_paths *paths,
              struct nsx_err *err)
{
	return begin(t, &t->calls, i, paths, err);
}

int
nsx_host_overhead(struct nsx_host_thread *t, struct nsx_open_interval i, const struct nsx_host_paths *paths,
                  struct nsx_err *err)
{
	return begin(t, &t->overheads, i, paths, err);
}

int
nsx_host_range(struct nsx_host_thread *t, struct nsx_open_interval i, struct nsx_err *err)
{
	/* Its position in the stream is the start of its GPU work, if that is earlier. */
	if (!nsx_vec_room(&t->coming, 1))
		return nsx_err_nomem(err, NULL);
	coming_push(NULL, t->coming.p, t->coming.n++, i);
	return NSX_OK;
}

/* ---- queries */

/* Append the pieces of the file that overlap [from, to). */
static int
from_file(const struct nsx_host_thread *t, int64_t from, int64_t to, struct nsx_host_pieces *out, struct nsx_err *err)
{
	size_t lo = t->spilled_head, hi = t->spilled, size = sizeof *t->list.p;
	struct nsx_host_piece p;

	/* The last piece that begins at `from` or before. */
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (read_all(t->fd, &p, size, (off_t)(mid * size), err) != NSX_OK)
			return NSX_ERR;
		if (p.start <= from)
			lo = mid;
		else
			hi = mid;
	}
	for (; lo < t->spilled; lo++) {
		if (read_all(t->fd, &p, size, (off_t)(lo * size), err) != NSX_OK)
			return NSX_ERR;
		if (p.start >= to)
			break;
		if (!nsx_vec_push(&out->list, p))
			return nsx_err_nomem(err, NULL);
	}
	return NSX_OK;
}

int
nsx_host_between(const struct nsx_host_thread *t, int64_t from, int64_t to, struct nsx_host_pieces *out,
                 struct nsx_err *err)
{
	size_t after;

	if (from >= to)
		return NSX_OK;
	if (t->spilled > t->spilled_head && t->list.p[t->head].start > from
	    && from_file(t, from, to, out, err) != NSX_OK)
		return NSX_ERR;
	NSX_BISECT(after, t->head + 1, t->list.n, t->list.p[after].start > from);
	for (size_t i = after - 1; i < t->list.n && t->list.p[i].start < to; i++)
		if (!nsx_vec_push(&out->list, t->list.p[i]))
			return nsx_err_nomem(err, NULL);
	return NSX_OK;
}

void
nsx_host_forget(struct nsx_host_thread *t, int64_t time)
{
	while (t->head + 1 < t->list.n && t->list.p[t->head + 1].start <= time)
		t->head++;
	/* Without reading the file, this is known only if all of it is in the past. */
	if (t->spilled > t->spilled_head && t->list.p[t->head].start <= time) {
		t->spilled_head = t->spilled = 0;
		if (ftruncate(t->fd, 0) != 0)
			t->spilled_head = t->spilled = 0;   /* it will be overwritten */
	}
}
