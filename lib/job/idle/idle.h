/* idle.h -- why devices were idle. One pass over a stream makes *stretches* of each device's time, in order and without
 * holes: runs of one activity (job/activity.h), and gaps, which are made of *pieces* of one cause each. Definitions:
 * docs/man/nsysx-idle.1.
 *
 *   kernel [0,10)  kernel [30,40), its call [18,24) by a thread that was in a sync [5,12)
 *   ->  compute [0,10)   idle [10,30): sync [10,12) host [12,18) launch [18,24) latency [24,30)
 *
 * Of a stream that nsysx-steps --cut made (job/steps/excerpt.h) what is outside the periods is removed time, and the
 * end of a period behind the last operation in it a gap of the cause `after`.
 *
 * Host records go to their thread (thread.c, host.c). An operation completes the time of its device before it; gaps.c
 * asks for the activity of the thread that launched the operation. Memory grows with the gaps that may still come, not
 * with the job. */
#ifndef NSX_JOB_IDLE_IDLE_H
#define NSX_JOB_IDLE_IDLE_H

#include "base/diag.h"
#include "base/series.h"
#include "job/catalogue.h"
#include "job/causes.h"
#include "job/idle/thread.h"
#include "job/overruns.h"
#include "job/activity.h"
#include "job/range_book.h"
#include "job/removed.h"
#include "job/steps/excerpt.h"
#include "job/stacks.h"
#include "job/threads.h"

/* A part of a gap with one cause. path: in the finder's paths; leaf: name of the call, or of the next operation;
 * NSX_NONE: none. call, range: ids of those that the host was in; NSX_ABSENT: none. */
struct nsx_idle_piece { int64_t start, end, call, range; uint32_t path, leaf; enum nsx_cause cause; };

/* The data of an operation that gaps use; absent numbers are NSX_ABSENT, as all are but its time and profile where none
 * is left that ended a wait: the end of a period of a stream that was cut. */
struct nsx_idle_op {
	uint32_t name, path;
	int64_t  start, end, call, tid, host_start, host_end, waits, pid, profile, op, range;
	bool     graph_node;
	bool     doubtful;           /* its call cannot have been as short as it is recorded */
};

/* [start, end) of a device. The rest is of gaps; time that nsysx-warmup removed, or nsysx-steps --cut, is one of the
 * cause `removed`. */
struct nsx_stretch {
	uint32_t device;             /* in the catalogue */
	enum nsx_part part;
	int64_t  start, end;
	const struct nsx_idle_piece *pieces;   /* n of them fill it, in order */
	size_t   n;
	bool     drained;            /* the host waited for the device when it began */
	bool     doubtful;           /* the pieces rest on a doubtful call */
	int64_t  blocked_to;         /* drained: the host's wait explains it up to there */
	const struct nsx_idle_op *next;        /* the operation behind it, which may be none that is left; NULL:
	                                        * removed time, or no gap */
	uint32_t prev;               /* name of the operation before it, if names are requested */
	bool     read;               /* that operation copied to memory of the host */
};

/* Called for each stretch. The first one of a device is empty, at the start of its first operation. NSX_OK, or NSX_ERR
 * with err filled, which ends the pass. */
typedef int nsx_stretch_fn(void *state, const struct nsx_stretch *s);

struct nsx_idle_device;

/* {0} with the first members set, up to `marked`, is empty. */
struct nsx_idle_finder {
	struct nsx_err   *err;
	struct nsx_catalogue *cat;       /* gets the records of metadata; the caller's, as its needs are */
	struct nsx_stacks *paths;        /* of ranges: nodes, no time; the caller's */
	nsx_stretch_fn   *add;
	/* Whether the gap [start, end) ends where the examined time does, so that the stream lacks what ended the wait,
	 * as after nsysx-steps --cut: it is of the cause `after`. NULL: never. Gaps of a device come in order. */
	bool            (*cut)(void *state, uint32_t device, int64_t start, int64_t end);
	void             *state;         /* for these two */
	bool              frames;        /* paths and names are requested, */
	bool              prevs;         /* those of the operations before gaps too, */
	bool              ids;           /* numbers of ranges and operations */
	enum nsx_names    names;
	int64_t           latency;       /* ns after the call returned that count as launch latency */
	bool              marked;        /* pieces are read back from records of kind `idle`, without ids, and with
	                                  * names that are keys: what the host did is not looked at, */
	bool              uncounted;     /* nor are its records counted: the caller sets calls and host_only */

