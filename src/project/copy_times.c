/* The time of every copy on the target by every model: one prediction a class of equal copies, and
 * sums of those by decade of sizes, by direction and memory, and of all. */
#include "project/copy_times.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "project/staging.h"
#include "workload/op_class.h"

enum { MOST_ROWS = HAUL_DIRECTIONS * HAUL_MEMORIES * (HAUL_ANALYSIS_DECADES + 1) };

/* The time that the copies of a class take together. Copies that moved nothing, and where `keeps`
 * is set copies that cross no link that haul knows, of unknown direction or within the host's
 * memory, keep their recorded time where the model has none; sum->model is NULL then. */
static haul_status class_time(const hl_project_copy_times *self, const haul_copy_model *model,
                              bool keeps, const hl_project_size_class *one, haul_estimate *sum,
                              haul_error *error)
{
    const haul_copy copy = hl_project_size_class_copy(one);
    const double recorded_s = 1e-9 * one->time_ns;
    haul_estimate each = {0};
    const haul_status status = one->impossible
                                   ? HAUL_STATUS_MISSING
                                   : haul_copy_time(self->target, model, &copy, &each, error);
    const double count = one->count * hl_project_staging_device_share(
                                          one, self->staged_ns[one - self->classes->items], &each);
    if (!status)
        *sum = (haul_estimate){each.seconds * count, each.low_s * count, each.high_s * count,
                               each.weakest, each.model};
    const bool is_elsewhere =
        one->direction == HAUL_DIRECTION_UNKNOWN || one->direction == HAUL_DIRECTION_HTOH;
    if (status != HAUL_STATUS_MISSING || !(one->impossible || (keeps && is_elsewhere)))
        return status;
    *sum = (haul_estimate){recorded_s, recorded_s, recorded_s, HAUL_PROVENANCE_SCALED, NULL};
    return HAUL_OK;
}

/* A row for one class. The chosen model must answer; of the others a missing parameter only leaves
 * NaN and its reason, for they stand beside it as a comparison. */
static haul_status add_size(hl_project_copy_times *self, const haul_copy_model *const *models,
                            const hl_project_size_class *one, haul_projection *out,
                            haul_error *error)
{
    double *model_s = hl_base_arena_alloc(self->arena, out->model_count * sizeof *model_s);
    if (!model_s)
        return hl_base_fail_no_memory(error);
    haul_projection_row *row = &out->sizes[out->size_count++];
    *row = (haul_projection_row){.direction = (haul_direction)one->direction,
                                 .memory = (haul_memory)one->memory,
                                 .decade = hl_workload_decade_of(one->bytes),
                                 .copy_bytes = one->bytes,
                                 .count = one->count,
                                 .bytes = one->bytes * one->count,
                                 .recorded_s = 1e-9 * one->time_ns,
                                 .model_s = model_s};
    haul_error chosen = {0}; /* by the model that was asked for; where it cannot, by `auto` */
    haul_status status = class_time(self, self->model, false, one, &row->predicted, &chosen);
    if (status == HAUL_STATUS_MISSING) {
        status = class_time(self, NULL, true, one, &row->predicted, error);
        if (status == HAUL_STATUS_MISSING)
            hl_project_size_class_blame(one, error);
        if (!status && self->model != haul_copy_model_at(0)) {
            if (!self->replaced)
                memcpy(self->why_replaced, chosen.text, sizeof self->why_replaced);
            self->replaced += one->count;
        }
    } else if (status && error) {
        *error = chosen;
    }
    row->unpredicted = status || row->predicted.model ? 0 : one->count;
    model_s[0] = row->predicted.seconds;
    for (size_t m = 1; !status && m < out->model_count; m++) {
        haul_estimate other = {.seconds = (double)NAN};
        haul_error cause = {0};
        const haul_status missing = class_time(self, models[m], true, one, &other, &cause);
        model_s[m] = other.seconds;
        if (missing == HAUL_STATUS_NO_MEMORY)
            status = hl_base_fail_no_memory(error);
        if (missing && !out->models[m].missing)
            out->models[m].missing = hl_base_arena_string(self->arena, cause.text);
    }
    return status;
}

