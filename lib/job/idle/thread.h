/* thread.h -- the activity of a host thread at each time, as far as it may be queried: private to this folder.
 *
 * A thread's calls, overheads and ranges come in order of start; from them *pieces* are made, periods of one activity.
 * A piece lasts until the next begins; before its first record a thread is in unknown host code.
 *
 *     call sync [10,40), range "load" [0,60)   ->   load from 0, sync (in load) from 10,
 *                                                          load from 40, host from 60 */
#ifndef NSX_JOB_IDLE_THREAD_H
#define NSX_JOB_IDLE_THREAD_H

#include "base/err.h"
#include "base/map.h"
#include "job/causes.h"
#include "job/open_intervals.h"

struct nsx_host_piece {
	int64_t  start;
	int64_t  call;       /* the innermost call's id; NSX_ABSENT: none */
	int64_t  range;      /* that of the innermost range, if the thread keeps them; NSX_ABSENT: none */
	uint32_t path;       /* of the ranges around it */
	uint32_t call_name;  /* NSX_NONE: no call, or names are not kept */
	uint8_t  state;      /* enum nsx_cause: what idle time meanwhile has. SYNC: of a call that blocks */
	bool     blocking;   /* the innermost call blocks, for any state */
};

/* Pieces in memory are list.p[head..]; older ones are in a file if there are many. */
struct nsx_host_thread {
	int64_t profile, pid, tid;
	bool    keeps_ranges;            /* pieces end where another range is the innermost, whatever its name */
	int64_t settled;                 /* pieces are final up to here */
	struct nsx_open_intervals calls, overheads, ranges;
	NSX_VEC(struct nsx_open_interval) coming;   /* ranges whose host start is still to come: a heap by start */
	int64_t crowded;                 /* records for which too many intervals were open */
	int64_t stale;                   /* ends of ranges with too many later ranges still open in them */
	NSX_VEC(struct nsx_host_piece) list;
	size_t  head;
	int     fd;                      /* pieces [spilled_head, spilled) of the file, -1: none */
	size_t  spilled_head, spilled;
};

/* Appends the name of a range to the path of those around it; NSX_NONE when out of memory. */
typedef uint32_t nsx_host_path_fn(void *state, uint32_t path, uint32_t name);
struct nsx_host_paths { nsx_host_path_fn *push; void *state; uint32_t root; };

/* NSX_OK or NSX_ERR (out of memory), for all. */
int nsx_host_thread_init(struct nsx_host_thread *t, int64_t profile, int64_t pid, int64_t tid,
                         const struct nsx_host_paths *paths, struct nsx_err *err);

/* `what` is the cause of idle time meanwhile: of a range NSX_CAUSE_COMPILE or NSX_CAUSE_RANGE. Overheads precede calls,
 * which precede ranges; of several overheads the one with the lowest `path` counts. They come in order of `start`, but
 * ranges may come earlier. */
int nsx_host_call(struct nsx_host_thread *t, struct nsx_open_interval i, const struct nsx_host_paths *paths,
                  struct nsx_err *err);
int nsx_host_overhead(struct nsx_host_thread *t, struct nsx_open_interval i, const struct nsx_host_paths *paths,
                      struct nsx_err *err);
int nsx_host_range(struct nsx_host_thread *t, struct nsx_open_interval i, struct nsx_err *err);

/* Complete the pieces up to `to`: every record that starts before it has been read. */
int nsx_host_settle(struct nsx_host_thread *t, int64_t to, const struct nsx_host_paths *paths, struct nsx_err *err);

/* Append the pieces that overlap [from, to), to <= settled, to *out; the first may begin before `from`. */
struct nsx_host_pieces { NSX_VEC(struct nsx_host_piece) list; };
int nsx_host_between(const struct nsx_host_thread *t, int64_t from, int64_t to, struct nsx_host_pieces *out,
                     struct nsx_err *err);

/* Times before `time` will not be queried again. */
void nsx_host_forget(struct nsx_host_thread *t, int64_t time);

void nsx_host_thread_free(struct nsx_host_thread *t);

#endif
