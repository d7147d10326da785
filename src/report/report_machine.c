/* One machine as a table, JSON or CSV. */
#include <stdio.h>
#include <string.h>

#include "base/numerals.h"
#include "base/strings.h"
#include "haul/units.h"
#include "report/report_fields.h"
#include "report/wording.h"

typedef struct machine_table {
    haul_table table;
    haul_format format;
    haul_strings sources; /* for people: said once, below the figures, by number */
} machine_table;

static void add_source(machine_table *self, const char *source)
{
    if (self->format == HAUL_CSV || !*source) {
        haul_table_cell(&self->table, "%s", source);
        return;
    }
    const uint32_t number = haul_strings_add(&self->sources, source, strlen(source));
    self->table.failed |= number == UINT32_MAX;
    haul_table_cell(&self->table, "%u", (unsigned)number + 1);
}

static void print_sources(const haul_strings *sources, FILE *out)
{
    if (sources->count)
        fputs("\nSources\n", out);
    for (size_t i = 0; i < sources->count; i++) {
        char first[24];
        snprintf(first, sizeof first, "%4zu  ", i + 1);
        haul_print_wrapped(first, sources->texts[i], out);
    }
}

/* One row: path, value, and the unit where the value is a bare number. */
static void add_row(machine_table *self, const char *path, const char *value, const char *unit,
                    const haul_parameter *figure)
{
    const bool given = figure && figure->provenance;
    haul_table_cell(&self->table, "%s", path);
    haul_table_cell(&self->table, "%s", value);
    if (self->format == HAUL_CSV)
        haul_table_cell(&self->table, "%s", unit);
    haul_table_cell(&self->table, "%s", given ? haul_provenance_text(figure->provenance) : "");
    add_source(self, given && figure->source ? figure->source : "");
}

static void add_number(machine_table *self, const char *path, double value,
                       haul_dimension dimension, const haul_parameter *figure)
{
    char text[32];
    snprintf(text, sizeof text, "%.9g", value);
    add_row(self, path, text, haul_dimension_unit(dimension), figure);
}

/* The points of a curve one by one: for people a row each, for programs two. */
static void add_points(machine_table *self, const char *path, const haul_copy_curve *curve)
{
    const haul_parameter *from = &curve->points_from;
    for (size_t i = 0; i < (size_t)from->value && i < HAUL_CURVE_POINTS; i++) {
        const haul_point *point = &curve->points[i];
        char name[200];
        char bytes[32];
        char seconds[32];
        char text[80];
        if (self->format == HAUL_CSV) {
            snprintf(name, sizeof name, "%s[%zu].bytes", path, i);
            add_number(self, name, point->bytes, HAUL_DIM_BYTES, from);
            snprintf(name, sizeof name, "%s[%zu].time", path, i);
            add_number(self, name, point->seconds, HAUL_DIM_SECONDS, from);
            continue;
        }
        haul_quantity_format(point->bytes, HAUL_DIM_BYTES, HAUL_REPORT_DIGITS, bytes, sizeof bytes);
        haul_quantity_format(point->seconds, HAUL_DIM_SECONDS, HAUL_REPORT_DIGITS, seconds,
                             sizeof seconds);
        snprintf(name, sizeof name, "%s[%zu]", path, i);
        snprintf(text, sizeof text, "%s in %s", bytes, seconds);
        add_row(self, name, text, "", from);
    }
}

static int add_field(void *state, const char *path, const haul_field *field, const void *at)
{
    machine_table *self = state;
    char buffer[HAUL_FIELD_TEXT_BYTES];
    const haul_parameter *figure = haul_report_parameter(field, at);
    const char *text = haul_report_text(field, at, buffer);
    const bool above = self->format == HAUL_TABLE && haul_report_is_title(field);
    if (!*text || above || haul_report_in_path(field, path))
        return 0;
    if (field->kind == HAUL_FIELD_POINTS)
        add_points(self, path, haul_report_curve(at));
    else if (figure && self->format == HAUL_CSV)
        add_number(self, path, figure->value, field->dimension, figure);
    else
        add_row(self, path, text, "", figure);
    return 0;
}

/* What follows from a link's figures. */
static void add_peak(machine_table *self, const char *path, const haul_link *link)
{
    static const haul_field peak_field = {.kind = HAUL_FIELD_PARAMETER, .dimension = HAUL_DIM_RATE};
    const haul_parameter peak = haul_link_peak(link);
    add_field(self, path, &peak_field, &peak);
}

