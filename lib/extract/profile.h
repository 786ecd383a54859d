/* profile.h -- private to extraction: the XLA programs, executions and instructions of one export.
 *
 * The steps of extraction: nsx_extract_read gives ranges and their projection; find_devices names the GPUs;
 * find_runs turns XLA's ranges into modules and thunks; find_compiles into compile records. After all exports are done,
 * number.c gives devices, programs and instructions their numbers in the job, and emit.c, with emit_metadata.c,
 * writes the stream. */
#ifndef NSX_EXTRACT_PROFILE_H
#define NSX_EXTRACT_PROFILE_H

#include "extract/options.h"
#include "base/progress.h"
#include "base/sort.h"
#include "base/vec.h"
#include "source/source.h"
#include "source/trace.h"
#include "stream/order.h"
#include "xla/hlo_shelf.h"
#include "xla/title.h"

struct ex_device {
	int64_t  process, local, partition;  /* as the program numbers them; -1: unknown */
	int64_t  global;                     /* number in the job; -1 until number.c assigns one */
	bool     known;                      /* the profile has the global number */
	bool     kept;                       /* not filtered out */
	bool     ran;                        /* it has a module or a thunk */
};

/* A program in this export. */
struct nsx_extract_program {
	int64_t        id;        /* -1: none (autotuner) */
	struct nsx_str name;
	uint32_t       process;   /* of the trace */
	bool           executed, dumped;   /* dumped: its dump was read */
	struct nsx_str fingerprint;  /* of its dump; empty if none */
	char           digest[20];   /* "x:" and 16 hex digits; "" if never executed */
	struct nsx_str names;        /* the set of names that "x:" is the hash of (job/match/similar.h) */
	uint32_t       number;    /* in the job */
};

struct nsx_extract_inst {
	uint32_t program, name;   /* name in ex_profile.inst_names */
	uint32_t number;          /* within the job's program */
	uint32_t info;            /* in ex_profile.infos, NSX_NONE: not known */
	bool     idle;            /* it has no thunk: a command buffer whose operations were all assigned, or an entry
	                           * of a list of thunks that did not run */
	int64_t  op_id;           /* unique_hlo_op_id; -1: none */
	struct nsx_str op_name;   /* the part of the op_name that its ranges have; empty: none */
	const char *kernels;      /* the kind of collective of all kernels that it ran, by their names; NULL: none */
};

/* Data of an instruction besides its name: from a dump, else from its NVTX payload, else from its title (op_name
 * alone). Strings live as long as the profile, empty if there is none; without an opcode only data of ranges are
 * known. */
struct ex_info {
	struct nsx_str opcode, collective, op_name, scheduling_name, frames, groups;
	int64_t        bytes;     /* -1: none */
	uint32_t       locs, nlocs;
	bool           comm;
	struct nsx_hlo_cost cost;
};
struct ex_loc { struct nsx_str op_name, frames; };

struct ex_module {
	uint32_t range, program, device;
	uint32_t execution, thunks;
};

struct ex_thunk {
	uint32_t range, module, inst;
	uint32_t occurrence;
	int64_t  start, end;      /* GPU ns */
	uint32_t device;
	uint32_t ops;             /* CUDA calls that launched its operations */
	bool     gone;            /* a command buffer whose operations became thunks of instructions */
	bool     copies, works;   /* it has operations that are copies or sets of memory, not between devices; others */
};

struct ex_compile {
	uint32_t range, parent;   /* indices of ranges; parent NSX_NONE: none */
	uint32_t program;         /* NSX_NONE: unknown */
	uint32_t name;            /* in ex_profile.strings */
	uint32_t children;
	int64_t  child;           /* ns */
};

/* The sources for the instruction of an operation in a CUDA graph. */
enum ex_source { EX_PROFILE, EX_OP_BY_OP, EX_LIST, EX_NAME, EX_LEFT, EX_SOURCES };

/* The name of XLA's thunks of command buffers, without the number. */
#define NSX_BUFFER_NAME "command_buffer"

