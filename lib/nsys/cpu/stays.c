/* stays.c -- the time for which a Python sample answers. While a thread does not hold the GIL, or is in a call of the
 * OS library, it cannot come to another place in Python: that is a *stay*. A moment of a stay belongs to the next
 * sample in the stay, or else to the last one in it; any other moment, and any of a stay without samples, to the next
 * sample if that is at most LIMIT periods of sampling later.
 *
 *   GIL        held [0 ... 40)   not held [40 ............ 100)   held [100 ...
 *   samples           20                60          80                   110
 *   answer for   [..., 21)         [40, 61)  [61, 100)              [100, 111) */
#include <stdlib.h>

#include "nsys/cpu/reading.h"
#include "base/num.h"
#include "base/sort.h"

enum { LIMIT = 20 };

struct span { int64_t start, end; };
typedef NSX_VEC(struct span) spans;

struct stays {
	struct nsx_cpu_reading *r;
	spans  calls, holds, stays;     /* of a thread: outermost OS calls, times it holds the GIL; by start */
	struct nsx_sort_key *marks;     /* by thread, then time; of kept threads */
	size_t nmarks;
	struct nsx_sort_key *os;        /* OS calls by thread, start, the longer first */
};

/* Spans by start, of which those that begin in another are left out or, if it ends first, continue it. */
static bool
add_outer(spans *to, int64_t start, int64_t end, bool joined)
{
	struct span *last = to->n ? &to->p[to->n - 1] : NULL;

	if (start >= end)
		return true;
	if (last && start < last->end) {
		if (joined && end > last->end)
			last->end = end;
		return true;
	}
	return nsx_vec_push(to, ((struct span){ start, end }));
}

/* Stays of the thread: calls [first, end) of s->os are its own. */
static bool
find_stays(struct stays *s, uint64_t gtid, size_t first, size_t end)
{
	const struct nsx_cpu_reading *r = s->r;
	struct nsx_gil_ranges g = nsx_gil_of(r, gtid);
	int64_t from = INT64_MIN;
	bool good = true;
	size_t c = 0;

	s->calls.n = s->holds.n = s->stays.n = 0;
	for (size_t i = first; i < end && good; i++) {
		const struct nsx_os_call *call = &r->c->os.p[s->os[i].i];

		good = add_outer(&s->calls, call->start, call->end, false);
	}
	for (size_t i = 0; i < g.n && good; i++)
		if (g.p[i].holds && g.p[i].gtid == gtid)
			good = add_outer(&s->holds, g.p[i].start, g.p[i].end, true);
	if (!g.n) {
		for (size_t i = 0; i < s->calls.n && good; i++)
			good = nsx_vec_push(&s->stays, s->calls.p[i]);
		return good;
	}
	for (size_t i = 0; i < s->holds.n && good; i++) {
		struct span h = s->holds.p[i];

		good = add_outer(&s->stays, from, h.start, false);
		for (; c < s->calls.n && s->calls.p[c].end <= h.start;)
			c++;
		for (size_t k = c; k < s->calls.n && s->calls.p[k].start < h.end && good; k++)
			good = add_outer(&s->stays, s->calls.p[k].start > h.start ? s->calls.p[k].start : h.start,
			                 s->calls.p[k].end < h.end ? s->calls.p[k].end : h.end, false);
		from = h.end;
	}
	return good && add_outer(&s->stays, from, INT64_MAX, false);
}

/* The samples [first, end) of s->marks, of a thread whose stays are found. */
static bool
answer(struct stays *s, uint32_t thread, size_t first, size_t end)
{
	const struct nsx_python_mark *m = s->r->marks.p;
	int64_t limit = LIMIT * s->r->period, done = INT64_MIN;
	size_t stay = 0, last_stay = SIZE_MAX;

	for (size_t i = first; i < end; i++) {
		int64_t at = m[s->marks[i].i].at, after = i + 1 < end ? m[s->marks[i + 1].i].at : INT64_MAX;
		int64_t from = nsx_sub_sat(at, limit, NULL), to = nsx_add_sat(at, 1, NULL);

		while (stay < s->stays.n && s->stays.p[stay].end <= at)
			stay++;
		if (stay < s->stays.n && s->stays.p[stay].start <= at) {
			struct span in = s->stays.p[stay];

			if (last_stay == stay)
				from = done;
			else if (in.start < from)
				from = in.start;
			last_stay = stay;
			if (after >= in.end)
				to = in.end;
		}
		from = from > done ? from : done;
		/* Of a stay without an end or a beginning: as far as anything was recorded. */
		to = to > at && to > s->r->last ? (at < s->r->last ? s->r->last : at + 1) : to;
		from = from < 0 && at >= 0 ? 0 : from;
		struct nsx_cpu_sample sample = {
			.start = from, .end = to > from ? to : from, .at = at, .thread = thread,
			.stack = m[s->marks[i].i].shape, .python = true
		};
		if (!nsx_vec_push(&s->r->c->samples, sample))
			return false;
		s->r->c->threads.p[thread].python++;
		done = sample.end;
	}
	return true;
}

static bool
sort_all(struct stays *s)
{
	struct nsx_cpu_reading *r = s->r;

	s->marks = malloc((r->marks.n + 1) * sizeof *s->marks);
	s->os = malloc((r->c->os.n + 1) * sizeof *s->os);
	if (!s->marks || !s->os)
		return false;
	for (size_t i = 0; i < r->marks.n; i++) {
		uint32_t at = r->marks.p[i].gtid ? nsx_map_get(&r->thread_of, (struct nsx_key){ r->marks.p[i].gtid, 0 })
		                                 : NSX_NONE;

		if (at != NSX_NONE)
			s->marks[s->nmarks++] = (struct nsx_sort_key){ { at, r->marks.p[i].at, 0 }, (uint32_t)i };
	}
	for (size_t i = 0; i < r->c->os.n; i++) {
		const struct nsx_os_call *c = &r->c->os.p[i];

		s->os[i] = (struct nsx_sort_key){ { c->thread, c->start, -nsx_sub_sat(c->end, c->start, NULL) },
		                                  (uint32_t)i };
	}
	nsx_sort_keys(s->marks, s->nmarks);
	nsx_sort_keys(s->os, r->c->os.n);
	return true;
}

int
nsx_cpu_stays(struct nsx_cpu_reading *r)
{
	struct stays s = { .r = r };
	bool good = sort_all(&s);
	size_t os = 0;

	for (size_t i = 0, end; i < s.nmarks && good; i = end) {
		int64_t thread = s.marks[i].k[0];
		size_t first;

		for (end = i; end < s.nmarks && s.marks[end].k[0] == thread;)
			end++;
		while (os < r->c->os.n && s.os[os].k[0] < thread)
			os++;
		for (first = os; os < r->c->os.n && s.os[os].k[0] == thread;)
			os++;
		good = find_stays(&s, r->c->threads.p[thread].gtid, first, os) && answer(&s, (uint32_t)thread, i, end);
	}
	free(s.calls.p);
	free(s.holds.p);
	free(s.stays.p);
	free(s.marks);
	free(s.os);
	return good ? NSX_OK : nsx_load_nomem(r->l);
}