/* --- sums */

/* Adds a row of the same direction and memory. */
static void add_row(haul_projection_row *sum, const haul_projection_row *row, double *model_s,
                    size_t model_count)
{
    haul_estimate *to = &sum->predicted;
    const haul_estimate *from = &row->predicted;
    const bool is_recorded = row->unpredicted == row->count;
    if (sum->unpredicted == sum->count) /* as recorded, or empty */
        to->model = from->model;
    else if (!is_recorded && to->model && (!from->model || strcmp(to->model, from->model) != 0))
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
static haul_status sum_sizes(const hl_project_copy_times *self, haul_projection *out,
                             hl_project_class_range range, int decade, haul_error *error)
{
    double *model_s = hl_base_arena_alloc(self->arena, out->model_count * sizeof *model_s);
    if (!model_s)
        return hl_base_fail_no_memory(error);
    haul_projection_row *row = &out->rows[out->row_count++];
    *row = (haul_projection_row){.direction = out->sizes[range.begin].direction,
                                 .memory = out->sizes[range.begin].memory,
                                 .decade = decade,
                                 .model_s = model_s};
    for (size_t s = range.begin; s < range.end; s++)
        add_row(row, &out->sizes[s], model_s, out->model_count);
    return HAUL_OK;
}

/* Rows: for each direction and memory all its sizes, then each decade of them; the grand total adds
 * the former alone. */
haul_status hl_project_copy_times_make(hl_project_copy_times *self, haul_projection *out,
                                       haul_error *error)
{
    const hl_project_size_classes *classes = self->classes;
    const size_t most =
        classes->count + 1; /* classes: each has a row of its decade and one of all */
    const size_t rows = 2 * most < MOST_ROWS ? 2 * most : MOST_ROWS, all = haul_copy_model_count();
    const haul_copy_model **models =
        hl_base_arena_alloc(self->arena, (all + 1) * sizeof(haul_copy_model *));
    double *model_s = hl_base_arena_alloc(self->arena, (all + 1) * sizeof *model_s);
    out->models = hl_base_arena_alloc(self->arena, (all + 1) * sizeof *out->models);
    out->sizes = hl_base_arena_alloc(self->arena, most * sizeof *out->sizes);
    out->rows = hl_base_arena_alloc(self->arena, rows * sizeof *out->rows);
    if (!models || !model_s || !out->models || !out->sizes || !out->rows)
        return hl_base_fail_no_memory(error);
    models[out->model_count++] = self->model; /* then every other that haul has */
    for (size_t i = 0; i < all; i++)
        if (haul_copy_model_at(i) != self->model)
            models[out->model_count++] = haul_copy_model_at(i);
    for (size_t m = 0; m < out->model_count; m++)
        out->models[m].name = models[m]->name;
    haul_status status = HAUL_OK;
    for (size_t c = 0; !status && c < classes->count; c++)
        status = add_size(self, models, &classes->items[c], out, error);
    haul_projection_row total = {0};
    for (hl_project_class_range range = {0}; !status && range.end < classes->count;) {
        range = hl_project_size_group(classes, range.end);
        const size_t group = out->row_count;
        status = sum_sizes(self, out, range, HAUL_ANALYSIS_DECADES, error);
        if (!status)
            add_row(&total, &out->rows[group], model_s, out->model_count);
        for (hl_project_class_range part = {.end = range.begin}; !status && part.end < range.end;) {
            const int decade = out->sizes[part.end].decade;
            for (part.begin = part.end;
                 part.end < range.end && out->sizes[part.end].decade == decade;)
                part.end++;
            status = sum_sizes(self, out, part, decade, error);
        }
    }
    for (size_t m = 0; m < out->model_count; m++)
        out->models[m].total_s = model_s[m];
    out->copies = total.predicted;
    out->recorded_copies_s = total.recorded_s;
    out->chosen = total.predicted.model ? total.predicted.model : out->models[0].name;
    return status;
}