/* A command buffer of a program. Before 2026 their names had no number: then place is its position among the `of`
 * buffers of an execution. ref: the range of an execution of it that ran op by op, NSX_NONE if there is none. */
struct ex_buffer_key { uint32_t program, name, place, of, ref; };   /* name in ex_profile.inst_names */
struct ex_buffer     { uint32_t program, key, thunk; };              /* one launched as a graph */

/* The command buffers of an export. */
struct ex_buffers {
	NSX_VEC(struct ex_buffer_key) keys;
	NSX_VEC(struct ex_buffer)     list;   /* by thunk; after creation sorted by program, key, thunk */
	struct nsx_map by_key;
	uint32_t  nthunks;                /* number of thunks created from ranges: by range */
	uint32_t *first, *ops;            /* operations by thunk, of the launches and of those run op by op:
	                                   * ops[first[thunk]] up to first[thunk + 1] */
	bool      made;
	int64_t   told[EX_SOURCES], ns[EX_SOURCES];   /* operations of graphs by the source that assigned them, and
	                                               * their time */
};

/* An instruction whose ranges contain thunks of others; whether it counts as a fusion, which is then the thunk. */
struct ex_holder { uint32_t program, name; bool fusion; };   /* name in ex_profile.inst_names */

/* Data of an operation from NCCL's calls and their payloads. Kind NULL: use its kernel's name; bytes and calls -1,
 * group 0: unknown; texts empty: none. */
struct ex_carried { const char *kind; struct nsx_str comm_id, pair; int64_t bytes, calls, group; };

struct ex_nccl;   /* nccl.h */

struct ex_profile {
	const struct nsx_extract_input *input;
	const struct nsx_extract_opts  *opts;
	struct nsx_trace   trace;
	struct nsx_diags   diags;
	struct nsx_err     err;
	int                rc;
	uint64_t           bytes;        /* of the export's file, for progress */
	struct nsx_hlo_shelf *shelf;     /* of the dumps of all exports; NULL: each is read separately */
	int64_t            number;       /* of the profile in the stream */
	struct ex_device  *devices;      /* one per trace.devices */
	uint32_t          *title_of;     /* by name of the trace: index in titles, NSX_NONE: not parsed yet */
	NSX_VEC(struct nsx_title) titles;
	struct nsx_intern  strings;      /* names of compilations, strings of dumps */
	struct nsx_intern  inst_names;
	struct nsx_buf     scratch;
	NSX_VEC(struct nsx_extract_program) programs;
	struct nsx_map     program_of;   /* (id and process, name) -> program */
	NSX_VEC(struct nsx_extract_inst) insts;
	NSX_VEC(struct ex_info) infos;
	NSX_VEC(struct ex_loc) info_locs;
	struct nsx_str    *dump_frames;  /* of the dump that is being joined, by stack; ptr NULL: not stored yet */
	struct nsx_map     inst_of;      /* (program, inst name) -> inst */
	NSX_VEC(struct ex_module) modules;
	NSX_VEC(struct ex_thunk) thunks;
	NSX_VEC(struct ex_compile) compiles;
	uint32_t          *thunk_at;     /* by range: index in thunks, NSX_NONE; NULL without XLA ranges */
	uint32_t          *module_at;    /* by range: index in modules, NSX_NONE; NULL without XLA ranges */
	struct ex_buffers  buffers;
	NSX_VEC(struct ex_holder) holders;   /* only with dumps */
	struct nsx_map     holder_of;    /* (program, inst name) -> holder */
	struct nsx_intern  misnamed;     /* "PROGRAM_ID NAME" of holders that are a fusion according to dumps and not by
	                                  * name, or the other way round */
	bool               again;        /* dumps have just added to misnamed: the profile must be loaded again */
	const char       **kernel_kind;  /* by name of the trace: the kind of collective of kernels with that name;
	                                  * NULL: none. NULL without operations */
	uint8_t           *op_named;     /* by operation: the number of the kind that a range names (job/comm/names.h);
	                                  * NULL: not searched */
	struct ex_nccl    *nccl;         /* NULL: not searched */
	uint32_t          *cpu_stacks;   /* by stack of trace.cpu: its number in the job, NSX_NONE: no record has it;
	                                  * NULL without records of host threads */
	uint32_t          *op_thunk;     /* by operation: index in thunks where thunk_at of its range is not it,
	                                  * NSX_NONE; NULL: nowhere */
};

