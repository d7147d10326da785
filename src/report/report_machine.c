/* One machine: every parameter with its provenance and source.
 *
 * JSON nests as a machine file does; people and CSV get a row for each parameter. Sources are long
 * and shared by many parameters, so people see a number, and the list of sources below. */
#include <stdio.h>
#include <string.h>

#include "base/numerals.h"
#include "base/strings.h"
#include "haul/units.h"
#include "report/document.h"
#include "report/report_fields.h"

static void add_mapping(haul_table *parent, const hl_machine_yaml_mapping *mapping,
                        const void *base);

/* A measured curve: times of single sizes, with one provenance for all. */
static void add_points(haul_table *parent, const char *key, const hl_machine_points *of)
{
    static const haul_column head[] = {
        {"provenance", .unit = HAUL_UNIT_TEXT}, {"source", .unit = HAUL_UNIT_TEXT}, {0}};
    static const haul_column points[] = {
        {"bytes", .unit = HAUL_UNIT_NUMBER}, {"time_s", .unit = HAUL_UNIT_SECONDS}, {0}};
    const haul_parameter *from = &of->from;
    /* null, so that readers of JSON find the key in every curve. */
    if (!from->provenance) {
        haul_report_value(parent, key, NULL);
        return;
    }
    haul_table *object =
        haul_report_object(parent, key, head,
                           HAUL_CELLS(haul_cell_text(haul_provenance_text(from->provenance)),
                                      haul_cell_text(from->source)));
    haul_table *rows = haul_report_table(object, "value", points);
    for (size_t i = 0; i < (size_t)from->value && i < HAUL_MACHINE_CURVE_POINTS; i++)
        haul_table_row(rows, HAUL_CELLS(haul_cell_number(of->at[i].bytes),
                                        haul_cell_number(of->at[i].seconds)));
}

/* By the kind of the field; a mapping and curves recurse into add_mapping. */
static void add_field(haul_table *parent, const hl_machine_field *field, const void *base)
{
    static const haul_column none[] = {{0}};
    const void *at = hl_machine_field_at(field, base);
    haul_table *table;
    char key[HL_REPORT_FIELD_TEXT_BYTES], buffer[HL_REPORT_FIELD_TEXT_BYTES];
    hl_report_key(field->key, field->dimension, key);
    switch (field->kind) {
    case HL_MACHINE_FIELD_PARAMETER:
        hl_report_parameter(parent, key, at);
        break;
    case HL_MACHINE_FIELD_POINTS:
        add_points(parent, key, at);
        break;
    case HL_MACHINE_FIELD_MAPPING:
        table = haul_report_object(parent, key, none, NULL, 0);
        add_mapping(table, field->mapping, at);
        /* The peak is computed from lanes and generation; files do not hold it. */
        if (field->mapping->is_link) {
            const haul_parameter peak = haul_link_peak(at);
            hl_report_parameter(table, "peak_Bps", &peak);
        }
        break;
    case HL_MACHINE_FIELD_LIST:
        table = haul_report_table(parent, key, none);
        for (size_t i = 0; i < hl_machine_list_count(field, base); i++) {
            haul_table_row(table, NULL, 0);
            add_mapping(table, field->mapping, hl_machine_list_item(field, base, i));
        }
        break;
    default: {
        const char *text = hl_report_text(field, at, buffer);
        haul_report_value(parent, key, *text ? text : NULL);
    }
    }
}

static void add_mapping(haul_table *parent, const hl_machine_yaml_mapping *mapping,
                        const void *base)
{
    for (size_t i = 0; i < mapping->count; i++)
        if (mapping->fields[i].kind != HL_MACHINE_FIELD_VERSION)
            add_field(parent, &mapping->fields[i], base);
}

typedef struct machine_tables {
    haul_table *people;
    haul_table *csv;
    hl_base_strings sources; /* for people: said once, below the parameters, by number */
} machine_tables;

static const char *from_text(const haul_parameter *figure)
{
    return figure && figure->provenance ? haul_provenance_text(figure->provenance) : "";
}

static void add_row(machine_tables *self, const char *path, const char *value,
                    const haul_parameter *figure)
{
    const char *source = figure && figure->provenance ? figure->source : NULL;
    const uint64_t number =
        /* Numbered by first occurrence, so that numbers go up as people read. */
        source && *source
            ? (uint64_t)hl_base_strings_add(&self->sources, source, strlen(source)) + 1
            : HAUL_NO_COUNT;
    if (number == (uint64_t)UINT32_MAX + 1)
        hl_report_no_memory(self->people);
    haul_table_row(self->people,
                   HAUL_CELLS(haul_cell_text(path), haul_cell_text(value),
                              haul_cell_text(from_text(figure)), haul_cell_count(number)));
}

