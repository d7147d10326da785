#include "device/sim_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "device/backends.h"
#include "machine/architectures.h"

enum { ALIGNMENT = 4096, POISON = 0xcb, POLL_NS = 1000, NAME_BYTES = 512 };

/* "k40", "lassen:1", "my/file.yaml:1": a machine and the number of its GPU. */
static unsigned parse_which(const char *which, char name[NAME_BYTES])
{
    const char *colon = strrchr(which, ':');
    char *rest = NULL;
    const unsigned long number = colon ? strtoul(colon + 1, &rest, 10) : 0;
    const bool is_numbered = colon && rest != colon + 1 && !*rest && number < 100000;
    const int length = is_numbered ? (int)(colon - which) : NAME_BYTES - 1;
    snprintf(name, NAME_BYTES, "%.*s", length, which);
    return is_numbered ? (unsigned)number : 0;
}

static void node_release(haul_sim_node *node)
{
    if (--node->users)
        return;
    haul_machine_free(node->owned);
    haul_live_release(&node->live);
    free(node->works);
    free(node->streams);
    free(node->gpus);
    free(node);
}

static haul_status node_new(const char *name, const haul_device_options *options,
                            haul_sim_node **out, haul_error *error)
{
    haul_sim_node *node = calloc(1, sizeof *node);
    if (!node)
        return haul_fail_no_memory(error);
    *node = (haul_sim_node){
        .machine = options->machine,
        .users = 1,
        .without_data = options->without_data,
        .order = options->order,
        .random = options->seed ^ 0x9e3779b97f4a7c15, /* zero is the one state that stays */
        .time_limit_s = options->time_limit_s,
    };
    haul_status status = HAUL_OK;
    if (!node->random)
        node->random = 1;
    if (!node->machine && !*name)
        status = haul_fail(error, HAUL_USAGE,
                           "a simulated device is 'sim:MACHINE', or "
                           "'sim:MACHINE:GPU'; 'haul machine list' names them");
    if (!status && !node->machine) {
        status = haul_machine_load(name, &node->owned, error);
        node->machine = node->owned;
    }
    if (!status)
        status = haul_timeline_device_of(node->machine, &node->device, error);
    if (status) {
        node_release(node);
        return status;
    }
    haul_sim_model_directions(node);
    *out = node;
    return HAUL_OK;
}

static haul_status add_device(haul_sim_device *self, unsigned gpu, haul_error *error)
{
    haul_sim_node *node = self->node;
    const haul_parameter *count = &node->machine->gpu.count;
    if (count->provenance && (double)gpu >= count->value)
        return haul_fail(error, HAUL_ABSENT, "no GPU %u: machine '%.100s' has %g, from 0 on", gpu,
                         node->machine->name, count->value);
    size_t at = 0;
    while (at < node->gpu_count && node->gpus[at] != gpu)
        at++;
    if (!haul_grow(&node->gpus, &node->gpu_capacity, at + 1, sizeof *node->gpus))
        return haul_fail_no_memory(error);
    node->gpus[at] = gpu;
    self->index = (uint32_t)at;
    if (at == node->gpu_count) {
        haul_sim_settle(node); /* the timeline begins anew with one more device */
        node->gpu_count++;
    }
    return HAUL_OK;
}

