/* periods.h -- the periods of collected steps, and which of them count.
 *
 * A step is wholly inside the time that was seen: its host interval and its work on the device. One that is not is no
 * step; it is counted. The period of a step lasts to the start of the next one of its class on the device, without
 * time that nsysx-warmup removed (removed.h); the last one has none. A period that holds the start of a step of
 * another class is mixed: it says more than the step itself, and does not count where the device has two or more of
 * the class that are not mixed; else all count.
 *
 *   train 0   train 1   eval 2   train 3   train 4       periods of 0 and 3 count, that of 1 is mixed, 4 has none
 *
 * Steps of a server are one sequence, though each of their phases is a class: the period of one lasts to the start of
 * the next one of any phase, so that it is what this step costs.
 *
 *   prefill 0 [0,50)   decode 1 [50,60)   decode 2 [60,72)   mixed 3 [72,...          three periods; 3 has none
 *
 * Steps of another class are the other classes of the set; of ranges what between.h finds; of executions those of
 * other programs that last at least half as long as the median step. */
#ifndef NSX_JOB_STEPS_PERIODS_H
#define NSX_JOB_STEPS_PERIODS_H

#include "job/steps/set.h"

/* The step of a job: how many periods of a class count, on all devices, and their mean, ns: each has one vote. */
struct nsx_step_mean { int64_t periods; double ns; };

/* That of the class, in nsx_step_set.names; NSX_NONE, as of one without: 0 periods. After nsx_steps_finish. */
struct nsx_step_mean nsx_step_mean(const struct nsx_step_set *s, uint32_t class);

/* Of a set whose list is by class, device and start, and whose timelines are finished: remove what is no step, and,
 * of executions of no named program, all programs but the one with most time of those that ran twice on a device; set
 * next, period, sums, other and kept. NSX_OK, or NSX_ERR with s->err filled. O(n log n). */
int nsx_step_periods(struct nsx_step_set *s);

/* Whether [start, end] was seen whole: it is in the window of the profile (columns from and to), as far as is known. */
bool nsx_step_is_seen(const struct nsx_step_set *s, int64_t profile, int64_t start, int64_t end);
/* Count a step of the class that was not. NSX_OK or NSX_ERR. */
int nsx_step_cut(struct nsx_step_set *s, uint32_t class);
/* Set period and sums of a step whose first and next are set. */
void nsx_step_measure(const struct nsx_step_set *s, struct nsx_step_of *o);

#endif