/* In base units and all digits, where people see a rounded value with a unit. */
static void add_csv_number(machine_tables *self, const char *path, double value,
                           haul_dimension dimension, const haul_parameter *figure)
{
    char text[32];
    /* As JSON writes numbers. */
    (void)snprintf(text, sizeof text, "%.9g", value);
    haul_table_row(
        self->csv,
        HAUL_CELLS(haul_cell_text(path), haul_cell_text(text),
                   haul_cell_text(haul_dimension_unit(dimension)),
                   haul_cell_text(from_text(figure)),
                   haul_cell_text(figure->provenance && figure->source ? figure->source : "")));
}

/* The points of a curve one by one: for people a row each, for programs two. */
static void add_point_rows(machine_tables *self, const char *path, const hl_machine_points *of)
{
    const haul_parameter *from = &of->from;
    for (size_t i = 0; i < (size_t)from->value && i < HAUL_MACHINE_CURVE_POINTS; i++) {
        const haul_point *point = &of->at[i];
        char name[200], bytes[32], seconds[32], text[80];
        (void)snprintf(name, sizeof name, "%s[%zu].bytes", path, i);
        add_csv_number(self, name, point->bytes, HAUL_DIM_BYTES, from);
        (void)snprintf(name, sizeof name, "%s[%zu].time", path, i);
        add_csv_number(self, name, point->seconds, HAUL_DIM_SECONDS, from);
        hl_report_point(point, bytes, seconds);
        (void)snprintf(name, sizeof name, "%s[%zu]", path, i);
        (void)snprintf(text, sizeof text, "%s in %s", bytes, seconds);
        add_row(self, name, text, from);
    }
}

/* Of a curve a row for each point; of what a path says already, none. */
static int add_field_rows(void *state, const char *path, const hl_machine_field *field,
                          const void *at)
{
    machine_tables *self = state;
    char buffer[HL_REPORT_FIELD_TEXT_BYTES];
    const haul_parameter *figure = hl_report_parameter_of(field, at);
    const char *text = hl_report_text(field, at, buffer);
    /* Fields that are not given are left out of both tables; JSON has null for them. */
    if (!*text || hl_report_in_path(field, path))
        return 0;
    if (field->kind == HL_MACHINE_FIELD_POINTS) {
        add_point_rows(self, path, at);
        return 0;
    }
    if (figure)
        add_csv_number(self, path, figure->value, field->dimension, figure);
    else
        haul_table_row(self->csv,
                       HAUL_CELLS(haul_cell_text(path), haul_cell_text(text), haul_cell_text(""),
                                  haul_cell_text(""), haul_cell_text("")));
    if (!hl_report_is_title(field)) /* which stand above */
        add_row(self, path, text, figure);
    return 0;
}

haul_report *haul_report_machine(const haul_machine *machine)
{
    static const haul_column columns[] = {{NULL, HAUL_UNIT_TEXT, .head = "Parameter"},
                                          {NULL, HAUL_UNIT_TEXT, .head = "value"},
                                          {NULL, HAUL_UNIT_TEXT, .head = "from"},
                                          {NULL, HAUL_UNIT_ID, .head = "source"},
                                          {0}};
    static const haul_column csv[] = {
        {NULL, HAUL_UNIT_TEXT, .csv = "parameter"}, {NULL, HAUL_UNIT_TEXT, .csv = "value"},
        {NULL, HAUL_UNIT_TEXT, .csv = "unit"},      {NULL, HAUL_UNIT_TEXT, .csv = "provenance"},
        {NULL, HAUL_UNIT_TEXT, .csv = "source"},    {0},
    };
    static const haul_column source_columns[] = {
        {NULL, HAUL_UNIT_ID, .head = "Sources"}, {NULL, HAUL_UNIT_TEXT, .head = ""}, {0}};
    HL_PLAIN_NUMERALS;
    char id[300], title[300];
    haul_report *report = haul_report_new("machine");
    /* JSON first: its keys do not depend on the tables for people. */
    add_mapping(report, &hl_machine_mapping, machine);
    (void)snprintf(id, sizeof id, "machine-%.250s", machine->name);
    (void)snprintf(title, sizeof title, "Machine %.250s", machine->name);
    haul_report_section(report, id, title);
    haul_report_say(report, "%.250s: %.1000s", machine->name, machine->summary);
    machine_tables self = {.people = haul_report_table(report, NULL, columns),
                           .csv = haul_report_table(report, NULL, csv)};
    haul_table_csv(self.csv);
    hl_report_link_peaks peaks;
    hl_report_walk(machine, &peaks, add_field_rows, &self);
    haul_table *sources = haul_report_table(report, NULL, source_columns);
    for (size_t i = 0; i < self.sources.count; i++)
        haul_table_row(sources, HAUL_CELLS(haul_cell_count((uint64_t)i + 1),
                                           haul_cell_text(self.sources.texts[i])));
    hl_base_strings_release(&self.sources);
    return report;
}
