/* Arrays that others use on the device, and kernels that the program compiled:
 * haul_array_access_device, haul_context_use_kernel. */
#include "base/fail.h"
#include "haul/device_backend.h"
#include "tile/tile_calls.h"

/* Device memory for all of the array, before others. */
static haul_status hold_whole(hl_tile_field *field, haul_error *error)
{
    haul_context *context = field->context;
    field->is_needed_whole = true;
    HAUL_TRY(hl_tile_rings_ensure(context, NULL, 0, NULL, error));
    if (field->part_count && !hl_tile_field_is_all_there(field))
        return haul_error_set(error, HAUL_STATUS_DEVICE_FULL,
                              "the device cannot hold all of an array of %llu bytes: of %llu bytes "
                              "for arrays it has %llu",
                              (unsigned long long)field->host_bytes,
                              (unsigned long long)context->memory.budget,
                              (unsigned long long)haul_buffer_bytes(field->ring));
    return HAUL_OK;
}

/* The program's from now on: what the host has, and the cells beyond the edges, are stale. */
static void give(hl_tile_field *field, haul_use use)
{
    for (int i = 0; i < field->part_count; i++) {
        field->parts[i].on_device = true;
        field->parts[i].shift = 0;
        field->parts[i].on_host = field->parts[i].on_host && !(use & HAUL_USE_WRITE);
    }
    field->is_discarded = field->is_discarded && !(use & HAUL_USE_WRITE);
    field->ghosts_stale = field->ghosts_stale || use & HAUL_USE_WRITE;
}

haul_status hl_tile_field_lend(hl_tile_field *field, haul_use use, haul_error *error)
{
    bool has_ghosts = false;
    for (int d = 0; d < field->dims; d++)
        has_ghosts = has_ghosts || field->ghost[d];
    if (field->planes_stale)
        HAUL_TRY(hl_tile_planes_wrap(field, error));
    if (use & HAUL_USE_READ || has_ghosts)
        HAUL_TRY(hl_tile_field_bring(field, error));
    HAUL_TRY(hl_tile_field_settle(field, error));
    give(field, use);
    return HAUL_OK;
}

static haul_status lend_on_device(hl_tile_field *field, haul_use use, haul_device_cells *cells,
                                  haul_error *error)
{
    HAUL_TRY(hl_tile_fields_divide(field->memory, error));
    HAUL_TRY(hold_whole(field, error));
    HAUL_TRY(hl_tile_field_lend(field, use, error));
    cells->buffer = field->ring;
    cells->memory = field->ring ? haul_buffer_native(field->ring) : NULL;
    return HAUL_OK;
}

haul_status haul_array_access_device(haul_array *array, haul_use use, haul_device_cells *cells,
                                     haul_error *error)
{
    haul_context *context = array->context;
    hl_tile_field *field = array->field;
    haul_device_cells got = {.memory = NULL};
    haul_region all;
    if (use < HAUL_USE_READ || use > HAUL_USE_BOTH)
        return haul_error_set(error, HAUL_STATUS_USAGE, "unknown use %d of an array", (int)use);
    if (array->of || context->options.processes || context->is_checked ||
        context->memory.without_data)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "an array is given to the program on one device with data, where no "
                              "loops are checked");
    /* on the host regions are the array's memory: each is accessed, so that what it sets counts */
    for (int i = 0; context->memory.is_host && i < haul_array_regions(array); i++)
        HAUL_TRY(haul_array_access(array, i, use, &all, error));
    HAUL_TRY(hl_tile_queue_run(context, error));
    if (use & HAUL_USE_READ)
        HAUL_TRY(hl_tile_failure_take(&field->failure, error));
    if (context->memory.is_host)
        got.memory = field->host;
    else
        HAUL_TRY(lend_on_device(field, use, &got, error));
    got.first = field->edge * field->plane + field->lead;
    got.row = field->row;
    got.plane = field->plane;
    *cells = got;
    return HAUL_OK;
}

/* Loops that are queued run with the kernel that they were queued for. */
haul_status haul_context_use_kernel(haul_context *context, haul_kernel *kernel, haul_error *error)
{
    const haul_kernel_source *source = kernel->source;
    if (context->team)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "a kernel of one device for a context of several");
    if (kernel->device != context->memory.device)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "kernel '%s' is of another device '%s' than its context's '%s'",
                              source->name, kernel->device->name, context->memory.device->name);
    if (!source->host)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "kernel '%s' has no function for the host, which loops have",
                              source->name);
    HAUL_TRY(hl_tile_queue_run(context, error));
    return hl_tile_kernel_put(&context->kernels, kernel, error);
}
