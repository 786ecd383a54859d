/* clock_error.h -- waits that are not longer than the error of the clocks that they are measured on. */
#ifndef NSX_JOB_CLOCK_ERROR_H
#define NSX_JOB_CLOCK_ERROR_H

#include <stdint.h>

#include "base/diag.h"
#include "job/catalogue.h"

/* Two standard errors of the least certain correction of a device's clock, ns: a mean time between devices that is not
 * longer may be none. 0 if no error is known. */
double nsx_clock_error(const struct nsx_catalogue *c);

/* Report that so many rows of a table have a mean wait within that error. */
void nsx_clock_error_diag(const struct nsx_catalogue *c, int64_t rows, struct nsx_diags *diags);

#endif
