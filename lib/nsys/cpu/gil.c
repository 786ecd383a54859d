/* gil.c -- waits for Python's global interpreter lock. A thread wants the GIL while it is in a range `Waiting for GIL`,
 * or in a handover: a call of the OS library in which the interpreter itself waits, as it does when it gives the GIL up
 * on request and waits until the other thread has taken it. The thread that then has it is the one that took it last;
 * in a handover, before anyone has, the one that will be the first to take it.
 *
 *   T    waits  [0 ......................... 10)
 *   A    holds  [-5 .... 4)
 *   B    holds               [6 ........ 9)          T: for A until 4, free until 6, for B until 9, free until 10;
 *                                                    as a handover for B from 4 on
 *
 * A process whose ranges of the GIL were not recorded has handovers only, and it is not known for whom. */
#include <stdlib.h>

#include "nsys/cpu/reading.h"
#include "base/sort.h"

/* Who holds the GIL of a process from a time on: the thread that took it last, and the last one of another thread; 0:
 * none. */
struct holder { int64_t start; uint64_t top, second; };

/* A time in which a thread wants the GIL. */
struct want { int64_t start, end; bool handover; };

struct gil {
	struct nsx_cpu_reading *r;
	uint64_t            sampler;    /* the thread that takes Python samples; 0: none */
	struct nsx_gil_ranges ranges;   /* of the process */
	NSX_VEC(struct holder) holders; /* by start */
	NSX_VEC(uint32_t)   open;       /* holds that are open, by start: indices in ranges */
	NSX_VEC(struct nsx_sort_start) ends;
	NSX_VEC(struct want) wants;     /* of a thread, by start */
	NSX_VEC(int64_t)    borders;
};

/* ---- the holders of a process */

static bool
push_holder(struct gil *g, int64_t start)
{
	struct holder h = { start, 0, 0 };

	for (size_t i = g->open.n; i-- > 0 && !h.second;) {
		uint64_t gtid = g->ranges.p[g->open.p[i]].gtid;

		if (!h.top)
			h.top = gtid;
		else if (gtid != h.top)
			h.second = gtid;
	}
	if (g->holders.n && g->holders.p[g->holders.n - 1].start == start) {
		g->holders.p[g->holders.n - 1] = h;
		return true;
	}
	return nsx_vec_push(&g->holders, h);
}

static void
close_hold(struct gil *g, uint32_t hold)
{
	size_t n = 0;

	for (size_t i = 0; i < g->open.n; i++)
		if (g->open.p[i] != hold)
			g->open.p[n++] = g->open.p[i];
	g->open.n = n;
}

/* Sweep over starts, which are in order, and ends. */
static bool
find_holders(struct gil *g)
{
	size_t e = 0;

	g->holders.n = g->open.n = g->ends.n = 0;
	for (size_t i = 0; i < g->ranges.n; i++)
		if (g->ranges.p[i].holds && g->ranges.p[i].end > g->ranges.p[i].start &&
		    !nsx_vec_push(&g->ends, ((struct nsx_sort_start){ g->ranges.p[i].end, (uint32_t)i, 0 })))
			return false;
	if (!nsx_sort_starts(g->ends.p, g->ends.n))
		return false;
	for (size_t i = 0; i <= g->ranges.n; i++) {
		bool more = i < g->ranges.n;

		if (more && (!g->ranges.p[i].holds || g->ranges.p[i].end <= g->ranges.p[i].start))
			continue;
		for (; e < g->ends.n && (!more || g->ends.p[e].start <= g->ranges.p[i].start); e++) {
			close_hold(g, g->ends.p[e].i);
			if (!push_holder(g, g->ends.p[e].start))
				return false;
		}
		if (more && (!nsx_vec_push(&g->open, (uint32_t)i) || !push_holder(g, g->ranges.p[i].start)))
			return false;
	}
	return true;
}

/* ---- what a thread wants */

