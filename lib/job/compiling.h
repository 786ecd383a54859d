/* compiling.h -- the times at which threads compile: whether an operation belongs to a compilation, such as the kernels
 * that autotuning tries.
 *
 *   compile [0,9) of thread 7, [2,5) within it, [20,30)      thread 7 launches at 4 or 25: yes; at 12: no
 *
 * The autotuner compiles in separate threads, whose compilations are not in the stream unless they were extracted
 * (--autotune). So for threads without compilations, the kernels launched while the report's autotuner runs count,
 * too. */
#ifndef NSX_JOB_COMPILING_H
#define NSX_JOB_COMPILING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "stream/kinds.h"

struct nsx_compiling_time { int64_t start, end; uint32_t thread; };

/* {0} is empty. 24 bytes for each compilation range that is not inside another of its thread. */
struct nsx_compiling {
	struct nsx_map thread_of;   /* (report, tid) -> a number; operations do not record their process. tid
	                             * INT64_MIN: the autotuner, in any thread */
	NSX_VEC(struct nsx_compiling_time) times;
	NSX_VEC(uint32_t) last;     /* by thread: the index of the time that was added last */
	bool           sorted;
};

/* Add a `compile` record. False when out of memory. */
bool nsx_compiling_take(struct nsx_compiling *c, const struct nsx_rec *rec);

/* Whether an `op` record is in no execution of a program, and was launched by a compilation: at a time, both ends
 * included, at which its thread compiled. After all `compile` records. */
bool nsx_compiling_launched(struct nsx_compiling *c, const struct nsx_rec *op);

void nsx_compiling_free(struct nsx_compiling *c);

#endif