/* The title of range r if it is one of XLA's, else NULL (also when memory ran out: then p->rc is NSX_ERR). */
const struct nsx_title *nsx_extract_title(struct ex_profile *p, uint32_t r);
/* Whether range r may have a title that begins with label: if false it has none. */
bool nsx_extract_may_be(const struct ex_profile *p, uint32_t r, const char *label);

/* The program of that id (-1: none) and name in that process, created if it is new; NSX_NONE when out of memory. */
uint32_t nsx_extract_program(struct ex_profile *p, int64_t id, struct nsx_str name, uint32_t process);

/* The instruction of that name in the program, created if it is new; op_id: unique_hlo_op_id, -1 if unknown. NSX_NONE
 * when out of memory. */
uint32_t nsx_extract_inst(struct ex_profile *p, uint32_t program, struct nsx_str name, int64_t op_id);

/* "PROGRAM_ID NAME", in p->scratch: the key of an instruction in p->misnamed. */
struct nsx_str nsx_extract_misnamed_key(struct ex_profile *p, int64_t program_id, struct nsx_str name);

/* A copy of s that lives as long as the profile; empty, and p->rc set, when out of memory. With the option strip_paths,
 * frames keep only the last component of each path. */
struct nsx_str nsx_extract_keep(struct ex_profile *p, struct nsx_str s);
struct nsx_str nsx_extract_keep_frames(struct ex_profile *p, struct nsx_str s);

/* Fill the data of the instruction from a dump; false when out of memory. */
bool nsx_extract_describe(struct ex_profile *p, uint32_t inst, const struct nsx_hlo *h,
                          const struct nsx_hlo_inst *from);

/* Read a profile of any source, which is then in *source, plain or compressed with gzip or zstd, of a file or a pipe,
 * through which exports cannot come; "-" is standard input. As nsx_trace_load and nsx_kineto_load. */
int nsx_extract_read(const char *path, const struct nsx_trace_opts *opts, struct nsx_trace *t, enum nsx_source *source,
                     struct nsx_diags *diags, struct nsx_err *err);

/* Load the export and fill all of *p except numbers. Errors go to p->rc and p->err. */
void nsx_extract_load(struct ex_profile *p, int jobs);
void nsx_extract_free(struct ex_profile *p);

int nsx_extract_find_devices(struct ex_profile *p);
int nsx_extract_find_runs(struct ex_profile *p);
int nsx_extract_find_compiles(struct ex_profile *p);
int nsx_extract_read_dumps(struct ex_profile *p);
/* For executed programs without a dump: data of the instructions from NVTX payloads, else from titles. */
int nsx_extract_read_payloads(struct ex_profile *p);
/* Convert the program's command buffers into thunks of the instructions in them. dump: its dump, NULL: there is
 * none. */
struct ex_dump {
	const struct nsx_hlo      *h;
	const char                *path;    /* NULL: the profile itself has it, as bytes */
	struct nsx_str             bytes;
	const struct nsx_dump_dir *dir;     /* NULL: with path */
};
int nsx_extract_open_graphs(struct ex_profile *p, uint32_t program, const struct ex_dump *dump);
/* The same for programs without a dump, and the diags of all. */
int nsx_extract_open_other_graphs(struct ex_profile *p);
/* The number of operations of the execution op by op whose range is ref. */
static inline uint32_t
ex_ref_ops(const struct ex_profile *p, uint32_t ref)
{
	return p->trace.spans[p->trace.ranges[ref].gpu].ops;
}

/* The NVTX domain of NCCL's ranges. */
#define NSX_NCCL_DOMAIN "NCCL"

