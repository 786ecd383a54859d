/* calls.c -- see calls.h; project.c explains why this is sufficient. */
#include "source/calls.h"

#include <stdlib.h>

#include "source/order.h"
#include "source/pile.h"

/* Sort key: earlier first, at one start the longer first. ~ instead of minus, because -INT64_MIN overflows. */
static struct nsx_pair_key
key(int64_t start, int64_t end, uint32_t at)
{
	return (struct nsx_pair_key){ start, ~end, at };
}

static bool
add(struct nsx_calls *out, uint32_t cap, struct nsx_call call)
{
	if (out->n == cap)
		return false;
	out->p[out->n++] = call;
	return true;
}

/* The calls of one launch, sorted, k[0..n): keep those that contain none of the others, and add a call for each pair of
 * neighbours. */
static bool
add_shared(struct nsx_calls *out, uint32_t cap, const struct nsx_raw_call *raw, const struct nsx_launch *l,
           const struct nsx_pair_key *k, size_t n)
{
	const struct nsx_raw_call *next = NULL;

	for (size_t i = n; i-- > 0; ) {
		const struct nsx_raw_call *c = &raw[k[i].at];
		if (next && c->end >= next->end)
			continue;
		if (!add(out, cap, (struct nsx_call){ c->start, c->end, l->start, l->end, l->device, 1, NSX_NONE,
		                                      c->launch }))
			return false;
		if (next && !add(out, cap, (struct nsx_call){ c->start, next->end, INT64_MAX, INT64_MIN, NSX_NONE, -1,
		                                              NSX_NONE, NSX_NONE }))
			return false;
		next = c;
	}
	return true;
}

/* All calls of shared ids among raw: nshared of them. */
static bool
add_all_shared(struct nsx_calls *out, uint32_t cap, const struct nsx_raw_call *raw, uint32_t n, uint32_t nshared,
               const struct nsx_launch *launches)
{
	struct nsx_pair_key *k = malloc((size_t)nshared * sizeof *k),
	    *by_launch = malloc((size_t)nshared * sizeof *by_launch);
	uint32_t *at = malloc((size_t)nshared * sizeof *at);
	bool good = k && by_launch && at;
	size_t m = 0;

	/* Sorted by time, and then, stably, by launch. */
	for (uint32_t i = 0; good && i < n; i++)
		if (launches[raw[i].launch].ncalls > 1)
			k[m++] = key(raw[i].start, raw[i].end, i);
	good = good && nsx_order_keys(k, m);
	for (size_t i = 0; good && i < m; i++) {
		at[i] = k[i].at;
		by_launch[i] = (struct nsx_pair_key){ raw[k[i].at].launch, 0, (uint32_t)i };
	}
	good = good && nsx_order_keys(by_launch, m);
	for (size_t i = 0; good && i < m; i++)
		k[i].at = at[by_launch[i].at];
	for (size_t i = 0, e; good && i < m; i = e) {
		for (e = i + 1; e < m && by_launch[e].a == by_launch[i].a; e++)
			;
		good = add_shared(out, cap, raw, &launches[by_launch[i].a], k + i, e - i);
	}
	free(k);
	free(by_launch);
	free(at);
	return good;
}

static bool
sort(struct nsx_calls *c)
{
	bool sorted = true;

	for (uint32_t i = 1; sorted && i < c->n; i++)
		sorted = c->p[i - 1].start < c->p[i].start || (c->p[i - 1].start == c->p[i].start &&
		                                               c->p[i - 1].end >= c->p[i].end);
	if (sorted)
		return true;
	struct nsx_pair_key *k = malloc(c->n * sizeof *k);
	bool good = k != NULL;
	for (uint32_t i = 0; good && i < c->n; i++)
		k[i] = key(c->p[i].start, c->p[i].end, i);
	good = good && nsx_order_keys(k, c->n);
	if (good)
		nsx_order_apply(c->p, sizeof *c->p, k, c->n);
	free(k);
	return good;
}

int
nsx_calls_make(const struct nsx_raw_call *raw, uint32_t n, const struct nsx_launch *launches, struct nsx_calls *out)
{
	uint32_t nshared = 0;

	*out = (struct nsx_calls){ 0 };
	for (uint32_t i = 0; i < n; i++)
		nshared += launches[raw[i].launch].ncalls > 1;
	if (!n)
		return NSX_OK;
	if ((uint64_t)n + nshared >= NSX_NONE)
		return NSX_ERR;
	uint32_t cap = n + nshared;
	out->p = nsx_big_alloc(cap, sizeof *out->p);
	bool good = out->p != NULL;
	for (uint32_t i = 0; good && i < n; i++) {
		const struct nsx_launch *l = &launches[raw[i].launch];
		if (l->ncalls <= 1)
			good = add(out, cap, (struct nsx_call){ raw[i].start, raw[i].end, l->start, l->end, l->device,
			                                        1, NSX_NONE, raw[i].launch });
	}
	good = good && (!nshared || add_all_shared(out, cap, raw, n, nshared, launches));
	if (good && sort(out))
		return NSX_OK;
	nsx_calls_free(out);
	return NSX_ERR;
}

void
nsx_calls_free(struct nsx_calls *c)
{
	free(c->p);
	*c = (struct nsx_calls){ 0 };
}
