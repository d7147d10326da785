/* Device memory of arrays: each has a ring of planes, of the whole array or of its share of the
 * budget. */
#include "base/fail.h"
#include "haul/device_backend.h"
#include "tile/tile_parts.h"

/* Bytes; below them no smaller budget is tried. */
enum { LEAST_BUDGET = 4096 };

/* Bytes for all of a field's planes, or of its share of what is left to those that do not fit. An
 * array no larger than a plane of another is there wholly: loops over that one may read any of it.
 */
static uint64_t ring_bytes(const haul_context *context, const haul_field *field)
{
    uint64_t plane_bytes = 0, largest = 0, left = context->budget;
    for (const haul_field *other = context->fields; other; other = other->next) {
        plane_bytes += other->host_bytes ? other->plane_bytes : 0;
        largest = other->plane_bytes > largest ? other->plane_bytes : largest;
    }
    for (const haul_field *other = context->fields; other; other = other->next) {
        const uint64_t planes = (uint64_t)other->length + 2 * (uint64_t)other->edge;
        const bool is_small = other->host_bytes <= largest && other->host_bytes <= left / 2;
        if (!other->host_bytes || !plane_bytes || (planes > left / plane_bytes && !is_small))
            continue;
        if (other == field)
            return planes * field->plane_bytes;
        left -= planes * other->plane_bytes;
        plane_bytes -= other->plane_bytes;
    }
    return plane_bytes ? (uint64_t)((double)left / (double)plane_bytes * (double)field->plane_bytes)
                       : 0;
}

int haul_ring_planes(const haul_context *context, const haul_field *field)
{
    const uint64_t all = (uint64_t)field->length + 2 * (uint64_t)field->edge;
    const uint64_t planes =
        field->plane_bytes ? ring_bytes(context, field) / field->plane_bytes : 0;
    return (int)(planes < all ? planes : all);
}

/* A ring has as many planes as the budget gives its array. */
static haul_status make_rings(haul_context *context, haul_error *error)
{
    for (haul_field *field = context->fields; field; field = field->next) {
        if (field->ring || !field->part_count)
            continue;
        const int planes = haul_ring_planes(context, field);
        const uint64_t bytes = ring_bytes(context, field);
        if (planes < 1 && (field->dims < 3 || bytes < (uint64_t)field->row * field->element))
            return haul_fail(error, HAUL_DEVICE_FULL,
                             "%llu bytes of device memory hold no row of each array",
                             (unsigned long long)context->budget);
        const haul_status status =
            haul_buffer_new(context->device, HAUL_BUFFER_DEVICE, bytes, &field->ring, error);
        if (status)
            return status;
        field->planes = planes;
        context->counts.device_bytes += haul_buffer_bytes(field->ring);
    }
    return HAUL_OK;
}

/* Brings all arrays home and gives their device memory back. */
static haul_status drop_rings(haul_context *context, haul_error *error)
{
    haul_status status = HAUL_OK;
    for (haul_field *field = context->fields; field && !status; field = field->next) {
        for (int i = 0; i < field->part_count && !status; i++) {
            if (field->parts[i].on_device)
                status = haul_part_fetch(field, i, true, error);
            field->parts[i].on_device = false;
        }
        if (status || !field->ring)
            continue;
        context->counts.device_bytes -= haul_buffer_bytes(field->ring);
        haul_buffer_free(field->ring);
        field->ring = NULL;
    }
    return status;
}

/* Regions are chosen only while no array is on the device: they would not fit rings that are
 * there. */
static haul_status choose_and_make(haul_context *context, haul_step *steps, size_t count,
                                   haul_error *error)
{
    bool has_rings = false;
    for (const haul_field *field = context->fields; field; field = field->next)
        has_rings = has_rings || field->ring;
    if (!has_rings)
        haul_tile_choose(context, steps, count);
    haul_status status = haul_fields_divide(context, error);
    if (!status)
        status = make_rings(context, error);
    for (size_t i = 0; i < count && !status; i++)
        status = haul_rows_ensure(context, &steps[i], error);
    return status;
}

/* Rings for all arrays, with less memory where the device has not what was asked for. */
haul_status haul_rings_ensure(haul_context *context, haul_step *steps, size_t count,
                              haul_error *error)
{
    bool is_missing = false, is_tight = false;
    uint64_t needed = 0;
    for (const haul_field *field = context->fields; field; field = field->next) {
        is_missing = is_missing || (field->part_count && !field->ring);
        is_tight = is_tight || (field->ring && !haul_field_is_all_there(field));
        needed += field->host_bytes;
    }
    if (!is_missing)
        return HAUL_OK;
    haul_status status = HAUL_OK;
    if (is_tight || needed > context->budget)
        status = drop_rings(context, error);
    if (!status)
        status = choose_and_make(context, steps, count, error);
    while (status == HAUL_DEVICE_FULL && context->budget > LEAST_BUDGET) {
        context->ran_out_at = context->budget;
        context->budget -= context->budget / 4;
        status = drop_rings(context, error);
        if (!status)
            status = choose_and_make(context, steps, count, error);
    }
    return status;
}

/* A pass goes round periodic arrays that do not fit: of those that do, the ends are both there. */
static bool goes_round(const haul_context *context, const haul_step *step, int region)
{
    bool is_tight = true, is_along = false;
    for (unsigned u = 0; u < step->use_count; u++) {
        const haul_field *field = step->uses[u].field;
        if (!haul_is_along(step, &step->uses[u]))
            continue;
        const int planes = field->ring ? field->planes : haul_ring_planes(context, field);
        is_along = true;
        is_tight = is_tight && planes < field->length + 2 * field->edge &&
                   field->boundary[field->dims - 1] == HAUL_BOUNDARY_PERIODIC &&
                   field->length > 4 * region;
    }
    return is_tight && is_along && haul_step_wraps(step);
}

haul_block_limits haul_limits_of(const haul_context *context, const haul_step *steps, size_t count,
                                 int region)
{
    haul_block_limits limits = {
        .steps = context->options.steps ? context->options.steps : SIZE_MAX,
        .reach = haul_reach_of(context, steps, count, region),
        .wraps = goes_round(context, steps, region),
    };
    if (limits.wraps && limits.reach > steps->length / 2) /* the ends are not the same regions */
        limits.reach = steps->length / 2;
    return limits;
}

/* An array that is wholly on the device sets no limit. */
int haul_reach_of(const haul_context *context, const haul_step *steps, size_t count, int region)
{
    int reach = INT32_MAX;
    for (size_t s = 0; s < count; s++)
        for (unsigned u = 0; u < steps[s].use_count; u++) {
            const haul_field *field = steps[s].uses[u].field;
            const int planes = field->ring ? field->planes : haul_ring_planes(context, field);
            if (planes >= field->length + 2 * field->edge)
                continue;
            const int regions = (planes - 2 * field->edge) / region - 3;
            reach = regions * region < reach ? regions * region : reach;
        }
    return reach;
}
