/* Every kind of device, the fastest first. */
#ifndef HAUL_DEVICE_BACKENDS_H
#define HAUL_DEVICE_BACKENDS_H

#include "haul/device_backend.h"

#define HAUL_BACKENDS(X) X(host)

#define HAUL_BACKEND_DECLARE(kind) extern const haul_device_backend haul_##kind##_backend;
HAUL_BACKENDS(HAUL_BACKEND_DECLARE)
#undef HAUL_BACKEND_DECLARE

#endif
