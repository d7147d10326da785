/* The identity check: a trace's own copies, priced on the machine that recorded it. */
#ifndef HAUL_PROJECT_IDENTITY_H
#define HAUL_PROJECT_IDENTITY_H

#include "base/arena.h"
#include "haul/project.h"
#include "project/collision.h"

typedef struct haul_identity_inputs {
    const haul_workload *workload;
    const haul_alike *alike;
    const haul_collisions *collisions;
    const haul_machine *recording;
    const haul_copy_model *model;
    const haul_copy_model *instead; /* prices what `model` cannot; may be the same */
} haul_identity_inputs;

/* Fills all of *identity but `fitted`, with wape_alone as wape; its rows are the arena's. Copies
 * that neither model can price are counted in `unpriced` and left out of the scores. */
haul_status haul_identity_check(const haul_identity_inputs *inputs, haul_arena *arena,
                                haul_identity *identity, haul_error *error);

#endif
