/* Strategies of overlap as they ran on a device, beside what was predicted. */
#include "haul/report.h"
#include "report/wording.h"

/* In per cent, signed. */
static double error_of(const haul_run_row *row)
{
    /* Positive: the prediction is too slow. */
    return row->measured_s > 0 ? row->predicted_s / row->measured_s - 1 : 0;
}

static haul_words streams_of(const haul_run_row *row)
{
    return haul_say_number_of(row->streams, "stream", NULL);
}

static void add_rows(haul_report *report, const haul_run *self)
{
    static const haul_column columns[] = {
        {"strategy", HAUL_TEXT, .head = "Strategy"},
        {"streams", HAUL_COUNT, .head = "streams"},
        {"measured_s", HAUL_SECONDS, .head = "measured"},
        {"spread_percent", HAUL_PERCENT, .head = "spread"},
        {"predicted_s", HAUL_SECONDS, .head = "predicted"},
        {"error", HAUL_SHARE, .head = "off by"},
        {0},
    };
    haul_table *table = haul_report_table(report, "rows", columns);
    haul_table_csv(table);
    for (size_t i = 0; i < self->row_count; i++) {
        const haul_run_row *row = &self->rows[i];
        haul_table_row(table, haul_strategy_word(row->strategy),
                       haul_strategy_has_streams(row->strategy) ? (uint64_t)row->streams
                                                                : HAUL_NO_COUNT,
                       row->measured_s, row->spread, row->predicted_s, error_of(row));
    }
}

haul_report *haul_report_run(const haul_run *self, const char *device)
{
    static const haul_column head[] = {
        {"kernel", .unit = HAUL_TEXT},
        {"device", .unit = HAUL_TEXT},
        {"in_bytes", .unit = HAUL_BYTES},
        {"out_bytes", .unit = HAUL_BYTES},
        {"kernel_s", .unit = HAUL_SECONDS},
        {"best", .unit = HAUL_TEXT},
        {"best_streams", .unit = HAUL_COUNT},
        {"predicted_best", .unit = HAUL_TEXT},
        {"predicted_streams", .unit = HAUL_COUNT},
        {"loss", .unit = HAUL_SHARE},
        {"noise", .unit = HAUL_SHARE},
        {0},
    };
    const haul_run_row *best = &self->rows[self->best];
    const haul_run_row *predicted = &self->rows[self->predicted_best];
    haul_report *report = haul_report_new("run");
    haul_report_object(report, NULL, head, self->kernel, device, self->work.in_bytes,
                       self->work.out_bytes, self->work.kernel_s,
                       haul_strategy_word(best->strategy), (uint64_t)best->streams,
                       haul_strategy_word(predicted->strategy), (uint64_t)predicted->streams,
                       self->loss, self->noise);
    haul_report_say(report, "%s for '%s' on %.100s by %s in %s",
                    haul_say_seconds(best->measured_s).text, self->kernel, device,
                    haul_strategy_word(best->strategy), streams_of(best).text);
    /* The loss is what following the prediction costs against the best that was measured. */
    if (self->best == self->predicted_best)
        haul_report_line(report, "predicted", "the same, in %s",
                         haul_say_seconds(predicted->predicted_s).text);
    else
        haul_report_line(report, "predicted", "%s in %s: %s, which took %s, %s more",
                         haul_strategy_word(predicted->strategy), streams_of(predicted).text,
                         haul_say_seconds(predicted->predicted_s).text,
                         haul_say_seconds(predicted->measured_s).text,
                         haul_say_share(self->loss).text);
    if (self->noise > 0)
        haul_report_line(report, "noise", "%s between two measurements of the same strategy",
                         haul_say_share(self->noise).text);
    haul_report_line(
        report, "work", "%s in, %s out, kernel %s", haul_say_bytes(self->work.in_bytes).text,
        haul_say_bytes(self->work.out_bytes).text, haul_say_seconds(self->work.kernel_s).text);
    /* Large problems on a simulated device have no data: only their times are simulated. */
    if (self->is_checked)
        haul_report_line(report, "results", "as a plain loop's, within %.1g", self->difference);
    else
        haul_report_line(report, "results", "not computed: times alone were simulated");
    add_rows(report, self);
    return report;
}
