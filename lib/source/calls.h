/* calls.h -- the CUDA calls of one thread, ready for projection. */
#ifndef NSX_SOURCE_CALLS_H
#define NSX_SOURCE_CALLS_H

#include "source/project.h"

/* The GPU work that one correlation id of one process launched. */
struct nsx_launch {
	int64_t  start, end;   /* GPU ns: first start, last end */
	uint32_t device;       /* NSX_NONE: several */
	uint32_t ncalls;       /* calls of that id, in any thread */
};

/* A call that launched something, as read. */
struct nsx_raw_call {
	int64_t  start, end;   /* host ns; end >= start */
	uint32_t launch;       /* index */
	uint32_t thread;
};

/* Sorted by (start, longer first). */
struct nsx_calls {
	struct nsx_call *p;   /* their `launch` is an index of launches; NSX_NONE: the call exists only so that shared
	                       * ids are counted once */
	uint32_t         n;
};

/* Prepare the n calls of one thread for nsx_project. Calls of a shared id (ncalls > 1) that contain another call of
 * that id are removed, and neighbours among the rest get a call of weight -1 that spans both. NSX_OK, or NSX_ERR when
 * out of memory (*out is then empty). */
int nsx_calls_make(const struct nsx_raw_call *raw, uint32_t n, const struct nsx_launch *launches,
                   struct nsx_calls *out);
void nsx_calls_free(struct nsx_calls *c);

#endif
