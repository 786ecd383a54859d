/* rows.h -- rows of steps, and of their classes. */
#ifndef NSX_TABLE_STEPS_ROWS_H
#define NSX_TABLE_STEPS_ROWS_H

#include "base/table.h"
#include "job/steps/find.h"
#include "table/steps.h"

/* A row for each class and device, or with `each` for each step; NULL when out of memory. */
struct nsx_table *nsx_steps_table(const struct nsx_step_set *s, bool each);

/* phases.c: a row for each phase of a server, or phase and shape of the batch; NULL when out of memory. The steps must
 * have been found for that. */
struct nsx_table *nsx_steps_phases(const struct nsx_step_set *s, const struct nsx_steps_options *options);

/* nsx_steps_find for the options of a table. */
static inline int
nsx_steps_collect(struct nsx_reader *in, const struct nsx_steps_options *options, struct nsx_step_set *s,
                  struct nsx_spool *again, struct nsx_diags *diags, struct nsx_err *err)
{
	const struct nsx_steps_wanted wanted = { .step = options->step, .module = options->module,
	                                         .serving = options->by != NSX_STEPS_BY_CLASS,
	                                         .require = options->require, .keep = options->keep,
	                                         .repeats = options->repeats, .repeat = options->repeat,
	                                         .brief = options->brief, .batched = options->batched,
	                                         .overlapping = options->overlapping };

	return nsx_steps_find(in, &wanted, s, again, diags, err);
}

#endif
