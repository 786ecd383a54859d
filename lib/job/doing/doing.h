/* doing.h -- what the thread that should have launched did while a device was idle, from a stream with marks of idle
 * time (kind idle) and records of host threads (os, off, gil, sample). Each mark of a cause that is launch-starved is
 * cut into pieces in each of which one state holds, the first of:
 *
 *   call       the thread is in a CUDA call                                              what: its name
 *   gil        it wants the GIL (Python's interpreter lock), which another thread has    NAME TID, or [profiler]
 *              ... which no one has, or it is not known, and it is on the CPU
 *   os         it is in a call of the OS library                                         its name
 *   off        it is off the CPU                                                         why, where that is recorded
 *   running    none of these, and its scheduling was recorded
 *   unknown    none of these
 *
 * With `whole`, all time between the first and the last record of each thread is cut instead, whatever devices did.
 *
 * A program that finds idle time itself (job/idle) passes the stretches of that instead of marks, with
 * nsx_doing_stretch.
 *
 * One pass: every record begins before the times for which it speaks, so that a mark is cut when the stream has reached
 * its end. Memory holds marks and what their threads did until then, and the texts of stacks. */
#ifndef NSX_JOB_DOING_DOING_H
#define NSX_JOB_DOING_DOING_H

#include "base/diag.h"
#include "base/err.h"
#include "job/catalogue.h"
#include "job/causes.h"
#include "job/idle/idle.h"
#include "job/names.h"
#include "job/range_book.h"
#include "job/stacks.h"
#include "job/threads.h"
#include "job/doing/track.h"
#include "stream/reader.h"

enum nsx_doing_state {
	NSX_DOING_CALL, NSX_DOING_GIL, NSX_DOING_OS, NSX_DOING_OFF, NSX_DOING_RUNNING, NSX_DOING_UNKNOWN,
	NSX_DOING_STATES
};

const char *nsx_doing_name(enum nsx_doing_state s);

/* The time of a line is an estimate from samples: with fewer than these it is a guess. */
enum { NSX_DOING_ENOUGH = 5 };

/* A native sample: its moment and its stack (NSX_ABSENT: none). */
struct nsx_doing_native { int64_t at, stack; };

/* [start, end) of a device. Texts are of nsx_doing.texts, stacks numbers of the stream. */
struct nsx_doing_piece {
	int64_t  start, end;
	uint32_t device;            /* in the catalogue; NSX_NONE if whole, and cause NSX_NCAUSES */
	uint32_t thread;            /* in nsx_doing.threads */
	enum nsx_cause cause;
	uint32_t path;              /* of the ranges around it, in nsx_doing.paths */
	enum nsx_doing_state state;
	uint32_t what;              /* NSX_NONE: nothing */
	int64_t  gap;               /* a number, one for the pieces of one gap of the device */
	int64_t  stack, sample;     /* of the Python sample that answers for it, and its number; NSX_ABSENT: none */
	bool     free;              /* the GIL is wanted, and no one has it */
	bool     off;               /* off the CPU, in any state */
	const struct nsx_doing_native *native;   /* seen in it, in running and unknown time only */
	size_t   nnative;
};

/* NSX_OK, or NSX_ERR with err filled, which ends the reading. Pieces of a device come in order of time. */
typedef int nsx_doing_fn(void *state, const struct nsx_doing_piece *piece);

/* What a thread does, in tracks of its own. RANGE: only if whole; paths of ranges. */
enum nsx_doing_track_of {
	NSX_DOES_CALL, NSX_DOES_OS, NSX_DOES_OFF, NSX_DOES_GIL, NSX_DOES_SAMPLE, NSX_DOES_RANGE, NSX_DOING_TRACKS
};

struct nsx_doing_thread {
	int64_t  profile, pid, tid;
	uint32_t name;              /* in texts; NSX_NONE: none */
	bool     scheduled, python; /* the export has scheduling events, Python samples of it */
	bool     calls_cuda;        /* it has calls */
	int64_t  first, last;       /* start of its first record and latest end, but for time off the CPU; NSX_ABSENT:
	                             * none */
	int64_t  done;              /* whole: pieces were passed on up to there */
	struct nsx_doing_track tracks[NSX_DOING_TRACKS];
	NSX_VEC(struct nsx_doing_native) native;
	size_t   native_head;
};

/* A mark that the stream has not passed yet. */
struct nsx_doing_mark { int64_t start, end, gap; uint32_t device, thread, path; enum nsx_cause cause; };

/* {0} with the first members set is empty. */
struct nsx_doing {
	enum nsx_names      names;      /* form of the names of ranges */
	bool                whole;
	uint32_t            causes;     /* bits of the causes that are looked at; 0: all that are launch-starved */
	nsx_doing_fn       *piece;
	void               *state;
	struct nsx_err     *err;
	struct nsx_catalogue cat;       /* with keep NSX_CAT_NAMES | NSX_CAT_STACKS: set by nsx_doing_begin */
	struct nsx_range_book ranges;
	struct nsx_stacks   paths;      /* of ranges: nodes, no time */
	struct nsx_intern   texts;
	struct nsx_threads  thread_of;
	NSX_VEC(struct nsx_doing_thread) threads;
	NSX_VEC(struct nsx_doing_mark) marks;        /* from head on, by start */
	size_t              head;
	NSX_VEC(struct nsx_doing_gap { int64_t end, op, number; }) gaps;   /* by device: its latest */
	int64_t             ngaps;
	int64_t             samples;    /* number of Python samples so far */
	int64_t             marked;     /* number of idle marks */
	int64_t             host;       /* records of host threads */
	int64_t             needed;     /* if stretches are passed: no time before this will be asked for. Set by the
	                                 * caller from time to time; after nsx_doing_begin all may be forgotten */
	int64_t             since;      /* records since what is past was forgotten */
};

/* Before the first record; then declare to a reader what is used. */
void nsx_doing_begin(struct nsx_doing *d);
void nsx_doing_need(const struct nsx_doing *d, struct nsx_reader *in);
/* Add any record of the stream; pieces of earlier marks are passed on. NSX_OK or NSX_ERR. */
int nsx_doing_take(struct nsx_doing *d, const struct nsx_rec *rec);
/* Pieces of the part of a stretch from `from` to `to`, of the finder's device of that number; the records up to its
 * end, those of the operation behind it apart, were passed on before. NSX_OK or NSX_ERR. */
int nsx_doing_stretch(struct nsx_doing *d, const struct nsx_stretch *s, int64_t device, int64_t from, int64_t to);
/* After the last record. What was ignored becomes diags. */
int nsx_doing_finish(struct nsx_doing *d, struct nsx_diags *diags);
void nsx_doing_free(struct nsx_doing *d);

/* The frames of a stack, outermost first, separated by ';'; empty if it has none. */
struct nsx_str nsx_doing_frames(const struct nsx_doing *d, int64_t stack);
/* A text; empty for NSX_NONE. */
struct nsx_str nsx_doing_text(const struct nsx_doing *d, uint32_t text);

/* The line of a Python stack: its innermost frame that is neither of Python's own library nor of an installed package,
 * or, if all are (or leaf), its innermost frame. */
struct nsx_str nsx_doing_line(struct nsx_str frames, bool leaf);
/* The innermost frame of a stack. */
struct nsx_str nsx_doing_leaf(struct nsx_str frames);
/* Of a native stack of a thread whose Python stack is known: the frames inside the innermost frame of Python's
 * evaluation, or that one if there are none; without one the whole stack. */
struct nsx_str nsx_doing_below_python(struct nsx_str frames);

#endif
