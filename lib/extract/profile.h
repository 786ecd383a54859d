/* profile.h -- private to extraction: what one export says about XLA programs.
 *
 * An export's way through: nsx_trace_load (lib/nsys) gives ranges and their projection; find_devices names the GPUs;
 * find_runs turns XLA's ranges into modules and thunks; find_compiles into compile records. After all exports are done,
 * number.c gives devices, programs and instructions their numbers in the job, and emit.c writes the stream. */
#ifndef NSX_EXTRACT_PROFILE_H
#define NSX_EXTRACT_PROFILE_H

#include "extract/options.h"
#include "base/progress.h"
#include "base/sort.h"
#include "base/vec.h"
#include "nsys/trace.h"
#include "stream/order.h"
#include "xla/hlo_shelf.h"
#include "xla/title.h"

struct ex_device {
	int64_t  process, local, partition;  /* as the program names them; -1: not known */
	int64_t  global;                     /* number in the job; -1 until number.c assigns one */
	bool     known;                      /* the profile tells the global number */
	bool     kept;                       /* not filtered out */
	bool     ran;                        /* it has a module or a thunk */
};

/* A program as this export knows it. */
struct nsx_extract_program {
	int64_t        id;        /* -1: none (autotuner) */
	struct nsx_str name;
	uint32_t       process;   /* of the trace */
	bool           executed, dumped;   /* dumped: its dump was read */
	struct nsx_str fingerprint;  /* of its dump; empty if none */
	char           digest[20];   /* "x:" and 16 hex digits; "" if never executed */
	uint32_t       number;    /* in the job */
};

struct nsx_extract_inst {
	uint32_t program, name;   /* name in ex_profile.inst_names */
	uint32_t number;          /* within the job's program */
	uint32_t info;            /* in ex_profile.infos, NSX_NONE: not known */
	bool     idle;            /* no thunk is of it: a command buffer taken apart, or what a list of thunks names and
	                           * nothing ran */
	int64_t  op_id;           /* unique_hlo_op_id; -1: none */
	struct nsx_str op_name;   /* the part that its ranges tell of it; empty: none */
	const char *kernels;      /* the kind of collective that all kernels it ran carry out, by their names; NULL:
	                           * none */
};

/* What is known of an instruction beyond its name: from a dump, else from its NVTX payload, else from its title
 * (op_name alone). Strings live as long as the profile, empty if there is none; without opcode nothing but what ranges
 * tell is known. */
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
	bool     gone;            /* a command buffer whose operations became thunks of their own */
};

struct ex_compile {
	uint32_t range, parent;   /* indices of ranges; parent NSX_NONE: none */
	uint32_t program;         /* NSX_NONE: not told */
	uint32_t name;            /* in ex_profile.strings */
	uint32_t children;
	int64_t  child;           /* ns */
};

/* What tells which instruction an operation of a CUDA graph is of. */
enum ex_source { EX_OP_BY_OP, EX_LIST, EX_NAME, EX_LEFT, EX_SOURCES };

/* What XLA's thunks of command buffers are called, but for a number. */
#define NSX_BUFFER_NAME "command_buffer"

/* A command buffer of a program. Before 2026 they went by no number: then place says which of the `of` in an execution
 * it is. ref: the range of an execution of it that ran op by op, NSX_NONE if there is none. */
struct ex_buffer_key { uint32_t program, name, place, of, ref; };   /* name in ex_profile.inst_names */
struct ex_buffer     { uint32_t program, key, thunk; };              /* one launched as a graph */

/* The command buffers of an export. */
struct ex_buffers {
	NSX_VEC(struct ex_buffer_key) keys;
	NSX_VEC(struct ex_buffer)     list;   /* by thunk; once made, by program, key, thunk */
	struct nsx_map by_key;
	uint32_t  nthunks;                /* thunks that ranges made: by range */
	uint32_t *first, *ops;            /* operations by thunk, of the launches and of those run op by op:
	                                   * ops[first[thunk]] up to first[thunk + 1] */
	bool      made;
	int64_t   told[EX_SOURCES], ns[EX_SOURCES];   /* operations of graphs by what told of them, and their time */
};

/* An instruction whose ranges hold other thunks'; whether they are taken for a fusion, which is the thunk then. */
struct ex_holder { uint32_t program, name; bool fusion; };   /* name in ex_profile.inst_names */

/* What NCCL's calls and their payloads say of an operation. Kind NULL: its kernel's name tells; bytes and calls -1,
 * group 0: not known; texts empty: none. */
struct ex_carried { const char *kind; struct nsx_str comm_id, pair; int64_t bytes, calls, group; };

struct ex_nccl;   /* nccl.h */

