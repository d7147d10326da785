#include "project/copy_times.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "workload/op_class.h"

enum { MOST_ROWS = HAUL_DIRECTIONS * HAUL_MEMORIES * (HAUL_DECADES + 1) };

/* Kept, by no model. */
static haul_estimate recorded_time(const haul_size_class *one)
{
    const double seconds = 1e-9 * one->time_ns;
    return (haul_estimate){seconds, seconds, seconds, HAUL_SCALED, NULL};
}

/* The time that the copies of a class take together; as recorded for copies that moved nothing. */
static haul_status class_time(const haul_copy_times *self, const haul_copy_model *model,
                              const haul_size_class *one, haul_estimate *sum, haul_error *error)
{
    const haul_copy copy = haul_size_class_copy(one);
    haul_estimate each = {0};
    if (one->impossible) {
        *sum = recorded_time(one);
        return HAUL_OK;
    }
    const haul_status status = haul_copy_time(self->target, model, &copy, &each, error);
    if (!status)
        *sum = (haul_estimate){each.seconds * one->count, each.low_s * one->count,
                               each.high_s * one->count, each.weakest, each.model};
    return status;
}

/* The same. Copies that cross no link that haul knows, of unknown direction or within the host's
 * memory, keep their recorded time where the model has none; sum->model is NULL then. */
static haul_status time_or_recorded(const haul_copy_times *self, const haul_copy_model *model,
                                    const haul_size_class *one, haul_estimate *sum,
                                    haul_error *error)
{
    const haul_status status = class_time(self, model, one, sum, error);
    if (status != HAUL_MISSING || (one->direction != HAUL_UNKNOWN && one->direction != HAUL_HTOH))
        return status;
    *sum = recorded_time(one);
    return HAUL_OK;
}

/* By the model that was asked for; where it cannot, by `auto`. */
static haul_status chosen_time(haul_copy_times *self, const haul_size_class *one,
                               haul_estimate *sum, haul_error *error)
{
    haul_error cause = {0};
    haul_status status = class_time(self, self->model, one, sum, &cause);
    if (status != HAUL_MISSING) {
        if (status && error)
            *error = cause;
        return status;
    }
    status = time_or_recorded(self, NULL, one, sum, error);
    if (status == HAUL_MISSING)
        haul_size_class_blame(one, error);
    if (status || self->model == haul_copy_model_at(0))
        return status;
    if (!self->replaced)
        snprintf(self->why_replaced, sizeof self->why_replaced, "%s", cause.text);
    self->replaced += one->count;
    return HAUL_OK;
}

/* The chosen model, then every other that haul has. */
static haul_status list_models(const haul_copy_times *self, haul_projection *out,
                               const haul_copy_model **models, haul_error *error)
{
    const size_t count = haul_copy_model_count();
    out->models = haul_arena_alloc(self->arena, (count + 1) * sizeof *out->models);
    if (!out->models)
        return haul_fail_no_memory(error);
    models[out->model_count++] = self->model;
    for (size_t i = 0; i < count; i++)
        if (haul_copy_model_at(i) != self->model)
            models[out->model_count++] = haul_copy_model_at(i);
    for (size_t m = 0; m < out->model_count; m++)
        out->models[m].name = models[m]->name;
    return HAUL_OK;
}

static haul_status add_size(haul_copy_times *self, const haul_copy_model *const *models,
                            const haul_size_class *one, haul_projection *out, haul_error *error)
{
    double *model_s = haul_arena_alloc(self->arena, out->model_count * sizeof *model_s);
    if (!model_s)
        return haul_fail_no_memory(error);
    haul_projection_row *row = &out->sizes[out->size_count++];
    *row = (haul_projection_row){.direction = (haul_direction)one->direction,
                                 .memory = (haul_memory)one->memory,
                                 .decade = haul_decade_of(one->bytes),
                                 .copy_bytes = one->bytes,
                                 .count = one->count,
                                 .bytes = one->bytes * one->count,
                                 .recorded_s = 1e-9 * one->time_ns,
                                 .model_s = model_s};
    const haul_status status = chosen_time(self, one, &row->predicted, error);
    row->unpredicted = status || row->predicted.model ? 0 : one->count;
    model_s[0] = row->predicted.seconds;
    for (size_t m = 1; !status && m < out->model_count; m++) {
        haul_estimate other = {.seconds = (double)NAN};
        haul_error cause = {0};
        const bool missing = time_or_recorded(self, models[m], one, &other, &cause);
        model_s[m] = other.seconds;
        if (missing && !out->models[m].missing)
            out->models[m].missing = haul_arena_string(self->arena, cause.text);
    }
    return status;
}

