/* thread.c -- see thread.h. */
#include "source/thread.h"

#include <stdlib.h>

#include "source/order.h"

static inline bool
in_order(const struct nsx_range *x, const struct nsx_range *y)
{
	return x->start < y->start || (x->start == y->start && x->end >= y->end);
}

NSX_SETTLE(settle, struct nsx_range, in_order)

bool
nsx_thread_sort(struct nsx_range *r, uint32_t n)
{
	if (settle(r, n))
		return true;
	struct nsx_pair_key *k = malloc(n * sizeof *k);
	if (!k)
		return false;
	for (uint32_t i = 0; i < n; i++)
		k[i] = (struct nsx_pair_key){ r[i].start, ~r[i].end, i };
	bool good = nsx_order_keys(k, n);
	if (good)
		nsx_order_apply(r, sizeof *r, k, n);
	free(k);
	return good;
}

bool
nsx_thread_pack(struct nsx_range *r, uint32_t *n, struct nsx_calls *calls)
{
	uint32_t *now = malloc(((size_t)*n + 1) * sizeof *now), kept = 0;

	if (!now)
		return false;
	for (uint32_t i = 0; i < *n; i++) {
		uint32_t parent = r[i].parent == NSX_NONE ? NSX_NONE : now[r[i].parent];

		if (r[i].gpu == NSX_NONE && !r[i].domain && !(r[i].flags & NSX_RANGE_NO_DOMAIN)) {
			now[i] = parent;
			continue;
		}
		now[i] = kept;
		if (kept != i)
			r[kept] = r[i];
		r[kept++].parent = parent;
	}
	for (uint32_t i = 0; i < calls->n; i++)
		if (calls->p[i].range != NSX_NONE)
			calls->p[i].range = now[calls->p[i].range];
	*n = kept;
	free(now);
	return true;
}

static inline bool
calls_in_order(const struct nsx_host_call *x, const struct nsx_host_call *y)
{
	return x->start < y->start || (x->start == y->start &&
	                               (x->end > y->end || (x->end == y->end && x->id < y->id)));
}

NSX_SETTLE(settle_calls, struct nsx_host_call, calls_in_order)

bool
nsx_thread_sort_calls(struct nsx_host_call *c, uint32_t n)
{
	if (settle_calls(c, n))
		return true;
	struct nsx_pair_key *k = malloc(n * sizeof *k);
	if (!k)
		return false;
	/* First by id: calls that were moved are at any position. */
	for (uint32_t i = 0; i < n; i++)
		k[i] = (struct nsx_pair_key){ c[i].id, 0, i };
	bool good = nsx_order_keys(k, n);
	if (good) {
		nsx_order_apply(c, sizeof *c, k, n);
		for (uint32_t i = 0; i < n; i++)
			k[i] = (struct nsx_pair_key){ c[i].start, ~c[i].end, i };
		good = nsx_order_keys(k, n);
	}
	if (good)
		nsx_order_apply(c, sizeof *c, k, n);
	free(k);
	return good;
}
