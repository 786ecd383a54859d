/* open_intervals.c -- intervals that contain the current time, compared with a search of the whole list. */
#include "job/open_intervals.h"

#include <stdlib.h>

#include "base/map.h"
#include "tap.h"

enum { N = 60, ROUNDS = 300, SPAN = 80 };

static uint64_t seed = 5;

static int64_t
draw(int64_t below)
{
	seed += 0x9e3779b97f4a7c15ULL;
	return (int64_t)(nsx_hash_u64(seed) % (uint64_t)below);
}

/* Whether a comes before b: by start, the longer first, by id. */
static bool
stands_before(const struct nsx_open_interval *a, const struct nsx_open_interval *b)
{
	if (a->start != b->start)
		return a->start < b->start;
	if (a->end != b->end)
		return a->end > b->end;
	return a->id < b->id;
}

static bool
same(const struct nsx_open_intervals *o, const struct nsx_open_interval *all, int n, int64_t t)
{
	const struct nsx_open_interval *innermost = NULL;
	int64_t next = INT64_MAX;
	size_t open = 0;

	for (int i = 0; i < n; i++) {
		if (all[i].start > t || all[i].end <= t)
			continue;
		open++;
		next = all[i].end < next ? all[i].end : next;
		if (!innermost || stands_before(innermost, &all[i]))
			innermost = &all[i];
	}
	for (size_t i = 1; i < o->list.n; i++)
		if (!stands_before(&o->list.p[i - 1], &o->list.p[i]))
			return false;
	if (o->list.n != open || nsx_open_next_end(o) != next)
		return false;
	return innermost ? nsx_open_innermost(o) && nsx_open_innermost(o)->id == innermost->id : !nsx_open_innermost(o);
}

/* Intervals begin in order; some are added after their start. */
static bool
one_round(bool nested)
{
	struct nsx_open_intervals o = { .list = { 0 } };
	struct nsx_open_interval all[N];
	int n = 0;
	bool good = true;

	for (int64_t t = 0; t < SPAN && good; t++) {
		size_t before = o.list.n, from = nsx_open_close(&o, t), at;

		good = from <= before && o.list.n <= before;
		for (int k = (int)draw(3); k && n < N && good; k--) {
			int64_t limit = nested ? nsx_open_next_end(&o) : INT64_MAX;

			all[n] = (struct nsx_open_interval){ .start = t, .end = t + 1 + draw(12), .id = n };
			if (all[n].end > limit)
				all[n].end = limit;
			good = nsx_open_add(&o, all[n], &at) && o.list.p[at].id == n;
			n++;
		}
		good = good && same(&o, all, n, t);
	}
	free(o.list.p);
	return good;
}

int
main(void)
{
	struct nsx_open_intervals o = { .list = { 0 } };
	int good = 0;
	size_t at;

	ok(nsx_open_next_end(&o) == INT64_MAX && !nsx_open_innermost(&o), "no interval is open at first");
	is_int((int64_t)nsx_open_close(&o, 5), 0, "no end is next");
	/* a [0,9)  b [2,5)  c [4,7) */
	nsx_open_add(&o, (struct nsx_open_interval){ .start = 0, .end = 9, .id = 1 }, &at);
	nsx_open_add(&o, (struct nsx_open_interval){ .start = 2, .end = 5, .id = 2 }, &at);
	nsx_open_add(&o, (struct nsx_open_interval){ .start = 4, .end = 7, .id = 3 }, &at);
	is_int((int64_t)at, 2, "the latest start is last");
	is_int(nsx_open_next_end(&o), 5, "at 4 the next end belongs to one in the middle");
	is_int((int64_t)nsx_open_close(&o, 5), 1, "the list changes from its position on");
	is_int(nsx_open_next_end(&o), 7, "then 7");
	/* Of equal starts the shorter is within, of equal ones the higher id. */
	nsx_open_add(&o, (struct nsx_open_interval){ .start = 4, .end = 8, .id = 4 }, &at);
	is_int((int64_t)at, 1, "of equal starts the longer is first");
	nsx_open_add(&o, (struct nsx_open_interval){ .start = 4, .end = 7, .id = 2 }, &at);
	is_int(nsx_open_innermost(&o)->id, 3, "the innermost has the higher id");
	is_int((int64_t)nsx_open_close(&o, 100), 0, "all are past");
	free(o.list.p);
	for (int i = 0; i < ROUNDS; i++)
		good += one_round(i % 2);
	is_int(good, ROUNDS, "random intervals, nested and not, are open as in the list");
	return done();
}
