/* Sorting by start: of any number of runs, equal starts in the order in which they stood. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "tap.h"

static uint64_t state = 7;

static uint64_t
next(void)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return state >> 33;
}

/* n elements in the given number of ascending runs; i is the original index. */
static void
fill(struct nsx_sort_start *a, size_t n, size_t runs, int64_t from)
{
	for (size_t r = 0; r < runs; r++) {
		int64_t t = from;
		for (size_t i = n * r / runs; i < n * (r + 1) / runs; i++)
			a[i] = (struct nsx_sort_start){ t += (int64_t)(next() % 3), (uint32_t)i, (uint32_t)(i % 4) };
	}
}

static bool
sorted(const struct nsx_sort_start *a, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i].tag != a[i].i % 4 || (i && (a[i - 1].start > a[i].start || (a[i - 1].start == a[i].start && a[i - 1].i >= a[i].i))))
			return false;
	return true;
}

/* Values of every size and sign, few or many different ones. */
static int64_t
value(uint64_t kind)
{
	static const int64_t ends[] = { INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX };
	int64_t x = (int64_t)(next() << 33 ^ next());

	return kind == 0 ? x : kind == 1 ? ends[next() % 7] : kind == 2 ? x >> 50 : (int64_t)(next() % 3) - 1;
}

/* Thousands of keys, whose i are in order or not; and the value at each place of the sorted values. */
static void
sort_many(void)
{
	enum { N = 5000 };
	static struct nsx_sort_key keys[N];
	static int64_t values[N], again[N];

	for (uint64_t kind = 0; kind < 4; kind++) {
		bool good = true;

		for (uint32_t i = 0; i < N; i++)
			keys[i] = (struct nsx_sort_key){ { value(3), value(kind), value(kind) }, kind % 2 ? i * 7919 % N : i };
		nsx_sort_keys(keys, N);
		for (size_t i = 1; i < N; i++) {
			const struct nsx_sort_key *x = &keys[i - 1], *y = &keys[i];
			int at = 0;

			while (at < 3 && x->k[at] == y->k[at])
				at++;
			good = good && (at < 3 ? x->k[at] < y->k[at] : x->i < y->i);
		}
		ok(good, "thousands of keys, kind %u", (unsigned)kind);
		for (size_t n = 1; n <= N; n = n * 3 + 1) {
			for (size_t i = 0; i < n; i++)
				again[i] = values[i] = value(kind);
			qsort(values, n, sizeof *values, nsx_sort_by_int);
			for (size_t k = 0; k < n; k += n / 9 + 1) {
				good = good && nsx_sort_nth(again, n, k) == values[k];
				for (size_t i = 0; i < n; i++)
					good = good && (i < k ? again[i] <= values[k] : again[i] >= values[k]);
			}
		}
		ok(good, "... the value at a place, none larger before it, none smaller behind it, kind %u", (unsigned)kind);
	}
}

static void
key_of(const void *element, const void *sign, int64_t k[3])
{
	k[1] = ((const struct nsx_sort_start *)element)->start * *(const int *)sign;
}

/* Elements by what a function tells of each, few or many; equal ones in their order. */
static void
by_keys(void)
{
	static struct nsx_sort_start a[3000];
	const int signs[] = { 1, -1 };

	for (size_t s = 0; s < 2; s++)
		for (size_t n = 0; n <= 3000; n = n * 5 + 1) {
			bool good = true;

			for (size_t i = 0; i < n; i++)
				a[i] = (struct nsx_sort_start){ (int64_t)(next() % 40) - 20, (uint32_t)i, 3 };
			good = nsx_sort_by(n ? a : NULL, n, sizeof *a, key_of, &signs[s]);
			for (size_t i = 1; i < n; i++)
				good = good && (a[i - 1].start == a[i].start ? a[i - 1].i < a[i].i
				                : (a[i - 1].start < a[i].start) == (signs[s] > 0));
			ok(good, "%u elements by keys, sign %d", (unsigned)n, signs[s]);
		}
}

/* Elements of any size follow their keys: in order, backwards, in cycles. */
static void
applied(void)
{
	enum { N = 1000, SIZE = 12 };
	static const uint32_t steps[] = { 1, 999, 7, 333 };   /* each has no divisor in common with N */

	for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
		static char elements[N][SIZE];
		static struct nsx_sort_key keys[N];
		bool good = true;
		for (uint32_t i = 0; i < N; i++) {
			snprintf(elements[i], SIZE, "%06u", (unsigned)((uint64_t)i * steps[s] % N));
			keys[i] = (struct nsx_sort_key){ { 5, -3, (int64_t)i * steps[s] % N }, i };
		}
		nsx_sort_keys(keys, N);
		nsx_sort_apply(elements, SIZE, keys, N);
		for (uint32_t i = 0; i < N; i++)
			good = good && atoi(elements[i]) == (int)i && keys[i].i == i;
		ok(good, "elements follow their keys, step %u", (unsigned)steps[s]);
	}
	sort_many();
	by_keys();
	nsx_sort_keys(NULL, 0);
	nsx_sort_apply(NULL, 8, NULL, 0);
}

/* Numbers of rows, by the sorted columns of each row; the comparison sorts a row itself. */
struct grid { int cell[40][3]; };

static int
by_value(const void *a, const void *b, const void *sign)
{
	return (*(const int *)a - *(const int *)b) * *(const int *)sign;
}

static int
by_row(const void *a, const void *b, const void *grid)
{
	const struct grid *g = grid;
	static const int up = 1;
	int x[3], y[3], c = 0;

	memcpy(x, g->cell[*(const int *)a], sizeof x);
	memcpy(y, g->cell[*(const int *)b], sizeof y);
	nsx_sort_with(x, 3, sizeof *x, by_value, &up);
	nsx_sort_with(y, 3, sizeof *y, by_value, &up);
	for (int i = 0; i < 3 && !c; i++)
		c = x[i] - y[i];
	return c ? c : *(const int *)a - *(const int *)b;
}

