/* heaps.c -- the heap: elements come out in order, for any order of insertion. */
#include "tap.h"

#include <stdlib.h>

#include "base/heap.h"

struct item { int key, id; };

static bool
before(const int *sign, const struct item *a, const struct item *b)
{
	return *sign * a->key < *sign * b->key;
}

NSX_HEAP(items, struct item, const int *, before)

static uint64_t seed = 0x2545f4914f6cdd1dULL;

static int
rnd(int n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (int)((seed >> 33) % (uint64_t)n);
}

/* Whether all n come out, each once, in order. */
static bool
drains(const int *sign, struct item *h, size_t n, int *seen, size_t all)
{
	int last = 0;
	bool good = true;

	memset(seen, 0, all * sizeof *seen);
	for (size_t left = n; left; left--) {
		struct item x = items_pop(sign, h, left);
		good = good && (left == n || *sign * last <= *sign * x.key) && seen[x.id]++ == 0;
		last = x.key;
	}
	return good;
}

int
main(void)
{
	enum { MOST = 300 };
	struct item h[MOST];
	int seen[MOST];
	int pushed = 0, made = 0, replaced = 0, rounds = 0;

	for (int sign = -1; sign <= 1; sign += 2)
		for (size_t n = 0; n < MOST; n += 1 + n / 8) {
			for (size_t i = 0; i < n; i++)
				items_push(&sign, h, i, (struct item){ rnd(50), (int)i });
			pushed += drains(&sign, h, n, seen, MOST);
			for (size_t i = 0; i < n; i++)
				h[i] = (struct item){ rnd(50), (int)i };
			items_make(&sign, h, n);
			made += drains(&sign, h, n, seen, MOST);
			/* The first comes later, again and again. */
			for (size_t i = 0; i < n; i++)
				h[i] = (struct item){ rnd(50), (int)i };
			items_make(&sign, h, n);
			for (int i = 0; i < 100; i++) {
				if (n)
					h[0].key += sign * rnd(20);
				items_down(&sign, h, n);
			}
			replaced += drains(&sign, h, n, seen, MOST);
			rounds++;
		}
	is_int(pushed, rounds, "pushed one by one, they come out in order");
	is_int(made, rounds, "built from an array");
	is_int(replaced, rounds, "and where the first was put further back");
	return done();
}
