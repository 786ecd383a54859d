/* steps.h -- collect the steps of a job from a stream: which ranges or module executions are steps, which operations
 * belong to each, and the activity of each device during them.
 *
 * A range that matches and is not inside another match of its thread is a step. Its operations are those whose call is
 * inside it, on its own thread; and, on threads of its process that have no step of its class (helper threads), those
 * whose call begins in it (backward work is launched by another thread):
 *
 *   thread 1   step [0,100)      call [10,12) -> in it             step [100,200)
 *   thread 2                     call [50,52) -> in it, a helper's                  call [150,151) -> in the second
 *
 * Of several steps that are open then, those whose own threads use the operation's device come first, and of these the
 * one that started last. Memory holds the steps, the runs of each device (activity.h), and 32 bytes for each operation
 * of a thread that may be a helper. */
#ifndef NSX_JOB_STEPS_STEPS_H
#define NSX_JOB_STEPS_STEPS_H

#include "base/diag.h"
#include "job/steps/set.h"
#include "stream/reader.h"

/* Declare to a reader what nsx_steps_take uses. */
void nsx_steps_need(const struct nsx_step_set *s, struct nsx_reader *in);

/* Add any record of the stream. NSX_OK or NSX_ERR. */
int nsx_steps_take(struct nsx_step_set *s, const struct nsx_rec *rec);

/* After the last record: completes and sorts `list`, with its periods (periods.h). NSX_OK or NSX_ERR. */
int nsx_steps_finish(struct nsx_step_set *s);

/* Of a set that was collected without them (`brief` in find.h): add an operation that has a start and an end no
 * earlier, in order of start, to the activity of a device, a number in the catalogue of the set; and after the last one
 * set the sums of all steps. NSX_OK or NSX_ERR. */
int nsx_steps_take_time(struct nsx_step_set *s, uint32_t device, enum nsx_part part, int64_t start, int64_t end,
                        const struct nsx_rec *op);
int nsx_steps_finish_times(struct nsx_step_set *s);

/* Report which matching ranges are not steps; nsx_steps_report also reports operations that were not used. */
void nsx_steps_report_ranges(const struct nsx_step_set *s, struct nsx_diags *diags);
void nsx_steps_report(const struct nsx_step_set *s, struct nsx_diags *diags);

void nsx_steps_free(struct nsx_step_set *s);

#endif