static void print_title(const haul_machine *machine, FILE *out)
{
    char first[256];
    snprintf(first, sizeof first, "%.250s: ", machine->name);
    haul_print_wrapped(first, machine->summary, out);
    fputc('\n', out);
}

static haul_status print_table(const haul_machine *machine, haul_format format, FILE *out,
                               haul_error *error)
{
    static const char *const heads[] = {"<figure", "<value", "<from", "source"};
    static const char *const csv_heads[] = {"figure", "value", "unit", "provenance", "source"};
    machine_table self = {.format = format};
    if (format == HAUL_CSV)
        haul_table_begin(&self.table, csv_heads, 5);
    else
        haul_table_begin(&self.table, heads, 4);
    if (format == HAUL_TABLE)
        print_title(machine, out);
    haul_machine_walk(machine, add_field, &self);
    add_peak(&self, "link.peak", &machine->link);
    add_peak(&self, "peer.peak", &machine->peer);
    haul_status status = haul_report_finish(&self.table, format, out, error);
    if (!status)
        print_sources(&self.sources, out);
    haul_strings_release(&self.sources);
    return status;
}

static void put_points(haul_json *json, const haul_copy_curve *curve)
{
    const haul_parameter *from = &curve->points_from;
    if (!from->provenance) {
        haul_json_null(json);
        return;
    }
    haul_json_open_object(json);
    haul_json_key(json, "value");
    haul_json_open_array(json);
    for (size_t i = 0; i < (size_t)from->value && i < HAUL_CURVE_POINTS; i++) {
        haul_json_open_object(json);
        haul_json_put_number(json, "bytes", curve->points[i].bytes);
        haul_json_put_number(json, "time_s", curve->points[i].seconds);
        haul_json_close_object(json);
    }
    haul_json_close_array(json);
    haul_json_put_string(json, "provenance", haul_provenance_text(from->provenance));
    haul_json_put_string(json, "source", from->source);
    haul_json_close_object(json);
}

static void put_mapping(haul_json *json, const haul_mapping *mapping, const void *base);

static void put_curves(haul_json *json, const haul_machine *machine)
{
    haul_json_open_array(json);
    for (size_t i = 0; i < machine->copy_count; i++) {
        haul_json_open_object(json);
        put_mapping(json, &haul_curve_mapping, &machine->copies[i]);
        haul_json_close_object(json);
    }
    haul_json_close_array(json);
}

static void put_section(haul_json *json, const haul_mapping *mapping, const void *base)
{
    haul_json_open_object(json);
    put_mapping(json, mapping, base);
    if (mapping->is_link) {
        const haul_parameter peak = haul_link_peak(base);
        haul_json_key(json, "peak_Bps");
        haul_report_put_parameter(json, &peak);
    }
    haul_json_close_object(json);
}

static void put_field(haul_json *json, const haul_field *field, const void *base)
{
    const void *at = haul_field_at(field, base);
    char buffer[HAUL_FIELD_TEXT_BYTES];
    haul_json_key(json, haul_report_key(field->key, field->dimension, buffer));
    switch (field->kind) {
    case HAUL_FIELD_PARAMETER:
        haul_report_put_parameter(json, at);
        break;
    case HAUL_FIELD_POINTS:
        put_points(json, base);
        break;
    case HAUL_FIELD_MAPPING:
        put_section(json, field->mapping, at);
        break;
    case HAUL_FIELD_CURVES:
        put_curves(json, base);
        break;
    default: {
        const char *text = haul_report_text(field, at, buffer);
        haul_json_string(json, *text ? text : NULL);
    }
    }
}

static void put_mapping(haul_json *json, const haul_mapping *mapping, const void *base)
{
    for (size_t i = 0; i < mapping->count; i++)
        if (mapping->fields[i].kind != HAUL_FIELD_VERSION)
            put_field(json, &mapping->fields[i], base);
}

haul_status haul_report_machine(const haul_machine *machine, haul_format format, FILE *out,
                                haul_error *error)
{
    HAUL_PLAIN_NUMERALS;
    if (format != HAUL_JSON)
        return print_table(machine, format, out, error);
    haul_json json = haul_json_begin(out);
    haul_json_open_object(&json);
    haul_json_put_unsigned(&json, "schema", HAUL_REPORT_SCHEMA);
    put_mapping(&json, &haul_machine_mapping, machine);
    haul_json_close_object(&json);
    return haul_report_finish_json(&json, error);
}
