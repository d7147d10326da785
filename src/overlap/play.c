/* The strategies on the timeline. */
#include <math.h>

#include "haul/overlap.h"
#include "overlap/formulas.h"
#include "overlap/schedule.h"
#include "timeline/predicted_run.h"

/* Makes, runs and frees a workload: nothing is kept between two numbers of streams, for the length
 * and the number of the chunks change with it. */
haul_status haul_overlap_play(const haul_overlap_case *self, haul_strategy strategy,
                              uint32_t streams, double *seconds, haul_error *error)
{
    haul_timeline_options options = {.release = HAUL_RELEASE_HOST};
    haul_workload *workload = NULL;
    hl_timeline_predicted_run run = {.timeline = NULL};
    hl_overlap_schedule_device(self, strategy, streams, &options.device);
    haul_status status = haul_overlap_workload(self, strategy, streams, &workload, error);
    if (!status)
        status = hl_timeline_predicted_run_make(workload, &options, NULL, &run, error);
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

/* Infinite where no timeline holds it. */
static double played(const haul_overlap_case *self, haul_strategy strategy, uint32_t streams)
{
    double seconds = 0;
    return haul_overlap_play(self, strategy, streams, &seconds, NULL) ? (double)INFINITY : seconds;
}

/* The numbers of streams: that of the row, where none was asked for, and the fewest within 1 % of
 * the best. The powers of two are at odd places of those tried, behind the first. */
static haul_status find_streams(const haul_overlap_case *self, bool asked, haul_overlap_row *row,
                                haul_error *error)
{
    double times_s[TRIED] = {0};
    const bool has_streams = haul_strategy_has_streams(row->strategy);
    const int count = has_streams ? TRIED : 1;
    row->least_s = (double)INFINITY;
    for (int i = 0; i < count; i++) {
        HAUL_TRY(haul_overlap_play(self, row->strategy, tried_number(i), &times_s[i], error));
        row->least_s = fmin(row->least_s, times_s[i]);
    }
    for (int i = 0; i < HAUL_USUAL_STREAMS; i++)
        row->usual_s[i] = times_s[has_streams && i ? 2 * i - 1 : 0];
    if (!asked)
        row->streams = hl_overlap_streams_usual(row);
    HAUL_TRY(haul_overlap_play(self, row->strategy, row->streams, &row->seconds, error));
    int enough = 0;
    while (enough + 1 < count && times_s[enough] > 1.01 * row->least_s)
        enough++;
    row->least_s = fmin(row->least_s, row->seconds);
    row->engine_streams = tried_number(enough);
    row->engine_enough_s = times_s[enough];
    row->engine_s = row->seconds;
    return HAUL_OK;
}

/* Works on a copy: a row that no timeline holds keeps the times of the formulas. */
static haul_status play_row(const haul_overlap_case *self, bool asked, haul_overlap_row *row,
                            haul_error *error)
{
    haul_overlap_row found = *row;
    HAUL_TRY(find_streams(self, asked, &found, error));
    /* At both ends of what is known. Mapped memory, which is one kernel here, by its formulas. */
    double ends_s[2] = {found.seconds, found.seconds};
    for (int end = 0; self->has_ends && end < 2; end++) {
        haul_overlap_case there = *self;
        there.device = haul_overlap_device_end(self, end);
        there.in = self->in_ends[end];
        there.out = self->out_ends[end];
        ends_s[end] = played(&there, found.strategy, found.streams);
    }
    if (found.strategy == HAUL_STRATEGY_MAPPED)
        haul_overlap_interval(self, HAUL_STRATEGY_MAPPED, 1, &ends_s[0], &ends_s[1]);
    found.low_s = fmin(found.seconds, ends_s[0]);
    found.high_s = fmax(found.seconds, ends_s[1]);
    found.analytical_s = haul_overlap_time(self, found.strategy, found.streams);
    hl_overlap_find_bound(self, &found);
    found.bound_s = fmin(found.bound_s, found.seconds);
    *row = found;
    return HAUL_OK;
}

/* Only memory is a failure. A row that cannot be played is left as it is. */
haul_status haul_overlap_play_all(const haul_overlap_case *self, haul_overlap *of,
                                  haul_error *error)
{
    haul_overlap found = *of;
    for (int i = 0; i < HAUL_STRATEGIES; i++)
        if (play_row(self, found.asked, &found.rows[i], error) == HAUL_STATUS_NO_MEMORY)
            return HAUL_STATUS_NO_MEMORY;
    hl_overlap_choose(self, played, &found);
    *of = found;
    return HAUL_OK;
}

/* Both models at the same numbers of streams, for a plot of where they part. */
haul_status haul_overlap_curve(const haul_overlap_case *self, haul_strategy strategy, uint32_t most,
                               haul_overlap_point points[HAUL_OVERLAP_POINTS], size_t *count,
                               haul_error *error)
{
    haul_overlap_point found[HAUL_OVERLAP_POINTS];
    size_t n = 0;
    for (uint32_t s = 1; n < HAUL_OVERLAP_POINTS && (s <= most || s == 1); s *= 2) {
        haul_overlap_point *point = &found[n++];
        *point = (haul_overlap_point){.streams = s,
                                      .analytical_s = haul_overlap_time(self, strategy, s)};
        HAUL_TRY(haul_overlap_play(self, strategy, s, &point->engine_s, error));
    }
    for (size_t i = 0; i < n; i++)
        points[i] = found[i];
    *count = n;
    return HAUL_OK;
}
