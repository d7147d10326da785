/* The strategies on the timeline. */
#include <math.h>

#include "haul/overlap.h"
#include "timeline/predicted_run.h"

haul_status haul_overlap_play(const haul_overlap_case *self, haul_strategy strategy,
                              uint32_t streams, double *seconds, haul_error *error)
{
    haul_timeline_options options = {.release = HAUL_RELEASE_HOST};
    haul_workload *workload = NULL;
    haul_predicted_run run = {.timeline = NULL};
    haul_overlap_device(self, strategy, streams, &options.device);
    haul_status status = haul_overlap_workload(self, strategy, streams, &workload, error);
    if (!status)
        status = haul_predicted_run_make(workload, &options, NULL, &run, error);
    if (!status)
        *seconds = 1e-9 * (double)run.timeline->makespan_ns;
    haul_timeline_free(run.timeline);
    haul_workload_free(workload);
    return status;
}

enum { TRIED = 20 }; /* to 1024: no program goes further, and a timeline of more takes its time */

/* 1, 2, 3, 4, 6, 8, 12, ... */
static uint32_t tried_number(int i)
{
    if (i % 2)
        return UINT32_C(1) << (i + 1) / 2;
    return i ? UINT32_C(3) << (i / 2 - 1) : 1;
}

static haul_status find_enough(const haul_overlap_case *self, haul_overlap_row *row,
                               haul_error *error)
{
    double times_s[TRIED] = {0};
    double least_s = (double)INFINITY;
    const int count = haul_strategy_has_streams(row->strategy) ? TRIED : 1;
    for (int i = 0; i < count; i++) {
        const haul_status status =
            haul_overlap_play(self, row->strategy, tried_number(i), &times_s[i], error);
        if (status)
            return status;
        least_s = fmin(least_s, times_s[i]);
    }
    int enough = 0;
    while (enough + 1 < count && times_s[enough] > 1.01 * least_s)
        enough++;
    row->engine_streams = tried_number(enough);
    row->engine_enough_s = times_s[enough];
    return HAUL_OK;
}

haul_status haul_overlap_play_all(const haul_overlap_case *self, haul_overlap *of,
                                  haul_error *error)
{
    haul_overlap found = *of;
    for (int i = 0; i < HAUL_STRATEGIES; i++) {
        haul_overlap_row *row = &found.rows[i];
        haul_status status =
            haul_overlap_play(self, row->strategy, row->streams, &row->engine_s, error);
        if (!status)
            status = find_enough(self, row, error);
        if (status == HAUL_NO_MEMORY)
            return status;
    }
    *of = found;
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
