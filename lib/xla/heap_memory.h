/* heap_memory.h -- what a program reserves of a kind of memory. */
#ifndef NSX_XLA_HEAP_MEMORY_H
#define NSX_XLA_HEAP_MEMORY_H

#include <stdint.h>

/* What a program reserves of one memory, in bytes. How each is worked out: allocations.c. */
struct nsx_heap_memory {
	int64_t color;                                        /* 0 device, 1 collective, 2 temp, 5 host */
	int64_t arguments, outputs, aliased, constants, temp;
	int64_t heap;                                         /* the sum of its traces' peaks */
	int64_t peak;
};

#endif
