/* share.c -- distributes the time of ranges that run in parallel so that it adds up to the elapsed time.
 *
 *     main thread   XlaCompile [0,100)
 *     worker 1      pass a [20,80)      worker 2   pass b [20,40)
 *     some worker range is open in [20,80): 60, shared as 60 : 20, so 45 for a, 15 for b; XlaCompile keeps 40 */
#include "table/compile/compile.h"

#include <stdlib.h>

#include "base/num.h"
#include "base/sort.h"

/* A period in which ranges of other threads are open in `owner`. */
struct region {
	uint32_t owner;
	int64_t  from, to;   /* ns */
	nsx_u128 weight;     /* their exclusive time */
	int64_t  share;      /* ns assigned to them */
};

struct sharing {
	const struct compile_range *r;
	size_t          n;
	struct compile_part *part;
	uint32_t       *root;    /* by range: the outermost range of its thread if that is not the compiling thread,
	                          * else NSX_NONE */
	uint32_t       *region;  /* by such a root */
	NSX_VEC(struct region) regions;   /* by owner, then time */
	NSX_VEC(struct nsx_sort_key) keys;
};

static bool
one_thread(const struct compile_range *a, const struct compile_range *b)
{
	return a->pid == b->pid && a->tid == b->tid;
}

static void
find_roots(struct sharing *s)
{
	for (size_t i = 0; i < s->n; i++) {
		uint32_t up = s->r[i].parent;

		s->root[i] = up == NSX_NONE ? NSX_NONE : s->root[up];
		if (up != NSX_NONE && s->root[i] == NSX_NONE && !one_thread(&s->r[i], &s->r[up])) {
			s->root[i] = (uint32_t)i;
			s->part[up].owns = true;
		}
	}
}

/* The ranges directly in an owner: roots of other threads, or those of its own; by owner and start. */
static bool
collect(struct sharing *s, bool roots)
{
	s->keys.n = 0;
	for (size_t i = 0; i < s->n; i++) {
		const struct compile_range *r = &s->r[i];

		if (r->parent == NSX_NONE || (roots ? s->root[i] != i : s->root[i] != NSX_NONE ||
		    !s->part[r->parent].owns))
			continue;
		if (!nsx_vec_push(&s->keys, ((struct nsx_sort_key){ { r->parent, r->start, 0 }, (uint32_t)i })))
			return false;
	}
	nsx_sort_keys(s->keys.p, s->keys.n);
	return true;
}

/* Overlapping ranges form one region. */
static bool
find_regions(struct sharing *s)
{
	if (!collect(s, true))
		return false;
	for (size_t k = 0; k < s->keys.n; k++) {
		uint32_t i = s->keys.p[k].i, owner = s->r[i].parent;
		int64_t from = s->r[i].start, to = from + s->r[i].dur;
		struct region *last = s->regions.n ? &s->regions.p[s->regions.n - 1] : NULL;

		if (!last || last->owner != owner || from > last->to) {
			if (!nsx_vec_push(&s->regions, ((struct region){ .owner = owner, .from = from, .to = to })))
				return false;
		} else if (to > last->to) {
			last->to = to;
		}
		s->region[i] = (uint32_t)s->regions.n - 1;
	}
	return true;
}

/* Parts outside the owner do not count. */
static void
clip(struct region *g, const struct compile_range *owner)
{
	int64_t end = owner->start + owner->dur;

	if (g->from < owner->start)
		g->from = owner->start;
	if (g->to > end)
		g->to = end;
	g->share = g->to > g->from ? g->to - g->from : 0;
}

/* Subtract from each region the time in which a child of the owner is open on its own thread: that time belongs to the
 * child. */
static bool
take_children(struct sharing *s)
{
	size_t g = 0;
	int64_t seen = 0;   /* children of this owner are counted up to here */

	if (!collect(s, false))
		return false;
	for (size_t k = 0; k < s->keys.n; k++) {
		const struct compile_range *r = &s->r[s->keys.p[k].i];
		int64_t from = r->start, to = r->start + r->dur;

		if (k == 0 || s->r[s->keys.p[k - 1].i].parent != r->parent)
			seen = INT64_MIN;
		if (from < seen)
			from = seen;
		if (to > seen)
			seen = to;
		while (g < s->regions.n && (s->regions.p[g].owner < r->parent ||
		                            (s->regions.p[g].owner == r->parent && s->regions.p[g].to <= from)))
			g++;
		for (size_t i = g; i < s->regions.n && s->regions.p[i].owner == r->parent && s->regions.p[i].from < to;
		     i++) {
			struct region *x = &s->regions.p[i];
			int64_t lo = x->from > from ? x->from : from, hi = x->to < to ? x->to : to;

			if (hi > lo)
				x->share -= hi - lo;
		}
	}
	return true;
}

/* w * share / weight, with 64 fractional bits. */
static fine_time
portion(int64_t w, const struct region *g)
{
	nsx_u128 product = (nsx_u128)(uint64_t)w * (uint64_t)g->share;

	/* More than the whole, which valid records never have. */
	if (product / g->weight >= (uint64_t)g->share)
		return g->share * FINE_NS;
	return (fine_time)(product / g->weight) * FINE_NS + (fine_time)((product % g->weight << 64) / g->weight);
}

static int64_t
positive(int64_t v)
{
	return v > 0 ? v : 0;
}

static int
share_out(struct sharing *s, struct nsx_err *err)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->root[i] != NSX_NONE)
			s->regions.p[s->region[s->root[i]]].weight += (nsx_u128)positive(s->r[i].self);
	for (size_t k = 0; k < s->regions.n; k++) {
		struct region *g = &s->regions.p[k];

		if (g->weight >> 63)
			return nsx_err_set(err, "compile records whose times exceed 63 bits in sum");
		if (!g->weight)
			g->share = 0;
		s->part[g->owner].self -= g->share * FINE_NS;
		s->part[g->owner].child += g->share * FINE_NS;
	}
	for (size_t i = 0; i < s->n; i++) {
		if (s->root[i] == NSX_NONE)
			continue;
		const struct region *g = &s->regions.p[s->region[s->root[i]]];
		s->part[i].self = g->weight ? portion(positive(s->r[i].self), g) : 0;
		s->part[i].child = g->weight ? portion(positive(s->r[i].child), g) : 0;
	}
	return NSX_OK;
}

int
nsx_compile_share(const struct compile_range *r, size_t n, struct compile_part *part, struct nsx_err *err)
{
	struct sharing s = { .r = r, .n = n, .part = part };
	int rc = NSX_ERR;

	s.root = malloc((n + 1) * sizeof *s.root);
	s.region = malloc((n + 1) * sizeof *s.region);
	for (size_t i = 0; i < n; i++)
		part[i] = (struct compile_part){ r[i].self * FINE_NS, r[i].child * FINE_NS, false };
	if (s.root && s.region) {
		find_roots(&s);
		if (find_regions(&s)) {
			for (size_t k = 0; k < s.regions.n; k++)
				clip(&s.regions.p[k], &r[s.regions.p[k].owner]);
			if (take_children(&s))
				rc = share_out(&s, err);
		}
	}
	if (rc != NSX_OK)
		nsx_err_nomem(err, NULL);
	free(s.root);
	free(s.region);
	free(s.regions.p);
	free(s.keys.p);
	return rc;
}
