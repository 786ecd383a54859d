/* project.c -- nsx_project against the definitions in its header, taken literally (and slowly), on small random threads: nested,
 * partly overlapping, touching, without length, twins, calls that straddle, correlation ids that calls share. */
#include "tap.h"

#include <stdlib.h>

#include "source/calls.h"
#include "source/project.h"
#include "source/project_any.h"

enum { MAX_RANGES = 12, MAX_CALLS = 14, BASE = 1000 };

static uint64_t seed = 88172645463325252ULL;

static uint32_t
rnd(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % n;
}

struct thread {
	struct nsx_range    r[MAX_RANGES];
	struct nsx_raw_call c[MAX_CALLS];
	struct nsx_launch   l[MAX_CALLS];
	uint32_t            nr, nc, nl;
};

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

/* Push and pop as in a program; with `touch` some times are equal. */
static void
nested(struct thread *t, bool touch)
{
	uint32_t open[MAX_RANGES], depth = 0, total = 1 + rnd(MAX_RANGES);
	int64_t now = 0;

	while (t->nr < total || depth) {
		if (!touch || rnd(2))
			now += 1 + rnd(4);
		if (t->nr < total && (!depth || rnd(2))) {
			t->r[t->nr] = (struct nsx_range){ .start = now };
			open[depth++] = t->nr++;
		} else {
			t->r[open[--depth]].end = now;
		}
	}
}

static void
make(struct thread *t, int style)
{
	uint32_t span = 2 + rnd(style == 2 ? 6 : 40);

	*t = (struct thread){ 0 };
	if (style < 2) {
		nested(t, style == 1);
	} else {
		for (t->nr = 0; t->nr < 1 + rnd(MAX_RANGES); t->nr++) {
			int64_t start = rnd(span);
			t->r[t->nr] = (struct nsx_range){ .start = start, .end = start + rnd(rnd(2) ? 4 : span) };
		}
	}
	/* Ids in any order. */
	for (uint32_t i = 0; i < t->nr; i++)
		t->r[i].id = i;
	for (uint32_t i = t->nr; i-- > 1; ) {
		uint32_t j = rnd(i + 1);
		int64_t id = t->r[i].id;
		t->r[i].id = t->r[j].id;
		t->r[j].id = id;
	}
	qsort(t->r, t->nr, sizeof *t->r, by_place);
	t->nl = 1 + rnd(MAX_CALLS);
	for (uint32_t i = 0; i < t->nl; i++) {
		int64_t start = rnd(1000);
		t->l[i] = (struct nsx_launch){ start, start + rnd(50), rnd(8) ? rnd(2) : NSX_NONE, 0 };
	}
	for (uint32_t n = rnd(MAX_CALLS + 1); t->nc < n; t->nc++) {
		int64_t start = rnd(span + 10);
		t->c[t->nc] = (struct nsx_raw_call){ start, start + rnd(rnd(3) ? 3 : 12), rnd(t->nl), 0 };
		t->l[t->c[t->nc].launch].ncalls++;
	}
}

static bool
within(int64_t start, int64_t end, const struct nsx_range *p)
{
	return p->start <= start && p->end >= end;
}

static int64_t
lowest_twin(const struct thread *t, const struct nsx_range *p)
{
	int64_t id = p->id;

	for (uint32_t i = 0; i < t->nr; i++)
		if (t->r[i].start == p->start && t->r[i].end == p->end && t->r[i].id < id)
			id = t->r[i].id;
	return id;
}

/* Is p a tighter container than q? */
static bool
inner(const struct thread *t, const struct nsx_range *p, const struct nsx_range *q)
{
	if (p->end - p->start != q->end - q->start)
		return p->end - p->start < q->end - q->start;
	if (p->start != q->start)
		return lowest_twin(t, p) < lowest_twin(t, q);
	return p->id > q->id;
}

/* The innermost range around an interval; of a range with that id: one other than it, and no twin inside it. */
static uint32_t
container(const struct thread *t, int64_t start, int64_t end, const struct nsx_range *own)
{
	uint32_t best = NSX_NONE;

	for (uint32_t i = 0; i < t->nr; i++) {
		const struct nsx_range *p = &t->r[i];
		if (!within(start, end, p) || p == own || (own && p->start == start && p->end == end && p->id > own->id))
			continue;
		if (best == NSX_NONE || inner(t, p, &t->r[best]))
			best = i;
	}
	return best;
}

static struct nsx_span
projection(const struct thread *t, const struct nsx_range *r)
{
	struct nsx_span s = { INT64_MAX, INT64_MIN, 0, NSX_NONE };
	bool seen[MAX_CALLS] = { false };
	bool any = false;

	for (uint32_t i = 0; i < t->nc; i++) {
		const struct nsx_launch *l = &t->l[t->c[i].launch];
		if (!within(t->c[i].start, t->c[i].end, r) || seen[t->c[i].launch])
			continue;
		seen[t->c[i].launch] = true;
		s.ops++;
		s.device = any && s.device != l->device ? NSX_NONE : l->device;
		s.start = l->start < s.start ? l->start : s.start;
		s.end = l->end > s.end ? l->end : s.end;
		any = true;
	}
	return s;
}

typedef int project_fn(struct nsx_range *, uint32_t, uint32_t, struct nsx_call *, uint32_t, nsx_span_list *);

