/* MPI's datatypes as rows of bytes at equal distances, which a device copies at once: a column of a
 * matrix is one strip. In the order in which MPI packs them. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/grow.h"
#include "mpi/mpi_parts.h"

/* 40 bytes each: memory for more is not worth what so small rows gain. */
enum { STRIPS_MOST = 1 << 24 };

/* Puts a strip behind the last one, or into it where it goes on; not into those before `floor`. */
static bool append_strip(hl_mpi_strips *list, size_t floor, hl_mpi_strip made)
{
    hl_mpi_strip *last = list->count > floor ? &list->items[list->count - 1] : NULL;
    const bool is_row = made.rows == 1;
    if (last && is_row && last->rows == 1 && last->offset + (int64_t)last->row == made.offset) {
        last->row += made.row;
        return true;
    }
    if (last && last->row == made.row) {
        const int64_t apart = made.offset - last->offset;
        const int64_t pitch = last->rows > 1 ? last->pitch : apart;
        if (apart == pitch * (int64_t)last->rows && (is_row || made.pitch == pitch)) {
            last->pitch = pitch;
            last->rows += made.rows;
            return true;
        }
    }
    if (list->count >= STRIPS_MOST ||
        !hl_base_grow(&list->items, &list->capacity, list->count + 1, sizeof *list->items))
        return false;
    list->items[list->count++] = made;
    return true;
}

/* The strips from `from` on, `count` times. */
static bool repeat_strips(hl_mpi_strips *list, size_t from, int64_t count, int64_t stride)
{
    const size_t each = list->count - from;
    hl_mpi_strip *first = &list->items[from];
    if (count <= 0)
        list->count = from;
    if (count <= 1 || !each)
        return true;
    if (each == 1 && first->rows == 1 && stride == (int64_t)first->row) {
        first->row *= (uint64_t)count;
        return true;
    }
    if (each == 1 && (first->rows == 1 || stride == first->pitch * (int64_t)first->rows)) {
        first->pitch = first->rows == 1 ? stride : first->pitch;
        first->rows *= (uint64_t)count;
        return true;
    }
    if (each > STRIPS_MOST / (size_t)count ||
        !hl_base_grow(&list->items, &list->capacity, from + each * (size_t)count,
                      sizeof *list->items))
        return false;
    for (int64_t i = 1; i < count; i++)
        for (size_t k = 0; k < each; k++) {
            hl_mpi_strip made = list->items[from + k];
            made.offset += i * stride;
            list->items[list->count++] = made;
        }
    return true;
}

/* Puts those from `from` on together with the ones before them where they go on. */
static bool join_strips(hl_mpi_strips *list, size_t floor, size_t from)
{
    const size_t end = list->count;
    bool is_done = true;
    list->count = from;
    for (size_t i = from; i < end && is_done; i++)
        is_done = append_strip(list, floor, list->items[i]);
    return is_done;
}

/* --- the constructors of MPI */

/* A datatype's making, as MPI tells it. */
typedef struct recipe {
    int combiner, integers, addresses, types;
    int *numbers;
    MPI_Aint *places;
    MPI_Datatype *of;
} recipe;

static bool add_type(hl_mpi_strips *list, MPI_Datatype type, int64_t offset);

static bool add_repeated(hl_mpi_strips *list, MPI_Datatype type, int64_t offset, int64_t count)
{
    MPI_Aint low, extent = 0;
    const size_t from = list->count;
    (void)PMPI_Type_get_extent(type, &low, &extent);
    return add_type(list, type, offset) && repeat_strips(list, from, count, extent);
}

static bool add_named(hl_mpi_strips *list, MPI_Datatype type, int64_t offset)
{
    int size = 0;
    (void)PMPI_Type_size(type, &size);
    if (type == MPI_SHORT_INT) /* the one of MPI's pairs with a gap inside */
        return append_strip(list, list->count,
                            (hl_mpi_strip){offset, sizeof(short), 1, sizeof(short)}) &&
               append_strip(
                   list, list->count,
                   (hl_mpi_strip){offset + (int64_t)sizeof(int), sizeof(int), 1, sizeof(int)});
    return size >= 0 &&
           append_strip(list, list->count, (hl_mpi_strip){offset, (uint64_t)size, 1, size});
}

