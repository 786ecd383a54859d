/* project_any.h -- projection of ranges that do not nest. */
#ifndef NSX_SOURCE_PROJECT_ANY_H
#define NSX_SOURCE_PROJECT_ANY_H

#include "base/err.h"
#include "source/projection.h"

/* nsx_project for ranges that do not nest: the same in O((n + ncalls) log n). */
int nsx_project_any(struct nsx_range *ranges, uint32_t n, uint32_t base, struct nsx_call *calls, uint32_t ncalls,
                    nsx_span_list *spans);

#endif