struct ex_profile {
	const struct nsx_extract_input *input;
	const struct nsx_extract_opts  *opts;
	struct nsx_trace   trace;
	struct nsx_diags   diags;
	struct nsx_err     err;
	int                rc;
	uint64_t           bytes;        /* of the export's file, by which progress is told */
	struct nsx_hlo_shelf *shelf;     /* of the dumps of all exports; NULL: each is read for itself */
	int64_t            number;       /* of the profile in the stream */
	struct ex_device  *devices;      /* one per trace.devices */
	uint32_t          *title_of;     /* by name of the trace: index in titles, NSX_NONE: not looked at */
	NSX_VEC(struct nsx_title) titles;
	struct nsx_intern  strings;      /* compile names, what dumps say */
	struct nsx_intern  inst_names;
	struct nsx_buf     scratch;
	NSX_VEC(struct nsx_extract_program) programs;
	struct nsx_map     program_of;   /* (id and process, name) -> program */
	NSX_VEC(struct nsx_extract_inst) insts;
	NSX_VEC(struct ex_info) infos;
	NSX_VEC(struct ex_loc) info_locs;
	struct nsx_str    *dump_frames;  /* of the dump that is being joined, by stack; ptr NULL: not kept yet */
	struct nsx_map     inst_of;      /* (program, inst name) -> inst */
	NSX_VEC(struct ex_module) modules;
	NSX_VEC(struct ex_thunk) thunks;
	NSX_VEC(struct ex_compile) compiles;
	uint32_t          *thunk_at;     /* by range: index in thunks, NSX_NONE; NULL without XLA ranges */
	uint32_t          *module_at;    /* by range: index in modules, NSX_NONE; NULL without XLA ranges */
	struct ex_buffers  buffers;
	NSX_VEC(struct ex_holder) holders;   /* only with dumps */
	struct nsx_map     holder_of;    /* (program, inst name) -> holder */
	struct nsx_intern  misnamed;     /* "PROGRAM_ID NAME" of holders that dumps say to be a fusion where the name
	                                  * does not, or the other way round */
	bool               again;        /* dumps have just said so: what is known by now is to be found anew */
	const char       **kernel_kind;  /* by name of the trace: the kind of collective that kernels of it carry out;
	                                  * NULL: none. NULL without operations */
	struct ex_nccl    *nccl;         /* NULL: not looked for */
	uint32_t          *op_thunk;     /* by operation: index in thunks where thunk_at of its range is not it,
	                                  * NSX_NONE; NULL: nowhere */
};

/* The title of range r if it is one of XLA's, else NULL (also when memory ran out: then p->rc is NSX_ERR). */
const struct nsx_title *nsx_extract_title(struct ex_profile *p, uint32_t r);

/* The program of that id (-1: none) and name in that process, made when it is new; NSX_NONE when out of memory. */
uint32_t nsx_extract_program(struct ex_profile *p, int64_t id, struct nsx_str name, uint32_t process);

/* The instruction of that name in the program, made when it is new; op_id: unique_hlo_op_id, -1 if not told. NSX_NONE
 * when out of memory. */
uint32_t nsx_extract_inst(struct ex_profile *p, uint32_t program, struct nsx_str name, int64_t op_id);

/* "PROGRAM_ID NAME", in p->scratch: an instruction for p->misnamed. */
struct nsx_str nsx_extract_misnamed_key(struct ex_profile *p, int64_t program_id, struct nsx_str name);

/* A copy of s that lives as long as the profile; empty, and p->rc set, when out of memory. Of frames only the last
 * component of each path where the options ask for that. */
struct nsx_str nsx_extract_keep(struct ex_profile *p, struct nsx_str s);
struct nsx_str nsx_extract_keep_frames(struct ex_profile *p, struct nsx_str s);

/* Fill what a dump says of the instruction; false when out of memory. */
bool nsx_extract_describe(struct ex_profile *p, uint32_t inst, const struct nsx_hlo *h,
                          const struct nsx_hlo_inst *from);

/* Load the export and fill all of *p but numbers. Errors go to p->rc and p->err. */
void nsx_extract_load(struct ex_profile *p, int jobs);
void nsx_extract_free(struct ex_profile *p);

int nsx_extract_find_devices(struct ex_profile *p);
int nsx_extract_find_runs(struct ex_profile *p);
int nsx_extract_find_compiles(struct ex_profile *p);
int nsx_extract_read_dumps(struct ex_profile *p);
/* Of executed programs without a dump: what NVTX payloads say of the instructions, else what titles do. */
int nsx_extract_read_payloads(struct ex_profile *p);
/* Turn the program's command buffers into thunks of the instructions in them. dump: what is known of its dump, NULL:
 * there is none. */
