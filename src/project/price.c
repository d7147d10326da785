#include "project/price.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "workload/op_class.h"

/* Copies that move nothing over a link that haul knows: of unknown direction, and within the host's
 * memory. */
static bool may_keep_time(haul_direction direction)
{
    return direction == HAUL_UNKNOWN || direction == HAUL_HTOH;
}

static bool is_kept(const haul_projection_row *row)
{
    return row->unpredicted == row->count;
}

/* What the copies of a class take together by one model. */
static haul_status price_class(const haul_price_list *list, const haul_copy_model *model,
                               const haul_size_class_key *self, haul_estimate *sum,
                               haul_error *error)
{
    const haul_copy copy = {self->bytes, (haul_direction)self->direction, (haul_memory)self->memory,
                            HAUL_NEAR};
    haul_estimate one = {0};
    const haul_status status = haul_copy_time(list->target, model, &copy, &one, error);
    if (status)
        return status;
    *sum = (haul_estimate){one.seconds * self->count, one.low_s * self->count,
                           one.high_s * self->count, one.weakest, one.model};
    return HAUL_OK;
}

/* The same, with the recorded time where no model can. */
static haul_status price_or_keep(const haul_price_list *list, const haul_copy_model *model,
                                 const haul_size_class_key *self, haul_estimate *sum,
                                 haul_error *error)
{
    const haul_status status = price_class(list, model, self, sum, error);
    if (status != HAUL_MISSING || !may_keep_time((haul_direction)self->direction))
        return status;
    const double recorded_s = 1e-9 * self->time_ns;
    *sum = (haul_estimate){recorded_s, recorded_s, recorded_s, HAUL_CARRIED, NULL};
    return HAUL_OK;
}

/* By the model that was asked for; what it cannot price, by `instead`. */
static haul_status price_chosen(haul_price_list *list, const haul_size_class_key *self,
                                haul_estimate *sum, haul_error *error)
{
    haul_error cause = {0};
    haul_status status = price_class(list, list->models[0], self, sum, &cause);
    if (status == HAUL_MISSING) {
        status = price_or_keep(list, NULL, self, sum, error);
        if (status == HAUL_MISSING)
            haul_size_class_blame(self, error);
        if (status || list->models[0] == haul_copy_model_at(0))
            return status;
        if (!list->replaced)
            snprintf(list->why_replaced, sizeof list->why_replaced, "%s", cause.text);
        list->replaced += self->count;
        return HAUL_OK;
    }
    if (status && error)
        *error = cause;
    return status;
}

/* Why a model cannot price all copies: the first cause met. */
static void note_missing(haul_price_list *list, haul_model_total *total, const haul_error *cause)
{
    if (!total->missing)
        total->missing = haul_arena_string(list->arena, cause->text);
}

static haul_status price_size(haul_price_list *list, const haul_size_class_key *self,
                              haul_projection *out, haul_projection_row *row, haul_error *error)
{
    double *model_s = haul_arena_alloc(list->arena, list->model_count * sizeof *model_s);
    if (!model_s)
        return haul_fail_no_memory(error);
    *row = (haul_projection_row){.direction = (haul_direction)self->direction,
                                 .memory = (haul_memory)self->memory,
                                 .decade = haul_decade_of(self->bytes),
                                 .copy_bytes = self->bytes,
                                 .count = self->count,
                                 .bytes = self->bytes * self->count,
                                 .recorded_s = 1e-9 * self->time_ns,
                                 .model_s = model_s};
    haul_status status = price_chosen(list, self, &row->predicted, error);
    if (status)
        return status;
    model_s[0] = row->predicted.seconds;
    if (!row->predicted.model) {
        row->unpredicted = self->count;
        list->kept += self->count;
        list->kept_s += row->recorded_s;
    }
    for (size_t m = 1; m < list->model_count; m++) {
        haul_estimate other = {0};
        haul_error cause = {0};
        status = price_or_keep(list, list->models[m], self, &other, &cause);
        model_s[m] = status ? (double)NAN : other.seconds;
        if (status)
            note_missing(list, &out->models[m], &cause);
    }
    return HAUL_OK;
}

/* Adds a row of the same direction and memory. */
static void add_row(haul_projection_row *sum, const haul_projection_row *row, double *model_s,
                    size_t model_count)
{
    const bool first = !sum->count, only_kept = is_kept(sum);
    sum->copy_bytes = row->copy_bytes > sum->copy_bytes ? row->copy_bytes : sum->copy_bytes;
    sum->count += row->count;
    sum->bytes += row->bytes;
    sum->recorded_s += row->recorded_s;
    sum->unpredicted += row->unpredicted;
    haul_estimate *to = &sum->predicted;
    const haul_estimate *from = &row->predicted;
    to->seconds += from->seconds;
    to->low_s += from->low_s;
    to->high_s += from->high_s;
    to->weakest = first ? from->weakest : haul_provenance_weaker(to->weakest, from->weakest);
    if (first || only_kept)
        to->model = from->model;
    else if (!is_kept(row) && to->model && (!from->model || strcmp(to->model, from->model) != 0))
        to->model = NULL;
    for (size_t m = 0; m < model_count; m++)
        model_s[m] += row->model_s[m];
}

