/* cpu.h -- what the threads of a process did beside CUDA, as nsys recorded it: calls of the OS library, time off the
 * CPU, waits for Python's global interpreter lock (GIL), and samples of stacks. */
#ifndef NSX_SOURCE_CPU_H
#define NSX_SOURCE_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

/* A thread whose records are kept. launches: it makes CUDA calls; scheduled: it has scheduling events; python: number
 * of its Python samples. */
struct nsx_cpu_thread { uint64_t gtid; uint32_t process; bool launches, scheduled; int64_t python; };

/* A call of the OS library: ns, rowid. name: in trace.names, NSX_NONE: not recorded; stack: in nsx_cpu.stacks,
 * NSX_NONE: none. */
struct nsx_os_call { int64_t start, end, id; uint32_t thread, name, stack; };

/* Off the CPU. unended: its end is the last time of the export. state: as nsys numbers it, 0: not known. */
struct nsx_off { int64_t start, end; uint32_t thread; uint8_t state; bool unended; };

/* Who has the GIL that a thread waits for: another thread, nsys's own sampler, none, or that is not recorded. */
enum nsx_gil_how { NSX_GIL_THREAD, NSX_GIL_SAMPLER, NSX_GIL_FREE, NSX_GIL_UNKNOWN };
/* A wait for the GIL while one thread (by: its globalTid; of THREAD and SAMPLER) has it. */
struct nsx_gil_wait { int64_t start, end; uint64_t by; uint32_t thread; uint8_t how; };

/* A sample: seen at `at`. Of Python: [start, end) is the time for which it answers; native: both are `at`. */
struct nsx_cpu_sample { int64_t start, end, at; uint32_t thread, stack; bool python; };

/* What one export has. Lists are in the order of the tables, or of time. */
struct nsx_cpu {
	NSX_VEC(struct nsx_cpu_thread) threads;   /* those that make CUDA calls first, by globalTid */
	NSX_VEC(struct nsx_os_call)    os;
	NSX_VEC(struct nsx_off)        offs;
	NSX_VEC(struct nsx_gil_wait)   gils;
	NSX_VEC(struct nsx_cpu_sample) samples;
	struct nsx_intern              stacks;    /* frames outermost first, separated by ';': `file:line[function]` of
	                                           * Python, `module[function]` of others; module[?]: no symbol */
};

/* "interruptible" and the like; "" for 0. */
const char *nsx_off_state(uint8_t state);

void nsx_cpu_free(struct nsx_cpu *c);   /* NULL allowed */

#endif
