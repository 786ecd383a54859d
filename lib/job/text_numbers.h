/* text_numbers.h -- numbers that a program gave to what two texts of a record tell, such as the domain and the name
 * of a range, found again for later records of the same block without looking at their texts. */
#ifndef NSX_JOB_TEXT_NUMBERS_H
#define NSX_JOB_TEXT_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "stream/run.h"

/* {0} is empty. */
struct nsx_text_numbers {
	/* By text, and of which block it was: `alike` for all that are equal to it except for digits at the end. */
	struct nsx_text_number { uint32_t block, with, number; } *of, *alike;
	size_t cap;
};

/* A text beside another one, as struct nsx_text_number has it: NSX_NONE where there is none, which is no text's
 * number. */
static inline uint32_t
nsx_text_with(int64_t with)
{
	return with == NSX_ABSENT ? (uint32_t)NSX_NONE : (uint32_t)with;
}

/* The number that was set for the two texts of the block, or for ones that differ from `text` in digits at the end
 * only, NSX_NONE if there is none. Each may be NSX_ABSENT. */
static inline uint32_t
nsx_text_number(const struct nsx_text_numbers *n, const struct nsx_run_texts *texts, int64_t with, int64_t text)
{
	const struct nsx_text_number *at;

	if (text == NSX_ABSENT || texts->n > n->cap)
		return NSX_NONE;
	at = &n->alike[texts->first ? texts->first[text] : 0];
	if (at->block == texts->block && at->with == nsx_text_with(with))
		return at->number;
	at = &n->of[text];
	return at->block == texts->block && at->with == nsx_text_with(with) ? at->number : (uint32_t)NSX_NONE;
}

/* Set it; alike, where texts are compared: for those that differ in digits at the end, too. False when out of memory.
 * */
bool nsx_text_number_set(struct nsx_text_numbers *n, const struct nsx_run_texts *texts, int64_t with, int64_t text,
                         uint32_t number, bool alike);

void nsx_text_numbers_free(struct nsx_text_numbers *n);

/* Numbers of texts of any block that are equal except for digits at the end, of the texts met last; {0} is empty. */
struct nsx_stem_numbers {
	struct nsx_stem { uint32_t number; uint8_t len; char text[59]; } at[512];   /* len 0: none */
};

/* What comes before the digits at the end of a text. */
struct nsx_str nsx_stem(struct nsx_str text);

/* The number that was set for that stem; NSX_NONE if there is none any more. */
uint32_t nsx_stem_number(const struct nsx_stem_numbers *n, struct nsx_str stem);
void nsx_stem_number_set(struct nsx_stem_numbers *n, struct nsx_str stem, uint32_t number);

#endif
