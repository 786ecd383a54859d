/* text_numbers.h -- numbers that a program gave to what two texts of a record tell, such as the domain and the name of a
 * range, found again for later records of the same block without looking at their texts. */
#ifndef NSX_JOB_TEXT_NUMBERS_H
#define NSX_JOB_TEXT_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "stream/run.h"

/* {0} is empty; free(n.of.p) ends one. */
struct nsx_text_numbers {
	/* Of text i at 2 i + 1; at 2 i of those that are equal to it except for digits at the end. */
	NSX_VEC(struct nsx_text_number { int64_t with; uint32_t block, number; }) of;
};

/* The number that was set for the two texts of the block, or for ones that differ from `text` in digits at the end only,
 * NSX_NONE if there is none. Each may be NSX_ABSENT. */
static inline uint32_t
nsx_text_number(const struct nsx_text_numbers *n, const struct nsx_texts *texts, int64_t with, int64_t text)
{
	const struct nsx_text_number *at;

	if (text == NSX_ABSENT || n->of.n < 2 * texts->n)
		return NSX_NONE;
	at = &n->of.p[2 * (size_t)texts->first[(size_t)text]];
	if (at->block == texts->block && at->with == with)
		return at->number;
	at = &n->of.p[2 * (size_t)text + 1];
	return at->block == texts->block && at->with == with ? at->number : (uint32_t)NSX_NONE;
}

/* Set it; alike: for those that differ in digits at the end, too. False when out of memory. */
bool nsx_text_number_set(struct nsx_text_numbers *n, const struct nsx_texts *texts, int64_t with, int64_t text,
                         uint32_t number, bool alike);

#endif
