/* Reductions. Each row of a loop's box has a result of its own, at a place that depends on nothing
 * but the row; they are folded in the order of rows. So the result does not depend on which region
 * or thread came first. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "haul/device_backend.h"
#include "tile/tile_parts.h"
#include "tile/tile_reduce.kernel.h"

/* What folded with any value gives that value. */
static double identity_of(const haul_field_use *use)
{
    static const double lowest[] = {-INFINITY, -INFINITY, INT_MIN, 0};
    static const double highest[] = {INFINITY, INFINITY, INT_MAX, UINT_MAX};
    return use->reduction == HAUL_ACCESS_SUM   ? 0
           : use->reduction == HAUL_ACCESS_MIN ? highest[use->number]
                                               : lowest[use->number];
}

static void set_number(void *at, double value, int number)
{
    const float as_float = (float)value;
    const int as_int = number == HAUL_NUMBER_int ? (int)value : 0;
    const unsigned as_unsigned = number == HAUL_NUMBER_unsigned ? (unsigned)value : 0;
    const void *const values[] = {&value, &as_float, &as_int, &as_unsigned};
    static const size_t bytes[] = {sizeof(double), sizeof(float), sizeof(int), sizeof(unsigned)};
    memcpy(at, values[number], bytes[number]);
}

static const haul_kernel_source *fold_of(const haul_field_use *use)
{
    static const haul_kernel_source *const folds[3][4] = {
        {&haul_sum_double, &haul_sum_float, &haul_sum_int, &haul_sum_unsigned},
        {&haul_min_double, &haul_min_float, &haul_min_int, &haul_min_unsigned},
        {&haul_max_double, &haul_max_float, &haul_max_int, &haul_max_unsigned},
    };
    return folds[use->reduction - HAUL_ACCESS_SUM][use->number];
}

haul_rows haul_rows_of(const haul_step *step, const haul_field_use *use, uint64_t *count)
{
    const haul_box box = haul_box_moved(step->box, step->outer, step->first);
    const int dims = step->outer + 1, first = haul_row_first(box, dims);
    const int64_t width = haul_row_end(box, dims) - first;
    const int64_t planes = dims == 3 ? box.hi[2] - box.lo[2] : 1;
    *count = width > 0 && planes > 0 ? (uint64_t)(width * planes) : 0;
    return (haul_rows){
        .identity = identity_of(use),
        .width = (long)width,
        .origin = (long)(dims == 3 ? box.lo[2] * width + first : first),
    };
}

haul_box haul_row_groups(const haul_box *box, int dims)
{
    const int rows = haul_row_end(*box, dims) - haul_row_first(*box, dims);
    haul_box groups = {{0}, {1, (rows + HAUL_GROUP_ROWS - 1) / HAUL_GROUP_ROWS, 1}};
    if (dims == 3)
        groups.hi[2] = box->hi[2] - box->lo[2];
    return groups;
}

static uint64_t parts_of(uint64_t rows)
{
    return (rows + FOLD - 1) / FOLD;
}

/* The rows' results, and behind them those of FOLD rows each, all as if no row had been. */
void *haul_rows_new(const haul_step *step, const haul_field_use *use, uint64_t *bytes)
{
    uint64_t count;
    const double identity = haul_rows_of(step, use, &count).identity;
    const uint64_t all = count + parts_of(count) + 1, element = use->field->element;
    char *rows = malloc(all * element);
    for (uint64_t i = 0; rows && i < all; i++)
        set_number(rows + i * element, identity, use->number);
    *bytes = all * element;
    return rows;
}

/* Both folds on the host; behind the rows is room for those of FOLD rows each. */
static void fold_on_host(const haul_field_use *use, void *rows, uint64_t count)
{
    const haul_kernel_source *source = fold_of(use);
    const uint64_t parts = parts_of(count);
    char *partial = (char *)rows + count * use->field->element;
    fold_shape shape = {(long)count, identity_of(use)};
    haul_box groups = {{0}, {(int)parts, 1, 1}};
    source->host(&groups, &groups, (void *const[]){rows, partial, &shape});
    shape.count = (long)parts;
    groups.hi[0] = 1;
    source->host(&groups, &groups, (void *const[]){partial, use->field->host, &shape});
}

void haul_rows_fold(const haul_step *step, const haul_field_use *use, void *rows)
{
    uint64_t count;
    (void)haul_rows_of(step, use, &count);
    fold_on_host(use, rows, count);
}

