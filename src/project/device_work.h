/* Kernels and memsets scaled to another GPU. */
#ifndef HAUL_PROJECT_DEVICE_WORK_H
#define HAUL_PROJECT_DEVICE_WORK_H

#include "base/arena.h"
#include "base/index.h"
#include "haul/kernel.h"
#include "haul/project.h"

/* Factors of a recorded time: 1 where it is kept. */
typedef struct hl_project_work_scale {
    double likely;
    double low;
    double high;
} hl_project_work_scale;

/* Launches of one name and shape. */
typedef struct hl_project_launch_group {
    uint32_t name;
    uint32_t shape;    /* HAUL_NONE: not known */
    uint32_t row;      /* of its name */
    uint32_t operands; /* 1 + index into haul_workload.operands; 0 where not known */
    uint64_t count;
    double seconds;
} hl_project_launch_group;

/* Found by name and shape: a number for each of the operations would cost more memory than looking
 * it up costs time. */
typedef struct hl_project_launch_groups {
    const haul_workload *workload;
    hl_base_index index;
    hl_project_launch_group *items;
    size_t count;
    size_t capacity;
} hl_project_launch_groups;

/* The group of a kernel of the workload. */
uint32_t hl_project_launch_groups_find(const hl_project_launch_groups *self, const haul_op *op);

typedef struct hl_project_work_scales {
    hl_project_launch_groups groups;
    hl_project_work_scale *kernels; /* by group */
    hl_project_work_scale memsets;
} hl_project_work_scales;

void hl_project_work_scales_release(hl_project_work_scales *self);

typedef struct hl_project_device_work {
    const haul_workload *workload;
    const haul_machine *from; /* with the source GPU; NULL: it is not known */
    const char *unknown;      /* and why */
    const haul_machine *to;
    const haul_kernel_classes *classes; /* a user's, or NULL */
    const haul_kernel_times *counters;  /* or NULL */
    const haul_workload *reference;     /* or NULL */
    bool tf32;                          /* as haul_projection_options has it */
    hl_base_arena *arena;               /* of the scales, but for their groups */
} hl_project_device_work;

/* Fills the kernels and memsets of a projection: their recorded sums, and what haul_kernel_predict
 * makes of them, group by group. Where no ratio is known kernels_missing says why and the scales
 * are 1. The caller releases the scales, also after a failure. */
haul_status hl_project_device_work_scale(const hl_project_device_work *self, haul_projection *out,
                                         hl_project_work_scales *scales, haul_error *error);

#endif
