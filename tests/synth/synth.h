/* synth.h -- the plan of a generated training job: all its events, in true time. Exports and answers are
 * both written from it, so that neither is derived from the other. Times are nanoseconds. */
#ifndef SYNTH_H
#define SYNTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

enum { SYN_NONE = UINT32_MAX };
enum { SYN_MESSAGE = 4 << 20 };                             /* bytes of an all-reduce of --torch */
static const int64_t SYN_UTC = 1790000000000000000;        /* when sessions start, ns since 1970 */

/* The command line. */
struct syn_opts {
	const char *dir, *titles, *schema, *one_export, *graphs, *unfinished, *secret, *falsify, *dumps, *payloads, *slow, *xla26, *lists, *torch, *nccl, *plant, *slow_device, *late_rack, *alternate, *sim, *change, *without;
	int64_t seed, procs, devices, steps, layers, offset, drift, sessions, jitter, late, no_call, groups, scale, gaps, late_gaps, work, nodes, hosts, racks, vary, vary_seed, contend, shorter, metrics, evaluate, checkpoint, slack;
	bool full, shuffle, disagree, autotune, no_comm, no_warmup, details, outside, ties, no_uid, offload, pipeline, steady, kineto, xspace, memory;
};
extern struct syn_opts syn_opt;

/* Programs, as a compiler would produce them. */
enum syn_what {
	SYN_COMPUTE,    /* kernels on the compute stream */
	SYN_ASYNC,      /* a collective on the communication stream, for which its SYN_DONE waits */
	SYN_SYNC,       /* a collective for which the compute stream waits immediately */
	SYN_DONE,       /* host work only: the compute stream waits for the collective `start` */
	SYN_WHILE,      /* a loop: encloses the thunks of its body, and copies its condition to the host */
	SYN_COPY,       /* device-to-device copy */
	SYN_SET,        /* memset */
	SYN_BUFFER      /* a command buffer: one CUDA graph of several instructions */
};

/* Which devices take part in a collective. */
enum syn_group {
	SYN_WORLD, SYN_BLOCK, SYN_STRIDE,
	SYN_RING,               /* pairs of a permutation: each device to the next one, the last to the first */
	SYN_EVEN, SYN_ODD       /* of --pipeline: devices 0 to 1, 2 to 3, ...; 1 to 2, 3 to 4, ... */
};
/* Which devices run an instruction. */
enum syn_only { SYN_ALL_STAGES, SYN_FIRST_STAGE, SYN_LAST_STAGE };

struct syn_shape { int type; int ndim; int64_t dim[3]; };   /* type: PrimitiveType of the HLO protos */
struct syn_frame { const char *file, *function; int line, column; uint32_t parent; };

struct syn_inst {
	const char *name, *opcode, *op_name;   /* op_name "" when there is none */
	const char *collective;                /* NULL: no communication */
	const char *wrapper;                   /* name of the async-start around it, NULL: none */
	const char *kernel, *short_kernel;     /* NULL: after the name */
	const char *nccl;                      /* NCCL's function */
	enum syn_what what;
	enum syn_group group;
	struct syn_shape in[2], out;
	int      nin;
	int64_t  cost;       /* GPU ns per kernel */
	int      kernels;
	uint32_t start;      /* SYN_DONE: the instruction waited for; a copy from the host: the done of the copy to it */
	uint32_t frame;      /* innermost source frame, SYN_NONE: none */
	uint32_t body;       /* called computation, SYN_NONE: none */
	bool     outside;    /* runs after its module range has ended */
	int64_t  uid;        /* unique_hlo_op_id */
	uint32_t title;      /* in plan.names */
	uint32_t home, calls[2];   /* in program.home: its computation, the one it calls (SYN_NONE: none) */
	int      form;       /* the form of its groups in the dump: enum syn_form */
	int      host;       /* of --xla26, --offload: a copy or slice from (1) or to (2) the host's memory */
	enum syn_only only;  /* of --pipeline */
	/* of --xla26 */
	int64_t  same;       /* fusions of one number have equal computations */
	uint32_t inside;     /* a copy in its computation that has a range, SYN_NONE: none */
	bool     pools;      /* its computation calls another */
};

