/* The whole run on the target: the recorded operations with the target's times, scheduled. */
#ifndef HAUL_PROJECT_WHOLE_RUN_H
#define HAUL_PROJECT_WHOLE_RUN_H

#include "project/contention.h"
#include "project/notes.h"
#include "project/target_times.h"

typedef struct haul_whole_run {
    haul_target_times times;
    const haul_machine *from; /* the recording GPU's, or NULL where it is not known */
    const haul_machine *target;
    const haul_workload *reference;    /* or NULL */
    const haul_contention *contention; /* of the recording */
    haul_notes *notes;                 /* and the arena of the durations */
} haul_whole_run;

/* Fills what a projection says of the whole run; run_missing alone where the profile cannot be
 * scheduled. The caller frees out->timeline. */
haul_status haul_whole_run_make(const haul_whole_run *self, haul_projection *out,
                                haul_error *error);

#endif