static void describe(haul_sim_device *self, bool is_shareable)
{
    const haul_machine *machine = self->node->machine;
    const haul_gpu *gpu = &machine->gpu;
    const haul_architecture *architecture = haul_architecture_of(gpu);
    const unsigned can_share = is_shareable ? HAUL_CAN_SHARE : 0;
    self->base.properties = (haul_device_properties){
        .name = gpu->name ? gpu->name : machine->name,
        .architecture = gpu->architecture,
        .is_simulated = true,
        .can = HAUL_CAN_MAP | HAUL_CAN_COMBINE_WRITES | HAUL_CAN_MANAGE | HAUL_CAN_PIN |
               HAUL_CAN_REACH_PEERS | can_share,
        .memory_bytes = (uint64_t)gpu->memory_bytes.value,
        .l2_bytes = (uint64_t)gpu->l2_bytes.value,
        .memory_bandwidth_Bps = gpu->memory_bandwidth_Bps.value,
        .clock_Hz = gpu->clock_Hz.value,
        .multiprocessors = (unsigned)gpu->multiprocessors.value,
        .group_bytes = architecture ? architecture->group_bytes : 0,
        .multiprocessor_bytes = architecture ? architecture->shared_bytes : 0,
        .copy_engines = (unsigned)gpu->copy_engines.value,
        .implicit_sync = gpu->implicit_sync.provenance ? gpu->implicit_sync.value > 0 : -1,
    };
}

static haul_status open_sim(const char *which, const haul_device_options *options,
                            haul_device **device, haul_error *error)
{
    char name[NAME_BYTES];
    const unsigned gpu = parse_which(which, name);
    haul_sim_device *self = calloc(1, sizeof *self);
    if (!self)
        return haul_fail_no_memory(error);
    haul_status status = HAUL_OK;
    if (options->beside) {
        self->node = haul_sim_node_of(options->beside);
        self->node->users++;
    } else {
        status = node_new(name, options, &self->node, error);
    }
    if (!self->node) {
        free(self);
        return status;
    }
    status = add_device(self, gpu, error);
    if (status) {
        node_release(self->node);
        free(self);
        return status;
    }
    describe(self, options->is_shareable);
    *device = &self->base;
    return HAUL_OK;
}

static int64_t now(haul_device *device)
{
    return haul_sim_node_of(device)->now_ns;
}

/* The machine's memory; a memory limit is taken off by the caller. */
static haul_status room(haul_device *device, uint64_t *bytes, haul_error *error)
{
    const uint64_t all = device->properties.memory_bytes;
    if (!all)
        return haul_fail(error, HAUL_MISSING, "machine '%.100s' lacks gpu.memory",
                         haul_sim_node_of(device)->machine->name);
    *bytes = all > device->allocated ? all - device->allocated : 0;
    return HAUL_OK;
}

static haul_memory memory_at(const haul_sim_node *node, const void *pointer)
{
    const uintptr_t at = (uintptr_t)pointer;
    for (const haul_sim_buffer *buffer = node->buffers; buffer; buffer = buffer->next) {
        const uintptr_t first = (uintptr_t)buffer->data, given = (uintptr_t)buffer->base.pointer;
        if ((first && at >= first && at - first < buffer->base.bytes) ||
            (given && at >= given && at - given < buffer->base.bytes))
            return buffer->base.kind == HAUL_BUFFER_DEVICE    ? HAUL_DEVICE
                   : buffer->base.kind == HAUL_BUFFER_MANAGED ? HAUL_MANAGED
                                                              : HAUL_PINNED;
    }
    return HAUL_PAGEABLE;
}

static haul_status memory_of(haul_device *device, const void *pointer, haul_memory *memory,
                             haul_error *error)
{
    (void)error;
    *memory = memory_at(haul_sim_node_of(device), pointer);
    return HAUL_OK;
}

static haul_status add_buffer(haul_sim_node *node, const haul_sim_buffer *made,
                              haul_buffer **buffer, haul_error *error)
{
    haul_sim_buffer *self = malloc(sizeof *self);
    if (!self)
        return haul_fail_no_memory(error);
    *self = *made;
    self->base.pointer = self->trap ? self->trap : self->data;
    self->next = node->buffers;
    node->buffers = self;
    *buffer = &self->base;
    return HAUL_OK;
}

/* Where operations run late or in random order, fresh memory is filled with a pattern: reading it
 * before it is written shows. Without data a device buffer is a size alone. */