/* Computations of the dump. `of`: the instruction it belongs to; its instructions of the plan are among first .. last. */
enum syn_home_kind { SYN_ENTRY, SYN_BODY, SYN_COND, SYN_NODES, SYN_WRAP, SYN_FUSED, SYN_REDUCER };
struct syn_home { enum syn_home_kind kind; const char *name; int64_t id; uint32_t of, first, last; };

/* Forms of replica groups, in the order in which XLA introduced them. */
enum syn_form {
	SYN_NO_GROUPS,       /* none given: all devices */
	SYN_ALL_PARTITIONS,  /* one replica, with all its partitions */
	SYN_LIST, SYN_DEVICE_LIST, SYN_DEVICE_IOTA, SYN_IOTA, SYN_MESH,
	SYN_PAIRS            /* source and target */
};

struct syn_comp { const char *name; uint32_t first, n; };   /* instructions in program.inner */
enum syn_act { SYN_RUN, SYN_OPEN, SYN_CLOSE };
struct syn_item { uint32_t inst; enum syn_act act; uint32_t graph; /* number of its command buffer, 0: in none */ };

struct syn_program {
	const char *name, *prefix;            /* prefix "" when the op_names have none in common */
	int64_t     id;                       /* in process 0 */
	NSX_VEC(struct syn_inst) inst;        /* executable programs */
	NSX_VEC(struct syn_inst) inner;       /* of called computations */
	NSX_VEC(struct syn_comp) comp;
	NSX_VEC(struct syn_item) item;        /* one execution, loops unrolled */
	NSX_VEC(struct syn_home) home;        /* computations of the dump; 0 is the entry */
	bool        replicas;                 /* the devices are replicas, not partitions */
	bool        local_ids;                /* the dump counts instructions within their computation */
	bool        comm;
	int64_t     execs;                    /* so far */
	bool        spread;                   /* compiled on several threads */
	uint32_t    buffer;                   /* the instruction that represents command buffers */
	struct x26_tree *tree;                /* of --xla26; items are not used then */
};

/* Processes, threads, devices. */
struct syn_thread {
	uint32_t    tid;
	const char *name;
	int64_t     now;          /* host time that it has reached */
	uint32_t    top, thunk, module;   /* innermost open ones, SYN_NONE: none */
};
enum syn_domain { SYN_DEFAULT, SYN_TSL, SYN_NCCL, SYN_CUBLAS, SYN_DOMAINS };
struct syn_proc {
	uint32_t pid, vm;
	uint32_t xport;           /* index of the export it is in */
	NSX_VEC(struct syn_thread) thread;   /* 0 is the main thread; then launchers, then workers */
	uint32_t workers;         /* first worker */
	int64_t  offset, ppb, session;       /* clock: see syn_local */
	int64_t  from, until;     /* capture window, true time */
	bool     open_null;       /* ranges open at the end of the capture have no end (else the capture's) */
	bool     cut;             /* the capture stops before the program does */
	int      domain_id[SYN_DOMAINS];
	int64_t  next_range_id;   /* of start/end ranges */
};
struct syn_dev {
	uint32_t proc, thread;    /* thread that launches */
	int      local, global;
	int64_t  cuda;            /* deviceId */
	int64_t  compute, comm, copy;   /* when each stream becomes free */
	int64_t  step_end;        /* GPU end of the step before */
	bool     member;          /* of --nccl: the payloads of its communicators are whole */
	bool     captured;        /* of --nccl: the payload of the call in its graph is whole */
	int      slow;            /* per mille slower than the fastest */
	int64_t  percent;         /* of --slow-device: its computing kernels take so much longer */
	struct { int64_t from, to; } comm_of[4];   /* its latest collectives, for --contend; the next at ncomm % 4 */
	uint32_t ncomm;
	int64_t  contended, contended_ns;          /* kernels beside them, and how much longer they take */
};

