/* vec.h -- growing arrays of any type. {0} is empty; free(v.p) ends one. */
#ifndef NSX_BASE_VEC_H
#define NSX_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

NSX_BEGIN_C

#define NSX_VEC(...) struct { __VA_ARGS__ *p; size_t n, cap; }   /* a type with commas is one type too */

/* Reserve memory for k more elements; false when out of memory, the vector unchanged. */
#define nsx_vec_room(v, k) \
	((v)->cap - (v)->n >= (size_t)(k) || nsx_vec_grow_(&(v)->p, sizeof *(v)->p, &(v)->cap, (v)->n, (size_t)(k)))

/* Append the value x; false when out of memory, the vector unchanged. */
#define nsx_vec_push(v, x) (nsx_vec_room(v, 1) && ((v)->p[(v)->n++] = (x), true))

/* Whether there is an element number `at`, once x is appended if that number is the next: of a key that nsx_map_number
 * numbers, the key's element. False when out of memory, also if `at` is NSX_NONE for that reason. */
#define nsx_vec_next(v, at, x) ((at) < (v)->n || ((at) == (v)->n && nsx_vec_push(v, x)))

/* Append the value that is pointed to (NULL: all 0) until there is an element number `at`; false when out of memory,
 * the vector unchanged. */
#define nsx_vec_reach(v, at, ...) \
	((v)->n > (size_t)(at) || (nsx_vec_room(v, (size_t)(at) + 1 - (v)->n) \
	                           && nsx_vec_fill_((v)->p, sizeof *(v)->p, &(v)->n, (size_t)(at) + 1, \
	                                            1 ? (__VA_ARGS__) : (v)->p)))

/* Remove the first *head elements, which are used up, once they are many and most of them: *head is then 0. */
#define nsx_vec_pass(v, head) nsx_vec_pass_((v)->p, sizeof *(v)->p, &(v)->n, head)
void nsx_vec_pass_(void *p, size_t size, size_t *n, size_t *head);

/* Elements up to n. */
bool nsx_vec_fill_(void *p, size_t size, size_t *have, size_t n, const void *x);

/* pp is the address of the element pointer. */
bool nsx_vec_grow_(void *pp, size_t size, size_t *cap, size_t n, size_t more);

NSX_END_C

#endif