/* The sum of some sizes as one row. */
static haul_status sum_sizes(haul_price_list *list, const haul_projection *out,
                             haul_class_range range, haul_projection_row *row, haul_error *error)
{
    double *model_s = haul_arena_alloc(list->arena, list->model_count * sizeof *model_s);
    if (!model_s)
        return haul_fail_no_memory(error);
    *row = (haul_projection_row){.direction = out->sizes[range.begin].direction,
                                 .memory = out->sizes[range.begin].memory,
                                 .decade = out->sizes[range.begin].decade,
                                 .model_s = model_s};
    for (size_t s = range.begin; s < range.end; s++)
        add_row(row, &out->sizes[s], model_s, list->model_count);
    return HAUL_OK;
}

static haul_class_range decade_of_sizes(const haul_projection *out, size_t begin, size_t group_end)
{
    size_t end = begin;
    while (end < group_end && out->sizes[end].decade == out->sizes[begin].decade)
        end++;
    return (haul_class_range){begin, end};
}

static haul_status sum_group(haul_price_list *list, haul_projection *out, haul_class_range range,
                             haul_error *error)
{
    haul_projection_row *all = &out->rows[out->row_count++];
    haul_status status = sum_sizes(list, out, range, all, error);
    all->decade = HAUL_DECADES;
    for (haul_class_range decade = {range.begin, range.begin}; !status && decade.end < range.end;) {
        decade = decade_of_sizes(out, decade.end, range.end);
        status = sum_sizes(list, out, decade, &out->rows[out->row_count++], error);
    }
    return status;
}

/* An upper bound: a decade each time that the decade, the memory or the direction changes, and one
 * row for all sizes each time that one of the last two does. */
static size_t most_rows(const haul_projection *out)
{
    size_t rows = 0;
    for (size_t s = 0; s < out->size_count; s++) {
        const haul_projection_row *row = &out->sizes[s];
        const bool group =
            !s || row->direction != row[-1].direction || row->memory != row[-1].memory;
        rows += (group ? 1U : 0U) + (group || row->decade != row[-1].decade ? 1U : 0U);
    }
    return rows;
}

static haul_status sum_totals(haul_price_list *list, haul_projection *out, haul_error *error)
{
    haul_projection_row total = {0};
    double *model_s = haul_arena_alloc(list->arena, list->model_count * sizeof *model_s);
    if (!model_s)
        return haul_fail_no_memory(error);
    for (size_t r = 0; r < out->row_count; r++)
        if (out->rows[r].decade == HAUL_DECADES)
            add_row(&total, &out->rows[r], model_s, list->model_count);
    for (size_t m = 0; m < list->model_count; m++)
        out->models[m].total_s = model_s[m];
    out->copies = total.predicted;
    out->recorded_copies_s = total.recorded_s;
    out->chosen = total.predicted.model ? total.predicted.model : out->models[0].name;
    return HAUL_OK;
}

haul_status haul_price_all(haul_price_list *list, haul_projection *projection, haul_error *error)
{
    const haul_size_class *alike = list->alike;
    haul_arena *arena = list->arena;
    projection->models = haul_arena_alloc(arena, list->model_count * sizeof *projection->models);
    projection->sizes =
        haul_arena_alloc(arena, (alike->class_count + 1) * sizeof *projection->sizes);
    if (!projection->models || !projection->sizes)
        return haul_fail_no_memory(error);
    projection->model_count = list->model_count;
    for (size_t m = 0; m < list->model_count; m++)
        projection->models[m].name = list->models[m]->name;
    haul_status status = HAUL_OK;
    for (size_t c = 0; !status && c < alike->class_count; c++)
        status = price_size(list, &alike->classes[c], projection,
                            &projection->sizes[projection->size_count++], error);
    if (status)
        return status;
    projection->rows =
        haul_arena_alloc(arena, (most_rows(projection) + 1) * sizeof *projection->rows);
    if (!projection->rows)
        return haul_fail_no_memory(error);
    for (haul_class_range range = {0}; !status && range.end < alike->class_count;) {
        range = haul_size_class_group(alike, range.end);
        status = sum_group(list, projection, range, error);
    }
    return status ? status : sum_totals(list, projection, error);
}
