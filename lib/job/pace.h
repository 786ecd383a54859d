/* pace.h -- whether devices take longer than others for the same kernels.
 *
 * The pace of a device is its time in the kernels that all devices run equally often, divided by the time that the
 * median device of each of these kernels takes for as many:
 *
 *   kernel   device 0   device 1   device 2   median
 *   a x 10      1000       1030       1002      1002
 *   b x 5        500        515        498       500
 *   pace       0.999      1.029      0.999              (1545 / 1502): device 1 is 2.9 % slower
 *
 * Of an even number of devices the lower of the two in the middle is the median. */
#ifndef NSX_JOB_PACE_H
#define NSX_JOB_PACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/num.h"
#include "base/vec.h"

/* Time of a device in the kernels of one name, ns. name: any number. */
struct nsx_pace_time { int64_t device; uint32_t name; int64_t count; nsx_u128 ns; };

/* A device: its kernels that all devices run as often, their time, ns, and its pace; 0: no such kernels. */
struct nsx_pace { int64_t device, kernels; nsx_u128 ns; double pace; };

struct nsx_paces { NSX_VEC(struct nsx_pace) list; };   /* by device */

/* The paces of all devices that occur in n times, which are sorted by this; one for each device and name. Devices that
 * ran other numbers of steps are compared by the kernels that they run at the same rate to all of them. NSX_OK, or
 * NSX_ERR (out of memory) with err filled; out is to be freed in both cases. */
int nsx_paces_of(struct nsx_pace_time *times, size_t n, struct nsx_paces *out, struct nsx_err *err);

/* That of a device; NULL: there is none. */
const struct nsx_pace *nsx_paces_find(const struct nsx_paces *p, int64_t device);

#endif
