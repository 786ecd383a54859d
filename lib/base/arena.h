/* arena.h -- memory that is freed all at once. {0} is empty. */
#ifndef NSX_BASE_ARENA_H
#define NSX_BASE_ARENA_H

#include <stddef.h>

#include "base/str.h"

NSX_BEGIN_C

struct nsx_arena { struct nsx_arena_block *head; size_t used, total; };

/* n bytes, aligned for any type, not cleared; NULL when out of memory. They live until reset or free. */
void *nsx_arena_alloc(struct nsx_arena *a, size_t n);

/* A copy of s in the arena (NUL after its end); ptr is NULL when out of memory. */
struct nsx_str nsx_arena_str(struct nsx_arena *a, struct nsx_str s);

void nsx_arena_reset(struct nsx_arena *a);   /* forget everything, keep one block */
void nsx_arena_free(struct nsx_arena *a);    /* back to {0} */

NSX_END_C

#endif
