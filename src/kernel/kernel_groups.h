/* Measured rows by the kernel and the machine that they are of. */
#ifndef HAUL_KERNEL_GROUPS_H
#define HAUL_KERNEL_GROUPS_H

#include "base/arena.h"
#include "haul/kernel_times.h"

/* A row to fit. */
typedef struct haul_kernel_launch {
    const char *kernel;
    size_t machine;
    const haul_kernel_file *file; /* what it does; NULL: counted by a profiler */
    haul_kernel_sample sample;
    int block[3]; /* that it was launched in; all 0: not told */
    size_t row;   /* its number among all */
} haul_kernel_launch;

/* Groups `count` launches, whose order it changes; false without memory. What it makes is in the
 * arena. */
bool haul_kernel_launches_group(haul_kernel_launch *launches, size_t count, haul_arena *arena,
                                haul_kernel_groups *out);

#endif
