/* Reductions. Each row of a loop's box has a result of its own, at a place that depends on nothing
 * but the row; they are folded in the order of rows. So the result does not depend on which region
 * or thread came first. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tile/tile_queue.h"
#include "tile/tile_reduce.kernel.h"

_Static_assert(sizeof(hl_tile_fold) == sizeof(fold_shape), "the host tells what the kernel reads");

double hl_tile_fold_identity(const hl_tile_field_use *use)
{
    static const double lowest[] = {-INFINITY, -INFINITY, INT_MIN, 0};
    static const double highest[] = {INFINITY, INFINITY, INT_MAX, UINT_MAX};
    return use->reduction == HAUL_ACCESS_SUM   ? 0
           : use->reduction == HAUL_ACCESS_MIN ? highest[use->number]
                                               : lowest[use->number];
}

static void set_number(void *at, double value, int number)
{
    const float as_float = (float)value;
    const int as_int = number == HAUL_NUMBER_int ? (int)value : 0;
    const unsigned as_unsigned = number == HAUL_NUMBER_unsigned ? (unsigned)value : 0;
    const void *const values[] = {&value, &as_float, &as_int, &as_unsigned};
    static const size_t bytes[] = {sizeof(double), sizeof(float), sizeof(int), sizeof(unsigned)};
    memcpy(at, values[number], bytes[number]);
}

const haul_kernel_source *hl_tile_fold_of(const hl_tile_field_use *use)
{
    static const haul_kernel_source *const folds[3][4] = {
        {&hl_tile_sum_double, &hl_tile_sum_float, &hl_tile_sum_int, &hl_tile_sum_unsigned},
        {&hl_tile_min_double, &hl_tile_min_float, &hl_tile_min_int, &hl_tile_min_unsigned},
        {&hl_tile_max_double, &hl_tile_max_float, &hl_tile_max_int, &hl_tile_max_unsigned},
    };
    return folds[use->reduction - HAUL_ACCESS_SUM][use->number];
}

const haul_box *hl_tile_rows_box(const hl_tile_step *step)
{
    return step->cut ? &step->cut->box : &step->box;
}

haul_rows hl_tile_rows_of(const hl_tile_step *step, const hl_tile_field_use *use, uint64_t *count)
{
    const haul_box box = hl_tile_box_moved(*hl_tile_rows_box(step), step->outer, step->first);
    const int dims = step->outer + 1, first = haul_row_first(box, dims);
    const int64_t width = haul_row_end(box, dims) - first;
    const int64_t planes = dims == 3 ? box.hi[2] - box.lo[2] : 1;
    *count = width > 0 && planes > 0 ? (uint64_t)(width * planes) : 0;
    return (haul_rows){
        .identity = hl_tile_fold_identity(use),
        .width = (long)width,
        .origin = (long)(dims == 3 ? box.lo[2] * width + first : first),
    };
}

haul_box hl_tile_row_groups(const haul_box *box, int dims)
{
    const int rows = haul_row_end(*box, dims) - haul_row_first(*box, dims);
    haul_box groups = {{0}, {1, (rows + HAUL_GROUP_ROWS - 1) / HAUL_GROUP_ROWS, 1}};
    if (dims == 3)
        groups.hi[2] = box->hi[2] - box->lo[2];
    return groups;
}

uint64_t hl_tile_fold_parts(uint64_t rows)
{
    return (rows + FOLD - 1) / FOLD;
}

/* The rows' results, and behind them those of FOLD rows each, all as if no row had been. */
void *hl_tile_rows_new(const hl_tile_step *step, const hl_tile_field_use *use, uint64_t *bytes)
{
    uint64_t count;
    const double identity = hl_tile_rows_of(step, use, &count).identity;
    const uint64_t all = count + hl_tile_fold_parts(count) + 1, element = use->field->element;
    char *rows = malloc(all * element);
    for (uint64_t i = 0; rows && i < all; i++)
        set_number(rows + i * element, identity, use->number);
    *bytes = all * element;
    return rows;
}

void hl_tile_fold_pair(const hl_tile_field_use *use, const void *first, void *second)
{
    const uint64_t element = use->field->element;
    fold_shape shape = {2, hl_tile_fold_identity(use)};
    haul_box group = {{0}, {1, 1, 1}};
    char pair[2 * sizeof(double)];
    memcpy(pair, first, element);
    memcpy(pair + element, second, element);
    hl_tile_fold_of(use)->host(&group, &group, (void *const[]){pair, second, &shape});
}

/* Both folds. */
void hl_tile_fold_on_host(const hl_tile_field_use *use, void *rows, uint64_t count)
{
    const haul_kernel_source *source = hl_tile_fold_of(use);
    const uint64_t parts = hl_tile_fold_parts(count);
    char *partial = (char *)rows + count * use->field->element;
    fold_shape shape = {(long)count, hl_tile_fold_identity(use)};
    haul_box groups = {{0}, {(int)parts, 1, 1}};
    source->host(&groups, &groups, (void *const[]){rows, partial, &shape});
    shape.count = (long)parts;
    groups.hi[0] = 1;
    source->host(&groups, &groups, (void *const[]){partial, use->field->host, &shape});
}

void hl_tile_rows_fold(const hl_tile_step *step, const hl_tile_field_use *use, void *rows)
{
    uint64_t count;
    (void)hl_tile_rows_of(step, use, &count);
    hl_tile_fold_on_host(use, rows, count);
}

void hl_tile_fold_set_identity(const hl_tile_field_use *use, void *at)
{
    set_number(at, hl_tile_fold_identity(use), use->number);
}
