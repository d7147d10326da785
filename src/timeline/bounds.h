/* The bounds that no answer may break: whatever the schedule, a run takes at least as long as each
 * of its streams and engines is busy, and as the longest chain of what waits for one another. They
 * are found from the workload alone, apart from the engine, so that they check it. */
#ifndef HAUL_TIMELINE_BOUNDS_H
#define HAUL_TIMELINE_BOUNDS_H

#include "haul/timeline.h"

/* The largest of the bounds. */
typedef struct hl_run_bound {
    int64_t least_ns;
    int64_t start_ns; /* of the first operation of a device that takes time */
    char what[48];    /* "stream 7", "a copy engine of device 0", "the critical path" */
} hl_run_bound;

/* Finds the largest bound of a run of `workload` with `options`, from the first start of an
 * operation of a device that takes time to the last end. Of the timeline only the starts are used:
 * the first one, and as an order in which causes come before effects. 0 where durations come from a
 * function, or no device works. Needs 28 bytes an operation while it runs. Returns NO_MEMORY. */
haul_status hl_timeline_bound_find(const haul_workload *workload,
                                   const haul_timeline_options *options,
                                   const haul_timeline *timeline, hl_run_bound *bound,
                                   haul_error *error);

/* Whether a run can take `run_ns`. Returns INTERNAL, with the bound, where it cannot. */
haul_status hl_timeline_bound_check(const hl_run_bound *bound, int64_t run_ns, haul_error *error);

#endif
