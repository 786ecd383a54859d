/* allocations.h -- the memory that a dump's buffer assignment reserves, by kind of memory. Private to lib/xla. */
#ifndef NSX_XLA_ALLOCATIONS_H
#define NSX_XLA_ALLOCATIONS_H

#include "base/map.h"
#include "base/vec.h"
#include "xla/heap_memory.h"
#include "xla/wire.h"

/* An allocation that is an argument, a result or a constant. span: its BufferAllocationProto. */
struct nsx_allocation { struct nsx_extent span; int64_t size, color; bool argument, output, constant; };

/* Sums by colour; {0} with `keep` set is empty. */
struct nsx_allocations {
	NSX_VEC(struct nsx_heap_memory) memory;
	struct nsx_map by_color;
	bool           keep;       /* keep those of `fixed` */
	NSX_VEC(struct nsx_allocation) fixed;
	int64_t        clashes;    /* fields skipped because of their wire type */
	int64_t        negative;   /* negative sizes, counted as 0 */
};

/* Add the BufferAllocationProto at span. NSX_OK, or NSX_ERR with f->err filled: damaged, sizes whose sum exceeds 2^61,
 * out of memory. */
int nsx_allocation_read(struct nsx_allocations *a, struct nsx_dumpfile *f, struct nsx_extent span);
/* Call `buffer` for each logical buffer that is assigned to the allocation, by its number, until it returns 1: NSX_OK,
 * or NSX_ERR with f->err filled. */
int nsx_allocation_buffers(struct nsx_dumpfile *f, struct nsx_extent span, int (*buffer)(void *state, int64_t id),
                           void *state);
/* Add the peak of a trace in that memory. Returns the same. */
int nsx_allocation_heap(struct nsx_allocations *a, struct nsx_dumpfile *f, int64_t color, int64_t peak);
/* Compute what follows from the sums, by colour. The caller frees *out. */
int nsx_allocations_close(struct nsx_allocations *a, struct nsx_dumpfile *f, struct nsx_heap_memory **out, size_t *n);
void nsx_allocations_free(struct nsx_allocations *a);

#endif
