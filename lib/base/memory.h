/* memory.h -- a limit to the memory of the process, which the user sets. */
#ifndef NSX_BASE_MEMORY_H
#define NSX_BASE_MEMORY_H

/* Let allocations fail from here on when the process would have more than SIZE bytes ("500M", as nsx_size_parse reads
 * it) of memory of its own: heaps, stacks of threads, anonymous mappings; not the pages of files. NULL, or what is
 * wrong with SIZE; SIZE, which must live on, is named by nsx_memory_limit. Before threads begin. */
const char *nsx_memory_set_limit(const char *size);

/* The SIZE that was set, NULL if none. */
const char *nsx_memory_limit(void);

/* Lift the limit, and put it back, around starting programs that are not ours. Any thread; it is back when all have put
 * it back. */
void nsx_memory_lift(void);
void nsx_memory_lower(void);

#endif
