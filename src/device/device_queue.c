/* Operations of streams, checked and completed before the device gets them. */
#include "base/fail.h"
#include "device/cannot.h"
#include "haul/device_backend.h"

/* The event of an operation is of a device that the stream's can be ordered with. */
static haul_status check_event(const haul_stream *stream, const haul_event *event,
                               haul_error *error)
{
    HAUL_TRY(hl_device_is_present(stream->device, error));
    if (!event || event->device == stream->device)
        return HAUL_OK;
    return haul_error_set(error, HAUL_STATUS_USAGE,
                          "the event is of device '%s', the stream of '%s'", event->device->name,
                          stream->device->name);
}

/* An event counts as queued only once the backend has taken the operation. */
static haul_status queued(haul_status status, const haul_stream *stream, haul_event *event)
{
    if (!status && stream->device->test.lost_behind)
        stream->device->queued++;
    if (event && !status)
        event->is_queued = true;
    return status;
}

static bool times_overflows(uint64_t a, uint64_t b, uint64_t *out)
{
    return __builtin_mul_overflow(a, b, out);
}

/* The bytes from an end's first to behind its last; false where no memory is as large. */
static bool extent(const uint64_t size[3], const uint64_t pitch[2], uint64_t *out)
{
    uint64_t rows, planes;
    if (!size[0]) {
        *out = 0;
        return true;
    }
    return !times_overflows(size[1] - 1, pitch[0], &rows) &&
           !times_overflows(size[2] - 1, pitch[1], &planes) &&
           !__builtin_add_overflow(rows, planes, out) &&
           !__builtin_add_overflow(*out, size[0], out);
}

/* Fills in pitches that were left out, and those of a dimension of 1, which are of no account. */
static bool fill_pitch(const uint64_t size[3], uint64_t pitch[2])
{
    if (!pitch[0] || size[1] == 1)
        pitch[0] = size[0];
    if (!pitch[1] || size[2] == 1)
        return !times_overflows(pitch[0], size[1], &pitch[1]);
    return true;
}

/* Checks one end of a completed transfer: shape first, then the memory behind it. Host pointers are
 * taken at their word. */
static haul_status check_end(const haul_stream *stream, const haul_address *end,
                             const haul_transfer *transfer, const uint64_t pitch[2],
                             haul_error *error)
{
    uint64_t bytes;
    /* With rows that overlap a copy has no defined result, as they are copied in any order. */
    uint64_t plane;
    if (pitch[0] < transfer->size[0] || times_overflows(transfer->size[1] - 1, pitch[0], &plane) ||
        __builtin_add_overflow(plane, transfer->size[0], &plane) || pitch[1] < plane)
        return haul_error_set(error, HAUL_STATUS_USAGE, "the rows or planes of a copy overlap");
    if (!extent(transfer->size, pitch, &bytes))
        return haul_error_set(error, HAUL_STATUS_USAGE, "a copy larger than any memory");
    if (!end->buffer)
        return end->host || !bytes
                   ? HAUL_OK
                   : haul_error_set(error, HAUL_STATUS_USAGE, "a copy without an address");
    const haul_buffer *buffer = end->buffer;
    if (end->offset > buffer->bytes || bytes > buffer->bytes - end->offset)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "a copy of %llu bytes at offset %llu in a buffer of %llu bytes",
                              (unsigned long long)bytes, (unsigned long long)end->offset,
                              (unsigned long long)buffer->bytes);
    /* Page-locked memory is the host's, whichever device it was made for. */
    const haul_device *device = stream->device;
    const bool is_in_reach =
        buffer->kind == HAUL_BUFFER_PINNED || device->properties.can & HAUL_DEVICE_CAN_REACH_PEERS;
    if (buffer->device != device && (buffer->device->backend != device->backend || !is_in_reach))
        return haul_error_set(error, HAUL_STATUS_ABSENT, "device '%s' cannot reach memory of '%s'",
                              device->name, buffer->device->name);
    return HAUL_OK;
}

/* Backends get transfers with all sizes and pitches set, within their buffers, and as few
 * dimensions as the layout has. */
