/* Contexts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "haul/device_backend.h"
#include "tile/tile_calls.h"

static haul_status check_options(const haul_context_options *options, haul_error *error)
{
    if (options->region < 0 || options->rows < 0)
        return haul_error_set(error, HAUL_STATUS_USAGE, "regions of %d planes, tiles of %d rows",
                              options->region, options->rows);
    if (options->fused && (options->fused % 2 == 0 || options->fused >= 2 * HL_TILE_FUSED_CHOICES))
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "%u loops fused in a launch: they are 1, 3, 5 or 7", options->fused);
    if (!(options->host_share <= 1))
        return haul_error_set(error, HAUL_STATUS_USAGE, "the host's share is %g, more than 1",
                              options->host_share);
    return HAUL_OK;
}

/* A device gets streams and a budget; the host needs neither, as kernels run on the arrays
 * themselves. */
static haul_status open_device(haul_context *self, const char *device, haul_error *error)
{
    hl_tile_memory *memory = &self->memory;
    const haul_processes *processes = memory->processes;
    if (!self->device_options.queue)
        self->device_options.queue = self->options.stream;
    HAUL_TRY(haul_device_open(device, &self->device_options, &memory->device, error));
    self->device_options.test = NULL; /* the caller's, which may go now */
    self->kernels.device = memory->device;
    memory->is_host = !strcmp(memory->device->backend->kind, "host");
    if (memory->is_host)
        return HAUL_OK;
    HAUL_TRY(hl_tile_streams_open(self, error));
    if (self->options.keep_plan &&
        !(self->plan = hl_tile_plan_new(processes ? processes->count : 1)))
        return hl_base_fail_no_memory(error);
    if (memory->budget)
        return HAUL_OK;
    uint64_t room = 0;
    HAUL_TRY(haul_device_room(memory->device, &room, error));
    memory->budget = room / 10 * 9; /* a tenth is left to the driver, compiled kernels and frames */
    return HAUL_OK;
}

haul_status hl_tile_context_open(const char *device, const haul_context_options *options,
                                 haul_context **context, haul_error *error)
{
    haul_context *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    /* The layers' parts of a context, each for its own. */
    if (options)
        self->options = *options;
    if (self->options.device_options)
        self->device_options = *self->options.device_options;
    self->memory = (hl_tile_memory){
        .processes = self->options.processes,
        .without_data = self->device_options.without_data,
        .region_given = self->options.region,
        .exchange_steps = self->options.exchange_steps,
        .budget = self->options.memory_bytes,
    };
    const char *checked = getenv("HAUL_CHECK"); // NOLINT(concurrency-mt-unsafe): read only
    self->is_checked = (self->options.check || (checked && !strcmp(checked, "1"))) &&
                       !self->memory.without_data && !(self->device_options.time_limit_s > 0);
    self->queue.keeps_all = self->is_checked;
    self->choice = (hl_tile_choice){
        .options = &self->options, .memory = &self->memory, .kernels = &self->kernels};
    haul_status status = check_options(&self->options, error);
    if (!status)
        status = open_device(self, device, error);
    if (!status)
        status = hl_tile_trace_open(self, error);
    if (status)
        haul_context_close(self);
    else
        *context = self;
    return status;
}

static haul_status wait_one(haul_context *context, int rank, void *state, haul_error *error)
{
    (void)rank;
    (void)state;
    return haul_context_wait(context, error);
}

/* In the order of use: work ends, then arrays and kernels go, then the streams, then the device. */
void haul_context_close(haul_context *context)
{
    if (!context)
        return;
    (void)haul_arrays_save_finish(context, NULL);
    if (context->team) {
        /* Work ends on all before one goes: it may wait for the others. */
        const int count = hl_tile_team_count(context->team);
        bool is_whole = true;
        for (int rank = 0; rank < count; rank++)
            is_whole = is_whole && hl_tile_team_context(context->team, rank);
        /* once more, where the first call only told of an older failure */
        if (is_whole && hl_tile_on_all(context, wait_one, NULL, NULL))
            (void)hl_tile_on_all(context, wait_one, NULL, NULL);
        for (int rank = count - 1; rank >= 0; rank--) /* whose memory others have borrowed: last */
            haul_context_close(hl_tile_team_context(context->team, rank));
        hl_tile_team_free(context->team);
        free(context->before);
        free(context->relay.speeds);
        free(context);
        return;
    }
    if (context->memory.is_host || context->streams.computed) /* opened as a whole */
        (void)haul_context_wait(context, NULL);
    while (context->memory.fields)
        hl_tile_field_close(context->memory.fields);
    hl_tile_trace_close(context);
    hl_tile_kernels_release(&context->kernels);
    hl_tile_choice_release(&context->choice);
    haul_stream_free(context->limited.stream);
    haul_device_close(context->limited.device);
    hl_tile_streams_close(&context->streams);
    hl_tile_plan_free(context->plan);
    haul_device_close(context->memory.device);
    free(context->queue.steps);
    free(context->known);
    free(context);
}

haul_device *haul_context_device(haul_context *context)
{
    return context->memory.device;
}

haul_context_counts haul_context_count(const haul_context *context)
{
    if (context->team) {
        haul_context_counts all = haul_context_count(hl_tile_team_context(context->team, 0));
        for (int rank = 1; rank < hl_tile_team_count(context->team); rank++) {
            const haul_context_counts one =
                haul_context_count(hl_tile_team_context(context->team, rank));
            all.bytes_up += one.bytes_up;
            all.bytes_down += one.bytes_down;
            all.copies += one.copies;
            all.kernels += one.kernels;
            all.passes += one.passes;
            all.device_bytes += one.device_bytes;
            all.host_bytes += one.host_bytes;
            all.predicted_s = fmax(all.predicted_s, one.predicted_s);
            all.bound_s = fmax(all.bound_s, one.bound_s);
            all.exchanges += one.exchanges;
            all.bytes_sent += one.bytes_sent;
            all.exposed_s = fmax(all.exposed_s, one.exposed_s);
        }
        return all;
    }
    const hl_tile_pass_time *predicted = &context->choice.predicted;
    haul_context_counts counts = context->counts;
    counts.host_bytes = context->memory.host_bytes;
    counts.device_bytes = context->memory.device_bytes;
    counts.predicted_s = predicted->passes ? predicted->total_s : 0;
    counts.bound_s = predicted->passes ? predicted->bound_s : 0;
    return counts;
}

haul_status haul_context_start(haul_context *context, haul_error *error)
{
    return hl_tile_queue_run(context, error);
}

/* Copies in need no wait: kernels wait for them. */
haul_status haul_context_wait(haul_context *context, haul_error *error)
{
    if (context->team)
        return hl_tile_on_all(context, wait_one, NULL, error);
    haul_status status = hl_tile_queue_run(context, error);
    if (!status && !context->memory.is_host)
        status = hl_tile_host_wait(context, context->streams.run, error);
    if (!status && !context->memory.is_host)
        status = hl_tile_host_wait(context, context->streams.down, error);
    context->has_failed = context->has_failed || status;
    return status;
}
