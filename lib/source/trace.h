/* trace.h -- one profile in memory, of any source: ranges, GPU operations, CUDA calls, and the ranges' projection onto
 * the GPU. A reader of a source fills it, and extraction knows nothing else of a source; does not depend on XLA. */
#ifndef NSX_SOURCE_TRACE_H
#define NSX_SOURCE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "source/cpu.h"

enum nsx_op_type { NSX_OP_KERNEL, NSX_OP_MEMCPY, NSX_OP_MEMSET, NSX_OP_GRAPH, NSX_OP_TYPES };

enum nsx_range_flags {
	NSX_RANGE_UNFINISHED = 1,   /* it had no end: the end of the latest range is used */
	NSX_RANGE_PUSHPOP    = 2,   /* push/pop; otherwise start/end */
	NSX_RANGE_NO_DOMAIN  = 4    /* its domain's name is not in the export (domain is then 0) */
};

/* What a range is, where the source tells. */
enum nsx_range_kind {
	NSX_RANGE_ANY, NSX_RANGE_OP /* a framework's operator */, NSX_RANGE_ANNOTATION /* the user's */,
	NSX_RANGE_PYTHON /* a Python function */, NSX_RANGE_RUNTIME /* the framework's own work */, NSX_RANGE_KINDS
};

/* A range on its thread: of NVTX, or what another source has like it. */
struct nsx_range {
	int64_t  start, end;    /* host ns; end >= start */
	int64_t  id;            /* rowid in the export, what Nsight Systems calls RangeId */
	uint32_t name;          /* in trace.names, or a text code (nsx_range_name); NSX_NONE: no message */
	uint32_t parent;        /* index of the tightest range of the thread around it, NSX_NONE: none */
	uint32_t gpu;           /* index in trace.spans, NSX_NONE: no GPU work was launched in it */
	uint16_t domain;        /* in trace.domains; 0 is the default domain, "" */
	uint8_t  flags, kind;   /* enum nsx_range_flags, enum nsx_range_kind */
};

/* GPU work launched in a range: first start to last end. */
struct nsx_span {
	int64_t  start, end;    /* GPU ns */
	uint32_t ops;           /* distinct CUDA calls that launched it */
	uint32_t device;        /* index in trace.devices, NSX_NONE: several */
};

/* A GPU operation. */
struct nsx_gpu_op {
	int64_t  start, end;    /* GPU ns */
	int64_t  bytes;         /* copied or set; -1: not a copy or set */
	int64_t  graph_node;    /* -1: not part of a CUDA graph, or a whole graph */
	int64_t  call_start;    /* host start of the call that launched it; INT64_MIN: call not in the export */
	int64_t  stream;        /* CUDA stream id */
	uint32_t device;        /* index in trace.devices */
	uint32_t name;          /* in trace.names; kernels: demangled name; copies `[CUDA memcpy Host-to-Device]`,
	                         * `[CUDA mem decompress]`, `[CUDA memset]`, `[CUDA graph]` */
	uint32_t range;         /* index of the innermost range around its call, NSX_NONE: none */
	uint8_t  type;          /* enum nsx_op_type */
	bool     peer;          /* a copy from one device to another */
	uint8_t  src, dst;      /* enum nsx_memory_kind copied from, copied to or set; NSX_MEMORY_KINDS: not recorded */
	uint32_t launch;        /* index in trace.issues; NSX_NONE: call not in the export */
};

/* Numbers as in CUPTI. */
enum nsx_memory_kind {
	NSX_MEMORY_PAGEABLE, NSX_MEMORY_PINNED, NSX_MEMORY_DEVICE, NSX_MEMORY_ARRAY, NSX_MEMORY_MANAGED,
	    NSX_MEMORY_DEVICE_STATIC,
	NSX_MEMORY_MANAGED_STATIC, NSX_MEMORY_UNKNOWN, NSX_MEMORY_KINDS
};

/* "device-static", by kind. */
extern const struct nsx_str nsx_memory_kind_names[NSX_MEMORY_KINDS];

/* The call that issued the operations of one correlation id of one process: if there are several, the one that started
 * first, then the one of the lowest row. start > end: it is not in the export. */
struct nsx_issue { int64_t start, end, id; uint64_t gtid; };

enum nsx_call_class {
	NSX_CALL_OTHER, NSX_CALL_LAUNCH, NSX_CALL_GRAPH_LAUNCH, NSX_CALL_COPY, NSX_CALL_SET, NSX_CALL_SYNC,
	    NSX_CALL_EVENT, NSX_CALL_ALLOC,
	NSX_CALL_MODULE, NSX_CALL_CLASSES
};

