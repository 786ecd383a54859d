/* heap.h -- what a dump's buffer assignment says of heap memory: its use in program order, the peak, what is alive
 * then. */
#ifndef NSX_XLA_HEAP_H
#define NSX_XLA_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/err.h"
#include "xla/heap_memory.h"
#include "xla/hlo.h"

/* From event number `step` on, counted from 1, so much is in use; step 0: before the first. */
struct nsx_heap_point { int64_t step, bytes; };

/* A buffer and where it comes from; strings are empty when that is not known. */
struct nsx_heap_live {
	int64_t        buffer;        /* its number in the dump */
	int64_t        size;          /* bytes */
	struct nsx_str instruction;   /* that defines it */
	struct nsx_str op_name;
	struct nsx_str stack;         /* as in nsx_hlo.stacks */
};

/* What an instruction that allocates does to the bytes in use: a FREE of a trace does not tell when it comes, beyond
 * that it is before the next instruction that allocates. */
struct nsx_heap_step {
	struct nsx_str instruction;
	int64_t        at;            /* the most while it allocates */
	int64_t        after;         /* with what is freed from there to the next step */
};

/* One simulation of a heap. */
struct nsx_heap_trace {
	struct nsx_heap_point *points;  size_t npoints;   /* the first is 0 bytes at step 0; then one for each change */
	int64_t                peak;                      /* the most bytes, at the step that reached them first */
	int64_t                color;                     /* which memory: that of the first buffer met */
	struct nsx_heap_live  *live;    size_t nlive;     /* what is alive there, largest first, equal ones by number;
	                                                   * NULL unless asked for */
	struct nsx_heap_step  *steps; size_t nsteps;     /* in program order; NULL unless asked for */
};

/* One dump; everything is owned by it. */
struct nsx_heap {
	struct nsx_str         name;      /* of the module */
	int64_t                id;        /* HloModuleProto.id */
	struct nsx_heap_trace *traces;
	size_t                 ntraces;   /* 0: the program needs no heap, or the dump does not tell */
	struct nsx_heap_memory *memory;
	size_t                 nmemory;   /* memories that have an allocation or a trace, by colour */
	struct nsx_hlo         hlo;       /* {0} unless live buffers or steps were asked for, or if there is no trace */
	struct nsx_arena       arena;
};

enum nsx_heap_more { NSX_HEAP_LIVE = 1, NSX_HEAP_STEPS = 2 };

/* Read the dump at path (.hlo.pb, or .xz or .zst of one: told by first bytes); `more`, of nsx_heap_more: what is alive
 * at each peak, steps. What does not fit together is counted in diags (source: the module's name). NSX_OK, or NSX_ERR
 * with err filled and *h as after nsx_heap_free: not a dump, damaged, cut short, sizes whose sum does not fit in 63
 * bits. */
int nsx_heap_read(const char *path, unsigned more, struct nsx_heap *h, struct nsx_diags *diags, struct nsx_err *err);

/* The same of n bytes at p; name is for messages. */
int nsx_heap_memory(const void *p, size_t n, const char *name, unsigned more, struct nsx_heap *h,
                    struct nsx_diags *diags,
                    struct nsx_err *err);

void nsx_heap_free(struct nsx_heap *h);   /* back to {0} */

#endif