static const char *
differs(struct thread *t, project_fn *project)
{
	nsx_span_list spans = { 0 };
	struct nsx_range r[MAX_RANGES];
	struct nsx_calls calls;
	uint8_t of[MAX_RANGES] = { 0 };   /* a range's span */
	const char *what = NULL;

	memcpy(r, t->r, sizeof r);
	if (nsx_calls_make(t->c, t->nc, t->l, &calls) != NSX_OK)
		return "out of memory";
	for (uint32_t i = 0; i < calls.n; i++)
		calls.p[i].range = 12345;
	if (project(r, t->nr, BASE, calls.p, calls.n, &spans) != NSX_OK)
		what = "status";
	for (uint32_t i = 0; !what && i < t->nr; i++) {
		uint32_t parent = container(t, t->r[i].start, t->r[i].end, &t->r[i]);
		struct nsx_span want = projection(t, &t->r[i]), got = r[i].gpu == NSX_NONE ? (struct nsx_span){ 0 } : spans.p[r[i].gpu];
		if (r[i].parent != (parent == NSX_NONE ? NSX_NONE : BASE + parent))
			what = "parent";
		else if (r[i].gpu != NSX_NONE && (r[i].gpu >= spans.n || !got.ops || of[r[i].gpu]++))
			what = "place of the span";
		else if (got.ops != want.ops)
			what = "ops";
		else if (want.ops && (got.start != want.start || got.end != want.end))
			what = "time";
		else if (want.ops && got.device != want.device)
			what = "device";
		else if (r[i].start != t->r[i].start || r[i].end != t->r[i].end || r[i].id != t->r[i].id)
			what = "input changed";
	}
	for (uint32_t i = 0; !what && i < calls.n; i++) {
		uint32_t in = container(t, calls.p[i].start, calls.p[i].end, NULL);
		if (calls.p[i].range != (in == NSX_NONE ? NSX_NONE : BASE + in))
			what = "range of a call";
	}
	for (uint32_t i = 0; !what && i < t->nr; i++) {
		uint32_t was = r[i].gpu;
		if (project(r, t->nr, BASE, calls.p, calls.n, NULL) != NSX_OK || r[i].gpu != was)
			what = "without spans";
	}
	free(spans.p);
	nsx_calls_free(&calls);
	return what;
}

static void
show(const struct thread *t)
{
	for (uint32_t i = 0; i < t->nr; i++)
		printf("# range %" PRId64 ": [%" PRId64 ", %" PRId64 "]\n", t->r[i].id, t->r[i].start, t->r[i].end);
	for (uint32_t i = 0; i < t->nc; i++)
		printf("# call [%" PRId64 ", %" PRId64 "] of launch %u\n", t->c[i].start, t->c[i].end, t->c[i].launch);
}

static void
many(const char *claim, int style, int times, project_fn *project)
{
	struct thread t;
	const char *what = NULL;

	for (int i = 0; i < times && !what; i++) {
		make(&t, style);
		what = differs(&t, project);
	}
	if (!ok(!what, "%s", claim)) {
		printf("# differs in: %s\n", what);
		show(&t);
	}
}

/* Hand-written cases. */
static void
known(void)
{
	struct nsx_range r[] = { { .start = 0, .end = 100, .id = 1 }, { .start = 0, .end = 100, .id = 2 }, { .start = 10, .end = 20, .id = 3 } };
	struct nsx_raw_call raw[] = { { 12, 13, 0, 0 }, { 11, 15, 0, 0 }, { 19, 21, 1, 0 } };
	struct nsx_launch l[] = { { 500, 600, 0, 2 }, { 550, 700, 1, 1 } };
	nsx_span_list list = { 0 };
	struct nsx_calls c;

	ok(nsx_calls_make(raw, 3, l, &c) == NSX_OK, "calls are added");
	is_int(c.n, 2, "of two calls of one id, one within the other, the inner is kept");
	is_int(c.p[0].start, 12, "and it is the inner one");
	ok(nsx_project(r, 3, 7, c.p, c.n, &list) == NSX_OK && r[1].gpu < list.n && r[2].gpu < list.n, "projection succeeds");
	struct nsx_span s[] = { list.p[r[0].gpu], list.p[r[1].gpu], list.p[r[2].gpu] };
	ok(r[0].parent == NSX_NONE, "the outermost range has no parent");
	is_int(r[1].parent, 7, "of twins the lower id is outside");
	is_int(r[2].parent, 8, "the higher id is the parent of ranges inside");
	is_int(s[2].ops, 1, "a call that straddles the end of a range is not in it");
	is_int(s[2].end, 600, "so its operations do not lengthen the projection");
	is_int(s[1].ops, 2, "but it is in the range around");
	is_int(s[1].end, 700, "a projection ends with its last operation");
	is_int(s[1].start, 500, "and begins with its first");
	ok(s[1].device == NSX_NONE && s[2].device == 0, "a projection on two devices has no device");
	is_int(c.p[1].range, 8, "the straddling call's innermost range is the inner twin");
	nsx_calls_free(&c);
	free(list.p);
}

int
main(void)
{
	known();
	many("ranges that nest, clock always moving", 0, 20000, nsx_project);
	many("ranges that nest, touch and have no length", 1, 40000, nsx_project);
	many("any ranges within a few instants", 2, 60000, nsx_project);
	many("any ranges", 3, 40000, nsx_project);
	many("ranges that nest, by the general way", 0, 10000, nsx_project_any);
	many("ranges that touch, by the general way", 1, 20000, nsx_project_any);
	many("any ranges, by the general way", 2, 20000, nsx_project_any);
	return done();
}
