/* excerpt.h -- the time that is left of a stream which nsysx-steps --cut made: the periods of its steps, whose marks
 * have `cut` 1. Operations of a device lie in them, or run into them. What is outside was taken away, and is neither
 * idle nor in any window; the time from the last operation to the end of a period is idle, though nothing follows.
 *
 *   step 0   step 1 | step 2 was mixed | step 3     |
 *   [one window   ) |     no part      | [one window)
 *
 * Marks come at the start of their steps, so that the windows of a time before an operation are known when the
 * operation is read. */
#ifndef NSX_JOB_STEPS_EXCERPT_H
#define NSX_JOB_STEPS_EXCERPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "stream/kinds.h"
#include "stream/reader.h"

/* [from, to) of a device, of consecutive periods; removed: ns of it that nsysx-warmup removed. */
struct nsx_excerpt_window { int64_t from, to, removed; };

/* first: the first window that nsx_excerpt_at has not passed. length: ns of all, without removed. */
struct nsx_excerpt_device { NSX_VEC(struct nsx_excerpt_window) windows; size_t first; int64_t length; };

/* {0} is of a stream that nothing was cut away from. on: something was. */
struct nsx_excerpt { bool on; NSX_VEC(struct nsx_excerpt_device) devices; };

/* Declare to a reader what nsx_excerpt_take uses. */
void nsx_excerpt_need(struct nsx_reader *in);
/* Any record; device: of a step, the caller's dense number. False when out of memory. */
bool nsx_excerpt_take(struct nsx_excerpt *x, const struct nsx_rec *rec, uint32_t device);
/* The first window of the device that ends after `at`, which never decreases by device; NULL: none so far. */
const struct nsx_excerpt_window *nsx_excerpt_at(struct nsx_excerpt *x, uint32_t device, int64_t at);
/* The start of the part of the gap [from, to) of the device, before an operation, that is in the window of that
 * operation, which may not be known yet; `to` if nothing is, `from` of a stream that nothing was cut away from. */
int64_t nsx_excerpt_gap(struct nsx_excerpt *x, uint32_t device, int64_t from, int64_t to);
/* ns of the device's windows, without removed. */
int64_t nsx_excerpt_length(const struct nsx_excerpt *x, uint32_t device);
void nsx_excerpt_free(struct nsx_excerpt *x);

#endif
