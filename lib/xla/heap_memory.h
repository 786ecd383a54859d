/* heap_memory.h -- the bytes that a program reserves in a memory space, and those of its heap in program order. */
#ifndef NSX_XLA_HEAP_MEMORY_H
#define NSX_XLA_HEAP_MEMORY_H

#include <stdint.h>

#include "base/str.h"

/* The bytes that a program reserves in one memory space. allocations.c describes how each is computed. */
struct nsx_heap_memory {
	int64_t color;                                        /* 0 device, 1 collective, 2 temp, 5 host */
	int64_t arguments, outputs, aliased, constants, temp;
	int64_t heap;                                         /* the sum of its traces' peaks */
	int64_t peak;
};

/* The bytes in use from event number `step` on (events are counted from 1); step 0: before the first event. */
struct nsx_heap_point { int64_t step, bytes; };

/* The effect of an instruction that allocates on the bytes in use: the time of a FREE in a trace is only known to be
 * before the next instruction that allocates. */
struct nsx_heap_step {
	struct nsx_str instruction;
	int64_t        at;            /* the maximum while it allocates */
	int64_t        after;         /* with the buffers freed from there to the next step */
};

#endif
