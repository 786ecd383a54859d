/* python_threads.c -- which thread of the system a Python thread (a category of marks) is. One whose stacks do not
 * begin in the threading module is the main thread. Another is the thread that held the GIL whenever its stack changed,
 * and waited for the GIL whenever a sample found it wanting that:
 *
 *   samples of the category    A        B        B (wants the GIL)
 *   thread 7 holds                [  ]
 *   thread 7 waits                             [   ]         2 of 2: score 1
 *
 *   score = (changes while it held the GIL + wanting samples in its waits) / (times it held it or changed + wanting
 * ones)
 *
 * The best pair of all first, if its score is 0.1 at least, and 1.5 times that of the next thread for the category. */
#include <stdlib.h>

#include "nsys/cpu/reading.h"
#include "base/sort.h"

enum { FEWEST = 20, WANTS = 3, ON_ITS_THREAD = 2 };   /* samples; state; source */

/* Marks [first, end) of one category. */
struct category { size_t first, end; bool told; };
/* The ranges of the GIL of a thread, by start: holds, then waits. */
struct candidate { uint64_t gtid; size_t holds, nholds, waits, nwaits; bool taken; };

struct telling {
	struct nsx_cpu_reading *r;
	NSX_VEC(struct category)      categories;   /* of a process */
	NSX_VEC(struct candidate)     candidates;
	NSX_VEC(struct nsx_gil_range) ranges;       /* of the process, by thread, holds first, by start */
	NSX_VEC(double)               scores;       /* by category, then candidate */
};

NSX_ORDER(by_thread, struct nsx_gil_range, NSX_CMP(a->gtid, b->gtid), NSX_CMP(b->holds, a->holds),
          NSX_CMP(a->start, b->start))

/* Threads of the GIL's ranges of a process that are neither main nor a sampler. */
static bool
find_candidates(struct telling *t, uint64_t gtid)
{
	struct nsx_gil_ranges g = nsx_gil_of(t->r, gtid);

	t->ranges.n = t->candidates.n = 0;
	for (size_t i = 0; i < g.n; i++)
		if (!nsx_vec_push(&t->ranges, g.p[i]))
			return false;
	if (t->ranges.n)
		qsort(t->ranges.p, t->ranges.n, sizeof *t->ranges.p, by_thread);
	for (size_t i = 0, end; i < t->ranges.n; i = end) {
		struct candidate c = { .gtid = t->ranges.p[i].gtid, .holds = i };

		for (end = i; end < t->ranges.n && t->ranges.p[end].gtid == c.gtid; end++)
			c.nholds += t->ranges.p[end].holds;
		c.waits = i + c.nholds;
		c.nwaits = end - c.waits;
		if (c.gtid != nsx_cpu_main_thread(gtid) && c.gtid != gtid && !nsx_vec_push(&t->candidates, c))
			return false;
	}
	return true;
}

/* Whether one of the n ranges, by start, which do not overlap, has a part of (from, to); from = to: that moment. */
static bool
met(const struct nsx_gil_range *p, size_t n, int64_t from, int64_t to)
{
	size_t i = nsx_sort_first(p, n, sizeof *p, offsetof(struct nsx_gil_range, start), from);

	if (i && p[i - 1].end > from)
		return true;
	return i < n && (p[i].start < to || (from == to && p[i].start == from));
}

static double
score(const struct telling *t, const struct category *c, const struct candidate *x)
{
	const struct nsx_python_mark *m = t->r->marks.p;
	const struct nsx_gil_range *holds = t->ranges.p + x->holds, *waits = t->ranges.p + x->waits;
	int64_t both = 0, either = 0, wanting = 0, waited = 0;

	for (size_t i = c->first; i < c->end; i++) {
		if (m[i].state == WANTS) {
			wanting++;
			waited += met(waits, x->nwaits, m[i].at, m[i].at);
		}
		if (i == c->first)
			continue;
		bool changed = m[i].shape != m[i - 1].shape, held = met(holds, x->nholds, m[i - 1].at, m[i].at);

		both += changed && held;
		either += changed || held;
	}
	return either + wanting ? (double)(both + waited) / (double)(either + wanting) : 0;
}