/* Events. Ranges, calls: host time; operations: GPU time; in true time. */
enum syn_type { SYN_PUSHPOP = 59, SYN_STARTEND = 60 };
struct syn_range {
	int64_t  start, end;
	uint32_t name, proc, thread;
	uint32_t end_thread;      /* SYN_NONE: the same */
	uint32_t strip;           /* name in a compile record, SYN_NONE: not part of a compilation */
	uint32_t cprog, cparent;  /* compile: program, enclosing record */
	int64_t  range_id;        /* start/end ranges */
	uint32_t payload;         /* of --nccl: 1 + index in plan.payload, 0: none */
	uint8_t  type, domain;
	bool     registered;      /* textId, not text */
	bool     tuner, folded, measures;   /* autotuner range; below one; one whose name has hlo_op= */
	/* as the export shows it */
	bool     gone, open;
	int64_t  lstart, lend, rowid;
	uint32_t parent; int level;
	int64_t  gpu_start, gpu_end, ops;
	int64_t  child;           /* compile: duration of direct children */
};
struct syn_call {
	int64_t  start, end;
	uint32_t name, proc, thread, thunk, module;
	uint32_t driver;          /* name of the driver call inside, SYN_NONE: none */
	uint32_t corr;
	bool     is_driver, gone, launches;
};
/* The record of an instance of a collective. */
struct syn_meet { uint32_t instance; int64_t wait, group, bytes; };   /* instance SYN_NONE: no collective */
enum syn_op_type { SYN_KERNEL, SYN_MEMCPY, SYN_MEMSET, SYN_GRAPH };
struct syn_op {
	int64_t  start, end, bytes;
	uint32_t dev, call, name, short_name;
	int      stream;
	uint8_t  type, copy_kind;
	bool     pinned;          /* of a memcpy: the host's memory is pinned, and the export says so */
	bool     pageable;        /* of a memcpy: the host's memory is */
	bool     gone, decompress;   /* a memcpy whose data are decompressed on their way */
	int64_t  node;            /* graphNodeId, 0: none */
	uint32_t inst;            /* of a graph node: its instruction */
	struct syn_meet meet;     /* of a graph node */
	uint32_t unit;            /* of --xla26: in plan.unit; 0: directly under the range of thunks */
};
struct syn_thunk {
	uint32_t range, module, inst, dev, outer;
	struct syn_meet meet;
	/* as the export shows it */
	bool     inner, keep, works;   /* works: it has operations that are no copies or sets of memory */
	int64_t  start, end, ops, occurrence, hidden;
};
struct syn_module {
	uint32_t range, prog, dev;   /* prog SYN_NONE: the autotuner's */
	int64_t  exec;
	/* as the export shows it */
	bool     keep, steady;
	int64_t  start, end, ops, execution, thunks;
};
/* Of --xla26: a thunk, wherever it ran. */
struct syn_unit {
	struct syn_thunk t;       /* its range: its own, or its graph's */
	uint32_t step, buffer;    /* in the program's tree; the command buffer's instruction */
	bool     graph;
	/* as the export shows it */
	int64_t  start, end, ops;
};
/* Rows that are not ranges: marks (34), categories (33), thread names (39), domains (75). */
struct syn_mark { int64_t time; uint32_t proc, thread, name; int type, domain, category; };

/* Of --nccl: the payload of a range, and a node of a CUDA graph as captured. */
enum syn_shape_of { SYN_N_COLL, SYN_N_REDUCE, SYN_N_ROOTED, SYN_N_P2P, SYN_N_INIT, SYN_N_SHAPES };
struct syn_payload { int shape; int64_t comm, size, peer, ranks, rank, cuda; };
struct syn_capture { uint32_t proc, thread; int64_t time, node; };
/* A stream waits for a function on the host; node 0: not one of a graph. */
struct syn_host_fn { int64_t start, end, node; uint32_t dev, call; int stream; bool gone; };

/* Of --memory: an allocation or a free; call SYN_NONE: of no call, pool 0: of no pool, stream 0: of none. */
struct syn_memory {
	int64_t     time, bytes, address, pool, pool_size, pool_used, stream;
	uint32_t    dev, call;
	int         kind;
	bool        frees;
	const char *variable;
};

struct sim;

