/* text_numbers.c -- numbers of texts of a block. */
#include "job/text_numbers.h"

#include <stdlib.h>
#include <string.h>

/* Room for the numbers of n texts; those that were set are forgotten if it has to grow. */
static bool
make_room(struct nsx_text_numbers *n, size_t texts)
{
	if (texts <= n->cap)
		return true;
	nsx_text_numbers_free(n);
	n->of = calloc(2 * texts, sizeof *n->of);
	if (!n->of)
		return false;
	n->alike = n->of + texts;
	n->cap = texts;
	return true;
}

bool
nsx_text_number_set(struct nsx_text_numbers *n, const struct nsx_run_texts *texts, int64_t with, int64_t text,
                    uint32_t number, bool alike)
{
	if (text == NSX_ABSENT)
		return true;
	if (!make_room(n, texts->n))
		return false;
	*(alike ? &n->alike[texts->first[text]] : &n->of[text]) =
		(struct nsx_text_number){ texts->block, nsx_text_with(with), number };
	return true;
}

void
nsx_text_numbers_free(struct nsx_text_numbers *n)
{
	free(n->of);
	*n = (struct nsx_text_numbers){ 0 };
}

struct nsx_str
nsx_stem(struct nsx_str text)
{
	while (text.len && nsx_is_digit(text.ptr[text.len - 1]))
		text.len--;
	return text;
}

/* The place of a stem, by its length and some of its bytes; 8 at least. */
static size_t
place(struct nsx_str stem)
{
	uint64_t first, last;

	memcpy(&first, stem.ptr, sizeof first);
	memcpy(&last, stem.ptr + (stem.len - sizeof last) / 2, sizeof last);
	return (first + (last << 21 | last >> 43) + stem.len) * 0x9e3779b97f4a7c15ULL >> 55;
}

static bool
fits(struct nsx_str stem)
{
	return stem.len >= sizeof(uint64_t) && stem.len <= sizeof ((struct nsx_stem *)0)->text;
}

uint32_t
nsx_stem_number(const struct nsx_stem_numbers *n, struct nsx_str stem)
{
	const struct nsx_stem *at;

	if (!fits(stem))
		return NSX_NONE;
	at = &n->at[place(stem)];
	return at->len == stem.len && memcmp(at->text, stem.ptr, stem.len) == 0 ? at->number : (uint32_t)NSX_NONE;
}

void
nsx_stem_number_set(struct nsx_stem_numbers *n, struct nsx_str stem, uint32_t number)
{
	struct nsx_stem *at;

	if (!fits(stem))
		return;
	at = &n->at[place(stem)];
	at->number = number;
	at->len = (uint8_t)stem.len;
	memcpy(at->text, stem.ptr, stem.len);
}
