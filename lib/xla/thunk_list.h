/* thunk_list.h -- the list of thunks that XLA writes beside a dump: what it runs, in order, and what lies in what. */
#ifndef NSX_XLA_THUNK_LIST_H
#define NSX_XLA_THUNK_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "base/str.h"

/* What of the GPU a thunk asks for. */
enum nsx_thunk_work {
	NSX_WORK_NONE,         /* nothing, or what is in it */
	NSX_WORK_KERNEL,       /* a kernel of XLA's own, whose name is known */
	NSX_WORK_COLLECTIVE,
	NSX_WORK_COPY,
	NSX_WORK_SET,          /* a memset */
	NSX_WORK_LIBRARY       /* kernels of others: cuBLAS, cuDNN, top-k, custom calls */
};

struct nsx_thunk {
	struct nsx_str      name;          /* of its instruction; a command buffer's own. Empty: not told */
	struct nsx_str      kind;          /* kCustomKernel, kWhile, ... */
	struct nsx_str      kernel;        /* of NSX_WORK_KERNEL; empty otherwise */
	enum nsx_thunk_work work;
	uint32_t            parent;        /* the thunk that it lies in; NSX_NONE: none */
	uint32_t            end;           /* thunks up to here lie in it */
	uint32_t            first, last;   /* its leaves: in nsx_thunk_list.leaves, up to last */
	bool                condition;     /* of the loop that it lies in */
};

/* Everything is owned by it. */
struct nsx_thunk_list {
	struct nsx_thunk *thunks; uint32_t n;
	struct nsx_intern buffers;                    /* names of command buffers */
	uint32_t         *buffer;                     /* by number in it: thunk, NSX_NONE: several have the name */
	uint32_t         *leaves; uint32_t nleaves;   /* thunks with work of their own, in the order that nodes of
	                                               * graphs have: a loop's condition behind its body */
	struct nsx_arena  arena;
	bool              trouble;   /* it could not be read for want of memory, or the system failed: it may well be
	                              * sound */
};

/* Read `*.thunk_sequence_after_thunk_passes.txt` (what lies in what) with `*.thunk_metadata.pb` (names), .xz and .zst
 * told by their first bytes. NSX_OK, or NSX_ERR with err filled and *l as after nsx_thunk_list_free, but for trouble:
 * not such a list, damaged, nested too deep, or the two do not fit each other. */
int nsx_thunk_list_read(const char *text, const char *metadata, struct nsx_thunk_list *l, struct nsx_err *err);

/* The same over bytes in memory; name is what errors say. */
int nsx_thunk_list_memory(const void *text, size_t ntext, const void *metadata, size_t nmetadata, const char *name,
                          struct nsx_thunk_list *l, struct nsx_err *err);

/* The command buffer of that name; NSX_NONE: there is none, or several. */
uint32_t nsx_thunk_list_buffer(const struct nsx_thunk_list *l, struct nsx_str name);

void nsx_thunk_list_free(struct nsx_thunk_list *l);   /* back to {0} */

#endif
