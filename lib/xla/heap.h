/* heap.h -- heap memory according to a dump's buffer assignment: its use in program order, the peak, the live buffers
 * at the peak. */
#ifndef NSX_XLA_HEAP_H
#define NSX_XLA_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/err.h"
#include "xla/heap_memory.h"
#include "xla/hlo.h"

/* A buffer and its origin; strings are empty if unknown. */
struct nsx_heap_live {
	int64_t        buffer;        /* its number in the dump */
	int64_t        size;          /* bytes */
	struct nsx_str instruction;   /* that defines it */
	struct nsx_str op_name;
	struct nsx_str stack;         /* as in nsx_hlo.stacks */
};

/* One simulation of a heap. */
struct nsx_heap_trace {
	struct nsx_heap_point *points;  size_t npoints;   /* the first is 0 bytes at step 0; then one for each change */
	int64_t                peak;                      /* the maximum of bytes, at the step that reached it first */
	int64_t                color;                     /* the memory space: that of the first buffer used */
	struct nsx_heap_live  *live;    size_t nlive;     /* live buffers at the peak, largest first, equal ones by
	                                                   * number; NULL unless requested */
	struct nsx_heap_step  *steps; size_t nsteps;     /* in program order; NULL unless requested */
};

/* Memory that is reserved for the whole run: an argument, a result, a constant, or an argument whose memory the result
 * reuses. */
struct nsx_heap_fixed { struct nsx_heap_live live; int64_t color; bool argument, output, constant; };

/* One dump; everything is owned by it. */
struct nsx_heap {
	struct nsx_str         name;      /* of the module */
	int64_t                id;        /* HloModuleProto.id */
	struct nsx_heap_trace *traces;
	size_t                 ntraces;   /* 0: the program needs no heap, or the dump has no traces */
	struct nsx_heap_memory *memory;
	size_t                 nmemory;   /* memories that have an allocation or a trace, by colour */
	struct nsx_heap_fixed *fixed;     /* largest first; NULL unless requested */
	size_t                 nfixed;
	struct nsx_hlo         hlo;       /* {0} unless live buffers or steps were requested, or if there is no trace */
	struct nsx_arena       arena;
};

enum nsx_heap_more { NSX_HEAP_LIVE = 1, NSX_HEAP_STEPS = 2, NSX_HEAP_FIXED = 4 };

/* Read the dump at path (.hlo.pb, or .xz or .zst of one, recognised by the first bytes); `more`, of nsx_heap_more: live
 * buffers at each peak, steps, what is reserved for the whole run. Inconsistencies are counted in diags (source: the
 * module's name). NSX_OK, or NSX_ERR with err filled and *h as after nsx_heap_free: not a dump, damaged, truncated,
 * sizes whose sum does not fit in 63 bits. */
int nsx_heap_read(const char *path, unsigned more, struct nsx_heap *h, struct nsx_diags *diags, struct nsx_err *err);

/* The same of n bytes at p; name is for messages. */
int nsx_heap_memory(const void *p, size_t n, const char *name, unsigned more, struct nsx_heap *h,
                    struct nsx_diags *diags,
                    struct nsx_err *err);

void nsx_heap_free(struct nsx_heap *h);   /* back to {0} */

#endif
