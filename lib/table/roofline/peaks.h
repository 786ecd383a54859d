/* peaks.h -- the peak rates of a device; private to this folder. */
#ifndef NSX_TABLE_ROOFLINE_PEAKS_H
#define NSX_TABLE_ROOFLINE_PEAKS_H

#include "base/str.h"
#include "job/catalogue.h"
#include "table/roofline.h"

/* The source of a number. */
enum nsx_peak_from { NSX_FROM_NOWHERE, NSX_FROM_OPTION, NSX_FROM_EXPORT, NSX_FROM_TABLE };

/* Peaks of one device; 0 and NSX_FROM_NOWHERE: unknown. */
struct nsx_peaks {
	double tflops[NSX_NMATHS];              /* of operations of that math, on the units that the device has for
	                                         * it */
	double gbps;
	enum nsx_peak_from from[NSX_NMATHS];    /* of the maths that the device has itself, and of those that were
	                                         * given */
	enum nsx_peak_from gbps_from;
};

/* name: of the device; d: its record. */
struct nsx_peaks nsx_peaks_of(const struct nsx_cat_device *d, struct nsx_str name,
                              const struct nsx_roofline_given *given);

const char *nsx_math_name(enum nsx_math m);
enum nsx_math nsx_math_find(struct nsx_str name);         /* NSX_NMATHS: none of them */
const char *nsx_peak_from_name(enum nsx_peak_from from);  /* "" for nowhere */

#endif
