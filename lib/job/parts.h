/* parts.h -- what a device does at each moment: it computes, communicates with nothing computing beside it, copies, or
 * is idle. Unions of operations, never sums, so the parts of a window add up to it exactly.
 *
 * A device's operations come in order of start. What has started so far tells, by three numbers, all that happens until
 * the next start: the largest ends of its computing, communicating and copying operations. So a device takes constant
 * memory, and the time before an operation is settled when the operation comes:
 *
 *   kernel [0,4)  nccl [2,8)  copy [6,9)  kernel [12,13)
 *   ->  compute [0,4)  comm [4,8)  copy [8,9)  idle [9,12)  compute [12,13) */
#ifndef NSX_JOB_PARTS_H
#define NSX_JOB_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "stream/kinds.h"

/* The first that holds of a moment is what the device does. */
enum nsx_part {
	NSX_PART_COMPUTE,   /* a kernel that does not communicate runs, or a whole graph, whose inside is not known */
	NSX_PART_COMM,      /* something that communicates runs: exposed communication */
	NSX_PART_COPY,      /* a copy or set of memory runs */
	NSX_PART_IDLE,      /* nothing runs */
	NSX_NPARTS
};

/* "compute", "comm", "copy", "idle". */
const char *nsx_part_name(enum nsx_part part);

/* What an operation counts as; communicates: whether it does (nsx_cat_communicates). */
enum nsx_part nsx_part_of(const struct nsx_rec *op, bool communicates);

/* A device. {0} has met no operation. */
struct nsx_parts { bool begun; int64_t first, at; int64_t end[NSX_PART_IDLE]; };

/* Told of each maximal run [start, end) of one part, start < end, in order of time and without gaps: NSX_OK, or what
 * stops nsx_parts_add. */
typedef int nsx_part_fn(void *state, enum nsx_part part, int64_t start, int64_t end);

/* Settle the time before the operation [start, end) and take it in. Operations come in order of start; one that begins
 * before what is settled counts from there. An end before the start counts as the start. A run that goes on over the
 * start of an operation is told in one piece, or in several that touch. NSX_OK, or what `settled` returned. */
int nsx_parts_add(struct nsx_parts *p, enum nsx_part part, int64_t start, int64_t end, nsx_part_fn *settled,
                  void *state);

/* Settle the rest, up to the largest end; idle time never follows it. */
int nsx_parts_finish(struct nsx_parts *p, nsx_part_fn *settled, void *state);

/* The largest end so far of any operation; INT64_MIN before the first. */
int64_t nsx_parts_end(const struct nsx_parts *p);

#endif
