/* pile.h -- memory for millions of rows; private to lib/nsys.
 * A pile is an array that only grows, kept in blocks that are given back one by one as it is read. Appending never
 * moves what is there, and copying a pile elsewhere needs no second pile's worth of memory. */
#ifndef NSX_NSYS_PILE_H
#define NSX_NSYS_PILE_H

#include <stddef.h>

struct nsx_pile_block { struct nsx_pile_block *next; size_t n, bytes; char *data; };

/* Elements of `size` bytes; { .size = sizeof(T) } is empty. */
struct nsx_pile { size_t size, n, room; struct nsx_pile_block *first, *last; };

/* A block more at the end, and its first element; NULL when out of memory. */
void *nsx_pile_grow_(struct nsx_pile *p);

/* Room for one more element, counted; NULL when out of memory. */
static inline void *
nsx_pile_add(struct nsx_pile *p)
{
	if (!p->room)
		return nsx_pile_grow_(p);
	p->room--;
	p->n++;
	return p->last->data + p->size * p->last->n++;
}

/* Give back the first block. */
void nsx_pile_drop(struct nsx_pile *p);
void nsx_pile_free(struct nsx_pile *p);

/* malloc for n (and a little more) elements that will all be used: asks the system for large pages. free() ends it. */
void *nsx_big_alloc(size_t n, size_t size);

#endif
