/* flame/frames.h -- the frames of a picture, as they are placed; private to lib/draw. */
#ifndef NSX_DRAW_FLAME_FRAMES_H
#define NSX_DRAW_FLAME_FRAMES_H

#include "draw/flame.h"
#include "draw/flame/kind.h"
#include "draw/flame/tree.h"

struct nsx_flame_frame {
	uint32_t node, depth;
	int64_t  offset;
	uint32_t row;      /* above the root */
	uint32_t run;      /* the number of frames that it represents in its row, including itself; 0: another frame
	                    * represents it */
	bool     joined;   /* in the row of its parent */
	bool     dim;
};

/* {0} is empty. */
struct nsx_flame_layout {
	NSX_VEC(struct nsx_flame_frame) frames;   /* the root first, each before those above it, from left to right */
	uint32_t       depth, rows;               /* frames and rows above the root */
	int64_t        runs, dims;                /* rows that represent several frames; frames that are dimmed */
	uint32_t       mark;                      /* the name of the frames that mark communication; NSX_NONE: none */
	int64_t        narrow;                    /* frames that are too narrow to be drawn */
	int64_t        narrow_sum;                /* the sum of these and all frames above them, each counted once */
	unsigned char *kinds;                     /* enum nsx_flame_kind, by node */
	int64_t        of_kind[NSX_FLAME_KINDS];  /* sums of the nodes' own values, without those of the nodes above
	                                           * them */
	int64_t        stacks;                    /* number of distinct ones in the new file */
	int64_t        gone, gone_sum;            /* stacks of the base alone, and their sum there */
};

#endif
