/* CPU and GPU together: the host's threads take the last regions of arrays that stream through the
 * device, while the device works on the others. Between the two, step i ends `skew` planes before
 * the border on the device and begins `skew` planes behind it on the host, so neither needs what
 * the other computes; the planes between are done when both have ended. Nothing is computed twice.
 */
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "haul/device_backend.h"
#include "tile/tile_parts.h"

static double wall_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Whether the device leaves the host's threads a core. A simulated host takes no time, so that no
 * share of it would be right. */
static bool leaves_cores(const haul_device_properties *device)
{
    return !device->is_simulated &&
           (!device->is_host || (long)device->multiprocessors < sysconf(_SC_NPROCESSORS_ONLN));
}

/* The host's share of the work where both end at once: the model's at first. */
static double share_of(const haul_context *self, const haul_block *block)
{
    const haul_device_properties *device = haul_device_describe(self->device);
    const haul_pass_time *pass = &self->predicted;
    if (self->options.host_share)
        return self->options.host_share;
    if (!leaves_cores(device) || self->is_share_bad)
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

/* Reductions add all rows in one place, a periodic edge joins the two sides, and fused steps are
 * the device's. */
static bool can_share(const haul_step *step)
{
    const haul_field *field = step->uses[0].field;
    return step->source ? !step->source->reduces && !step->fused.steps
                        : field->boundary[step->outer] != HAUL_BOUNDARY_PERIODIC;
}

/* Regions for the host, of a block that can be shared. */
static int host_parts(const haul_context *self, const haul_block *block, const haul_field *along)
{
    bool is_tight = self->options.host_share > 0;
    for (unsigned i = 0; i < block->field_count; i++) {
        if (!block->fields[i].is_aligned && block->fields[i].is_written)
            return 0;
        is_tight = is_tight || !haul_field_is_all_there(block->fields[i].field);
    }
    for (size_t i = 0; i < block->count; i++)
        if (!can_share(&block->steps[i]))
            return 0;
    if (!is_tight || block->wraps)
        return 0;
    const int parts = (int)(share_of(self, block) * along->part_count);
    return parts < along->part_count ? parts : along->part_count - 1;
}

typedef struct share {
    haul_context *context;
    const haul_block *block;
    haul_step *steps; /* of one of the sides */
    int border;       /* plane */
    int parts;        /* the host's */
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
        /* the host may be first to write what neither side kept, as it is overwritten */
        for (int p = 0; of->is_aligned && of->is_fresh && p < field->part_count; p++)
            field->parts[p].on_host = field->parts[p].on_host || !field->parts[p].on_device;
        for (int p = self->border / field->region; of->is_aligned && p < field->part_count; p++) {
            if (!status)
                status = haul_part_fetch(field, p, !of->is_fresh, error);
            field->parts[p].on_host = field->parts[p].on_host || !status;
            field->parts[p].on_device = field->parts[p].on_device && status;
        }
    }
    return status;
}

/* Parts near the border come home also where they are dead: the planes between are read there. */
static haul_status run_device(const share *self, haul_error *error)
{
    haul_block block = *self->block;
    cut_steps(self, -2, -1);
    block.steps = self->steps;
    block.host_from = self->border - block.reach;
    return haul_block_run(self->context, &block, error);
}

/* From the times of both sides: where they would have ended together. */
static void correct(const share *self, int all, double host_s)
{
    haul_context *context = self->context;
    double device_s;
    if (haul_event_seconds(context->share_began, context->share_ended, &device_s, NULL) ||
        device_s <= 0 || host_s <= 0)
        return;
    const double host = self->parts / host_s, device = (all - self->parts) / device_s;
    const double last = (double)self->parts / all;
    context->host_share = (last + host / (host + device)) / 2;
    context->is_share_bad = context->host_share * all < 1;
}

/* Device and host at once, then the planes between. */
static haul_status run_both(const share *self, int all, haul_error *error)
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
        correct(self, all, host_s);
    context->host_parts = self->parts;
    context->steps_chosen = (unsigned)count;
    context->rows_chosen = 0;
    return status;
}

haul_status haul_share_run(haul_context *context, const haul_block *block, bool *is_shared,
                           haul_error *error)
{
    const haul_field *along = haul_block_along(block);
    share self = {.context = context, .block = block, .parts = host_parts(context, block, along)};
    haul_status status = HAUL_OK;
    *is_shared = self.parts > 0;
    if (!*is_shared)
        return HAUL_OK;
    self.steps = calloc(block->count, sizeof *self.steps);
    if (!self.steps)
        return haul_fail_no_memory(error);
    self.border = (along->part_count - self.parts) * along->region;
    if (!context->share_began)
        status = haul_event_new(context->device, &context->share_began, error);
    if (!status && !context->share_ended)
        status = haul_event_new(context->device, &context->share_ended, error);
    if (!status)
        status = run_both(&self, along->part_count, error);
    free(self.steps);
    return status;
}
