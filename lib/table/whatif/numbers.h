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
	/* n: places from base on, a page for each 256 of them in pages. Most are set on the last page, and got on the
	 * page of the one before. */
	NSX_VEC(struct wi_counted {
		int64_t base;
		size_t n;
		NSX_VEC(uint32_t) pages;
		struct wi_page { uint32_t number, at; } set, got;
	}) reports;
	NSX_VEC(uint32_t) at;
	size_t         gaps, set;
	struct nsx_map others;
};

/* The index of a number; a later one of the same number takes its place. large: the same in each call. False when out
 * of memory. */
bool nsx_wi_number_set(struct wi_numbers *n, struct nsx_large *large, uint32_t report, int64_t number, uint32_t index);
/* NSX_NONE: it has not come. */
uint32_t nsx_wi_number_get(const struct wi_numbers *n, uint32_t report, int64_t number);
/* It will be asked for soon. */
void nsx_wi_number_fetch(const struct wi_numbers *n, uint32_t report, int64_t number);
void nsx_wi_numbers_free(struct wi_numbers *n, struct nsx_large *large);

#endif
