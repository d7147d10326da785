/* The error of everything that a device cannot do. */
#ifndef HAUL_DEVICE_CANNOT_H
#define HAUL_DEVICE_CANNOT_H

#include "haul/device.h"

/* "device 'opencl:0' cannot WHAT": ABSENT. */
haul_status haul_device_cannot(const haul_device *device, const char *what, haul_error *error);

#endif
