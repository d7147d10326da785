/* What a device holds at once, by its architecture. */
#ifndef HAUL_TIMELINE_DEVICE_OF_H
#define HAUL_TIMELINE_DEVICE_OF_H

#include "haul/timeline.h"
#include "machine/architectures.h"

/* Operations of one stream that CUDA takes before a call waits: about 1000
 * (forums.developer.nvidia.com/t/68937, stackoverflow.com/q/53970187). */
enum { HAUL_CUDA_QUEUE = 1024 };

/* Sets the kernels that `device` runs at once, its occupancy and its launch queue's depth. */
void haul_timeline_device_hold(haul_timeline_device *device, const haul_architecture *architecture,
                               unsigned multiprocessors);

#endif
