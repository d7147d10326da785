#include "timeline/predicted_run.h"

/* Shorter operations may, in another order, make a longer run (Graham, 1969): each bound widens the
 * interval as it can. */
haul_status haul_predicted_run_make(const haul_workload *workload,
                                    const haul_timeline_options *options,
                                    const haul_run_bounds *bounds, haul_predicted_run *run,
                                    haul_error *error)
{
    haul_predicted_run made = {.low_ns = INT64_MAX};
    for (int bound = bounds ? HAUL_LOW : HAUL_LIKELY; bound <= HAUL_LIKELY; bound++) {
        haul_timeline_options at = *options;
        if (bounds)
            bounds->set(bounds->state, (haul_bound)bound, &at);
        haul_timeline_free(made.timeline);
        made.timeline = NULL;
        HAUL_TRY(haul_timeline_run(workload, &at, &made.timeline, error));
        const int64_t makespan_ns = made.timeline->makespan_ns;
        made.low_ns = makespan_ns < made.low_ns ? makespan_ns : made.low_ns;
        made.high_ns = makespan_ns > made.high_ns ? makespan_ns : made.high_ns;
    }
    *run = made;
    return HAUL_OK;
}
