/* idle.h -- declarations shared by the files of nsysx-idle; private to this folder.
 *
 * idle.c reads a record. Host records go to their thread (thread.c). An operation completes the time of its device
 * before it (job/parts): busy runs go to the windows (windows.c) directly, a gap first to gaps.c, which queries the
 * activity of the thread that launched the operation, and makes segments of one cause each. The windows clip and add
 * up; rows.c makes tables of them, verdict.c determines what limits a window. */
#ifndef NSX_TABLE_IDLE_IDLE_H
#define NSX_TABLE_IDLE_IDLE_H

#include <regex.h>

#include "base/near.h"
#include "job/overruns.h"
#include "job/stacks.h"
#include "job/threads.h"
#include "job/catalogue.h"
#include "job/parts.h"
#include "job/range_book.h"
#include "job/removed.h"
#include "job/causes.h"
#include "table/idle.h"
#include "table/idle/thread.h"

/* A row of a window: busy activities, then causes. */
enum { NSX_IDLE_CELLS = NSX_PART_IDLE + NSX_NCAUSES };
static inline int nsx_cause_cell(enum nsx_cause c) { return NSX_PART_IDLE + (int)c; }

/* The name of its group. */
static inline const char *nsx_cause_group(enum nsx_cause c) { return nsx_cause_group_name(nsx_causes[c].group); }

/* A part of a gap with one cause. path: in idle.paths; leaf: name of the call, or of the next operation; NSX_NONE:
 * none. call, range: ids of those that the host was in; NSX_ABSENT: none. */
struct idle_segment { int64_t start, end, call, range; uint32_t path, leaf; enum nsx_cause cause; };

/* blocked: of drained, what the host's wait explains: no more of a gap than the host spent in the call that waited.
 * doubtful: of ns, before operations whose call cannot have been as short as it is recorded. */
struct idle_cell { int64_t ns, count, longest, drained, blocked, doubtful; };

/* The sums of one window or of several with one key. Rows are sorted by device, `first`, `seq`. */
struct idle_window {
	uint32_t device;
	int64_t  start, end;        /* its interval; unused for several */
	int64_t  length;            /* ns, of all of them */
	int64_t  first;             /* its earliest time */
	int64_t  key;               /* execution, start; NSX_ABSENT: none */
	uint32_t label, next;       /* strings of the catalogue; NSX_NONE: none */
	struct idle_cell cells[NSX_IDLE_CELLS];
	struct nsx_map reasons;     /* (cell, place) -> idle.reasons, for verdicts */
	uint32_t reason;            /* the first of a list of them; NSX_NONE ends */
};

/* Time of one cause with one path and leaf within a window, for verdicts. */
struct idle_reason { uint32_t cell, path, leaf, next; int64_t ns; };

struct idle_module { int64_t start, end; uint32_t program; int64_t execution; };

/* A device's state. */
struct nsx_idle_device {
	uint32_t index;             /* in the catalogue */
	bool     begun;
	int64_t  first, busy;       /* start of its first operation, largest end so far */
	struct nsx_removed removed;
	size_t   within;            /* of the windows that are examined, the first that has not passed */
	struct nsx_parts parts;
	enum nsx_part run_part;     /* the current busy run */
	int64_t  run_start, run_end;
	uint32_t prev;              /* name of the operation with the end `busy`, for lists */
	struct nsx_map launches;    /* graph launches of which a node has been read: call -> order */
	NSX_VEC(int64_t) launch_list;
	size_t   launch_head;
	/* windows.c */
	uint32_t window;            /* the current one; NSX_NONE: none */
	uint32_t between;           /* the one between modules; NSX_NONE: not created */
	NSX_VEC(struct idle_module) modules;    /* that may contain time that is not assigned yet */
	size_t   modules_open;      /* number left when ended ones were last removed */
	bool     any_module;
	NSX_VEC(uint32_t) open;     /* windows of ranges, by start */
};

/* A step whose window is known before its operations are read: from its start to the start of the next of its class.
 * `number`: as in idle_window.key. */
struct idle_step { int64_t device, start, end, number; uint32_t class; };

/* drained, blocked: of ns. */
struct idle_gap {
	uint32_t prev, next, path, leaf;
	int64_t device, start, dur, ns, drained, blocked, tid;
	enum nsx_cause cause;
};

/* Gaps of a list, whether they are listed or not. */
struct idle_gaps_sum { int64_t count, dur, ns, drained, blocked; };

