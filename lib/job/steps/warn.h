/* warn.h -- warnings about classes of steps whose periods are compared. */
#ifndef NSX_JOB_STEPS_WARN_H
#define NSX_JOB_STEPS_WARN_H

#include "base/diag.h"
#include "job/steps/set.h"

/* Report periods that contain a step of another class, and whether they count; of steps that are compared, that they
 * are not. */
void nsx_steps_report_between(const struct nsx_step_set *s, bool compared, struct nsx_diags *diags);
/* Warn about classes whose steps last clearly longer than the time until the next one starts; not of a server, where
 * that is usual, and the period is what a step costs; their names come to s->overlapping. told: classes of another run
 * of which it was told, so that it is no more than a remark; NULL: none. False when out of memory. */
bool nsx_steps_report_overlapping(struct nsx_step_set *s, const struct nsx_intern *told, struct nsx_diags *diags);
/* Report that groups of the expression put each step into a separate class, so that none has a period. NSX_OK or
 * NSX_ERR. */
int nsx_steps_single(const struct nsx_step_set *s, const char *step, struct nsx_diags *diags);

#endif
