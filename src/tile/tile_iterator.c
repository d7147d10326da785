/* The paper's shape: a loop over tiles, each computed by itself. Loops over neighbouring tiles
 * become one in the queue, so nothing is lost by small tiles on a device. */
#include <string.h>

#include "tile/tile_parts.h"

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* A size of 0 is the whole dimension. */
haul_tiles haul_tiles_of(haul_array *array, const int size[3])
{
    const haul_field *field = array->field;
    haul_tiles tiles = {.array = array};
    for (int d = 0; d < 3; d++) {
        const int given = size && size[d] > 0 ? size[d] : field->size[d];
        tiles.size[d] = d < field->dims ? given : 1;
    }
    return tiles;
}

/* This process's cells. */
static int first_of(const haul_field *field, int d)
{
    return d == field->dims - 1 ? field->first : 0;
}

static int end_of(const haul_field *field, int d)
{
    return first_of(field, d) + field->size[d];
}

/* The tile that begins at box.lo: it ends with its region. */
static void set_end(haul_tiles *tiles)
{
    const haul_field *field = tiles->array->field;
    const int outer = field->dims - 1;
    for (int d = 0; d < field->dims; d++)
        tiles->box.hi[d] = least(tiles->box.lo[d] + tiles->size[d], end_of(field, d));
    if (field->region) {
        const int before = (tiles->box.lo[outer] - field->first) / field->region;
        tiles->box.hi[outer] =
            least(tiles->box.hi[outer], field->first + (before + 1) * field->region);
    }
}

void haul_tiles_reset(haul_tiles *tiles, bool on_device)
{
    const haul_field *field = tiles->array->field;
    tiles->box = (haul_box){{0}, {0}};
    tiles->on_device = on_device;
    tiles->is_valid = !haul_fields_divide(field->context, NULL) && field->part_count > 0;
    for (int d = 0; d < field->dims; d++) {
        tiles->is_valid = tiles->is_valid && field->size[d] > 0;
        tiles->box.lo[d] = first_of(field, d);
    }
    if (tiles->is_valid)
        set_end(tiles);
}

bool haul_tiles_valid(const haul_tiles *tiles)
{
    return tiles->is_valid;
}

/* Along x first, as cells are in memory. */
void haul_tiles_next(haul_tiles *tiles)
{
    const haul_field *field = tiles->array->field;
    for (int d = 0; d < field->dims; d++) {
        tiles->box.lo[d] = tiles->box.hi[d];
        if (tiles->box.lo[d] < end_of(field, d)) {
            set_end(tiles);
            return;
        }
        tiles->box.lo[d] = first_of(field, d);
    }
    tiles->is_valid = false;
}

/* Where bounds cut a tile to nothing, the loop is empty and is not queued. */
haul_status haul_compute(const haul_tiles *tiles, const haul_kernel_source *kernel,
                         const void *const *arguments, size_t count, const haul_box *bounds,
                         haul_error *error)
{
    haul_box box = tiles->box;
    for (int d = 0; d < 3 && bounds; d++) {
        box.lo[d] = bounds->lo[d] > box.lo[d] ? bounds->lo[d] : box.lo[d];
        box.hi[d] = bounds->hi[d] < box.hi[d] ? bounds->hi[d] : box.hi[d];
    }
    const haul_loop_options options = {.box = &box, .on_host = !tiles->on_device};
    return haul_loop(tiles->array->context, kernel, arguments, count, &options, error);
}
