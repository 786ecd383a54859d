/* memory.h -- the memory of the process: a limit that the user sets, and large pages for memory that will soon be
 * needed. */
#ifndef NSX_BASE_MEMORY_H
#define NSX_BASE_MEMORY_H

#include <stdint.h>

/* Let allocations fail from here on when the process would have more than SIZE bytes ("500M", as nsx_size_parse reads
 * it) of private memory: heaps, stacks of threads, anonymous mappings; not the pages of files. NULL, or what is wrong
 * with SIZE; SIZE, which must stay valid, is returned by nsx_memory_limit. To be called before threads are started. */
const char *nsx_memory_set_limit(const char *size);

/* The SIZE that was set, NULL if none. */
const char *nsx_memory_limit(void);

/* Lift the limit, and restore it, around starting other programs. From any thread; it applies again when every thread
 * that lifted it has restored it. */
void nsx_memory_lift(void);
void nsx_memory_lower(void);

/* This thread will soon allocate about that many bytes in small and medium pieces: let its heap begin with large pages,
 * which the system provides in a fraction of the time. A hint: no memory is touched. It has no effect for few bytes,
 * for more than 30 MB (malloc would keep much memory that it does not return), if a limit is set, or if malloc returns
 * all freed memory. */
void nsx_memory_expect(uint64_t bytes);

#endif
