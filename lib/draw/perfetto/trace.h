/* trace.h -- declarations that the files of lib/draw/perfetto share.
 *
 *   perfetto.c   records -> slices; info.c has the metadata
 *   devices.c    which devices are drawn
 *   calls.c      calls whose first operation has not been read, for arrows
 *   comm_ops.c   operations that communicate by themselves, as instances
 *   heap.c       thunks and dumps -> counters
 *   tracks.c     slices -> tracks, on each of which they nest
 *   proto.c, chrome.c   tracks and slices -> bytes, the two forms of a trace */
#ifndef NSX_DRAW_PERFETTO_TRACE_H
#define NSX_DRAW_PERFETTO_TRACE_H

#include "job/live.h"
#include "job/comm/communication.h"
#include "job/comm/nccl.h"
#include "draw/perfetto.h"
#include "base/map.h"
#include "base/vec.h"
#include "xla/hlo.h"

/* ---- slices ---- */

enum nsx_category {
	NSX_CAT_MODULE, NSX_CAT_COMPUTATION, NSX_CAT_COMMUNICATION, NSX_CAT_OP, NSX_CAT_RANGE, NSX_CAT_LAUNCH,
	    NSX_CAT_COMPILE,
	NSX_CAT_CALL, NSX_CAT_OVERHEAD, NSX_CAT_OS, NSX_CAT_OFF, NSX_CAT_GIL, NSX_CAT_SAMPLE,
	NSX_NCATEGORIES
};
extern const char *const nsx_category_names[NSX_NCATEGORIES];

/* Keys of a slice's arguments. */
enum nsx_arg_key {
	NSX_ARG_PROGRAM, NSX_ARG_EXECUTION, NSX_ARG_OCCURRENCE, NSX_ARG_OPCODE, NSX_ARG_OP_NAME, NSX_ARG_SOURCE,
	    NSX_ARG_HIDDEN,
	NSX_ARG_COLLECTIVE, NSX_ARG_BYTES, NSX_ARG_GROUP, NSX_ARG_THUNKS, NSX_ARG_OPS, NSX_ARG_DOMAIN, NSX_ARG_TYPE,
	    NSX_ARG_GRAPH_NODE,
	NSX_ARG_CLASS, NSX_ARG_COMM_ID, NSX_ARG_PAIR, NSX_ARG_SEQ, NSX_ARG_CALLS,
	NSX_NARGS
};
extern const char *const nsx_arg_names[NSX_NARGS];

/* A string, or where that is NULL a number. */
struct nsx_arg { enum nsx_arg_key key; int64_t i; struct nsx_str s; };

/* An event with a beginning and an end, in the trace's time. Strings are borrowed. */
struct nsx_slice {
	struct nsx_str    name;
	enum nsx_category category;
	int64_t           start, end;    /* ns; 0 <= start <= end */
	uint64_t          launch;        /* a number that a launch and its operation share; 0: none */
	bool              launched;      /* it is the operation */
	uint64_t          instance;      /* of a collective: the same number on all devices; 0: none */
	int               nargs;
	struct nsx_arg    args[NSX_NARGS];
};

/* ---- which devices are drawn (devices.c) ---- */

/* {0} with ranges set: all devices if there are none and devices are few. */
struct nsx_perfetto_devices {
	const struct nsx_perfetto_range *ranges;   /* asked for: nranges of them */
	size_t            nranges;
	bool              chosen;      /* `drawn` was filled by a first reading */
	struct nsx_map    drawn;       /* numbers of devices */
	struct nsx_map    process;     /* (profile, pid) of these */
	NSX_VEC(int64_t)  numbers;     /* those drawn */
	int64_t           seen, left_out;
};

/* If there are many devices, choose; `in` is a stream from which nothing was read, and is not read. Does nothing if it
 * cannot be read twice. NSX_OK or NSX_ERR. */
