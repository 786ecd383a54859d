/* batch.h -- how many requests and tokens the steps of a server are of, as their names tell (job/serving.h); whether
 * steps were found or are marked, which keeps no names. */
#ifndef NSX_JOB_STEPS_BATCH_H
#define NSX_JOB_STEPS_BATCH_H

#include "job/steps/set.h"

/* If the range is one of a server's steps, keep what its name tells. False when out of memory. */
bool nsx_step_batch_take(struct nsx_step_set *s, const struct nsx_rec *range);

/* The batch of a step; NSX_ABSENT if its name does not tell, or batches are not kept. */
struct nsx_step_batch nsx_step_batch_of(const struct nsx_step_set *s, const struct nsx_step_of *o);

#endif
