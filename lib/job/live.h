/* live.h -- which memory is allocated at each time, from the records of kind memory in the order of a stream.
 *
 * An address is of a context of a process. What is freed without an allocation in the stream was allocated before: how
 * much that was is not known, and nothing is subtracted. An allocation at an address that is still allocated says that
 * its free was not recorded: the earlier one has ended. */
#ifndef NSX_JOB_LIVE_H
#define NSX_JOB_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "stream/kinds.h"
#include "stream/reader.h"

/* The memory of a device as a process sees it, or, device NSX_ABSENT, that of the process's host and of GPUs on which
 * nothing ran. What is not recorded is NSX_ABSENT. */
struct nsx_live_space {
	int64_t profile, pid, device;
	int64_t pools;        /* bytes that its memory pools have reserved; NSX_ABSENT: it has none */
};

/* An allocation. Those of a pool are of the memory "pool": their bytes are part of what the pool has reserved. */
struct nsx_live_block {
	int64_t  bytes;
	uint32_t space, memory;   /* in nsx_live.spaces, .memories */
	uint32_t mark;            /* the caller's, NSX_NONE at first */
};

struct nsx_live_pool { uint32_t space; int64_t size; };

/* {0} is empty. */
struct nsx_live {
	NSX_VEC(struct nsx_live_space) spaces;
	struct nsx_intern memories;           /* "device", "pinned", "pool" */
	NSX_VEC(struct nsx_live_block) blocks;   /* of the live ones, and free places */
	int64_t           unknown, doubled;   /* frees without an allocation; allocations at an allocated address */
	/* Own. */
	NSX_VEC(uint32_t) unused;             /* of blocks */
	struct nsx_map    process_of, context_of, space_of, block_of, pool_of;
	NSX_VEC(struct nsx_live_pool) pools;
};

/* What a record changes. block: the allocation that it made, or that it freed, in `blocks`; NSX_NONE: a free of which
 * the allocation is not known. `space`, `memory`: of the record. `ended`: an allocation at that address that had ended
 * unseen; ended.bytes < 0: none. A block that was freed is valid until the next record. */
struct nsx_live_change { uint32_t space, memory, block; bool frees; struct nsx_live_block ended; };

/* Declare to a reader what nsx_live_take uses. */
void nsx_live_need(struct nsx_reader *in);

/* Take a record of kind memory. NSX_OK, or NSX_ERR (out of memory). */
int nsx_live_take(struct nsx_live *l, const struct nsx_rec *rec, struct nsx_live_change *change, struct nsx_err *err);

void nsx_live_free(struct nsx_live *l);

#endif
