/* A twin of an array: plain memory with its cells beyond the edges, on which loops run plainly, as
 * the oracle of random programs. */
#ifndef HAUL_TESTS_TILE_TWIN_H
#define HAUL_TESTS_TILE_TWIN_H

#include <stdlib.h>
#include <string.h>

#include "haul/kernel_source.h"
#include "haul/tile.h"
#include "tile_cells.h"

typedef struct twin {
    haul_array *array;
    haul_array_spec spec;
    int dims;
    int type;
    int whole[3]; /* sizes with ghosts */
    size_t count; /* cells, with ghosts */
    unsigned char *cells;
    bool is_lost; /* discarded, and not yet set again */
    char path[40];
} twin;

/* From the sizes, the type and the cells beyond the edges. */
static inline void twin_lay_out(twin *self)
{
    self->count = 1;
    for (int d = 0; d < self->dims; d++) {
        self->whole[d] = self->spec.size[d] + 2 * self->spec.ghost[d];
        self->count *= (size_t)self->whole[d];
    }
    self->spec.element_bytes = cell_table[self->dims - 1][self->type].bytes;
}

static inline size_t twin_place(const twin *self, const int at[3])
{
    size_t index = 0;
    for (int d = self->dims - 1; d >= 0; d--)
        index = index * (size_t)self->whole[d] + (size_t)(at[d] + self->spec.ghost[d]);
    return index;
}

static inline unsigned char *twin_cell(const twin *self, const int at[3])
{
    return self->cells + twin_place(self, at) * self->spec.element_bytes;
}

/* Visits all cells, ghosts too where `ghosts`; `at` is the state. False at the end. */
static inline bool twin_next(const twin *self, int at[3], bool ghosts)
{
    for (int d = 0; d < 3 && d < self->dims; d++) {
        const int ghost = ghosts ? self->spec.ghost[d] : 0;
        if (++at[d] < self->spec.size[d] + ghost)
            return true;
        at[d] = -ghost;
    }
    return false;
}

static inline void twin_first(const twin *self, int at[3], bool ghosts)
{
    for (int d = 0; d < 3; d++)
        at[d] = ghosts && d < self->dims ? -self->spec.ghost[d] : 0;
}

static inline bool twin_is_inside(const twin *self, const int at[3])
{
    bool is_inside = true;
    for (int d = 0; d < self->dims; d++)
        is_inside = is_inside && at[d] >= 0 && at[d] < self->spec.size[d];
    return is_inside;
}

/* Whether all cells beyond the edges keep what they are given. */
static inline bool twin_is_fixed(const twin *self)
{
    bool is_fixed = !self->spec.boundary_kernel;
    for (int d = 0; d < self->dims; d++)
        is_fixed =
            is_fixed && (!self->spec.ghost[d] || self->spec.boundary[d] == HAUL_BOUNDARY_FIXED);
    return is_fixed;
}

static inline haul_box twin_box(const twin *self, bool ghosts)
{
    haul_box box = {{0}, {0}};
    for (int d = 0; d < self->dims; d++) {
        box.lo[d] = ghosts ? -self->spec.ghost[d] : 0;
        box.hi[d] = self->spec.size[d] - box.lo[d];
    }
    return box;
}

/* The loop itself, on plain memory: its arrays in turn, and its value last. */
static inline void twin_run(const haul_kernel_source *kernel, const haul_box *box,
                            const twin *const *arrays, const void *value)
{
    haul_box whole = *box;
    void *arguments[8];
    haul_view views[4];
    unsigned given = 0;
    for (int d = 0; d < 3; d++)
        whole.hi[d] += d >= (int)kernel->dimensions;
    for (unsigned i = 0; i < kernel->parameter_count; i++) {
        if (kernel->parameters[i].halo < 0) {
            arguments[i] = (void *)value;
            continue;
        }
        const twin *of = arrays[given];
        const int outer = of->dims - 1;
        int zero[3] = {0};
        zero[outer] = -of->spec.ghost[outer];
        views[given] = (haul_view){
            .plane = of->dims == 1 ? 1 : of->whole[0] * (of->dims == 3 ? of->whole[1] : 1),
            .row = of->whole[0],
            .base = -of->spec.ghost[outer],
            .ring = 1 << 20,
        };
        arguments[i] = twin_cell(of, zero);
        arguments[++i] = &views[given++];
    }
    kernel->host(&whole, &whole, arguments);
}

/* The index in dimension d that a cell beyond the edge is set from. */
static inline int twin_source(const twin *self, int d, int index)
{
    const int size = self->spec.size[d];
    const bool is_low = index < 0;
    if ((index >= 0 && index < size) || self->spec.boundary[d] == HAUL_BOUNDARY_FIXED)
        return index;
    if (self->spec.boundary[d] == HAUL_BOUNDARY_COPY)
        return is_low ? 0 : size - 1;
    return is_low ? index + size : index - size;
}

/* As before a loop that reads neighbours. */
static inline void twin_set_ghosts(twin *self)
{
    twin old = *self;
    int at[3];
    const size_t element = self->spec.element_bytes;
    old.cells = malloc(self->count * element);
    memcpy(old.cells, self->cells, self->count * element);
    if (self->spec.boundary_kernel) {
        const twin *const arrays[] = {&old};
        const haul_box box = twin_box(self, true);
        twin_run(self->spec.boundary_kernel, &box, arrays, NULL);
    }
    twin_first(self, at, true);
    do {
        int from[3] = {at[0], at[1], at[2]};
        for (int d = 0; d < 3 && d < self->dims && !self->spec.boundary_kernel; d++)
            from[d] = twin_source(self, d, at[d]);
        if (!twin_is_inside(self, at))
            memcpy(twin_cell(self, at), twin_cell(&old, from), element);
    } while (twin_next(self, at, true));
    free(old.cells);
}

/* Where the array keeps the cell in a region that the host has. */
static inline unsigned char *twin_in_region(const twin *self, const haul_region *region,
                                            const int at[3])
{
    int64_t offset = (at[self->dims - 1] - region->first) * region->plane;
    if (self->dims > 1)
        offset += at[0];
    if (self->dims > 2)
        offset += at[1] * region->row;
    return (unsigned char *)region->cells + offset * (int64_t)self->spec.element_bytes;
}

static inline bool twin_can_swap(const twin *a, const twin *b)
{
    bool can = a->dims == b->dims && a->type == b->type && !a->spec.file == !b->spec.file &&
               !a->spec.cells == !b->spec.cells && !a->spec.device_cells == !b->spec.device_cells &&
               a->spec.boundary_kernel == b->spec.boundary_kernel;
    for (int d = 0; d < a->dims; d++)
        can = can && a->spec.size[d] == b->spec.size[d] && a->spec.ghost[d] == b->spec.ghost[d] &&
              a->spec.boundary[d] == b->spec.boundary[d];
    return can;
}

#endif
