/* twins.h -- what profiles of two profilers have both: devices that may be one GPU, whose time counts twice, and
 * communicators of other numbers. */
#ifndef NSX_JOB_TWINS_H
#define NSX_JOB_TWINS_H

#include <stdbool.h>

#include "base/str.h"

/* A device as a profile has it. pid: NSX_ABSENT where it is not recorded; last: start of its last operation, ns since
 * 1970, INT64_MIN: not known. schema: of the profile, which tells the profiler. at: the caller's number for it. */
struct nsx_twin { int64_t pid, cuda, last; struct nsx_str schema; uint32_t at, of; };

/* Set `of` of each device to `at` of one of another profiler that has the same process and ordinal, and whose last
 * operation began at the same time; NSX_NONE: there is none. Each pair is found once. The list changes its order. */
void nsx_twins_find(struct nsx_twin *list, size_t n);

/* Whether profiles of that schema number communicators by their ranks, as PyTorch's traces do; exports do as NCCL
 * does. */
bool nsx_numbers_by_ranks(struct nsx_str schema);

#define NSX_TWO_NUMBERINGS \
	"reports of PyTorch's profiler and of others: a communicator has another number in each, so no collective is " \
	"known to be the same in both"

#endif
