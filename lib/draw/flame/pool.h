/* flame/pool.h -- stacks as numbers of their frames, to be made a tree all at once; private to lib/draw. */
#ifndef NSX_DRAW_FLAME_POOL_H
#define NSX_DRAW_FLAME_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/* A stack in the pool, and the number of one of its frames plus 1, 0 behind the last, while stacks are sorted by it.
 */
struct nsx_flame_item { uint32_t key, at; };

/* {0} is empty. */
struct nsx_flame_pool {
	NSX_VEC(uint32_t)              words;    /* stacks one after the other, as pool.c says */
	NSX_VEC(struct nsx_flame_item) items;    /* all stacks */
	struct nsx_flame_recent { uint32_t hash, at; } *recent;   /* by hash: a stack of late that has it */
	size_t                         limit;    /* words at which equal stacks are added up; 0: what pool.c takes */
};

/* Give n > 0 of file number `file` (0 or 1) to the stack of `frames` frames of these names, the one next to the root
 * first. False when out of memory, or when there are more than 2^32 words. */
bool nsx_flame_pool_add(struct nsx_flame_pool *p, const uint32_t *names, size_t frames, int file, int64_t n);

/* What gets the stacks as a tree: child() makes a node of a frame below another, the root being node 0, and returns its
 * number, UINT32_MAX for failure; a parent comes before its children, a frame once. give() gives n of a file to a node.
 */
struct nsx_flame_planter {
	uint32_t (*child)(void *state, uint32_t parent, uint32_t name);
	void (*give)(void *state, uint32_t node, int file, int64_t n);
	void *state;
};

/* Hand all stacks over. The pool can only be freed then. False when out of memory or child() failed. */
bool nsx_flame_pool_plant(struct nsx_flame_pool *p, const struct nsx_flame_planter *to);

void nsx_flame_pool_free(struct nsx_flame_pool *p);

#endif
