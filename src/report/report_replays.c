/* A profile scheduled with its own durations: how far the timeline is from what was recorded. */
#include "base/numerals.h"
#include "haul/report.h"
#include "haul/timeline.h"
#include "project/recording.h"
#include "report/wording.h"

static const struct {
    haul_release release;
    const char *calls;
} ways[] = {{HAUL_RELEASE_RECORDED, "recorded"}, {HAUL_RELEASE_HOST, "simulated"}};

enum { WAYS = sizeof ways / sizeof ways[0] };

haul_status haul_report_replays(haul_report **report, const haul_workload *workload,
                                haul_error *error)
{
    static const haul_column head[] = {
        {"source", .unit = HAUL_UNIT_TEXT}, {"machine", .unit = HAUL_UNIT_TEXT}, {0}};
    static const haul_column columns[] = {
        {"calls", HAUL_UNIT_TEXT, .head = "calls"},
        {"operations", HAUL_UNIT_COUNT, .head = "operations"},
        {"uncalled", HAUL_UNIT_COUNT, .head = "uncalled"},
        {"recorded_s", HAUL_UNIT_TIME, .head = "recorded"},
        {"makespan_s", HAUL_UNIT_TIME, .head = "replayed"},
        {"error", HAUL_UNIT_PERCENT, .head = "error"},
        {"start_median_s", HAUL_UNIT_SECONDS, .head = "starts off: median"},
        {"start_p90_s", HAUL_UNIT_SECONDS, .head = "90 %"},
        {"start_worst_s", HAUL_UNIT_SECONDS, .head = "worst"},
        {0}};
    HL_PLAIN_NUMERALS;
    haul_replay replays[WAYS];
    for (size_t i = 0; i < WAYS; i++)
        HAUL_TRY(haul_timeline_replay(workload, ways[i].release, &replays[i], error));
    /* A profile that does not name its GPU, or one that nobody knows, is replayed all the same. */
    hl_project_recording recording = {0};
    (void)hl_project_recording_gpu(workload, &recording, NULL);
    haul_report *made = haul_report_new("replays");
    haul_report_object(made, NULL, head,
                       HAUL_CELLS(haul_cell_text(workload->source),
                                  haul_cell_text(recording.like ? recording.like->name : NULL)));
    hl_project_recording_release(&recording);
    haul_report_say(made, "Replayed with its own durations the run takes %s instead of %s.",
                    hl_report_say_time(replays[WAYS - 1].replayed_ns).text,
                    hl_report_say_time(replays[WAYS - 1].recorded_ns).text);
    haul_table *table = haul_report_table(made, "replays", columns);
    haul_table_csv(table);
    for (size_t i = 0; i < WAYS; i++) {
        const haul_replay *of = &replays[i];
        haul_table_row(table,
                       HAUL_CELLS(haul_cell_text(ways[i].calls), haul_cell_count(of->ops),
                                  haul_cell_count(of->unissued), haul_cell_time(of->recorded_ns),
                                  haul_cell_time(of->replayed_ns), haul_cell_number(of->error),
                                  haul_cell_number(1e-9 * of->start_median_ns),
                                  haul_cell_number(1e-9 * of->start_p90_ns),
                                  haul_cell_number(1e-9 * of->start_worst_ns)));
    }
    *report = made;
    return HAUL_OK;
}
