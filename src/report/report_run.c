/* Strategies of overlap as they ran on a device, beside what was predicted. */
#include <math.h>
#include <stdio.h>

#include "base/load.h"
#include "haul/report.h"
#include "report/wording.h"

/* "hybrid in 8 streams"; "mapped memory", which has none. */
static hl_report_words say_way(const haul_run_row *row)
{
    hl_report_words words;
    const char *word = haul_strategy_word(row->strategy);
    if (haul_strategy_has_streams(row->strategy))
        (void)snprintf(words.text, sizeof words.text, "%s in %.40s", word,
                       hl_report_say_number_of(row->streams, "stream", NULL).text);
    else
        (void)snprintf(words.text, sizeof words.text, "%s %s", word,
                       row->strategy == HAUL_STRATEGY_MAPPED ? "memory" : "copies");
    return words;
}

static void add_rows(haul_report *report, const haul_run *self)
{
    static const haul_column columns[] = {
        {"strategy", HAUL_UNIT_TEXT, .head = "Strategy"},
        {"streams", HAUL_UNIT_COUNT, .head = "streams"},
        {"measured_s", HAUL_UNIT_SECONDS, .head = "measured"},
        {"spread_percent", HAUL_UNIT_PERCENT, .head = "spread"},
        {"predicted_s", HAUL_UNIT_SECONDS, .head = "predicted"},
        {"error", HAUL_UNIT_SHARE, .head = "off by"},
        {0},
    };
    haul_table *table = haul_report_table(report, "rows", columns);
    haul_table_csv(table);
    for (size_t i = 0; i < self->row_count; i++) {
        const haul_run_row *row = &self->rows[i];
        /* Positive: the prediction is too slow. */
        const double error = row->measured_s > 0 ? row->predicted_s / row->measured_s - 1 : 0;
        haul_table_row(table,
                       HAUL_CELLS(haul_cell_text(haul_strategy_word(row->strategy)),
                                  haul_cell_count(haul_strategy_has_streams(row->strategy)
                                                      ? (uint64_t)row->streams
                                                      : HAUL_NO_COUNT),
                                  haul_cell_number(row->measured_s), haul_cell_number(row->spread),
                                  haul_cell_number(row->predicted_s), haul_cell_number(error)));
    }
}

/* Above this, what a prediction is off by says little of the prediction. */
static const double restless = 0.1;

/* The same question asked twice: no prediction can be judged better than by what comes of that. */
static void say_noise(haul_report *report, const haul_run *self)
{
    const bool is_busy = self->others_cores >= HL_BASE_LOAD_BUSY;
    char others[64] = "";
    if (is_busy)
        (void)snprintf(others, sizeof others, "; other programs took %.1f cores meanwhile",
                       self->others_cores);
    if (self->noise > restless || is_busy)
        haul_report_line(report, "caution",
                         "another run may differ by %s%s: predictions cannot be judged better "
                         "than that",
                         hl_report_say_share(self->noise).text, others);
    else if (self->noise > 0)
        haul_report_line(report, "noise", "%s between two measurements of the same strategy",
                         hl_report_say_share(self->noise).text);
}

haul_report *haul_report_run(const haul_run *self, const char *device)
{
    static const haul_column head[] = {
        {"kernel", .unit = HAUL_UNIT_TEXT},
        {"device", .unit = HAUL_UNIT_TEXT},
        {"in_bytes", .unit = HAUL_UNIT_BYTES},
        {"out_bytes", .unit = HAUL_UNIT_BYTES},
        {"kernel_s", .unit = HAUL_UNIT_SECONDS},
        {"best", .unit = HAUL_UNIT_TEXT},
        {"best_streams", .unit = HAUL_UNIT_COUNT},
        {"predicted_best", .unit = HAUL_UNIT_TEXT},
        {"predicted_streams", .unit = HAUL_UNIT_COUNT},
        {"loss", .unit = HAUL_UNIT_SHARE},
        {"noise", .unit = HAUL_UNIT_SHARE},
        {"others_cores", .unit = HAUL_UNIT_NUMBER},
        {0},
    };
    const haul_run_row *best = &self->rows[self->best];
    const haul_run_row *predicted = &self->rows[self->predicted_best];
    haul_report *report = haul_report_new("run");
    haul_report_object(
        report, NULL, head,
        HAUL_CELLS(haul_cell_text(self->kernel), haul_cell_text(device),
                   haul_cell_count(self->work.in_bytes), haul_cell_count(self->work.out_bytes),
                   haul_cell_number(self->work.kernel_s),
                   haul_cell_text(haul_strategy_word(best->strategy)),
                   haul_cell_count((uint64_t)best->streams),
                   haul_cell_text(haul_strategy_word(predicted->strategy)),
                   haul_cell_count((uint64_t)predicted->streams), haul_cell_number(self->loss),
                   haul_cell_number(self->noise),
                   haul_cell_number(self->others_cores >= 0 ? self->others_cores : (double)NAN)));
    haul_report_say(report, "%s for '%s' on %.100s by %s",
                    hl_report_say_seconds(best->measured_s).text, self->kernel, device,
                    say_way(best).text);
    say_noise(report, self);
    /* The loss is what following the prediction costs against the best that was measured. */
    if (self->best == self->predicted_best)
        haul_report_line(report, "predicted", "the same, in %s",
                         hl_report_say_seconds(predicted->predicted_s).text);
    else
        haul_report_line(report, "predicted", "%s: %s, which took %s, %s more",
                         say_way(predicted).text,
                         hl_report_say_seconds(predicted->predicted_s).text,
                         hl_report_say_seconds(predicted->measured_s).text,
                         hl_report_say_share(self->loss).text);
    haul_report_line(report, "work", "%s in, %s out, kernel %s",
                     hl_report_say_bytes(self->work.in_bytes).text,
                     hl_report_say_bytes(self->work.out_bytes).text,
                     hl_report_say_seconds(self->work.kernel_s).text);
    /* Large problems on a simulated device have no data: only their times are simulated. */
    if (self->is_checked)
        haul_report_line(report, "results", "as a plain loop's, within %.1g", self->difference);
    else
        haul_report_line(report, "results", "not computed: times alone were simulated");
    haul_report_section(report, "run", "Strategies as they ran");
    add_rows(report, self);
    return report;
}
