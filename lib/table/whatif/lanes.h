/* lanes.h -- times of several plans side by side, n of an event, and what is done with all of them. Where n is a
 * multiple of WI_LANES a processor may do several at once: who goes through many events has three copies, one for any
 * n, and two with that processor's instructions, for where there are such (wi_wide): in one of these n is WI_LANES, as
 * it is where few changes are asked for, and no loop is left.
 *
 *   WI_INLINE void go(enum wi_wide wide, ...) { ... wi_raise(wide, n, from, lags, lag, t); ... }
 *   static void go_narrow(...) { go(WI_NARROW, ...); }
 *   WI_AVX2 static void go_wide(...) { go(WI_WIDE, ...); }
 *   WI_AVX2 static void go_one(...) { go(WI_ONE, ...); }
 */
#ifndef NSX_TABLE_WHATIF_LANES_H
#define NSX_TABLE_WHATIF_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WI_LANES = 4 };
enum wi_wide { WI_NARROW, WI_WIDE, WI_ONE };

#define WI_INLINE static inline __attribute__((always_inline))
#ifdef __x86_64__
#define WI_AVX2 __attribute__((target("avx2")))
#else
#define WI_AVX2
#endif

/* The way for n lanes. */
static inline enum wi_wide
wi_wide(size_t n)
{
	bool can = n && n % WI_LANES == 0;

#ifdef __x86_64__
	can = can && __builtin_cpu_supports("avx2");
#endif
	return !can ? WI_NARROW : n == WI_LANES ? WI_ONE : WI_WIDE;
}
/* n, which is a constant where that is known. */
WI_INLINE size_t wi_lanes(enum wi_wide wide, size_t n) { return wide == WI_ONE ? (size_t)WI_LANES : n; }

/* do_: a statement, with the lane i. */
#define WI_EACH(wide, n, i, do_) \
	do { \
		if ((wide) == WI_ONE) { \
			for (size_t i = 0; i < WI_LANES; i++) \
				do_; \
		} else if ((wide) == WI_WIDE) { \
			for (size_t i##_ = 0; i##_ < (n); i##_ += WI_LANES) \
				for (size_t i##_of = 0; i##_of < WI_LANES; i##_of++) { \
					size_t i = i##_ + i##_of; \
					do_; \
				} \
		} else { \
			for (size_t i = 0; i < (n); i++) \
				do_; \
		} \
	} while (0)

WI_INLINE void
wi_fill(enum wi_wide wide, size_t n, int64_t v, int64_t *t)
{
	WI_EACH(wide, n, p, t[p] = v);
}

/* The times that much after others; lags: each its own, NULL: all the one. */
WI_INLINE void
wi_set(enum wi_wide wide, size_t n, const int64_t *restrict from, const int64_t *restrict lags, int64_t lag,
       int64_t *restrict t)
{
	if (lags)
		WI_EACH(wide, n, p, t[p] = from[p] + lags[p]);
	else
		WI_EACH(wide, n, p, t[p] = from[p] + lag);
}

/* Raise times to these. */
WI_INLINE void
wi_raise(enum wi_wide wide, size_t n, const int64_t *restrict from, const int64_t *restrict lags, int64_t lag,
         int64_t *restrict t)
{
	if (lags)
		WI_EACH(wide, n, p, t[p] = from[p] + lags[p] > t[p] ? from[p] + lags[p] : t[p]);
	else
		WI_EACH(wide, n, p, t[p] = from[p] + lag > t[p] ? from[p] + lag : t[p]);
}

/* Raise times to others. */
WI_INLINE void
wi_raise_to(enum wi_wide wide, size_t n, const int64_t *restrict to, int64_t *restrict t)
{
	WI_EACH(wide, n, p, t[p] = to[p] > t[p] ? to[p] : t[p]);
}

/* Lower times to those that much after others, but not below the least. */
WI_INLINE void
wi_lower(enum wi_wide wide, size_t n, const int64_t *restrict from, int64_t lag, const int64_t *restrict least,
         int64_t *restrict t)
{
	WI_EACH(wide, n, p, {
		int64_t at = from[p] + lag;

		at = at > least[p] ? at : least[p];
		t[p] = at < t[p] ? at : t[p];
	});
}

#endif
