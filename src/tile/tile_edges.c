/* Cells beyond the edges of arrays: where they are set from, and setting them on the host. */
#include <string.h>

#include "tile/tile_field.h"

/* The index within a dimension that a cell beyond its edge is set from. */
static int source_of(const hl_tile_field *field, int d, int index)
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

static char *row_of(const hl_tile_field *field, int plane, int row)
{
    return field->host + hl_tile_field_offset(field, plane) +
           (uint64_t)(field->lead + row * field->row) * field->element;
}

/* Whether a cell beyond an edge comes with cells [lo, hi): those that it is set from, or, where it
 * is fixed, those at the edge. */
static bool comes_with(const hl_tile_field *field, int d, int index, int lo, int hi)
{
    const int from = source_of(field, d, index), last = field->size[d] - 1;
    const int with = from < 0 ? 0 : from > last ? last : from;
    return with >= lo && with < hi;
}

/* The cells left and right of a row, as far as they are set from cells [lo, hi). */
static void set_row(const hl_tile_field *field, char *row, int lo, int hi)
{
    const int64_t element = (int64_t)field->element;
    for (int k = 1; k <= field->ghost[0]; k++) {
        const int places[2] = {-k, field->size[0] - 1 + k};
        for (int side = 0; side < 2; side++) {
            const int from = source_of(field, 0, places[side]);
            if (from != places[side] && from >= lo && from < hi)
                memcpy(row + places[side] * element, row + from * element, (size_t)element);
        }
    }
}

static void copy_cells(const hl_tile_field *field, char *into, const char *from, int lo, int hi)
{
    const int64_t element = (int64_t)field->element;
    memcpy(into + lo * element, from + lo * element, (size_t)((hi - lo) * element));
}

/* Cells [lo, hi) of a row, with those left and right that come with them, which are set already. */
static void copy_row(const hl_tile_field *field, char *into, const char *from, int lo, int hi)
{
    copy_cells(field, into, from, lo, hi);
    for (int k = 1; k <= field->ghost[0]; k++) {
        const int right = field->size[0] - 1 + k;
        if (comes_with(field, 0, -k, lo, hi))
            copy_cells(field, into, from, -k, 1 - k);
        if (comes_with(field, 0, right, lo, hi))
            copy_cells(field, into, from, right, right + 1);
    }
}

/* A whole row of a plane, with its cells left and right, in another place. */
static void copy_whole(const hl_tile_field *field, int into, int into_row, int from, int from_row)
{
    const int ghost = field->ghost[0];
    if (into != from || into_row != from_row)
        copy_cells(field, row_of(field, into, into_row), row_of(field, from, from_row), -ghost,
                   field->size[0] + ghost);
}

void hl_tile_ghost_range(const hl_tile_field *field, int d, int *lo, int *hi)
{
    if (field->boundary[d] != HAUL_BOUNDARY_FIXED)
        return;
    *hi += *hi == field->size[d] ? field->ghost[d] : 0;
    *lo -= *lo == 0 ? field->ghost[d] : 0;
}

/* The rows of one plane, and those beyond the plane's edges that are set from them. */
static void set_plane(const hl_tile_field *field, int plane, int lo, int hi)
{
    const int size = field->size[1], ghost = field->ghost[1];
    int first = lo, end = hi;
    hl_tile_ghost_range(field, 1, &first, &end);
    for (int y = first; y < end; y++)
        set_row(field, row_of(field, plane, y), 0, field->size[0]);
    for (int k = 1; k <= ghost; k++) {
        const int below = source_of(field, 1, -k), above = source_of(field, 1, size - 1 + k);
        if (below >= lo && below < hi)
            copy_whole(field, plane, -k, plane, below);
        if (above >= lo && above < hi)
            copy_whole(field, plane, size - 1 + k, plane, above);
    }
}

/* A plane beyond the edge, as far as it is set from planes [lo[0], hi[0]). */
static void set_outer(const hl_tile_field *field, int plane, const int lo[2], const int hi[2])
{
    const int outer = field->dims - 1, from = source_of(field, outer, plane);
    if (from == plane || from < lo[0] || from >= hi[0])
        return;
    if (field->dims == 1) {
        memcpy(field->host + hl_tile_field_offset(field, plane),
               field->host + hl_tile_field_offset(field, from), field->element);
    } else if (field->dims == 2) {
        copy_row(field, row_of(field, plane, 0), row_of(field, from, 0), lo[1], hi[1]);
    } else {
        for (int y = -field->ghost[1]; y < field->size[1] + field->ghost[1]; y++)
            if (y >= 0 && y < field->size[1] ? y >= lo[1] && y < hi[1]
                                             : comes_with(field, 1, y, lo[1], hi[1]))
                copy_whole(field, plane, y, from, y);
    }
}

void hl_tile_ghosts_on_host(hl_tile_field *field, const int lo[2], const int hi[2])
{
    int first = lo[0], end = hi[0];
    hl_tile_ghost_range(field, field->dims - 1, &first, &end);
    for (int plane = first; plane < end; plane++) {
        if (field->dims == 3)
            set_plane(field, plane, lo[1], hi[1]);
        else if (field->dims == 2)
            set_row(field, row_of(field, plane, 0), lo[1], hi[1]);
    }
    for (int k = 1; k <= field->ghost[field->dims - 1]; k++) {
        if (hl_tile_has_edge(field, false))
            set_outer(field, -k, lo, hi);
        if (hl_tile_has_edge(field, true))
            set_outer(field, field->length - 1 + k, lo, hi);
    }
}

int hl_tile_ghost_list(const hl_tile_field *field, int *list)
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
