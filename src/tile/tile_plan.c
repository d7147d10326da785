/* Operations on the device: queued, counted, and kept as a plan with the messages between. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/grow.h"
#include "device/sim_device.h"
#include "tile/tile_plan.h"
#include "tile/tile_trace.h"

/* The later of the two on every stream: after it, all that is after either. */
static void join_moment(moment *self, const moment *other)
{
    for (int s = 0; s < STREAMS; s++)
        self->at[s] = other->at[s] > self->at[s] ? other->at[s] : self->at[s];
}

/* Notes only waits that say something new: what a stream has already waited for is implied. */
static haul_status add(hl_tile_plan *self, planned op, haul_error *error)
{
    if (!hl_base_grow(&self->ops, &self->capacity, self->count + 1, sizeof *self->ops))
        return hl_base_fail_no_memory(error);
    moment *seen = &self->seen[op.stream], *awaited = &self->awaited[op.stream];
    join_moment(awaited, op.stream < SENDS ? &self->received : &self->host);
    for (int s = 0; s < STREAMS; s++)
        if (s != op.stream && awaited->at[s] > seen->at[s])
            op.after.at[s] = awaited->at[s];
    join_moment(seen, awaited);
    self->ops[self->count++] = op;
    seen->at[op.stream] = (uint32_t)self->count;
    return HAUL_OK;
}

static haul_status note(haul_context *context, const haul_stream *stream, planned op,
                        haul_error *error)
{
    op.stream = hl_tile_stream_number(context, stream);
    return context->plan ? add(context->plan, op, error) : HAUL_OK;
}

/* By the kind of buffer: host memory is pinned or has no buffer. */
haul_status hl_tile_copy(haul_context *context, haul_stream *stream, const haul_transfer *transfer,
                         haul_error *error)
{
    static const char *const ops[] = {"HtoD", "DtoD", "DtoH"};
    const uint64_t bytes = transfer->size[0] * (transfer->size[1] ? transfer->size[1] : 1);
    const bool is_up = !transfer->from.buffer || transfer->from.buffer->kind != HAUL_BUFFER_DEVICE;
    const bool is_down = !transfer->to.buffer || transfer->to.buffer->kind != HAUL_BUFFER_DEVICE;
    const hl_tile_noting noting = hl_tile_note_begin(context, HL_TILE_NOTE_COPY, stream);
    const haul_status status = haul_stream_copy(stream, transfer, noting.done, error);
    hl_tile_note_copy(context, &noting, transfer);
    hl_tile_note_end(context, &noting, status);
    HAUL_TRY(status);
    context->counts.copies++;
    context->counts.bytes_up += is_up ? bytes : 0;
    context->counts.bytes_down += is_down ? bytes : 0;
    return note(context, stream,
                (planned){.op = ops[is_up     ? 0
                                    : is_down ? 2
                                              : 1],
                          .bytes = bytes},
                error);
}

/* NULL: no memory for it. */
static timed_kernel *find_kernel(hl_tile_plan *self, const haul_kernel_source *source)
{
    for (size_t i = 0; i < self->kernel_count; i++)
        if (self->kernels[i].source == source)
            return &self->kernels[i];
    if (!hl_base_grow(&self->kernels, &self->kernel_capacity, self->kernel_count + 1,
                      sizeof *self->kernels))
        return NULL;
    timed_kernel *kernel = &self->kernels[self->kernel_count++];
    *kernel = (timed_kernel){.source = source};
    return kernel;
}

/* The event that is to time the kernel's next launch; NULL: enough others are under way. */
static haul_event *time_launch(haul_context *context, timed_kernel *self, double bytes)
{
    timed_launch *place = NULL;
    for (int i = 0; i < UNDER_WAY; i++) {
        timed_launch *one = &self->under_way[i];
        double seconds;
        bool done = false;
        if (one->bytes > 0 && !haul_event_done(one->done, &done, NULL) && done) {
            if (!haul_event_seconds(one->done, one->done, &seconds, NULL))
                self->byte_s[self->launches++ % TIMED] = seconds / one->bytes;
            one->bytes = 0;
        }
        place = one->bytes > 0 ? place : one;
    }
    if (!place || (!place->done && haul_event_new(context->memory.device, &place->done, NULL)))
        return NULL;
    place->bytes = bytes;
    return place->done;
}