static haul_status buffer_new(haul_device *device, haul_buffer_kind kind, uint64_t bytes,
                              haul_buffer **buffer, haul_error *error)
{
    haul_sim_node *node = haul_sim_node_of(device);
    const uint64_t all = device->properties.memory_bytes;
    const bool on_device = kind == HAUL_BUFFER_DEVICE;
    haul_sim_buffer made = {.data = NULL};
    void *data = NULL;
    if ((on_device || kind == HAUL_BUFFER_MANAGED) && all &&
        (device->allocated > all || bytes > all - device->allocated))
        return haul_fail(error, HAUL_DEVICE_FULL,
                         "%llu bytes do not fit device '%s': %llu of its %llu are in use",
                         (unsigned long long)bytes, device->name,
                         (unsigned long long)device->allocated, (unsigned long long)all);
    if (on_device && !node->without_data) {
        HAUL_TRY(haul_sim_memory_new(&device->options, bytes, &made, error));
    } else if (!on_device) {
        if (posix_memalign(&data, ALIGNMENT, bytes))
            return haul_fail_no_memory(error);
        made.data = data;
    }
    if (made.data && node->order != HAUL_ORDER_USUAL)
        memset(made.data, POISON, bytes);
    const haul_status status = add_buffer(node, &made, buffer, error);
    if (status)
        haul_sim_memory_free(&made, bytes);
    else if (!on_device)
        (*buffer)->host = data;
    return status;
}

static haul_status buffer_import(haul_device *device, const haul_buffer_handle *handle,
                                 haul_buffer **buffer, haul_error *error)
{
    haul_sim_buffer made = {.data = NULL};
    haul_status status = haul_sim_memory_import(handle, &made, error);
    if (!status)
        status = add_buffer(haul_sim_node_of(device), &made, buffer, error);
    if (status)
        haul_sim_memory_free(&made, handle->bytes);
    return status;
}

static haul_status buffer_pin(haul_device *device, void *host, uint64_t bytes, haul_buffer **buffer,
                              haul_error *error)
{
    (void)bytes;
    const haul_sim_buffer made = {.data = host, .is_borrowed = true};
    return add_buffer(haul_sim_node_of(device), &made, buffer, error);
}

static void buffer_free(haul_buffer *buffer)
{
    haul_sim_node *node = haul_sim_node_of(buffer->device);
    haul_sim_buffer *self = (haul_sim_buffer *)buffer, **at = &node->buffers;
    haul_sim_settle(node);
    while (*at != self)
        at = &(*at)->next;
    *at = self->next;
    if (!self->is_borrowed)
        haul_sim_memory_free(self, buffer->bytes);
    free(self);
}

/* Takes the first index that is free: the timeline's streams are as many as were ever open at
 * once. */
haul_status haul_sim_stream_new(haul_device *device, haul_stream **stream, haul_error *error)
{
    haul_sim_node *node = haul_sim_node_of(device);
    haul_sim_stream *self = calloc(1, sizeof *self);
    size_t at = 0;
    while (at < node->stream_count && node->streams[at])
        at++;
    if (!self ||
        !haul_grow(&node->streams, &node->stream_capacity, at + 1, sizeof(haul_sim_stream *))) {
        free(self);
        return haul_fail_no_memory(error);
    }
    self->index = (uint32_t)at;
    self->device = ((haul_sim_device *)device)->index;
    self->undone = HAUL_NONE;
    const haul_status status =
        node->count ? haul_live_stream(&node->live, self->index, self->device, error) : HAUL_OK;
    if (status) {
        free(self);
        return status;
    }
    node->streams[at] = self;
    if (at == node->stream_count)
        node->stream_count++;
    *stream = &self->base;
    return HAUL_OK;
}

/* Queued work refers to the stream by its index. */
static void stream_free(haul_stream *stream)
{
    haul_sim_stream *self = (haul_sim_stream *)stream;
    haul_sim_node *node = haul_sim_node_of(stream->device);
    haul_sim_settle(node);
    node->streams[self->index] = NULL;
    free(self->waits);
    free(self);
}

