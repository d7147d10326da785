/* Kernels and memsets scaled to another GPU. */
#ifndef HAUL_PROJECT_DEVICE_WORK_H
#define HAUL_PROJECT_DEVICE_WORK_H

#include "base/arena.h"
#include "haul/kernel.h"
#include "haul/project.h"

/* Factors of a recorded time: 1 where it is kept. */
typedef struct haul_work_scale {
    double likely;
    double low;
    double high;
} haul_work_scale;

typedef struct haul_work_scales {
    uint32_t *group_of;       /* of each kernel among the operations */
    haul_work_scale *kernels; /* by group: the launches of one name and shape */
    haul_work_scale memsets;
} haul_work_scales;

typedef struct haul_device_work {
    const haul_workload *workload;
    const haul_machine *from; /* with the source GPU; NULL: it is not known */
    const char *unknown;      /* and why */
    const haul_machine *to;
    const haul_kernel_classes *classes; /* a user's, or NULL */
    const haul_kernel_times *counters;  /* or NULL */
    const haul_workload *reference;     /* or NULL */
    bool tf32;                          /* as haul_projection_options has it */
    haul_arena *arena;                  /* of the scales */
} haul_device_work;

/* Fills the kernels and memsets of a projection: their recorded sums, and what haul_kernel_predict
 * makes of them, group by group. Where no ratio is known kernels_missing says why and the scales
 * are 1. */
haul_status haul_device_work_scale(const haul_device_work *self, haul_projection *out,
                                   haul_work_scales *scales, haul_error *error);

#endif
