/* rows.h -- rows of steps, and of their classes. */
#ifndef NSX_TABLE_STEPS_ROWS_H
#define NSX_TABLE_STEPS_ROWS_H

#include "base/table.h"
#include "job/steps/find.h"

/* A row for each class and device, or with `each` for each step; NULL when out of memory. */
struct nsx_table *nsx_steps_table(const struct nsx_step_set *s, bool each);

#endif