static bool add_vector(hl_mpi_strips *list, const recipe *by, int64_t offset, int64_t stride)
{
    const size_t from = list->count;
    return add_repeated(list, by->of[0], offset, by->numbers[1]) &&
           repeat_strips(list, from, by->numbers[0], stride);
}

/* Blocks at places of their own; of indexed types in extents, of others in bytes. */
static bool add_blocks(hl_mpi_strips *list, const recipe *by, int64_t offset)
{
    const int count = by->numbers[0];
    const bool is_alike =
        by->combiner == MPI_COMBINER_INDEXED_BLOCK || by->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    const int *places = by->addresses ? NULL : by->numbers + (is_alike ? 2 : 1 + count);
    const bool is_struct = by->combiner == MPI_COMBINER_STRUCT;
    const size_t floor = list->count;
    MPI_Aint low, extent = 0;
    bool is_done = true;
    if (count)
        (void)PMPI_Type_get_extent(by->of[0], &low, &extent);
    for (int i = 0; i < count && is_done; i++) {
        const size_t from = list->count;
        const int64_t at = places ? (int64_t)places[i] * extent : by->places[i];
        const int length = by->numbers[is_alike ? 1 : 1 + i];
        is_done = add_repeated(list, by->of[is_struct ? i : 0], offset + at, length) &&
                  join_strips(list, floor, from);
    }
    return is_done;
}

/* A box of an array: numbers are dimensions, sizes, the box's sizes, its first items, the order. */
static bool add_box(hl_mpi_strips *list, const recipe *by, int64_t offset)
{
    const int dimensions = by->numbers[0];
    const int *sizes = by->numbers + 1, *box = sizes + dimensions, *first = box + dimensions;
    const bool is_fortran = first[dimensions] == MPI_ORDER_FORTRAN;
    const size_t from = list->count;
    MPI_Aint low, extent = 0;
    (void)PMPI_Type_get_extent(by->of[0], &low, &extent);
    int64_t stride = extent;
    bool is_done = add_type(list, by->of[0], offset);
    for (int i = 0; i < dimensions && is_done; i++) {
        const int d = is_fortran ? i : dimensions - 1 - i;
        for (size_t k = from; k < list->count; k++)
            list->items[k].offset += first[d] * stride;
        is_done = repeat_strips(list, from, box[d], stride);
        stride *= sizes[d];
    }
    return is_done;
}

static bool add_made(hl_mpi_strips *list, const recipe *by, int64_t offset)
{
    MPI_Aint low, extent = 0;
    switch (by->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        return add_type(list, by->of[0], offset);
    case MPI_COMBINER_CONTIGUOUS:
        return add_repeated(list, by->of[0], offset, by->numbers[0]);
    case MPI_COMBINER_VECTOR:
        (void)PMPI_Type_get_extent(by->of[0], &low, &extent);
        return add_vector(list, by, offset, by->numbers[2] * (int64_t)extent);
    case MPI_COMBINER_HVECTOR:
        return add_vector(list, by, offset, by->places[0]);
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
    case MPI_COMBINER_STRUCT:
        return add_blocks(list, by, offset);
    case MPI_COMBINER_SUBARRAY:
        return add_box(list, by, offset);
    default: /* a distributed array */
        return false;
    }
}

static void free_recipe(recipe *by)
{
    for (int i = 0; by->of && i < by->types; i++) {
        int integers, addresses, types, combiner = MPI_COMBINER_NAMED;
        if (by->of[i] != MPI_DATATYPE_NULL)
            (void)PMPI_Type_get_envelope(by->of[i], &integers, &addresses, &types, &combiner);
        if (combiner != MPI_COMBINER_NAMED) /* MPI gave a type of its own */
            (void)PMPI_Type_free(&by->of[i]);
    }
    free(by->numbers);
    free(by->places);
    free((void *)by->of);
}

