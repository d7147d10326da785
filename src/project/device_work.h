/* Kernels and memsets scaled to another GPU. */
#ifndef HAUL_PROJECT_DEVICE_WORK_H
#define HAUL_PROJECT_DEVICE_WORK_H

#include "base/arena.h"
#include "base/index.h"
#include "haul/kernel.h"
#include "haul/project.h"

/* Factors of a recorded time: 1 where it is kept. */
typedef struct haul_work_scale {
    double likely;
    double low;
    double high;
} haul_work_scale;

/* Launches of one name and shape. */
typedef struct haul_launch_group {
    uint32_t name;
    uint32_t shape; /* HAUL_NONE: not known */
    uint32_t row;   /* of its name */
    uint64_t count;
    double seconds;
    double shortest_s;
} haul_launch_group;

/* Found by name and shape: a number for each of the operations would cost more memory than looking
 * it up costs time. */
typedef struct haul_launch_groups {
    const haul_workload *workload;
    haul_index index;
    haul_launch_group *items;
    size_t count;
    size_t capacity;
} haul_launch_groups;

/* The group of a kernel of the workload. */
uint32_t haul_launch_groups_find(const haul_launch_groups *self, const haul_op *op);

typedef struct haul_work_scales {
    haul_launch_groups groups;
    haul_work_scale *kernels; /* by group */
    haul_work_scale memsets;
} haul_work_scales;

void haul_work_scales_release(haul_work_scales *self);

typedef struct haul_device_work {
    const haul_workload *workload;
    const haul_machine *from; /* with the source GPU; NULL: it is not known */
    const char *unknown;      /* and why */
    const haul_machine *to;
    const haul_kernel_classes *classes; /* a user's, or NULL */
    const haul_kernel_times *counters;  /* or NULL */
    const haul_workload *reference;     /* or NULL */
    bool tf32;                          /* as haul_projection_options has it */
    haul_arena *arena;                  /* of the scales, but for their groups */
} haul_device_work;

/* Fills the kernels and memsets of a projection: their recorded sums, and what haul_kernel_predict
 * makes of them, group by group. Where no ratio is known kernels_missing says why and the scales
 * are 1. The caller releases the scales, also after a failure. */
haul_status haul_device_work_scale(const haul_device_work *self, haul_projection *out,
                                   haul_work_scales *scales, haul_error *error);

#endif
