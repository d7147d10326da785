/* The self-check: a profile's own copies, predicted on the machine that recorded it. */
#ifndef HAUL_PROJECT_SELF_CHECK_H
#define HAUL_PROJECT_SELF_CHECK_H

#include "base/arena.h"
#include "haul/project.h"
#include "project/contention.h"

typedef struct hl_project_self_check_inputs {
    const haul_workload *workload;
    const hl_project_size_classes *classes;
    const uint32_t
        *staged_ns; /* of each class: see hl_project_staging_find; or NULL: nothing is staged */
    const hl_project_contention *contention;
    const haul_machine *recording;
    const haul_copy_model *model; /* or NULL; what it cannot predict, `auto` does */
} hl_project_self_check_inputs;

/* Fills all of *check but `fitted`, with wape_without_contention as wape; its rows are the arena's.
 * Copies that neither model predicts are counted in `unpredicted` and left out of the scores. */
haul_status hl_project_self_check_run(const hl_project_self_check_inputs *inputs,
                                      hl_base_arena *arena, haul_self_check *check,
                                      haul_error *error);

#endif