struct syn_plan {
	struct nsx_arena  arena;
	struct nsx_intern names;
	uint64_t          random;
	uint32_t          nxports;
	int64_t           base;        /* local time of true time 0 where clocks are right */
	NSX_VEC(struct syn_program) prog;
	NSX_VEC(struct syn_frame)   frame;
	NSX_VEC(struct syn_proc)    proc;
	NSX_VEC(struct syn_dev)     dev;
	NSX_VEC(struct syn_range)   range;
	NSX_VEC(struct syn_call)    call;
	NSX_VEC(struct syn_op)      op;
	NSX_VEC(struct syn_thunk)   thunk;
	NSX_VEC(struct syn_unit)    unit;    /* of --xla26; 0 is no thunk */
	NSX_VEC(struct syn_thunk)   split;   /* the kept thunks, with command buffers taken apart as a tool with a dump
	                                      * does */
	NSX_VEC(struct syn_thunk)   bare;    /* the same without a dump */
	NSX_VEC(struct syn_module)  module;
	NSX_VEC(struct syn_mark)    mark;
	NSX_VEC(struct syn_payload) payload;
	NSX_VEC(struct syn_capture) capture;
	NSX_VEC(struct syn_host_fn) host_fn;
	NSX_VEC(struct syn_memory)  memory;
	uint32_t instances;
	bool     comm;                 /* the job communicates */
	struct sim *sim;               /* of --sim: its run */
};

/* plan.c: functions for building a plan. */
void        syn_die(const char *fmt, ...) NSX_PRINTF(1, 2) __attribute__((noreturn));
void       *syn_check(void *p);          /* returns p, which is not NULL; exits when out of memory */
#define syn_add(v, x) ((void)(nsx_vec_push((v), (x)) || (syn_die("out of memory"), 0)))
const char *syn_fmt(struct syn_plan *p, const char *fmt, ...) NSX_PRINTF(2, 3);
uint32_t    syn_name(struct syn_plan *p, const char *s);
uint32_t    syn_namef(struct syn_plan *p, const char *fmt, ...) NSX_PRINTF(2, 3);
const char *syn_str(const struct syn_plan *p, uint32_t name);
int64_t     syn_rnd(struct syn_plan *p, int64_t lo, int64_t hi);   /* lo..hi, both included */
int64_t     syn_local(const struct syn_plan *p, uint32_t proc, int64_t t);   /* the time of the process's clock at t */
int64_t     syn_program_id(uint32_t proc, const struct syn_program *pr);
const char *syn_profile(struct syn_plan *p, uint32_t xport);                 /* "r0" */
uint64_t    syn_gtid(const struct syn_plan *p, uint32_t proc, uint32_t thread);
uint64_t    syn_gpid(const struct syn_plan *p, uint32_t proc);
void        syn_free(struct syn_plan *p);
void        syn_people(struct syn_plan *p);                        /* processes, threads, devices, clocks */
uint32_t    syn_push(struct syn_plan *p, uint32_t proc, uint32_t thread, int domain, uint32_t name, bool registered);
void        syn_pop(struct syn_plan *p, uint32_t proc, uint32_t thread);
uint32_t    syn_call(struct syn_plan *p, uint32_t proc, uint32_t thread, const char *name, int64_t dur);
uint32_t    syn_launch(struct syn_plan *p, uint32_t proc, uint32_t thread);  /* a call that launches a kernel */
uint32_t    syn_op(struct syn_plan *p, struct syn_op op);
bool        syn_shows_host_fns(void);    /* exports of this version have decompression and host functions */
/* A decompression and a host function, each with a call, on a stream that is free from *tail on; none if exports do not have them. */
void        syn_decompress(struct syn_plan *p, uint32_t dev, uint32_t thread, int stream, int64_t *tail);
void        syn_host_fn(struct syn_plan *p, uint32_t dev, uint32_t thread, int stream, int64_t *tail);
/* A host function that is a node of the graph that `call` launched. */
void        syn_host_node(struct syn_plan *p, uint32_t dev, uint32_t call, int stream, int64_t node, int64_t *tail);
/* Number of the device's group, -1 if it is in none, and its size. */
int         syn_group(const struct syn_plan *p, enum syn_group kind, int device, int *size);
bool        syn_runs(const struct syn_plan *p, const struct syn_inst *in, int device);   /* that device has the instruction */
int64_t     syn_bytes(const struct syn_plan *p, const struct syn_inst *in, int device);

