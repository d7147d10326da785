/* Copies and kernels on the cores of a CPU. */
#ifndef HAUL_OVERLAP_CORES_H
#define HAUL_OVERLAP_CORES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cores_op {
    uint32_t after; /* the operation that has to end before it, an earlier one, or HAUL_NONE */
    bool is_kernel;
    double seconds; /* of a copy on its core, of a kernel on all cores */
    /* hl_overlap_cores_time's own */
    double left_s;  /* of one core's time */
    double ready_s; /* infinite: waits */
    uint32_t turn;  /* in which a core took it; 0: none has */
    uint32_t on;    /* cores that are at it */
} cores_op;

/* When all of them have ended, in seconds, on cores that work as PoCL's threads do. A core that is
 * free takes the operation that is ready first. A copy it makes by itself; with a kernel, and where
 * nothing is ready, it joins the kernel that was taken first, whose groups are any core's. Thus a
 * copy back may keep a core from the next kernel. */
double hl_overlap_cores_time(cores_op *ops, size_t count, uint32_t cores);

#endif
