/* The identity check for those who have looked at a recording's launch queues already. */
#ifndef HAUL_TIMELINE_REPLAY_H
#define HAUL_TIMELINE_REPLAY_H

#include "haul/timeline.h"
#include "timeline/in_flight.h"

/* haul_timeline_replay with what haul_in_flight_find found of the workload. */
haul_status haul_timeline_replay_with(const haul_workload *workload, haul_release release,
                                      const haul_in_flight *found, haul_replay *replay,
                                      haul_error *error);

#endif
