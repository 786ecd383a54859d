/* gone.h -- the gaps of devices that nsysx-warmup took away (removed.h), to subtract from a span of time that is not
 * made of gaps, as that of the executions of a program. */
#ifndef NSX_JOB_GONE_H
#define NSX_JOB_GONE_H

#include <stdbool.h>

#include "base/vec.h"
#include "job/removed.h"
#include "stream/reader.h"

struct nsx_gone_gap { int64_t from, to; };
struct nsx_gone_device {
	bool                     begun;   /* an operation came; `busy`: the last end of those */
	int64_t                  busy;
	struct nsx_removed       removed;
	NSX_VEC(struct nsx_gone_gap) gaps;   /* in order of time */
};

/* {0} is empty: nothing is gone. */
struct nsx_gone { NSX_VEC(struct nsx_gone_device) devices; };

/* Declare to a reader what nsx_gone_take uses. */
void nsx_gone_need(struct nsx_reader *in);
/* An operation, in order of start; device: the caller's dense number. False when out of memory. */
bool nsx_gone_take(struct nsx_gone *g, const struct nsx_rec *op, uint32_t device);
/* ns of [from, to) of the device that are gone. */
uint64_t nsx_gone_within(const struct nsx_gone *g, uint32_t device, int64_t from, int64_t to);
void nsx_gone_free(struct nsx_gone *g);

#endif
