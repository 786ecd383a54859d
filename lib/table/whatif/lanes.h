/* lanes.h -- times of several plans side by side, n of an event, and what is done with all of them. Where n is a
 * multiple of WI_LANES a processor may do several at once: who goes through many events has a copy for any n, and
 * copies with that processor's instructions, in which it is a constant how many groups of WI_LANES there are:
 *
 *   WI_INLINE void go(int wide, ...) { ... wi_raise(wide, n, from, lags, lag, t); ... }
 *   static void go_narrow(...) { go(0, ...); }
 *   WI_AVX2 static void go_wide(int wide, ...) { WI_SWITCH(wide, go, ...); }
 *   void for_any(...) { int wide = wi_wide(n); if (wide) go_wide(wide, ...); else go_narrow(...); }
 */
#ifndef NSX_TABLE_WHATIF_LANES_H
#define NSX_TABLE_WHATIF_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WI_LANES = 4, WI_GROUPS = 3 };

#define WI_INLINE static inline __attribute__((always_inline))
#ifdef __x86_64__
#define WI_AVX2 __attribute__((target("avx2")))
#else
#define WI_AVX2
#endif

/* How many groups of lanes n are that can be done at once, at most WI_GROUPS; 0: they are done one by one. */
static inline int
wi_wide(size_t n)
{
#ifdef __x86_64__
	if (!__builtin_cpu_supports("avx2"))
		return 0;
#endif
	return n % WI_LANES || n / WI_LANES > WI_GROUPS ? 0 : (int)(n / WI_LANES);
}
/* n, as a constant where it is known. */
WI_INLINE size_t wi_lanes(int wide, size_t n) { return wide ? (size_t)(wide * WI_LANES) : n; }

/* Call what is inline with the number of groups as a constant. */
#define WI_SWITCH(wide, go, ...) \
	do { \
		if ((wide) == 1) \
			go(1, __VA_ARGS__); \
		else if ((wide) == 2) \
			go(2, __VA_ARGS__); \
		else \
			go(WI_GROUPS, __VA_ARGS__); \
	} while (0)

/* do_: a statement, with the lane i. */
#define WI_EACH(wide, n, i, do_) \
	do { \
		if (wide) { \
			for (size_t i = 0; i < (size_t)((wide) * WI_LANES); i++) \
				do_; \
		} else { \
			for (size_t i = 0; i < (n); i++) \
				do_; \
		} \
	} while (0)

WI_INLINE void
wi_fill(int wide, size_t n, int64_t v, int64_t *t)
{
	WI_EACH(wide, n, p, t[p] = v);
}

/* The times that much after others; lags: each its own, NULL: all the one. */
WI_INLINE void
wi_set(int wide, size_t n, const int64_t *restrict from, const int64_t *restrict lags, int64_t lag,
       int64_t *restrict t)
{
	if (lags)
		WI_EACH(wide, n, p, t[p] = from[p] + lags[p]);
	else
		WI_EACH(wide, n, p, t[p] = from[p] + lag);
}

/* Raise times to these. */
WI_INLINE void
wi_raise(int wide, size_t n, const int64_t *restrict from, const int64_t *restrict lags, int64_t lag,
         int64_t *restrict t)
{
	if (lags)
		WI_EACH(wide, n, p, t[p] = from[p] + lags[p] > t[p] ? from[p] + lags[p] : t[p]);
	else
		WI_EACH(wide, n, p, t[p] = from[p] + lag > t[p] ? from[p] + lag : t[p]);
}

/* Raise times to others. */
WI_INLINE void
wi_raise_to(int wide, size_t n, const int64_t *restrict to, int64_t *restrict t)
{
	WI_EACH(wide, n, p, t[p] = to[p] > t[p] ? to[p] : t[p]);
}

/* Lower times to those that much after others, but not below the least. */
WI_INLINE void
wi_lower(int wide, size_t n, const int64_t *restrict from, int64_t lag, const int64_t *restrict least,
         int64_t *restrict t)
{
	WI_EACH(wide, n, p, {
		int64_t at = from[p] + lag;

		at = at > least[p] ? at : least[p];
		t[p] = at < t[p] ? at : t[p];
	});
}

#endif
