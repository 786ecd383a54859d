/* parts.h -- the activity of a device at each time: it computes, communicates while nothing computes (exposed
 * communication), copies, or is idle. Unions of operations, never sums, so the parts of a window add up to it exactly.
 *
 * A device's operations come in order of start. Three numbers determine the activity until the next start: the latest
 * ends of the computing, communicating and copying operations so far. So a device needs constant memory, and the time
 * before an operation is final when the operation is read:
 *
 *   kernel [0,4)  nccl [2,8)  copy [6,9)  kernel [12,13)
 *   ->  compute [0,4)  comm [4,8)  copy [8,9)  idle [9,12)  compute [12,13) */
#ifndef NSX_JOB_PARTS_H
#define NSX_JOB_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "stream/kinds.h"

/* Of the activities at one time, the first in this order counts. */
enum nsx_part {
	NSX_PART_COMPUTE,   /* a kernel that does not communicate runs, or a whole graph, whose operations are
	                     * unknown */
	NSX_PART_COMM,      /* something that communicates runs: exposed communication */
	NSX_PART_COPY,      /* a copy or set of memory runs */
	NSX_PART_IDLE,      /* nothing runs */
	NSX_NPARTS
};

/* "compute", "comm", "copy", "idle". */
const char *nsx_part_name(enum nsx_part part);

/* The activity of an operation; communicates: whether it does (nsx_cat_communicates). */
enum nsx_part nsx_part_of(const struct nsx_rec *op, bool communicates);

/* A device. {0} has no operations. */
struct nsx_parts { bool begun; int64_t first, at; int64_t end[NSX_PART_IDLE]; };

/* Called for each maximal run [start, end) of one activity, start < end, in order of time and without gaps: NSX_OK, or
 * a status that stops nsx_parts_add. */
typedef int nsx_part_fn(void *state, enum nsx_part part, int64_t start, int64_t end);

/* Report the time before the operation [start, end) and add the operation. Operations come in order of start; one that
 * begins before the reported time counts from its end. An end before the start counts as the start. A run that
 * continues past the start of an operation is reported in one piece, or in several that touch. NSX_OK, or what
 * `settled` returned. */
int nsx_parts_add(struct nsx_parts *p, enum nsx_part part, int64_t start, int64_t end, nsx_part_fn *settled,
                  void *state);

/* Report the rest, up to the latest end; idle time never follows it. */
int nsx_parts_finish(struct nsx_parts *p, nsx_part_fn *settled, void *state);

/* The latest end so far of any operation; INT64_MIN before the first. */
int64_t nsx_parts_end(const struct nsx_parts *p);

#endif