/* A kept plan needs the kernel's time before it has run: that of the simulated device, else by its
 * bytes at the rate of its launches before, or of the machine's memory. The fastest of them is
 * taken: others shared the device with copies, which the plan has beside them. */
static haul_status plan_kernel(haul_context *context, const haul_kernel *kernel,
                               const timed_kernel *timed, const haul_launch *launch,
                               int64_t *dur_ns, haul_error *error)
{
    if (haul_device_describe(context->memory.device)->is_simulated)
        return hl_device_sim_kernel_ns(context->memory.device, kernel, launch, dur_ns, error);
    const hl_tile_rates rates = hl_tile_rates_of(&context->choice);
    double byte_s = 1 / rates.memory_Bps;
    for (size_t i = 0; timed && i < timed->launches && i < TIMED; i++)
        byte_s = !i || timed->byte_s[i] < byte_s ? timed->byte_s[i] : byte_s;
    *dur_ns = (int64_t)(1e9 * (launch->bytes * byte_s + rates.launch_s));
    return HAUL_OK;
}

haul_status hl_tile_launch(haul_context *context, const haul_kernel_source *source,
                           const haul_launch *launch, haul_error *error)
{
    haul_kernel *kernel;
    planned op = {.op = "kernel", .kernel = source->name};
    const size_t compiled = context->kernels.count;
    hl_tile_noting noting = hl_tile_note_call(context, "haul_kernel_new");
    haul_status status = hl_tile_kernel_get(&context->kernels, source, &kernel, error);
    const bool is_new = !status && context->kernels.count > compiled;
    hl_tile_note_end(context, &noting, is_new ? HAUL_OK : HAUL_STATUS_MISSING); /* else none */
    HAUL_TRY(status);
    noting = hl_tile_note_begin(context, HL_TILE_NOTE_KERNEL, context->streams.run);
    const bool is_simulated = haul_device_describe(context->memory.device)->is_simulated;
    timed_kernel *timed =
        context->plan && !is_simulated ? find_kernel(context->plan, source) : NULL;
    haul_event *done = noting.done;
    if (timed && !done)
        done = time_launch(context, timed, launch->bytes);
    status = haul_stream_launch(context->streams.run, kernel, launch, done, error);
    hl_tile_note_kernel(context, &noting, source);
    hl_tile_note_end(context, &noting, status);
    HAUL_TRY(status);
    context->counts.kernels++;
    if (context->plan)
        HAUL_TRY(plan_kernel(context, kernel, timed, launch, &op.dur_ns, error));
    return note(context, context->streams.run, op, error);
}

static known_event *find_event(hl_tile_plan *self, const haul_event *event)
{
    for (size_t i = 0; i < self->event_count; i++)
        if (self->events[i].event == event)
            return &self->events[i];
    return NULL;
}

/* An event stands for all that its stream has done or waited for until now. */
haul_status hl_tile_record(haul_context *context, haul_stream *stream, haul_event *event,
                           haul_error *error)
{
    hl_tile_plan *self = context->plan;
    const hl_tile_noting noting = hl_tile_note_event(context, HL_TILE_NOTE_RECORD, stream, event);
    const haul_status status = haul_stream_record(stream, event, error);
    hl_tile_note_end(context, &noting, status);
    if (status || !self)
        return status;
    known_event *known = find_event(self, event);
    if (!known) {
        if (!hl_base_grow(&self->events, &self->event_capacity, self->event_count + 1,
                          sizeof *self->events))
            return hl_base_fail_no_memory(error);
        known = &self->events[self->event_count++];
    }
    const int on = hl_tile_stream_number(context, stream);
    *known = (known_event){event, self->seen[on]};
    join_moment(&known->when, &self->awaited[on]);
    return HAUL_OK;
}

/* An event that was never recorded holds nothing up, and is not noted. */
haul_status hl_tile_wait(haul_context *context, haul_stream *stream, haul_event *event,
                         haul_error *error)
{
    const hl_tile_noting noting =
        hl_tile_note_event(context, HL_TILE_NOTE_STREAM_WAITS, stream, event);
    const haul_status status = haul_stream_wait_event(stream, event, error);
    hl_tile_note_end(context, &noting, status);
    const known_event *known = context->plan ? find_event(context->plan, event) : NULL;
    if (!status && known)
        join_moment(&context->plan->awaited[hl_tile_stream_number(context, stream)], &known->when);
    return status;
}

