/* numbers.c -- see numbers.h. */
#include "table/whatif/numbers.h"

#include <stdlib.h>

enum { GAPS = 65536 };    /* numbers that may be missing where few have come, in all reports together */

bool
nsx_wi_number_set(struct wi_numbers *n, uint32_t report, int64_t number, uint32_t index)
{
	struct wi_counted *r;
	uint64_t at;
	uint32_t *other;

	while (n->reports.n <= report)
		if (!nsx_vec_push(&n->reports, ((struct wi_counted){ 0, { 0 } })))
			return false;
	r = &n->reports.p[report];
	if (!r->at.n)
		r->base = number;
	at = (uint64_t)number - (uint64_t)r->base;
	if (number >= r->base && (at < r->at.n || at - r->at.n + n->gaps < n->set + GAPS)) {
		if (at >= r->at.n) {
			size_t more = at + 1 - r->at.n;

			if (!nsx_vec_room(&r->at, more))
				return false;
			while (r->at.n <= at)
				r->at.p[r->at.n++] = NSX_NONE;
			n->gaps += more;
		}
		n->gaps -= r->at.p[at] == NSX_NONE;
		n->set++;
		r->at.p[at] = index;
		return true;
	}
	other = nsx_map_at(&n->others, (struct nsx_key){ report, (uint64_t)number });
	if (other)
		*other = index;
	return other != NULL;
}

uint32_t
nsx_wi_number_get(const struct wi_numbers *n, uint32_t report, int64_t number)
{
	if (report < n->reports.n) {
		const struct wi_counted *r = &n->reports.p[report];
		uint64_t at = (uint64_t)number - (uint64_t)r->base;

		if (number >= r->base && at < r->at.n && r->at.p[at] != NSX_NONE)
			return r->at.p[at];
	}
	return nsx_map_get(&n->others, (struct nsx_key){ report, (uint64_t)number });
}

void
nsx_wi_numbers_free(struct wi_numbers *n)
{
	for (size_t i = 0; i < n->reports.n; i++)
		free(n->reports.p[i].at.p);
	free(n->reports.p);
	nsx_map_free(&n->others);
	*n = (struct wi_numbers){ 0 };
}