struct idle {
	const struct nsx_idle_options *options;
	struct nsx_err    *err;
	struct nsx_diags  *diags;
	struct nsx_catalogue cat;
	struct nsx_stacks  paths;          /* of ranges: nodes, no time */
	struct nsx_stacks  folded;
	struct nsx_host_paths host_paths;
	bool               listed;         /* gaps are kept for a list */
	bool               frames;         /* paths and names are requested */
	bool               reasoned;       /* verdicts are requested: sums by path too */
	regex_t            pattern;
	bool               has_pattern;
	struct nsx_near    near;           /* names of ranges, as long as none matches */
	struct nsx_buf     scratch, full, match;
	NSX_VEC(struct idle_step) steps;   /* by step: from a first reading, of each device by start */
	struct nsx_intern  classes;        /* of the steps */
	bool               classed;        /* there may be several classes */
	NSX_VEC(struct nsx_host_thread) threads;
	struct nsx_threads thread_of;      /* numbers in threads */
	NSX_VEC(struct nsx_idle_device) devices;   /* by index of the catalogue */
	NSX_VEC(struct idle_window) windows;
	struct nsx_map     window_of;      /* by module: (device, program and whether before it) -> windows */
	NSX_VEC(struct idle_reason) reasons;
	struct nsx_map     folded_of;      /* (device and cause, path and leaf) -> node of folded */
	struct nsx_range_book ranges;      /* to which operations may refer; mark: node of the path */
	NSX_VEC(struct idle_gap) gaps;
	struct idle_gaps_sum all_gaps;
	NSX_VEC(struct nsx_idle_given) within;      /* with options.steps: the time examined of each device, by
	                                             * number and start */
	struct idle_marks *marks;                   /* NSX_IDLE_MARK: what is found */
	NSX_VEC(struct idle_segment) segments;
	NSX_VEC(struct idle_segment) whole;         /* segments of a gap that is clipped to several times */
	bool               doubtful;       /* they rest on a call that cannot have been as short as it is recorded */
	int64_t            blocked_to;     /* the gap that is explained is blocked up to there; its start: not at all */
	struct nsx_host_pieces pieces;
	int64_t now, since_trim;
	NSX_VEC(int64_t)   needs;          /* by trim: time from which pieces are needed */
	struct nsx_map     need_of;        /* (profile, pid) -> needs */
	int64_t ndiags, calls, host_only, ops, late_calls, short_calls, timeless, threadless, no_launch, beyond;
	struct nsx_overruns overruns;
	bool    required;
};

/* The data of an operation that gaps use; absent numbers are NSX_ABSENT. */
struct idle_op { uint32_t name, path; int64_t start, end, call, tid, host_start, host_end, waits, pid, profile, op,
                 range;
                 bool graph_node, doubtful; };

/* The time of a window without that of removed work: shares are of it. */
static inline int64_t
nsx_idle_length(const struct idle_window *w)
{
	return w->length - w->cells[nsx_cause_cell(NSX_CAUSE_REMOVED)].ns;
}

/* ---- idle.c: processes a stream's records one by one, for code that reads it for other purposes too. {0} with
 * options, diags, err set is empty; between nsx_idle_begin and nsx_idle_free. NSX_OK or NSX_ERR. */

int nsx_idle_begin(struct idle *f);
void nsx_idle_need(const struct idle *f, struct nsx_reader *in);   /* declare to a reader what nsx_idle_take uses */
int nsx_idle_take(void *f, const struct nsx_rec *rec);
int nsx_idle_finish(struct idle *f);      /* after the last record: windows are complete */
int nsx_idle_report(struct idle *f);      /* diags */
void nsx_idle_free(struct idle *f);
/* The state of the device of that index in the catalogue, created with those before it; NULL when out of memory. */
struct nsx_idle_device *nsx_idle_device(struct idle *f, uint32_t index);

/* ---- gaps.c */

/* The thread, created if it is new; NULL when out of memory. */
struct nsx_host_thread *nsx_idle_thread(struct idle *f, int64_t profile, int64_t pid, int64_t tid);

/* Make the segments of the gap [g0, g1) before op, into idle.segments; *drained whether it counts as drained, and
 * idle.blocked_to. NSX_OK or NSX_ERR. */
int nsx_idle_explain(struct idle *f, struct nsx_idle_device *d, const struct idle_op *op, int64_t g0, int64_t g1,
                     bool *drained);

/* Whether another node of the same graph launch came before on the device; records this one. NSX_ERR when out of
 * memory. */
int nsx_idle_is_second_node(struct idle *f, struct nsx_idle_device *d, const struct idle_op *op, bool *second);

/* ---- host.c: NSX_OK or NSX_ERR */

int nsx_idle_take_call(struct idle *f, const struct nsx_rec *rec);
int nsx_idle_take_overhead(struct idle *f, const struct nsx_rec *rec);
/* With a pattern, the range may open a window, too. */
int nsx_idle_take_range(struct idle *f, const struct nsx_rec *rec);
/* The number of a frame's text if frames are requested; false when out of memory. */
bool nsx_idle_frame(struct idle *f, struct nsx_str text, uint32_t *id);
/* The path of the range of an operation, and of those around it; the root if it is unknown. NSX_NONE when out of
 * memory. */
uint32_t nsx_idle_path(struct idle *f, int64_t profile, int64_t range);

/* ---- windows.c: all times of a device are passed in order and once */

