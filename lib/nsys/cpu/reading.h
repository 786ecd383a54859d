/* reading.h -- the state of reading what threads did; private to lib/nsys.
 *
 *   SCHED_EVENTS                             times off the CPU                                          sched.c
 *   OSRT_API, OSRT_CALLCHAINS                calls of the OS library with their stacks                  osrt.c
 *   COMPOSITE_EVENTS, SAMPLING_CALLCHAINS    native samples                                             samples.c
 *   ranges of the domain GIL Trace           who has the GIL (nvtx.c) -> waits for it                   gil.c
 *   marks of the domain Python Backtrace     Python samples, python.c: which thread they are of, python_threads.c and
 * the time that each answers for                         stays.c
 *
 * Strings are numbers of loader.ids until names are read; a stack is then a *shape*, its frames by such numbers, and
 * each distinct one becomes a text once (frames.c). Functions that return int return NSX_OK, or NSX_ERR with loader.err
 * filled. */
#ifndef NSX_NSYS_CPU_READING_H
#define NSX_NSYS_CPU_READING_H

#include "source/cpu.h"
#include "nsys/load.h"

#define NSX_GIL_DOMAIN    "GIL Trace"
#define NSX_PYTHON_DOMAIN "Python Backtrace"

/* A range of the domain GIL Trace: the thread holds the GIL, or waits for it. */
struct nsx_gil_range { int64_t start, end; uint64_t gtid; bool holds; };

/* A row of NVTX_EVENTS that is a mark, as nvtx.c meets it. */
struct nsx_mark_row { int64_t id, start, domain; uint64_t gtid; };

/* A mark of the domain Python Backtrace: the stack of a Python thread (category, of a process), seen at `at`. */
struct nsx_python_mark {
	int64_t  at, category;
	uint64_t by;              /* the thread that made it: the sampler, or with source 2 the thread itself */
	uint64_t gtid;            /* the thread that it is of; 0: not known */
	uint32_t shape;
	int32_t  state, source;   /* as nsys numbers them */
};

/* A frame: numbers in loader.ids of a function and of its module or file. line: of Python; or one of these. */
enum { NSX_FRAME_NATIVE = -1, NSX_FRAME_UNRESOLVED = -2 };
struct nsx_frame { uint32_t name, where; int32_t line; };

/* What a shape becomes. */
struct nsx_shape {
	bool     done;
	uint32_t stack;           /* in nsx_cpu.stacks; NSX_NONE: no frames but marks */
	bool     interpreter;     /* Python's interpreter itself waits (frames.c) */
	bool     broken;          /* it could not be unwound to its end */
	bool     bootstrap;       /* it begins where Python's threading module starts a thread */
};

struct nsx_cpu_reading {
	struct nsx_loader *l;
	struct nsx_cpu    *c;
	int64_t            last;          /* the latest time of these tables */
	struct nsx_map     thread_of;     /* globalTid -> nsx_cpu.threads */
	struct nsx_map     python_domains;            /* (domain, process) of Python Backtrace */
	struct nsx_intern  frames;        /* shapes: arrays of struct nsx_frame, innermost first */
	NSX_VEC(struct nsx_shape) shapes; /* by number in frames, after names are read */
	NSX_VEC(struct nsx_frame) chain;  /* the one that is being read, */
	int64_t            chain_id, chain_depth;     /* its id, and depth so far */
	struct nsx_map     chain_of;      /* id of a chain that is wanted -> chain_shapes */
	NSX_VEC(uint32_t)  chain_shapes;  /* NSX_NONE: not read */
	NSX_VEC(struct nsx_mark_row)    rows;
	NSX_VEC(struct nsx_gil_range)   gil;          /* by process, then start */
	NSX_VEC(struct nsx_python_mark) marks;        /* by process, category, time */
	NSX_VEC(struct nsx_sched_event {
		int64_t start;
		uint32_t thread;
		uint8_t state;
		bool in;
	})
	events;                           /* scheduling */
	int64_t            period;        /* of Python sampling, ns */
	struct nsx_buf     text;
	uint64_t no_thread, bad, backward, disordered, unknown_states, broken, short_calls, untold, unreadable;
};

/* The number of a kept thread; NSX_NONE: it is not kept. With opts.cpu_all each is; false in *good when out of
 * memory. */
uint32_t nsx_cpu_thread_at(struct nsx_cpu_reading *r, uint64_t gtid, bool *good);

/* Marks of that domain of a process (bits of its globalTids) are Python samples. False when out of memory. */
bool nsx_cpu_python_domain(struct nsx_cpu_reading *r, int64_t domain, uint64_t process);

/* Before strings are named, after calls and domains are known: read all. */
int nsx_cpu_read(struct nsx_loader *l);
/* After names, processes and names of threads are known: fill trace.cpu. */
int nsx_cpu_finish(struct nsx_loader *l);
void nsx_cpu_reading_free(struct nsx_loader *l);

int nsx_cpu_read_sched(struct nsx_cpu_reading *r);
int nsx_cpu_read_os(struct nsx_cpu_reading *r);
int nsx_cpu_read_samples(struct nsx_cpu_reading *r);
int nsx_cpu_read_python(struct nsx_cpu_reading *r);

/* sched.c: events become times off the CPU. */
int nsx_cpu_offs(struct nsx_cpu_reading *r);
/* gil.c: waits for the GIL. Shapes of OS calls must still be shapes. */
int nsx_cpu_gil(struct nsx_cpu_reading *r);
/* python_threads.c: sets `gtid` of the marks. */
int nsx_cpu_python_threads(struct nsx_cpu_reading *r);
/* stays.c: marks of kept threads become samples. */
int nsx_cpu_stays(struct nsx_cpu_reading *r);

/* ---- frames.c */

/* A chain of that id is wanted: its place in chain_shapes; NSX_NONE when out of memory. */
uint32_t nsx_cpu_want_chain(struct nsx_cpu_reading *r, int64_t id);
/* Read those that are wanted from a table of chains, then forget their ids. */
int nsx_cpu_read_chains(struct nsx_cpu_reading *r, const char *table);
/* The number of a shape; NSX_NONE when out of memory. */
uint32_t nsx_cpu_shape_at(struct nsx_cpu_reading *r, const struct nsx_frame *frames, size_t n);
/* What the shape is, with its stack among nsx_cpu.stacks; NULL when out of memory. */
const struct nsx_shape *nsx_cpu_shape(struct nsx_cpu_reading *r, uint32_t shape);
/* The text of a number of loader.ids; empty if it has none. */
struct nsx_str nsx_cpu_text(const struct nsx_cpu_reading *r, uint32_t id);

/* ---- gil.c: ranges of the GIL of a process, a part of r->gil, by start. */
struct nsx_gil_ranges { const struct nsx_gil_range *p; size_t n; };
struct nsx_gil_ranges nsx_gil_of(const struct nsx_cpu_reading *r, uint64_t gtid);

/* The process of a thread. */
static inline uint64_t nsx_cpu_process(uint64_t gtid) { return gtid & ~(uint64_t)0xFFFFFF; }

/* Its main thread. */
static inline uint64_t nsx_cpu_main_thread(uint64_t gtid) { return nsx_cpu_process(gtid) | (gtid >> 24 & 0xFFFFFF); }

#endif
