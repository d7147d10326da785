/* Whether the whole run can be predicted from a profile, judged in one place: each command that
 * schedules a profile anew asks here, and refuses in the same words. */
#include "project/soundness.h"

#include <math.h>
#include <stdio.h>

#include "base/fail.h"
#include "haul/units.h"

/* A change that a prediction tells is mostly larger than this; where the schedule itself misses
 * more, it does not describe the program. */
static const double most_percent = 10;

haul_soundness hl_project_soundness_of(const haul_replay *replay)
{
    haul_soundness made = {.is_sound = fabs(replay->error) <= most_percent};
    char replayed[32], recorded[32];
    if (made.is_sound)
        return made;
    haul_quantity_format(1e-9 * (double)replay->replayed_ns, HAUL_DIM_SECONDS, 3, replayed,
                         sizeof replayed);
    haul_quantity_format(1e-9 * (double)replay->recorded_ns, HAUL_DIM_SECONDS, 3, recorded,
                         sizeof recorded);
    (void)snprintf(made.why, sizeof made.why,
                   "replaying the profile's own durations gives %s, not the recorded %s (%+.1f %%)",
                   replayed, recorded, replay->error);
    return made;
}

haul_release hl_project_release_of(const haul_workload *workload)
{
    for (size_t i = 0; i < workload->op_count; i++)
        if (haul_op_on_device(&workload->ops[i]) && workload->ops[i].thread != HAUL_NONE)
            return HAUL_RELEASE_HOST;
    return HAUL_RELEASE_RECORDED;
}

haul_status haul_soundness_check(const haul_workload *workload, haul_soundness *soundness,
                                 haul_error *error)
{
    haul_replay replay;
    HAUL_TRY(haul_timeline_replay(workload, hl_project_release_of(workload), &replay, error));
    *soundness = hl_project_soundness_of(&replay);
    return HAUL_OK;
}
