/* Two machines side by side: the fields that differ, in the order of the first one's file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/numerals.h"
#include "haul/units.h"
#include "report/document.h"
#include "report/report_fields.h"

typedef struct listed_field {
    const char *path; /* in the list's arena */
    const hl_machine_field *field;
    const void *at;
} listed_field;

typedef struct field_list {
    hl_base_arena arena;
    hl_report_link_peaks peaks;
    listed_field *items;
    size_t count;
    size_t capacity;
} field_list;

/* Fields in the order of the file, with paths of their own: the walk reuses its buffer. */
static int list_field(void *state, const char *path, const hl_machine_field *field, const void *at)
{
    field_list *self = state;
    if (hl_report_is_title(field) || hl_report_in_path(field, path))
        return 0; /* said by the heads, by the path */
    const char *copy = hl_base_arena_string(&self->arena, path);
    if (!copy || !hl_base_grow(&self->items, &self->capacity, self->count + 1, sizeof *self->items))
        /* Stops the walk: without memory there is no whole list. */
        return 1;
    self->items[self->count++] = (listed_field){copy, field, at};
    return 0;
}

/* Point by point: two curves measured at different sizes are never the same. */
static bool same_points(const hl_machine_points *a, const hl_machine_points *b)
{
    const size_t count = (size_t)a->from.value;
    bool same = count == (size_t)b->from.value;
    for (size_t i = 0; same && i < count && i < HAUL_MACHINE_CURVE_POINTS; i++)
        same = a->at[i].bytes == b->at[i].bytes && a->at[i].seconds == b->at[i].seconds;
    /* Provenance is not compared: the same curve may be measured and published. */
    return same;
}

/* Values of a pair: text for people, a number with its source in JSON, a bare number in CSV. Texts
 * are rounded, so equal texts may be of different values; of a curve they name its last point
 * alone. A field that only one machine has is given by that one; the other's text is empty. */
static void add_pair(haul_table *table, const listed_field *item, const void *const ats[2])
{
    static const char *const keys[] = {"a", "b"};
    char buffers[2][HL_REPORT_FIELD_TEXT_BYTES], numbers[2][32], ratio_text[32] = "";
    const char *texts[2], *csv[2];
    const haul_parameter *figures[2];
    for (int i = 0; i < 2; i++) {
        /* A number replaces the text in CSV where the field is a parameter. */
        csv[i] = texts[i] = hl_report_text(item->field, ats[i], buffers[i]);
        figures[i] = item->field->kind == HL_MACHINE_FIELD_PARAMETER && *texts[i] ? ats[i] : NULL;
        if (!figures[i])
            continue;
        (void)snprintf(numbers[i], sizeof numbers[i], "%.9g", figures[i]->value);
        csv[i] = numbers[i];
    }
    const bool has_both = figures[0] && figures[1];
    /* Texts first: names and words have nothing else to compare. */
    bool is_same = !strcmp(texts[0], texts[1]);
    if (is_same && has_both)
        is_same = figures[0]->value == figures[1]->value;
    if (is_same && ats[0] && ats[1] && item->field->kind == HL_MACHINE_FIELD_POINTS)
        is_same = same_points(ats[0], ats[1]);
    if (is_same)
        return;
    /* NaN: not known. JSON has null for it, people see an empty cell. */
    double ratio = (double)NAN;
    if (has_both && figures[0]->value > 0 && figures[1]->value > 0) {
        ratio = figures[1]->value / figures[0]->value;
        (void)snprintf(ratio_text, sizeof ratio_text, "%.4g", ratio);
    }
    haul_table_row(table, HAUL_CELLS(haul_cell_text(item->path),
                                     haul_cell_text(haul_dimension_unit(item->field->dimension)),
                                     haul_cell_text(*texts[0] ? texts[0] : "-"),
                                     haul_cell_text(*texts[1] ? texts[1] : "-"),
                                     haul_cell_text(csv[0]), haul_cell_text(csv[1]),
                                     haul_cell_text(ratio_text), haul_cell_number(ratio)));
    for (int i = 0; i < 2; i++)
        if (figures[i])
            hl_report_parameter(table, keys[i], figures[i]);
        else
            haul_report_value(table, keys[i], *texts[i] ? texts[i] : NULL);
}

/* Only what differs is shown: machines of one kind share most of their fields. */
haul_report *haul_report_difference(const haul_machine *a, const haul_machine *b)
{
    static const haul_column names[] = {
        {"a", .unit = HAUL_UNIT_TEXT}, {"b", .unit = HAUL_UNIT_TEXT}, {0}};
    static const haul_column columns[] = {
        {"parameter", HAUL_UNIT_TEXT, .head = "Parameter"},
        {"unit", .unit = HAUL_UNIT_TEXT},
        {NULL, HAUL_UNIT_TEXT, .head = "a"},
        {NULL, HAUL_UNIT_TEXT, .head = "b"},
        {NULL, HAUL_UNIT_TEXT, .csv = "a"},
        {NULL, HAUL_UNIT_TEXT, .csv = "b"},
        {NULL, HAUL_UNIT_TEXT, .head = "b/a", .csv = "ratio"},
        {"ratio", HAUL_UNIT_NUMBER, .csv = ""},
        {0},
    };
    HL_PLAIN_NUMERALS;
    field_list lists[2] = {{.count = 0}, {.count = 0}};
    haul_report *report = haul_report_new("difference");
    haul_report_object(report, NULL, names,
                       HAUL_CELLS(haul_cell_text(a->name), haul_cell_text(b->name)));
    haul_table *table = haul_report_table(report, "differences", columns);
    haul_table_csv(table);
    /* The machines' names head their columns. */
    haul_table_head(table, 2, a->name);
    haul_table_head(table, 3, b->name);
    if (hl_report_walk(a, &lists[0].peaks, list_field, &lists[0]) ||
        hl_report_walk(b, &lists[1].peaks, list_field, &lists[1])) {
        haul_report_free(report);
        report = NULL;
    }
    /* in the order of the first machine's file, then what the second has alone */
    for (int i = 0; report && i < 2; i++)
        for (size_t k = 0; k < lists[i].count; k++) {
            const listed_field *item = &lists[i].items[k];
            /* Quadratic over some hundred fields. */
            const void *other = NULL; /* it may have no such curve */
            const field_list *const others = &lists[1 - i];
            for (size_t o = 0; o < others->count && !other; o++)
                other = strcmp(others->items[o].path, item->path) ? NULL : others->items[o].at;
            if (i == 0)
                add_pair(table, item, (const void *const[]){item->at, other});
            else if (!other)
                add_pair(table, item, (const void *const[]){NULL, item->at});
        }
    if (table && report && !table->row_count)
        haul_report_say(report, "No parameter differs.");
    for (int i = 0; i < 2; i++) {
        hl_base_arena_release(&lists[i].arena);
        free(lists[i].items);
    }
    return report;
}
