/* flame/tree.h -- stacks as a tree of frames with sums; private to lib/report. */
#ifndef NSX_DRAW_FLAME_TREE_H
#define NSX_DRAW_FLAME_TREE_H

#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "draw/flame/pool.h"

/* The two files of a comparison. */
enum { NSX_FLAME_NEW, NSX_FLAME_BASE, NSX_FLAME_FILES };

/* One frame below another. `total` is that of the frame and all above it. */
struct nsx_flame_node {
	uint32_t parent, name;
	int64_t  self[NSX_FLAME_FILES], total[NSX_FLAME_FILES];
};

/* {0} is empty; the first node, which is created with the first stack, is the root: it has no name. A parent comes
 * before its children. */
struct nsx_flame_tree {
	struct nsx_intern names;
	NSX_VEC(struct nsx_flame_node) nodes;
	struct nsx_flame_pool pool;                  /* the stacks, until the tree is built */
	int64_t           total[NSX_FLAME_FILES];
	int64_t           lines[NSX_FLAME_FILES];    /* lines that are stacks */
};

/* Add the stacks of path ("-": standard input). A line that is not a stack, or a sum that does not fit 64 bits, is an
 * error: NSX_OK or NSX_ERR. */
int nsx_flame_read(struct nsx_flame_tree *t, const char *path, int file, struct nsx_err *err);

/* Build the tree with totals, after all files were read. False when out of memory. */
bool nsx_flame_sum(struct nsx_flame_tree *t);

void nsx_flame_tree_free(struct nsx_flame_tree *t);

#endif