/* --- sums */

static bool is_recorded(const haul_projection_row *row)
{
    return row->unpredicted == row->count;
}

/* Adds a row of the same direction and memory. */
static void add_row(haul_projection_row *sum, const haul_projection_row *row, double *model_s,
                    size_t model_count)
{
    haul_estimate *to = &sum->predicted;
    const haul_estimate *from = &row->predicted;
    if (is_recorded(sum)) /* or empty */
        to->model = from->model;
    else if (!is_recorded(row) && to->model &&
             (!from->model || strcmp(to->model, from->model) != 0))
        to->model = NULL;
    to->weakest = sum->count ? haul_provenance_weaker(to->weakest, from->weakest) : from->weakest;
    to->seconds += from->seconds;
    to->low_s += from->low_s;
    to->high_s += from->high_s;
    sum->copy_bytes = row->copy_bytes > sum->copy_bytes ? row->copy_bytes : sum->copy_bytes;
    sum->count += row->count;
    sum->bytes += row->bytes;
    sum->recorded_s += row->recorded_s;
    sum->unpredicted += row->unpredicted;
    for (size_t m = 0; m < model_count; m++)
        model_s[m] += row->model_s[m];
}

/* A new row, for the sum of some sizes. */
static haul_status sum_sizes(const haul_copy_times *self, haul_projection *out,
                             haul_class_range range, int decade, haul_error *error)
{
    double *model_s = haul_arena_alloc(self->arena, out->model_count * sizeof *model_s);
    if (!model_s)
        return haul_fail_no_memory(error);
    haul_projection_row *row = &out->rows[out->row_count++];
    *row = (haul_projection_row){.direction = out->sizes[range.begin].direction,
                                 .memory = out->sizes[range.begin].memory,
                                 .decade = decade,
                                 .model_s = model_s};
    for (size_t s = range.begin; s < range.end; s++)
        add_row(row, &out->sizes[s], model_s, out->model_count);
    return HAUL_OK;
}

static haul_status sum_group(const haul_copy_times *self, haul_projection *out,
                             haul_class_range range, haul_error *error)
{
    haul_status status = sum_sizes(self, out, range, HAUL_DECADES, error);
    for (size_t begin = range.begin, end = begin; !status && end < range.end; begin = end) {
        while (end < range.end && out->sizes[end].decade == out->sizes[begin].decade)
            end++;
        status =
            sum_sizes(self, out, (haul_class_range){begin, end}, out->sizes[begin].decade, error);
    }
    return status;
}

static haul_status sum_totals(const haul_copy_times *self, haul_projection *out, haul_error *error)
{
    haul_projection_row total = {0};
    double *model_s = haul_arena_alloc(self->arena, out->model_count * sizeof *model_s);
    if (!model_s)
        return haul_fail_no_memory(error);
    for (size_t r = 0; r < out->row_count; r++)
        if (out->rows[r].decade == HAUL_DECADES)
            add_row(&total, &out->rows[r], model_s, out->model_count);
    for (size_t m = 0; m < out->model_count; m++)
        out->models[m].total_s = model_s[m];
    out->copies = total.predicted;
    out->recorded_copies_s = total.recorded_s;
    out->chosen = total.predicted.model ? total.predicted.model : out->models[0].name;
    return HAUL_OK;
}

haul_status haul_copy_times_make(haul_copy_times *self, haul_projection *out, haul_error *error)
{
    const haul_size_classes *classes = self->classes;
    const size_t most =
        classes->count + 1; /* classes: each has a row of its decade and one of all */
    const size_t rows = 2 * most < MOST_ROWS ? 2 * most : MOST_ROWS;
    const haul_copy_model **models =
        haul_arena_alloc(self->arena, (haul_copy_model_count() + 1) * sizeof(void *));
    out->sizes = haul_arena_alloc(self->arena, most * sizeof *out->sizes);
    out->rows = haul_arena_alloc(self->arena, rows * sizeof *out->rows);
    if (!models || !out->sizes || !out->rows)
        return haul_fail_no_memory(error);
    haul_status status = list_models(self, out, models, error);
    for (size_t c = 0; !status && c < classes->count; c++)
        status = add_size(self, models, &classes->items[c], out, error);
    for (haul_class_range range = {0}; !status && range.end < classes->count;) {
        range = haul_size_group(classes, range.end);
        status = sum_group(self, out, range, error);
    }
    return status ? status : sum_totals(self, out, error);
}
