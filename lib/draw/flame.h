/* flame.h -- folded stacks as one picture: an SVG that needs nothing else, to zoom and search in. */
#ifndef NSX_DRAW_FLAME_H
#define NSX_DRAW_FLAME_H

#include <regex.h>
#include <stdbool.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/outfile.h"

/* What the numbers of the stacks count. */
enum nsx_flame_unit { NSX_FLAME_NS, NSX_FLAME_COUNT, NSX_FLAME_BYTES };

/* Frames of libraries, as an extended regular expression: what usually is to be dimmed. */
#define NSX_FLAME_DIM \
	"(^|/)((site|dist)-packages|lib/python[0-9.]+|absl|flax|haiku|jax|jaxlib|optax|paxml|praxis|torch)/" \
	".*\\.pyx?:[0-9]"

/* How the frames above one frame stand, from left to right. */
enum nsx_flame_sort { NSX_FLAME_NAME, NSX_FLAME_SIZE };

/* {0} but for min_share is a good start: any of the strings may be NULL. */
struct nsx_flame_options {
	const char *title;           /* "Flame graph" without it */
	const char *subtitle;
	const char *base;            /* folded stacks to compare with */
	double      min_share;       /* frames with less than this of the total are not drawn; 0 draws all */
	enum nsx_flame_unit unit;
	enum nsx_flame_sort sort;
	bool        icicle;          /* the root on top */
	bool        collapse;        /* frames of one width on each other in one row; a click shows them */
	const regex_t *dim;          /* frames whose name matches are paler; NULL: none */
	bool        dims_libraries;  /* these are NSX_FLAME_DIM, and the picture says so */
};

/* Read folded stacks (`frame;frame NUMBER` lines, in any order, compressed with zstd or not) from path, "-" for
 * standard input, and write the picture to out (committing it is the caller's). Memory grows with the distinct stacks,
 * not with the lines. NSX_OK, or NSX_ERR with err filled. */
int nsx_flame(const char *path, const struct nsx_flame_options *options, struct nsx_outfile *out,
              struct nsx_diags *diags,
              struct nsx_err *err);

#endif
