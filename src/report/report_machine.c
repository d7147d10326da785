/* One machine: every parameter with its provenance and source. */
#include <stdio.h>
#include <string.h>

#include "base/numerals.h"
#include "base/strings.h"
#include "haul/units.h"
#include "report/report_fields.h"
#include "report/wording.h"

/* --- the document, in the sections of a machine file */

static void add_mapping(haul_table *parent, const haul_mapping *mapping, const void *base);

static void add_points(haul_table *parent, const char *key, const haul_copy_curve *curve)
{
    static const haul_column head[] = {
        {"provenance", .unit = HAUL_TEXT}, {"source", .unit = HAUL_TEXT}, {0}};
    static const haul_column points[] = {
        {"bytes", .unit = HAUL_NUMBER}, {"time_s", .unit = HAUL_SECONDS}, {0}};
    const haul_parameter *from = &curve->points_from;
    if (!from->provenance) {
        haul_report_value(parent, key, NULL);
        return;
    }
    haul_table *object =
        haul_report_object(parent, key, head, haul_provenance_text(from->provenance), from->source);
    haul_table *rows = haul_report_table(object, "value", points);
    for (size_t i = 0; i < (size_t)from->value && i < HAUL_CURVE_POINTS; i++)
        haul_table_row(rows, curve->points[i].bytes, curve->points[i].seconds);
}

static void add_curves(haul_table *parent, const char *key, const haul_machine *machine)
{
    static const haul_column none[] = {{0}};
    haul_table *curves = haul_report_table(parent, key, none);
    for (size_t i = 0; i < machine->copy_count; i++) {
        haul_table_row(curves);
        add_mapping(curves, &haul_curve_mapping, &machine->copies[i]);
    }
}

static void add_section(haul_table *parent, const char *key, const haul_mapping *mapping,
                        const void *base)
{
    static const haul_column none[] = {{0}};
    haul_table *section = haul_report_object(parent, key, none);
    add_mapping(section, mapping, base);
    if (mapping->is_link) {
        const haul_parameter peak = haul_link_peak(base);
        haul_report_parameter(section, "peak_Bps", &peak);
    }
}

static void add_field(haul_table *parent, const haul_field *field, const void *base)
{
    const void *at = haul_field_at(field, base);
    char key[HAUL_FIELD_TEXT_BYTES], buffer[HAUL_FIELD_TEXT_BYTES];
    haul_report_key(field->key, field->dimension, key);
    switch (field->kind) {
    case HAUL_FIELD_PARAMETER:
        haul_report_parameter(parent, key, at);
        break;
    case HAUL_FIELD_POINTS:
        add_points(parent, key, base);
        break;
    case HAUL_FIELD_MAPPING:
        add_section(parent, key, field->mapping, at);
        break;
    case HAUL_FIELD_CURVES:
        add_curves(parent, key, base);
        break;
    default: {
        const char *text = haul_report_text(field, at, buffer);
        haul_report_value(parent, key, *text ? text : NULL);
    }
    }
}

static void add_mapping(haul_table *parent, const haul_mapping *mapping, const void *base)
{
    for (size_t i = 0; i < mapping->count; i++)
        if (mapping->fields[i].kind != HAUL_FIELD_VERSION)
            add_field(parent, &mapping->fields[i], base);
}

/* --- the tables: a row for each parameter, for people and for CSV */

typedef struct machine_tables {
    haul_table *people;
    haul_table *csv;
    haul_strings sources; /* for people: said once, below the parameters, by number */
} machine_tables;

static void add_row(machine_tables *self, const char *path, const char *value,
                    const haul_parameter *figure)
{
    const bool is_given = figure && figure->provenance;
    const char *source = is_given && figure->source ? figure->source : "";
    const uint64_t number =
        *source ? (uint64_t)haul_strings_add(&self->sources, source, strlen(source)) + 1
                : HAUL_NO_COUNT;
    haul_table_row(self->people, path, value,
                   is_given ? haul_provenance_text(figure->provenance) : "", number);
}

static void add_csv_row(machine_tables *self, const char *path, const char *value, const char *unit,
                        const haul_parameter *figure)
{
    const bool is_given = figure && figure->provenance;
    haul_table_row(self->csv, path, value, unit,
                   is_given ? haul_provenance_text(figure->provenance) : "",
                   is_given && figure->source ? figure->source : "");
}

static void add_csv_number(machine_tables *self, const char *path, double value,
                           haul_dimension dimension, const haul_parameter *figure)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%.9g", value);
    add_csv_row(self, path, text, haul_dimension_unit(dimension), figure);
}