static haul_status complete(const haul_stream *stream, haul_transfer *transfer, haul_error *error)
{
    for (int d = 1; d < 3; d++)
        if (!transfer->size[d])
            transfer->size[d] = 1;
    if (!fill_pitch(transfer->size, transfer->to_pitch) ||
        !fill_pitch(transfer->size, transfer->from_pitch))
        return haul_error_set(error, HAUL_STATUS_USAGE, "a copy larger than any memory");
    HAUL_TRY(check_end(stream, &transfer->to, transfer, transfer->to_pitch, error));
    HAUL_TRY(check_end(stream, &transfer->from, transfer, transfer->from_pitch, error));
    /* Dimensions that follow each other without a gap at both ends are one. */
    uint64_t *size = transfer->size, *to = transfer->to_pitch, *from = transfer->from_pitch;
    if (to[0] == size[0] && from[0] == size[0]) {
        size[0] *= size[1];
        size[1] = size[2];
        size[2] = 1;
        to[0] = to[1];
        from[0] = from[1];
    }
    if (size[2] == 1 && to[0] == size[0] && from[0] == size[0]) {
        size[0] *= size[1];
        size[1] = 1;
    }
    if (size[1] == 1)
        to[0] = from[0] = size[0];
    return HAUL_OK;
}

/* Completes a copy of the caller's transfer, which stays as it is. */
haul_status haul_stream_copy(haul_stream *stream, const haul_transfer *transfer, haul_event *event,
                             haul_error *error)
{
    haul_transfer whole = *transfer;
    haul_status status = check_event(stream, event, error);
    if (!status)
        status = complete(stream, &whole, error);
    if (!status)
        status = stream->device->backend->copy(stream, &whole, event, error);
    return queued(status, stream, event);
}

haul_status haul_stream_fill(haul_stream *stream, const haul_filling *filling, haul_event *event,
                             haul_error *error)
{
    const haul_buffer *buffer = filling->buffer;
    HAUL_TRY(check_event(stream, event, error));
    if (!stream->device->backend->fill)
        return hl_device_cannot(stream->device, "set memory", error);
    if (buffer->device != stream->device || filling->offset > buffer->bytes ||
        filling->bytes > buffer->bytes - filling->offset)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "setting %llu bytes at offset %llu in a buffer of %llu bytes of '%s'",
                              (unsigned long long)filling->bytes,
                              (unsigned long long)filling->offset,
                              (unsigned long long)buffer->bytes, buffer->device->name);
    return queued(stream->device->backend->fill(stream, filling, event, error), stream, event);
}

haul_status haul_stream_prefetch(haul_stream *stream, haul_buffer *buffer, bool to_host,
                                 haul_event *event, haul_error *error)
{
    const haul_device *device = stream->device;
    HAUL_TRY(check_event(stream, event, error));
    if (!device->backend->prefetch || !(device->properties.can & HAUL_DEVICE_CAN_MANAGE))
        return hl_device_cannot(device, "move managed memory", error);
    if (buffer->kind != HAUL_BUFFER_MANAGED || buffer->device != device)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "only a managed buffer of '%s' can be prefetched", device->name);
    return queued(device->backend->prefetch(stream, buffer, to_host, event, error), stream, event);
}

haul_status haul_stream_call(haul_stream *stream, void (*function)(void *state), void *state,
                             haul_event *event, haul_error *error)
{
    const haul_device *device = stream->device;
    HAUL_TRY(check_event(stream, event, error));
    if (!device->backend->call)
        return hl_device_cannot(device, "call the host", error);
    return queued(device->backend->call(stream, function, state, event, error), stream, event);
}

haul_status haul_stream_record(haul_stream *stream, haul_event *event, haul_error *error)
{
    HAUL_TRY(check_event(stream, event, error));
    return queued(stream->device->backend->record(stream, event, error), stream, event);
}

haul_status haul_stream_wait_event(haul_stream *stream, haul_event *event, haul_error *error)
{
    if (event->device->backend != stream->device->backend)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "a stream of '%s' cannot wait for an event of '%s'",
                              stream->device->name, event->device->name);
    if (!stream->device->backend->wait_event)
        return hl_device_cannot(stream->device, "let a stream wait for an event", error);
    return event->is_queued ? stream->device->backend->wait_event(stream, event, error) : HAUL_OK;
}

