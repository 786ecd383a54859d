/* order.c -- natural merge sort: finds sorted runs and merges neighbouring ones until one is left. */
#include "source/order.h"

#include <stdlib.h>
#include <string.h>

static inline bool
before(const struct nsx_pair_key *x, const struct nsx_pair_key *y)
{
	if (x->a != y->a)
		return x->a < y->a;
	if (x->b != y->b)
		return x->b < y->b;
	return x->at < y->at;
}

static size_t
run_end(const struct nsx_pair_key *k, size_t i, size_t n)
{
	for (i++; i < n && !before(&k[i], &k[i - 1]); i++)
		;
	return i;
}

static void
merge(const struct nsx_pair_key *k, size_t a, size_t b, size_t c, struct nsx_pair_key *out)
{
	size_t i = a, j = b;

	while (i < b && j < c)
		*out++ = before(&k[j], &k[i]) ? k[j++] : k[i++];
	memcpy(out, k + i, (b - i) * sizeof *k);
	memcpy(out + (b - i), k + j, (c - j) * sizeof *k);
}

/* Short pieces are sorted by insertion, so that no run is much shorter than this. */
enum { SHORT = 24 };

static void
insertion(struct nsx_pair_key *k, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct nsx_pair_key x = k[i];
		size_t j = i;
		for (; j > 0 && before(&x, &k[j - 1]); j--)
			k[j] = k[j - 1];
		k[j] = x;
	}
}

bool
nsx_order_keys(struct nsx_pair_key *k, size_t n)
{
	if (n < 2 || run_end(k, 0, n) == n)
		return true;
	struct nsx_pair_key *tmp = malloc(n * sizeof *tmp), *from = k, *to = tmp;
	if (!tmp)
		return false;
	for (size_t i = 0, e; i < n; i = e) {
		e = run_end(k, i, n);
		if (e - i < SHORT) {
			e = n - i < SHORT ? n : i + SHORT;
			insertion(k + i, e - i);
		}
	}
	while (run_end(from, 0, n) < n) {
		for (size_t i = 0; i < n; ) {
			size_t mid = run_end(from, i, n), e = mid < n ? run_end(from, mid, n) : mid;
			merge(from, i, mid, e, to + i);
			i = e;
		}
		struct nsx_pair_key *swap = from;
		from = to;
		to = swap;
	}
	if (from != k)
		memcpy(k, from, n * sizeof *k);
	free(tmp);
	return true;
}

void
nsx_order_apply(void *p, size_t size, struct nsx_pair_key *k, size_t n)
{
	char *base = p, hold[96];

	/* Along each cycle of the permutation: position i receives the element at k[i].at. */
	for (size_t i = 0; i < n; i++) {
		if (k[i].at == i)
			continue;
		memcpy(hold, base + i * size, size);
		size_t to = i;
		while (k[to].at != i) {
			size_t next = k[to].at;
			memcpy(base + to * size, base + next * size, size);
			k[to].at = (uint32_t)to;
			to = next;
		}
		memcpy(base + to * size, hold, size);
		k[to].at = (uint32_t)to;
	}
}
