/* Kernels and memsets carried to another GPU. */
#ifndef HAUL_PROJECT_DEVICE_WORK_H
#define HAUL_PROJECT_DEVICE_WORK_H

#include "base/arena.h"
#include "haul/kernel.h"
#include "haul/project.h"

/* What a recorded time is multiplied with: 1 where it is kept. */
typedef struct haul_work_scale {
    double likely;
    double low;
    double high;
} haul_work_scale;

typedef struct haul_work_scales {
    const haul_work_scale *kernels; /* by shape; the last of shape_count + 1: of no known shape */
    haul_work_scale memsets;
} haul_work_scales;

/* Fills the kernels and memsets of a projection: their recorded sums, and on gpus->to what
 * haul_kernel_carry_launches makes of them, launch by launch, from gpus->from. Where no ratio is
 * known kernels_missing says why; with `from` NULL it is `unknown`. The scales are the arena's. */
typedef struct haul_carry_gpus {
    const haul_machine *from;
    const char *unknown;
    const haul_machine *to;
} haul_carry_gpus;
haul_status haul_device_work_carry(const haul_workload *workload, const haul_carry_gpus *gpus,
                                   haul_arena *arena, haul_projection *projection,
                                   haul_work_scales *scales, haul_error *error);

#endif
