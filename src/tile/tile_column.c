/* Arrays whose planes are too large for the device: rows are cut as well. A column is a run of rows
 * of all planes. Columns are worked on one after another, each by a pass over its planes; step i is
 * `skew` rows behind the column's edge, as it is `skew` planes behind the front, so that nothing is
 * computed twice. Between columns the host has the arrays. */
#include <stdlib.h>

#include "base/fail.h"
#include "haul/device_backend.h"
#include "tile/tile_parts.h"

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

/* Planes of an array that a block needs on the device at once. */
static int planes_needed(const haul_block *block, const haul_field *field)
{
    const int lag = (block->reach + field->region - 1) / field->region;
    return (lag + 3) * field->region + 2 * field->edge;
}

bool haul_needs_columns(haul_step *step)
{
    haul_block block;
    if (step->outer != 2)
        return false;
    haul_block_take(&block, step, 1, &(haul_block_limits){.steps = 1, .reach = INT32_MAX});
    bool is_tight = false;
    for (unsigned i = 0; i < block.field_count; i++) {
        const haul_field *field = block.fields[i].field;
        if (!block.fields[i].is_aligned)
            continue;
        if (field->dims != 3)
            return false;
        is_tight = is_tight || (!haul_field_is_all_there(field) &&
                                field->planes < planes_needed(&block, field));
    }
    return is_tight;
}

/* Rows that fit the array's device memory in so many planes, with those beyond the edges. */
static int64_t rows_that_fit(const haul_field *field, int planes)
{
    const uint64_t room = haul_buffer_bytes(field->ring) / field->element / (uint64_t)planes;
    return ((int64_t)room - field->gap) / field->row;
}

/* Rows beside a column that are on the device with it: those that its steps reach into, and, as
 * loops over edges reach into none, those beyond the edges. */
static int margin_of(const haul_block *block, const haul_field *field)
{
    return most(block->reach, field->ghost[1]);
}

/* Rows of a column, beside its margins; 0 or less: they do not fit. */
static int column_rows(const haul_block *block)
{
    int64_t rows = INT32_MAX / 2;
    for (unsigned i = 0; i < block->field_count; i++) {
        const haul_field *field = block->fields[i].field;
        const int64_t fit = rows_that_fit(field, planes_needed(block, field)) -
                            2 * (int64_t)margin_of(block, field);
        const bool has_lead =
            haul_buffer_bytes(field->ring) > (uint64_t)field->lead * field->element;
        rows = !has_lead ? 0 : fit < rows ? fit : rows;
    }
    return (int)rows;
}

/* Rows [first, end) of the array's planes are on the device. */
static void open_window(haul_field *field, int first, int end)
{
    field->window_first = most(first, -field->ghost[1]);
    field->window_rows = least(end, field->size[1] + field->ghost[1]) - field->window_first;
    const uint64_t elements = (uint64_t)(field->window_rows * field->row + field->gap);
    field->slot_bytes = elements * field->element;
    field->planes = (int)(haul_buffer_bytes(field->ring) / field->slot_bytes);
}

static void shut_window(haul_field *field, int planes)
{
    field->window_first = -field->ghost[1];
    field->window_rows = 0;
    field->slot_bytes = field->plane_bytes;
    field->planes = planes;
}

/* What the device has goes home, and with it the room for the next column. What is overwritten
 * first may be on neither. */
static haul_status bring_home(haul_field *field, bool is_fresh, haul_error *error)
{
    haul_status status = HAUL_OK;
    for (int i = 0; i < field->part_count && !status; i++) {
        field->parts[i].on_host = field->parts[i].on_host || is_fresh;
        status = haul_part_fetch(field, i, true, error);
        field->parts[i].on_device = false;
    }
    return status;
}

typedef struct columns {
    haul_context *context;
    haul_block block;
    int rows;
    int count;
    haul_step *steps; /* with the boxes of the column */
} columns;

