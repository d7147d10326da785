/* Cells beyond the edges of arrays: set where the data is. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "haul/device_backend.h"
#include "tile/tile_ghost.kernel.h"
#include "tile/tile_parts.h"

/* Kernels count planes from base on, and go round after `planes` of them. */
haul_view haul_field_view(const haul_field *field, int first, bool on_device)
{
    const int planes = on_device ? field->planes : field->length + 2 * field->edge;
    int base = -field->edge;
    if (on_device) { /* the multiple of the ring that is not above `first` */
        base = first / planes * planes;
        base -= base > first ? planes : 0;
    }
    if (!on_device || !field->window_rows)
        return (haul_view){(long)field->plane, (long)field->row, base, planes, 0};
    const long plane = (long)(field->slot_bytes / field->element);
    return (haul_view){plane, (long)field->row, base, planes, (long)haul_window_origin(field)};
}

/* The index within a dimension that a cell beyond its edge is set from. */
static int source_of(const haul_field *field, int d, int index)
{
    const int size = field->size[d];
    if (index >= 0 && index < size)
        return index;
    if (field->boundary[d] == HAUL_BOUNDARY_FIXED)
        return index;
    if (field->boundary[d] == HAUL_BOUNDARY_PERIODIC)
        return index < 0 ? index + size : index - size;
    return index < 0 ? 0 : size - 1;
}

static char *row_of(const haul_field *field, int plane, int row)
{
    return field->host + haul_field_offset(field, plane) +
           (uint64_t)(field->lead + row * field->row) * field->element;
}

/* The cells left and right of a row. */
static void set_row(const haul_field *field, char *row)
{
    const int64_t element = (int64_t)field->element;
    for (int k = 1; k <= field->ghost[0]; k++) {
        const int places[2] = {-k, field->size[0] - 1 + k};
        for (int side = 0; side < 2; side++) {
            const int from = source_of(field, 0, places[side]);
            if (from != places[side])
                memcpy(row + places[side] * element, row + from * element, (size_t)element);
        }
    }
}

/* With the cells left and right of the row: its corners are set already. */
static void copy_row(const haul_field *field, int into, int into_row, int from, int from_row)
{
    const int ghost = field->ghost[0];
    const size_t bytes = (size_t)(field->size[0] + 2 * ghost) * field->element;
    const uint64_t left = (uint64_t)ghost * field->element;
    if (into != from || into_row != from_row)
        memcpy(row_of(field, into, into_row) - left, row_of(field, from, from_row) - left, bytes);
}

void haul_ghost_range(const haul_field *field, int d, int *lo, int *hi)
{
    if (field->boundary[d] != HAUL_BOUNDARY_FIXED)
        return;
    *hi += *hi == field->size[d] ? field->ghost[d] : 0;
    *lo -= *lo == 0 ? field->ghost[d] : 0;
}

/* The rows of one plane, and those beyond the plane's edges that are set from them. */
static void set_plane(const haul_field *field, int plane, int lo, int hi)
{
    const int size = field->size[1], ghost = field->ghost[1];
    int first = lo, end = hi;
    haul_ghost_range(field, 1, &first, &end);
    for (int y = first; y < end; y++)
        set_row(field, row_of(field, plane, y));
    for (int k = 1; k <= ghost; k++) {
        const int below = source_of(field, 1, -k), above = source_of(field, 1, size - 1 + k);
        if (below >= lo && below < hi)
            copy_row(field, plane, -k, plane, below);
        if (above >= lo && above < hi)
            copy_row(field, plane, size - 1 + k, plane, above);
    }
}

/* A plane beyond the edge, as far as it is set from planes [lo[0], hi[0]). */
static void set_outer(const haul_field *field, int plane, const int lo[2], const int hi[2])
{
    const int outer = field->dims - 1, from = source_of(field, outer, plane);
    if (from == plane || from < lo[0] || from >= hi[0])
        return;
    if (field->dims == 1) {
        memcpy(field->host + haul_field_offset(field, plane),
               field->host + haul_field_offset(field, from), field->element);
    } else if (field->dims == 2) {
        copy_row(field, plane, 0, from, 0);
    } else {
        const int first = lo[1] == 0 ? -field->ghost[1] : lo[1];
        const int end = hi[1] == field->size[1] ? hi[1] + field->ghost[1] : hi[1];
        for (int y = first; y < end; y++)
            copy_row(field, plane, y, from, y);
    }
}

void haul_ghosts_on_host(haul_field *field, const int lo[2], const int hi[2])
{
    int first = lo[0], end = hi[0];
    haul_ghost_range(field, field->dims - 1, &first, &end);
    for (int plane = first; plane < end; plane++) {
        if (field->dims == 3)
            set_plane(field, plane, lo[1], hi[1]);
        else if (field->dims == 2)
            set_row(field, row_of(field, plane, 0));
    }
    for (int k = 1; k <= field->edge; k++) {
        set_outer(field, -k, lo, hi);
        set_outer(field, field->length - 1 + k, lo, hi);
    }
}

