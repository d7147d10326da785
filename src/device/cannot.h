/* The error of everything that a device cannot do. */
#ifndef HAUL_DEVICE_CANNOT_H
#define HAUL_DEVICE_CANNOT_H

#include "haul/device.h"

/* "device 'opencl:0' cannot WHAT": ABSENT. */
haul_status hl_device_cannot(const haul_device *device, const char *what, haul_error *error);

/* DEVICE_FAILED where the device has disappeared, as haul_device_test.lost_behind asks for. */
haul_status hl_device_is_present(const haul_device *device, haul_error *error);

#endif
