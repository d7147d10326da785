/* The paper's shape: a loop over tiles, each computed by itself. Loops over neighbouring tiles
 * become one in the queue, so nothing is lost by small tiles on a device. */
#include <string.h>

#include "tile/tile_calls.h"

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* A size of 0 is the whole dimension. */
haul_tiles haul_tiles_make(haul_array *array, const int size[3])
{
    const hl_tile_field *field = array->field;
    haul_tiles tiles = {.array = array};
    for (int d = 0; d < 3; d++) {
        const int given = size && size[d] > 0 ? size[d] : hl_tile_field_size(field, d);
        tiles.size[d] = d < field->dims ? given : 1;
    }
    return tiles;
}

/* This process's cells; those of all devices. */
static int first_of(const haul_array *array, int d)
{
    return d == array->field->dims - 1 && !array->of ? array->field->first : 0;
}

static int end_of(const haul_array *array, int d)
{
    return array->of ? hl_tile_field_size(array->field, d)
                     : first_of(array, d) + array->field->size[d];
}

/* Where tiles of this row, or plane, end: with their region, but over several devices, where the
 * first loop may divide the array anew. */
static void set_end(haul_tiles *tiles, int d)
{
    const hl_tile_field *field = tiles->array->field;
    tiles->box.hi[d] = least(tiles->box.lo[d] + tiles->size[d], end_of(tiles->array, d));
    if (d + 1 == field->dims && field->region && !tiles->array->of) {
        const int before = (tiles->box.lo[d] - field->first) / field->region;
        tiles->box.hi[d] = least(tiles->box.hi[d], field->first + (before + 1) * field->region);
    }
}

void haul_tiles_reset(haul_tiles *tiles, bool on_device)
{
    const hl_tile_field *field = tiles->array->field;
    const int devices = tiles->array->of ? hl_tile_team_count(tiles->array->context->team) : 1;
    haul_error failure = {.status = HAUL_OK};
    tiles->box = (haul_box){{0}, {0}};
    tiles->on_device = on_device;
    for (int rank = 0; rank < devices && !failure.status; rank++) {
        haul_context *context = tiles->array->of ? tiles->array->of[rank]->context : field->context;
        if (hl_tile_fields_divide(&context->memory, &failure))
            hl_tile_failure_keep(&tiles->array->context->queue, &failure);
    }
    tiles->is_valid = !failure.status && field->part_count > 0;
    for (int d = 0; d < field->dims; d++) {
        tiles->is_valid = tiles->is_valid && field->size[d] > 0;
        tiles->box.lo[d] = first_of(tiles->array, d);
    }
    for (int d = 0; d < field->dims && tiles->is_valid; d++)
        set_end(tiles, d);
}

bool haul_tiles_valid(const haul_tiles *tiles)
{
    return tiles->is_valid;
}

/* Along x first, as cells are in memory. The planes of a tile are those of the ones before it in
 * its row, also where the loops between have run and the size of regions has changed with that. */
void haul_tiles_next(haul_tiles *tiles)
{
    const hl_tile_field *field = tiles->array->field;
    for (int d = 0; d < field->dims; d++) {
        const bool is_last = tiles->box.hi[d] >= end_of(tiles->array, d);
        tiles->box.lo[d] = is_last ? first_of(tiles->array, d) : tiles->box.hi[d];
        set_end(tiles, d);
        if (!is_last)
            return;
    }
    tiles->is_valid = false;
}

/* Where bounds cut a tile to nothing, the loop is empty and is not queued. */
haul_status haul_tiles_compute(const haul_tiles *tiles, const haul_kernel_source *kernel,
                               const void *const *arguments, size_t count, const haul_box *bounds,
                               haul_error *error)
{
    haul_box box = tiles->box;
    for (int d = 0; d < 3 && bounds; d++) {
        box.lo[d] = bounds->lo[d] > box.lo[d] ? bounds->lo[d] : box.lo[d];
        box.hi[d] = bounds->hi[d] < box.hi[d] ? bounds->hi[d] : box.hi[d];
    }
    const haul_loop_options options = {.box = &box, .on_host = !tiles->on_device};
    const hl_tile_asked_loop loop = {kernel, arguments, count, &options, !tiles->array->of};
    return hl_tile_loop_queue(tiles->array->context, &loop, error);
}
