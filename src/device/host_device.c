#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "device/backends.h"
#include "device/host_device.h"

/* Bytes of a count of pages that the system tells; 0: it does not. */
static uint64_t pages(int which)
{
    const long count = sysconf(which), size = sysconf(_SC_PAGESIZE);
    return count > 0 && size > 0 ? (uint64_t)count * (uint64_t)size : 0;
}

/* /proc/cpuinfo is Linux's; elsewhere the name stays general. */
static void read_cpu_name(char *name, size_t size)
{
    char line[256];
    snprintf(name, size, "the host's cores");
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file)
        return;
    while (fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(name, size, "%s", colon + 2);
        break;
    }
    fclose(file);
}

/* Waits with a time limit count on CLOCK_MONOTONIC, which setting the date does not move. */
static hl_device_host_hub *hub_new(void)
{
    hl_device_host_hub *hub = calloc(1, sizeof *hub);
    if (!hub)
        return NULL;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&hub->lock, NULL);
    pthread_cond_init(&hub->progress, &attributes);
    pthread_condattr_destroy(&attributes);
    return hub;
}

/* Devices beside each other share a hub, whose one lock guards all of their streams. */
static haul_status open_host(const char *which, const haul_device_options *options,
                             haul_device **device, haul_error *error)
{
    if (*which && strcmp(which, "0") != 0)
        return haul_error_set(error, HAUL_STATUS_ABSENT,
                              "there is no device 'host:%.40s': the host is one", which);
    hl_device_host_device *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    self->hub = options->beside ? ((hl_device_host_device *)options->beside)->hub : hub_new();
    if (!self->hub) {
        free(self);
        return hl_base_fail_no_memory(error);
    }
    self->hub->devices++;
    read_cpu_name(self->cpu, sizeof self->cpu);
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    self->base.properties = (haul_device_properties){
        .name = self->cpu,
        .identity = "",
        .driver = "",
        .count = 1,
        .is_host = true,
        .can = HAUL_DEVICE_CAN_MAP | HAUL_DEVICE_CAN_MANAGE | HAUL_DEVICE_CAN_PIN |
               HAUL_DEVICE_CAN_REACH_PEERS,
        .memory_bytes = pages(_SC_PHYS_PAGES),
        .multiprocessors = cores > 0 ? (unsigned)cores : 1,
        .implicit_sync = 0,
    };
    *device = &self->base;
    return HAUL_OK;
}

/* An operation that never ends keeps the memory that it may still use. */
static void close_host(haul_device *device)
{
    hl_device_host_hub *hub = ((hl_device_host_device *)device)->hub;
    if (!--hub->devices && !hub->is_lost) {
        pthread_cond_destroy(&hub->progress);
        pthread_mutex_destroy(&hub->lock);
        free(hub);
    }
    free(device);
}

static unsigned count_hosts(void)
{
    return 0; /* it has no numbers */
}

static haul_status room(haul_device *device, uint64_t *bytes, haul_error *error)
{
    (void)device, (void)error;
    *bytes = pages(_SC_AVPHYS_PAGES);
    return HAUL_OK;
}

static haul_status memory_of(haul_device *device, const void *pointer, haul_memory *memory,
                             haul_error *error)
{
    (void)error;
    static const haul_memory kinds[HAUL_BUFFER_KINDS] = {HAUL_MEMORY_DEVICE, HAUL_MEMORY_PINNED,
                                                         HAUL_MEMORY_PINNED, HAUL_MEMORY_PINNED,
                                                         HAUL_MEMORY_MANAGED};
    const uintptr_t at = (uintptr_t)pointer;
    hl_device_host_hub *hub = ((hl_device_host_device *)device)->hub;
    haul_memory found = HAUL_MEMORY_PAGEABLE;
    pthread_mutex_lock(&hub->lock);
    for (const hl_device_host_buffer *buffer = hub->buffers; buffer; buffer = buffer->next)
        if (buffer->base.device == device && at >= (uintptr_t)buffer->data &&
            at - (uintptr_t)buffer->data < buffer->base.bytes)
            found = kinds[buffer->base.kind];
    pthread_mutex_unlock(&hub->lock);
    *memory = found;
    return HAUL_OK;
}

