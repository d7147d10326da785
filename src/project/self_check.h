/* The identity check: a trace's own copies, priced on the machine that recorded it. */
#ifndef HAUL_PROJECT_SELF_CHECK_H
#define HAUL_PROJECT_SELF_CHECK_H

#include "base/arena.h"
#include "haul/project.h"
#include "project/contention.h"

typedef struct haul_self_check_inputs {
    const haul_workload *workload;
    const haul_size_class *alike;
    const haul_contention_fit *collisions;
    const haul_machine *recording;
    const haul_copy_model *model; /* or NULL; what it cannot predict, `auto` does */
} haul_self_check_inputs;

/* Fills all of *identity but `fitted`, with wape_without_contention as wape; its rows are the
 * arena's. Copies that neither model can predict are counted in `unpriced` and left out of the
 * scores. */
haul_status haul_self_check_run(const haul_self_check_inputs *inputs, haul_arena *arena,
                                haul_self_check *identity, haul_error *error);

#endif