struct ex_dump { const struct nsx_hlo *h; const char *path; const struct nsx_dump_dir *dir; };
int nsx_extract_open_graphs(struct ex_profile *p, uint32_t program, const struct ex_dump *dump);
/* Those of the programs without a dump, and what there is to say of all. */
int nsx_extract_open_other_graphs(struct ex_profile *p);
/* How many operations the execution op by op has whose range is ref. */
static inline uint32_t
ex_ref_ops(const struct ex_profile *p, uint32_t ref)
{
	return p->trace.spans[p->trace.ranges[ref].gpu].ops;
}

/* The NVTX domain NCCL's ranges are in. */
#define NSX_NCCL_DOMAIN "NCCL"

/* The thunks of the execution op by op of that key. */
void nsx_extract_ref_thunks(struct ex_profile *p, uint32_t key, uint32_t *first, uint32_t *n);
void nsx_extract_buffers_free(struct ex_buffers *b);
/* What the names of kernels say: which operations communicate, and which instructions by what they ran. */
int nsx_extract_find_comm(struct ex_profile *p);
/* The kind of collective that operation i carries out, by itself alone: its kernel's name, or that it is a copy between
 * devices; NULL: none. */
const char *nsx_extract_op_kind(const struct ex_profile *p, uint32_t i);
/* NCCL's calls: which of them each operation carries out, and who is who in communicators. */
int nsx_extract_find_nccl(struct ex_profile *p);
const struct ex_carried *nsx_extract_op_carried(const struct ex_profile *p, uint32_t i);   /* NULL: none */
void nsx_extract_nccl_free(struct ex_profile *p);
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
	bool                     comm, settled;   /* settled: comm holds for its operations too (nsx_comm_settles) */
	struct nsx_str           collective; /* empty: none, or not known */
	const struct ex_profile *p;      /* that of info; NULL: no profile has spoken */
	const struct ex_info    *info;   /* NULL: only the name is known */
	uint32_t                 groups, stack;   /* in ex_job; NSX_NONE: none */
	uint32_t                 locs;   /* of its info's places, in ex_job.loc_stacks */
};

/* What a program is called in one profile: a row of the stream. */
struct ex_alias { int64_t profile; uint32_t program; int64_t id; struct nsx_str fingerprint, digest; };

struct ex_job {
	struct ex_profile      *profiles;   /* in the order of the stream */
	int                     n;
	const struct nsx_extract_opts *opts;
	NSX_VEC(struct ex_job_program) programs;
	NSX_VEC(struct ex_alias) aliases;
	NSX_VEC(struct ex_job_inst) insts;  /* by program, then name */
	NSX_VEC(uint32_t)       loc_stacks; /* stacks of the insts' further places */
	struct nsx_intern       groups, stacks;
	struct nsx_arena        arena;
	struct nsx_err         *err;
	struct nsx_diags       *diags;
	struct nsx_portion      writing;    /* what progress is told of */
};

/* Of the bytes by which progress is told of an export, those that stand for loading it; the others are for writing. */
static inline uint64_t
ex_load_bytes(const struct ex_profile *p)
{
	return p->bytes - p->bytes / 4;
}

/* What diag records name as their source. */
#define EX_TOOL "nsysx-extract"

/* Size of the file at path, 0 if it is none: what progress expects of an export. */
uint64_t nsx_extract_bytes(const char *path);

/* All exports together, as nsx_extract; dumps are read through shelf, NULL: each for itself. */
int nsx_extract_extract(const struct nsx_extract_input *inputs, int n, const struct nsx_extract_opts *opts,
               struct nsx_hlo_shelf *shelf, struct nsx_writer *out, struct nsx_diags *diags, struct nsx_err *err);

/* Whether the exports are so large together that they are better held one after the other. */
bool nsx_extract_wants_spools(const struct nsx_extract_input *inputs, int n, const struct nsx_extract_opts *opts);

/* The same stream by way of compressed temporary files, one an export, and a merge. */
int nsx_extract_extract_spooled(const struct nsx_extract_input *inputs, int n, const struct nsx_extract_opts *opts,
                       struct nsx_hlo_shelf *shelf, struct nsx_writer *out, struct nsx_diags *diags,
                       struct nsx_err *err);

/* Give profiles, devices, programs and instructions their numbers. */
int nsx_extract_number(struct ex_job *job);

/* The ranges of p that its options keep, by host start, but for those whose GPU work is ahead of it. Each thread's lie
 * in order, so that they need only be merged, and no memory but a place in each thread. */
struct ex_hosts { const struct ex_profile *p; struct ex_host *heap; size_t n; };

/* False when out of memory; nsx_extract_hosts_close afterwards all the same. */
bool nsx_extract_hosts_open(struct ex_hosts *h, const struct ex_profile *p);
/* When the next one starts; false: there is none. */
bool nsx_extract_hosts_peek(const struct ex_hosts *h, int64_t *start);
/* Index of the next one, which is there. */
uint32_t nsx_extract_hosts_next(struct ex_hosts *h);
void nsx_extract_hosts_close(struct ex_hosts *h);

