/* numbers.c -- see numbers.h. */
#include "table/whatif/numbers.h"

#include <stdlib.h>

enum { GAPS = 65536 };    /* numbers that may be missing where few have come, in all reports together */

/* Let the report have places up to that one. */
static bool
reach(struct wi_numbers *n, struct nsx_large *large, struct wi_counted *r, uint64_t at)
{
	while (r->pages.n <= at / WI_PAGE) {
		if (!nsx_large_room(large, &n->at, WI_PAGE)
		    || !nsx_vec_push(&r->pages, (uint32_t)(n->at.n / WI_PAGE)))
			return false;
		for (size_t i = 0; i < WI_PAGE; i++)
			n->at.p[n->at.n++] = NSX_NONE;
	}
	n->gaps += at + 1 - r->n;
	r->n = at + 1;
	return true;
}

bool
nsx_wi_number_set_far(struct wi_numbers *n, struct nsx_large *large, uint32_t report, int64_t number,
                      uint32_t index)
{
	struct wi_counted *r;
	uint64_t at;
	uint32_t *other;

	while (n->reports.n <= report)
		if (!nsx_vec_push(&n->reports, ((struct wi_counted){ 0 })))
			return false;
	r = &n->reports.p[report];
	if (!r->n)
		r->base = number;
	at = (uint64_t)number - (uint64_t)r->base;
	/* n->gaps is at most n->set + GAPS; a sum with what may be 2^64 could be anything. */
	if (number >= r->base && (at < r->n || at - r->n < n->set + GAPS - n->gaps)) {
		if (at >= r->n && !reach(n, large, r, at))
			return false;
		other = wi_number_at(n, report, number);
		n->gaps -= *other == NSX_NONE;
		n->set++;
		*other = index;
		return true;
	}
	other = nsx_map_at(&n->others, (struct nsx_key){ report, (uint64_t)number });
	if (other)
		*other = index;
	return other != NULL;
}

void
nsx_wi_numbers_free(struct wi_numbers *n, struct nsx_large *large)
{
	for (size_t i = 0; i < n->reports.n; i++)
		free(n->reports.p[i].pages.p);
	free(n->reports.p);
	nsx_large_free(large, n->at.p);
	nsx_map_free(&n->others);
	*n = (struct wi_numbers){ 0 };
}
