/* flame.h -- folded stacks as one picture: a self-contained SVG with zoom and search. */
#ifndef NSX_DRAW_FLAME_H
#define NSX_DRAW_FLAME_H

#include <regex.h>
#include <stdbool.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/outfile.h"

/* The unit of the numbers of the stacks. */
enum nsx_flame_unit { NSX_FLAME_NS, NSX_FLAME_COUNT, NSX_FLAME_BYTES };

/* The order of the frames above one frame, from left to right. */
enum nsx_flame_sort { NSX_FLAME_NAME, NSX_FLAME_SIZE };

/* {0} with min_share set is a valid initial value: any of the strings may be NULL. */
struct nsx_flame_options {
	const char *title;           /* "Flame graph" without it */
	const char *subtitle;
	const char *base;            /* folded stacks to compare with */
	double      min_share;       /* frames with less than this of the total are not drawn; 0 draws all */
	enum nsx_flame_unit unit;
	enum nsx_flame_sort sort;
	bool        icicle;          /* the root at the top */
	bool        collapse;        /* frames of one width on top of each other share a row; a click shows them */
	bool        plain;           /* names say nothing of the kind of work: one colour, no legend */
	const regex_t *dim;          /* frames whose name matches are paler; NULL: none */
	bool        dims_libraries;  /* frames of libraries are paler, and the picture says so; dim is NULL */
};

/* Read folded stacks (`frame;frame NUMBER` lines, in any order, compressed with zstd or not) from path, "-" for
 * standard input, and write the picture to out (which the caller commits). Memory grows with the number of distinct
 * stacks, not of lines. NSX_OK, or NSX_ERR with err filled. */
int nsx_flame(const char *path, const struct nsx_flame_options *options, struct nsx_outfile *out,
              struct nsx_diags *diags,
              struct nsx_err *err);

#endif