int nsx_perfetto_devices_find(struct nsx_perfetto_devices *d, const struct nsx_reader *in, struct nsx_err *err);
/* A record of a device. NSX_OK or NSX_ERR. */
int nsx_perfetto_devices_take(struct nsx_perfetto_devices *d, const struct nsx_rec *device, struct nsx_err *err);
/* Whether a record of work is drawn: it is of such a device, or of its process. */
bool nsx_perfetto_devices_has(const struct nsx_perfetto_devices *d, const struct nsx_rec *rec);
void nsx_perfetto_devices_say(struct nsx_perfetto_devices *d, struct nsx_diags *diags);
void nsx_perfetto_devices_free(struct nsx_perfetto_devices *d);

/* ---- arrows from calls (calls.c) ---- */

/* Calls of whose operations none has been read yet. Beyond a bound the oldest are dropped. */
struct nsx_pending {
	struct nsx_map   number_of;      /* (profile, call) -> number of the arrow */
	struct nsx_key  *ring;
	size_t           first, n;
	uint32_t         numbers;
};

/* Add a call that issued something: the number of its arrow, from 1; 0 when out of memory. */
uint32_t nsx_pending_call(struct nsx_pending *p, int64_t profile, int64_t call);
/* For an operation of the call: the same number if it is the first, else 0. */
uint32_t nsx_pending_op(struct nsx_pending *p, int64_t profile, int64_t call);
void nsx_pending_free(struct nsx_pending *p);

/* ---- forms of a trace ---- */

struct nsx_perfetto;

/* A row of the viewer, which holds slices. */
struct nsx_perfetto_track {
	uint64_t       id;         /* from 1, in the whole trace */
	uint32_t       process;    /* from 1 */
	uint32_t       rank;       /* position among the tracks of its process */
	struct nsx_str name;
	bool           counter;    /* of bytes, not of slices */
	bool           value;      /* a counter, but not of bytes */
};

/* Each returns NSX_OK, or NSX_ERR with the trace's err filled. */
struct nsx_trace_form {
	size_t state;   /* bytes that the trace needs for this form, cleared */
	int  (*begin)(struct nsx_perfetto *t);
	int  (*process)(struct nsx_perfetto *t, uint32_t process, struct nsx_str name);
	int  (*track)(struct nsx_perfetto *t, const struct nsx_perfetto_track *track);
	int  (*slice)(struct nsx_perfetto *t, const struct nsx_perfetto_track *track, const struct nsx_slice *s);
	/* of the innermost open slice; NULL: not needed */
	int  (*end)(struct nsx_perfetto *t, const struct nsx_perfetto_track *track, int64_t time);
	/* its value from there on */
	int  (*counter)(struct nsx_perfetto *t, const struct nsx_perfetto_track *track, int64_t time, int64_t value);
	int  (*finish)(struct nsx_perfetto *t);
	void (*free)(struct nsx_perfetto *t);
};
extern const struct nsx_trace_form nsx_trace_proto, nsx_trace_chrome;

struct nsx_perfetto {
	const struct nsx_trace_form *form;
	struct nsx_outfile *out;
	struct nsx_err     *err;
	struct nsx_buf      buf;     /* bytes not yet written to out */
	void               *state;   /* owned by the form */
	int64_t             apart;   /* calls for whose operation a form no longer waits, so they have no arrow */
};

/* Write buf to the output if it is large; NSX_ERR also if buf ran out of memory. */
int nsx_trace_flush(struct nsx_perfetto *t, bool all);

/* ---- tracks ---- */

/* Kinds of tracks, in the order in which a process shows them. */
enum nsx_track_role {
	NSX_TRACK_LAUNCHES, NSX_TRACK_RANGES, NSX_TRACK_MODULES, NSX_TRACK_COMPUTATION, NSX_TRACK_COMMUNICATION,
	    NSX_TRACK_HEAP, NSX_TRACK_STREAM,
	NSX_TRACK_THREAD, NSX_TRACK_PYTHON, NSX_TRACK_OS, NSX_TRACK_OFF, NSX_TRACK_NATIVE, NSX_TRACK_IDLE_THREAD,
	NSX_TRACK_COMPILE,
	NSX_NTRACKS
};

struct nsx_group;