static haul_status add_buffer(haul_device *device, char *data, bool is_borrowed,
                              haul_buffer **buffer, haul_error *error)
{
    hl_device_host_buffer *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    self->hub = ((hl_device_host_device *)device)->hub;
    self->data = data;
    self->is_borrowed = is_borrowed;
    pthread_mutex_lock(&self->hub->lock);
    self->next = self->hub->buffers;
    self->hub->buffers = self;
    pthread_mutex_unlock(&self->hub->lock);
    *buffer = &self->base;
    return HAUL_OK;
}

/* More than the host's memory is refused at once: Linux would promise it and fail on use. */
static haul_status buffer_new(haul_device *device, haul_buffer_kind kind, uint64_t bytes,
                              haul_buffer **buffer, haul_error *error)
{
    const uint64_t most = device->properties.memory_bytes;
    void *data = most && bytes > most ? NULL : hl_device_host_pages(bytes);
    if (!data)
        return haul_error_set(error, HAUL_STATUS_DEVICE_FULL,
                              "the host has no %llu bytes of memory", (unsigned long long)bytes);
    const haul_status status = add_buffer(device, data, false, buffer, error);
    if (status)
        free(data);
    else
        (*buffer)->pointer = data;
    if (!status && kind != HAUL_BUFFER_DEVICE)
        (*buffer)->host = data;
    return status;
}

/* The host's copies run alike from any memory: nothing is locked. */
static haul_status buffer_pin(haul_device *device, void *host, uint64_t bytes, haul_buffer **buffer,
                              haul_error *error)
{
    (void)bytes;
    return add_buffer(device, host, true, buffer, error);
}

static haul_status buffer_wrap(haul_device *device, void *memory, uint64_t bytes,
                               haul_buffer **buffer, haul_error *error)
{
    HAUL_TRY(buffer_pin(device, memory, bytes, buffer, error));
    (*buffer)->pointer = memory;
    return HAUL_OK;
}

static void buffer_free(haul_buffer *buffer)
{
    hl_device_host_buffer *self = (hl_device_host_buffer *)buffer;
    pthread_mutex_lock(&self->hub->lock);
    hl_device_host_settle(self->hub);
    hl_device_host_buffer **at = &self->hub->buffers;
    while (*at != self)
        at = &(*at)->next;
    *at = self->next;
    const bool is_used = self->hub->is_lost;
    pthread_mutex_unlock(&self->hub->lock);
    if (is_used)
        return;
    if (!self->is_borrowed)
        free(self->data);
    free(self);
}

static haul_status event_new(haul_device *device, haul_event **event, haul_error *error)
{
    HAUL_TRY(hl_device_event_alloc(sizeof(hl_device_host_event), event, error));
    ((hl_device_host_event *)*event)->hub = ((hl_device_host_device *)device)->hub;
    return HAUL_OK;
}

static void event_free(haul_event *event)
{
    hl_device_host_event *self = (hl_device_host_event *)event;
    pthread_mutex_lock(&self->hub->lock);
    hl_device_host_settle(self->hub);
    const bool is_used = self->hub->is_lost;
    pthread_mutex_unlock(&self->hub->lock);
    if (!is_used)
        free(self);
}

/* Turns count how often an event was queued: it is done when its last turn is. */
static haul_status event_done(haul_event *event, bool *done, haul_error *error)
{
    (void)error;
    hl_device_host_event *self = (hl_device_host_event *)event;
    pthread_mutex_lock(&self->hub->lock);
    *done = self->turns_done == self->turn;
    pthread_mutex_unlock(&self->hub->lock);
    return HAUL_OK;
}

static haul_status event_seconds(haul_event *from, haul_event *to, double *seconds,
                                 haul_error *error)
{
    (void)error;
    hl_device_host_event *a = (hl_device_host_event *)from, *b = (hl_device_host_event *)to;
    pthread_mutex_lock(&a->hub->lock);
    *seconds = (double)(b->end_ns - a->start_ns) * 1e-9;
    pthread_mutex_unlock(&a->hub->lock);
    return HAUL_OK;
}

