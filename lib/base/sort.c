/* sort.c -- sorting by integer keys, and with a context. */
#include "base/sort.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static int
compare_keys(const void *a, const void *b)
{
	const struct nsx_sort_key *x = a, *y = b;

	for (int i = 0; i < 3; i++)
		if (x->k[i] != y->k[i])
			return x->k[i] < y->k[i] ? -1 : 1;
	return (x->i > y->i) - (x->i < y->i);
}

int
nsx_sort_by_int(const void *a, const void *b)
{
	return nsx_int_cmp(*(const int64_t *)a, *(const int64_t *)b);
}

int
nsx_sort_by_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

enum { BITS = 11, BUCKETS = 1 << BITS, MANY = 2048 };

/* Part p of a key, as a number without a sign: 0 is i, then k[2] to k[0]. */
static uint64_t
part_of(const struct nsx_sort_key *key, int p)
{
	return p ? (uint64_t)key->k[3 - p] ^ 1ULL << 63 : key->i;
}

/* Radix sort from the least significant digit, over the digits in which keys differ. false: out of memory. */
static bool
radix_keys(struct nsx_sort_key *keys, size_t n)
{
	struct nsx_sort_key *from = keys, *tmp = malloc(n * sizeof *tmp), *to = tmp;
	uint64_t differ[4] = { 0 };

	if (!tmp)
		return false;
	for (size_t i = 1; i < n; i++) {
		/* In order of i it need not be sorted by that. */
		differ[0] |= keys[i - 1].i >= keys[i].i ? UINT32_MAX : 0;
		for (int p = 1; p < 4; p++)
			differ[p] |= part_of(&keys[i], p) ^ part_of(&keys[0], p);
	}
	for (int p = 0; p < 4; p++)
		for (int shift = 0; shift < 64; shift += BITS) {
			size_t count[BUCKETS] = { 0 }, at = 0;

			if (!(differ[p] >> shift & (BUCKETS - 1)))
				continue;
			for (size_t i = 0; i < n; i++)
				count[part_of(&from[i], p) >> shift & (BUCKETS - 1)]++;
			for (size_t b = 0; b < BUCKETS; b++) {
				size_t c = count[b];

				count[b] = at;
				at += c;
			}
			for (size_t i = 0; i < n; i++)
				to[count[part_of(&from[i], p) >> shift & (BUCKETS - 1)]++] = from[i];
			struct nsx_sort_key *swap = from;

			from = to;
			to = swap;
		}
	if (from != keys)
		memcpy(keys, from, n * sizeof *keys);
	free(tmp);
	return true;
}

void
nsx_sort_keys(struct nsx_sort_key *keys, size_t n)
{
	size_t sorted = 1;

	/* Data recorded in order of time is often sorted already; sorting takes memory of the same size. */
	while (sorted < n && compare_keys(&keys[sorted - 1], &keys[sorted]) <= 0)
		sorted++;
	if (sorted < n && (n < MANY || !radix_keys(keys, n)))
		qsort(keys, n, sizeof *keys, compare_keys);
}

static void
exchange(int64_t *a, int64_t *b)
{
	int64_t x = *a;

	*a = *b;
	*b = x;
}

size_t
nsx_sort_unique(int64_t *v, size_t n)
{
	size_t kept = 0;

	nsx_sort(v, n, nsx_sort_by_int);
	for (size_t i = 0; i < n; i++)
		if (!i || v[i] != v[kept - 1])
			v[kept++] = v[i];
	return kept;
}

int64_t
nsx_sort_nth(int64_t *v, size_t n, size_t k)
{
	enum { ROUNDS = 64 };
	size_t lo = 0, end = n;

	/* Put v[lo .. less) below the pivot, and v[more .. end) above it, and go on where k is. Data that takes many
	 * rounds is made to: it is sorted. */
	for (int round = 0; round < ROUNDS; round++) {
		int64_t a = v[lo], b = v[lo + (end - lo) / 2], c = v[end - 1];
		int64_t x = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
		size_t less = lo, more = end;

		for (size_t i = lo; i < more;)
			if (v[i] < x)
				exchange(&v[i++], &v[less++]);
			else if (v[i] > x)
				exchange(&v[i], &v[--more]);
			else
				i++;
		if (k >= less && k < more)
			return x;
		lo = k < less ? lo : more;
		end = k < less ? less : end;
	}
	qsort(v + lo, end - lo, sizeof *v, nsx_sort_by_int);
	return v[k];
}

void
nsx_sort_apply(void *elements, size_t size, struct nsx_sort_key *keys, size_t n)
{
	char *base = elements, first[96];

	assert(size <= sizeof first);
	for (size_t i = 0; i < n; i++) {
		size_t to = i;

		if (keys[i].i == i)
			continue;
		memcpy(first, base + i * size, size);
		/* Along the cycle of the permutation that begins here. */
		for (size_t from; (from = keys[to].i) != i; to = from) {
			memcpy(base + to * size, base + from * size, size);
			keys[to].i = (uint32_t)to;
		}
		memcpy(base + to * size, first, size);
		keys[to].i = (uint32_t)to;
	}
}

