/* step_numbers.h -- number the steps of a job over its devices.
 *
 * Within a class, step k of one device and step k of another are the same step of the job. A device whose recording
 * begins later lacks the first steps: its own are counted from where it begins, by their starts.
 *
 *   device 0   |  0  |  1  |  2  |  3  |
 *   device 1               |  2  |  3  |
 *
 * The device of a class with most steps is the reference, the first of several. The number of a step of another device
 * is its place on that device plus a shift, one for the device: the median over its steps of the distance to the step
 * of the reference that starts nearest, of those that start no further than half a mean period outside the reference's.
 * The smallest number of the class is 0. Devices without a clock in common with the reference, or without steps at
 * its time, count from 0. */
#ifndef NSX_JOB_STEP_NUMBERS_H
#define NSX_JOB_STEP_NUMBERS_H

#include "base/err.h"
#include "job/catalogue.h"
#include "job/step_of.h"

/* Set `number` of list[0..n-1], sorted by class, device and start; their devices are those of cat. NSX_OK, or NSX_ERR
 * without memory: err says so. O(n log n), and 8 bytes for each. */
int nsx_step_numbers(struct nsx_step_of *list, size_t n, const struct nsx_catalogue *cat, struct nsx_err *err);

#endif
