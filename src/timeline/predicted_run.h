/* One predicted run: a workload's timeline with the likely durations of its operations, and its
 * makespan with all of them at the low, or at the high end of their intervals. */
#ifndef HAUL_TIMELINE_PREDICTED_RUN_H
#define HAUL_TIMELINE_PREDICTED_RUN_H

#include "timeline/bounds.h"

typedef enum hl_timeline_bound {
    HL_TIMELINE_LOW,
    HL_TIMELINE_HIGH,
    HL_TIMELINE_LIKELY
} hl_timeline_bound;

typedef struct hl_timeline_predicted_run {
    haul_timeline *timeline; /* the likely one; the caller frees it */
    int64_t low_ns;          /* makespans: low_ns <= that of the timeline <= high_ns */
    int64_t high_ns;
    int64_t low_whole_ns; /* likewise of whole_ns: the host's operations too */
    int64_t high_whole_ns;
    hl_run_bound bound; /* no answer for the run may be below: of all runs the least bound */
} hl_timeline_predicted_run;

/* `set` puts the durations of a bound, and what else depends on it, into the options. */
typedef struct hl_timeline_run_bounds {
    void (*set)(void *state, hl_timeline_bound bound, haul_timeline_options *options);
    void *state;
} hl_timeline_run_bounds;

/* Schedules `workload` at each bound, the likely one last, so that `set` may use one array for all.
 * With `bounds` NULL only the likely run is scheduled, with the options as they are. All operations
 * are at the same end of their intervals because a model errs alike for all operations of a kind;
 * their errors do not cancel. Returns what haul_timeline_run does, and INTERNAL where a run breaks
 * the bounds of timeline/bounds.h. */
haul_status hl_timeline_predicted_run_make(const haul_workload *workload,
                                           const haul_timeline_options *options,
                                           const hl_timeline_run_bounds *bounds,
                                           hl_timeline_predicted_run *run, haul_error *error);

/* Checks a run against its bounds, as hl_timeline_predicted_run_make does. */
haul_status hl_timeline_predicted_run_check(const haul_workload *workload,
                                            const haul_timeline_options *options,
                                            const haul_timeline *timeline, haul_error *error);

/* Whether copies of both directions ever ran at once on a link; where none did, what they lose to
 * each other is no matter. In timeline.c. */
bool hl_timeline_copies_met(const haul_timeline *timeline);

#endif
