/* pile.c -- see pile.h. Blocks are allocated from the operating system and returned to it directly: malloc would keep
 * them. Large pages save most of the time in which the system provides memory, a considerable share of the total for a
 * big export. */
#define _DEFAULT_SOURCE   /* MAP_ANONYMOUS, madvise */
#include "source/pile.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { FIRST_BLOCK = 1 << 18, BLOCK = 1 << 21, LARGE_PAGE = 1 << 21 };

static void
want_large_pages(void *p, size_t bytes)
{
#ifdef MADV_HUGEPAGE
	madvise(p, bytes, MADV_HUGEPAGE);   /* a hint: failure does no harm */
#else
	(void)p, (void)bytes;
#endif
}

static char *
map(size_t bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* BLOCK bytes, aligned so that a large page can be used. */
static char *
map_block(void)
{
	char *p = map(BLOCK + LARGE_PAGE);

	if (!p)
		return NULL;
	size_t head = (size_t)(-(uintptr_t)p & (LARGE_PAGE - 1));
	if (head)
		munmap(p, head);
	if (head < LARGE_PAGE)
		munmap(p + head + BLOCK, LARGE_PAGE - head);
	want_large_pages(p + head, BLOCK);
	return p + head;
}

void *
nsx_pile_grow_(struct nsx_pile *p)
{
	struct nsx_pile_block *b = calloc(1, sizeof *b);

	if (!b)
		return NULL;
	b->bytes = p->first ? BLOCK : FIRST_BLOCK;
	b->data = p->first ? map_block() : map(b->bytes);
	if (!b->data) {
		free(b);
		return NULL;
	}
	if (p->last)
		p->last->next = b;
	else
		p->first = b;
	p->last = b;
	p->room = b->bytes / p->size - 1;
	p->n++;
	b->n = 1;
	return b->data;
}

void
nsx_pile_drop(struct nsx_pile *p)
{
	struct nsx_pile_block *b = p->first;

	p->first = b->next;
	if (!p->first) {
		p->last = NULL;
		p->room = 0;
	}
	p->n -= b->n;
	munmap(b->data, b->bytes);
	free(b);
}

void
nsx_pile_free(struct nsx_pile *p)
{
	while (p->first)
		nsx_pile_drop(p);
}

void *
nsx_big_alloc(size_t n, size_t size)
{
	void *p;

	if (n >= SIZE_MAX / size - 1)
		return NULL;
	size_t bytes = (n + 1) * size;
	if (bytes < 2 * (size_t)LARGE_PAGE)
		return malloc(bytes);
	if (posix_memalign(&p, LARGE_PAGE, bytes) != 0)
		return NULL;
	/* Whole pages only, so that the last one needs no more memory than is used of it. */
	want_large_pages(p, bytes & ~(size_t)(LARGE_PAGE - 1));
	return p;
}