static void *address_of(const haul_buffer *buffer)
{
    return ((const hl_device_host_buffer *)buffer)->data;
}

static char *place_in_memory(const haul_address *address)
{
    return address->buffer ? (char *)address_of(address->buffer) + address->offset : address->host;
}

static haul_status copy(haul_stream *stream, const haul_transfer *transfer, haul_event *event,
                        haul_error *error)
{
    const hl_device_host_task task = {
        .kind = HL_DEVICE_TASK_COPY,
        .copy = {place_in_memory(&transfer->to), place_in_memory(&transfer->from), *transfer},
    };
    return hl_device_host_enqueue(stream, &task, NULL, event, error);
}

static haul_status fill_buffer(haul_stream *stream, const haul_filling *filling, haul_event *event,
                               haul_error *error)
{
    char *at = (char *)address_of(filling->buffer) + filling->offset;
    const hl_device_host_task task = {.kind = HL_DEVICE_TASK_FILL,
                                      .fill = {at, filling->bytes, filling->value}};
    return hl_device_host_enqueue(stream, &task, NULL, event, error);
}

static const hl_device_host_task nothing = {.kind = HL_DEVICE_TASK_NOTHING};

static haul_status record(haul_stream *stream, haul_event *event, haul_error *error)
{
    return hl_device_host_enqueue(stream, &nothing, NULL, event, error);
}

/* The memory is where both use it. */
static haul_status prefetch(haul_stream *stream, haul_buffer *buffer, bool to_host,
                            haul_event *event, haul_error *error)
{
    (void)buffer, (void)to_host;
    return record(stream, event, error);
}

static haul_status wait_event(haul_stream *stream, haul_event *event, haul_error *error)
{
    return hl_device_host_enqueue(stream, &nothing, (hl_device_host_event *)event, NULL, error);
}

static haul_status call(haul_stream *stream, void (*function)(void *state), void *state,
                        haul_event *event, haul_error *error)
{
    const hl_device_host_task task = {.kind = HL_DEVICE_TASK_CALL, .call = {function, state}};
    return hl_device_host_enqueue(stream, &task, NULL, event, error);
}

static haul_status kernel_new(haul_device *device, const haul_kernel_source *source,
                              haul_kernel **kernel, haul_error *error)
{
    (void)device;
    return hl_device_host_kernel_new(source, true, kernel, error);
}

/* The task owns copies of the values until it has run. */
static haul_status launch(haul_stream *stream, const haul_kernel *kernel, const haul_launch *given,
                          haul_event *event, haul_error *error)
{
    hl_device_host_task task;
    HAUL_TRY(hl_device_host_task_kernel(kernel->source, given, address_of, &task, error));
    haul_status status = hl_device_host_enqueue(stream, &task, NULL, event, error);
    if (status)
        hl_device_host_task_release(&task);
    return status;
}

const haul_device_backend hl_device_host_backend = {
    .abi = HAUL_DEVICE_ABI,
    .kind = "host",
    .summary = "the host's cores, with OpenMP; copies are the host's own",
    .count = count_hosts,
    .open = open_host,
    .close = close_host,
    .room = room,
    .memory_of = memory_of,
    .buffer_new = buffer_new,
    .buffer_pin = buffer_pin,
    .buffer_free = buffer_free,
    .stream_new = hl_device_host_stream_new,
    .stream_free = hl_device_host_stream_free,
    .stream_wait = hl_device_host_stream_wait,
    .event_new = event_new,
    .event_free = event_free,
    .event_wait = hl_device_host_event_wait,
    .event_done = event_done,
    .event_seconds = event_seconds,
    .copy = copy,
    .fill = fill_buffer,
    .prefetch = prefetch,
    .call = call,
    .record = record,
    .wait_event = wait_event,
    .kernel_new = kernel_new,
    .kernel_free = hl_device_host_kernel_free,
    .launch = launch,
    .buffer_wrap = buffer_wrap,
};
