/* Waits that a profile shows though its operations do not name them: for a place in a launch queue,
 * and of operations that start late without a cause. */
#ifndef HAUL_TIMELINE_RECORDED_WAITS_H
#define HAUL_TIMELINE_RECORDED_WAITS_H

#include "haul/timeline.h"

/* Delays shorter than this part of the run are the spread about the usual time from call to start.
 */
enum { HL_TIMELINE_DELAYS_OF_RUN = 1000 };

typedef struct hl_timeline_recorded_waits {
    /* How many operations of a stream calls found that waited for a place in its launch queue; 0
     * where no calls show that they did, or do not agree. */
    uint32_t depth;
    /* The most operations of one stream that had been called and had not ended, without those
     * calls: the launch queue of the recording machine holds at least as many. */
    uint32_t most;
    /* Of op_count, or NULL where `depth` is 0: the recorded durations of calls, for the host's own
     * operations theirs, without the wait for a place: of a call that waited, the time from the end
     * that made room to its return. */
    int64_t *call_durations_ns;
    /* In order of operations. See haul_timeline_replay. */
    haul_start_delay *delays;
    size_t delay_count;
    /* The replay's critical path, as in haul_timeline; hl_timeline_replay_with sets it. */
    uint32_t *critical;
    size_t critical_count;
    /* The replay, where it is asked for. */
    bool keeps_replay;
    haul_timeline *replay;
} hl_timeline_recorded_waits;

/* Finds all but the delays, which hl_timeline_replay_with finds. Needs 32 bytes an operation
 * while it runs. Release with hl_timeline_recorded_waits_release. Returns NO_MEMORY. */
haul_status hl_timeline_recorded_waits_find(const haul_workload *workload,
                                            hl_timeline_recorded_waits *found, haul_error *error);
void hl_timeline_recorded_waits_release(hl_timeline_recorded_waits *self);

#endif
