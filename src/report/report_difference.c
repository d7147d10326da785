/* Two machines side by side: the fields that differ. */
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
    const haul_field *field;
    const void *at;
} listed_field;

typedef struct field_list {
    haul_arena arena;
    haul_parameter link_peak;
    haul_parameter peer_peak;
    listed_field *items;
    size_t count;
    size_t capacity;
} field_list;

static int list_field(void *state, const char *path, const haul_field *field, const void *at)
{
    field_list *self = state;
    if (haul_report_is_title(field) || haul_report_in_path(field, path))
        return 0; /* said by the heads, by the path */
    const char *copy = haul_arena_string(&self->arena, path);
    if (!copy || !haul_grow(&self->items, &self->capacity, self->count + 1, sizeof *self->items))
        return 1;
    self->items[self->count++] = (listed_field){copy, field, at};
    return 0;
}

/* All fields of a machine, and what follows from its links'. */
static int list_machine(field_list *self, const haul_machine *machine)
{
    static const haul_field peak = {.kind = HAUL_FIELD_PARAMETER, .dimension = HAUL_DIM_RATE};
    self->link_peak = haul_link_peak(&machine->link);
    self->peer_peak = haul_link_peak(&machine->peer);
    return haul_machine_walk(machine, list_field, self) ||
           list_field(self, "link.peak", &peak, &self->link_peak) ||
           list_field(self, "peer.peak", &peak, &self->peer_peak);
}

static void release_list(field_list *self)
{
    haul_arena_release(&self->arena);
    free(self->items);
}

static const listed_field *find_path(const field_list *self, const char *path)
{
    for (size_t i = 0; i < self->count; i++)
        if (!strcmp(self->items[i].path, path))
            return &self->items[i];
    return NULL;
}

/* One field of both machines; NULL of the one that has no such curve. */
typedef struct field_pair {
    const char *path;
    const haul_field *field;
    const void *a;
    const void *b;
} field_pair;

static bool same_points(const haul_copy_curve *a, const haul_copy_curve *b)
{
    const size_t count = (size_t)a->points_from.value;
    bool same = count == (size_t)b->points_from.value;
    for (size_t i = 0; same && i < count && i < HAUL_CURVE_POINTS; i++)
        same = a->points[i].bytes == b->points[i].bytes &&
               a->points[i].seconds == b->points[i].seconds;
    return same;
}

static bool is_given(const haul_field *field, const void *at)
{
    char buffer[HAUL_FIELD_TEXT_BYTES];
    return *haul_report_text(field, at, buffer) != '\0';
}

/* The parameter of one side; NULL where it is not given, or is no single number. */
static const haul_parameter *given_figure(const haul_field *field, const void *at)
{
    return field->kind == HAUL_FIELD_PARAMETER && at && is_given(field, at) ? at : NULL;
}

static bool is_different(const field_pair *pair)
{
    const bool a_given = is_given(pair->field, pair->a);
    const bool b_given = is_given(pair->field, pair->b);
    if (!a_given || !b_given)
        return a_given != b_given;
    if (pair->field->kind == HAUL_FIELD_POINTS)
        return !same_points(haul_report_curve(pair->a), haul_report_curve(pair->b));
    const haul_parameter *a = given_figure(pair->field, pair->a);
    const haul_parameter *b = given_figure(pair->field, pair->b);
    if (a && b)
        return a->value != b->value;
    char a_buffer[HAUL_FIELD_TEXT_BYTES];
    char b_buffer[HAUL_FIELD_TEXT_BYTES];
    return strcmp(haul_report_text(pair->field, pair->a, a_buffer),
                  haul_report_text(pair->field, pair->b, b_buffer)) != 0;
}

/* b/a, or 0 where there is none. */
static double ratio_of(const field_pair *pair)
{
    const haul_parameter *a = given_figure(pair->field, pair->a);
    const haul_parameter *b = given_figure(pair->field, pair->b);
    return a && b && a->value > 0 ? b->value / a->value : 0;
}

/* The two machines' tables: an object or a text in JSON, a number in CSV, for people with a unit.
 */