/* What a call has to do with events and waiting. */
enum nsx_call_role {
	NSX_CALL_PLAIN, NSX_CALL_RECORDS, NSX_CALL_WAITS_EVENT, NSX_CALL_SYNCS_STREAM, NSX_CALL_SYNCS_EVENT,
	NSX_CALL_SYNCS_DEVICE
};

/* Properties common to the CUDA calls of one name. */
struct nsx_call_name {
	uint32_t name;          /* in trace.names, without version; NSX_NONE: not recorded */
	uint8_t  class;         /* enum nsx_call_class */
	uint8_t  role;          /* enum nsx_call_role */
	bool     async;         /* it has "async" in its name */
};

/* A CUDA call on the host. */
struct nsx_host_call {
	int64_t  start, end;    /* host ns; end >= start */
	int64_t  id;            /* rowid in the export */
	uint32_t name;          /* in trace.call_names */
	uint32_t range;         /* index of the innermost range of its thread around it, NSX_NONE: none */
	uint32_t ops;           /* GPU operations that it issued */
	bool     back;          /* it copies from a device to pageable memory */
	bool     lost;          /* it has an element in trace.losses */
};
struct nsx_calling_thread { uint64_t gtid; uint32_t process, tid, first, n; /* its calls */ };
/* Parts of a call's time, ns: the command queue was full; code was loaded or compiled while the queue was not full. */
struct nsx_call_loss { uint32_t call; int64_t stalled, loading; };

enum nsx_overhead_class { NSX_OVERHEAD_PROFILER, NSX_OVERHEAD_QUEUE_FULL, NSX_OVERHEAD_LOADING, NSX_OVERHEAD_UNKNOWN };
/* The globalTid of an overhead whose thread is not recorded. */
#define NSX_NO_GTID UINT64_MAX
/* An overhead of a thread: time that it lost. */
struct nsx_overhead {
	int64_t  start, end;    /* host ns; end >= start */
	int64_t  call;          /* rowid of the call that it is in */
	uint64_t gtid;          /* the thread; the low 24 bits are its id; NSX_NO_GTID: not recorded */
	uint32_t process;       /* NSX_NONE: not recorded */
	uint32_t name;          /* in trace.names; NSX_NONE: not recorded */
	uint8_t  class;         /* enum nsx_overhead_class */
	bool     has_call;
};

struct nsx_thread  { uint64_t gtid; uint32_t process; uint32_t tid; uint32_t first, n; /* its ranges */ };
struct nsx_process { uint64_t gpid; uint32_t pid; /* 0: not recorded */ };
/* One GPU as one process sees it. */
struct nsx_device {
	uint32_t process;
	int64_t  cuda;
	int64_t  last;                           /* start of its last operation, GPU ns */
	struct nsx_str gpu_name, uuid;           /* empty if not recorded; gpu_name: NSX_ON_CPU: it is no GPU */
	int64_t  sms, clock, bandwidth, cc;      /* multiprocessors, Hz, bytes/s, 10 * major + minor; -1: not
	                                          * recorded */
	int64_t  memory;                         /* bytes of its memory; -1: not recorded */
};

/* The communication that an operation executes, where the source says so. */
struct nsx_op_comm {
	const char *kind;       /* kind of collective, a constant; NULL: by the kernel's name */
	uint64_t comm_id;       /* of the communicator */
	int64_t  bytes, calls;  /* -1: not known */
	int64_t  group;         /* participants; 0: not known */
	int64_t  low, high;     /* ranks of a transfer between two; -1: not known */
	bool     has_comm;      /* the communicator is known */
};
/* The rank of the trace's only device in a communicator of `ranks`. */
struct nsx_comm_place { uint64_t comm_id; int64_t rank, ranks; struct nsx_str name; /* empty: none */ };
/* A program whose HLO the source has, as a serialised HloProto. */
struct nsx_program_bytes { int64_t id; struct nsx_str name, bytes; };
struct nsx_named   { uint64_t key; struct nsx_str name; };
/* A node of a CUDA graph as it was made, at host time `start`; original: the node that it was cloned from, -1: none. */
struct nsx_capture { uint64_t gtid; int64_t node, original, start; };

/* What a source knows of a framework's operator beside its name. id: of its range; seq: -1: none; sizes: of its inputs,
 * in trace.names; NSX_NONE: not recorded. */
struct nsx_operator { int64_t id, seq; uint32_t sizes; };

/* A sample of a GPU metric, over [start, end) on the GPU's clock. name: in trace.metric_names; device: in
 * trace.devices. */
struct nsx_metric { int64_t start, end, value; uint32_t name, device; };

