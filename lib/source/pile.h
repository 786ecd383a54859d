/* pile.h -- memory for millions of rows. A pile is an array that only grows, in blocks that are
 * freed one by one as it is read. Appending never moves existing elements, and copying a pile to an array does not need
 * the memory twice. */
#ifndef NSX_SOURCE_PILE_H
#define NSX_SOURCE_PILE_H

#include <stddef.h>

struct nsx_pile_block { struct nsx_pile_block *next; size_t n, bytes; char *data; };

/* Elements of `size` bytes; { .size = sizeof(T) } is empty. */
struct nsx_pile { size_t size, n, room; struct nsx_pile_block *first, *last; };

/* Append a block, and return its first element; NULL when out of memory. */
void *nsx_pile_grow_(struct nsx_pile *p);

/* Append an element to be filled; NULL when out of memory. */
static inline void *
nsx_pile_add(struct nsx_pile *p)
{
	if (!p->room)
		return nsx_pile_grow_(p);
	p->room--;
	p->n++;
	return p->last->data + p->size * p->last->n++;
}

/* Free the first block. */
void nsx_pile_drop(struct nsx_pile *p);
void nsx_pile_free(struct nsx_pile *p);

/* malloc for n (and a little more) elements that will all be used: requests large pages. Freed with free(). */
void *nsx_big_alloc(size_t n, size_t size);

#endif
