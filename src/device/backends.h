/* Every kind of device, the fastest first. */
#ifndef HAUL_DEVICE_BACKENDS_H
#define HAUL_DEVICE_BACKENDS_H

#include "haul/device_backend.h"

#ifdef HAUL_HAS_OPENCL
#define HL_DEVICE_BACKEND_OPENCL(X) X(opencl)
#else
#define HL_DEVICE_BACKEND_OPENCL(X)
#endif

#ifndef HL_DEVICE_BACKENDS /* tests/device/check_devices builds with fewer */
#define HL_DEVICE_BACKENDS(X) X(cuda) X(hip) HL_DEVICE_BACKEND_OPENCL(X) X(host) X(sim)
#endif

#define HL_DEVICE_BACKEND_DECLARE(kind) extern const haul_device_backend hl_device_##kind##_backend;
HL_DEVICE_BACKENDS(HL_DEVICE_BACKEND_DECLARE)
#undef HL_DEVICE_BACKEND_DECLARE

/* An event of a backend, `bytes` bytes of zeros that begin with haul_event. Free it with free. */
haul_status hl_device_event_alloc(size_t bytes, haul_event **event, haul_error *error);

#endif
