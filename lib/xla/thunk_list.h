/* thunk_list.h -- the list of thunks that XLA writes with a dump: what it runs, in order, and how thunks are nested. */
#ifndef NSX_XLA_THUNK_LIST_H
#define NSX_XLA_THUNK_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "base/str.h"

/* The GPU work of a thunk. */
enum nsx_thunk_work {
	NSX_WORK_NONE,         /* none of its own */
	NSX_WORK_KERNEL,       /* a kernel of XLA's own, whose name is known */
	NSX_WORK_COLLECTIVE,
	NSX_WORK_COPY,
	NSX_WORK_SET,          /* a memset */
	NSX_WORK_LIBRARY       /* kernels of libraries: cuBLAS, cuDNN, top-k, custom calls */
};

struct nsx_thunk {
	struct nsx_str      name;          /* of its instruction; a command buffer's own. Empty: not recorded */
	struct nsx_str      kind;          /* kCustomKernel, kWhile, ... */
	struct nsx_str      kernel;        /* of NSX_WORK_KERNEL; empty otherwise */
	enum nsx_thunk_work work;
	uint32_t            parent;        /* the thunk that contains it; NSX_NONE: none */
	uint32_t            end;           /* the thunks up to here are inside it */
	uint32_t            first, last;   /* its leaves: in nsx_thunk_list.leaves, up to last */
	bool                condition;     /* it belongs to the condition of the loop around it */
};

/* It owns all of its contents. */
struct nsx_thunk_list {
	struct nsx_thunk *thunks; uint32_t n;
	struct nsx_intern buffers;                    /* names of command buffers */
	uint32_t         *buffer;                     /* by number in it: thunk, NSX_NONE: several have the name */
	uint32_t         *leaves; uint32_t nleaves;   /* thunks with work of their own, in the order of the nodes of
	                                               * graphs: a loop's condition after its body */
	struct nsx_arena  arena;
	bool              trouble;   /* it could not be read for lack of memory, or because of a system error: the list
	                              * itself may be valid */
};

/* Read `*.thunk_sequence_after_thunk_passes.txt` (nesting) with `*.thunk_metadata.pb` (names), .xz and .zst recognised
 * by their first bytes. NSX_OK, or NSX_ERR with err filled and *l as after nsx_thunk_list_free, but for trouble: not
 * such a list, damaged, nested too deep, or the two do not match. */
int nsx_thunk_list_read(const char *text, const char *metadata, struct nsx_thunk_list *l, struct nsx_err *err);

/* The same for bytes in memory; name is used in errors. */
int nsx_thunk_list_memory(const void *text, size_t ntext, const void *metadata, size_t nmetadata, const char *name,
                          struct nsx_thunk_list *l, struct nsx_err *err);

/* The command buffer of that name; NSX_NONE: there is none, or several. */
uint32_t nsx_thunk_list_buffer(const struct nsx_thunk_list *l, struct nsx_str name);

void nsx_thunk_list_free(struct nsx_thunk_list *l);   /* back to {0} */

#endif
