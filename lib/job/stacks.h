/* stacks.h -- folded stacks: a tree of frames with times on its nodes, rounded so that sums stay exact. */
#ifndef NSX_JOB_STACKS_H
#define NSX_JOB_STACKS_H

#include "base/err.h"
#include "base/map.h"
#include "base/num.h"
#include "base/outfile.h"
#include "base/vec.h"

/* A share of a node's time: sum / n nanoseconds. */
struct nsx_stacks_share { uint32_t node, n; nsx_u128 sum; };
struct nsx_stacks_node { uint32_t parent, frame; nsx_u128 time; };

/* {0} is empty. A stack is a node, its frames the path there from the root; equal stacks are one node. */
struct nsx_stacks {
	struct nsx_intern frames;
	uint32_t          recall[NSX_RECALL];    /* for frames, most of which occur very often */
	NSX_VEC(struct nsx_stacks_node) nodes;
	struct nsx_map    children;              /* (parent, frame) -> node */
	NSX_VEC(struct nsx_stacks_share) shares; /* n > 1 */
	struct nsx_map    share_of;              /* (node, n) -> shares */
	nsx_u128          total;
	struct nsx_buf    clean;
};

enum { NSX_STACKS_ROOT = 0 };

/* A frame's number; in its text ';' becomes ',' and characters that control a terminal become spaces. NSX_NONE when out
 * of memory. */
uint32_t nsx_stacks_frame(struct nsx_stacks *s, struct nsx_str text);

/* The stack with one more frame, NSX_NONE when out of memory; by the frame's number or by its text. */
uint32_t nsx_stacks_child(struct nsx_stacks *s, uint32_t parent, uint32_t frame);
uint32_t nsx_stacks_push(struct nsx_stacks *s, uint32_t parent, struct nsx_str text);

/* The stack with the frames of `text`, which are separated by `separator`. */
uint32_t nsx_stacks_path(struct nsx_stacks *s, uint32_t parent, struct nsx_str text, char separator);

/* The frames of a stack, innermost first, to chain: as many as fit in `most`. Returns how many; *skipped: how many more
 * there are. */
size_t nsx_stacks_chain(const struct nsx_stacks *s, uint32_t node, uint32_t *chain, size_t most, size_t *skipped);

/* Add `time` ns to a stack, or to n stacks in equal shares (a stack that occurs twice among them gets two). False when
 * out of memory. */
bool nsx_stacks_add(struct nsx_stacks *s, uint32_t node, nsx_u128 time);
bool nsx_stacks_split(struct nsx_stacks *s, const uint32_t *nodes, uint32_t n, nsx_u128 time);

/* Write lines `frame;frame NANOSECONDS`, sorted bytewise by stack, none for 0. Each stack's exact time is rounded down,
 * and the nanoseconds missing to the total are added, 1 ns each, to the stacks with the largest fractions (equal ones
 * bytewise by stack). Nothing can be added afterwards. For example, 10 ns shared by a, b, c: 3 1/3 ns each, printed as
 * a 4, b 3, c 3. */
int nsx_stacks_print(struct nsx_stacks *s, struct nsx_outfile *out, struct nsx_err *err);

void nsx_stacks_free(struct nsx_stacks *s);

#endif
