/* marks.h -- steps as records of the stream (kind `step`), and back: nsysx-steps marks them, and tools that meet
 * marks of the steps that they look for use these instead of finding steps again. */
#ifndef NSX_JOB_STEPS_MARKS_H
#define NSX_JOB_STEPS_MARKS_H

#include "job/steps/set.h"

/* How the steps of a set were named, the text of `step.by`: "step REGEX" or "module NAME" with the label; empty: they
 * were found. Appends to b. */
void nsx_step_by(enum nsx_step_kind kind, const char *label, struct nsx_buf *b);

/* Keep a `step` record if it is of the steps that the set looks for: named in the same way, or the set finds them
 * itself. False when out of memory. */
bool nsx_step_mark_take(struct nsx_step_set *s, const struct nsx_rec *rec);

/* Make the kept marks the steps of the set; then, when its timelines are finished, set their sums. */
void nsx_step_marks_use(struct nsx_step_set *s);
void nsx_step_marks_measure(struct nsx_step_set *s);

/* Fill an empty `step` record. by: as above, empty for none; strings belong to the set and to the caller. */
void nsx_step_mark(const struct nsx_step_set *s, const struct nsx_step_of *o, struct nsx_str by, struct nsx_rec *rec);

#endif