	struct nsx_excerpt excerpt;
	NSX_VEC(struct nsx_host_thread) threads;
	struct nsx_threads thread_of;    /* numbers in threads */
	NSX_VEC(struct nsx_idle_device) devices;    /* by index of the catalogue */
	struct nsx_host_paths host_paths;
	struct nsx_range_book ranges;    /* to which operations may refer; mark: node of the path */
	NSX_VEC(struct nsx_idle_piece) pieces;      /* of the current gap */
	struct nsx_host_pieces host_pieces;
	size_t  compile;                 /* the first name of ranges that compile (job/frameworks.h) */
	int64_t now, since_trim;
	NSX_VEC(int64_t)  needs;         /* by trim: time from which activities of threads are needed */
	struct nsx_map    need_of;       /* (profile, pid) -> needs */
	struct nsx_overruns overruns;
	struct nsx_series told;          /* marked: what marks of a device say one after the other (marks.c) */
	struct nsx_intern mark_paths;    /* texts of paths, and by their numbers the nodes */
	uint32_t          recall[NSX_RECALL];
	NSX_VEC(uint32_t) mark_nodes;
	bool misfit;                     /* marked: a gap lacks marks, or they do not fit it, or lack frames: an
	                                  * error */
	bool came;                       /* an operation, even if it does not count */
	int64_t told_crowded, told_stale;   /* marked: as the diags of nsysx-idle say */
	int64_t calls, host_only, ops, late_calls, short_calls, timeless, threadless, no_launch, beyond,
	        waits_unknown;
};

/* Before the first record; f stays where it is. */
void nsx_idle_finder_begin(struct nsx_idle_finder *f);
/* Declare to a reader what nsx_idle_finder_take uses, but for metadata; before begin, too. */
void nsx_idle_finder_need(const struct nsx_idle_finder *f, struct nsx_reader *in);
/* The others return NSX_OK, or NSX_ERR with err filled. */
int nsx_idle_finder_take(struct nsx_idle_finder *f, const struct nsx_rec *rec);
/* The same for a record in reach; device: of an operation, in the catalogue; communicates: whether it does. */
int nsx_idle_finder_take_known(struct nsx_idle_finder *f, const struct nsx_rec *rec, uint32_t device,
                               bool communicates);
int nsx_idle_finder_finish(struct nsx_idle_finder *f);      /* after the last record */
/* What of the data was missing or odd. */
int nsx_idle_finder_report(struct nsx_idle_finder *f, struct nsx_diags *diags);
void nsx_idle_finder_free(struct nsx_idle_finder *f);

/* Whether `in`, of which nothing has been or is read, is a file that can be read again and has marks of idle time that
 * fit its first gap, which is near its beginning; frames: and paths. */
bool nsx_idle_is_marked(const struct nsx_reader *in, bool frames);

/* Of a longer path, the innermost frames are told. */
enum { NSX_IDLE_FRAMES = 256 };
/* Append the frames of a path with semicolons between them, each with `put`. False: it has none. */
bool nsx_idle_put_chain(const struct nsx_stacks *paths, uint32_t path,
                        void (*put)(struct nsx_buf *to, struct nsx_str frame), struct nsx_buf *to);
/* Append the path as marks have it, in which nsx_idle_finder_take finds it again. */
void nsx_idle_put_path(const struct nsx_stacks *paths, uint32_t path, struct nsx_buf *to);

#endif
