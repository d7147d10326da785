/* Arrays whose planes are too large for the device: rows are cut as well. A column is a run of rows
 * of all planes. Columns are worked on one after another, each by a pass over its planes; step i is
 * `skew` rows behind the column's edge, as it is `skew` planes behind the front, so that nothing is
 * computed twice. Between columns the host has the arrays. */
#include <stdlib.h>

#include "base/fail.h"
#include "haul/device_backend.h"
#include "tile/tile_run.h"

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

/* Rows [first, end) of the array's planes are on the device; of an array that ends before, its last
 * one. */
static void open_window(hl_tile_field *field, int first, int end)
{
    const int rows_end = field->size[1] + field->ghost[1];
    field->window_first = least(most(first, -field->ghost[1]), rows_end - 1);
    field->window_rows = least(end, rows_end) - field->window_first;
    const uint64_t elements = (uint64_t)(field->window_rows * field->row + field->gap);
    field->slot_bytes = elements * field->element;
    field->planes = (int)(haul_buffer_bytes(field->ring) / field->slot_bytes);
}

/* Copies home all that the device has, which makes room for the next column. An array that is
 * overwritten first may be on neither side. */
static haul_status bring_home(hl_tile_field *field, bool is_fresh, haul_error *error)
{
    haul_status status =
        field->planes_stale && !is_fresh ? hl_tile_planes_wrap(field, error) : HAUL_OK;
    field->planes_stale = false;
    for (int i = 0; i < field->part_count && !status; i++) {
        field->parts[i].on_host = field->parts[i].on_host || is_fresh;
        status = hl_tile_part_fetch(field, i, true, error);
        field->parts[i].on_device = false;
    }
    return status;
}

typedef struct columns {
    haul_context *context;
    hl_tile_block block;
    int rows;
    int count;
    hl_tile_step *steps; /* with the boxes of the column */
    hl_tile_cut_loop *cut;
} columns;

static haul_status run_column(const columns *self, int column, haul_error *error)
{
    const int first = column * self->rows;
    const unsigned field_count = self->block.field_count;
    int planes[HL_TILE_BLOCK_FIELDS];
    hl_tile_block block = self->block;
    haul_status status = HAUL_OK;
    block.steps = self->steps;
    for (size_t i = 0; i < self->block.count; i++) {
        hl_tile_step *step = &self->steps[i];
        *step = self->block.steps[i];
        self->cut[i].box = step->box;
        step->cut = &self->cut[i];
        if (column)
            step->box.lo[1] = most(step->box.lo[1], column * self->rows - step->skew);
        if (column + 1 < self->count)
            step->box.hi[1] = least(step->box.hi[1], (column + 1) * self->rows - step->skew);
    }
    for (unsigned i = 0; i < field_count; i++) {
        planes[i] = block.fields[i].field->planes;
        if (!block.fields[i].is_aligned)
            continue;
        const int margin = hl_tile_column_margin(&block, block.fields[i].field);
        open_window(block.fields[i].field, first - margin, first + self->rows + margin);
        block.fields[i].is_fresh = block.fields[i].is_dead = false;
    }
    status = hl_tile_block_run(self->context, &block, error);
    for (unsigned i = 0; i < field_count; i++) {
        if (!block.fields[i].is_aligned)
            continue;
        const haul_status home = bring_home(block.fields[i].field, false, status ? NULL : error);
        status = status ? status : home;
        block.fields[i].field->window_first = -block.fields[i].field->ghost[1];
        block.fields[i].field->window_rows = 0;
        block.fields[i].field->slot_bytes = block.fields[i].field->plane_bytes;
        block.fields[i].field->planes = planes[i];
    }
    return status;
}

haul_status hl_tile_columns_run(haul_context *context, hl_tile_step *steps, size_t count,
                                size_t *taken, haul_error *error)
{
    columns self = {.context = context};
    *taken = 1;
    self.rows = hl_tile_columns_choose(&context->choice, steps, count, &self.block);
    if (!self.block.count)
        return hl_tile_host_run(context, steps, 1, error);
    int skew = 0, rows = 0;
    for (unsigned i = 0; i < self.block.field_count; i++)
        if (self.block.fields[i].is_aligned && self.block.fields[i].field->is_wrapped)
            self.rows = 0;
    for (size_t i = 0; i < self.block.count; i++)
        skew = most(skew, self.block.steps[i].skew);
    for (unsigned i = 0; i < self.block.field_count; i++)
        if (self.block.fields[i].is_aligned)
            rows = most(rows, self.block.fields[i].field->size[1]);
    if (self.rows < 1)
        return haul_error_set(
            error, HAUL_STATUS_DEVICE_FULL,
            "kernel '%s' needs more rows of an array on the device than there is room "
            "for",
            steps->source->name);
    self.count = (rows + skew + self.rows - 1) / self.rows;
    self.steps = calloc(self.block.count, sizeof *self.steps);
    self.cut = calloc(self.block.count, sizeof *self.cut);
    if (!self.steps || !self.cut) {
        free(self.steps);
        free(self.cut);
        return hl_base_fail_no_memory(error);
    }
    haul_status status = HAUL_OK;
    for (unsigned i = 0; i < self.block.field_count && !status; i++)
        if (self.block.fields[i].is_aligned)
            status = bring_home(self.block.fields[i].field, self.block.fields[i].is_fresh, error);
    for (int column = 0; column < self.count && !status; column++)
        status = run_column(&self, column, error);
    if (!status)
        status = hl_tile_cut_fold(context, self.block.steps, self.block.count, error);
    free(self.steps);
    free(self.cut);
    *taken = self.block.count;
    context->last.rows = self.rows;
    return status;
}
