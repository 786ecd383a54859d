/* times.h -- the times of a trace: microseconds as decimal numbers, exactly. */
#ifndef NSX_KINETO_TIMES_H
#define NSX_KINETO_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* A number of microseconds as ns, what is below a nanosecond cut off: never by way of a double, which cannot hold 16
 * digits and decimals. *whole, *part: digits before the decimal point, and after it. False if it is not a number, or
 * does not fit. */
bool nsx_kineto_ns(struct nsx_str s, int64_t *ns, int *whole, int *part);

#endif