static void add_side(haul_table *table, const char *key, const field_pair *pair, const void *at)
{
    char buffer[HAUL_FIELD_TEXT_BYTES];
    const haul_parameter *figure = given_figure(pair->field, at);
    const char *text = haul_report_text(pair->field, at, buffer);
    if (figure)
        haul_report_parameter(table, key, figure);
    else
        haul_report_value(table, key, *text ? text : NULL);
}

/* In CSV a bare number. */
static const char *csv_text(const field_pair *pair, const void *at, char *buffer)
{
    const haul_parameter *figure = given_figure(pair->field, at);
    if (!figure)
        return haul_report_text(pair->field, at, buffer);
    (void)snprintf(buffer, HAUL_FIELD_TEXT_BYTES, "%.9g", figure->value);
    return buffer;
}

static void add_pair(haul_table *table, const field_pair *pair)
{
    char a[HAUL_FIELD_TEXT_BYTES], b[HAUL_FIELD_TEXT_BYTES];
    char csv_a[HAUL_FIELD_TEXT_BYTES], csv_b[HAUL_FIELD_TEXT_BYTES], ratio[32] = "";
    const double value = ratio_of(pair);
    const char *text_a = haul_report_text(pair->field, pair->a, a);
    const char *text_b = haul_report_text(pair->field, pair->b, b);
    if (!is_different(pair))
        return;
    if (value > 0)
        (void)snprintf(ratio, sizeof ratio, "%.4g", value);
    haul_table_row(table, pair->path, haul_dimension_unit(pair->field->dimension),
                   *text_a ? text_a : "-", *text_b ? text_b : "-", csv_text(pair, pair->a, csv_a),
                   csv_text(pair, pair->b, csv_b), ratio, value > 0 ? value : (double)NAN);
    add_side(table, "a", pair, pair->a);
    add_side(table, "b", pair, pair->b);
}

static void add_pairs(haul_table *table, const field_list *a, const field_list *b)
{
    for (size_t i = 0; i < a->count; i++) {
        const listed_field *item = &a->items[i];
        const listed_field *other = find_path(b, item->path);
        add_pair(table, &(field_pair){item->path, item->field, item->at, other ? other->at : NULL});
    }
    for (size_t i = 0; i < b->count; i++) {
        const listed_field *item = &b->items[i];
        if (!find_path(a, item->path))
            add_pair(table, &(field_pair){item->path, item->field, NULL, item->at});
    }
}

haul_report *haul_report_difference(const haul_machine *a, const haul_machine *b)
{
    static const haul_column names[] = {{"a", .unit = HAUL_TEXT}, {"b", .unit = HAUL_TEXT}, {0}};
    static const haul_column columns[] = {
        {"parameter", HAUL_TEXT, .head = "Parameter"},
        {"unit", .unit = HAUL_TEXT},
        {NULL, HAUL_TEXT, .head = "a"},
        {NULL, HAUL_TEXT, .head = "b"},
        {NULL, HAUL_TEXT, .csv = "a"},
        {NULL, HAUL_TEXT, .csv = "b"},
        {NULL, HAUL_TEXT, .head = "b/a", .csv = "ratio"},
        {"ratio", HAUL_NUMBER, .csv = ""},
        {0},
    };
    HAUL_PLAIN_NUMERALS;
    field_list lists[2] = {{.count = 0}, {.count = 0}};
    haul_report *report = haul_report_new("difference");
    haul_report_object(report, NULL, names, a->name, b->name);
    haul_table *table = haul_report_table(report, "differences", columns);
    haul_table_csv(table);
    haul_table_head(table, 2, a->name);
    haul_table_head(table, 3, b->name);
    if (list_machine(&lists[0], a) || list_machine(&lists[1], b)) {
        haul_report_free(report);
        report = NULL;
    } else {
        add_pairs(table, &lists[0], &lists[1]);
        if (table && !table->row_count)
            haul_report_say(report, "No parameter differs.");
    }
    release_list(&lists[0]);
    release_list(&lists[1]);
    return report;
}
