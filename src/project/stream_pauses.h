/* Pauses within the streams of a profile without API calls. */
#ifndef HAUL_PROJECT_STREAM_PAUSES_H
#define HAUL_PROJECT_STREAM_PAUSES_H

#include "timeline/recorded_waits.h"

/* Sets the delays of *found so that each operation starts as long after the one before it on its
 * stream, the first of a stream after the first of all, as it did. Returns NO_MEMORY. */
haul_status hl_project_stream_pauses(const haul_workload *workload,
                                     hl_timeline_recorded_waits *found, haul_error *error);

#endif
