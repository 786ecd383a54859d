/* numbers.h -- operations or calls by their number in their report. Four bytes each where a report counts them in the
 * order in which they come, more where it does not; in a file where they are many (base/large.h), of which the end of
 * each report is in use.
 *
 *   set report 0: 7 -> 0, 8 -> 1, 11 -> 2     from 7 on: 0 1 - - 2
 *   get report 0: 8                           1 */
#ifndef NSX_TABLE_WHATIF_NUMBERS_H
#define NSX_TABLE_WHATIF_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/large.h"
#include "base/map.h"
#include "base/vec.h"

/* {0} is empty. gaps: places of all reports for numbers that have not come; set: numbers that have. */
struct wi_numbers {
	/* n: places from base on, a page for each 256 of them in pages. */
	NSX_VEC(struct wi_counted {
		int64_t base;
		size_t n;
		NSX_VEC(uint32_t) pages;
	}) reports;
	NSX_VEC(uint32_t) at;
	size_t         gaps, set;
	struct nsx_map others;
};

enum { WI_PAGE = 256 };

/* The place of a number of a report, used or not; NULL: it has none. */
static inline uint32_t *
wi_number_at(const struct wi_numbers *n, uint32_t report, int64_t number)
{
	const struct wi_counted *r = report < n->reports.n ? &n->reports.p[report] : NULL;
	uint64_t at = r ? (uint64_t)number - (uint64_t)r->base : 0;

	return r && number >= r->base && at / WI_PAGE < r->pages.n
	       ? &n->at.p[(size_t)r->pages.p[at / WI_PAGE] * WI_PAGE + at % WI_PAGE] : NULL;
}

bool nsx_wi_number_set_far(struct wi_numbers *n, struct nsx_large *large, uint32_t report, int64_t number,
                           uint32_t index);
/* The index of a number; a later one of the same number takes its place. large: the same in each call. False when out
 * of memory. */
static inline bool
nsx_wi_number_set(struct wi_numbers *n, struct nsx_large *large, uint32_t report, int64_t number, uint32_t index)
{
	uint32_t *to = wi_number_at(n, report, number);
	struct wi_counted *r = to ? &n->reports.p[report] : NULL;
	uint64_t at = r ? (uint64_t)number - (uint64_t)r->base : 0;

	if (!r || (at >= r->n && n->gaps > n->set))
		return nsx_wi_number_set_far(n, large, report, number, index);
	if (at >= r->n) {
		n->gaps += at + 1 - r->n;
		r->n = at + 1;
	}
	n->gaps -= *to == NSX_NONE;
	n->set++;
	*to = index;
	return true;
}

/* NSX_NONE: it has not come. */
static inline uint32_t
nsx_wi_number_get(const struct wi_numbers *n, uint32_t report, int64_t number)
{
	const uint32_t *at = wi_number_at(n, report, number);

	return at && *at != NSX_NONE ? *at : nsx_map_get(&n->others, (struct nsx_key){ report, (uint64_t)number });
}

/* It will be asked for soon. */
static inline void
nsx_wi_number_fetch(const struct wi_numbers *n, uint32_t report, int64_t number)
{
	const uint32_t *at = wi_number_at(n, report, number);

	if (at)
		__builtin_prefetch(at);
}

void nsx_wi_numbers_free(struct wi_numbers *n, struct nsx_large *large);

#endif
