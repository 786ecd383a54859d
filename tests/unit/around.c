/* around.c -- the innermost range around each call, against its definition taken literally, on small random threads: nested, touching, of length 0, partly overlapping; calls that cross ends of ranges and calls of length 0. */
#include "tap.h"

#include <stdlib.h>

#include "source/around.h"
#include "source/project.h"

enum { MAX_RANGES = 10, MAX_CALLS = 12, FIRST = 3 };

static uint64_t seed = 88172645463325252ULL;

static uint32_t
rnd(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % n;
}

static int
by_place(const void *x, const void *y)
{
	const struct nsx_range *a = x, *b = y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static int
by_start(const void *x, const void *y)
{
	const struct nsx_host_call *a = x, *b = y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end > b->end ? -1 : a->end < b->end;
}

/* The shortest range that contains the call; of those with the same interval the last. */
static uint32_t
slowly(const struct nsx_range *r, uint32_t n, const struct nsx_host_call *c)
{
	uint32_t found = NSX_NONE;

	for (uint32_t i = FIRST; i < FIRST + n; i++) {
		if (r[i].start > c->start || r[i].end < c->end)
			continue;
		if (found == NSX_NONE || r[i].end - r[i].start < r[found].end - r[found].start
		    || (r[i].start == r[found].start && r[i].end == r[found].end))
			found = i;
	}
	return found;
}

/* Ranges by push and pop; times may be equal. */
static uint32_t
nested(struct nsx_range *r, bool touch)
{
	uint32_t open[MAX_RANGES], depth = 0, n = 0, total = 1 + rnd(MAX_RANGES);
	int64_t now = 0;

	while (n < total || depth) {
		now += touch ? rnd(3) : 1 + rnd(4);
		if (n < total && (!depth || rnd(2))) {
			r[n] = (struct nsx_range){ .start = now, .id = n };
			open[depth++] = n++;
		} else {
			r[open[--depth]].end = now;
		}
	}
	return n;
}

static uint32_t
anyhow(struct nsx_range *r)
{
	uint32_t n = 1 + rnd(MAX_RANGES);

	for (uint32_t i = 0; i < n; i++) {
		int64_t start = rnd(20);
		r[i] = (struct nsx_range){ .start = start, .end = start + rnd(12), .id = i };
	}
	return n;
}

/* How many calls of a random thread get another range. If several ranges of one length contain a call, any of them is right. */
static uint32_t
wrong(uint32_t how)
{
	struct nsx_range r[FIRST + MAX_RANGES] = { { .start = 0, .end = 100 }, { .start = 0, .end = 100 }, { .start = 0, .end = 100 } };
	struct nsx_host_call c[MAX_CALLS];
	uint32_t n = how < 2 ? nested(r + FIRST, how) : anyhow(r + FIRST), nc = rnd(MAX_CALLS + 1), bad = 0;

	qsort(r + FIRST, n, sizeof *r, by_place);
	if (nsx_project(r + FIRST, n, FIRST, NULL, 0, NULL) != NSX_OK)
		return 1;
	for (uint32_t i = 0; i < nc; i++) {
		int64_t start = rnd(40);
		c[i] = (struct nsx_host_call){ .start = start, .end = start + rnd(8) + (how != 1), .range = 77 };
	}
	qsort(c, nc, sizeof *c, by_start);
	if (!nsx_around(r, FIRST, n, c, nc))
		return 1;
	for (uint32_t i = 0; i < nc; i++) {
		uint32_t want = slowly(r, n, &c[i]), got = c[i].range;
		if (got == want)
			continue;
		bad += want == NSX_NONE || got == NSX_NONE || got < FIRST || got >= FIRST + n || r[got].start > c[i].start || r[got].end < c[i].end
		       || r[got].end - r[got].start != r[want].end - r[want].start;
	}
	return bad;
}

int
main(void)
{
	static const char *const names[] = { "nested ranges", "ranges and calls that touch or have no length", "ranges that overlap" };

	for (uint32_t how = 0; how < 3; how++) {
		uint32_t bad = 0;
		for (int i = 0; i < 20000; i++)
			bad += wrong(how);
		ok(bad == 0, "%s: the innermost around each call (%u wrong)", names[how], bad);
	}
	return done();
}
