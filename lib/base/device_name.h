/* device_name.h -- names of devices that mean something. */
#ifndef NSX_BASE_DEVICE_NAME_H
#define NSX_BASE_DEVICE_NAME_H

/* Of a device that is no GPU: instructions of XLA that ran on a CPU. */
#define NSX_ON_CPU "CPU"

#endif