/* The thunks of the execution op by op of that key. */
void nsx_extract_ref_thunks(struct ex_profile *p, uint32_t key, uint32_t *first, uint32_t *n);
void nsx_extract_buffers_free(struct ex_buffers *b);
/* Classification by kernel names: which operations communicate, and which instructions, by the kernels that they
 * ran. */
int nsx_extract_find_comm(struct ex_profile *p);
/* The kind of collective that operation i executes, considering the operation only: its kernel's name, or a copy
 * between devices; NULL: none. */
const char *nsx_extract_op_kind(const struct ex_profile *p, uint32_t i);
/* The collectives that NVTX ranges name: NSX_OK, or NSX_ERR with p->err filled; then, of operation i, the kind, NULL:
 * none, or the operation's own name or instruction decides. */
int nsx_extract_name_comm(struct ex_profile *p);
const char *nsx_extract_op_named(const struct ex_profile *p, uint32_t i);
/* The innermost range of the thread around the time; NSX_NONE: none. */
uint32_t nsx_extract_range_around(const struct nsx_trace *t, uint64_t gtid, int64_t time);
/* NCCL's calls: those that each operation executes, and the members of communicators. */
int nsx_extract_find_nccl(struct ex_profile *p);
const struct ex_carried *nsx_extract_op_carried(const struct ex_profile *p, uint32_t i);   /* NULL: none */
void nsx_extract_nccl_free(struct ex_profile *p);
/* Whether an instruction's operations communicate, by the data of its profile alone. */
enum ex_comm { EX_COMM_NO, EX_COMM_YES, EX_COMM_BY_OP };   /* by nsx_extract_op_kind of each */
enum ex_comm nsx_extract_inst_comm(const struct ex_profile *p, uint32_t inst);
/* What operations of XLA awaited where no calls record events, added to trace.after: NSX_OK, or NSX_ERR with p->err
 * filled. After nsx_extract_find_comm. */
int nsx_extract_await_starts(struct ex_profile *p);
/* The thunk that operation i belongs to; NSX_NONE: none. */
uint32_t nsx_extract_op_thunk(const struct ex_profile *p, uint32_t i);
/* Occurrences count per instruction and module execution by GPU start. */
int nsx_extract_number_occurrences(struct ex_profile *p);

/* A program of the job. */
struct ex_job_program {
	int64_t        id;
	struct nsx_str name, fingerprint, key;
	uint32_t       first_inst, ninsts;   /* in ex_job.insts */
};
struct ex_job_inst {
	uint32_t                 program;
	struct nsx_str           name;
	bool                     comm, settled;   /* settled: comm applies to its operations too (nsx_comm_settles) */
	struct nsx_str           collective; /* empty: none, or unknown */
	const struct ex_profile *p;      /* the profile of info; NULL: no profile has data */
	const struct ex_info    *info;   /* NULL: only the name is known */
	uint32_t                 groups, stack;   /* in ex_job; NSX_NONE: none */
	uint32_t                 locs;   /* of its info's source locations, in ex_job.loc_stacks */
};

/* The names of a program in one profile: a row of the stream. */
struct ex_alias { int64_t profile; uint32_t program; int64_t id; struct nsx_str fingerprint, digest, names; };

struct ex_job {
	struct ex_profile      *profiles;   /* in the order of the stream */
	int                     n;
	const struct nsx_extract_opts *opts;
	NSX_VEC(struct ex_job_program) programs;
	NSX_VEC(struct ex_alias) aliases;
	NSX_VEC(struct ex_job_inst) insts;  /* by program, then name */
	NSX_VEC(uint32_t)       loc_stacks; /* stacks of the insts' further source locations */
	struct nsx_intern       groups, stacks;
	struct nsx_arena        arena;
	struct nsx_err         *err;
	struct nsx_diags       *diags;
	struct nsx_portion      writing;    /* the part of progress for writing */
};

/* The part of an export's bytes in progress that loading it represents; the rest is for writing. */
static inline uint64_t
ex_load_bytes(const struct ex_profile *p)
{
	return p->bytes - p->bytes / 4;
}

