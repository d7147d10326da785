/* Times of copies on a machine, and the models that give them. */
#include "base/numerals.h"
#include "haul/units.h"
#include "report/report_fields.h"

static double rate_of(const haul_timed_copy *timed)
{
    const double seconds = timed->estimate.seconds;
    return seconds > 0 ? (double)timed->copy.bytes / seconds : 0;
}

static const char *locality_of(const haul_copy *copy)
{
    return copy->locality == HAUL_FAR ? "far" : "near";
}

/* For people with a unit, in CSV in base units, which the heads name. */
static void add_quantity(haul_table *table, haul_format format, haul_dimension dimension,
                         double value)
{
    char text[48];
    if (format == HAUL_CSV)
        haul_table_cell(table, "%.9g", value);
    else
        haul_table_cell(table, "%s", haul_quantity_format(value, dimension, 4, text, sizeof text));
}

static void add_row(haul_table *table, haul_format format, const haul_timed_copy *timed)
{
    const haul_estimate *estimate = &timed->estimate;
    haul_table_cell(table, "%s", haul_direction_text(timed->copy.direction));
    haul_table_cell(table, "%s", haul_memory_text(timed->copy.memory));
    haul_table_cell(table, "%s", locality_of(&timed->copy));
    haul_table_cell(table, "%llu", (unsigned long long)timed->copy.bytes);
    add_quantity(table, format, HAUL_DIM_SECONDS, estimate->seconds);
    add_quantity(table, format, HAUL_DIM_SECONDS, estimate->low_s);
    add_quantity(table, format, HAUL_DIM_SECONDS, estimate->high_s);
    add_quantity(table, format, HAUL_DIM_RATE, rate_of(timed));
    haul_table_cell(table, "%s", estimate->model);
    haul_table_cell(table, "%s", haul_provenance_text(estimate->weakest));
}

enum { COLUMNS = 10 };

static haul_status print_table(const haul_timed_copy *copies, size_t count, haul_format format,
                               FILE *out, haul_error *error)
{
    static const char *const heads[COLUMNS] = {"<direction", "<memory",    "<locality", "bytes",
                                               "time",       "at least",   "at most",   "rate",
                                               "<model",     "<provenance"};
    static const char *const csv_heads[COLUMNS] = {
        "direction", "host_memory", "locality", "bytes", "seconds",
        "low_s",     "high_s",      "rate_Bps", "model", "provenance"};
    haul_table table = {0};
    haul_table_begin(&table, format == HAUL_CSV ? csv_heads : heads, COLUMNS);
    for (size_t i = 0; i < count; i++)
        add_row(&table, format, &copies[i]);
    return haul_report_finish(&table, format, out, error);
}

static void put_copy(haul_json *json, const haul_timed_copy *timed)
{
    const haul_estimate *estimate = &timed->estimate;
    haul_json_open_object(json);
    haul_json_put_string(json, "direction", haul_direction_text(timed->copy.direction));
    haul_json_put_string(json, "memory", haul_memory_text(timed->copy.memory));
    haul_json_put_string(json, "locality", locality_of(&timed->copy));
    haul_json_put_unsigned(json, "bytes", timed->copy.bytes);
    haul_json_put_number(json, "time_s", estimate->seconds);
    haul_json_key(json, "interval_s");
    haul_json_open_array(json);
    haul_json_number(json, estimate->low_s);
    haul_json_number(json, estimate->high_s);
    haul_json_close_array(json);
    haul_json_put_number(json, "rate_Bps", rate_of(timed));
    haul_json_put_string(json, "model", estimate->model);
    haul_json_put_string(json, "provenance", haul_provenance_text(estimate->weakest));
    haul_json_close_object(json);
}

static haul_status print_json(const haul_machine *machine, const haul_timed_copy *copies,
                              size_t count, FILE *out, haul_error *error)
{
    haul_json json = haul_json_begin(out);
    haul_json_open_object(&json);
    haul_json_put_unsigned(&json, "schema", HAUL_REPORT_SCHEMA);
    haul_json_put_string(&json, "machine", machine->name);
    haul_json_key(&json, "copies");
    haul_json_open_array(&json);
    for (size_t i = 0; i < count; i++)
        put_copy(&json, &copies[i]);
    haul_json_close_array(&json);
    haul_json_close_object(&json);
    return haul_report_finish_json(&json, error);
}

haul_status haul_report_times(const haul_machine *machine, const haul_timed_copy *copies,
                              size_t count, haul_format format, FILE *out, haul_error *error)
{
    HAUL_PLAIN_NUMERALS;
    return format == HAUL_JSON ? print_json(machine, copies, count, out, error)
                               : print_table(copies, count, format, out, error);
}

static haul_status print_models_json(FILE *out, haul_error *error)
{
    haul_json json = haul_json_begin(out);
    haul_json_open_object(&json);
    haul_json_put_unsigned(&json, "schema", HAUL_REPORT_SCHEMA);
    haul_json_key(&json, "models");
    haul_json_open_array(&json);
    for (size_t i = 0; i < haul_copy_model_count(); i++) {
        haul_json_open_object(&json);
        haul_json_put_string(&json, "name", haul_copy_model_at(i)->name);
        haul_json_put_string(&json, "summary", haul_copy_model_at(i)->summary);
        haul_json_close_object(&json);
    }
    haul_json_close_array(&json);
    haul_json_close_object(&json);
    return haul_report_finish_json(&json, error);
}

static haul_status print_models_table(haul_format format, FILE *out, haul_error *error)
{
    static const char *const heads[] = {"<model", "<summary"};
    haul_table table = {0};
    haul_table_begin(&table, heads, 2);
    for (size_t i = 0; i < haul_copy_model_count(); i++) {
        haul_table_cell(&table, "%s", haul_copy_model_at(i)->name);
        haul_table_cell(&table, "%s", haul_copy_model_at(i)->summary);
    }
    return haul_report_finish(&table, format, out, error);
}

haul_status haul_report_models(haul_format format, FILE *out, haul_error *error)
{
    HAUL_PLAIN_NUMERALS;
    return format == HAUL_JSON ? print_models_json(out, error)
                               : print_models_table(format, out, error);
}
