/* sort.h -- sorting by integer keys, and with a context; searching what is sorted. */
#ifndef NSX_BASE_SORT_H
#define NSX_BASE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As of strcmp: by value. */
static inline int nsx_int_cmp(int64_t a, int64_t b) { return (a > b) - (a < b); }

/* The same of any numbers of one type, of which each is evaluated twice; and by the first of several orders by which
 * two elements differ, all of which are evaluated. NSX_CMP(b, a) is the largest first:
 *
 *   return NSX_FIRST(NSX_CMP(a->device, b->device), NSX_CMP(b->time, a->time), nsx_str_cmp(a->name, b->name)); */
#define NSX_CMP(a, b) (((a) > (b)) - ((a) < (b)))
#define NSX_FIRST(...) nsx_first_of((const int[]){ __VA_ARGS__ }, sizeof (const int[]){ __VA_ARGS__ } / sizeof(int))
static inline int
nsx_first_of(const int *orders, size_t n)
{
	size_t i = 0;

	while (i + 1 < n && orders[i] == 0)
		i++;
	return orders[i];
}

/* A function for qsort and nsx_sort of elements of that type, from orders of two of them, a and b: the first by which
 * they differ decides, and those behind it are not evaluated. Eight orders at most. NSX_ORDER_PTR: the elements are
 * pointers to that type.
 *
 *   NSX_ORDER(by_time, struct row, NSX_CMP(b->time, a->time), nsx_str_cmp(a->name, b->name)) */
#define NSX_ORDER(name, type, ...)     NSX_ORDER_(name, type, pa_, pb_, __VA_ARGS__)
#define NSX_ORDER_PTR(name, type, ...) \
	NSX_ORDER_(name, type, *(const type *const *)pa_, *(const type *const *)pb_, __VA_ARGS__)
#define NSX_ORDER_(name, type, of_a, of_b, ...) \
	static int \
	name(const void *pa_, const void *pb_) \
	{ \
		const type *a = of_a, *b = of_b; \
		int c_; \
		\
		(void)(NSX_DIFFER_(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0)(__VA_ARGS__)); \
		return c_; \
	}
#define NSX_DIFFER_(x1, x2, x3, x4, x5, x6, x7, x8, n, ...) NSX_DIFFER_##n##_
#define NSX_DIFFER_1_(x)      ((c_ = (x)) != 0)
#define NSX_DIFFER_2_(x, ...) (NSX_DIFFER_1_(x) || NSX_DIFFER_1_(__VA_ARGS__))
#define NSX_DIFFER_3_(x, ...) (NSX_DIFFER_1_(x) || NSX_DIFFER_2_(__VA_ARGS__))
#define NSX_DIFFER_4_(x, ...) (NSX_DIFFER_1_(x) || NSX_DIFFER_3_(__VA_ARGS__))
#define NSX_DIFFER_5_(x, ...) (NSX_DIFFER_1_(x) || NSX_DIFFER_4_(__VA_ARGS__))
#define NSX_DIFFER_6_(x, ...) (NSX_DIFFER_1_(x) || NSX_DIFFER_5_(__VA_ARGS__))
#define NSX_DIFFER_7_(x, ...) (NSX_DIFFER_1_(x) || NSX_DIFFER_6_(__VA_ARGS__))
#define NSX_DIFFER_8_(x, ...) (NSX_DIFFER_1_(x) || NSX_DIFFER_7_(__VA_ARGS__))

/* For qsort and bsearch of int64_t, and of double: by value. */
int nsx_sort_by_int(const void *a, const void *b);
int nsx_sort_by_double(const void *a, const void *b);

/* Sort n values and keep each once: their number. */
size_t nsx_sort_unique(int64_t *v, size_t n);

/* The k-th smallest of n > k values, from 0, which are put into another order: before place k are none that are larger,
 * behind it none that are smaller. O(n). */
int64_t nsx_sort_nth(int64_t *v, size_t n, size_t k);

/* Sort by k[0], then k[1], k[2], then i: a total order when the i differ. O(n) for many. */
struct nsx_sort_key { int64_t k[3]; uint32_t i; };
void nsx_sort_keys(struct nsx_sort_key *keys, size_t n);

/* Put the n elements of `size` bytes (96 at most) into the order of their sorted keys: element keys[i].i becomes
 * element i. In place, O(n); the i of the keys are a permutation, and become 0, 1, ... */
void nsx_sort_apply(void *elements, size_t size, struct nsx_sort_key *keys, size_t n);

/* Sort n elements of `size` bytes (96 at most) by the key that `key` sets of each, which is zeros before; equal ones
 * keep their order. False when out of memory, the elements unchanged. p may be NULL if n is 0. */
typedef void nsx_sort_key_of(const void *element, const void *context, int64_t key[3]);
bool nsx_sort_by(void *p, size_t n, size_t size, nsx_sort_key_of *key, const void *context);
/* Such a function for elements of that type, which needs no context: up to three keys of an element a. */
#define NSX_SORT_KEYS(name, type, ...) \
	static void \
	name(const void *pa_, const void *context_, int64_t key_[3]) \
	{ \
		const type *a = pa_; \
		const int64_t of_[] = { __VA_ARGS__ }; \
		\
		(void)context_; \
		for (size_t i_ = 0; i_ < sizeof of_ / sizeof *of_; i_++) \
			key_[i_] = of_[i_]; \
	}

/* Sort elements by start only; equal ones keep their order. O(n); needs a second array of the same size while it runs.
 * False when out of memory, the array unchanged. */
struct nsx_sort_start { int64_t start; uint32_t i, tag; };
bool nsx_sort_starts(struct nsx_sort_start *a, size_t n);

/* The index of the first of n elements of `size` bytes, sorted by the int64_t at `offset` in each, whose value is x or
 * more; n: none has one. elements may be NULL if n is 0. */
size_t nsx_sort_first(const void *elements, size_t n, size_t size, size_t offset, int64_t x);

/* Set i to the first of from, ..., to - 1 for which the condition on i holds, as it does for all behind that one; to
 * `to` if it holds for none; to `from` if that is above `to`. */
#define NSX_BISECT(i, from, to, holds) \
	do { \
		size_t lo_ = (from), hi_ = (to); \
		while (lo_ < hi_) { \
			(i) = lo_ + (hi_ - lo_) / 2; \
			if (holds) \
				hi_ = (i); \
			else \
				lo_ = (i) + 1; \
		} \
		(i) = lo_; \
	} while (0)

/* qsort of n elements; n may be 0, and p then NULL. */
#define nsx_sort(p, n, compare) nsx_sort_elements(p, n, sizeof *(p), compare)
void nsx_sort_elements(void *p, size_t n, size_t size, int (*compare)(const void *a, const void *b));

/* qsort with a context, which is passed to each call of `compare`. n may be 0, and p then NULL. */
typedef int nsx_sort_compare(const void *a, const void *b, const void *context);
void nsx_sort_with(void *p, size_t n, size_t size, nsx_sort_compare *compare, const void *context);

#endif