/* Cells of a plane beyond its edges. */
static int list_cells(const haul_field *field, int *list)
{
    int count = 0;
    if (field->dims == 1)
        return 0;
    const int rows = field->dims == 3 ? field->size[1] : 1;
    const int beyond = field->dims == 3 ? field->ghost[1] : 0;
    for (int y = -beyond; y < rows + beyond; y++)
        for (int x = -field->ghost[0]; x < field->size[0] + field->ghost[0]; x++) {
            if (y >= 0 && y < rows && x == 0)
                x = field->size[0];
            if (y >= 0 && y < rows && x >= field->size[0] + field->ghost[0])
                break;
            if (list) {
                const int from_x = source_of(field, 0, x);
                const int from_y = field->dims == 3 ? source_of(field, 1, y) : y;
                list[2 * (size_t)count] = (int)(field->lead + y * field->row + x);
                list[2 * (size_t)count + 1] = (int)(field->lead + from_y * field->row + from_x);
            }
            count++;
        }
    return count;
}

haul_status haul_tile_upload(haul_context *context, haul_buffer *buffer, const void *from,
                             uint64_t bytes, haul_error *error)
{
    const haul_transfer transfer = {
        .to = haul_in_buffer(buffer, 0), .from = haul_in_host(from), .size = {bytes}};
    haul_status status = haul_tile_copy(context, context->run, &transfer, error);
    if (!status)
        status = haul_stream_wait(context->run, error);
    return status;
}

static haul_status make_buffer(haul_context *context, uint64_t bytes, haul_buffer **buffer,
                               haul_error *error)
{
    if (*buffer || !bytes)
        return HAUL_OK;
    return haul_buffer_new(context->device, HAUL_BUFFER_DEVICE, bytes, buffer, error);
}

/* Whether cells within planes keep values of their own, which no other cell on the device has.
 * Planes beyond the edges are brought with their region. */
static bool has_fixed(const haul_field *field)
{
    bool is_fixed = false;
    for (int d = 0; d + 1 < field->dims; d++)
        is_fixed = is_fixed || (field->ghost[d] && field->boundary[d] == HAUL_BOUNDARY_FIXED);
    return is_fixed;
}

/* The frame is sent as a whole when the host has changed it: fixed cells are few and change
 * rarely. */
static haul_status send_frame(haul_field *field, const int *list, haul_error *error)
{
    const uint64_t planes = (uint64_t)field->length + 2 * (uint64_t)field->edge;
    const uint64_t row = (uint64_t)field->ghost_count * field->element, bytes = planes * row;
    haul_status status = make_buffer(field->context, bytes, &field->frame, error);
    char *frame = status ? NULL : malloc(bytes);
    if (!frame)
        return status ? status : haul_fail_no_memory(error);
    for (uint64_t p = 0; p < planes && !field->context->without_data; p++)
        for (int i = 0; i < field->ghost_count; i++)
            memcpy(frame + p * row + (uint64_t)i * field->element,
                   field->host + p * field->plane_bytes +
                       (uint64_t)list[2 * (size_t)i] * field->element,
                   field->element);
    status = haul_tile_upload(field->context, field->frame, frame, bytes, error);
    free(frame);
    return status;
}

/* The list depends on the shape alone and is sent once. */
haul_status haul_ghosts_prepare(haul_field *field, haul_error *error)
{
    const bool needs_frame = has_fixed(field) && field->frame_stale;
    if (field->window_rows || (field->ghost_list && !needs_frame))
        return HAUL_OK;
    field->ghost_count = list_cells(field, NULL);
    if (!field->ghost_count)
        return HAUL_OK;
    const uint64_t bytes = 2 * (uint64_t)field->ghost_count * sizeof(int);
    int *list = malloc(bytes);
    if (!list)
        return haul_fail_no_memory(error);
    list_cells(field, list);
    haul_status status = HAUL_OK;
    if (!field->ghost_list) {
        status = make_buffer(field->context, bytes, &field->ghost_list, error);
        if (!status)
            status = haul_tile_upload(field->context, field->ghost_list, list, bytes, error);
    }
    if (!status && needs_frame) {
        status = send_frame(field, list, error);
        field->frame_stale = status != HAUL_OK;
    }
    free(list);
    return status;
}

haul_status haul_ghosts_on_device(haul_field *field, int first, int end, bool from_frame,
                                  haul_error *error)
{
    static const haul_kernel_source *const kernels[2][3] = {
        {&haul_ghost_copy_8, &haul_ghost_copy_4, &haul_ghost_copy_1},
        {&haul_ghost_put_8, &haul_ghost_put_4, &haul_ghost_put_1},
    };
    haul_context *context = field->context;
    if (first >= end || !field->ghost_count || (from_frame && !field->frame))
        return HAUL_OK;
    /* in the largest unit that divides an element: one kernel then serves elements of any type */
    const int which = field->element % 8 == 0 ? 0 : field->element % 4 == 0 ? 1 : 2;
    const int unit = which == 0 ? 8 : which == 1 ? 4 : 1;
    ghost_shape shape = {
        .view = haul_field_view(field, first, true),
        .units = (int)(field->element / (unsigned)unit),
        .count = field->ghost_count,
        .edge = field->edge,
    };
    shape.view.plane *= shape.units;
    haul_argument arguments[4] = {{.buffer = field->ring}, {.buffer = field->ghost_list}};
    size_t count = 2;
    if (from_frame)
        arguments[count++] = (haul_argument){.buffer = field->frame};
    arguments[count++] = (haul_argument){.value = &shape};
    const double bytes = 2.0 * (end - first) * field->ghost_count * (double)field->element;
    const haul_launch launch = {
        .box = {{0, first, 0}, {field->ghost_count, end, 1}},
        .arguments = arguments,
        .argument_count = count,
        .bytes = bytes,
    };
    return haul_tile_launch(context, kernels[from_frame][which], &launch, error);
}