/* The source of diag records. */
#define EX_TOOL "nsysx-extract"

/* All exports together, as nsx_extract; dumps are read through shelf, NULL: each separately. */
int nsx_extract_extract(const struct nsx_extract_input *inputs, int n, const struct nsx_extract_opts *opts,
               struct nsx_hlo_shelf *shelf, struct nsx_writer *out, struct nsx_diags *diags, struct nsx_err *err);

/* Whether the exports are so large together that they should be held one after the other. */
bool nsx_extract_wants_spools(const struct nsx_extract_input *inputs, int n, const struct nsx_extract_opts *opts);

/* The same stream through compressed temporary files, one per export, and a merge. */
int nsx_extract_extract_spooled(const struct nsx_extract_input *inputs, int n, const struct nsx_extract_opts *opts,
                       struct nsx_hlo_shelf *shelf, struct nsx_writer *out, struct nsx_diags *diags,
                       struct nsx_err *err);

/* Assign the numbers of profiles, devices, programs and instructions. */
int nsx_extract_number(struct ex_job *job);

/* The ranges of p that its options keep, by host start, except those whose GPU work starts before them. Each thread's
 * ranges are sorted, so they are only merged, and the only memory is a position in each thread. */
struct ex_hosts { const struct ex_profile *p; struct ex_host *heap; size_t n; };

/* False when out of memory; call nsx_extract_hosts_close afterwards in both cases. */
bool nsx_extract_hosts_open(struct ex_hosts *h, const struct ex_profile *p);
/* The start of the next one; false: there is none. */
bool nsx_extract_hosts_peek(const struct ex_hosts *h, int64_t *start);
/* Index of the next one, which must exist. */
uint32_t nsx_extract_hosts_next(struct ex_hosts *h);
void nsx_extract_hosts_close(struct ex_hosts *h);

/* The calls of p that its options keep, by host start, merged from the threads like ranges. */
struct ex_calls { const struct ex_profile *p; struct ex_caller *heap; size_t n; };
bool nsx_extract_calls_open(struct ex_calls *c, const struct ex_profile *p);
bool nsx_extract_calls_peek(const struct ex_calls *c, int64_t *start);
uint32_t nsx_extract_calls_next(struct ex_calls *c);
void nsx_extract_calls_close(struct ex_calls *c);

/* Whether the options keep the overhead. */
bool nsx_extract_overhead_kept(const struct ex_profile *p, uint32_t overhead);

/* cpu.c: what host threads did, as events: their number at most; those that the options keep, from out[n] on, the new
 * n. Their kinds are those with nsx_extract_is_cpu. */
size_t nsx_extract_cpu_most(const struct ex_profile *p);
size_t nsx_extract_cpu_collect(const struct ex_profile *p, struct nsx_sort_start *out, size_t n);
static inline bool nsx_extract_is_cpu(uint32_t kind) { return kind >= NSX_OS && kind <= NSX_SAMPLE; }
int64_t nsx_extract_cpu_dur(const struct ex_profile *p, const struct nsx_sort_start *e);
int64_t nsx_extract_cpu_number(const struct ex_profile *p, const struct nsx_sort_start *e, enum nsx_role role);
struct nsx_str nsx_extract_cpu_name(const struct ex_profile *p, const struct nsx_sort_start *e);
void nsx_extract_set_cpu(const struct ex_profile *p, const struct nsx_sort_start *e, struct nsx_rec *r);
/* Number the stacks of records that are kept, after those of instructions. NSX_OK or NSX_ERR. */
int nsx_extract_number_cpu(struct ex_job *job);
/* The threads whose records are kept, or that these name (data: NULL), by pid and tid; *n of them, which the caller
 * frees. NULL when out of memory. */
struct nsx_extract_thread { uint64_t gtid; const struct nsx_cpu_thread *data; };
struct nsx_extract_thread *nsx_extract_cpu_threads(const struct ex_profile *p, size_t *n);