/* Sources are long and shared by many parameters, so people see a number and the list below.
 *
 * The points of a curve one by one: for people a row each, for programs two. */
static void add_point_rows(machine_tables *self, const char *path, const haul_copy_curve *curve)
{
    const haul_parameter *from = &curve->points_from;
    for (size_t i = 0; i < (size_t)from->value && i < HAUL_CURVE_POINTS; i++) {
        const haul_point *point = &curve->points[i];
        char name[200], bytes[32], seconds[32], text[80];
        (void)snprintf(name, sizeof name, "%s[%zu].bytes", path, i);
        add_csv_number(self, name, point->bytes, HAUL_DIM_BYTES, from);
        (void)snprintf(name, sizeof name, "%s[%zu].time", path, i);
        add_csv_number(self, name, point->seconds, HAUL_DIM_SECONDS, from);
        haul_quantity_format(point->bytes, HAUL_DIM_BYTES, HAUL_REPORT_DIGITS, bytes, sizeof bytes);
        haul_quantity_format(point->seconds, HAUL_DIM_SECONDS, HAUL_REPORT_DIGITS, seconds,
                             sizeof seconds);
        (void)snprintf(name, sizeof name, "%s[%zu]", path, i);
        (void)snprintf(text, sizeof text, "%s in %s", bytes, seconds);
        add_row(self, name, text, from);
    }
}

static int add_field_rows(void *state, const char *path, const haul_field *field, const void *at)
{
    machine_tables *self = state;
    char buffer[HAUL_FIELD_TEXT_BYTES];
    const haul_parameter *figure = haul_parameter_of(field, at);
    const char *text = haul_report_text(field, at, buffer);
    if (!*text || haul_report_in_path(field, path))
        return 0;
    if (field->kind == HAUL_FIELD_POINTS) {
        add_point_rows(self, path, haul_report_curve(at));
        return 0;
    }
    if (figure)
        add_csv_number(self, path, figure->value, field->dimension, figure);
    else
        add_csv_row(self, path, text, "", figure);
    if (!haul_report_is_title(field)) /* which stand above */
        add_row(self, path, text, figure);
    return 0;
}

/* What follows from a link's parameters. */
static void add_peak(machine_tables *self, const char *path, const haul_link *link)
{
    static const haul_field peak_field = {.kind = HAUL_FIELD_PARAMETER, .dimension = HAUL_DIM_RATE};
    const haul_parameter peak = haul_link_peak(link);
    add_field_rows(self, path, &peak_field, &peak);
}

static void add_sources(haul_report *report, const haul_strings *sources)
{
    static const haul_column columns[] = {
        {NULL, HAUL_ID, .head = "Sources"}, {NULL, HAUL_TEXT, .head = ""}, {0}};
    haul_table *table = haul_report_table(report, NULL, columns);
    for (size_t i = 0; i < sources->count; i++)
        haul_table_row(table, (uint64_t)i + 1, sources->texts[i]);
}

haul_report *haul_report_machine(const haul_machine *machine)
{
    static const haul_column columns[] = {{NULL, HAUL_TEXT, .head = "Parameter"},
                                          {NULL, HAUL_TEXT, .head = "value"},
                                          {NULL, HAUL_TEXT, .head = "from"},
                                          {NULL, HAUL_ID, .head = "source"},
                                          {0}};
    static const haul_column csv[] = {
        {NULL, HAUL_TEXT, .csv = "parameter"}, {NULL, HAUL_TEXT, .csv = "value"},
        {NULL, HAUL_TEXT, .csv = "unit"},      {NULL, HAUL_TEXT, .csv = "provenance"},
        {NULL, HAUL_TEXT, .csv = "source"},    {0},
    };
    HAUL_PLAIN_NUMERALS;
    char id[300], title[300];
    haul_report *report = haul_report_new("machine");
    add_mapping(report, &haul_machine_mapping, machine);
    (void)snprintf(id, sizeof id, "machine-%.250s", machine->name);
    (void)snprintf(title, sizeof title, "Machine %.250s", machine->name);
    haul_report_section(report, id, title);
    haul_report_say(report, "%.250s: %.1000s", machine->name, machine->summary);
    machine_tables self = {.people = haul_report_table(report, NULL, columns),
                           .csv = haul_report_table(report, NULL, csv)};
    haul_table_csv(self.csv);
    haul_machine_walk(machine, add_field_rows, &self);
    add_peak(&self, "link.peak", &machine->link);
    add_peak(&self, "peer.peak", &machine->peer);
    add_sources(report, &self.sources);
    haul_strings_release(&self.sources);
    return report;
}
