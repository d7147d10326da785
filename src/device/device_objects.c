/* A device and its buffers, streams, events and kernels: requests are checked here, for all kinds
 * of devices. */
#include <stdlib.h>
#include <time.h>

#include "base/fail.h"
#include "device/backends.h"
#include "device/cannot.h"

haul_status hl_device_cannot(const haul_device *device, const char *what, haul_error *error)
{
    return haul_error_set(error, HAUL_STATUS_ABSENT, "device '%s' cannot %s", device->name, what);
}

/* As of a GPU that falls off its bus: nothing succeeds any more, and objects can be freed. */
haul_status hl_device_is_present(const haul_device *device, haul_error *error)
{
    const uint64_t behind = device->test.lost_behind;
    return behind && device->queued >= behind
               ? haul_error_set(error, HAUL_STATUS_DEVICE_FAILED, "device '%s' has disappeared",
                                device->name)
               : HAUL_OK;
}

const haul_device_properties *haul_device_describe(const haul_device *device)
{
    return &device->properties;
}

/* The driver's free memory, or what a limit leaves of it, whichever is less. */
haul_status haul_device_room(haul_device *device, uint64_t *bytes, haul_error *error)
{
    if (!device->backend->room)
        return hl_device_cannot(device, "say how much memory is free", error);
    const haul_status status = device->backend->room(device, bytes, error);
    const uint64_t limit = device->options.memory_limit;
    if (!status && limit) {
        const uint64_t left = limit > device->allocated ? limit - device->allocated : 0;
        *bytes = *bytes < left ? *bytes : left;
    }
    return status;
}

