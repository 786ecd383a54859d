/* heap.h -- a binary heap in an array of any type: the first element in its order is at h[0]. */
#ifndef NSX_BASE_HEAP_H
#define NSX_BASE_HEAP_H

#include <stddef.h>

/* A program need not use all functions of a heap; clang warns of unused ones, inline or not. */
#define NSX_HEAP_STATIC_ __attribute__((unused)) static inline

/* Defines a heap of `type` elements as static functions; before(ctx, a, b) says whether *a comes before *b; ctx (of
 * type ctx_type) is passed to it. The caller owns the array. Equal elements (neither is before the other) come in any
 * order.
 *
 * NAME_make(ctx, h, n)    make a heap of the n elements of h, in any order: O(n)
 * NAME_down(ctx, h, n)    h[0] was changed to come later, or replaced: restore the heap (n may be 0)
 * NAME_push(ctx, h, n, x) add x; h[n] must exist; the caller increments n
 * NAME_pop(ctx, h, n)     remove h[0]; n > 0; the caller decrements n */
#define NSX_HEAP(name, type, ctx_type, before)                                     \
	NSX_HEAP_STATIC_ void                                                      \
	name##_sink_(ctx_type ctx, type *h, size_t n, size_t i)                    \
	{                                                                          \
		type x = h[i];                                                     \
		for (size_t c; (c = 2 * i + 1) < n; i = c) {                       \
			c += c + 1 < n && before(ctx, &h[c + 1], &h[c]);           \
			if (!before(ctx, &h[c], &x))                               \
				break;                                             \
			h[i] = h[c];                                               \
		}                                                                  \
		h[i] = x;                                                          \
	}                                                                          \
	NSX_HEAP_STATIC_ void                                                      \
	name##_make(ctx_type ctx, type *h, size_t n)                               \
	{                                                                          \
		for (size_t i = n / 2; i-- > 0;)                                   \
			name##_sink_(ctx, h, n, i);                                \
	}                                                                          \
	NSX_HEAP_STATIC_ void                                                      \
	name##_down(ctx_type ctx, type *h, size_t n)                               \
	{                                                                          \
		if (n)                                                             \
			name##_sink_(ctx, h, n, 0);                                \
	}                                                                          \
	NSX_HEAP_STATIC_ void                                                      \
	name##_push(ctx_type ctx, type *h, size_t n, type x)                       \
	{                                                                          \
		for (; n && before(ctx, &x, &h[(n - 1) / 2]); n = (n - 1) / 2)     \
			h[n] = h[(n - 1) / 2];                                     \
		h[n] = x;                                                          \
	}                                                                          \
	NSX_HEAP_STATIC_ type                                                      \
	name##_pop(ctx_type ctx, type *h, size_t n)                                \
	{                                                                          \
		type first = h[0];                                                 \
		h[0] = h[n - 1];                                                   \
		name##_down(ctx, h, n - 1);                                        \
		return first;                                                      \
	}

#endif
