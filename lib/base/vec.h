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

/* pp is the address of the element pointer. */
bool nsx_vec_grow_(void *pp, size_t size, size_t *cap, size_t n, size_t more);

NSX_END_C

#endif