/* Memory that CUDA allocated or freed, at a time of the host. */
struct nsx_memory {
	int64_t  start, bytes, address;
	int64_t  context, stream;             /* -1: not recorded */
	int64_t  pool, pool_size, pool_used;  /* of the memory pool that it is from; -1: none, or not recorded */
	uint64_t gpid;                        /* the process, as in nsx_process */
	uint64_t gtid;                        /* the thread; NSX_NO_GTID: its call is not recorded */
	int64_t  call;                        /* rowid of the call, -1: not recorded */
	uint32_t process, device;             /* in trace.processes, trace.devices; NSX_NONE: none of these */
	uint32_t by, variable;                /* name of the call, of a variable: in trace.names; NSX_NONE: none */
	uint32_t range;                       /* index of the innermost range around the call, NSX_NONE: none */
	uint8_t  kind;                        /* enum nsx_memory_kind */
	bool     frees;
};

/* Pairs by `of`, an operation or a call, then by what it awaited, an operation. */
struct nsx_await { uint32_t of, op; };
struct nsx_awaits { struct nsx_await *p; size_t n, cap; };

/* Everything is owned by the trace. Ranges are grouped by thread (threads by gtid) and, in a thread, sorted by (start,
 * longer first, id): the ranges inside a range follow it. Ops are sorted by (start, end, table, id). Devices by
 * (process, cuda). Calls are grouped by thread (threads by gtid) and sorted like ranges; losses are by call, overheads
 * by (start, end, table, id). */
struct nsx_trace {
	struct nsx_str      name;         /* of the export, without folder and .sqlite, .sqlite.zst or .nsys-rep */
	struct nsx_str      host;         /* only if requested */
	struct nsx_str      product, schema;   /* "NVIDIA Nsight Systems 2024.4.1", "3.13.1"; empty if not recorded */
	int64_t             start_utc;    /* ns since 1970; INT64_MIN: not recorded */
	int64_t             stop;         /* end of the capture on the host clock; INT64_MIN: not recorded */
	struct nsx_process *processes; uint32_t nprocesses;
	struct nsx_thread  *threads;   uint32_t nthreads;
	struct nsx_device  *devices;   uint32_t ndevices;
	struct nsx_range   *ranges;    uint32_t nranges;
	NSX_VEC(struct nsx_operator) operators;             /* by id */
	struct nsx_span    *spans;     uint32_t nspans;
	struct nsx_gpu_op  *ops;       uint32_t nops;       /* none unless opts.ops */
	struct nsx_issue   *issues;                         /* of the operations' launches */
	uint32_t           *op_waits;                       /* by operation: event waits issued to its stream since the
	                                                     * previous operation; NULL: no waits */
	struct nsx_awaits   after, waited;                  /* which operations each operation of another stream, and
	                                                     * each call, awaited; only with opts.calls */
	bool                waits_known;                    /* the source records waits, if there were any */
	int64_t            *op_ids;                         /* by operation: its id in the source; NULL: its index */
	uint32_t           *op_insts;                       /* by operation of a graph: the instruction that it is,
	                                                     * in names; NSX_NONE: not recorded. NULL: of none */
	struct nsx_op_comm *comms;     uint32_t ncomms;
	uint32_t           *op_comm;                        /* by operation: in comms, NSX_NONE: none; NULL: the source
	                                                     * has no such data */
	struct nsx_comm_place *places; uint32_t nplaces;    /* sorted by communicator; only with one device */
	int64_t             rank;                           /* the process's number in the job, -1: not recorded */
	int64_t             world;                          /* number of the job's processes, -1: not recorded */
	struct nsx_calling_thread *host_threads; uint32_t nhost_threads;   /* these and the following members: empty
	                                                                    * unless opts.calls */
	struct nsx_host_call   *calls;        uint32_t ncalls;
	struct nsx_call_name   *call_names;   uint32_t ncall_names;
	struct nsx_call_loss   *losses;       uint32_t nlosses;
	bool                    losses_known;               /* the export records overheads, if there were any */
	struct nsx_overhead    *overheads;    uint32_t noverheads;
	struct nsx_cpu         *cpu;                        /* NULL: not requested */
	struct nsx_named   *device_names; uint32_t ndevice_names;   /* NVTX names of CUDA devices; key: CUDA ordinal */
	struct nsx_named   *thread_names; uint32_t nthread_names;   /* key: globalTid */
	struct nsx_program_bytes *programs; uint32_t nprograms;
	struct nsx_intern   names;        /* of ranges and operations */
	struct nsx_part_texts *texts;  int ntexts;          /* text codes of names */
	struct nsx_intern   domains;      /* number 0 is "" */
	struct nsx_capture *captures;  uint32_t ncaptures;   /* only if requested; the first row of each (process,
	                                                      * node), in that order */
	struct nsx_metric  *metrics;   uint32_t nmetrics;    /* by device, name, start; only with opts.metrics */
	struct nsx_intern   metric_names;
	struct nsx_memory  *memory;    uint32_t nmemory;     /* by start, then as in the source; only with
	                                                      * opts.memory */
	struct nsx_payloads *payloads;    /* for nsys/payload.h; NULL: the export has none */
	void               (*payloads_close)(struct nsx_trace *t);   /* frees them; set with them */
	struct nsx_arena    arena;
};