static void cut_steps(const columns *self, int column)
{
    for (size_t i = 0; i < self->block.count; i++) {
        haul_step *step = &self->steps[i];
        *step = self->block.steps[i];
        if (column)
            step->box.lo[1] = most(step->box.lo[1], column * self->rows - step->skew);
        if (column + 1 < self->count)
            step->box.hi[1] = least(step->box.hi[1], (column + 1) * self->rows - step->skew);
    }
}

static haul_status run_column(const columns *self, int column, haul_error *error)
{
    const int first = column * self->rows;
    const unsigned field_count = self->block.field_count;
    int planes[HAUL_BLOCK_FIELDS];
    haul_block block = self->block;
    haul_status status = HAUL_OK;
    block.steps = self->steps;
    cut_steps(self, column);
    for (unsigned i = 0; i < field_count; i++) {
        planes[i] = block.fields[i].field->planes;
        const int margin = margin_of(&block, block.fields[i].field);
        open_window(block.fields[i].field, first - margin, first + self->rows + margin);
        block.fields[i].is_fresh = block.fields[i].is_dead = false;
    }
    status = haul_block_run(self->context, &block, error);
    for (unsigned i = 0; i < field_count; i++) {
        const haul_status home = bring_home(block.fields[i].field, false, status ? NULL : error);
        status = status ? status : home;
        shut_window(block.fields[i].field, planes[i]);
    }
    return status;
}

/* Cells beyond the edges are set, and reductions made, on the host, where the arrays are between
 * columns. */
static bool is_plain(const haul_step *step)
{
    bool is_one = step->source && !step->source->reduces;
    for (unsigned u = 0; u < step->use_count; u++)
        is_one = is_one && haul_is_along(step, &step->uses[u]) && step->uses[u].field->dims == 3;
    return is_one;
}

/* As many steps as leave a column four times the rows that they reach into, as columns are copied
 * with those. */
haul_status haul_columns_run(haul_context *context, haul_step *steps, size_t count, size_t *taken,
                             haul_error *error)
{
    columns self = {.context = context};
    size_t plain = 0, loops = 0;
    *taken = 1;
    for (; plain < count && is_plain(&steps[plain]); plain++)
        loops += haul_loops_of(&steps[plain]);
    if (!plain)
        return haul_host_run(context, steps, 1, error);
    size_t steps_most = context->options.steps ? context->options.steps : loops;
    steps_most = steps_most < loops ? steps_most : loops;
    do {
        const haul_block_limits limits = {steps_most, INT32_MAX, .in_host_rows = true};
        haul_block_take(&self.block, steps, count, &limits);
        const size_t last = haul_loops_of(&steps[self.block.count - 1]);
        loops = self.block.loops;
        steps_most = loops / 2 < loops - last ? loops / 2 : loops - last;
        self.rows = column_rows(&self.block);
    } while (self.rows < 4 * self.block.reach && steps_most);
    int skew = 0;
    for (size_t i = 0; i < self.block.count; i++)
        skew = most(skew, self.block.steps[i].skew);
    if (self.rows < 1)
        return haul_fail(error, HAUL_DEVICE_FULL,
                         "kernel '%s' needs more rows of an array on the device than there is room "
                         "for",
                         steps->source->name);
    self.count = (self.block.fields[0].field->size[1] + skew + self.rows - 1) / self.rows;
    self.steps = calloc(plain, sizeof *self.steps); /* a block has no more */
    if (!self.steps)
        return haul_fail_no_memory(error);
    haul_status status = HAUL_OK;
    for (unsigned i = 0; i < self.block.field_count && !status; i++)
        status = bring_home(self.block.fields[i].field, self.block.fields[i].is_fresh, error);
    for (int column = 0; column < self.count && !status; column++)
        status = run_column(&self, column, error);
    free(self.steps);
    *taken = self.block.count;
    context->rows_chosen = self.rows;
    return status;
}
