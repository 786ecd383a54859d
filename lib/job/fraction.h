/* fraction.h -- exact sums of fractions whose denominators have no common bound. */
#ifndef NSX_JOB_FRACTION_H
#define NSX_JOB_FRACTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* A number from 0 to below 1: num / den, both of `limbs` digits of base 2^32, lowest first. {0} is zero. */
struct nsx_fraction { uint32_t *num, *den; size_t limbs; };

/* f += r/n, with r < n. If the sum reaches 1, *carry is set and 1 is subtracted. The digits are allocated from the
 * arena; false when out of memory. */
bool nsx_fraction_add(struct nsx_fraction *f, uint32_t r, uint32_t n, bool *carry, struct nsx_arena *a);

/* Compares as strcmp does. scratch: space for 2 * (a->limbs + b->limbs) digits. */
int nsx_fraction_cmp(const struct nsx_fraction *a, const struct nsx_fraction *b, uint32_t *scratch);

#endif
