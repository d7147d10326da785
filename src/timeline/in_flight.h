/* How deep a recording's launch queues were, and who waited for room in them. */
#ifndef HAUL_TIMELINE_IN_FLIGHT_H
#define HAUL_TIMELINE_IN_FLIGHT_H

#include "haul/workload.h"

typedef struct haul_in_flight {
    /* The most operations of one stream, itself and those before it, that had not ended when one of
     * them was called: a queue of the machine that recorded them holds as many at least. */
    uint32_t most;
    /* Where calls waited for room, of op_count, the caller's to free, else NULL: the recorded
     * durations of calls, of the host's own operations theirs, without what a launch waited for
     * room in a full queue: from its call to the last end on its stream before it returned, where
     * the queue, of as many as CUDA takes or more, was as full as it ever was but for a sixteenth
     * (copies and events take other shares of it than kernels). */
    int64_t *call_durations_ns;
} haul_in_flight;

/* Needs 4 bytes an operation while it runs. Returns NO_MEMORY. */
haul_status haul_in_flight_find(const haul_workload *workload, haul_in_flight *found,
                                haul_error *error);

#endif
