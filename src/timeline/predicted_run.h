/* One predicted run: a workload's timeline with the likely durations of its operations, and its
 * makespan with all of them at the low, or at the high end of their intervals. */
#ifndef HAUL_TIMELINE_PREDICTED_RUN_H
#define HAUL_TIMELINE_PREDICTED_RUN_H

#include "haul/timeline.h"

typedef enum haul_bound { HAUL_LOW, HAUL_HIGH, HAUL_LIKELY } haul_bound;

typedef struct haul_predicted_run {
    haul_timeline *timeline; /* the likely one; the caller frees it */
    int64_t low_ns;          /* makespans: low_ns <= that of the timeline <= high_ns */
    int64_t high_ns;
} haul_predicted_run;

/* `set` puts the durations of a bound, and what else depends on it, into the options. */
typedef struct haul_run_bounds {
    void (*set)(void *state, haul_bound bound, haul_timeline_options *options);
    void *state;
} haul_run_bounds;

/* Schedules `workload` at each bound, the likely one last, so that `set` may use one array for all.
 * With `bounds` NULL only the likely run is scheduled, with the options as they are. All operations
 * are at the same end of their intervals because a model errs alike for all operations of a kind;
 * their errors do not cancel. Returns what haul_timeline_run does. */
haul_status haul_predicted_run_make(const haul_workload *workload,
                                    const haul_timeline_options *options,
                                    const haul_run_bounds *bounds, haul_predicted_run *run,
                                    haul_error *error);

#endif
