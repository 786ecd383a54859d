/* order.h -- stable sorting of nearly sorted data: time-stamped rows. */
#ifndef NSX_SOURCE_ORDER_H
#define NSX_SOURCE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The sort key of an element, and its old position. */
struct nsx_pair_key { int64_t a, b; uint32_t at; };

/* Sort n keys by (a, b, at), `at` rising in the input: O(n) for the runs of a sorted array, O(n log runs) in general.
 * False when out of memory. */
bool nsx_order_keys(struct nsx_pair_key *k, size_t n);

/* Move the n elements of `size` bytes (at most 96) at p into the order of their sorted keys, in place. The keys are
 * overwritten. */
void nsx_order_apply(void *p, size_t size, struct nsx_pair_key *k, size_t n);

/* static bool NAME(TYPE *p, uint32_t n): sort n elements stably by moving the few that are out of order; false if those
 * are too many: all elements are still there, in some order. in_order(x, y): x may come before y. */
#define NSX_SETTLE(name, type, in_order)                                              \
	static bool                                                                   \
	name(type *p, uint32_t n)                                                     \
	{                                                                             \
		uint32_t moves = n / 8 + 16;                                          \
		for (uint32_t i = 1; i < n && moves; i++) {                           \
			if (in_order(&p[i - 1], &p[i]))                               \
				continue;                                             \
			type x = p[i];                                                \
			uint32_t k = i;                                               \
			for (; k > 0 && !in_order(&p[k - 1], &x) && moves; k--, moves--) \
				p[k] = p[k - 1];                                      \
			p[k] = x;                                                     \
		}                                                                     \
		return moves != 0;                                                    \
	}

#endif
