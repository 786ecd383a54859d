/* summary/totals.h -- sums over the whole stream, by name. Private to lib/table/summary. */
#ifndef NSX_TABLE_SUMMARY_TOTALS_H
#define NSX_TABLE_SUMMARY_TOTALS_H

#include "job/program_time.h"
#include "table/summary/moments.h"

struct nsx_total { const char *name; bool known; nsx_u128 ns; };
enum { NSX_TOTALS = 9 };

/* Set the totals, the first of which the others are shares of: their number. Of the operations of all devices, each
 * moment of a device once. */
int nsx_totals_of_moments(struct nsx_all_moments *moments, const struct nsx_top *top,
                          struct nsx_total totals[NSX_TOTALS]);

/* ns of thunks. compute, exposed: without copies. */
struct nsx_thunk_sums { nsx_u128 compute, exposed, hidden, copies; };
/* Of thunks and modules, in a stream without operations. */
int nsx_totals_of_thunks(const struct nsx_thunk_sums *sums, struct nsx_top *top, const struct nsx_excerpt *x,
                         struct nsx_total totals[NSX_TOTALS]);

#endif
