/* Contexts: the device, its compiled kernels, and how arrays are divided into regions. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "haul/device_backend.h"
#include "tile/tile_parts.h"

enum { REGIONS = 16 }; /* of the longest array where nothing else decides: the paper's */

static haul_status check_options(const haul_context_options *options, haul_error *error)
{
    if (options->region < 0 || options->rows < 0)
        return haul_fail(error, HAUL_USAGE, "regions of %d planes, tiles of %d rows",
                         options->region, options->rows);
    if (!(options->host_share <= 1))
        return haul_fail(error, HAUL_USAGE, "the host's share is %g, more than 1",
                         options->host_share);
    return HAUL_OK;
}

/* A device gets streams and a budget; the host needs neither, as kernels run on the arrays
 * themselves. */
haul_status haul_context_open(const char *device, const haul_context_options *options,
                              haul_context **context, haul_error *error)
{
    haul_context *self = calloc(1, sizeof *self);
    if (!self)
        return haul_fail_no_memory(error);
    haul_status status = options ? check_options(options, error) : HAUL_OK;
    if (options)
        self->options = *options;
    if (self->options.device_options)
        self->device_options = *self->options.device_options;
    if (!status)
        status = haul_device_open(device, &self->device_options, &self->device, error);
    if (!status) {
        self->is_host = !strcmp(self->device->backend->kind, "host");
        self->without_data = self->device_options.without_data;
        self->budget = self->options.memory_bytes;
    }
    if (!status && !self->is_host) {
        status = haul_device_open_queues(self, error);
        const haul_processes *processes = self->options.processes;
        if (!status && self->options.keep_plan &&
            !(self->plan = haul_tile_plan_new(processes ? processes->count : 1)))
            status = haul_fail_no_memory(error);
        uint64_t room = 0;
        if (!status && !self->budget)
            status = haul_device_room(self->device, &room, error);
        if (!self->budget)
            /* a tenth is left to the driver, compiled kernels and frames */
            self->budget = room / 10 * 9;
    }
    if (status)
        haul_context_close(self);
    else
        *context = self;
    return status;
}

/* In the order of use: work ends, then arrays and kernels go, then the streams, then the device. */
void haul_context_close(haul_context *context)
{
    if (!context)
        return;
    if (context->device)
        (void)haul_context_wait(context, NULL);
    while (context->fields)
        haul_field_free(context->fields);
    for (size_t i = 0; i < context->kernel_count; i++)
        haul_kernel_free(context->kernels[i]);
    for (haul_fused_kernel *next, *one = context->fused_kernels; one; one = next) {
        next = one->next;
        free(one);
    }
    haul_device_close_queues(context);
    haul_tile_plan_free(context->plan);
    haul_device_close(context->device);
    free(context->kernels);
    free(context->steps);
    free(context->passed);
    free(context);
}

haul_device *haul_context_device(haul_context *context)
{
    return context->device;
}

haul_context_counts haul_context_count(const haul_context *context)
{
    haul_context_counts counts = context->counts;
    counts.predicted_s = context->predicted.passes ? context->predicted.total_s : 0;
    counts.bound_s = context->predicted.passes ? context->predicted.bound_s : 0;
    return counts;
}

/* Compiles a kernel at its first loop and keeps it. Sources are static, so their addresses tell
 * them apart. */
haul_status haul_context_kernel(haul_context *context, const haul_kernel_source *source,
                                haul_kernel **kernel, haul_error *error)
{
    for (size_t i = 0; i < context->kernel_count; i++)
        if (haul_kernel_source_of(context->kernels[i]) == source) {
            *kernel = context->kernels[i];
            return HAUL_OK;
        }
    if (!haul_grow(&context->kernels, &context->kernel_capacity, context->kernel_count + 1,
                   sizeof(haul_kernel *)))
        return haul_fail_no_memory(error);
    const haul_status status = haul_kernel_new(context->device, source, kernel, error);
    if (!status)
        context->kernels[context->kernel_count++] = *kernel;
    return status;
}

/* Regions so thin that four fit an array's share of the device's memory beside the planes that
 * several steps are behind, and so many that copies hide behind each other. */
static void choose_region(haul_context *self)
{
    int longest = 0;
    uint64_t plane_bytes = 0;
    for (const haul_field *field = self->fields; field; field = field->next) {
        longest = field->length > longest ? field->length : longest;
        plane_bytes += field->plane_bytes;
    }
    self->region = (longest + REGIONS - 1) / REGIONS;
    if (!self->is_host && plane_bytes && self->budget / plane_bytes < (uint64_t)longest) {
        const int share = (int)(self->budget / plane_bytes / 8);
        self->region = share < self->region ? share : self->region;
    }
    if (self->region < 1)
        self->region = 1;
}

/* Late, at the first run or access: by then all arrays of a program are known, and the choice is
 * theirs together. New regions are the host's. */
haul_status haul_fields_divide(haul_context *context, haul_error *error)
{
    for (haul_field *field = context->fields; field; field = field->next) {
        if (field->parts)
            continue;
        if (!field->region && !context->region)
            choose_region(context);
        int region = field->region ? field->region : context->region;
        if (region > field->length)
            region = field->length ? field->length : 1;
        const int count = field->host_bytes ? (field->length + region - 1) / region : 0;
        field->parts = calloc(count ? (size_t)count : 1, sizeof *field->parts);
        if (!field->parts)
            return haul_fail_no_memory(error);
        for (int i = 0; i < count; i++)
            field->parts[i].on_host = true;
        field->region = region;
        field->part_count = count;
    }
    return HAUL_OK;
}

haul_status haul_context_start(haul_context *context, haul_error *error)
{
    return haul_queue_run(context, error);
}

/* Copies in need no wait: kernels wait for them. */
haul_status haul_context_wait(haul_context *context, haul_error *error)
{
    haul_status status = haul_queue_run(context, error);
    if (!status && !context->is_host)
        status = haul_tile_host_wait(context, context->run, error);
    if (!status && !context->is_host)
        status = haul_tile_host_wait(context, context->down, error);
    return status;
}