/* The calls of p that its options keep, by host start, merged from the threads' as ranges are. */
struct ex_calls { const struct ex_profile *p; struct ex_caller *heap; size_t n; };
bool nsx_extract_calls_open(struct ex_calls *c, const struct ex_profile *p);
bool nsx_extract_calls_peek(const struct ex_calls *c, int64_t *start);
uint32_t nsx_extract_calls_next(struct ex_calls *c);
void nsx_extract_calls_close(struct ex_calls *c);

/* Whether the options keep the overhead. */
bool nsx_extract_overhead_kept(const struct ex_profile *p, uint32_t overhead);

/* The system's number of a thread, of the export's. */
int64_t nsx_extract_tid(uint64_t gtid);
/* A name of the export; empty for NSX_NONE. */
struct nsx_str nsx_extract_text(const struct nsx_trace *t, uint32_t name);

/* What the record of a call or an overhead will have: its duration, a number by role (INT64_MIN: none, the profile left
 * out), its name. */
int64_t nsx_extract_host_dur(const struct ex_profile *p, const struct nsx_sort_start *e);
int64_t nsx_extract_host_number(const struct ex_profile *p, const struct nsx_sort_start *e, enum nsx_role role);
struct nsx_str nsx_extract_host_name(const struct ex_profile *p, const struct nsx_sort_start *e);

/* The record of a call or an overhead. */
void nsx_extract_set_call(const struct ex_profile *p, uint32_t call, struct nsx_rec *r);
void nsx_extract_set_overhead(const struct ex_profile *p, uint32_t overhead, struct nsx_rec *r);
/* What an op record says of the call that issued the operation, of waits, and of memory. */
void nsx_extract_set_op_host(const struct ex_profile *p, uint32_t op, struct nsx_rec *r);

/* The modules, ranges, thunks, operations, calls and overheads of p that its options keep, in the order of the stream:
 * the time by which they are in it, the kind (enum nsx_kind_id) as the tag, and the index among those of the kind.
 * Sorted by time at once, but what is of one time only when its turn comes. */
struct ex_events {
	const struct ex_profile *p;
	struct nsx_sort_start         *list;       /* by time: all but what `hosts` and `calls` give */
	size_t                   n, at;
	struct ex_hosts          hosts;
	struct ex_calls          calls;
	NSX_VEC(struct nsx_sort_start) run, tmp;   /* those of the time that it is, in order */
	size_t                   turn;       /* in run */
	bool                     failed;     /* out of memory */
};

/* False when out of memory; nsx_extract_events_close afterwards all the same. */
bool nsx_extract_events_open(struct ex_events *e, const struct ex_profile *p);
/* The next one; NULL at the end, and when out of memory, which `failed` then says. turn + 1 moves on. */
const struct nsx_sort_start *nsx_extract_events_peek(struct ex_events *e);
void nsx_extract_events_close(struct ex_events *e);

/* Order of two events, maybe of different profiles: negative, 0 or positive. */
int nsx_extract_event_cmp(const struct ex_profile *p, const struct nsx_sort_start *a, const struct ex_profile *q,
                          const struct nsx_sort_start *b);

/* Whether the options keep the range: its process or, where its GPU work ran on one device, that, and either of its
 * times. */
bool nsx_extract_range_kept(const struct ex_profile *p, uint32_t range);
/* Whether its GPU work starts before it does on the host, as on clocks that do not agree. */
bool nsx_extract_range_ahead(const struct ex_profile *p, uint32_t range);

/* end - start of anything; clamped where it does not fit. */
int64_t nsx_extract_dur(int64_t start, int64_t end);

/* Whether [start, end] is in the window that the options ask for. */
bool nsx_extract_in_window(const struct nsx_extract_opts *opts, int64_t start, int64_t end);

/* Whether records of the process are kept: some device of it is, or nothing is filtered. */
bool nsx_extract_process_kept(const struct ex_profile *p, uint32_t process);

/* Number of the device in the job; -1 for NSX_NONE. */
int64_t nsx_extract_global(const struct ex_profile *p, uint32_t device);

/* A device's place in a communicator, for the stream; device -1: not told. */
struct ex_place { char comm_id[17]; int64_t profile, device, rank, ranks; };

/* The places of all profiles' communicators that are kept, in order of communicator, profile and device; *n of them,
 * which the caller frees. NULL when out of memory. */
struct ex_place *nsx_extract_places(const struct ex_job *job, size_t *n);

/* Write the whole stream but diags and `end`. */
int nsx_extract_emit(struct ex_job *job, struct nsx_writer *out);

#endif
