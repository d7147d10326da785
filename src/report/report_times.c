/* Times of copies on a machine, and the models that give them. A time never stands alone: its
 * interval and the weakest provenance among the parameters that it rests on are beside it. */

#include "haul/report.h"

haul_report *haul_report_times(const haul_machine *machine, const haul_timed_copy *copies,
                               size_t count)
{
    static const haul_column head[] = {{"machine", .unit = HAUL_TEXT}, {0}};
    static const haul_column columns[] = {
        {"direction", HAUL_TEXT, .head = "direction"},
        {"memory", HAUL_TEXT, .head = "memory", .csv = "host_memory"},
        {"locality", HAUL_TEXT, .head = "locality"},
        {"bytes", HAUL_BYTES, .head = "bytes"},
        {"time_s", HAUL_SECONDS, .head = "time", .csv = "seconds"},
        {"interval_s", HAUL_INTERVAL, .head = "interval"},
        {"rate_Bps", HAUL_RATE, .head = "rate"},
        {"model", HAUL_TEXT, .head = "model"},
        {"provenance", HAUL_TEXT, .head = "provenance"},
        {0},
    };
    haul_report *report = haul_report_new("times");
    haul_report_object(report, NULL, head, machine->name);
    haul_table *times = haul_report_table(report, "copies", columns);
    haul_table_csv(times);
    for (size_t i = 0; i < count; i++) {
        const haul_copy *copy = &copies[i].copy;
        const haul_estimate *estimate = &copies[i].estimate;
        const double seconds = estimate->seconds;
        haul_table_row(times, haul_direction_text(copy->direction), haul_memory_text(copy->memory),
                       haul_locality_text(copy->locality), copy->bytes, seconds, estimate->low_s,
                       estimate->high_s, seconds > 0 ? (double)copy->bytes / seconds : 0,
                       estimate->model, haul_provenance_text(estimate->weakest));
    }
    return report;
}

haul_report *haul_report_models(void)
{
    static const haul_column columns[] = {{"name", HAUL_TEXT, .head = "model", .csv = "model"},
                                          {"summary", HAUL_TEXT, .head = "summary"},
                                          {0}};
    haul_report *report = haul_report_new("models");
    haul_table *models = haul_report_table(report, "models", columns);
    haul_table_csv(models);
    for (size_t i = 0; i < haul_copy_model_count(); i++)
        haul_table_row(models, haul_copy_model_at(i)->name, haul_copy_model_at(i)->summary);
    return report;
}
