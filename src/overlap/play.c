/* The strategies on the timeline. */
#include <math.h>

#include "haul/overlap.h"

haul_status haul_overlap_play(const haul_overlap_case *self, haul_strategy strategy,
                              uint32_t streams, double *seconds, haul_error *error)
{
    haul_timeline_options options = {.release = HAUL_RELEASE_HOST};
    haul_workload *workload = NULL;
    haul_timeline *timeline = NULL;
    haul_overlap_device(self, strategy, streams, &options.device);
    haul_status status = haul_overlap_workload(self, strategy, streams, &workload, error);
    if (!status)
        status = haul_timeline_run(workload, &options, &timeline, error);
    if (!status)
        *seconds = 1e-9 * (double)timeline->makespan_ns;
    haul_timeline_free(timeline);
    haul_workload_free(workload);
    return status;
}

haul_status haul_overlap_play_all(const haul_overlap_case *self, haul_overlap *of,
                                  haul_error *error)
{
    double found_s[HAUL_STRATEGIES];
    for (int i = 0; i < HAUL_STRATEGIES; i++) {
        const haul_status status =
            haul_overlap_play(self, (haul_strategy)i, of->rows[i].streams, &found_s[i], error);
        if (status == HAUL_NO_MEMORY)
            return status;
        if (status)
            found_s[i] = (double)NAN;
    }
    for (int i = 0; i < HAUL_STRATEGIES; i++)
        of->rows[i].engine_s = found_s[i];
    return HAUL_OK;
}

static haul_status find_point(const haul_overlap_case *self, haul_strategy strategy,
                              uint32_t streams, haul_overlap_point *point, haul_error *error)
{
    point->streams = streams;
    point->form_s = haul_overlap_time(self, strategy, streams);
    return haul_overlap_play(self, strategy, streams, &point->engine_s, error);
}

haul_status haul_overlap_curve(const haul_overlap_case *self, haul_strategy strategy, uint32_t most,
                               haul_overlap_point points[HAUL_OVERLAP_POINTS], size_t *count,
                               haul_error *error)
{
    haul_overlap_point found[HAUL_OVERLAP_POINTS];
    size_t n = 0;
    for (uint32_t s = 1; n < HAUL_OVERLAP_POINTS && (s <= most || s == 1); s *= 2) {
        const haul_status status = find_point(self, strategy, s, &found[n++], error);
        if (status)
            return status;
    }
    for (size_t i = 0; i < n; i++)
        points[i] = found[i];
    *count = n;
    return HAUL_OK;
}
