/* work.h -- whether the same work takes longer, in runs without steps: an operation and the one after it on its CUDA
 * stream are a place, and the time from start to start at a place is compared with that at the same place in the other
 * run, however often each ran.
 *
 *     BASE  gemm 10, 2 until copy    copy 3, 5 until gemm         gemm-copy 12, copy-gemm 8: 20
 *     NEW   gemm 10, 4 until copy    copy 3, 6 until gemm         gemm-copy 14, copy-gemm 9: 23, 15 % longer, and
 *                                                                 operations take as long as before: the host
 *
 * A few long stalls, and repetitions of several kinds, hide such a growth from the times of any one name, but not from
 * places: each time has a rank among those of its place in both runs, and the ranks are a sample in the order of time
 * (witness.h), by intervals of the run, of several devices the mean of the same interval. */
#ifndef NSX_TABLE_COMPARE_WORK_H
#define NSX_TABLE_COMPARE_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "job/removed.h"

/* No more times of places are kept of a run, the first ones. */
#define NSX_WORK_MOST (1 << 20)

/* A time at a place, ns: from the start of an operation to that of the next one. */
struct cmp_time_at { int64_t start, time; uint32_t place, device; };
/* All times of a place; gpu: of that the operations themselves; idle: in which nothing runs on the device, on any
 * stream. The rest is time in which others run. */
struct cmp_work_place { int64_t time, gpu, idle; };
struct cmp_work_stream { int64_t start, dur, idle; uint32_t name; };   /* idle: of the device, up to its start */
/* stream, at: the last one, and its place in streams. */
struct cmp_work_device { struct nsx_removed removed; int64_t end, window, idle, ops, stream; uint32_t at; };

/* Of a run; {0} is empty. */
struct cmp_work {
	NSX_VEC(struct cmp_time_at) times;
	NSX_VEC(struct cmp_work_place) places;     /* by number, as far as the run has them */
	NSX_VEC(struct cmp_work_stream) streams;
	NSX_VEC(struct cmp_work_device) devices;   /* window: first start to last end, without removed time */
	struct nsx_map stream_of;                  /* (device, stream) -> streams */
};

/* What both runs do. Index 0 is BASE, 1 is NEW. */
struct cmp_same_work {
	int    said;           /* it takes longer in NEW: 1, shorter: -1, neither or not known: 0 */
	bool   judged;         /* enough is known to say so */
	double time[2];        /* of the places that both have, as often as BASE ran each, by means, ns */
	double gpu[2];         /* of that in operations, */
	double idle[2];        /* and in which nothing runs on the device */
	double median[2];      /* the same as `time` by medians */
	double matched[2];     /* share of all times that is at these places */
};

/* An operation of that device and name (an index common to both runs), in the order of the stream. places: common to
 * both runs, too. False when out of memory. */
bool nsx_compare_work_take(struct cmp_work *w, struct nsx_map *places, const struct nsx_rec *op, uint32_t device,
                           uint32_t name);

/* The time that the run was seen, summed over its devices, ns. */
int64_t nsx_compare_work_seen(const struct cmp_work *w);

/* Compare; places: their number; alpha: the probability of chance, one-sided; percent: what of BASE's time is the least
 * difference; share: of the time of each run that must be at places of both. Sorts the times. False when out of
 * memory. */
bool nsx_compare_same_work(struct cmp_work *const work[2], size_t places, double alpha, double percent,
                           double share, struct cmp_same_work *of);

void nsx_compare_work_free(struct cmp_work *w);

#endif
