/* Cells beyond the edges of arrays on the device. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "haul/device_backend.h"
#include "tile/tile_ghost.kernel.h"
#include "tile/tile_pass.h"

haul_status hl_tile_upload(haul_context *context, haul_buffer *buffer, const void *from,
                           uint64_t bytes, haul_error *error)
{
    const haul_transfer transfer = {
        .to = haul_in_buffer(buffer, 0), .from = haul_in_host(from), .size = {bytes}};
    HAUL_TRY(hl_tile_copy(context, context->streams.run, &transfer, error));
    return hl_tile_host_wait(context, context->streams.run, error);
}

static haul_status make_buffer(haul_context *context, uint64_t bytes, haul_buffer **buffer,
                               haul_error *error)
{
    if (*buffer || !bytes)
        return HAUL_OK;
    return haul_buffer_new(context->memory.device, HAUL_BUFFER_DEVICE, bytes, buffer, error);
}

/* The frame is sent as a whole when the host has changed it: fixed cells are few and change
 * rarely. */
static haul_status send_frame(hl_tile_field *field, const int *list, haul_error *error)
{
    const uint64_t planes = (uint64_t)field->length + 2 * (uint64_t)field->edge;
    const uint64_t row = (uint64_t)field->ghost_count * field->element, bytes = planes * row;
    HAUL_TRY(make_buffer(field->context, bytes, &field->frame, error));
    char *frame = malloc(bytes);
    if (!frame)
        return hl_base_fail_no_memory(error);
    for (uint64_t p = 0; p < planes && !field->context->memory.without_data; p++)
        for (int i = 0; i < field->ghost_count; i++)
            memcpy(frame + p * row + (uint64_t)i * field->element,
                   field->host + p * field->plane_bytes +
                       (uint64_t)list[2 * (size_t)i] * field->element,
                   field->element);
    const haul_status status = hl_tile_upload(field->context, field->frame, frame, bytes, error);
    free(frame);
    return status;
}

/* The list depends on the shape alone and is sent once. */
haul_status hl_tile_ghosts_prepare(hl_tile_field *field, haul_error *error)
{
    /* Cells within planes may keep values of their own, which no other cell on the device has.
     * Planes beyond the edges are brought with their region. */
    bool is_fixed = false;
    for (int d = 0; d + 1 < field->dims; d++)
        is_fixed = is_fixed || (field->ghost[d] && field->boundary[d] == HAUL_BOUNDARY_FIXED);
    const bool needs_frame = is_fixed && field->frame_stale;
    if (field->window_rows || (field->ghost_list && !needs_frame))
        return HAUL_OK;
    field->ghost_count = hl_tile_ghost_list(field, NULL);
    if (!field->ghost_count)
        return HAUL_OK;
    const uint64_t bytes = 2 * (uint64_t)field->ghost_count * sizeof(int);
    int *list = malloc(bytes);
    if (!list)
        return hl_base_fail_no_memory(error);
    hl_tile_ghost_list(field, list);
    haul_status status = HAUL_OK;
    if (!field->ghost_list) {
        status = make_buffer(field->context, bytes, &field->ghost_list, error);
        if (!status)
            status = hl_tile_upload(field->context, field->ghost_list, list, bytes, error);
        if (status) {
            haul_buffer_free(field->ghost_list);
            field->ghost_list = NULL;
        }
    }
    if (!status && needs_frame) {
        status = send_frame(field, list, error);
        field->frame_stale = status != HAUL_OK;
    }
    free(list);
    return status;
}

haul_status hl_tile_ghosts_on_device(hl_tile_field *field, hl_tile_planes run, bool from_frame,
                                     haul_error *error)
{
    static const haul_kernel_source *const kernels[2][3] = {
        {&hl_tile_ghost_copy_8, &hl_tile_ghost_copy_4, &hl_tile_ghost_copy_1},
        {&hl_tile_ghost_put_8, &hl_tile_ghost_put_4, &hl_tile_ghost_put_1},
    };
    haul_context *context = field->context;
    if (run.first >= run.end || !field->ghost_count || (from_frame && !field->frame))
        return HAUL_OK;
    /* in the largest unit that divides an element: one kernel then serves elements of any type */
    const int which = field->element % 8 == 0 ? 0 : field->element % 4 == 0 ? 1 : 2;
    const int unit = which == 0 ? 8 : which == 1 ? 4 : 1;
    ghost_shape shape = {
        .view = hl_tile_field_view(field, run.first + run.shift, true),
        .units = (int)(field->element / (unsigned)unit),
        .count = field->ghost_count,
        .edge = field->edge,
    };
    shape.view.plane *= shape.units;
    shape.view.base -= run.shift;
    haul_argument arguments[4] = {{.buffer = field->ring}, {.buffer = field->ghost_list}};
    size_t count = 2;
    if (from_frame)
        arguments[count++] = (haul_argument){.buffer = field->frame};
    arguments[count++] = (haul_argument){.value = &shape};
    const double bytes = 2.0 * (run.end - run.first) * field->ghost_count * (double)field->element;
    const haul_launch launch = {
        .box = {{0, run.first, 0}, {field->ghost_count, run.end, 1}},
        .arguments = arguments,
        .argument_count = count,
        .bytes = bytes,
    };
    return hl_tile_launch(context, kernels[from_frame][which], &launch, error);
}
