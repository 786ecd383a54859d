/* numbers.h -- number the steps of a job over its devices.
 *
 * Within a class, step k of one device and step k of another are the same step of the job. A device whose recording
 * begins later lacks the first steps: its first step gets the number of the step of the other devices that starts at
 * the same time.
 *
 *   device 0   |  0  |  1  |  2  |  3  |
 *   device 1               |  2  |  3  |
 *
 * The reference of a class is the device with most steps of it, the first of several. The number of a step of another
 * device is its index on that device plus a shift, which is the same for all steps of the device: the median, over its
 * steps, of the index of the reference's step that starts nearest minus its own index. Steps that start more than half
 * a mean period before the first or after the last start of the reference are not used for that. The smallest number of
 * the class is 0. Devices without a clock in common with the reference, or without steps at its time, are numbered from
 * 0. */
#ifndef NSX_JOB_STEPS_NUMBERS_H
#define NSX_JOB_STEPS_NUMBERS_H

#include "base/err.h"
#include "job/catalogue.h"
#include "job/steps/step_of.h"

/* Set `number` of list[0..n-1], sorted by class, device and start; their devices are those of cat. NSX_OK, or NSX_ERR
 * with err filled when out of memory. O(n log n) time, and 8 bytes for each step. */
int nsx_step_numbers(struct nsx_step_of *list, size_t n, const struct nsx_catalogue *cat, struct nsx_err *err);

#endif
