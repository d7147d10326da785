/* The self-check: a profile's own copies, predicted on the machine that recorded it. */
#ifndef HAUL_PROJECT_SELF_CHECK_H
#define HAUL_PROJECT_SELF_CHECK_H

#include "base/arena.h"
#include "haul/project.h"
#include "project/contention.h"

typedef struct haul_self_check_inputs {
    const haul_workload *workload;
    const haul_size_classes *classes;
    const uint32_t
        *staged_ns; /* of each class: see haul_staging_find; or NULL: nothing is staged */
    const haul_contention *contention;
    const haul_machine *recording;
    const haul_copy_model *model; /* or NULL; what it cannot predict, `auto` does */
} haul_self_check_inputs;

/* Fills all of *check but `fitted`, with wape_without_contention as wape; its rows are the arena's.
 * Copies that neither model predicts are counted in `unpredicted` and left out of the scores. */
haul_status haul_self_check_run(const haul_self_check_inputs *inputs, haul_arena *arena,
                                haul_self_check *check, haul_error *error);

#endif
