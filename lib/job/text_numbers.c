/* text_numbers.c -- numbers of texts of a block. */
#include "job/text_numbers.h"

bool
nsx_text_number_set(struct nsx_text_numbers *n, const struct nsx_texts *texts, int64_t with, int64_t text,
                    uint32_t number, bool alike)
{
	if (text == NSX_ABSENT)
		return true;
	if (texts->n && !nsx_vec_reach(&n->of, 2 * texts->n - 1, NULL))
		return false;
	n->of.p[alike ? 2 * (size_t)texts->first[text] : 2 * (size_t)text + 1] = (struct nsx_text_number){ with, texts->block, number };
	return true;
}
