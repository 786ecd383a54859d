/* activity.h -- what a device does at each time: it computes, communicates while nothing computes (exposed
 * communication), copies, or is idle. Unions of operations, never sums, so the parts of a window add up to it exactly.
 *
 * A device's operations come in order of start. So a union of some of them needs two numbers: the latest end so far,
 * and its length. Three unions, of the computing, communicating and copying operations, determine the activity until
 * the next start: a device needs constant memory, and the time before an operation is final when the operation is read:
 *
 *   kernel [0,4)  nccl [2,8)  copy [6,9)  kernel [12,13)
 *   ->  compute [0,4), of which [2,4) hides communication  comm [4,8)  copy [8,9)  idle [9,12)  compute [12,13)
 *
 * nsx_union is one union; nsx_parts is the three of a device, in one pass; nsx_timeline keeps what they say, so that
 * the sums of any window can be asked for. */
#ifndef NSX_JOB_ACTIVITY_H
#define NSX_JOB_ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/vec.h"
#include "job/removed.h"
#include "stream/kinds.h"

/* ---- the union of intervals that come in order of start ---- */

/* {0} is empty. length: ns, modulo 2^64; end: of its last piece. */
struct nsx_union { bool any; int64_t end; uint64_t length; };

/* Add [start, end): the ns of it that were not covered before, which are its last ones. One that ends before it starts
 * is empty. */
static inline uint64_t
nsx_union_add(struct nsx_union *u, int64_t start, int64_t end)
{
	int64_t from = u->any && u->end > start ? u->end : start;
	uint64_t fresh = end > from ? (uint64_t)end - (uint64_t)from : 0;

	u->any = true;
	u->end = end > from ? end : from;
	u->length += fresh;
	return fresh;
}

/* The length of the union before t, which is no earlier than the latest start. So the ns of [start, end) that the union
 * covers are those before `end`, asked for when time has come there, less those before `start`, asked for then. */
static inline uint64_t
nsx_union_before(const struct nsx_union *u, int64_t t)
{
	return u->any && u->end > t ? u->length - ((uint64_t)u->end - (uint64_t)t) : u->length;
}

/* ---- the parts of a device's time, in one pass ---- */

/* What an operation is, by its column `type`. */
enum nsx_type { NSX_TYPE_OTHER, NSX_TYPE_KERNEL, NSX_TYPE_GRAPH, NSX_TYPE_MEMCPY, NSX_TYPE_MEMSET };
enum nsx_type nsx_type_of(const struct nsx_rec *op);

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
static inline enum nsx_part
nsx_part_of_type(enum nsx_type type, bool communicates)
{
	return communicates ? NSX_PART_COMM : type == NSX_TYPE_MEMCPY || type == NSX_TYPE_MEMSET ? NSX_PART_COPY
	       : NSX_PART_COMPUTE;
}
static inline enum nsx_part
nsx_part_of(const struct nsx_rec *op, bool communicates)
{
	return nsx_part_of_type(nsx_type_of(op), communicates);
}

/* A device. {0} has no operations. of[part].length: ns in which such operations run, hidden or not. thing[part]: the
 * caller's number of the operation that ends last of those that have begun, by which its time can be told from that of
 * others. */
struct nsx_parts {
	bool             begun;
	int64_t          first, at;
	struct nsx_union of[NSX_PART_IDLE];
	uint32_t         thing[NSX_PART_IDLE];
};

/* Called for each maximal run [start, end) of one activity, start < end, in order of time and without gaps: NSX_OK, or
 * a status that stops nsx_parts_add. Of a run that is not idle, p->thing[part] is what runs. */
typedef int nsx_part_fn(void *state, enum nsx_part part, int64_t start, int64_t end);

/* Report the time before the operation [start, end) and add the operation, the thing of that number. Operations come in
 * order of start; one that begins before the reported time counts from its end. An end before the start counts as the
 * start. A run that continues past the start of an operation is reported in one piece, or in several that touch.
 * NSX_OK, or what `run` returned. */
int nsx_parts_add_thing(struct nsx_parts *p, enum nsx_part part, uint32_t thing, int64_t start, int64_t end,
                        nsx_part_fn *run, void *state);
/* The same where nobody asks for the thing. */
static inline int
nsx_parts_add(struct nsx_parts *p, enum nsx_part part, int64_t start, int64_t end, nsx_part_fn *run, void *state)
{
	return nsx_parts_add_thing(p, part, 0, start, end, run, state);
}

/* Report the rest, up to the latest end; idle time never follows it. */
int nsx_parts_finish(struct nsx_parts *p, nsx_part_fn *run, void *state);

/* The latest end so far of any operation; INT64_MIN before the first. */
int64_t nsx_parts_end(const struct nsx_parts *p);

/* For `run`, of a computing run [start, end): until when it hides communication, from its start on. */
int64_t nsx_parts_hidden_end(const struct nsx_parts *p, int64_t start, int64_t end);

/* ---- all of a device's time ---- */

/* ns of a window by activity; with `removed`, which is no activity (removed.h), they add up to the part of the window
 * that is within the device's own time. hidden: part of compute during which the device also communicated. */
struct nsx_timeline_sums { int64_t part[NSX_NPARTS], hidden, removed; };

struct nsx_timeline_mark { struct nsx_timeline_sums before; };

/* {0} is empty. About 10 bytes per run: run i is [start[i], start[i + 1]) of one part; the last ends at `end`. */
struct nsx_timeline {
	struct nsx_parts parts;
	NSX_VEC(int64_t) start;
	NSX_VEC(uint8_t) what;                      /* enum nsx_part, or one more value: compute that hides
	                                             * communication, removed time */
	NSX_VEC(struct nsx_timeline_mark) marks;    /* sums before every 64th run */
	struct nsx_timeline_sums sums;              /* of the runs that are complete */
	int64_t end;
	bool    removed_only;                       /* only removed time is told apart, all else is one part: memory
	                                             * for that alone. To be set before the first operation */
};

/* Add an operation, in order of start. removed: of its device, as it is at this operation; NULL: nothing is removed.
 * False when out of memory. */
bool nsx_timeline_add(struct nsx_timeline *t, enum nsx_part part, int64_t start, int64_t end,
                      const struct nsx_removed *removed);

/* After the last operation: add the rest. False when out of memory. */
bool nsx_timeline_finish(struct nsx_timeline *t);

/* Sums over [from, to), clipped to the device's own time. Call after nsx_timeline_finish. */
struct nsx_timeline_sums nsx_timeline_between(const struct nsx_timeline *t, int64_t from, int64_t to);

void nsx_timeline_free(struct nsx_timeline *t);

#endif
