/* explain.h -- why a slow step was slow: the step at a percentile compared with the median one; private to this
 * folder. */
#ifndef NSX_TABLE_STEPS_EXPLAIN_H
#define NSX_TABLE_STEPS_EXPLAIN_H

#include "base/table.h"
#include "job/steps/steps.h"
#include "stream/reader.h"

/* Declare the columns of a stream that nsx_steps_explain or an analysis of idle time reads in a second reading. */
void nsx_steps_again_need(struct nsx_reader *in);

/* Read the stream whose steps are s a second time. A row for each instruction, range, kernel, collective, copy and idle
 * cause whose time differs between the step of that percentile (of start-to-start periods, by nearest rank) and the
 * median step of the class on the device, of those whose periods count; the differences of a class and device sum to
 * that of the periods. The caller frees *table. NSX_OK or NSX_ERR. */
int nsx_steps_explain(struct nsx_reader *in, const struct nsx_step_set *s, int percentile, struct nsx_table **table,
                      struct nsx_diags *diags, struct nsx_err *err);

#endif