/* The thread id of the operating system, from that of the export. */
int64_t nsx_extract_tid(uint64_t gtid);
/* A name of the export; empty for NSX_NONE. */
struct nsx_str nsx_extract_text(const struct nsx_trace *t, uint32_t name);

/* Values that the record of a call or an overhead will have: its duration, a number by role (INT64_MIN: none, the
 * profile omitted), its name. */
int64_t nsx_extract_host_dur(const struct ex_profile *p, const struct nsx_sort_start *e);
int64_t nsx_extract_host_number(const struct ex_profile *p, const struct nsx_sort_start *e, enum nsx_role role);
struct nsx_str nsx_extract_host_name(const struct ex_profile *p, const struct nsx_sort_start *e);

/* The record of a call or an overhead. */
void nsx_extract_set_call(const struct ex_profile *p, uint32_t call, struct nsx_rec *r);
void nsx_extract_set_overhead(const struct ex_profile *p, uint32_t overhead, struct nsx_rec *r);
/* The columns of an op record on the call that issued the operation, on waits, and on memory. */
void nsx_extract_set_op_host(const struct ex_profile *p, uint32_t op, struct nsx_rec *r);

/* The modules, ranges, thunks, operations, calls and overheads of p that its options keep, in the order of the stream:
 * the time that determines their position, the kind (enum nsx_kind_id) as the tag, and the index among those of the
 * kind. Sorted by time at once; events of one time are sorted when they are reached. */
struct ex_events {
	const struct ex_profile *p;
	struct nsx_sort_start         *list;       /* by time: all except those in `hosts` and `calls` */
	size_t                   n, at;
	struct ex_hosts          hosts;
	struct ex_calls          calls;
	NSX_VEC(struct nsx_sort_start) run, tmp;   /* those of the current time, sorted */
	size_t                   turn;       /* in run */
	bool                     failed;     /* out of memory */
};

/* False when out of memory; call nsx_extract_events_close afterwards in both cases. */
bool nsx_extract_events_open(struct ex_events *e, const struct ex_profile *p);
/* The next one; NULL at the end, and when out of memory, in which case `failed` is set. turn + 1 is advanced. */
const struct nsx_sort_start *nsx_extract_events_peek(struct ex_events *e);
void nsx_extract_events_close(struct ex_events *e);

/* Order of two events, possibly of different profiles: negative, 0 or positive. */
int nsx_extract_event_cmp(const struct ex_profile *p, const struct nsx_sort_start *a, const struct ex_profile *q,
                          const struct nsx_sort_start *b);

/* Whether the options keep the range, by its process or, if its GPU work ran on one device, by that device, and by
 * either of its times. */
bool nsx_extract_range_kept(const struct ex_profile *p, uint32_t range);
/* Whether its GPU work starts before its host start, as it may if the clocks differ. */
bool nsx_extract_range_ahead(const struct ex_profile *p, uint32_t range);

/* end - start; clamped if it does not fit. */
int64_t nsx_extract_dur(int64_t start, int64_t end);

/* Whether [start, end] is in the time window of the options. */
bool nsx_extract_in_window(const struct nsx_extract_opts *opts, int64_t start, int64_t end);

/* Whether records of the process are kept: some device of it is kept, or nothing is filtered. */
bool nsx_extract_process_kept(const struct ex_profile *p, uint32_t process);

/* Number of the device in the job; -1 for NSX_NONE. */
int64_t nsx_extract_global(const struct ex_profile *p, uint32_t device);

/* A device's membership in a communicator, for the stream; device -1: unknown. */
struct ex_place { char comm_id[17]; int64_t profile, device, rank, ranks; struct nsx_str name; };

/* The places of all profiles' communicators that are kept, sorted by communicator, profile and device; *n of them,
 * which the caller frees. NULL when out of memory. */
struct ex_place *nsx_extract_places(const struct ex_job *job, size_t *n);

/* Write the whole stream except diags and `end`. */
int nsx_extract_emit(struct ex_job *job, struct nsx_writer *out);

#endif