/* In the order of ranks. A process without cells of the box gives the identity. */
haul_status haul_rows_combine(const haul_step *step, haul_error *error)
{
    const haul_box *box = &step->box;
    haul_status status = HAUL_OK;
    for (unsigned u = 0; u < step->use_count && !status; u++) {
        const haul_field_use *use = &step->uses[u];
        haul_field *field = use->field;
        const haul_processes *processes = field->context->options.processes;
        const uint64_t count = (uint64_t)processes->count;
        if (!use->reduction)
            continue;
        const bool is_empty = box->lo[step->outer] >= box->hi[step->outer];
        status = haul_part_fetch(field, 0, !is_empty, error);
        if (is_empty)
            set_number(field->host, identity_of(use), use->number);
        char *rows = malloc((count + parts_of(count)) * field->element);
        if (!status && !rows)
            status = haul_fail_no_memory(error);
        if (!status)
            status = haul_tile_gather(field->context, field->host, field->element, rows, error);
        if (!status) {
            fold_on_host(use, rows, count);
            field->parts[0] = (haul_part){.on_host = true};
        }
        free(rows);
    }
    return status;
}

/* Device memory for the rows of a step, kept for the next loop of the same size. */
haul_status haul_rows_ensure(haul_context *context, const haul_step *step, haul_error *error)
{
    haul_status status = HAUL_OK;
    for (unsigned u = 0; u < step->use_count && !status; u++) {
        const haul_field_use *use = &step->uses[u];
        haul_field *field = use->field;
        if (!use->reduction ||
            (field->rows && field->rows_of == step->source && field->rows_use == u &&
             !memcmp(&field->rows_box, &step->box, sizeof step->box)))
            continue;
        uint64_t bytes;
        void *rows = haul_rows_new(step, use, &bytes);
        haul_buffer_free(field->rows);
        field->rows = NULL;
        if (!rows)
            return haul_fail_no_memory(error);
        status = haul_buffer_new(context->device, HAUL_BUFFER_DEVICE, bytes, &field->rows, error);
        if (!status)
            status = haul_tile_upload(context, field->rows, rows, bytes, error);
        free(rows);
        field->rows_of = step->source;
        field->rows_use = u;
        field->rows_box = step->box;
    }
    return status;
}

static haul_status fold(haul_context *context, const haul_field_use *use, uint64_t count,
                        bool is_last, haul_error *error)
{
    const haul_field *field = use->field;
    const uint64_t parts = parts_of(count), rows = is_last ? parts : count;
    const fold_shape shape = {(long)rows, identity_of(use)};
    const haul_argument arguments[] = {
        {.buffer = field->rows, .offset = is_last ? count * field->element : 0},
        {.buffer = is_last ? field->ring : field->rows,
         .offset = is_last ? 0 : count * field->element},
        {.value = &shape},
    };
    const haul_launch launch = {
        .box = {{0}, {is_last ? 1 : (int)parts, 1, 1}},
        .arguments = arguments,
        .argument_count = 3,
        .bytes = 2.0 * (double)(rows * field->element),
    };
    return haul_tile_launch(context, fold_of(use), &launch, error);
}

haul_status haul_rows_fold_on_device(haul_context *context, const haul_step *step,
                                     haul_error *error)
{
    haul_status status = HAUL_OK;
    for (unsigned u = 0; u < step->use_count && !status; u++) {
        uint64_t count;
        if (!step->uses[u].reduction)
            continue;
        (void)haul_rows_of(step, &step->uses[u], &count);
        status = fold(context, &step->uses[u], count, false, error);
        if (!status)
            status = fold(context, &step->uses[u], count, true, error);
    }
    return status;
}

/* A loop over no cells. */
haul_status haul_rows_none(const haul_step *step, haul_error *error)
{
    haul_status status = HAUL_OK;
    for (unsigned u = 0; u < step->use_count && !status; u++) {
        const haul_field_use *use = &step->uses[u];
        haul_array result = {use->field->context, use->field};
        haul_region region;
        if (!use->reduction)
            continue;
        status = haul_array_access(&result, 0, HAUL_USE_WRITE, &region, error);
        if (!status && region.cells)
            set_number(region.cells, identity_of(use), use->number);
    }
    return status;
}
