/* fault.h -- shared by the shim and the sweep: classes of calls, and the counts of a run in a shared file. */
#ifndef FAULT_H
#define FAULT_H

#include <stdatomic.h>

/*   FAULT=CLASS:N      call N of the class fails, the first after main starts being 1
 *   FAULT=CLASS:N:on   that one and all after it
 *   FAULT=short:N      every Nth read and write moves half of what was asked
 *   FAULT=intr:N       every Nth read and write is interrupted
 *   FAULT=shrink:N     the file that FAULT_FILE names loses its second half before read N
 *   FAULT=grow:N       it gets 4096 bytes more
 *   FAULT=replace:N    another file comes under its name
 *   FAULT=count:0      nothing fails
 *   FAULT_REPORT=FILE  of at least sizeof(struct fault_report) bytes, mapped: it outlives any end of the program */
enum fault_class {
	FAULT_ALLOC, FAULT_MMAP, FAULT_OPEN, FAULT_READ, FAULT_WRITE, FAULT_SYNC, FAULT_CLOSE, FAULT_RENAME, FAULT_THREAD,
	FAULT_NCLASSES,
	FAULT_SHORT = FAULT_NCLASSES, FAULT_INTR, FAULT_SHRINK, FAULT_GROW, FAULT_REPLACE, FAULT_COUNT
};

static const char *const fault_names[] = {
	"alloc", "mmap", "open", "read", "write", "sync", "close", "rename", "thread", "short", "intr", "shrink", "grow", "replace", "count"
};

struct fault_report {
	atomic_long calls[FAULT_NCLASSES];   /* seen */
	atomic_long fired;
};

#endif
