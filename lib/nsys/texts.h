/* texts.h -- ranges' texts in little memory until it is known which are wanted; private to lib/nsys.
 * Programs number their ranges ("aten::to, op_id = 990347"), so that millions of texts differ in digits only. A text is
 * kept as the number of its template, the text with numbers taken out, and the numbers: a few bytes. Most are never
 * written out again. */
#ifndef NSX_NSYS_TEXTS_H
#define NSX_NSYS_TEXTS_H

#include "base/map.h"
#include "base/str.h"

struct nsx_texts { struct nsx_intern templates; struct nsx_buf codes; };

/* Where s's code begins in codes; NSX_NONE when out of memory, or of room for one table (a gibibyte of codes). */
uint32_t nsx_texts_add(struct nsx_texts *t, struct nsx_str s);

/* Append the text whose code begins there. */
void nsx_texts_get(const struct nsx_texts *t, uint32_t code, struct nsx_buf *out);

/* The code there as a number, with nothing else equal to it in this table; 0 where it is too long for 56 bits. */
uint64_t nsx_texts_key(const struct nsx_texts *t, uint32_t code);

void nsx_texts_free(struct nsx_texts *t);

#endif
