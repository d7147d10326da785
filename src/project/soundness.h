/* Whether the whole run can be predicted from a profile. */
#ifndef HAUL_PROJECT_SOUNDNESS_H
#define HAUL_PROJECT_SOUNDNESS_H

#include "haul/project.h"

/* Unsound where the replay misses the recorded makespan by more than 10 %. */
haul_soundness hl_project_soundness_of(const haul_replay *replay);

/* How the profile is scheduled: with simulated threads, or as recorded where it has no call of
 * device work. */
haul_release hl_project_release_of(const haul_workload *workload);

#endif
