/* Reductions on the device. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "haul/device_backend.h"
#include "tile/tile_pass.h"

/* Device memory for the rows of a step, kept for the next loop of the same size. */
haul_status hl_tile_rows_ensure(haul_context *context, const hl_tile_step *step, haul_error *error)
{
    haul_status status = HAUL_OK;
    for (unsigned u = 0; u < step->use_count && !status; u++) {
        const hl_tile_field_use *use = &step->uses[u];
        hl_tile_field *field = use->field;
        if (!use->reduction ||
            (field->rows && field->rows_of == step->source && field->rows_use == u &&
             !memcmp(&field->rows_box, hl_tile_rows_box(step), sizeof step->box)))
            continue;
        uint64_t bytes;
        void *rows = hl_tile_rows_new(step, use, &bytes);
        haul_buffer_free(field->rows);
        field->rows = NULL;
        if (!rows)
            return hl_base_fail_no_memory(error);
        status =
            haul_buffer_new(context->memory.device, HAUL_BUFFER_DEVICE, bytes, &field->rows, error);
        if (!status)
            status = hl_tile_upload(context, field->rows, rows, bytes, error);
        free(rows);
        if (status) {
            haul_buffer_free(field->rows);
            field->rows = NULL;
            return status;
        }
        field->rows_of = step->source;
        field->rows_use = u;
        field->rows_box = *hl_tile_rows_box(step);
    }
    return status;
}

static haul_status fold_rows(haul_context *context, const hl_tile_field_use *use, uint64_t count,
                             bool is_last, haul_error *error)
{
    const hl_tile_field *field = use->field;
    const uint64_t parts = hl_tile_fold_parts(count), rows = is_last ? parts : count;
    const hl_tile_fold shape = {(long)rows, hl_tile_fold_identity(use)};
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
    return hl_tile_launch(context, hl_tile_fold_of(use), &launch, error);
}

haul_status hl_tile_rows_fold_on_device(haul_context *context, const hl_tile_step *step,
                                        haul_error *error)
{
    for (unsigned u = 0; u < step->use_count; u++) {
        uint64_t count;
        if (!step->uses[u].reduction)
            continue;
        (void)hl_tile_rows_of(step, &step->uses[u], &count);
        HAUL_TRY(fold_rows(context, &step->uses[u], count, false, error));
        HAUL_TRY(fold_rows(context, &step->uses[u], count, true, error));
    }
    return HAUL_OK;
}

/* The results have passed with the fold: waits for them are to include it. */
haul_status hl_tile_cut_fold(haul_context *context, const hl_tile_step *steps, size_t count,
                             haul_error *error)
{
    for (size_t i = 0; i < count; i++) {
        HAUL_TRY(hl_tile_rows_fold_on_device(context, &steps[i], error));
        for (unsigned u = 0; u < steps[i].use_count; u++) {
            const hl_tile_field_use *use = &steps[i].uses[u];
            if (use->reduction && use->field->parts[0].passed)
                HAUL_TRY(hl_tile_record(context, context->streams.run, use->field->parts[0].passed,
                                        error));
        }
    }
    return HAUL_OK;
}

/* Of a row that is in both, the device had the first cells. */
static haul_status join_row(haul_context *context, const hl_tile_field_use *use, uint64_t row,
                            char *rows, haul_error *error)
{
    const uint64_t element = use->field->element;
    char first[sizeof(double)];
    const haul_transfer transfer = {.to = haul_in_host(first),
                                    .from = haul_in_buffer(use->field->rows, row * element),
                                    .size = {element}};
    HAUL_TRY(hl_tile_copy(context, context->streams.run, &transfer, error));
    HAUL_TRY(hl_tile_host_wait(context, context->streams.run, error));
    if (!context->memory.without_data)
        hl_tile_fold_pair(use, first, rows + row * element);
    return HAUL_OK;
}

haul_status hl_tile_cut_join(haul_context *context, const hl_tile_step *step, int border,
                             const hl_tile_cut_loop *cut, haul_error *error)
{
    const int first = border - step->skew;
    const int outer = step->outer, lo = step->box.lo[outer], hi = step->box.hi[outer];
    hl_tile_step before = *step;
    before.box.hi[outer] = first < lo ? lo : first < hi ? first : hi;
    const int end = before.box.hi[outer] + step->first;
    const bool is_cut = !outer && end > lo + step->first && end < hi + step->first &&
                        haul_row_at(end - 1) == haul_row_at(end);
    for (unsigned u = 0; u < step->use_count; u++) {
        const hl_tile_field_use *use = &step->uses[u];
        const uint64_t element = use->field->element;
        uint64_t count, at = 0;
        if (!use->reduction)
            continue;
        (void)hl_tile_rows_of(step, use, &count);
        if (before.box.hi[outer] > lo)
            (void)hl_tile_rows_of(&before, use, &at);
        at -= is_cut;
        if (is_cut)
            HAUL_TRY(join_row(context, use, at, cut->rows[u], error));
        const haul_transfer transfer = {.to = haul_in_buffer(use->field->rows, at * element),
                                        .from =
                                            haul_in_host((const char *)cut->rows[u] + at * element),
                                        .size = {(count - at) * element}};
        if (at < count)
            HAUL_TRY(hl_tile_copy(context, context->streams.run, &transfer, error));
    }
    return step->source && step->source->reduces
               ? hl_tile_host_wait(context, context->streams.run, error)
               : HAUL_OK;
}