int nsx_idle_add_busy(struct idle *f, struct nsx_idle_device *d, enum nsx_part part, int64_t start, int64_t end);
/* with idle.segments */
int nsx_idle_add_gap(struct idle *f, struct nsx_idle_device *d, int64_t start, int64_t end, bool drained);
int nsx_idle_take_module(struct idle *f, const struct nsx_rec *rec);
/* A window by range: on the device, or on each device of the process if the range has none. */
int nsx_idle_take_window(struct idle *f, const struct nsx_rec *range, struct nsx_str shown);
/* By NSX_IDLE_GIVEN: the windows of a device, at its first operation. */
int nsx_idle_open_given(struct idle *f, struct nsx_idle_device *d);
/* The windows of the device's steps; before its first operation. */
int nsx_idle_take_steps(struct idle *f, struct nsx_idle_device *d);
int nsx_idle_end_windows(struct idle *f);

/* ---- kept.c: restrictions of the time examined */

/* Whether gaps are looked at for some causes only. */
static inline bool
nsx_idle_filters(const struct idle *f)
{
	return f->options->causes || f->options->drained;
}
/* Of n given windows, sorted by device, the first of that device or, if it has none, of a higher one; n: neither. */
size_t nsx_idle_given_of(const struct nsx_idle_given *given, size_t n, int64_t device);
/* Find the times examined of a device that has begun. */
void nsx_idle_place(const struct idle *f, struct nsx_idle_device *d);
/* Whether a window that is examined ends within the gap [start, end), which begins in it: an operation begins where a
 * window ends, so the stream lacks what ended the wait, as after nsysx-steps --cut. Gaps of a device are passed in
 * order. */
bool nsx_idle_is_cut(const struct idle *f, struct nsx_idle_device *d, int64_t start, int64_t end);
/* Of [start, end) the first part that is examined, into *from and *to: false if none is. Times of a device are passed
 * in order; the next part begins at *to or later. */
bool nsx_idle_clip(const struct idle *f, struct nsx_idle_device *d, int64_t start, int64_t end, int64_t *from,
                   int64_t *to);
/* Prepare idle.segments, of a gap, to be clipped; then clip them to [from, to), without those of other causes. */
bool nsx_idle_clip_begin(struct idle *f);
bool nsx_idle_clip_gap(struct idle *f, int64_t from, int64_t to, bool drained);

/* ---- mark.c */

/* Keep idle.segments, of a gap before op (NULL: not known), as marks. */
int nsx_idle_mark_gap(struct idle *f, const struct nsx_idle_device *d, const struct idle_op *op, bool drained);

/* ---- steps.c: read all of `in` into a spool, and collect the steps that options name, or those that are found: into
 * f->within with options.steps, else into f->steps. Returns the reader of the spool, which the caller closes, or NULL
 * on failure; *ndiags: diags in the stream. */
struct nsx_reader *nsx_idle_find_steps(struct idle *f, struct nsx_reader *in, int64_t *ndiags);

/* ---- rows.c, verdict.c */
int nsx_idle_fold_segments(struct idle *f, uint32_t device);
int nsx_idle_list_gap(struct idle *f, const struct nsx_idle_device *d, const struct idle_op *op, int64_t start,
                      int64_t end, bool drained);
struct nsx_table *nsx_idle_table(struct idle *f);
struct nsx_table *nsx_idle_list_table(struct idle *f);
struct nsx_table *nsx_idle_verdicts(struct idle *f);
/* The verdict of a window as text, for a note below a table. */
void nsx_idle_verdict_text(struct idle *f, uint32_t window, struct nsx_buf *text);
const char *nsx_idle_verdict_word(const struct idle *f, uint32_t window);   /* "comm-bound", ... */
/* ns of a window that are what the verdict of the window `like` is about. */
int64_t nsx_idle_verdict_of(const struct idle *f, uint32_t like, uint32_t window);
double nsx_idle_verdict_share(const struct idle *f, uint32_t window);       /* of the window: the time of the verdict */
/* The path and leaf with the maximum of a window's time of a cause, NSX_NONE if unknown, and that time in ns; needs
 * verdicts. */
int64_t nsx_idle_reason(const struct idle *f, const struct idle_window *w, enum nsx_cause cause, uint32_t *path,
                        uint32_t *leaf);
/* Windows in the order of rows: their numbers, to be freed; NULL when out of memory. */
uint32_t *nsx_idle_window_order(const struct idle *f);
/* Returns the table; if memory ran out for one of its texts, frees it and returns NULL. */
struct nsx_table *nsx_idle_sound(const struct idle *f, struct nsx_table *t);
void nsx_idle_put_keys(struct idle *f, struct nsx_table *t, const struct idle_window *w);
int nsx_idle_nkeys(const struct idle *f);   /* columns of keys, device among them */
/* A table with the window's keys before these columns, 16 at most; NULL when out of memory. */
struct nsx_table *nsx_idle_new_table(const struct idle *f, const struct nsx_table_col *rest, int n);

/* A path's or a leaf's text; empty for none. */
void nsx_idle_put_frames(const struct idle *f, uint32_t path, uint32_t leaf, struct nsx_buf *to);
/* The same for a sentence: a title of XLA becomes the name of its instruction or program. */
void nsx_idle_put_place(const struct idle *f, uint32_t path, uint32_t leaf, struct nsx_buf *to);

#endif