static void close_sim(haul_device *device)
{
    haul_sim_device *self = (haul_sim_device *)device;
    for (int i = 0; i < 2; i++)
        if (self->mapped[i])
            stream_free(&self->mapped[i]->base);
    node_release(self->node);
    free(self);
}

static haul_status record(haul_stream *stream, haul_event *event, haul_error *error)
{
    const haul_host_task nothing = {.kind = HAUL_TASK_NOTHING};
    return haul_sim_queue(stream, &haul_sim_point, NULL, &nothing, event, error);
}

/* Waits that no operation has taken yet get one, which takes no time. */
static haul_status stream_wait(haul_stream *stream, haul_error *error)
{
    haul_sim_stream *self = (haul_sim_stream *)stream;
    HAUL_TRY(self->wait_count ? record(stream, NULL, error) : HAUL_OK);
    if (self->last)
        HAUL_TRY(haul_sim_wait(haul_sim_node_of(stream->device), self->last - 1, error));
    return HAUL_OK;
}

static haul_status event_new(haul_device *device, haul_event **event, haul_error *error)
{
    (void)device;
    return haul_event_alloc(sizeof(haul_sim_event), event, error);
}

static void event_free(haul_event *event)
{
    const haul_sim_node *node = haul_sim_node_of(event->device);
    const uint64_t number = ((haul_sim_event *)event)->number;
    if (number >= node->base && number - node->base < node->count &&
        node->works[number - node->base].event == (haul_sim_event *)event)
        node->works[number - node->base].event = NULL;
    free(event);
}

static haul_status event_wait(haul_event *event, haul_error *error)
{
    return haul_sim_wait(haul_sim_node_of(event->device), ((haul_sim_event *)event)->number, error);
}

/* A question that is answered with no takes a little of the host's time: else who asks again would
 * ask for ever. */
static haul_status event_done(haul_event *event, bool *done, haul_error *error)
{
    haul_sim_node *node = haul_sim_node_of(event->device);
    haul_span span;
    *done = haul_sim_ended(node, (haul_sim_event *)event, &span);
    if (*done)
        return event_wait(event, error);
    node->now_ns += POLL_NS;
    return HAUL_OK;
}

static haul_status event_seconds(haul_event *from, haul_event *to, double *seconds,
                                 haul_error *error)
{
    haul_sim_node *node = haul_sim_node_of(from->device);
    haul_span first, last;
    if (!haul_sim_ended(node, (haul_sim_event *)from, &first) ||
        !haul_sim_ended(node, (haul_sim_event *)to, &last))
        return haul_fail(error, HAUL_USAGE, "an operation that has not ended has no time");
    *seconds = (double)(last.end_ns - first.start_ns) * 1e-9;
    return HAUL_OK;
}

haul_status haul_sim_wait_for(haul_sim_stream *stream, uint64_t number, haul_error *error)
{
    if (!haul_grow(&stream->waits, &stream->wait_capacity, stream->wait_count + 1,
                   sizeof *stream->waits))
        return haul_fail_no_memory(error);
    stream->waits[stream->wait_count++] = number;
    return HAUL_OK;
}

static haul_status wait_event(haul_stream *stream, haul_event *event, haul_error *error)
{
    return haul_sim_wait_for((haul_sim_stream *)stream, ((haul_sim_event *)event)->number, error);
}

/* NULL without data: the task then moves nothing. */
static char *place(const haul_sim_node *node, const haul_address *address)
{
    if (node->without_data)
        return NULL;
    return address->buffer ? (char *)haul_sim_data(address->buffer) + address->offset
                           : address->host;
}

/* Memory of the host's side, which decides a copy's cost. */
static haul_memory memory_of_end(const haul_sim_node *node, const haul_address *end)
{
    return end->buffer ? HAUL_PINNED : memory_at(node, end->host);
}

