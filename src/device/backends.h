/* Every kind of device, the fastest first. */
#ifndef HAUL_DEVICE_BACKENDS_H
#define HAUL_DEVICE_BACKENDS_H

#include "haul/device_backend.h"

#ifdef HAUL_HAS_OPENCL
#define HAUL_BACKEND_OPENCL(X) X(opencl)
#else
#define HAUL_BACKEND_OPENCL(X)
#endif

#ifndef HAUL_BACKENDS /* tests/device/check_devices builds with fewer */
#define HAUL_BACKENDS(X) X(cuda) X(hip) HAUL_BACKEND_OPENCL(X) X(host) X(sim)
#endif

#define HAUL_BACKEND_DECLARE(kind) extern const haul_device_backend haul_##kind##_backend;
HAUL_BACKENDS(HAUL_BACKEND_DECLARE)
#undef HAUL_BACKEND_DECLARE

/* An event of a backend, `bytes` bytes of zeros that begin with haul_event. Free it with free. */
haul_status haul_event_alloc(size_t bytes, haul_event **event, haul_error *error);

#endif
