/* What NVIDIA's devices hold at once, by compute capability. */
#ifndef HAUL_TIMELINE_LIMITS_H
#define HAUL_TIMELINE_LIMITS_H

#include "haul/timeline.h"

/* Operations of one stream that CUDA takes before a call waits: about 1000
 * (forums.developer.nvidia.com/t/68937, stackoverflow.com/q/53970187). */
enum { HAUL_CUDA_QUEUE = 1024 };

typedef struct haul_sm_limits {
    unsigned kernels;
    haul_occupancy room; /* without the number of multiprocessors */
} haul_sm_limits;

/* Those of a compute capability, or NULL where it is not known. */
const haul_sm_limits *haul_limits_of(uint32_t major, uint32_t minor);

/* Those of a machine's GPU, by its architecture and the cores of a multiprocessor; of capabilities
 * that these do not tell apart, the least. NULL where none is known. */
const haul_sm_limits *haul_limits_of_gpu(const haul_gpu *gpu);

#endif
