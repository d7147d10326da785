/* A device of one's own: the host's memory behind haul's interface, every operation done as it is
 * queued. `haul measure transfers --device ./plain_device.so` measures it. What it leaves out, as
 * kernels, haul takes as what the device cannot do. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "haul/device_backend.h"

/* As much as its buffers may have. */
static const uint64_t room_bytes = UINT64_C(1) << 30;

typedef struct plain_event {
    haul_event base;
    double begin_s, end_s;
} plain_event;

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Fails as every function of a device does: with a status and, where the caller wants one, a text.
 */
static haul_status fail(haul_status status, const char *text, haul_error *error)
{
    if (error) {
        *error = (haul_error){.status = status};
        strcpy(error->text, text);
    }
    return status;
}

static haul_status no_memory(haul_error *error)
{
    return fail(HAUL_STATUS_NO_MEMORY, "out of memory", error);
}

static haul_status open_plain(const char *which, const haul_device_options *options,
                              haul_device **device, haul_error *error)
{
    (void)which; /* there is one */
    (void)options;
    haul_device *self = calloc(1, sizeof *self);
    if (!self)
        return no_memory(error);
    self->properties = (haul_device_properties){
        .name = "plain memory", .identity = "", .driver = "", .is_host = true, .implicit_sync = -1};
    *device = self;
    return HAUL_OK;
}

static void close_plain(haul_device *device)
{
    free(device);
}

static haul_status room_of(haul_device *device, uint64_t *bytes, haul_error *error)
{
    (void)device;
    (void)error;
    *bytes = room_bytes;
    return HAUL_OK;
}

/* Device memory has no address on the host; `pointer` is the device's own. */
static haul_status buffer_new(haul_device *device, haul_buffer_kind kind, uint64_t bytes,
                              haul_buffer **buffer, haul_error *error)
{
    (void)device;
    haul_buffer *self = calloc(1, sizeof *self);
    void *memory = self && bytes <= room_bytes ? malloc(bytes) : NULL;
    if (!memory) {
        free(self);
        return fail(HAUL_STATUS_DEVICE_FULL, "out of device memory", error);
    }
    self->pointer = memory;
    self->host = kind == HAUL_BUFFER_DEVICE ? NULL : memory;
    *buffer = self;
    return HAUL_OK;
}

static void buffer_free(haul_buffer *buffer)
{
    free(buffer->pointer);
    free(buffer);
}

static haul_status stream_new(haul_device *device, haul_stream **stream, haul_error *error)
{
    (void)device;
    *stream = calloc(1, sizeof **stream);
    return *stream ? HAUL_OK : no_memory(error);
}

static void stream_free(haul_stream *stream)
{
    free(stream);
}

static haul_status stream_wait(haul_stream *stream, haul_error *error)
{
    (void)stream;
    (void)error;
    return HAUL_OK;
}

static haul_status event_new(haul_device *device, haul_event **event, haul_error *error)
{
    (void)device;
    plain_event *self = calloc(1, sizeof *self);
    if (!self)
        return no_memory(error);
    *event = &self->base;
    return HAUL_OK;
}

static void event_free(haul_event *event)
{
    free(event);
}

static haul_status event_wait(haul_event *event, haul_error *error)
{
    (void)event;
    (void)error;
    return HAUL_OK;
}

static haul_status event_done(haul_event *event, bool *done, haul_error *error)
{
    (void)event;
    (void)error;
    *done = true;
    return HAUL_OK;
}

static haul_status event_seconds(haul_event *from, haul_event *to, double *seconds,
                                 haul_error *error)
{
    (void)error;
    *seconds = ((plain_event *)to)->end_s - ((plain_event *)from)->begin_s;
    return HAUL_OK;
}

static void mark(haul_event *event, double begin_s)
{
    plain_event *self = (plain_event *)event;
    if (!self)
        return;
    self->begin_s = begin_s;
    self->end_s = now_s();
}

static char *place(haul_address at)
{
    return at.buffer ? (char *)at.buffer->pointer + at.offset : at.host;
}

/* haul has filled in the pitches, and checked that both ends lie within their buffers. */
static haul_status copy(haul_stream *stream, const haul_transfer *transfer, haul_event *event,
                        haul_error *error)
{
    (void)stream;
    (void)error;
    const double begin_s = now_s();
    for (uint64_t z = 0; z < transfer->size[2]; z++)
        for (uint64_t y = 0; y < transfer->size[1]; y++)
            memcpy(place(transfer->to) + z * transfer->to_pitch[1] + y * transfer->to_pitch[0],
                   place(transfer->from) + z * transfer->from_pitch[1] +
                       y * transfer->from_pitch[0],
                   transfer->size[0]);
    mark(event, begin_s);
    return HAUL_OK;
}

static haul_status fill(haul_stream *stream, const haul_filling *filling, haul_event *event,
                        haul_error *error)
{
    (void)stream;
    (void)error;
    const double begin_s = now_s();
    memset((char *)filling->buffer->pointer + filling->offset, filling->value, filling->bytes);
    mark(event, begin_s);
    return HAUL_OK;
}

static haul_status record(haul_stream *stream, haul_event *event, haul_error *error)
{
    (void)stream;
    (void)error;
    mark(event, now_s());
    return HAUL_OK;
}

/* All that was queued before is done. */
static haul_status wait_event(haul_stream *stream, haul_event *event, haul_error *error)
{
    (void)stream;
    (void)event;
    (void)error;
    return HAUL_OK;
}

const haul_device_backend *haul_device_entry(void)
{
    static const haul_device_backend backend = {
        .abi = HAUL_DEVICE_ABI,
        .kind = "plain",
        .summary = "the host's memory, without streams of its own",
        .open = open_plain,
        .close = close_plain,
        .room = room_of,
        .buffer_new = buffer_new,
        .buffer_free = buffer_free,
        .stream_new = stream_new,
        .stream_free = stream_free,
        .stream_wait = stream_wait,
        .event_new = event_new,
        .event_free = event_free,
        .event_wait = event_wait,
        .event_done = event_done,
        .event_seconds = event_seconds,
        .copy = copy,
        .fill = fill,
        .record = record,
        .wait_event = wait_event,
    };
    return &backend;
}
