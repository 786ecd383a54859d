/* parts.h -- the activities of a device are in activity.h. */
#include "job/activity.h"