static bool
is_wait(struct nsx_str name)
{
	static const char *const names[] = { "pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_signal",
	                                     "pthread_mutex_lock" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (nsx_str_eq(name, nsx_str_c(names[i])))
			return true;
	return false;
}

NSX_ORDER(by_start, struct want, NSX_CMP(a->start, b->start), NSX_CMP(a->end, b->end))

/* calls: indices of the thread's OS calls, n of them. */
static int
find_wants(struct gil *g, uint64_t gtid, const struct nsx_sort_key *calls, size_t n)
{
	const struct nsx_cpu_reading *r = g->r;

	g->wants.n = 0;
	for (size_t i = 0; i < g->ranges.n; i++) {
		const struct nsx_gil_range *x = &g->ranges.p[i];

		if (!x->holds && x->gtid == gtid && x->end > x->start &&
		    !nsx_vec_push(&g->wants, ((struct want){ x->start, x->end, false })))
			return nsx_load_nomem(r->l);
	}
	for (size_t i = 0; i < n; i++) {
		const struct nsx_os_call *c = &r->c->os.p[calls[i].i];
		const struct nsx_shape *shape;

		if (c->stack == NSX_NONE || c->name == NSX_NONE || c->start == c->end ||
		    !is_wait(nsx_intern_str(&r->l->t->names, c->name)))
			continue;
		if (!(shape = nsx_cpu_shape(g->r, c->stack)))
			return nsx_load_nomem(r->l);
		if (shape->interpreter && !nsx_vec_push(&g->wants, ((struct want){ c->start, c->end, true })))
			return nsx_load_nomem(r->l);
	}
	if (g->wants.n)
		qsort(g->wants.p, g->wants.n, sizeof *g->wants.p, by_start);
	return NSX_OK;
}

/* ---- records */

/* Add a piece; one that continues the last of the thread with the same holder becomes a part of it. */
static bool
add(struct gil *g, uint32_t thread, int64_t start, int64_t end, uint64_t by, enum nsx_gil_how how)
{
	struct nsx_gil_wait w = { start, end, by, thread, (uint8_t)how }, *last = NULL;

	if (start >= end)
		return true;
	if (g->r->c->gils.n)
		last = &g->r->c->gils.p[g->r->c->gils.n - 1];
	if (last && last->thread == thread && last->end == start && last->by == by && last->how == how) {
		last->end = end;
		return true;
	}
	return nsx_vec_push(&g->r->c->gils, w);
}

/* The start of the first hold of another thread in [from, to); `to` if there is none; *by: who that is. */
static int64_t
first_take(const struct gil *g, uint64_t gtid, int64_t from, int64_t to, uint64_t *by)
{
	size_t i = nsx_sort_first(g->ranges.p, g->ranges.n, sizeof *g->ranges.p, offsetof(struct nsx_gil_range, start),
	                          from);

	for (; i < g->ranges.n && g->ranges.p[i].start < to; i++)
		if (g->ranges.p[i].holds && g->ranges.p[i].end > g->ranges.p[i].start && g->ranges.p[i].gtid != gtid) {
			*by = g->ranges.p[i].gtid;
			return g->ranges.p[i].start;
		}
	*by = 0;
	return to;
}

/* The piece [start, end) of a wait: cut where the holder changes. taken: the time until which `taker`, if it is not 0,
 * is the one that takes it first. */
static bool
cut(struct gil *g, uint32_t thread, uint64_t gtid, int64_t start, int64_t end, int64_t taken, uint64_t taker)
{
	size_t i = nsx_sort_first(g->holders.p, g->holders.n, sizeof *g->holders.p, offsetof(struct holder, start),
	                          start);
	bool good = true;

	/* The holder at `start` became it at or before. */
	i -= i && (i == g->holders.n || g->holders.p[i].start > start);
	while (start < end && good) {
		bool known = i < g->holders.n && g->holders.p[i].start <= start;
		size_t next = known ? i + 1 : i;
		int64_t to = next < g->holders.n && g->holders.p[next].start < end ? g->holders.p[next].start : end;
		uint64_t by = !known ? 0 : g->holders.p[i].top != gtid ? g->holders.p[i].top : g->holders.p[i].second;

		if (!by && taker && start < taken) {
			by = taker;
			to = taken < to ? taken : to;
		}
		good = add(g, thread, start, to, by,
			   !by                ? NSX_GIL_FREE
			   : by == g->sampler ? NSX_GIL_SAMPLER
					      : NSX_GIL_THREAD);
		start = to;
		while (i < g->holders.n && i + 1 < g->holders.n && g->holders.p[i + 1].start <= start)
			i++;
	}
	return good;
}

/* Elementary pieces of the wanted time, between starts and ends: each is one of a handover if any handover has it. */
static bool
add_wants(struct gil *g, uint32_t thread, uint64_t gtid)
{
	int64_t waits_to = INT64_MIN;
	size_t next = 0;

	g->borders.n = g->open.n = 0;
	for (size_t i = 0; i < g->wants.n; i++)
		if (!nsx_vec_push(&g->borders, g->wants.p[i].start) || !nsx_vec_push(&g->borders, g->wants.p[i].end))
			return false;
	if (g->borders.n)
		qsort(g->borders.p, g->borders.n, sizeof *g->borders.p, nsx_sort_by_int);
	for (size_t i = 0; i + 1 < g->borders.n; i++) {
		int64_t start = g->borders.p[i], end = g->borders.p[i + 1], taken = start;
		const struct want *over = NULL;
		uint64_t taker = 0;
		bool good;

		for (; next < g->wants.n && g->wants.p[next].start <= start; next++) {
			const struct want *w = &g->wants.p[next];

			if (w->handover && !nsx_vec_push(&g->open, (uint32_t)next))
				return false;
			waits_to = !w->handover && w->end > waits_to ? w->end : waits_to;
		}
		while (g->open.n && g->wants.p[g->open.p[g->open.n - 1]].end <= start)
			g->open.n--;
		if (g->open.n)
			over = &g->wants.p[g->open.p[g->open.n - 1]];
		if (!over && waits_to <= start)
			continue;
		if (over && g->ranges.n)
			taken = first_take(g, gtid, over->start, over->end, &taker);
		good = g->ranges.n ? cut(g, thread, gtid, start, end, taken, taker)
		                   : add(g, thread, start, end, 0, NSX_GIL_UNKNOWN);
		if (!good)
			return false;
	}
	return true;
}

struct nsx_gil_ranges
nsx_gil_of(const struct nsx_cpu_reading *r, uint64_t gtid)
{
	uint64_t process = nsx_cpu_process(gtid);
	size_t lo = 0, hi = r->gil.n, end;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (nsx_cpu_process(r->gil.p[mid].gtid) < process)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (end = lo; end < r->gil.n && nsx_cpu_process(r->gil.p[end].gtid) == process;)
		end++;
	return (struct nsx_gil_ranges){ r->gil.p + lo, end - lo };
}

NSX_ORDER(by_process, struct nsx_gil_range, NSX_CMP(nsx_cpu_process(a->gtid), nsx_cpu_process(b->gtid)),
          NSX_CMP(a->start, b->start), NSX_CMP(b->end, a->end), NSX_CMP(a->gtid, b->gtid))

/* The thread of that process which takes Python samples; 0: none. */
static uint64_t
sampler_of(const struct nsx_trace *t, uint64_t process)
{
	for (uint32_t i = 0; i < t->nthread_names; i++)
		if (nsx_cpu_process(t->thread_names[i].key) == process &&
		    nsx_str_eq(t->thread_names[i].name, NSX_STR("NSys PySampling")))
			return t->thread_names[i].key;
	return 0;
}

/* calls: OS calls by thread, as many as there are. */
static int
wait_threads(struct gil *g, const struct nsx_sort_key *calls)
{
	struct nsx_cpu_reading *r = g->r;
	uint64_t process = 0;
	size_t first = 0;

	for (uint32_t i = 0; i < r->c->threads.n; i++) {
		uint64_t gtid = r->c->threads.p[i].gtid;
		size_t n = 0;

		while (first + n < r->c->os.n && calls[first + n].k[0] == i)
			n++;
		if (!i || nsx_cpu_process(gtid) != process) {
			process = nsx_cpu_process(gtid);
			g->ranges = nsx_gil_of(r, gtid);
			g->sampler = sampler_of(r->l->t, process);
			if (!find_holders(g))
				return nsx_load_nomem(r->l);
		}
		if (find_wants(g, gtid, calls + first, n) != NSX_OK)
			return NSX_ERR;
		if (!add_wants(g, i, gtid))
			return nsx_load_nomem(r->l);
		first += n;
	}
	return NSX_OK;
}

int
nsx_cpu_gil(struct nsx_cpu_reading *r)
{
	struct nsx_sort_key *calls = malloc((r->c->os.n + 1) * sizeof *calls);
	struct gil g = { .r = r };

	if (!calls)
		return nsx_load_nomem(r->l);
	if (r->gil.n)
		qsort(r->gil.p, r->gil.n, sizeof *r->gil.p, by_process);
	for (size_t i = 0; i < r->c->os.n; i++)
		calls[i] = (struct nsx_sort_key){ { r->c->os.p[i].thread, r->c->os.p[i].start, 0 }, (uint32_t)i };
	nsx_sort_keys(calls, r->c->os.n);
	int rc = wait_threads(&g, calls);

	free(calls);
	free(g.holders.p);
	free(g.open.p);
	free(g.ends.p);
	free(g.wants.p);
	free(g.borders.p);
	return rc;
}