/* Processes and their groups of tracks; set trace, {0} else. */
struct nsx_perfetto_tracks {
	struct nsx_perfetto *trace;
	struct nsx_map    process_of[2];   /* GPUs; host processes */
	struct nsx_map    group_of;
	uint32_t          processes;
	uint64_t          tracks;
	NSX_VEC(struct nsx_group *) groups;
	int64_t           crowded;         /* slices dropped because too many overlap */
};

/* The process of that number of a profile: a GPU, or a process of the host. If it is new, name(arg, buf) appends its
 * name. 0 with err filled on failure. */
uint32_t nsx_tracks_process(struct nsx_perfetto_tracks *t, bool host, int64_t profile, int64_t number,
                            void (*name)(const void *arg, struct nsx_buf *buf), const void *arg);

/* The group of tracks of that role and number (of a CUDA stream, of a thread; else 0). NULL with err filled on
 * failure. */
struct nsx_group *nsx_tracks_group(struct nsx_perfetto_tracks *t, uint32_t process, enum nsx_track_role role,
                                   int64_t number);

/* A track for a counter, number `place` of those of heap: sets all of *track except its name, which is borrowed. NSX_OK
 * or NSX_ERR. */
int nsx_tracks_counter(struct nsx_perfetto_tracks *t, uint32_t process, uint32_t place,
                       struct nsx_perfetto_track *track);

/* ---- metrics.c: samples of GPU metrics */

struct nsx_metric_counter { struct nsx_perfetto_track track; int64_t last; bool drawn; };

/* {0} is empty. */
struct nsx_metric_counters {
	struct nsx_intern names;
	struct nsx_map    counter_of;      /* (process, name) -> counters */
	NSX_VEC(struct nsx_metric_counter) counters;
	struct nsx_live   live;            /* what is allocated */
	struct nsx_map    sum_of;          /* (process, memory) -> sums */
	NSX_VEC(int64_t)  sums;
};

/* Draw a record of a metric of that process, a GPU: its value from its start on. NSX_OK or NSX_ERR. */
int nsx_metric_draw(struct nsx_metric_counters *m, struct nsx_perfetto_tracks *tracks, uint32_t process,
                    const struct nsx_rec *rec);
/* Draw a record of memory, at that time: the bytes of its kind that are allocated from then on, of that process, a GPU
 * or a process of the host. NSX_OK or NSX_ERR. */
int nsx_memory_draw(struct nsx_metric_counters *m, struct nsx_perfetto_tracks *tracks, uint32_t process,
                    const struct nsx_rec *rec, int64_t start);
void nsx_metric_counters_free(struct nsx_metric_counters *m);

/* ---- slices */

/* Put a slice on the first track of the group where it overlaps none, or is inside one and the role lets slices nest.
 * Those of a group come in order of start. NSX_OK or NSX_ERR. */
int nsx_tracks_add(struct nsx_perfetto_tracks *t, struct nsx_group *g, const struct nsx_slice *s);

/* The same for slices nearly in order of start: each waits until thousands more of its group have come. Arguments are
 * not kept, except the first number and the first string. */
int nsx_tracks_add_later(struct nsx_perfetto_tracks *t, struct nsx_group *g, const struct nsx_slice *s);

/* Write everything that waits or is open. */
int nsx_tracks_finish(struct nsx_perfetto_tracks *t);
void nsx_tracks_drop(struct nsx_perfetto_tracks *t);

/* ---- metadata ---- */

/* NSX_INFO_EMPTY is empty. */
struct nsx_info {
	struct nsx_comm comm;       /* and the catalogue in it */
	int64_t         shift;      /* added to every time: aligned ones may be negative */
	uint32_t        devices;    /* that have a record */
};

/* What is kept of metadata. */
#define NSX_INFO_EMPTY { .comm = { .cat = { .keep = NSX_CAT_NAMES | \
	 NSX_CAT_OP_NAMES | NSX_CAT_STACKS | NSX_CAT_ALIASES } } }

