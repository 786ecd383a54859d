/* flame/pool.h -- stacks as sequences of frame numbers, from which the tree is built at the end; private to
 * lib/draw. */
#ifndef NSX_DRAW_FLAME_POOL_H
#define NSX_DRAW_FLAME_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/* A stack in the pool, and the number of one of its frames plus 1, 0 after the last, while stacks are sorted by it. */
struct nsx_flame_item { uint32_t key, at; };

/* {0} is empty. */
struct nsx_flame_pool {
	NSX_VEC(uint32_t)              words;    /* stacks one after the other, in the form described in pool.c */
	NSX_VEC(struct nsx_flame_item) items;    /* all stacks */
	struct nsx_flame_recent { uint32_t hash, at; } *recent;   /* by hash: a recent stack with that hash */
	size_t                         limit;    /* words at which equal stacks are merged; 0: the default in pool.c */
};

/* Add n > 0 of file number `file` (0 or 1) to the stack of `frames` frames with these names, the one next to the root
 * first. False when out of memory, or if there are more than 2^32 words. */
bool nsx_flame_pool_add(struct nsx_flame_pool *p, const uint32_t *names, size_t frames, int file, int64_t n);

/* Receives the stacks as a tree: child() adds a node for a frame below another, the root being node 0, and returns its
 * number, UINT32_MAX for failure; a parent comes before its children, a frame once. give() adds n of a file to a
 * node. */
struct nsx_flame_planter {
	uint32_t (*child)(void *state, uint32_t parent, uint32_t name);
	void (*give)(void *state, uint32_t node, int file, int64_t n);
	void *state;
};

/* Pass all stacks on. Afterwards the pool can only be freed. False when out of memory or child() failed. */
bool nsx_flame_pool_plant(struct nsx_flame_pool *p, const struct nsx_flame_planter *to);

void nsx_flame_pool_free(struct nsx_flame_pool *p);

#endif
