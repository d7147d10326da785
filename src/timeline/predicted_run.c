#include "timeline/predicted_run.h"

/* Shorter operations may, in another order, make a longer run (Graham, 1969): each bound widens the
 * interval as it can. */
haul_status hl_timeline_predicted_run_make(const haul_workload *workload,
                                           const haul_timeline_options *options,
                                           const hl_timeline_run_bounds *bounds,
                                           hl_timeline_predicted_run *run, haul_error *error)
{
    hl_timeline_predicted_run made = {
        .low_ns = INT64_MAX, .low_whole_ns = INT64_MAX, .bound = {.least_ns = INT64_MAX}};
    hl_run_bound least;
    for (int bound = bounds ? HL_TIMELINE_LOW : HL_TIMELINE_LIKELY; bound <= HL_TIMELINE_LIKELY;
         bound++) {
        haul_timeline_options at = *options;
        if (bounds)
            bounds->set(bounds->state, (hl_timeline_bound)bound, &at);
        haul_timeline_free(made.timeline);
        made.timeline = NULL;
        HAUL_TRY(haul_timeline_run(workload, &at, &made.timeline, error));
        const int64_t makespan_ns = made.timeline->makespan_ns;
        haul_status status = hl_timeline_bound_find(workload, &at, made.timeline, &least, error);
        if (!status)
            status = hl_timeline_bound_check(&least, makespan_ns, error);
        if (status) {
            haul_timeline_free(made.timeline);
            return status;
        }
        if (least.least_ns < made.bound.least_ns)
            made.bound = least;
        made.low_ns = makespan_ns < made.low_ns ? makespan_ns : made.low_ns;
        made.high_ns = makespan_ns > made.high_ns ? makespan_ns : made.high_ns;
        const int64_t whole_ns = made.timeline->whole_ns;
        made.low_whole_ns = whole_ns < made.low_whole_ns ? whole_ns : made.low_whole_ns;
        made.high_whole_ns = whole_ns > made.high_whole_ns ? whole_ns : made.high_whole_ns;
    }
    *run = made;
    return HAUL_OK;
}

haul_status hl_timeline_predicted_run_check(const haul_workload *workload,
                                            const haul_timeline_options *options,
                                            const haul_timeline *timeline, haul_error *error)
{
    hl_run_bound least;
    HAUL_TRY(hl_timeline_bound_find(workload, options, timeline, &least, error));
    return hl_timeline_bound_check(&least, timeline->makespan_ns, error);
}
