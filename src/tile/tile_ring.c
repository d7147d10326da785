/* Device memory of arrays: each has a ring of planes, of the whole array or of its share of the
 * budget. */
#include "base/fail.h"
#include "haul/device_backend.h"
#include "tile/tile_pass.h"

/* Bytes; below them no smaller budget is tried. */
enum { LEAST_BUDGET = 4096 };

/* Brings all arrays home and gives their device memory back. */
static haul_status drop_rings(haul_context *context, haul_error *error)
{
    haul_status status = HAUL_OK;
    for (hl_tile_field *field = context->memory.fields; field && !status; field = field->next) {
        for (int i = 0; i < field->part_count && !status && !field->is_wrapped; i++) {
            if (field->parts[i].on_device)
                status = hl_tile_part_fetch(field, i, true, error);
            field->parts[i].on_device = false;
        }
        if (status || !field->ring || field->is_wrapped)
            continue;
        context->memory.device_bytes -= haul_buffer_bytes(field->ring);
        haul_buffer_free(field->ring);
        field->ring = NULL;
    }
    return status;
}

/* Regions are divided anew only of arrays that are on one side: one that the program keeps on the
 * device is there, or all of it comes home. */
static haul_status gather_wrapped(haul_context *context, haul_error *error)
{
    haul_status status = HAUL_OK;
    for (hl_tile_field *field = context->memory.fields; field && !status; field = field->next) {
        if (!field->is_wrapped || !field->parts)
            continue;
        field->starts_on_device = true;
        for (int i = 0; i < field->part_count; i++)
            field->starts_on_device = field->starts_on_device && field->parts[i].on_device;
        for (int i = 0; i < field->part_count && !status && !field->starts_on_device; i++) {
            status = hl_tile_part_fetch(field, i, true, error);
            field->parts[i].on_device = false;
        }
    }
    return status;
}

/* All choices come before the rings, which are made as they say. Regions are chosen only while no
 * array is on the device: they would not fit rings that are there. */
static haul_status choose_and_make(haul_context *context, hl_tile_step *steps, size_t count,
                                   unsigned *fused, haul_error *error)
{
    bool has_rings = false;
    for (const hl_tile_field *field = context->memory.fields; field; field = field->next)
        has_rings = has_rings || (field->ring && !field->is_wrapped);
    if (!has_rings)
        HAUL_TRY(gather_wrapped(context, error));
    const int region = has_rings ? 0 : hl_tile_region_choose(&context->choice, steps, count);
    if (region)
        hl_tile_fields_join(&context->memory, region);
    HAUL_TRY(hl_tile_fields_divide(&context->memory, error));
    if (fused)
        *fused = hl_tile_fused_choose(&context->choice, steps, count);
    /* A ring has as many planes as the budget gives its array. */
    for (hl_tile_field *field = context->memory.fields; field; field = field->next) {
        if (field->ring || !field->part_count)
            continue;
        const int planes = hl_tile_ring_planes(&context->memory, field);
        const uint64_t bytes = hl_tile_ring_bytes(&context->memory, field);
        if (planes < 1 && (field->dims < 3 || bytes < (uint64_t)field->row * field->element))
            return haul_error_set(error, HAUL_STATUS_DEVICE_FULL,
                                  "%llu bytes of device memory hold no row of each array",
                                  (unsigned long long)context->memory.budget);
        HAUL_TRY(haul_buffer_new(context->memory.device, HAUL_BUFFER_DEVICE, bytes, &field->ring,
                                 error));
        field->planes = planes;
        context->memory.device_bytes += haul_buffer_bytes(field->ring);
    }
    for (size_t i = 0; i < count; i++)
        HAUL_TRY(hl_tile_rows_ensure(context, &steps[i], error));
    return HAUL_OK;
}

/* Rings for all arrays, with less memory where the device has not what was asked for. */
haul_status hl_tile_rings_ensure(haul_context *context, hl_tile_step *steps, size_t count,
                                 unsigned *fused, haul_error *error)
{
    bool is_missing = false, is_tight = false;
    uint64_t needed = 0;
    for (const hl_tile_field *field = context->memory.fields; field; field = field->next) {
        const bool is_short = field->ring && field->is_needed_whole &&
                              !hl_tile_field_is_all_there(field) &&
                              hl_tile_ring_planes(&context->memory, field) > field->planes;
        is_missing = is_missing || (field->part_count && !field->ring) || is_short;
        is_tight = is_tight || (field->ring && !hl_tile_field_is_all_there(field));
        needed += field->is_wrapped ? 0 : field->host_bytes;
    }
    if (!is_missing) {
        if (fused)
            *fused = hl_tile_fused_choose(&context->choice, steps, count);
        return HAUL_OK;
    }
    haul_status status = HAUL_OK;
    if (is_tight || needed > context->memory.budget)
        status = drop_rings(context, error);
    if (!status)
        status = choose_and_make(context, steps, count, fused, error);
    while (status == HAUL_STATUS_DEVICE_FULL && context->memory.budget > LEAST_BUDGET) {
        context->memory.ran_out_at = context->memory.budget;
        context->memory.budget -= context->memory.budget / 4;
        status = drop_rings(context, error);
        if (!status)
            status = choose_and_make(context, steps, count, fused, error);
    }
    return status;
}
