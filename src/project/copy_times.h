/* The time of every copy of a profile on the target, by every model. */
#ifndef HAUL_PROJECT_COPY_TIMES_H
#define HAUL_PROJECT_COPY_TIMES_H

#include "base/arena.h"
#include "haul/project.h"
#include "project/size_class.h"

typedef struct hl_project_copy_times {
    const haul_machine *target;
    const haul_copy_model *model; /* that was asked for */
    const hl_project_size_classes *classes;
    const uint32_t *staged_ns; /* of each class: see hl_project_staging_find */
    hl_base_arena *arena;
    uint64_t replaced; /* copies that `auto` predicted in its place, and why the first of them */
    char why_replaced[512];
} hl_project_copy_times;

/* Fills the sizes, rows, models and copies of a projection. */
haul_status hl_project_copy_times_make(hl_project_copy_times *self, haul_projection *out,
                                       haul_error *error);

#endif
