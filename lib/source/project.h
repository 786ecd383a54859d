/* project.h -- the sweep that finds the parents of ranges and projects ranges onto the GPU. It works on arrays only. */
#ifndef NSX_SOURCE_PROJECT_H
#define NSX_SOURCE_PROJECT_H

#include "base/err.h"
#include "source/projection.h"

/* Fill `parent` of the n ranges of one thread (sorted by start, longer first, id) with indices counted from `base` and
 * set `range` of each call (sorted by start, longer first). With spans, which are empty, `gpu` of a range in which
 * something was launched becomes the index there of its projection, of others NSX_NONE: most ranges have none, so there
 * are few spans beside ranges. Without, `gpu` stays as it is. Containment is inclusive at both ends; the tightest
 * container is the parent, among equals the lowest id; of ranges with the same interval the lower id is outside.
 * O((n + ncalls) log) for any nesting of the ranges. NSX_OK, or NSX_ERR when out of memory. */
int nsx_project(struct nsx_range *ranges, uint32_t n, uint32_t base, struct nsx_call *calls, uint32_t ncalls,
                nsx_span_list *spans);

#endif
