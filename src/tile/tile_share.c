/* CPU and GPU together: the host's threads take the last regions of arrays that stream through the
 * device, while the device works on the others. Between the two, step i ends `skew` planes before
 * the border on the device and begins `skew` planes behind it on the host, so neither needs what
 * the other computes; the planes between are done when both have ended. Nothing is computed twice.
 */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/fail.h"
#include "haul/device_backend.h"
#include "tile/tile_parts.h"

static double wall_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The host's share of the work where both end at once: the model's at first. Cores that are the
 * device take no second share of themselves, and a simulated host takes no time. */
static double share_of(const haul_context *self, const haul_block *block)
{
    const haul_device_properties *device = haul_device_describe(self->device);
    const haul_pass_time *pass = &self->predicted;
    if (self->options.host_share)
        return self->options.host_share;
    if (device->is_host || device->is_simulated || self->is_share_bad)
        return 0;
    if (self->host_share > 0)
        return self->host_share;
    double bytes = 0;
    for (size_t i = 0; i < block->count; i++)
        bytes += haul_step_bytes(&block->steps[i]);
    const double host_s = bytes / HAUL_HOST_BPS;
    const double device_s = pass->passes ? pass->total_s / (double)pass->passes : 0;
    return device_s / (host_s + device_s);
}

/* Reductions add all rows in one place, and a periodic edge joins the two sides. */
static bool can_share(const haul_step *step)
{
    const haul_field *field = step->uses[0].field;
    return step->source ? !step->source->reduces
                        : field->boundary[step->outer] != HAUL_BOUNDARY_PERIODIC;
}

/* Regions for the host, of a block that can be shared. */
static int host_parts(const haul_context *self, const haul_block *block)
{
    const haul_field *along = NULL;
    bool is_tight = self->options.host_share > 0;
    for (unsigned i = 0; i < block->field_count; i++) {
        const haul_block_field *of = &block->fields[i];
        if (of->is_aligned)
            along = of->field;
        else if (of->is_written)
            return 0;
        is_tight = is_tight || !haul_field_is_all_there(of->field);
    }
    for (size_t i = 0; i < block->count; i++)
        if (!can_share(&block->steps[i]))
            return 0;
    if (!along || !is_tight || block->wraps)
        return 0;
    const int parts = (int)(share_of(self, block) * along->part_count);
    return parts < along->part_count ? parts : along->part_count - 1;
}

typedef struct share {
    haul_context *context;
    const haul_block *block;
    haul_step *steps; /* of one of the sides */
    int border;       /* plane */
    int parts;        /* the device's */
} share;

/* From `low` skews before the border, or the array's start, to `high` skews behind, or its end. */
static void cut_steps(const share *self, int low, int high)
{
    for (size_t i = 0; i < self->block->count; i++) {
        haul_step *step = &self->steps[i];
        *step = self->block->steps[i];
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
        const haul_block_field *of = &self->block->fields[i];
        haul_field *field = of->field;
        for (int p = self->parts; of->is_aligned && p < field->part_count && !status; p++) {
            if (!of->is_fresh)
                status = haul_part_fetch(field, p, true, error);
            field->parts[p].on_host = !status;
            field->parts[p].on_device = false;
            field->parts[p].passed = NULL;
        }
    }
    return status;
}

static haul_status run_device(const share *self, haul_error *error)
{
    haul_block block = *self->block;
    const int planes = self->border / self->parts, reach = 2 * block.reach + planes;
    cut_steps(self, -2, -1);
    block.steps = self->steps;
    block.parts = self->parts;
    block.length = self->border;
    block.kept = self->border < reach ? self->parts : (reach + planes - 1) / planes;
    return haul_block_run(self->context, &block, error);
}

/* From the times of both sides: where they would have ended together. */
static void correct(haul_context *self, const share *shared, int parts, double host_s)
{
    double device_s;
    if (haul_event_seconds(self->share_began, self->share_ended, &device_s, NULL) ||
        device_s <= 0 || host_s <= 0)
        return;
    const double host = parts / host_s, device = shared->parts / device_s;
    const double last = (double)parts / (parts + shared->parts);
    self->host_share = (last + host / (host + device)) / 2;
    self->is_share_bad = self->host_share * (parts + shared->parts) < 1;
}

/* Device and host at once, then the planes between. */
static haul_status run_both(share *self, int parts, haul_error *error)
{
    haul_context *context = self->context;
    const size_t count = self->block->count;
    haul_status status = take_parts(self, error);
    if (!status)
        status = haul_stream_record(context->run, context->share_began, error);
    if (!status)
        status = run_device(self, error);
    if (!status)
        status = haul_stream_record(context->run, context->share_ended, error);
    const double begin = wall_s();
    cut_steps(self, 1, 2);
    if (!status)
        status = haul_host_run(context, self->steps, count, error);
    const double host_s = wall_s() - begin;
    cut_steps(self, -1, 1);
    if (!status)
        status = haul_host_run(context, self->steps, count, error);
    if (!status)
        status = haul_event_wait(context->share_ended, error);
    if (!status)
        correct(context, self, parts, host_s);
    context->host_parts = parts;
    context->steps_chosen = (unsigned)count;
    context->rows_chosen = 0;
    return status;
}

haul_status haul_share_run(haul_context *context, const haul_block *block, bool *is_shared,
                           haul_error *error)
{
    const int parts = host_parts(context, block);
    share self = {.context = context, .block = block};
    haul_status status = HAUL_OK;
    *is_shared = parts > 0;
    for (unsigned i = 0; parts && i < block->field_count; i++)
        if (block->fields[i].is_aligned) {
            self.parts = block->fields[i].field->part_count - parts;
            self.border = self.parts * block->fields[i].field->region;
        }
    if (!self.parts)
        return HAUL_OK;
    if (!context->share_began)
        status = haul_event_new(context->device, &context->share_began, error);
    if (!status && !context->share_ended)
        status = haul_event_new(context->device, &context->share_ended, error);
    if (!status && !(self.steps = calloc(block->count, sizeof *self.steps)))
        status = haul_fail_no_memory(error);
    if (!status)
        status = run_both(&self, parts, error);
    free(self.steps);
    return status;
}
