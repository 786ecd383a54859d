/* repeats.h -- removes runs of frames that are repeated immediately from stacks. */
#ifndef NSX_DRAW_FOLD_REPEATS_H
#define NSX_DRAW_FOLD_REPEATS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

enum { NSX_REPEATS_LEVELS = 32 };

/* {0} is empty; one can be used for any number of stacks. */
struct nsx_repeats {
	struct nsx_map    names;        /* of blocks of frames */
	NSX_VEC(uint32_t) last;         /* by name: its last end; NSX_NONE: none */
	struct nsx_repeats_level { NSX_VEC(uint32_t) name; NSX_VEC(uint32_t) before; } level[NSX_REPEATS_LEVELS];
	NSX_VEC(uint8_t)  levels;       /* by frame: blocks that end there */
	NSX_VEC(uint32_t) seen;         /* by frame number: the last stack with it */
	uint32_t          round;
};

/* Remove from *n frames (by number, outermost first) each run that repeats the run before it, as described in
 * repeats.c. False when out of memory. */
bool nsx_repeats_drop(struct nsx_repeats *r, uint32_t *frames, size_t *n);
void nsx_repeats_free(struct nsx_repeats *r);

#endif
