/* API calls in which the driver works for itself: it starts, loads code, maps or page-locks memory.
 * No model of copies or kernels explains their time. */
#ifndef HAUL_TIMELINE_DRIVER_CALL_H
#define HAUL_TIMELINE_DRIVER_CALL_H

#include "haul/breakdown.h"

/* In public profiles of 90 and more launches or copies that nothing held they start 5 to 33 us
 * after their calls, by the median; what takes longer loads, compiles or starts something. */
enum { HL_TIMELINE_USUAL_CALL_NS = 100 * 1000 };

/* The driver's work in the call of an operation of the host, by the call's name in CUDA, HIP or
 * OpenCL; HAUL_DRIVER_WORKS for other calls. */
haul_driver_work hl_timeline_driver_work_of(const char *call);

/* Whether no staging and no usual launch explains what the call of a device's operation takes
 * before the operation starts, or until it returns. */
bool hl_timeline_is_driver_call(const haul_op *op, int64_t call_ns);

#endif
