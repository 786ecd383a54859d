/* class.h -- the class of a range: which ranges are steps of one kind. */
#ifndef NSX_JOB_STEPS_CLASS_H
#define NSX_JOB_STEPS_CLASS_H

#include "job/steps/set.h"

/* The class of a range, for detecting classes of steps: DOMAIN:NAME with digits as '#'; empty if it cannot be a step:
 * it is an operator or a Python function, or its name has a suffix appended by a framework, or is NCCL's. suffixed: a
 * name with a suffix that is no operator's may be one, without the suffix. Valid until the next call for the book. The
 * reader needs the range's kind. All steps of a server (job/serving.h) are of one class, whatever they do. */
struct nsx_str nsx_step_class_name(struct nsx_range_book *book, const struct nsx_rec *range, bool suffixed);

/* The class of a range in the set, in names; NSX_NONE: it does not match. False when out of memory. */
bool nsx_step_class_of(struct nsx_step_set *s, const struct nsx_rec *range, uint32_t *class);

#endif
