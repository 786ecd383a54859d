/* stale_marks.h -- marks of a stream (steps, collectives with their waits, idle time) that no
 * longer hold, because clocks, or the devices that they are about, have changed: they are removed, and their filters
 * make them again. Of a stream that nsysx-steps --cut made only they tell what was cut away
 * (job/steps/excerpt.h), which looks like idle time without them: a warning says so. */
#ifndef NSX_JOB_STALE_MARKS_H
#define NSX_JOB_STALE_MARKS_H

#include "base/diag.h"
#include "stream/kinds.h"

/* {0} is empty. */
struct nsx_stale_marks { int64_t records, waits, cut; };

/* The warning, of as many as `cut`. */
extern const char nsx_stale_cut[];

/* Add the columns that are used: a bit for each slot, by kind. */
void nsx_stale_marks_look(uint64_t columns[NSX_NKINDS + 1]);

/* Whether a record is a mark, which is then dropped. */
bool nsx_stale_mark(struct nsx_stale_marks *s, const struct nsx_rec *rec);

/* The same of steps and idle time only: waits hold where whole executions are removed. */
bool nsx_stale_mark_of_time(struct nsx_stale_marks *s, const struct nsx_rec *rec);

/* Report what was removed; `why` is the beginning of the sentence, such as "clocks changed". */
void nsx_stale_marks_diags(const struct nsx_stale_marks *s, struct nsx_diags *diags, const char *why);

#endif