static void
tell(const struct telling *t, struct category *c, uint64_t gtid)
{
	c->told = true;
	for (size_t i = c->first; i < c->end; i++)
		t->r->marks.p[i].gtid = gtid;
}

/* The category of the main thread: the first with a stack that does not begin in the threading module. NSX_ERR when
 * out of memory. */
static int
tell_main(struct telling *t)
{
	for (size_t k = 0; k < t->categories.n; k++) {
		struct category *c = &t->categories.p[k];

		for (size_t i = c->first; i < c->end; i++) {
			const struct nsx_shape *s = nsx_cpu_shape(t->r, t->r->marks.p[i].shape);

			if (!s)
				return NSX_ERR;
			if (!s->bootstrap && s->stack != NSX_NONE) {
				tell(t, c, nsx_cpu_main_thread(t->r->marks.p[i].by));
				return NSX_OK;
			}
		}
	}
	return NSX_OK;
}

/* The best pair that remains, then the next best of its category. */
static bool
tell_next(struct telling *t)
{
	size_t n = t->candidates.n, best = 0, category = 0;
	double top = 0, second = 0;

	for (size_t k = 0; k < t->categories.n; k++)
		for (size_t i = 0; i < n && !t->categories.p[k].told; i++)
			if (!t->candidates.p[i].taken && t->scores.p[k * n + i] > top) {
				top = t->scores.p[k * n + i];
				best = i;
				category = k;
			}
	if (top < 0.1)
		return false;
	for (size_t i = 0; i < n; i++)
		if (i != best && !t->candidates.p[i].taken && t->scores.p[category * n + i] > second)
			second = t->scores.p[category * n + i];
	if (top < 1.5 * second) {
		t->categories.p[category].told = true;
		return true;
	}
	t->candidates.p[best].taken = true;
	tell(t, &t->categories.p[category], t->candidates.p[best].gtid);
	return true;
}

static bool
tell_others(struct telling *t)
{
	t->scores.n = 0;
	for (size_t k = 0; k < t->categories.n; k++) {
		struct category *c = &t->categories.p[k];

		c->told = c->told || c->end - c->first < FEWEST;
		for (size_t i = 0; i < t->candidates.n; i++)
			if (!nsx_vec_push(&t->scores, c->told ? 0 : score(t, c, &t->candidates.p[i])))
				return false;
	}
	while (tell_next(t))
		;
	return true;
}

/* The marks [first, end) of a process. */
static bool
tell_process(struct telling *t, size_t first, size_t end)
{
	struct nsx_python_mark *m = t->r->marks.p;

	t->categories.n = 0;
	for (size_t i = first, next; i < end; i = next) {
		for (next = i; next < end && m[next].category == m[i].category;)
			next++;
		if (!nsx_vec_push(&t->categories, ((struct category){ i, next, false })))
			return false;
	}
	if (tell_main(t) != NSX_OK || !find_candidates(t, m[first].by) || !tell_others(t))
		return false;
	for (size_t i = first; i < end; i++)
		if (m[i].source == ON_ITS_THREAD)
			m[i].gtid = m[i].by;
	return true;
}

int
nsx_cpu_python_threads(struct nsx_cpu_reading *r)
{
	struct telling t = { .r = r };
	bool good = true;

	for (size_t i = 0, end; i < r->marks.n && good; i = end) {
		for (end = i; end < r->marks.n && nsx_cpu_process(r->marks.p[end].by) ==
		     nsx_cpu_process(r->marks.p[i].by);)
			end++;
		good = tell_process(&t, i, end);
	}
	for (size_t i = 0; i < r->marks.n; i++)
		r->untold += !r->marks.p[i].gtid;
	free(t.categories.p);
	free(t.candidates.p);
	free(t.ranges.p);
	free(t.scores.p);
	return good ? NSX_OK : nsx_load_nomem(r->l);
}