struct nsx_trace_opts {
	const char *const *domains;   /* ended by NULL: keep only ranges of these domains, never of the default
	                               * one, and those of domains whose name is not in the export; NULL: all */
	bool        busy;       /* in the default domain keep only ranges in which GPU work was launched (parents are
	                         * then the tightest range kept); saves time and memory where programs name each range
	                         * differently */
	bool        ops;        /* keep GPU operations */
	const char *ops_if;     /* keep them also if a string of the export begins with this; NULL: no */
	bool        issues;     /* with ops: record which call issued each operation, and what it waits for */
	bool calls; /* keep every CUDA call, overheads, and what operations and calls awaited; needs issues */
	bool        cpu;        /* keep what threads that make CUDA calls did besides; needs calls */
	bool        cpu_all;    /* with cpu: every thread */
	int64_t     os_min;     /* with cpu: ignore calls of the OS library that are shorter, ns */
	bool        metrics;    /* read samples of GPU metrics */
	bool        memory;     /* read allocations of memory */
	bool        captures;   /* read where nodes of CUDA graphs were created */
	bool        host;       /* read the host name */
	bool        python;     /* keep Python functions as ranges, where the source has them among its ranges */
	bool        strip_paths;   /* of these, only the last component of source paths */
	int         jobs;       /* threads to use; 0: as many as there are processors */
	int         fd;         /* the export, opened for reading, which loading closes; 0: it opens the file itself */
	bool        sqlite_alone;   /* SQLite reads all tables, and nothing is checked: for tests */
	uint64_t    bytes;      /* number of bytes, of those that progress expects (base/progress.h), that loading
	                         * represents */
};

/* Sort the pairs, without those that are there twice. */
void nsx_awaits_sort(struct nsx_awaits *a);
/* The first pair of it, and in *n their number. */
const struct nsx_await *nsx_awaits_of(const struct nsx_awaits *a, uint32_t of, size_t *n);

/* The process of a thread, in the form of nsx_process.gpid. */
static inline uint64_t nsx_capture_process(uint64_t gtid) { return gtid & ~(uint64_t)0xFFFFFF; }

/* Where the node of that process's graph was captured: the node from which it was cloned, as far back as the export
 * records. NULL: not in the export. */
const struct nsx_capture *nsx_capture_of(const struct nsx_trace *t, uint64_t gpid, int64_t node);

/* With this bit a range's name, unless it is NSX_NONE, is a text code. Only names in the default domain are, where
 * programs number their ranges, and only if ranges without GPU work are kept (not opts.busy). */
#define NSX_NAME_TEXT 0x80000000u

/* The name of a range, which must have one: if it is a text code it is decoded into buf, whose contents it replaces.
 * Valid as long as the trace and buf are unchanged. ptr is NULL when out of memory. */
struct nsx_str nsx_range_name(const struct nsx_trace *t, const struct nsx_range *r, struct nsx_buf *buf);

/* What is known of the operator that a range is; NULL: nothing. */
const struct nsx_operator *nsx_trace_operator(const struct nsx_trace *t, const struct nsx_range *r);

/* The index in t->threads of the thread of that id; NSX_NONE: it has no ranges. */
uint32_t nsx_trace_thread_at(const struct nsx_trace *t, uint64_t gtid);
/* The thread a range belongs to. */
const struct nsx_thread *nsx_trace_thread(const struct nsx_trace *t, uint32_t range);

/* The thread that made a call. */
const struct nsx_calling_thread *nsx_trace_caller(const struct nsx_trace *t, uint32_t call);

/* Whether a call waits for the GPU: it synchronises, or copies and does not return before the copy is done. */
static inline bool
nsx_call_blocks(const struct nsx_trace *t, const struct nsx_host_call *c)
{
	const struct nsx_call_name *n = &t->call_names[c->name];

	return n->class == NSX_CALL_SYNC || (n->class == NSX_CALL_COPY && (!n->async || c->back));
}

void nsx_trace_free(struct nsx_trace *t);   /* back to {0} */

#endif
