/* memory.h -- a limit on the memory of the process, which the user sets. */
#ifndef NSX_BASE_MEMORY_H
#define NSX_BASE_MEMORY_H

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

#endif
