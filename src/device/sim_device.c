#include "device/sim_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "device/backends.h"
#include "machine/architectures.h"

enum { ALIGNMENT = 4096, POISON = 0xcb };

/* "k40", "lassen:1", "my/file.yaml:1": a machine and the number of its GPU. */
static unsigned parse_which(const char *which, char name[HL_DEVICE_SIM_NAME_BYTES])
{
    const char *colon = strrchr(which, ':');
    char *rest = NULL;
    const unsigned long number = colon ? strtoul(colon + 1, &rest, 10) : 0;
    const bool is_numbered = colon && rest != colon + 1 && !*rest && number < 100000;
    const int length = is_numbered ? (int)(colon - which) : HL_DEVICE_SIM_NAME_BYTES - 1;
    snprintf(name, HL_DEVICE_SIM_NAME_BYTES, "%.*s", length, which);
    return is_numbered ? (unsigned)number : 0;
}

static void node_release(hl_device_sim_node *node)
{
    if (--node->users)
        return;
    haul_machine_free(node->owned);
    hl_timeline_live_release(&node->live);
    free(node->works);
    free(node->streams);
    free(node->gpus);
    free(node);
}

static haul_status node_new(const char *name, const haul_device_options *options,
                            hl_device_sim_node **out, haul_error *error)
{
    const haul_device_test test = options->test ? *options->test : (haul_device_test){.seed = 0};
    hl_device_sim_node *node = calloc(1, sizeof *node);
    if (!node)
        return hl_base_fail_no_memory(error);
    *node = (hl_device_sim_node){
        .machine = options->machine,
        .users = 1,
        .without_data = options->without_data,
        .order = test.order,
        .random = test.seed ^ 0x9e3779b97f4a7c15, /* zero is the one state that stays */
        .time_limit_s = options->time_limit_s,
    };
    haul_status status = HAUL_OK;
    memcpy(node->name, name, strlen(name) + 1); /* both are of HL_DEVICE_SIM_NAME_BYTES */
    if (!node->random)
        node->random = 1;
    if (!node->machine && !*name)
        status = haul_error_set(error, HAUL_STATUS_USAGE,
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
    hl_device_sim_model_directions(node);
    *out = node;
    return HAUL_OK;
}

static haul_status add_device(hl_device_sim_device *self, unsigned gpu, haul_error *error)
{
    hl_device_sim_node *node = self->node;
    const haul_parameter *count = &node->machine->gpu.count;
    if (count->provenance && (double)gpu >= count->value)
        return haul_error_set(error, HAUL_STATUS_ABSENT,
                              "no GPU %u: machine '%.100s' has %g, from 0 on", gpu,
                              node->machine->name, count->value);
    size_t at = 0;
    while (at < node->gpu_count && node->gpus[at] != gpu)
        at++;
    if (!hl_base_grow(&node->gpus, &node->gpu_capacity, at + 1, sizeof *node->gpus))
        return hl_base_fail_no_memory(error);
    node->gpus[at] = gpu;
    self->index = (uint32_t)at;
    if (at == node->gpu_count) {
        hl_device_sim_settle(node); /* the timeline begins anew with one more device */
        node->gpu_count++;
    }
    return HAUL_OK;
}

static void describe(hl_device_sim_device *self, bool is_shareable)
{
    const haul_machine *machine = self->node->machine;
    const haul_gpu *gpu = &machine->gpu;
    const hl_machine_architecture *architecture = hl_machine_architecture_of(gpu);
    snprintf(self->identity, sizeof self->identity, "%s GPU %u", machine->name,
             self->node->gpus[self->index]);
    const unsigned can_share = is_shareable ? HAUL_DEVICE_CAN_SHARE : 0;
    self->base.properties = (haul_device_properties){
        .name = gpu->name ? gpu->name : machine->name,
        .architecture = gpu->architecture,
        .identity = self->identity,
        .driver = "",
        .count = (unsigned)gpu->count.value,
        .is_simulated = true,
        .can = HAUL_DEVICE_CAN_MAP | HAUL_DEVICE_CAN_COMBINE_WRITES | HAUL_DEVICE_CAN_MANAGE |
               HAUL_DEVICE_CAN_PIN | HAUL_DEVICE_CAN_REACH_PEERS | can_share,
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

/* Devices beside each other are GPUs of one machine. */
static haul_status check_same(const hl_device_sim_node *node, const char *name,
                              const haul_device_options *options, haul_error *error)
{
    const bool is_same = options->machine
                             ? options->machine == node->machine
                             : !strcmp(name, node->name) || !strcmp(name, node->machine->name);
    if (is_same)
        return HAUL_OK;
    return haul_error_set(
        error, HAUL_STATUS_USAGE,
        "machine '%.100s' cannot be beside '%.100s': both GPUs are of one machine",
        options->machine ? options->machine->name : name, node->machine->name);
}

static haul_status open_sim(const char *which, const haul_device_options *options,
                            haul_device **device, haul_error *error)
{
    char name[HL_DEVICE_SIM_NAME_BYTES];
    const unsigned gpu = parse_which(which, name);
    hl_device_sim_device *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    haul_status status = HAUL_OK;
    if (options->beside) {
        self->node = hl_device_sim_node_of(options->beside);
        status = check_same(self->node, name, options, error);
        if (status) {
            free(self);
            return status;
        }
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
    return hl_device_sim_node_of(device)->now_ns;
}

/* The machine's memory; a memory limit is taken off by the caller. */
static haul_status room(haul_device *device, uint64_t *bytes, haul_error *error)
{
    const uint64_t all = device->properties.memory_bytes;
    if (!all)
        return haul_error_set(error, HAUL_STATUS_MISSING, "machine '%.100s' lacks gpu.memory",
                              hl_device_sim_node_of(device)->machine->name);
    *bytes = all > device->allocated ? all - device->allocated : 0;
    return HAUL_OK;
}

static haul_memory memory_at(const hl_device_sim_node *node, const void *pointer)
{
    const uintptr_t at = (uintptr_t)pointer;
    for (const hl_device_sim_buffer *buffer = node->buffers; buffer; buffer = buffer->next) {
        const uintptr_t first = (uintptr_t)buffer->data, given = (uintptr_t)buffer->base.pointer;
        if ((first && at >= first && at - first < buffer->base.bytes) ||
            (given && at >= given && at - given < buffer->base.bytes))
            return buffer->base.kind == HAUL_BUFFER_DEVICE    ? HAUL_MEMORY_DEVICE
                   : buffer->base.kind == HAUL_BUFFER_MANAGED ? HAUL_MEMORY_MANAGED
                                                              : HAUL_MEMORY_PINNED;
    }
    return HAUL_MEMORY_PAGEABLE;
}

static haul_status memory_of(haul_device *device, const void *pointer, haul_memory *memory,
                             haul_error *error)
{
    (void)error;
    *memory = memory_at(hl_device_sim_node_of(device), pointer);
    return HAUL_OK;
}

static haul_status add_buffer(hl_device_sim_node *node, const hl_device_sim_buffer *made,
                              haul_buffer **buffer, haul_error *error)
{
    hl_device_sim_buffer *self = malloc(sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
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
    hl_device_sim_node *node = hl_device_sim_node_of(device);
    const uint64_t all = device->properties.memory_bytes;
    const bool on_device = kind == HAUL_BUFFER_DEVICE;
    hl_device_sim_buffer made = {.data = NULL};
    void *data = NULL;
    if ((on_device || kind == HAUL_BUFFER_MANAGED) && all &&
        (device->allocated > all || bytes > all - device->allocated))
        return haul_error_set(error, HAUL_STATUS_DEVICE_FULL,
                              "%llu bytes do not fit device '%s': %llu of its %llu are in use",
                              (unsigned long long)bytes, device->name,
                              (unsigned long long)device->allocated, (unsigned long long)all);
    if (on_device && !node->without_data) {
        HAUL_TRY(hl_device_sim_memory_new(&device->options, bytes, &made, error));
    } else if (!on_device) {
        if (posix_memalign(&data, ALIGNMENT, bytes))
            return hl_base_fail_no_memory(error);
        made.data = data;
    }
    if (made.data && node->order != HAUL_ORDER_USUAL)
        memset(made.data, POISON, bytes);
    const haul_status status = add_buffer(node, &made, buffer, error);
    if (status)
        hl_device_sim_memory_free(&made, bytes);
    else if (!on_device)
        (*buffer)->host = data;
    return status;
}

static haul_status buffer_import(haul_device *device, const haul_buffer_handle *handle,
                                 haul_buffer **buffer, haul_error *error)
{
    hl_device_sim_buffer made = {.data = NULL};
    haul_status status = hl_device_sim_memory_import(handle, &made, error);
    if (!status)
        status = add_buffer(hl_device_sim_node_of(device), &made, buffer, error);
    if (status)
        hl_device_sim_memory_free(&made, handle->bytes);
    return status;
}

static haul_status buffer_pin(haul_device *device, void *host, uint64_t bytes, haul_buffer **buffer,
                              haul_error *error)
{
    (void)bytes;
    const hl_device_sim_buffer made = {.data = host, .is_borrowed = true};
    return add_buffer(hl_device_sim_node_of(device), &made, buffer, error);
}

static void buffer_free(haul_buffer *buffer)
{
    hl_device_sim_node *node = hl_device_sim_node_of(buffer->device);
    hl_device_sim_buffer *self = (hl_device_sim_buffer *)buffer, **at = &node->buffers;
    hl_device_sim_settle(node);
    while (*at != self)
        at = &(*at)->next;
    *at = self->next;
    if (!self->is_borrowed)
        hl_device_sim_memory_free(self, buffer->bytes);
    free(self);
}

static void close_sim(haul_device *device)
{
    hl_device_sim_device *self = (hl_device_sim_device *)device;
    for (int i = 0; i < 2; i++)
        if (self->mapped[i])
            hl_device_sim_stream_free(&self->mapped[i]->base);
    node_release(self->node);
    free(self);
}

/* NULL without data: the task then moves nothing. */
static char *place_in_data(const hl_device_sim_node *node, const haul_address *address)
{
    if (node->without_data)
        return NULL;
    return address->buffer ? (char *)hl_device_sim_data(address->buffer) + address->offset
                           : address->host;
}

/* Memory of the host's side, which decides a copy's cost. */
static haul_memory memory_of_end(const hl_device_sim_node *node, const haul_address *end)
{
    return end->buffer ? HAUL_MEMORY_PINNED : memory_at(node, end->host);
}

static haul_status copy(haul_stream *stream, const haul_transfer *transfer, haul_event *event,
                        haul_error *error)
{
    const hl_device_sim_node *node = hl_device_sim_node_of(stream->device);
    const haul_direction direction = haul_transfer_direction(transfer);
    haul_memory memory = HAUL_MEMORY_DEVICE;
    if (direction == HAUL_DIRECTION_HTOD)
        memory = memory_of_end(node, &transfer->from);
    else if (direction == HAUL_DIRECTION_DTOH || direction == HAUL_DIRECTION_HTOH)
        memory = memory_of_end(node, &transfer->to);
    haul_op op = {
        .kind = HAUL_OP_COPY,
        .bytes = transfer->size[0] * transfer->size[1] * transfer->size[2],
        .direction = (uint8_t)direction,
        .detail = (uint8_t)memory,
    };
    HAUL_TRY(hl_device_sim_copy_ns(node, transfer, memory, &op.dur_ns, error));
    const hl_device_host_task task = {
        .kind = HL_DEVICE_TASK_COPY,
        .copy = {place_in_data(node, &transfer->to), place_in_data(node, &transfer->from),
                 *transfer},
    };
    return hl_device_sim_queue(stream, &op, NULL, &task, event, error);
}

static haul_status fill_buffer(haul_stream *stream, const haul_filling *filling, haul_event *event,
                               haul_error *error)
{
    const hl_device_sim_node *node = hl_device_sim_node_of(stream->device);
    const haul_address at = {.buffer = filling->buffer, .offset = filling->offset};
    haul_op op = {.kind = HAUL_OP_MEMSET, .bytes = filling->bytes};
    HAUL_TRY(hl_device_sim_fill_ns(node, filling->bytes, &op.dur_ns, error));
    const hl_device_host_task task = {
        .kind = HL_DEVICE_TASK_FILL,
        .fill = {place_in_data(node, &at), filling->bytes, filling->value},
    };
    return hl_device_sim_queue(stream, &op, NULL, &task, event, error);
}

/* The host finds managed memory where it is; its pages cross the link as pinned copies do. */
static haul_status prefetch(haul_stream *stream, haul_buffer *buffer, bool to_host,
                            haul_event *event, haul_error *error)
{
    haul_op op = {.kind = HAUL_OP_COPY,
                  .bytes = buffer->bytes,
                  .direction = to_host ? HAUL_DIRECTION_DTOH : HAUL_DIRECTION_HTOD,
                  .detail = HAUL_MEMORY_MANAGED};
    haul_launch moved = {.arguments = NULL};
    moved.mapped_bytes[op.direction] = (double)buffer->bytes;
    HAUL_TRY(hl_device_sim_mapped_ns(hl_device_sim_node_of(stream->device), &moved,
                                     (haul_direction)op.direction, &op.dur_ns, error));
    const hl_device_host_task nothing = {.kind = HL_DEVICE_TASK_NOTHING};
    return hl_device_sim_queue(stream, &op, NULL, &nothing, event, error);
}

/* The host's function takes no simulated time. */
static haul_status call(haul_stream *stream, void (*function)(void *state), void *state,
                        haul_event *event, haul_error *error)
{
    const hl_device_host_task task = {.kind = HL_DEVICE_TASK_CALL, .call = {function, state}};
    return hl_device_sim_queue(stream, &hl_device_sim_point, NULL, &task, event, error);
}

const haul_device_backend hl_device_sim_backend = {
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
    .buffer_export = hl_device_sim_memory_export,
    .buffer_import = buffer_import,
    .stream_new = hl_device_sim_stream_new,
    .stream_free = hl_device_sim_stream_free,
    .stream_wait = hl_device_sim_stream_wait,
    .event_new = hl_device_sim_event_new,
    .event_free = hl_device_sim_event_free,
    .event_wait = hl_device_sim_event_wait,
    .event_done = hl_device_sim_event_done,
    .event_seconds = hl_device_sim_event_seconds,
    .copy = copy,
    .fill = fill_buffer,
    .prefetch = prefetch,
    .call = call,
    .record = hl_device_sim_record,
    .wait_event = hl_device_sim_wait_event,
    .kernel_new = hl_device_sim_kernel_new,
    .kernel_free = hl_device_host_kernel_free,
    .launch = hl_device_sim_launch,
    .buffer_wrap = buffer_pin, /* the host's memory, which only the device uses meanwhile */
};