// NOLINTNEXTLINE(misc-no-recursion): types are made of types
static bool add_type(hl_mpi_strips *list, MPI_Datatype type, int64_t offset)
{
    recipe by = {0};
    (void)PMPI_Type_get_envelope(type, &by.integers, &by.addresses, &by.types, &by.combiner);
    if (by.combiner == MPI_COMBINER_NAMED || !by.types)
        return add_named(list, type, offset);
    by.numbers = calloc((size_t)by.integers + 1, sizeof *by.numbers);
    by.places = calloc((size_t)by.addresses + 1, sizeof *by.places);
    by.of = malloc((size_t)by.types * sizeof(MPI_Datatype));
    for (int i = 0; by.of && i < by.types; i++)
        by.of[i] = MPI_DATATYPE_NULL;
    const bool is_told = by.numbers && by.places && by.of &&
                         !PMPI_Type_get_contents(type, by.integers, by.addresses, by.types,
                                                 by.numbers, by.places, by.of);
    const bool is_done = is_told && add_made(list, &by, offset);
    free_recipe(&by);
    return is_done;
}

/* --- */

static haul_status add_block(hl_mpi_region *self, const hl_mpi_block_of *block, haul_error *error)
{
    const size_t from = self->strips.count;
    if (block->type == MPI_DATATYPE_NULL || block->count < 0)
        return haul_error_set(error, HAUL_STATUS_USAGE, "%lld items of %s", (long long)block->count,
                              block->count < 0 ? "a datatype" : "no datatype");
    if (block->count && !add_repeated(&self->strips, block->type, block->place, block->count))
        return haul_error_set(error, HAUL_STATUS_ABSENT,
                              "a datatype of too many rows, or a distributed array's, for staging");
    for (size_t i = from; i < self->strips.count; i++) {
        const hl_mpi_strip *strip = &self->strips.items[i];
        const int64_t last = strip->offset + ((int64_t)strip->rows - 1) * strip->pitch;
        const int64_t low = last < strip->offset ? last : strip->offset;
        const int64_t high = (last < strip->offset ? strip->offset : last) + (int64_t)strip->row;
        const bool is_first = self->low == self->high;
        self->low = is_first || low < self->low ? low : self->low;
        self->high = is_first || high > self->high ? high : self->high;
        self->bytes[self->blocks] += strip->row * strip->rows;
    }
    self->most = self->bytes[self->blocks] > self->most ? self->bytes[self->blocks] : self->most;
    self->first[++self->blocks] = self->strips.count;
    return HAUL_OK;
}

haul_status hl_mpi_region_make(hl_mpi_region *self, haul_address at, const hl_mpi_block_of *blocks,
                               int count, haul_error *error)
{
    *self = (hl_mpi_region){.at = at,
                            .first = calloc((size_t)count + 1, sizeof *self->first),
                            .bytes = calloc((size_t)count + 1, sizeof *self->bytes),
                            .cursors = calloc((size_t)count + 1, sizeof *self->cursors)};
    if (!self->first || !self->bytes || !self->cursors)
        return hl_base_fail_no_memory(error);
    for (int i = 0; i < count; i++)
        HAUL_TRY(add_block(self, &blocks[i], error));
    const bool is_empty = self->low == self->high;
    if (!is_empty && !at.buffer && !at.host)
        return haul_error_set(error, HAUL_STATUS_USAGE, "bytes at no address");
    if (is_empty || !at.buffer)
        return HAUL_OK;
    const uint64_t room = haul_buffer_bytes(at.buffer);
    if (at.offset > room || (self->low < 0 && (uint64_t)-self->low > at.offset) ||
        (self->high > 0 && (uint64_t)self->high > room - at.offset))
        return haul_error_set(error, HAUL_STATUS_USAGE, "a block lies outside its buffer");
    return HAUL_OK;
}

void hl_mpi_region_release(hl_mpi_region *self)
{
    free(self->strips.items);
    free(self->first);
    free(self->bytes);
    free(self->cursors);
    *self = (hl_mpi_region){.blocks = 0};
}

void hl_mpi_region_keep(hl_mpi_region *self, int block)
{
    self->first[0] = self->first[block];
    self->first[1] = self->first[block + 1];
    self->most = self->bytes[0] = self->bytes[block];
    self->blocks = 1;
}
