/* heap_memory.h -- the bytes that a program reserves in a memory space. */
#ifndef NSX_XLA_HEAP_MEMORY_H
#define NSX_XLA_HEAP_MEMORY_H

#include <stdint.h>

/* The bytes that a program reserves in one memory space. allocations.c describes how each is computed. */
struct nsx_heap_memory {
	int64_t color;                                        /* 0 device, 1 collective, 2 temp, 5 host */
	int64_t arguments, outputs, aliased, constants, temp;
	int64_t heap;                                         /* the sum of its traces' peaks */
	int64_t peak;
};

#endif