haul_status hl_tile_host_wait(haul_context *context, haul_stream *stream, haul_error *error)
{
    const hl_tile_noting noting = hl_tile_note_begin(context, HL_TILE_NOTE_WAIT_STREAM, stream);
    const haul_status status = haul_stream_wait(stream, error);
    hl_tile_note_end(context, &noting, status);
    if (!status && context->plan)
        join_moment(&context->plan->host,
                    &context->plan->seen[hl_tile_stream_number(context, stream)]);
    return status;
}

haul_status hl_tile_host_wait_event(haul_context *context, haul_event *event, haul_error *error)
{
    const hl_tile_noting noting = hl_tile_note_event(context, HL_TILE_NOTE_WAIT_EVENT, NULL, event);
    const haul_status status = haul_event_wait(event, error);
    hl_tile_note_end(context, &noting, status);
    const known_event *known = context->plan ? find_event(context->plan, event) : NULL;
    if (!status && known)
        join_moment(&context->plan->host, &known->when);
    return status;
}

static haul_status note_message(haul_context *context, const haul_process_message *message,
                                haul_error *error)
{
    const haul_processes *processes = context->options.processes;
    const int apart = (message->peer - processes->rank + processes->count) % processes->count;
    return add(
        context->plan,
        (planned){.op = message->is_send ? "send" : "receive",
                  .stream = message->is_send ? SENDS : RECEIVES + (2 * apart > processes->count),
                  .peer = message->peer,
                  .number = ++context->plan->messages[2 * message->peer + message->is_send],
                  .bytes = message->bytes},
        error);
}

haul_status hl_tile_start(haul_context *context, const haul_process_message *messages, int count,
                          haul_error *error)
{
    const haul_processes *processes = context->options.processes;
    const hl_tile_noting noting = hl_tile_note_call(context, "exchange of ghost planes");
    haul_status status = processes->start(processes->of, messages, count, error);
    hl_tile_note_end(context, &noting, status);
    for (int i = 0; i < count && !status && context->plan; i++)
        status = note_message(context, &messages[i], error);
    return status;
}

static void note_received(hl_tile_plan *self)
{
    for (int s = SENDS; s < STREAMS; s++)
        join_moment(&self->received, &self->seen[s]);
    join_moment(&self->host, &self->received);
}

haul_status hl_tile_finish(haul_context *context, haul_error *error)
{
    const haul_processes *processes = context->options.processes;
    const hl_tile_noting noting = hl_tile_note_call(context, "wait for ghost planes");
    const haul_status status = processes->finish(processes->of, error);
    hl_tile_note_end(context, &noting, status);
    if (!status)
        hl_tile_note_received(context);
    return status;
}

void hl_tile_note_received(haul_context *context)
{
    if (context->plan)
        note_received(context->plan);
}

/* In the plan a message to each. */
haul_status hl_tile_gather(haul_context *context, const void *own, size_t bytes, void *all,
                           haul_error *error)
{
    const haul_processes *processes = context->options.processes;
    const int count = processes->count;
    const hl_tile_noting noting = hl_tile_note_call(context, "gather from all processes");
    haul_status status = processes->gather(processes->of, own, bytes, all, error);
    hl_tile_note_end(context, &noting, status);
    for (int apart = 1; apart < count && !status && context->plan; apart++)
        for (int is_send = 0; is_send < 2 && !status; is_send++) {
            const int peer = (processes->rank + (is_send ? apart : count - apart)) % count;
            status = note_message(
                context, &(haul_process_message){.peer = peer, .is_send = is_send, .bytes = bytes},
                error);
        }
    if (!status && context->plan)
        note_received(context->plan);
    return status;
}

hl_tile_plan *hl_tile_plan_new(int processes)
{
    hl_tile_plan *self = calloc(1, sizeof *self);
    if (self && !(self->messages = calloc((size_t)processes * 2, sizeof *self->messages))) {
        free(self);
        return NULL;
    }
    return self;
}

void hl_tile_plan_free(hl_tile_plan *plan)
{
    if (!plan)
        return;
    for (size_t i = 0; i < plan->kernel_count; i++)
        for (int j = 0; j < UNDER_WAY; j++)
            haul_event_free(plan->kernels[i].under_way[j].done);
    free(plan->kernels);
    free(plan->ops);
    free(plan->events);
    free(plan->messages);
    free(plan);
}
