/* numbers.h -- number the steps of a job over its devices.
 *
 * Within a class, step k of one device and step k of another are the same step of the job. A device whose recording
 * begins later lacks the first steps:
 *
 *   device 0   |  0  |  1  |  2  |  3  |
 *   device 1               |  2  |  3  |
 *
 * Which steps belong together is known, in this order,
 *
 *   from their names, if those of each device carry one number each that grows from step to step, on the device with
 *   most steps by one, and no device has other numbers than these alone: ProfilerStep#7;
 *   from collectives, which end at one time on all their devices, however late one of them began its step;
 *   from the starts of steps without any.
 *
 * Times are compared of devices on one clock. Of these the reference is the one with most steps of the class, the first
 * of several. The number of a step of another device is its index there plus a shift, the same for all its steps: the
 * median, over these, of the index of the reference's step that is nearest minus the own index. The
 * time of a step is the middle between the first and the last end of its communication, which is the same for stages
 * that pass their work on and back. Steps more than half a mean distance before the first or after the last one of the
 * reference are not used. The smallest number of devices on one clock is 0. Devices without a clock in common with
 * others, or without steps at their time, are numbered from 0. */
#ifndef NSX_JOB_STEPS_NUMBERS_H
#define NSX_JOB_STEPS_NUMBERS_H

#include "base/err.h"
#include "job/catalogue.h"
#include "job/steps/step_of.h"

/* The number that the name of a step carries: its only digits. NSX_ABSENT: none, several, or those of a server's
 * batch. */
int64_t nsx_step_tag(struct nsx_str name);

/* Set `number` of list[0..n-1], sorted by class, device and start; their devices are those of cat. NSX_OK, or NSX_ERR
 * with err filled when out of memory. O(n log n) time, and 24 bytes for each step. */
int nsx_step_numbers(struct nsx_step_of *list, size_t n, const struct nsx_catalogue *cat, struct nsx_err *err);

#endif