/* layout.c: properties of a program that only dumps have. */
struct syn_groups { NSX_VEC(int) id; NSX_VEC(size_t) end; };       /* logical ids; where each group ends */
bool        syn_recent(void);                                      /* XLA of 2026 */
void        syn_layout(struct syn_plan *p, uint32_t prog);         /* computations and ids, once the instructions are there */
bool        syn_dumped(const struct syn_inst *in);                 /* the dump has it under its name */
int         syn_logical_device(const struct syn_plan *p, int id);  /* by the program's device assignment; its own inverse */
bool        syn_reduces(const struct syn_inst *in);
void        syn_groups(const struct syn_plan *p, const struct syn_inst *in, struct syn_groups *g);   /* the caller frees both lists */
int         syn_first_group(const struct syn_plan *p, const struct syn_inst *in);   /* number of its devices */
const char *syn_stack(struct syn_plan *p, uint32_t frame);         /* as tools print it, "" for SYN_NONE */
const char *syn_fingerprint(struct syn_plan *p, uint32_t proc, uint32_t prog);
const char *syn_scheduling_name(struct syn_plan *p, const struct syn_inst *in);     /* "" for none */
struct syn_inst syn_reducer(struct syn_plan *p, const struct syn_program *pr);      /* the instruction of its reducing computation */

void syn_model(struct syn_plan *p);                                /* model.c: the programs */
void syn_compile(struct syn_plan *p, uint32_t proc, uint32_t prog);          /* compile.c */
void syn_execute(struct syn_plan *p, uint32_t prog);               /* run.c: once, on every device */
void syn_job(struct syn_plan *p);                                  /* run.c: all of it */
void syn_settle(struct syn_plan *p);                               /* run.c: every GPU is idle and every host has noticed */
int64_t syn_spend(struct syn_plan *p, const struct syn_dev *d, int64_t cost, int64_t exec);   /* run.c: GPU time in that execution */
void syn_open_module(struct syn_plan *p, uint32_t prog, uint32_t dev);
void syn_open_thunk(struct syn_plan *p, const struct syn_inst *in, uint32_t i, uint32_t dev, uint32_t module);
void syn_close_thunk(struct syn_plan *p, uint32_t dev);
/* run.c: the devices' kernels op[] of a collective have begun; sets when they end, and part[], their records of it. */
void syn_meet(struct syn_plan *p, const struct syn_inst *in, const uint32_t *op, struct syn_meet *part, int64_t exec);
void syn_domains(struct syn_plan *p);                              /* run.c: names of domains */
/* plant.c: the additions of --plant. */
bool syn_plant_known(const char *what);
bool syn_planted(const char *what);
void syn_plant_subject(const char *what);                          /* what its finding names */
void syn_plant_costs(struct syn_program *pr);                      /* to the program of the step */
void syn_plant_people(struct syn_plan *p);                         /* to devices */
void syn_plant_before(struct syn_plan *p);                         /* before a step */
bool syn_plant_after(struct syn_plan *p, uint32_t dev);            /* after a step; whether it read the loss */
void syn_plant_answer(void);
/* memory.c: what --memory allocates before the first step, at the beginning and at the end of step k. */
void syn_memory_first(struct syn_plan *p, uint32_t dev, uint32_t thread);
void syn_memory_begin(struct syn_plan *p, uint32_t dev, uint32_t thread, int64_t k);
void syn_memory_end(struct syn_plan *p, uint32_t dev, uint32_t thread, int64_t k);
/* vary.c: devices, steps and hosts that are not equal. */
bool        syn_vary_check(const char **why);                      /* whether its options have values that make sense */
void        syn_vary_people(struct syn_plan *p);
int64_t     syn_vary(const struct syn_plan *p, uint32_t dev, int64_t ns);   /* time of a computing kernel in this step */
/* With --contend: a collective of the device, whose end is known; a computing kernel that would take ns. */
void        syn_contend_comm(struct syn_dev *d, int64_t from, int64_t to);
int64_t     syn_contend(struct syn_dev *d, int64_t start, int64_t ns);
void        syn_vary_step(int64_t k);                              /* step k begins */
bool        syn_vary_other(void);                                  /* this step evaluates */
void        syn_vary_before(struct syn_plan *p, uint32_t dev);     /* a late rack, before a step */
void        syn_vary_after(struct syn_plan *p, uint32_t dev);      /* a checkpoint, after a step */
const char *syn_host_name(struct syn_plan *p, uint32_t proc);
void        syn_vary_answers(struct syn_plan *p);
void syn_torch(struct syn_plan *p);                                /* torch.c */
bool syn_in_lockstep(void);                                        /* plant.c: devices of --torch run together, as its collectives require */
void syn_nccl(struct syn_plan *p);                                 /* nccl.c */
void syn_nccl_answers(struct syn_plan *p);
bool syn_payload_spoilt(uint32_t payload);                         /* payload.c: whether that payload (1 + index) is
                                                                    * damaged */
