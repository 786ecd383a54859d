/* texts.h -- texts of ranges in compact form, until it is known which are needed.
 * Programs number their ranges ("aten::to, op_id = 990347"), so that millions of texts differ in digits only. A text is
 * kept as the number of its template, the text with numbers taken out, and the numbers: a few bytes. Most are never
 * written out again. */
#ifndef NSX_SOURCE_TEXTS_H
#define NSX_SOURCE_TEXTS_H

#include "base/map.h"
#include "base/str.h"

struct nsx_texts { struct nsx_intern templates; struct nsx_buf codes; };

/* The position of s's code in codes; NSX_NONE when out of memory, or when one table is full (a gibibyte of codes). */
uint32_t nsx_texts_add(struct nsx_texts *t, struct nsx_str s);

/* Append the text of the code at that position. */
void nsx_texts_get(const struct nsx_texts *t, uint32_t code, struct nsx_buf *out);

/* The code at that position as a number, different for different texts of this table; 0 if it is longer than 56
 * bits. */
uint64_t nsx_texts_key(const struct nsx_texts *t, uint32_t code);

void nsx_texts_free(struct nsx_texts *t);

/* The texts of a part of a table. */
struct nsx_part_texts { struct nsx_texts texts; uint32_t first; /* its codes, counted over all parts */ };

/* The one of n parts that contains a code; last: where the previous code was, NULL: there was none. Runs of codes are
 * from one part. */
const struct nsx_part_texts *nsx_part_texts_at(const struct nsx_part_texts *list, int n, uint32_t code,
                                               const struct nsx_part_texts *last);
void nsx_part_texts_free(struct nsx_part_texts *list, int n);

#endif
