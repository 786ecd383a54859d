/* flame_pool.c -- stacks in any order as a tree, against sums counted by prefix; with a limit that makes the pool add up equal
 * stacks many times, and without. */
#include "draw/flame/pool.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

enum { STACKS = 20000, DEPTH = 6, NAMES = 5, NODES = 1 << 16, PLACES = 46656 };   /* 6^6 */

static uint64_t state;

static uint32_t
next(uint32_t n)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(state >> 33) % n;
}

/* By position, a stack's frames plus 1 as digits to the base 6. */
static int64_t want[2][PLACES], got[2][PLACES];
static bool seen[PLACES];

static struct tree { uint32_t place[NODES], depth[NODES], n; int twice; } tree;

static uint32_t
child(void *at, uint32_t parent, uint32_t name)
{
	struct tree *t = at;
	uint32_t scale = 1, n = t->n++;

	for (uint32_t d = 0; d < t->depth[parent]; d++)
		scale *= NAMES + 1;
	t->place[n] = t->place[parent] + scale * (name + 1);
	t->depth[n] = t->depth[parent] + 1;
	t->twice += seen[t->place[n]];
	seen[t->place[n]] = true;
	return n;
}

static void
give(void *at, uint32_t node, int file, int64_t n)
{
	const struct tree *t = at;

	got[file][t->place[node]] += n;
}

static bool
plant(struct nsx_flame_pool *p)
{
	const struct nsx_flame_planter to = { child, give, &tree };

	memset(got, 0, sizeof got);
	memset(seen, 0, sizeof seen);
	tree = (struct tree){ .n = 1 };
	return nsx_flame_pool_plant(p, &to);
}

static bool
fill(struct nsx_flame_pool *p, uint32_t stacks)
{
	bool good = true;

	memset(want, 0, sizeof want);
	state = 1;
	for (uint32_t i = 0; i < stacks && good; i++) {
		uint32_t names[DEPTH], n = 1 + next(DEPTH), place = 0, scale = 1;
		int file = (int)next(2);
		int64_t value = (int64_t)next(1000) + 1 + (i == 7 ? INT64_C(1) << 40 : 0);

		for (uint32_t d = 0; d < n; d++, scale *= NAMES + 1) {
			names[d] = next(d % 2 ? 2 : NAMES);
			place += scale * (names[d] + 1);
		}
		want[file][place] += value;
		good = nsx_flame_pool_add(p, names, n, file, value);
	}
	return good;
}

static void
try(const char *how, size_t limit, uint32_t stacks)
{
	struct nsx_flame_pool p = { .limit = limit };
	bool good = fill(&p, stacks) && plant(&p);

	ok(good && memcmp(want, got, sizeof want) == 0, "%s: every stack has its sum", how);
	ok(tree.twice == 0, "%s: every frame is there once", how);
	if (limit)
		ok(p.words.n < 4 * (size_t)stacks, "%s: equal stacks take room once", how);
	nsx_flame_pool_free(&p);
}

int
main(void)
{
	try("all at once", 0, STACKS);
	try("limited", 64, STACKS);
	try("none", 0, 0);
	try("one", 0, 1);
	return done();
}
