/* The workload on which timelines are measured, the same for haul's engine and for others. */
#ifndef HAUL_BENCH_TIMELINE_WORKLOAD_H
#define HAUL_BENCH_TIMELINE_WORKLOAD_H

#include "haul/workload.h"

HAUL_BEGIN

/* Copies in, kernels and copies out, one after another on each stream of two devices, called by
 * four threads; now and then a stream waits for another, and, with `waits`, a thread for a stream.
 * Kernels are long enough that nearly all streams are busy at any time. At most 4096 streams. Ends
 * the program without memory; never freed. */
haul_workload timeline_workload_make(uint32_t count, uint32_t streams, bool waits);

HAUL_END

#endif
