/* Rows are kept as they come, which in files is nearly always by id, and sorted at the first
 * question if they were not. */
#include "trace/id_map.h"
#include "base/compare.h"

#include <stdlib.h>

void hl_trace_id_map_add(hl_trace_id_map *self, hl_workload_builder *built,
                         const hl_trace_id_row *row)
{
    if (!hl_workload_builder_grow(built, &self->rows, &self->capacity, self->count + 1,
                                  sizeof *self->rows))
        return;
    self->sorted = (!self->count || self->sorted) &&
                   (!self->count || self->rows[self->count - 1].id < row->id);
    self->rows[self->count++] = *row;
}

static int compare_rows(const void *a, const void *b)
{
    const hl_trace_id_row *x = a, *y = b;
    return hl_base_compare_signed(x->id, y->id);
}

/* Ids are unique but in hostile files, where any row of one serves. */
const hl_trace_id_row *hl_trace_id_map_find(hl_trace_id_map *self, int64_t id)
{
    if (!self->count)
        return NULL;
    if (!self->sorted)
        qsort(self->rows, self->count, sizeof *self->rows, compare_rows);
    self->sorted = true;
    const hl_trace_id_row wanted = {.id = id};
    return bsearch(&wanted, self->rows, self->count, sizeof wanted, compare_rows);
}

int64_t hl_trace_id_map_value(hl_trace_id_map *self, int64_t id, int value, int64_t other)
{
    const hl_trace_id_row *const row = hl_trace_id_map_find(self, id);
    return row ? row->values[value] : other;
}

void hl_trace_id_map_release(hl_trace_id_map *self)
{
    free(self->rows);
    *self = (hl_trace_id_map){0};
}