void syn_show(struct syn_plan *p);                                 /* show.c: the part of the plan in each capture */
void syn_project(struct syn_plan *p);                              /* project.c */
void syn_judge(struct syn_plan *p);                                /* judge.c: modules, thunks, hidden time */
void syn_export(struct syn_plan *p);                               /* export.c */
void syn_places(struct syn_plan *p);                               /* payload.c: the answers of --payloads */
/* list: the thunks to count, NULL: those of the plan. */
void syn_answer_modules(struct syn_plan *p, const char *file, bool tuner, const struct syn_thunk *list, size_t nlist);
uint32_t syn_rest(struct syn_plan *p, const struct syn_program *pr, uint32_t buffer, const struct syn_inst *in);   /* model.c: the instruction for kernels of `in` that remain with a buffer */
void syn_rests(struct syn_plan *p, struct syn_program *pr, uint32_t buffer, const struct syn_inst *in);            /* model.c: create it */
const char *syn_kernel_kind(const struct syn_inst *in);            /* model.c: the collective of NCCL's kernel, by its name only */
void syn_answer_thunks(struct syn_plan *p, const char *file, const struct syn_thunk *list, size_t nlist, bool tuner);
void syn_answer_collectives(struct syn_plan *p);
bool syn_works(const struct syn_op *op);   /* judge.c: it is no copy or set of memory */
void syn_number(struct syn_plan *p, struct syn_thunk *list, size_t nlist);   /* judge.c: occurrences, hidden time */
void syn_answers(struct syn_plan *p);                              /* answers.c */
void syn_scale(void);                                              /* scale.c */
void syn_gaps(void);                                               /* gaps.c */
void syn_late(void);                                               /* late.c */
void syn_work(void);                                               /* work_run.c */
void syn_write_file(const char *path, const struct nsx_buf *bytes);             /* dump.c: or exit */
void syn_dumps(struct syn_plan *p);                                /* dump.c: DIR/dumpN */
struct nsx_buf syn_hlo(struct syn_plan *p, uint32_t proc, uint32_t prog);    /* dump.c: the HloProto of a program */
void syn_answer_insts(struct syn_plan *p);                         /* folds.c */
void syn_folds(struct syn_plan *p);                                /* folds.c: answers that need dumps */

/* heap.c: generated use of memory by the program's instructions. */
struct syn_event { int kind; int64_t buffer, shares; uint32_t inst; };   /* kind: 0 ALLOC, 1 FREE, 2 SHARE_WITH; inst of the entry computation */
struct syn_trace {
	NSX_VEC(int64_t) size;   /* by buffer */
	NSX_VEC(struct syn_event) event;
	int64_t peak, points, color;
	/* Reserved sizes of this memory. The first `shared` bytes of arguments are also those of results; slack is
	 * reserved for the trace beyond its peak. */
	int64_t arguments, outputs, shared, constants, local, slack;
};
int  syn_heap(struct syn_plan *p, uint32_t prog, struct syn_trace trace[2]);   /* returns the number of traces; the
                                                                                * caller frees their lists */
void syn_heap_answers(struct syn_plan *p);

/* tsv.c: an answers file. */
struct syn_tsv { const char *name; struct nsx_buf buf; };
void syn_tsv_open(struct syn_tsv *t, const char *name, const char *header);
void syn_tsv_row(struct syn_tsv *t, const char *fmt, ...) NSX_PRINTF(2, 3);
void syn_tsv_close(struct syn_tsv *t);    /* write DIR/answers/NAME.tsv; falsify one number if requested */
void syn_tsv_checked(void);               /* die when the file to falsify was not written */

#endif
