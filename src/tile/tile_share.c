/* CPU and GPU together: the host's threads take the last regions of arrays that stream through the
 * device, while the device works on the others. Between the two, step i ends `skew` planes before
 * the border on the device and begins `skew` planes behind it on the host, so neither needs what
 * the other computes; the planes between are done when both have ended. Nothing is computed twice.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"
#include "haul/device_backend.h"
#include "tile/tile_run.h"

typedef struct share {
    haul_context *context;
    const hl_tile_block *block;
    hl_tile_step *steps;   /* of one of the sides */
    hl_tile_cut_loop *cut; /* of all steps */
    int border;            /* plane */
    int parts;             /* the host's */
} share;

/* From `low` skews before the border, or the array's start, to `high` skews behind, or its end. */
static void cut_steps(const share *self, int low, int high)
{
    for (size_t i = 0; i < self->block->count; i++) {
        hl_tile_step *step = &self->steps[i];
        *step = self->block->steps[i];
        step->cut = step->source && step->source->reduces ? &self->cut[i] : NULL;
        int *lo = &step->box.lo[step->outer], *hi = &step->box.hi[step->outer];
        const int first = self->border + low * step->skew, end = self->border + high * step->skew;
        if (low > -2)
            *lo = *lo > first ? *lo : first;
        if (high < 2)
            *hi = *hi < end ? *hi : end;
        *hi = *hi > *lo ? *hi : *lo;
    }
}

/* The host's regions come home before the device begins, so that the host need not wait for it. */
static haul_status take_parts(const share *self, haul_error *error)
{
    haul_status status = HAUL_OK;
    for (unsigned i = 0; i < self->block->field_count; i++) {
        const hl_tile_block_field *of = &self->block->fields[i];
        hl_tile_field *field = of->field;
        /* the host may be first to write what neither side kept, as it is overwritten */
        for (int p = 0; of->is_aligned && of->is_fresh && p < field->part_count; p++)
            field->parts[p].on_host = field->parts[p].on_host || !field->parts[p].on_device;
        for (int p = self->border / field->region; of->is_aligned && p < field->part_count; p++) {
            if (!status)
                status = hl_tile_part_fetch(field, p, !of->is_fresh, error);
            field->parts[p].on_host = field->parts[p].on_host || !status;
            field->parts[p].on_device = field->parts[p].on_device && status;
        }
    }
    return status;
}

/* Rows for what the host does of reductions. */
static haul_status make_rows(const share *self, haul_error *error)
{
    for (size_t i = 0; i < self->block->count; i++) {
        const hl_tile_step *step = &self->block->steps[i];
        self->cut[i].box = step->box;
        for (unsigned u = 0; u < step->use_count; u++) {
            uint64_t bytes;
            if (!step->uses[u].reduction)
                continue;
            self->cut[i].rows[u] = hl_tile_rows_new(step, &step->uses[u], &bytes);
            if (!self->cut[i].rows[u])
                return hl_base_fail_no_memory(error);
        }
    }
    return HAUL_OK;
}

/* Device and host at once, then the planes between. */
static haul_status run_both(const share *self, int all, haul_error *error)
{
    haul_context *context = self->context;
    const size_t count = self->block->count;
    haul_status status = take_parts(self, error);
    if (!status)
        status = hl_tile_record(context, context->streams.run, context->streams.share_began, error);
    if (!status) {
        /* Parts near the border come home also where they are dead: the planes between are read
         * there. */
        hl_tile_block block = *self->block;
        cut_steps(self, -2, -1);
        block.steps = self->steps;
        block.host_from = self->border - block.reach;
        status = hl_tile_block_run(self->context, &block, error);
    }
    if (!status)
        status = hl_tile_record(context, context->streams.run, context->streams.share_ended, error);
    const double begin = hl_base_clock_s();
    cut_steps(self, 1, 2);
    if (!status)
        status = hl_tile_host_run(context, self->steps, count, error);
    const double host_s = hl_base_clock_s() - begin;
    cut_steps(self, -1, 1);
    if (!status)
        status = hl_tile_host_run(context, self->steps, count, error);
    if (!status)
        status = hl_tile_host_wait_event(context, context->streams.share_ended, error);
    /* The device folds all rows, in the order in which it would fold its own. */
    for (size_t i = 0; i < count && !status; i++)
        status =
            hl_tile_cut_join(context, &self->block->steps[i], self->border, &self->cut[i], error);
    if (!status)
        status = hl_tile_cut_fold(context, self->block->steps, count, error);
    double device_s;
    if (!status && !haul_event_seconds(context->streams.share_began, context->streams.share_ended,
                                       &device_s, NULL))
        hl_tile_share_correct(&context->choice, self->parts, all, host_s, device_s);
    context->last.host_parts = self->parts;
    context->last.steps = (unsigned)count;
    context->last.rows = 0;
    return status;
}

haul_status hl_tile_share_run(haul_context *context, const hl_tile_block *block, bool *is_shared,
                              haul_error *error)
{
    const hl_tile_field *along = hl_tile_block_along(block);
    share self = {
        .context = context,
        .block = block,
        .parts = hl_tile_host_parts(&context->choice, block),
    };
    haul_status status = HAUL_OK;
    *is_shared = self.parts > 0;
    if (!*is_shared)
        return HAUL_OK;
    self.steps = calloc(block->count, sizeof *self.steps);
    self.cut = calloc(block->count, sizeof *self.cut);
    if (!self.steps || !self.cut) {
        free(self.steps);
        free(self.cut);
        return hl_base_fail_no_memory(error);
    }
    status = make_rows(&self, error);
    self.border = (along->part_count - self.parts) * along->region;
    if (!status && !context->streams.share_began)
        status = haul_event_new(context->memory.device, &context->streams.share_began, error);
    if (!status && !context->streams.share_ended)
        status = haul_event_new(context->memory.device, &context->streams.share_ended, error);
    if (!status)
        status = run_both(&self, along->part_count, error);
    for (size_t i = 0; i < block->count; i++)
        for (unsigned u = 0; u < HL_TILE_USES; u++)
            free(self.cut[i].rows[u]);
    free(self.cut);
    free(self.steps);
    return status;
}
