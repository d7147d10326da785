/* haul_timeline_replay in steps. */
#ifndef HAUL_TIMELINE_REPLAY_H
#define HAUL_TIMELINE_REPLAY_H

#include "haul/timeline.h"
#include "timeline/recorded_waits.h"

/* Replays the workload, and finds its delays, with what hl_timeline_recorded_waits_find found.
 * Keeps the timeline where found->keeps_replay. */
haul_status hl_timeline_replay_with(const haul_workload *workload, haul_release release,
                                    hl_timeline_recorded_waits *found, haul_replay *replay,
                                    haul_error *error);

#endif