/* Of host memory only what is mapped, or managed, can be an argument of a kernel. */
static haul_status check_argument(const haul_stream *stream, const haul_kernel_source *source,
                                  size_t index, const haul_argument *argument, haul_error *error)
{
    const haul_kernel_parameter *parameter = &source->parameters[index];
    if (parameter->access == HAUL_ACCESS_VALUE)
        return argument->value && !argument->buffer
                   ? HAUL_OK
                   : haul_error_set(error, HAUL_STATUS_USAGE, "'%s' of kernel '%s' is a value",
                                    parameter->name, source->name);
    const haul_buffer *buffer = argument->buffer;
    if (!buffer)
        return haul_error_set(error, HAUL_STATUS_USAGE, "'%s' of kernel '%s' is a buffer",
                              parameter->name, source->name);
    if (buffer->device != stream->device)
        return haul_error_set(error, HAUL_STATUS_USAGE, "'%s' of kernel '%s' lies on device '%s'",
                              parameter->name, source->name, buffer->device->name);
    if (buffer->kind == HAUL_BUFFER_PINNED || buffer->kind == HAUL_BUFFER_WRITE_COMBINED)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "'%s' of kernel '%s' is %s memory, not mapped", parameter->name,
                              source->name, haul_buffer_kind_text(buffer->kind));
    if (argument->offset >= buffer->bytes || argument->offset % parameter->bytes)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "'%s' of kernel '%s' begins at byte %llu of %llu", parameter->name,
                              source->name, (unsigned long long)argument->offset,
                              (unsigned long long)buffer->bytes);
    return HAUL_OK;
}

/* Shared arrays are declared last and are not passed: the backend makes them. */
static haul_status check_launch(const haul_stream *stream, const haul_kernel *kernel,
                                const haul_launch *launch, haul_error *error)
{
    const haul_kernel_source *source = kernel->source;
    size_t expected = source->parameter_count;
    while (expected && source->parameters[expected - 1].access == HAUL_ACCESS_SHARED)
        expected--;
    if (launch->argument_count != expected)
        return haul_error_set(error, HAUL_STATUS_USAGE, "kernel '%s' has %zu arguments, not %zu",
                              source->name, expected, launch->argument_count);
    if (kernel->device != stream->device)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "kernel '%s' was compiled for device '%s', not '%s'", source->name,
                              kernel->device->name, stream->device->name);
    for (size_t i = 0; i < expected; i++)
        HAUL_TRY(check_argument(stream, source, i, &launch->arguments[i], error));
    return HAUL_OK;
}

haul_status haul_stream_launch(haul_stream *stream, const haul_kernel *kernel,
                               const haul_launch *launch, haul_event *event, haul_error *error)
{
    HAUL_TRY(check_event(stream, event, error));
    HAUL_TRY(check_launch(stream, kernel, launch, error));
    haul_launch whole = *launch;
    haul_box *box = &whole.box;
    /* an empty box launches nothing, which drivers refuse to do, but its event still ends */
    bool is_empty = box->lo[0] >= box->hi[0];
    for (int d = 1; d < 3; d++) {
        if (!box->lo[d] && !box->hi[d])
            box->hi[d] = 1;
        is_empty = is_empty || box->lo[d] >= box->hi[d];
    }
    haul_status status = HAUL_OK;
    if (!is_empty)
        status = stream->device->backend->launch(stream, kernel, &whole, event, error);
    else if (event)
        status = stream->device->backend->record(stream, event, error);
    return queued(status, stream, event);
}

/* By the buffers' kinds: plain pointers are the host's. */
haul_direction haul_transfer_direction(const haul_transfer *transfer)
{
    const haul_buffer *to = transfer->to.buffer, *from = transfer->from.buffer;
    const bool to_device =
        to && (to->kind == HAUL_BUFFER_DEVICE || to->kind == HAUL_BUFFER_MANAGED);
    const bool from_device =
        from && (from->kind == HAUL_BUFFER_DEVICE || from->kind == HAUL_BUFFER_MANAGED);
    if (to_device && from_device)
        return to->device == from->device ? HAUL_DIRECTION_DTOD : HAUL_DIRECTION_PTOP;
    if (to_device)
        return HAUL_DIRECTION_HTOD;
    return from_device ? HAUL_DIRECTION_DTOH : HAUL_DIRECTION_HTOH;
}

bool haul_transfer_is_flat(const haul_transfer *transfer)
{
    return transfer->size[1] == 1 && transfer->size[2] == 1;
}
