/* The whole run on the target: the recorded operations with the target's times, scheduled. */
#ifndef HAUL_PROJECT_WHOLE_RUN_H
#define HAUL_PROJECT_WHOLE_RUN_H

#include "project/contention.h"
#include "project/notes.h"
#include "project/target_times.h"

typedef struct hl_project_whole_run {
    hl_project_target_times times;
    const haul_machine *from;        /* the recording GPU's, or NULL where it is not known */
    const haul_machine *recorded_on; /* as given, host and all, or NULL */
    double host_speed;               /* haul_projection_options.host_speed */
    const haul_machine *target;
    const haul_workload *reference;          /* or NULL */
    const hl_project_contention *contention; /* of the recording */
    hl_project_notes *notes;                 /* and the arena of the durations */
} hl_project_whole_run;

/* Fills what a projection says of the whole run; run_missing alone where the profile cannot be
 * scheduled. The caller frees out->timeline. */
haul_status hl_project_whole_run_make(const hl_project_whole_run *self, haul_projection *out,
                                      haul_error *error);

/* Assumes the host's time on the target, with a note where machine files tell more. In host_time.c.
 */
haul_host_time hl_project_host_time(const hl_project_whole_run *self);

#endif
