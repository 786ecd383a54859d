/* open_intervals.c -- the intervals of one thread that are open at the current time of a sweep. */
#include "job/open_intervals.h"

/* Whether a comes before b in the list. */
static bool
before(const struct nsx_open_interval *a, const struct nsx_open_interval *b)
{
	if (a->start != b->start)
		return a->start < b->start;
	return a->end != b->end ? a->end > b->end : a->id < b->id;
}

/* Recompute the earliest ends from there on. */
static void
refresh(struct nsx_open_intervals *o, size_t from)
{
	int64_t first = from ? o->list.p[from - 1].first_end : INT64_MAX;

	for (size_t i = from; i < o->list.n; i++) {
		struct nsx_open_interval *x = &o->list.p[i];

		first = x->end < first ? x->end : first;
		x->first_end = first;
	}
}

bool
nsx_open_add(struct nsx_open_intervals *o, struct nsx_open_interval i, size_t *at)
{
	size_t k;

	if (!nsx_vec_room(&o->list, 1))
		return false;
	for (k = o->list.n++; k && before(&i, &o->list.p[k - 1]); k--)
		o->list.p[k] = o->list.p[k - 1];
	o->list.p[k] = i;
	refresh(o, k);
	*at = k;
	return true;
}

int64_t
nsx_open_next_end(const struct nsx_open_intervals *o)
{
	return o->list.n ? o->list.p[o->list.n - 1].first_end : INT64_MAX;
}

size_t
nsx_open_close(struct nsx_open_intervals *o, int64_t t)
{
	size_t from = o->list.n, kept;

	/* Intervals before the first that ends have a later earliest end, so they do not change. */
	while (from && o->list.p[from - 1].first_end <= t)
		from--;
	kept = from;
	for (size_t i = from; i < o->list.n; i++)
		if (o->list.p[i].end > t)
			o->list.p[kept++] = o->list.p[i];
	o->list.n = kept;
	refresh(o, from);
	return from;
}
