/* order.h -- stable sorting of what is nearly sorted already: time-stamped rows; private to lib/nsys. */
#ifndef NSX_NSYS_ORDER_H
#define NSX_NSYS_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an element is sorted by, and its place before. */
struct nsx_pair_key { int64_t a, b; uint32_t at; };

/* Sort n keys by (a, b, at), `at` rising in the input: O(n) for the runs of a sorted array, O(n log runs) in general.
 * False when out of memory. */
bool nsx_order_keys(struct nsx_pair_key *k, size_t n);

/* Move the n elements of `size` bytes (at most 96) at p into the order of their sorted keys, in place. Keys are used
 * up. */
void nsx_order_apply(void *p, size_t size, struct nsx_pair_key *k, size_t n);

#endif