/* A simulated device has a clock of its own. */
int64_t haul_device_now(haul_device *device)
{
    if (device->backend->now)
        return device->backend->now(device);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

haul_status haul_device_memory_of(haul_device *device, const void *pointer, haul_memory *memory,
                                  haul_error *error)
{
    if (!device->backend->memory_of)
        return hl_device_cannot(device, "tell pointers apart", error);
    return device->backend->memory_of(device, pointer, memory, error);
}

static const char *const buffer_kinds[] = {HAUL_BUFFER_LIST(HAUL_ROW_TEXT)};

const char *haul_buffer_kind_text(haul_buffer_kind kind)
{
    return (unsigned)kind < HAUL_BUFFER_KINDS ? buffer_kinds[kind] : "unknown";
}

static void adopt(haul_device *device, haul_buffer *buffer, haul_buffer_kind kind, uint64_t bytes)
{
    buffer->device = device;
    buffer->kind = kind;
    buffer->bytes = bytes;
}

/* The limit is checked here, for all kinds of devices: tests and users can make any device
 * small. */
haul_status haul_buffer_new(haul_device *device, haul_buffer_kind kind, uint64_t bytes,
                            haul_buffer **buffer, haul_error *error)
{
    if ((unsigned)kind >= HAUL_BUFFER_KINDS || !bytes || bytes > PTRDIFF_MAX)
        return haul_error_set(error, HAUL_STATUS_USAGE, "no buffer has %llu bytes of kind %d",
                              (unsigned long long)bytes, (int)kind);
    /* Device and pinned memory is everywhere; the other kinds need a capability. */
    static const unsigned needs[HAUL_BUFFER_KINDS] = {
        [HAUL_BUFFER_WRITE_COMBINED] = HAUL_DEVICE_CAN_COMBINE_WRITES,
        [HAUL_BUFFER_MAPPED] = HAUL_DEVICE_CAN_MAP,
        [HAUL_BUFFER_MANAGED] = HAUL_DEVICE_CAN_MANAGE,
    };
    if ((device->properties.can & needs[kind]) != needs[kind])
        return haul_error_set(error, HAUL_STATUS_ABSENT, "device '%s' has no %s memory",
                              device->name, haul_buffer_kind_text(kind));
    const uint64_t limit = device->options.memory_limit;
    /* A memory limit counts these kinds alone: pinned and mapped memory is the host's. */
    const bool counts = kind == HAUL_BUFFER_DEVICE || kind == HAUL_BUFFER_MANAGED;
    if (counts && limit && (device->allocated > limit || bytes > limit - device->allocated))
        return haul_error_set(
            error, HAUL_STATUS_DEVICE_FULL,
            "%llu bytes do not fit device '%s': %llu of its limit of %llu are in use",
            (unsigned long long)bytes, device->name, (unsigned long long)device->allocated,
            (unsigned long long)limit);
    haul_buffer *made;
    HAUL_TRY(device->backend->buffer_new(device, kind, bytes, &made, error));
    adopt(device, made, kind, bytes);
    made->is_counted = counts;
    device->allocated += counts ? bytes : 0;
    *buffer = made;
    return HAUL_OK;
}

haul_status haul_buffer_pin(haul_device *device, void *host, uint64_t bytes, haul_buffer **buffer,
                            haul_error *error)
{
    if (!host || !bytes || bytes > PTRDIFF_MAX)
        return haul_error_set(error, HAUL_STATUS_USAGE, "nothing to page-lock");
    if (!device->backend->buffer_pin || !(device->properties.can & HAUL_DEVICE_CAN_PIN))
        return hl_device_cannot(device, "page-lock memory that exists", error);
    haul_buffer *made;
    HAUL_TRY(device->backend->buffer_pin(device, host, bytes, &made, error));
    adopt(device, made, HAUL_BUFFER_PINNED, bytes);
    made->host = host;
    *buffer = made;
    return HAUL_OK;
}

haul_status haul_buffer_wrap(haul_device *device, void *memory, uint64_t bytes,
                             haul_buffer **buffer, haul_error *error)
{
    if (!memory || !bytes || bytes > PTRDIFF_MAX)
        return haul_error_set(error, HAUL_STATUS_USAGE, "no memory to make a buffer of");
    if (!device->backend->buffer_wrap)
        return hl_device_cannot(device, "use memory of the program's", error);
    haul_buffer *made;
    HAUL_TRY(device->backend->buffer_wrap(device, memory, bytes, &made, error));
    adopt(device, made, HAUL_BUFFER_DEVICE, bytes);
    *buffer = made;
    return HAUL_OK;
}

void *haul_buffer_native(const haul_buffer *buffer)
{
    return buffer->native ? buffer->native : buffer->pointer;
}

/* Pinned, wrapped and imported memory was never counted. */
void haul_buffer_free(haul_buffer *buffer)
{
    if (!buffer)
        return;
    if (buffer->is_counted)
        buffer->device->allocated -= buffer->bytes;
    buffer->device->backend->buffer_free(buffer);
}

void *haul_buffer_host(const haul_buffer *buffer)
{
    return buffer->host;
}

void *haul_buffer_pointer(const haul_buffer *buffer)
{
    return buffer->pointer;
}

uint64_t haul_buffer_bytes(const haul_buffer *buffer)
{
    return buffer->bytes;
}

static haul_status cannot_share(const haul_device *device, haul_error *error)
{
    return hl_device_cannot(device, "share memory between processes", error);
}

haul_status haul_buffer_export(haul_buffer *buffer, haul_buffer_handle *handle, haul_error *error)
{
    const haul_device *device = buffer->device;
    if (!device->backend->buffer_export || !(device->properties.can & HAUL_DEVICE_CAN_SHARE))
        return cannot_share(device, error);
    if (buffer->kind != HAUL_BUFFER_DEVICE)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "only device memory can be shared, not %s memory",
                              haul_buffer_kind_text(buffer->kind));
    return device->backend->buffer_export(buffer, handle, error);
}

haul_status haul_buffer_import(haul_device *device, const haul_buffer_handle *handle,
                               haul_buffer **buffer, haul_error *error)
{
    if (!device->backend->buffer_import || !(device->properties.can & HAUL_DEVICE_CAN_SHARE))
        return cannot_share(device, error);
    haul_buffer *made;
    HAUL_TRY(device->backend->buffer_import(device, handle, &made, error));
    adopt(device, made, HAUL_BUFFER_DEVICE, handle->bytes);
    *buffer = made;
    return HAUL_OK;
}

haul_status haul_stream_new(haul_device *device, haul_stream **stream, haul_error *error)
{
    haul_stream *made;
    HAUL_TRY(device->backend->stream_new(device, &made, error));
    made->device = device;
    *stream = made;
    return HAUL_OK;
}