static void
with_context(void)
{
	int v[] = { 3, 1, 2 }, order[40], down = -1;
	struct grid g;
	bool good = true;

	nsx_sort_with(v, 3, sizeof *v, by_value, &down);
	ok(v[0] == 3 && v[1] == 2 && v[2] == 1, "a sort reads its context");
	nsx_sort_with(NULL, 0, sizeof *v, by_value, &down);
	for (int i = 0; i < 40; i++) {
		order[i] = i;
		for (int k = 0; k < 3; k++)
			g.cell[i][k] = (int)(next() % 3);
	}
	nsx_sort_with(order, 40, sizeof *order, by_row, &g);
	for (int i = 1; i < 40; i++)
		good = good && by_row(&order[i - 1], &order[i], &g) < 0;
	ok(good, "a comparison may sort with a context of its own");
}

/* The first element from a value on, of any number of elements, some of them equal, beside a linear search. */
static void
first(void)
{
	struct { uint32_t other; int64_t value; } a[40];
	int wrong = 0;

	for (size_t n = 0; n <= 40; n++) {
		int64_t value = INT64_MIN;

		for (size_t i = 0; i < n; i++, value += i == 1 ? INT64_MAX : (int64_t)(next() % 3)) {
			a[i].other = UINT32_MAX;
			a[i].value = value;
		}
		for (int64_t x = -5; x < 40; x++) {
			size_t want = 0;

			while (want < n && a[want].value < x)
				want++;
			wrong += nsx_sort_first(a, n, sizeof *a, (size_t)((char *)&a->value - (char *)a), x) != want;
		}
		wrong += nsx_sort_first(a, n, sizeof *a, (size_t)((char *)&a->value - (char *)a), INT64_MIN) != 0;
	}
	is_int(wrong, 0, "the first element from a value on");
	is_int((int64_t)nsx_sort_first(NULL, 0, 16, 8, 3), 0, "... of none");
}

/* Each order decides only between those that the ones before it leave equal, and is not evaluated otherwise. */
struct eight { int of[8]; };

static int asked;

static int
last(const struct eight *a, const struct eight *b)
{
	asked++;
	return NSX_CMP(a->of[7], b->of[7]);
}

#define OF(i) NSX_CMP(a->of[i], b->of[i])
NSX_ORDER(by_eight, struct eight, OF(0), OF(1), OF(2), OF(3), OF(4), OF(5), OF(6), last(a, b))
NSX_ORDER(by_two, struct eight, NSX_CMP(b->of[0], a->of[0]), OF(1))
NSX_ORDER_PTR(by_one, struct eight, OF(3))

static void
orders(void)
{
	struct eight x = { { 0 } }, y = x;
	const struct eight *p = &x, *q = &y;
	bool good = by_eight(&x, &y) == 0 && asked == 1 && by_two(&x, &y) == 0 && by_one(&p, &q) == 0;

	for (int i = 7; i >= 0; i--) {
		y.of[i] = i % 2 ? 1 : -1;
		asked = 0;
		good = good && (by_eight(&x, &y) < 0) == (i % 2 == 1) && (by_eight(&y, &x) > 0) == (i % 2 == 1)
		       && asked == (i == 7 ? 2 : 0);
	}
	ok(good, "of eight orders the first by which two elements differ");
	ok(by_two(&x, &y) < 0 && by_two(&y, &x) > 0, "the largest first");
	ok(by_one(&p, &q) < 0 && by_one(&q, &p) > 0, "pointers");
}

static void
unique(void)
{
	int64_t v[] = { 5, INT64_MIN, 5, -1, 5, INT64_MAX, -1 }, one[] = { 7 };
	static const int64_t want[] = { INT64_MIN, -1, 5, INT64_MAX };

	ok(nsx_sort_unique(v, 7) == 4 && memcmp(v, want, sizeof want) == 0, "each value once, in order");
	ok(nsx_sort_unique(one, 1) == 1 && one[0] == 7 && nsx_sort_unique(NULL, 0) == 0, "one value once, and none");
}

int
main(void)
{
	static const size_t runs[] = { 1, 2, 3, 5, 16, 17, 18, 40, 333 };
	static const int64_t froms[] = { 0, -500, INT64_MIN, INT64_MAX - 5000 };
	enum { MOST = 1000 };
	struct nsx_sort_start a[MOST];

	applied();
	for (size_t k = 0; k < sizeof runs / sizeof *runs; k++)
		for (size_t f = 0; f < sizeof froms / sizeof *froms; f++) {
			int64_t sum = 0, want = 0;
			fill(a, MOST, runs[k], froms[f]);
			for (size_t i = 0; i < MOST; i++)
				want ^= a[i].start ^ (int64_t)a[i].i << 40;
			ok(nsx_sort_starts(a, MOST) && sorted(a, MOST), "%zu runs from %lld", runs[k], (long long)froms[f]);
			for (size_t i = 0; i < MOST; i++)
				sum ^= a[i].start ^ (int64_t)a[i].i << 40;
			ok(sum == want, "%zu runs from %lld: all elements remain", runs[k], (long long)froms[f]);
		}
	/* The last run shorter than the others, and of one. */
	fill(a, 7, 1, 0);
	a[6].start = -1;
	ok(nsx_sort_starts(a, 7) && a[0].i == 6 && sorted(a, 7), "a run of one");
	ok(nsx_sort_starts(a, 0) && nsx_sort_starts(a, 1), "0 and 1 elements");
	with_context();
	first();
	orders();
	unique();
	return done();
}
