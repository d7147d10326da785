/* The cells of an array that flags choose, in their order, in another array: a cell's place is the
 * number of those before it. Over several devices the host goes through them, region by region;
 * else by a scan. */
#include <string.h>

#include "tile/tile_calls.h"

/* Goes through an array's cells, x first. */
typedef struct cell_walk {
    haul_array *array;
    haul_use use;
    int next;           /* region */
    haul_region region; /* the one before it */
    int64_t number;     /* of the next cell */
    char *cell;
    int64_t left; /* cells that follow each other in memory from there on */
} cell_walk;

/* The next cell. Needs: there is one. */
static haul_status take_cell(cell_walk *self, char **cell, haul_error *error)
{
    const hl_tile_field *field = self->array->field;
    if (!self->left) {
        const int64_t row = field->dims > 1 ? field->size[0] : 1;
        const int64_t rows = field->dims == 3 ? field->size[1] : 1;
        const int64_t y = self->number / row % rows, z = self->number / row / rows;
        while (z >= self->region.end)
            HAUL_TRY(haul_array_access(self->array, self->next++, self->use, &self->region, error));
        const haul_region *region = &self->region;
        const int64_t first = (z - region->first) * region->plane + y * region->row;
        self->cell = (char *)region->cells + first * (int64_t)field->element;
        self->left = field->dims > 1 ? row : region->end - z;
    }
    *cell = self->cell;
    self->cell += field->element;
    self->number++;
    self->left--;
    return HAUL_OK;
}

static bool is_kept(const char *flag, uint64_t bytes)
{
    uint64_t zeros = 0;
    while (zeros < bytes && !flag[zeros])
        zeros++;
    return zeros < bytes;
}

static haul_status check_arrays(const haul_array *from, const haul_array *flags,
                                const haul_array *to, haul_error *error)
{
    const haul_array *const arrays[] = {from, flags, to ? to : from};
    const hl_tile_field *source = from->field, *chosen = flags->field, *kept = arrays[2]->field;
    for (int i = 0; i < 3; i++)
        if ((hl_tile_is_divided(arrays[i]->field) && !arrays[i]->of) ||
            arrays[i]->field->memory->without_data || arrays[i]->context != from->context)
            return haul_error_set(error, HAUL_STATUS_USAGE,
                                  "arrays of two contexts, that processes share, or without data "
                                  "are not compacted");
    bool fits = chosen->dims == source->dims;
    for (int d = 0; d < source->dims; d++)
        fits = fits && hl_tile_field_size(chosen, d) == hl_tile_field_size(source, d);
    if (!fits)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "flags have another shape than the array that they choose from");
    if (chosen->element_kind > HAUL_ELEMENT_ANY && chosen->element_kind != HAUL_ELEMENT_INTEGER)
        return haul_error_set(error, HAUL_STATUS_USAGE, "flags are integers, not others");
    if (to == from || to == flags)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "the same array cannot be compacted and take the result");
    if (kept->element != source->element ||
        (kept->element_kind && source->element_kind && kept->element_kind != source->element_kind))
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "elements of %llu bytes, or their kind, differ from the %llu bytes "
                              "of those that are compacted",
                              (unsigned long long)kept->element,
                              (unsigned long long)source->element);
    return HAUL_OK;
}

/* By one thread: each device has some of the regions. The cells are counted first, so that nothing
 * changes where they do not fit. */
static haul_status walk(haul_array *from, haul_array *flags, haul_array *to, int64_t cells,
                        uint64_t *count, haul_error *error)
{
    cell_walk counted = {.array = flags, .use = HAUL_USE_READ}, chosen = counted;
    cell_walk source = {.array = from, .use = HAUL_USE_READ};
    cell_walk kept = {.array = to, .use = HAUL_USE_BOTH};
    char *flag, *cell, *place;
    int64_t found = 0;
    while (counted.number < cells) {
        HAUL_TRY(take_cell(&counted, &flag, error));
        found += is_kept(flag, flags->field->element);
    }
    if (to)
        HAUL_TRY(hl_tile_scan_check_room(to->field, (uint64_t)found, error));
    while (to && kept.number < found) {
        HAUL_TRY(take_cell(&chosen, &flag, error));
        HAUL_TRY(take_cell(&source, &cell, error));
        if (!is_kept(flag, flags->field->element))
            continue;
        HAUL_TRY(take_cell(&kept, &place, error));
        memcpy(place, cell, from->field->element);
    }
    *count = (uint64_t)found;
    return HAUL_OK;
}

haul_status haul_array_compact(haul_array *from, haul_array *flags, haul_array *to, uint64_t *count,
                               haul_error *error)
{
    uint64_t found;
    HAUL_TRY(check_arrays(from, flags, to, error));
    HAUL_TRY(hl_tile_queue_run(from->context, error));
    const int64_t cells = hl_tile_field_cells(from->field);
    HAUL_TRY(from->context->team ? walk(from, flags, to, cells, &found, error)
                                 : hl_tile_scan(from, flags, to, cells, &found, error));
    *count = found;
    return HAUL_OK;
}