haul_status haul_stream_wrap(haul_device *device, void *queue, haul_stream **stream,
                             haul_error *error)
{
    haul_stream *made;
    if (!queue)
        return haul_error_set(error, HAUL_STATUS_USAGE, "no stream of the program's");
    if (!device->backend->stream_wrap)
        return hl_device_cannot(device, "use streams of the program's", error);
    HAUL_TRY(device->backend->stream_wrap(device, queue, &made, error));
    made->device = device;
    *stream = made;
    return HAUL_OK;
}

void haul_stream_free(haul_stream *stream)
{
    if (stream)
        stream->device->backend->stream_free(stream);
}

haul_status haul_stream_wait(haul_stream *stream, haul_error *error)
{
    HAUL_TRY(hl_device_is_present(stream->device, error));
    return stream->device->backend->stream_wait(stream, error);
}

haul_status hl_device_event_alloc(size_t bytes, haul_event **event, haul_error *error)
{
    *event = calloc(1, bytes);
    return *event ? HAUL_OK : hl_base_fail_no_memory(error);
}

haul_status haul_event_new(haul_device *device, haul_event **event, haul_error *error)
{
    haul_event *made;
    HAUL_TRY(device->backend->event_new(device, &made, error));
    made->device = device;
    *event = made;
    return HAUL_OK;
}

void haul_event_free(haul_event *event)
{
    if (event)
        event->device->backend->event_free(event);
}

/* An event that was never queued is done: backends need not know that state. */
haul_status haul_event_wait(haul_event *event, haul_error *error)
{
    HAUL_TRY(hl_device_is_present(event->device, error));
    return event->is_queued ? event->device->backend->event_wait(event, error) : HAUL_OK;
}

haul_status haul_event_done(haul_event *event, bool *done, haul_error *error)
{
    HAUL_TRY(hl_device_is_present(event->device, error));
    if (event->is_queued)
        return event->device->backend->event_done(event, done, error);
    *done = true;
    return HAUL_OK;
}

haul_status haul_event_seconds(haul_event *from, haul_event *to, double *seconds, haul_error *error)
{
    if (!from->is_queued || !to->is_queued)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "an event that was never queued has no time");
    return from->device->backend->event_seconds(from, to, seconds, error);
}

haul_status haul_kernel_new(haul_device *device, const haul_kernel_source *source,
                            haul_kernel **kernel, haul_error *error)
{
    haul_kernel *made;
    if (!device->backend->kernel_new)
        return hl_device_cannot(device, "run kernels", error);
    HAUL_TRY(device->backend->kernel_new(device, source, &made, error));
    made->device = device;
    made->source = source;
    *kernel = made;
    return HAUL_OK;
}

static void adopt_kernel(haul_device *device, const haul_kernel_source *source, haul_kernel *kernel)
{
    kernel->device = device;
    kernel->source = source;
    kernel->is_given = true;
}

haul_status haul_kernel_wrap(haul_device *device, const haul_kernel_source *source, void *native,
                             haul_kernel **kernel, haul_error *error)
{
    haul_kernel *made;
    if (!native)
        return haul_error_set(error, HAUL_STATUS_USAGE, "no kernel of the program's for '%s'",
                              source->name);
    if (!device->backend->kernel_wrap)
        return hl_device_cannot(device, "run kernels that the program compiled", error);
    HAUL_TRY(device->backend->kernel_wrap(device, source, native, &made, error));
    adopt_kernel(device, source, made);
    *kernel = made;
    return HAUL_OK;
}

haul_status haul_kernel_load(haul_device *device, const haul_kernel_source *source,
                             const void *image, size_t bytes, haul_kernel **kernel,
                             haul_error *error)
{
    haul_kernel *made;
    if (!image || !bytes)
        return haul_error_set(error, HAUL_STATUS_USAGE, "no image to load kernel '%s' from",
                              source->name);
    if (!device->backend->kernel_load)
        return hl_device_cannot(device, "run kernels that the program compiled", error);
    HAUL_TRY(device->backend->kernel_load(device, source, image, bytes, &made, error));
    adopt_kernel(device, source, made);
    *kernel = made;
    return HAUL_OK;
}

void haul_kernel_free(haul_kernel *kernel)
{
    if (kernel)
        kernel->device->backend->kernel_free(kernel);
}
