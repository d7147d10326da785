/* Two machines side by side: the fields that differ. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/numerals.h"
#include "haul/units.h"
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

/* The figure of one side; NULL where it is not given, or is no single figure. */
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

typedef struct difference {
    haul_format format;
    haul_table table;
    haul_json json;
} difference;

static void put_side(haul_json *json, const char *key, const field_pair *pair, const void *at)
{
    char buffer[HAUL_FIELD_TEXT_BYTES];
    haul_json_key(json, key);
    const haul_parameter *figure = given_figure(pair->field, at);
    const char *text = haul_report_text(pair->field, at, buffer);
    if (figure)
        haul_report_put_parameter(json, figure);
    else
        haul_json_string(json, *text ? text : NULL);
}

static void put_pair(haul_json *json, const field_pair *pair)
{
    const double ratio = ratio_of(pair);
    haul_json_open_object(json);
    haul_json_put_string(json, "figure", pair->path);
    haul_json_put_string(json, "unit", haul_dimension_unit(pair->field->dimension));
    put_side(json, "a", pair, pair->a);
    put_side(json, "b", pair, pair->b);
    haul_json_key(json, "ratio");
    if (ratio > 0)
        haul_json_number(json, ratio);
    else
        haul_json_null(json);
    haul_json_close_object(json);
}

/* A cell: for people with its unit, for programs the bare number. */
static void add_side(difference *self, const field_pair *pair, const void *at)
{
    char buffer[HAUL_FIELD_TEXT_BYTES];
    const haul_parameter *figure = given_figure(pair->field, at);
    const char *text = haul_report_text(pair->field, at, buffer);
    if (figure && self->format == HAUL_CSV)
        haul_table_cell(&self->table, "%.9g", figure->value);
    else
        haul_table_cell(&self->table, "%s", *text || self->format == HAUL_CSV ? text : "-");
}

static void add_pair(difference *self, const field_pair *pair)
{
    const double ratio = ratio_of(pair);
    haul_table_cell(&self->table, "%s", pair->path);
    if (self->format == HAUL_CSV)
        haul_table_cell(&self->table, "%s", haul_dimension_unit(pair->field->dimension));
    add_side(self, pair, pair->a);
    add_side(self, pair, pair->b);
    if (ratio > 0)
        haul_table_cell(&self->table, "%.4g", ratio);
    else
        haul_table_cell(&self->table, "%s", "");
}

static void report_pair(difference *self, const field_pair *pair)
{
    if (!is_different(pair))
        return;
    if (self->format == HAUL_JSON)
        put_pair(&self->json, pair);
    else
        add_pair(self, pair);
}

static void report_pairs(difference *self, const field_list *a, const field_list *b)
{
    for (size_t i = 0; i < a->count; i++) {
        const listed_field *item = &a->items[i];
        const listed_field *other = find_path(b, item->path);
        report_pair(self,
                    &(field_pair){item->path, item->field, item->at, other ? other->at : NULL});
    }
    for (size_t i = 0; i < b->count; i++) {
        const listed_field *item = &b->items[i];
        if (!find_path(a, item->path))
            report_pair(self, &(field_pair){item->path, item->field, NULL, item->at});
    }
}

static haul_status print_json(const haul_machine *const machines[2], const field_list lists[2],
                              FILE *out, haul_error *error)
{
    difference self = {.format = HAUL_JSON, .json = haul_json_begin(out)};
    haul_json_open_object(&self.json);
    haul_json_put_unsigned(&self.json, "schema", HAUL_REPORT_SCHEMA);
    haul_json_put_string(&self.json, "a", machines[0]->name);
    haul_json_put_string(&self.json, "b", machines[1]->name);
    haul_json_key(&self.json, "differences");
    haul_json_open_array(&self.json);
    report_pairs(&self, &lists[0], &lists[1]);
    haul_json_close_array(&self.json);
    haul_json_close_object(&self.json);
    return haul_report_finish_json(&self.json, error);
}

static haul_status print_table(const haul_machine *const machines[2], const field_list lists[2],
                               haul_format format, FILE *out, haul_error *error)
{
    difference self = {.format = format};
    const char *const heads[] = {"<figure", machines[0]->name, machines[1]->name, "ratio"};
    const char *const csv_heads[] = {"figure", "unit", "a", "b", "ratio"};
    if (format == HAUL_CSV)
        haul_table_begin(&self.table, csv_heads, 5);
    else
        haul_table_begin(&self.table, heads, 4);
    report_pairs(&self, &lists[0], &lists[1]);
    if (format == HAUL_TABLE && self.table.count == self.table.columns) {
        haul_table_release(&self.table);
        const int printed = fprintf(out, "no figure differs\n");
        return printed > 0 ? HAUL_OK : haul_fail(error, HAUL_IO, "cannot write the report");
    }
    return haul_report_finish(&self.table, format, out, error);
}

haul_status haul_report_difference(const haul_machine *a, const haul_machine *b, haul_format format,
                                   FILE *out, haul_error *error)
{
    HAUL_PLAIN_NUMERALS;
    const haul_machine *const machines[2] = {a, b};
    field_list lists[2] = {{.count = 0}, {.count = 0}};
    haul_status status = HAUL_OK;
    if (list_machine(&lists[0], a) || list_machine(&lists[1], b))
        status = haul_fail_no_memory(error);
    else if (format == HAUL_JSON)
        status = print_json(machines, lists, out, error);
    else
        status = print_table(machines, lists, format, out, error);
    release_list(&lists[0]);
    release_list(&lists[1]);
    return status;
}
