/* What a profile shows of waits that its operations do not name: for a place in a launch queue, and
 * of operations that start late without a cause. */
#ifndef HAUL_TIMELINE_RECORDED_WAITS_H
#define HAUL_TIMELINE_RECORDED_WAITS_H

#include "haul/timeline.h"

typedef struct haul_recorded_waits {
    /* The most operations of one stream that had been called and had not ended: the launch queue of
     * the recording machine holds at least as many. */
    uint32_t most;
    /* Of op_count, or NULL where no call waited for a place in a queue: the recorded durations of
     * calls, for the host's own operations theirs, without that wait. It is the time from the call
     * to the last end on its stream before it returned, where the queue, of as many as CUDA takes
     * or more, was as full as it ever was but for a sixteenth (copies and events take other shares
     * of it than kernels). */
    int64_t *call_durations_ns;
    /* In order of operations. See haul_timeline_replay. */
    haul_start_delay *delays;
    size_t delay_count;
    /* The replay's critical path, as in haul_timeline; haul_timeline_replay_with sets it. */
    uint32_t *critical;
    size_t critical_count;
} haul_recorded_waits;

/* Finds all but the delays, which haul_timeline_replay_with finds. Needs 4 bytes an operation while
 * it runs. Release with haul_recorded_waits_release. Returns NO_MEMORY. */
haul_status haul_recorded_waits_find(const haul_workload *workload, haul_recorded_waits *found,
                                     haul_error *error);
void haul_recorded_waits_release(haul_recorded_waits *self);

#endif
