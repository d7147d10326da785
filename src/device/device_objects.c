/* Buffers, streams, events and kernels of a device. */
#include <stdlib.h>

#include "base/fail.h"
#include "device/backends.h"
#include "device/cannot.h"

/* What a memory limit counts. Pinned and mapped memory is the host's. */
static bool takes_device_memory(haul_buffer_kind kind)
{
    return kind == HAUL_BUFFER_DEVICE || kind == HAUL_BUFFER_MANAGED;
}

/* What an allocation of a kind needs beyond device and pinned memory. */
static bool can_allocate(const haul_device *device, haul_buffer_kind kind)
{
    static const unsigned needs[HAUL_BUFFER_KINDS] = {
        [HAUL_BUFFER_WRITE_COMBINED] = HAUL_CAN_COMBINE_WRITES,
        [HAUL_BUFFER_MAPPED] = HAUL_CAN_MAP,
        [HAUL_BUFFER_MANAGED] = HAUL_CAN_MANAGE,
    };
    return (device->properties.can & needs[kind]) == needs[kind];
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
        return haul_fail(error, HAUL_USAGE, "no buffer has %llu bytes of kind %d",
                         (unsigned long long)bytes, (int)kind);
    if (!can_allocate(device, kind))
        return haul_fail(error, HAUL_ABSENT, "device '%s' has no %s memory", device->name,
                         haul_buffer_kind_text(kind));
    const uint64_t limit = device->options.memory_limit;
    const bool counts = takes_device_memory(kind);
    if (counts && limit && (device->allocated > limit || bytes > limit - device->allocated))
        return haul_fail(error, HAUL_DEVICE_FULL,
                         "%llu bytes do not fit device '%s': %llu of its limit of %llu are in use",
                         (unsigned long long)bytes, device->name,
                         (unsigned long long)device->allocated, (unsigned long long)limit);
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
        return haul_fail(error, HAUL_USAGE, "nothing to page-lock");
    if (!device->backend->buffer_pin || !(device->properties.can & HAUL_CAN_PIN))
        return haul_device_cannot(device, "page-lock memory that exists", error);
    haul_buffer *made;
    HAUL_TRY(device->backend->buffer_pin(device, host, bytes, &made, error));
    adopt(device, made, HAUL_BUFFER_PINNED, bytes);
    made->host = host;
    *buffer = made;
    return HAUL_OK;
}

/* Pinned and imported memory was never counted. */
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
    return haul_device_cannot(device, "share memory between processes", error);
}

haul_status haul_buffer_export(haul_buffer *buffer, haul_buffer_handle *handle, haul_error *error)
{
    const haul_device *device = buffer->device;
    if (!device->backend->buffer_export || !(device->properties.can & HAUL_CAN_SHARE))
        return cannot_share(device, error);
    if (buffer->kind != HAUL_BUFFER_DEVICE)
        return haul_fail(error, HAUL_USAGE, "only device memory can be shared, not %s memory",
                         haul_buffer_kind_text(buffer->kind));
    return device->backend->buffer_export(buffer, handle, error);
}

haul_status haul_buffer_import(haul_device *device, const haul_buffer_handle *handle,
                               haul_buffer **buffer, haul_error *error)
{
    if (!device->backend->buffer_import || !(device->properties.can & HAUL_CAN_SHARE))
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

void haul_stream_free(haul_stream *stream)
{
    if (stream)
        stream->device->backend->stream_free(stream);
}

haul_status haul_stream_wait(haul_stream *stream, haul_error *error)
{
    HAUL_TRY(haul_device_is_present(stream->device, error));
    return stream->device->backend->stream_wait(stream, error);
}

haul_status haul_event_alloc(size_t bytes, haul_event **event, haul_error *error)
{
    *event = calloc(1, bytes);
    return *event ? HAUL_OK : haul_fail_no_memory(error);
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
    HAUL_TRY(haul_device_is_present(event->device, error));
    return event->is_queued ? event->device->backend->event_wait(event, error) : HAUL_OK;
}

haul_status haul_event_done(haul_event *event, bool *done, haul_error *error)
{
    HAUL_TRY(haul_device_is_present(event->device, error));
    if (event->is_queued)
        return event->device->backend->event_done(event, done, error);
    *done = true;
    return HAUL_OK;
}

haul_status haul_event_seconds(haul_event *from, haul_event *to, double *seconds, haul_error *error)
{
    if (!from->is_queued || !to->is_queued)
        return haul_fail(error, HAUL_USAGE, "an event that was never queued has no time");
    return from->device->backend->event_seconds(from, to, seconds, error);
}

haul_status haul_kernel_new(haul_device *device, const haul_kernel_source *source,
                            haul_kernel **kernel, haul_error *error)
{
    haul_kernel *made;
    HAUL_TRY(device->backend->kernel_new(device, source, &made, error));
    made->device = device;
    made->source = source;
    *kernel = made;
    return HAUL_OK;
}

void haul_kernel_free(haul_kernel *kernel)
{
    if (kernel)
        kernel->device->backend->kernel_free(kernel);
}

const haul_kernel_source *haul_kernel_source_of(const haul_kernel *kernel)
{
    return kernel->source;
}
