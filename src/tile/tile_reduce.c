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
             !memcmp(&field->rows_box, &step->box, sizeof step->box)))
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
        field->rows_box = step->box;
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
