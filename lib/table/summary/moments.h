/* summary/moments.h -- the time of each device by its operations: activities (job/activity.h) that add up to its
 * window, and how much of communication and of copies is hidden. What nsysx-warmup removed is in none of them. Of a
 * stream that nsysx-steps --cut made the window is the periods of its steps. Constant memory per device, and 24 bytes
 * for each stretch of periods. Private to lib/table/summary. */
#ifndef NSX_TABLE_SUMMARY_MOMENTS_H
#define NSX_TABLE_SUMMARY_MOMENTS_H

#include "base/diag.h"
#include "base/num.h"
#include "base/vec.h"
#include "job/overruns.h"
#include "job/activity.h"
#include "job/removed.h"
#include "job/steps/excerpt.h"
#include "table/analysis.h"

/* Of a device, ns. hidden: of communication and of copies what is under work that comes before them. */
struct nsx_moments {
	struct nsx_parts   parts;
	struct nsx_removed removed;
	nsx_u128 of[NSX_NPARTS], hidden[NSX_NPARTS];
};

/* {0} has no operations. */
struct nsx_all_moments {
	NSX_VEC(struct nsx_moments) devices;   /* by index of the catalogue; parts.begun: it has operations */
	bool     any;                          /* there was an operation */
	struct nsx_overruns overruns;
	struct nsx_excerpt excerpt;
	int64_t  timeless, late;               /* operations without a time, or that come after one that starts later */
};

/* Declare to a reader what nsx_moments_take_step uses. */
void nsx_moments_need(struct nsx_reader *in);
/* Add a mark of a step, at its place among the operations. False when out of memory. */
bool nsx_moments_take_step(struct nsx_all_moments *a, struct nsx_catalogue *cat, const struct nsx_rec *step);
/* Add an operation that is in reach, in order of start. False when out of memory. */
bool nsx_moments_take(struct nsx_all_moments *a, const struct nsx_event *e);

/* After the last operation: complete the sums of all devices. */
void nsx_moments_finish(struct nsx_all_moments *a);

/* The sum of a device's activities. */
nsx_u128 nsx_moments_window(const struct nsx_moments *m);

/* Report operations that could not be counted. */
void nsx_moments_diags(struct nsx_all_moments *a, struct nsx_diags *diags);

void nsx_moments_free(struct nsx_all_moments *a);

#endif
