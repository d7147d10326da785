/* Times of copies on a machine, and the models that give them. A time never stands alone: its
 * interval and the weakest provenance among the parameters that it rests on are beside it. */

#include "haul/report.h"

haul_report *haul_report_times(const haul_machine *machine, const haul_timed_copy *copies,
                               size_t count)
{
    static const haul_column head[] = {{"machine", .unit = HAUL_UNIT_TEXT}, {0}};
    static const haul_column columns[] = {
        {"direction", HAUL_UNIT_TEXT, .head = "direction"},
        {"memory", HAUL_UNIT_TEXT, .head = "memory", .csv = "host_memory"},
        {"locality", HAUL_UNIT_TEXT, .head = "locality"},
        {"bytes", HAUL_UNIT_BYTES, .head = "bytes"},
        {"time_s", HAUL_UNIT_SECONDS, .head = "time", .csv = "seconds"},
        {"interval_s", HAUL_UNIT_INTERVAL, .head = "interval"},
        {"rate_Bps", HAUL_UNIT_RATE, .head = "rate"},
        {"model", HAUL_UNIT_TEXT, .head = "model"},
        {"provenance", HAUL_UNIT_TEXT, .head = "provenance"},
        {0},
    };
    haul_report *report = haul_report_new("times");
    haul_report_object(report, NULL, head, HAUL_CELLS(haul_cell_text(machine->name)));
    haul_table *times = haul_report_table(report, "copies", columns);
    haul_table_csv(times);
    for (size_t i = 0; i < count; i++) {
        const haul_copy *copy = &copies[i].copy;
        const haul_estimate *estimate = &copies[i].estimate;
        const double seconds = estimate->seconds;
        haul_table_row(times,
                       HAUL_CELLS(haul_cell_text(haul_direction_text(copy->direction)),
                                  haul_cell_text(haul_memory_text(copy->memory)),
                                  haul_cell_text(haul_locality_text(copy->locality)),
                                  haul_cell_count(copy->bytes), haul_cell_number(seconds),
                                  haul_cell_interval(estimate->low_s, estimate->high_s),
                                  haul_cell_number(seconds > 0 ? (double)copy->bytes / seconds : 0),
                                  haul_cell_text(estimate->model),
                                  haul_cell_text(haul_provenance_text(estimate->weakest))));
    }
    return report;
}

haul_report *haul_report_models(void)
{
    static const haul_column columns[] = {{"name", HAUL_UNIT_TEXT, .head = "model", .csv = "model"},
                                          {"summary", HAUL_UNIT_TEXT, .head = "summary"},
                                          {0}};
    haul_report *report = haul_report_new("models");
    haul_table *models = haul_report_table(report, "models", columns);
    haul_table_csv(models);
    for (size_t i = 0; i < haul_copy_model_count(); i++)
        haul_table_row(models, HAUL_CELLS(haul_cell_text(haul_copy_model_at(i)->name),
                                          haul_cell_text(haul_copy_model_at(i)->summary)));
    return report;
}
