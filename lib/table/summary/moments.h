/* summary/moments.h -- the time of each device by its operations: activities (job/activity.h) that add up to its
 * window, and how much of communication and of copies is hidden. What nsysx-warmup removed is in none of them. Constant
 * memory per device. Private to lib/table/summary. */
#ifndef NSX_TABLE_SUMMARY_MOMENTS_H
#define NSX_TABLE_SUMMARY_MOMENTS_H

#include "base/diag.h"
#include "base/num.h"
#include "base/vec.h"
#include "job/catalogue.h"
#include "job/overruns.h"
#include "job/activity.h"
#include "job/removed.h"

/* Of a device, ns. parts.of[].length has the unions of communication and of copies, hidden or not. */
struct nsx_moments {
	struct nsx_parts   parts;
	struct nsx_removed removed;
	nsx_u128 of[NSX_NPARTS];
};

/* {0} has no operations. */
struct nsx_all_moments {
	NSX_VEC(struct nsx_moments) devices;   /* by index of the catalogue; parts.begun: it has operations */
	bool     any;                          /* there was an operation */
	struct nsx_overruns overruns;
	int64_t  timeless, late;               /* operations without a time, or that come after one that starts later */
};

/* Add an operation that is in reach, in order of start, of the device with that index. False when out of memory. */
bool nsx_moments_take(struct nsx_all_moments *a, struct nsx_catalogue *cat, uint32_t device, const struct nsx_rec *op);

/* After the last operation: complete the sums of all devices. */
void nsx_moments_finish(struct nsx_all_moments *a);

/* The sum of a device's activities. */
nsx_u128 nsx_moments_window(const struct nsx_moments *m);

/* Report operations that could not be counted. */
void nsx_moments_diags(struct nsx_all_moments *a, struct nsx_diags *diags);

void nsx_moments_free(struct nsx_all_moments *a);

#endif
