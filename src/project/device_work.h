/* Kernels and memsets carried to another GPU. */
#ifndef HAUL_PROJECT_DEVICE_WORK_H
#define HAUL_PROJECT_DEVICE_WORK_H

#include "base/arena.h"
#include "haul/project.h"

/* Fills the kernels and memsets of a projection: their recorded sums, and on gpus->to what
 * haul_kernel_carry_launches makes of them, launch by launch, from gpus->from. Where no ratio is
 * known kernels_missing says why; with `from` NULL it is `unknown`. */
typedef struct haul_carry_gpus {
    const haul_machine *from;
    const char *unknown;
    const haul_machine *to;
} haul_carry_gpus;
haul_status haul_device_work_carry(const haul_workload *workload, const haul_carry_gpus *gpus,
                                   haul_arena *arena, haul_projection *projection,
                                   haul_error *error);

#endif
