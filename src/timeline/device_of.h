/* Limits of a device, by its architecture. */
#ifndef HAUL_TIMELINE_DEVICE_OF_H
#define HAUL_TIMELINE_DEVICE_OF_H

#include "haul/timeline.h"
#include "machine/architectures.h"

/* Operations of one stream that CUDA takes before a call waits, as three public profiles of
 * NVIDIA's GPUs show (two by nsys, one by PyTorch, 1844 waiting calls); about 1000 by
 * forums.developer.nvidia.com/t/68937 and stackoverflow.com/q/53970187. */
enum { HL_TIMELINE_CUDA_QUEUE = 1022 };

/* Sets the kernels that `device` runs at once, its occupancy and its launch queue's depth. */
void hl_timeline_device_hold(haul_timeline_device *device,
                             const hl_machine_architecture *architecture, unsigned multiprocessors);

#endif
