/* project_any.c -- parents and projection for ranges that overlap arbitrarily, by binary indexed trees over ends.
 *
 * The containers of a range are the ranges before it (in order of start) that end no earlier; the tightest is the
 * shortest of them, which is found in a tree of suffix minima. A range contains the calls that start no earlier and end
 * no later: in descending order of start, calls are added to a tree by their end, and a prefix of that tree is the sum
 * over the calls in the range. */
#include <stdlib.h>
#include <string.h>

#include "source/order.h"
#include "source/project_any.h"

/* The sum over a prefix of the tree of calls. */
struct node { int64_t start, end; int32_t weight; uint32_t dev_min, dev_max; };

struct any {
	struct nsx_range *r;
	uint32_t          n;
	int64_t          *ends;     /* distinct, ascending */
	uint32_t          nends;
	uint32_t         *rank;     /* of each range's end in ends */
	uint32_t         *last;     /* for the first of ranges with the same interval: the last of them */
	uint32_t         *best;     /* tree: the shortest range of a suffix of ends */
	struct node      *sums;     /* tree: calls of a prefix of ends */
};

/* The first end that is at least t; nends if none is. */
static uint32_t
rank_of(const struct any *a, int64_t t)
{
	uint32_t lo = 0, hi = a->nends;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (a->ends[mid] < t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool
rank_ends(struct any *a)
{
	struct nsx_pair_key *k = malloc(a->n * sizeof *k);

	if (!k)
		return false;
	for (uint32_t i = 0; i < a->n; i++)
		k[i] = (struct nsx_pair_key){ a->r[i].end, 0, i };
	bool good = nsx_order_keys(k, a->n);
	for (uint32_t i = 0; good && i < a->n; i++) {
		if (!a->nends || a->ends[a->nends - 1] != k[i].a)
			a->ends[a->nends++] = k[i].a;
		a->rank[k[i].at] = a->nends - 1;
	}
	free(k);
	return good;
}

/* Is x the tighter container, for anything that is in both? */
static inline bool
tighter(const struct nsx_range *r, uint32_t x, uint32_t y)
{
	uint64_t lx = (uint64_t)r[x].end - (uint64_t)r[x].start, ly = (uint64_t)r[y].end - (uint64_t)r[y].start;

	return lx != ly ? lx < ly : r[x].id < r[y].id;
}

static void
offer(struct any *a, uint32_t i)
{
	/* Counted from the end, so that a prefix of the tree is a suffix of ends. */
	for (uint32_t k = a->nends - a->rank[i]; k <= a->nends; k += k & -k)
		if (a->best[k] == NSX_NONE || tighter(a->r, i, a->best[k]))
			a->best[k] = i;
}

/* The innermost range added so far with an end of this rank or later, NSX_NONE: none. */
static uint32_t
innermost(const struct any *a, uint32_t rank)
{
	uint32_t found = NSX_NONE;

	for (uint32_t k = a->nends - rank; k; k -= k & -k)
		if (a->best[k] != NSX_NONE && (found == NSX_NONE || tighter(a->r, a->best[k], found)))
			found = a->best[k];
	return found == NSX_NONE ? NSX_NONE : a->last[found];
}

static bool
twins(const struct nsx_range *x, const struct nsx_range *y)
{
	return x->start == y->start && x->end == y->end;
}

/* Ranges with the same interval are neighbours, each contained in the one before it; only the first is added to the
 * tree, and represents the last. */
static void
find_parents(struct any *a, uint32_t base, struct nsx_call *calls, uint32_t ncalls)
{
	uint32_t j = 0;

	for (uint32_t i = 0; i <= a->n; i++) {
		for (; j < ncalls && (i == a->n || calls[j].start < a->r[i].start); j++) {
			uint32_t rank = rank_of(a, calls[j].end);
			uint32_t in = rank < a->nends ? innermost(a, rank) : NSX_NONE;
			calls[j].range = in == NSX_NONE ? NSX_NONE : base + in;
		}
		if (i == a->n)
			break;
		if (i && twins(&a->r[i - 1], &a->r[i])) {
			a->r[i].parent = base + i - 1;
			continue;
		}
		uint32_t in = innermost(a, a->rank[i]);
		a->r[i].parent = in == NSX_NONE ? NSX_NONE : base + in;
		a->last[i] = i;
		while (a->last[i] + 1 < a->n && twins(&a->r[i], &a->r[a->last[i] + 1]))
			a->last[i]++;
		offer(a, i);
	}
}

static void
join(struct node *into, const struct node *x)
{
	into->weight += x->weight;
	if (x->start > x->end)
		return;
	if (x->start < into->start)
		into->start = x->start;
	if (x->end > into->end)
		into->end = x->end;
	if (x->dev_min < into->dev_min)
		into->dev_min = x->dev_min;
	if (x->dev_max > into->dev_max)
		into->dev_max = x->dev_max;
}

static const struct node nothing = { INT64_MAX, INT64_MIN, 0, UINT32_MAX, 0 };

static void
enter(struct any *a, const struct nsx_call *c)
{
	uint32_t rank = rank_of(a, c->end);
	struct node x = { c->gpu_start, c->gpu_end, c->weight, c->device, c->device };

	if (c->device == NSX_NONE)
		x.dev_min = 0;   /* several: never equal to dev_max */
	for (uint32_t k = rank + 1; k <= a->nends; k += k & -k)
		join(&a->sums[k], &x);
}

/* False when out of memory. */
static bool
project(struct any *a, const struct nsx_call *calls, uint32_t ncalls, nsx_span_list *spans)
{
	uint32_t j = ncalls;

	for (uint32_t i = a->n; i-- > 0; ) {
		struct node sum = nothing;

		while (j > 0 && calls[j - 1].start >= a->r[i].start)
			enter(a, &calls[--j]);
		for (uint32_t k = a->rank[i] + 1; k; k -= k & -k)
			join(&sum, &a->sums[k]);
		struct nsx_span span = { sum.start, sum.end, (uint32_t)sum.weight,
		                         sum.dev_min == sum.dev_max ? sum.dev_max : NSX_NONE };
		a->r[i].gpu = NSX_NONE;
		if (!span.ops)
			continue;
		if (!nsx_vec_push(spans, span))
			return false;
		a->r[i].gpu = (uint32_t)spans->n - 1;
	}
	return true;
}

int
nsx_project_any(struct nsx_range *ranges, uint32_t n, uint32_t base, struct nsx_call *calls, uint32_t ncalls,
                nsx_span_list *spans)
{
	struct any a = { .r = ranges, .n = n };
	int rc = NSX_ERR;

	a.ends = malloc(((size_t)n + 1) * sizeof *a.ends);
	a.rank = malloc(((size_t)n + 1) * sizeof *a.rank);
	a.last = malloc(((size_t)n + 1) * sizeof *a.last);
	a.best = malloc(((size_t)n + 1) * sizeof *a.best);
	a.sums = malloc(((size_t)n + 1) * sizeof *a.sums);
	if (a.ends && a.rank && a.last && a.best && a.sums && rank_ends(&a)) {
		memset(a.best, 0xff, ((size_t)n + 1) * sizeof *a.best);
		for (uint32_t k = 0; k <= n; k++)
			a.sums[k] = nothing;
		find_parents(&a, base, calls, ncalls);
		rc = !spans || project(&a, calls, ncalls, spans) ? NSX_OK : NSX_ERR;
	}
	free(a.ends);
	free(a.rank);
	free(a.last);
	free(a.best);
	free(a.sums);
	return rc;
}
