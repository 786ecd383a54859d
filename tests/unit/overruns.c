/* overruns.c -- operations that outlast later ones of their stream, compared with all pairs of operations. */
#include "job/overruns.h"

#include <stdlib.h>

#include "tap.h"

enum { N = 80, ROUNDS = 400, STREAMS = 3 };

static uint64_t seed = 11;

struct operation { int64_t stream, start, end; };

struct sums { int64_t early, early_ns, outlasting, outlasting_ns, longest, longest_op; };

static int64_t
draw(int64_t below)
{
	seed += 0x9e3779b97f4a7c15ULL;
	return (int64_t)(nsx_hash_u64(seed) % (uint64_t)below);
}

static int
by_start(const void *a, const void *b)
{
	const struct operation *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Each operation against all later ones of its stream. */
static struct sums
every_pair(const struct operation *all, int n)
{
	struct sums s = { 0 };

	for (int i = 0; i < n; i++) {
		int64_t over = 0;
		bool outlasts = false;
		int next = -1;

		for (int k = i + 1; k < n; k++) {
			if (all[k].stream != all[i].stream)
				continue;
			next = next < 0 ? k : next;
			outlasts = outlasts || all[k].end < all[i].end;
		}
		if (next >= 0 && all[i].end > all[next].start)
			over = all[i].end - all[next].start;
		s.early += over > 0;
		s.early_ns += over;
		s.outlasting += outlasts;
		s.outlasting_ns += outlasts ? over : 0;
		if (outlasts && over > s.longest) {
			s.longest = over;
			s.longest_op = i;
		}
	}
	return s;
}

static struct sums
taken(const struct operation *all, int n)
{
	struct nsx_overruns o = { .early = 0 };
	struct sums s;

	for (int i = 0; i < n; i++)
		if (!nsx_overruns_take(&o, 0, all[i].stream, all[i].start, all[i].end, (uint64_t)i))
			exit(1);
	s = (struct sums){ o.early, o.early_ns, o.outlasting, o.outlasting_ns, o.longest, (int64_t)o.longest_op };
	nsx_overruns_free(&o);
	return s;
}

static bool
same(struct sums a, struct sums b)
{
	return a.early == b.early && a.early_ns == b.early_ns && a.outlasting == b.outlasting
	       && a.outlasting_ns == b.outlasting_ns && a.longest == b.longest && a.longest_op == b.longest_op;
}

int
main(void)
{
	static const struct operation nested[] = { { 7, 0, 100 }, { 7, 10, 50 }, { 7, 20, 30 } };
	static const struct operation apart[] = {
		{ 7, 0, 100 }, { 7, 90, 120 }, { 7, 130, 500 }, { 7, 140, 150 }, { 7, 160, 600 }
	};
	struct operation all[N];
	int wrong = 0, some = 0;

	ok(same(taken(nested, 3), (struct sums){ 2, 120, 2, 120, 90, 0 }), "three nested: two outlast, by 90 and 30");
	ok(same(taken(apart, 5), (struct sums){ 2, 370, 1, 360, 360, 2 }), "one of two outlasts");
	for (int round = 0; round < ROUNDS; round++) {
		/* From few that overlap to nearly all. */
		int64_t span = 20 << round % 8, longest = 2 + draw(60);
		int n = 1 + (int)draw(N);

		for (int i = 0; i < n; i++) {
			int64_t start = draw(span);

			all[i] = (struct operation){ draw(STREAMS), start, start + draw(longest) };
		}
		qsort(all, (size_t)n, sizeof *all, by_start);
		struct sums want = every_pair(all, n);
		wrong += !same(taken(all, n), want);
		some += want.outlasting > 0;
	}
	ok(!wrong, "random operations: %d of %d differ from every pair", wrong, ROUNDS);
	ok(some > ROUNDS / 4 && some < ROUNDS, "some outlast in %d of %d", some, ROUNDS);
	return done();
}
