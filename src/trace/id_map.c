/* Rows are kept as they come, which in files is nearly always by id, and sorted at the first
 * question if they were not. */
#include "trace/id_map.h"

#include <stdlib.h>

void haul_id_map_add(haul_id_map *self, haul_builder *built, const haul_id_row *row)
{
    if (!haul_builder_grow(built, &self->rows, &self->capacity, self->count + 1,
                           sizeof *self->rows))
        return;
    self->sorted = (!self->count || self->sorted) &&
                   (!self->count || self->rows[self->count - 1].id < row->id);
    self->rows[self->count++] = *row;
}

static int compare_rows(const void *a, const void *b)
{
    const haul_id_row *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* Ids are unique but in hostile files, where any row of one serves. */
const haul_id_row *haul_id_map_find(haul_id_map *self, int64_t id)
{
    if (!self->count)
        return NULL;
    if (!self->sorted)
        qsort(self->rows, self->count, sizeof *self->rows, compare_rows);
    self->sorted = true;
    const haul_id_row wanted = {.id = id};
    return bsearch(&wanted, self->rows, self->count, sizeof wanted, compare_rows);
}

int64_t haul_id_map_value(haul_id_map *self, int64_t id, int value, int64_t other)
{
    const haul_id_row *const row = haul_id_map_find(self, id);
    return row ? row->values[value] : other;
}

void haul_id_map_release(haul_id_map *self)
{
    free(self->rows);
    *self = (haul_id_map){0};
}