/* Add a record of metadata. NSX_OK or NSX_ERR. */
int nsx_info_take(struct nsx_info *info, const struct nsx_rec *rec, struct nsx_err *err);
void nsx_info_free(struct nsx_info *info);

/* The name of the program that a record refers to; empty if unknown. */
struct nsx_str nsx_info_program(struct nsx_info *info, const struct nsx_rec *rec);

/* The frame of a source stack that is innermost; empty for NSX_NONE. */
struct nsx_str nsx_info_source(const struct nsx_info *info, uint32_t stack);

/* All frames of the stack that a record of a host thread refers to; empty if it has none. */
struct nsx_str nsx_info_frames(const struct nsx_info *info, const struct nsx_rec *rec);

/* "GPU 3 (host process 0)"; "host, pid 4242". */
struct nsx_info_name { const struct nsx_info *info; int64_t profile, number; };
void nsx_info_name_gpu(const void *name, struct nsx_buf *buf);
void nsx_info_name_host(const void *name, struct nsx_buf *buf);

/* ---- operations that communicate (comm_ops.c) ---- */

struct nsx_kept_op;

/* {0} is empty. Needs some 300 bytes for each operation while they are numbered. */
struct nsx_comm_ops {
	struct nsx_nccl_set nccl;       /* the caller passes records of communicators to it */
	struct nsx_intern   texts;
	NSX_VEC(struct nsx_kept_op) kept;   /* sorted by start, as read */
	bool                apart;      /* set while drawing: clocks cannot be compared, so there are no instances */
};

/* Keep rec, for which nsx_is_comm_op is true, with name, times and launch of s. clock: nsx_comm_clock of it. NSX_OK or
 * NSX_ERR. */
int nsx_comm_ops_keep(struct nsx_comm_ops *c, const struct nsx_rec *rec, uint32_t clock, uint32_t process,
                      const struct nsx_slice *s, struct nsx_err *err);

/* After all have come: slices on the tracks of communication, with flows from device to device if requested. NSX_OK or
 * NSX_ERR. */
int nsx_comm_ops_draw(struct nsx_comm_ops *c, struct nsx_perfetto_tracks *t, bool flows);
void nsx_comm_ops_free(struct nsx_comm_ops *c);

/* ---- memory ---- */

struct nsx_heap_program;

/* A program on a GPU: the current execution, its end so far, and a counter for each trace from `counter` on. */
struct nsx_heap_line { uint32_t program, counter; int64_t execution, end; };

/* The value written last, -1: none; and the value after the last allocation. */
struct nsx_heap_counter { struct nsx_perfetto_track track; int64_t value, after; };

/* State of nsx_heaps_thunk: set trace, tracks, info, diags; {0} else. */
struct nsx_heaps {
	struct nsx_perfetto  *trace;
	struct nsx_perfetto_tracks *tracks;
	struct nsx_info   *info;
	struct nsx_diags  *diags;
	struct nsx_intern  strings;
	NSX_VEC(struct nsx_dump_dir *) dirs;
	NSX_VEC(struct nsx_heap_program *) programs;   /* by index of the catalogue; all known ones at the first thunk,
	                                                * later ones as they are read */
	NSX_VEC(struct nsx_heap_line) lines;
	NSX_VEC(struct nsx_heap_counter) counters;
	struct nsx_map     line_of;      /* (process, program) -> lines */
	int64_t            missing, silent, other, ambiguous, late;
};

/* List the n folders. NSX_OK or NSX_ERR. */
int nsx_heaps_open(struct nsx_heaps *h, const char *const *dirs, int n);

/* Count the allocations of a thunk that runs on process from start to end, in the trace's time. Thunks come in order of
 * start. NSX_OK or NSX_ERR. */
int nsx_heaps_thunk(struct nsx_heaps *h, uint32_t process, const struct nsx_rec *rec, int64_t start, int64_t end);

/* The ends of the last executions, and diags of missing data. NSX_OK or NSX_ERR. */
int nsx_heaps_finish(struct nsx_heaps *h);
void nsx_heaps_free(struct nsx_heaps *h);

#endif
