/* arena.c -- memory that is freed all at once. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 4096, LARGEST = 1 << 20 };

struct nsx_arena_block {
	struct nsx_arena_block *next;
	size_t                  size;
	alignas(max_align_t) char data[];
};

void *
nsx_arena_alloc(struct nsx_arena *a, size_t n)
{
	const size_t align = alignof(max_align_t);

	if (n > SIZE_MAX / 2)
		return NULL;
	n = (n + align - 1) / align * align;
	if (!a->head || a->head->size - a->used < n) {
		size_t size = a->head ? a->head->size * 2 : FIRST;
		if (size > LARGEST)
			size = LARGEST;
		if (size < n)
			size = n;
		struct nsx_arena_block *b = malloc(sizeof *b + size);
		if (!b)
			return NULL;
		b->next = a->head;
		b->size = size;
		a->head = b;
		a->used = 0;
		a->total += size;
	}
	void *p = a->head->data + a->used;
	a->used += n;
	return p;
}

struct nsx_str
nsx_arena_str(struct nsx_arena *a, struct nsx_str s)
{
	char *p = nsx_arena_alloc(a, s.len + 1);

	if (!p)
		return (struct nsx_str){ NULL, 0 };
	if (s.len)
		memcpy(p, s.ptr, s.len);
	p[s.len] = '\0';
	return (struct nsx_str){ p, s.len };
}

void
nsx_arena_reset(struct nsx_arena *a)
{
	while (a->head && a->head->next) {
		struct nsx_arena_block *b = a->head->next;
		a->head->next = b->next;
		a->total -= b->size;
		free(b);
	}
	a->used = 0;
}

void
nsx_arena_free(struct nsx_arena *a)
{
	nsx_arena_reset(a);
	free(a->head);
	*a = (struct nsx_arena){ 0 };
}