static haul_status copy(haul_stream *stream, const haul_transfer *transfer, haul_event *event,
                        haul_error *error)
{
    const haul_sim_node *node = haul_sim_node_of(stream->device);
    const haul_direction direction = haul_transfer_direction(transfer);
    haul_memory memory = HAUL_DEVICE;
    if (direction == HAUL_HTOD)
        memory = memory_of_end(node, &transfer->from);
    else if (direction == HAUL_DTOH || direction == HAUL_HTOH)
        memory = memory_of_end(node, &transfer->to);
    haul_op op = {
        .kind = HAUL_OP_COPY,
        .bytes = transfer->size[0] * transfer->size[1] * transfer->size[2],
        .direction = (uint8_t)direction,
        .detail = (uint8_t)memory,
    };
    HAUL_TRY(haul_sim_copy_ns(node, transfer, memory, &op.dur_ns, error));
    const haul_host_task task = {
        .kind = HAUL_TASK_COPY,
        .copy = {place(node, &transfer->to), place(node, &transfer->from), *transfer},
    };
    return haul_sim_queue(stream, &op, NULL, &task, event, error);
}

static haul_status fill(haul_stream *stream, const haul_filling *filling, haul_event *event,
                        haul_error *error)
{
    const haul_sim_node *node = haul_sim_node_of(stream->device);
    const haul_address at = {.buffer = filling->buffer, .offset = filling->offset};
    haul_op op = {.kind = HAUL_OP_MEMSET, .bytes = filling->bytes};
    HAUL_TRY(haul_sim_fill_ns(node, filling->bytes, &op.dur_ns, error));
    const haul_host_task task = {
        .kind = HAUL_TASK_FILL,
        .fill = {place(node, &at), filling->bytes, filling->value},
    };
    return haul_sim_queue(stream, &op, NULL, &task, event, error);
}

/* The host finds managed memory where it is; its pages cross the link as pinned copies do. */
static haul_status prefetch(haul_stream *stream, haul_buffer *buffer, bool to_host,
                            haul_event *event, haul_error *error)
{
    haul_op op = {.kind = HAUL_OP_COPY,
                  .bytes = buffer->bytes,
                  .direction = to_host ? HAUL_DTOH : HAUL_HTOD,
                  .detail = HAUL_MANAGED};
    haul_launch moved = {.arguments = NULL};
    moved.mapped_bytes[op.direction] = (double)buffer->bytes;
    const haul_status status = haul_sim_mapped_ns(haul_sim_node_of(stream->device), &moved,
                                                  (haul_direction)op.direction, &op.dur_ns, error);
    const haul_host_task nothing = {.kind = HAUL_TASK_NOTHING};
    return status ? status : haul_sim_queue(stream, &op, NULL, &nothing, event, error);
}

/* The host's function takes no simulated time. */
static haul_status call(haul_stream *stream, void (*function)(void *state), void *state,
                        haul_event *event, haul_error *error)
{
    const haul_host_task task = {.kind = HAUL_TASK_CALL, .call = {function, state}};
    return haul_sim_queue(stream, &haul_sim_point, NULL, &task, event, error);
}

const haul_device_backend haul_sim_backend = {
    .abi = HAUL_DEVICE_ABI,
    .kind = "sim",
    .summary = "a GPU of a machine file, on a clock of its own",
    .open = open_sim,
    .close = close_sim,
    .room = room,
    .now = now,
    .memory_of = memory_of,
    .buffer_new = buffer_new,
    .buffer_pin = buffer_pin,
    .buffer_free = buffer_free,
    .buffer_export = haul_sim_memory_export,
    .buffer_import = buffer_import,
    .stream_new = haul_sim_stream_new,
    .stream_free = stream_free,
    .stream_wait = stream_wait,
    .event_new = event_new,
    .event_free = event_free,
    .event_wait = event_wait,
    .event_done = event_done,
    .event_seconds = event_seconds,
    .copy = copy,
    .fill = fill,
    .prefetch = prefetch,
    .call = call,
    .record = record,
    .wait_event = wait_event,
    .kernel_new = haul_sim_kernel_new,
    .kernel_free = haul_host_kernel_free,
    .launch = haul_sim_launch,
};