bool
nsx_sort_by(void *p, size_t n, size_t size, nsx_sort_key_of *key, const void *context)
{
	struct nsx_sort_key *k = n > 1 ? malloc(n * sizeof *k) : NULL;

	for (size_t i = 0; k && i < n; i++) {
		k[i] = (struct nsx_sort_key){ { 0 }, (uint32_t)i };
		key((const char *)p + i * size, context, k[i].k);
	}
	if (k) {
		nsx_sort_keys(k, n);
		nsx_sort_apply(p, size, k, n);
	}
	free(k);
	return k || n < 2;
}

enum { FEW_RUNS = 16 };

static size_t
run_end(const struct nsx_sort_start *a, size_t i, size_t n)
{
	for (i++; i < n && a[i - 1].start <= a[i].start; i++)
		;
	return i;
}

static void
merge_two(const struct nsx_sort_start *a, size_t i, size_t mid, size_t end, struct nsx_sort_start *out)
{
	size_t j = mid;

	while (i < mid && j < end)
		*out++ = a[j].start < a[i].start ? a[j++] : a[i++];
	memcpy(out, a + i, (mid - i) * sizeof *a);
	memcpy(out + (mid - i), a + j, (end - j) * sizeof *a);
}

/* Merge neighbouring runs until one is left. Returns which of the two arrays has it. */
static struct nsx_sort_start *
merge_runs(struct nsx_sort_start *from, struct nsx_sort_start *to, size_t n)
{
	while (run_end(from, 0, n) < n) {
		for (size_t i = 0; i < n; ) {
			size_t mid = run_end(from, i, n), end = mid < n ? run_end(from, mid, n) : mid;
			merge_two(from, i, mid, end, to);
			to += end - i;
			i = end;
		}
		struct nsx_sort_start *swap = from;
		from = to - n;
		to = swap;
	}
	return from;
}

/* Radix sort from the least significant digit, over the digits in which starts differ. Returns which of the two arrays
 * has the result. */
static struct nsx_sort_start *
radix(struct nsx_sort_start *from, struct nsx_sort_start *to, size_t n, uint64_t differ)
{
	for (int shift = 0; shift < 64; shift += BITS) {
		size_t count[BUCKETS] = { 0 }, at = 0;
		if (!(differ >> shift & (BUCKETS - 1)))
			continue;
		/* Flipping the sign bit makes signed order unsigned order. */
		for (size_t i = 0; i < n; i++)
			count[((uint64_t)from[i].start ^ 1ULL << 63) >> shift & (BUCKETS - 1)]++;
		for (size_t b = 0; b < BUCKETS; b++) {
			size_t c = count[b];
			count[b] = at;
			at += c;
		}
		for (size_t i = 0; i < n; i++)
			to[count[((uint64_t)from[i].start ^ 1ULL << 63) >> shift & (BUCKETS - 1)]++] = from[i];
		struct nsx_sort_start *swap = from;
		from = to;
		to = swap;
	}
	return from;
}

/* Data from a few sorted lists is a few runs: merging them is faster than sorting. */
bool
nsx_sort_starts(struct nsx_sort_start *a, size_t n)
{
	uint64_t differ = 0;
	size_t runs = 1;

	for (size_t i = 1; i < n; i++) {
		differ |= (uint64_t)a[i].start ^ (uint64_t)a[0].start;
		runs += a[i - 1].start > a[i].start;
	}
	if (runs == 1)
		return true;
	struct nsx_sort_start *tmp = malloc(n * sizeof *tmp);
	if (!tmp)
		return false;
	if ((runs <= FEW_RUNS ? merge_runs(a, tmp, n) : radix(a, tmp, n, differ)) != a)
		memcpy(a, tmp, n * sizeof *a);
	free(tmp);
	return true;
}

void
nsx_sort_elements(void *p, size_t n, size_t size, int (*compare)(const void *a, const void *b))
{
	if (n > 1)
		qsort(p, n, size, compare);
}

size_t
nsx_sort_first(const void *elements, size_t n, size_t size, size_t offset, int64_t x)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int64_t value;

		memcpy(&value, (const char *)elements + mid * size + offset, sizeof value);
		if (value < x)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* qsort passes no context, and qsort_r is not in every C library: the context of a sort is stored here while it
 * runs. */
struct sorting { nsx_sort_compare *compare; const void *context; };
static _Thread_local struct sorting current;

static int
compare_current(const void *a, const void *b)
{
	return current.compare(a, b, current.context);
}

void
nsx_sort_with(void *p, size_t n, size_t size, nsx_sort_compare *compare, const void *context)
{
	struct sorting outer = current;   /* `compare` may sort too */

	current = (struct sorting){ compare, context };
	if (n > 1)
		qsort(p, n, size, compare_current);
	current = outer;
}
