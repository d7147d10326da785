/* Streams and events of simulated GPUs: the clock of their node moves when the host waits. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/grow.h"
#include "device/backends.h"
#include "device/sim_device.h"

enum { POLL_NS = 1000 };

/* Takes the first index that is free: the timeline's streams are as many as were ever open at
 * once. */
haul_status hl_device_sim_stream_new(haul_device *device, haul_stream **stream, haul_error *error)
{
    hl_device_sim_node *node = hl_device_sim_node_of(device);
    hl_device_sim_stream *self = calloc(1, sizeof *self);
    size_t at = 0;
    while (at < node->stream_count && node->streams[at])
        at++;
    if (!self || !hl_base_grow(&node->streams, &node->stream_capacity, at + 1,
                               sizeof(hl_device_sim_stream *))) {
        free(self);
        return hl_base_fail_no_memory(error);
    }
    self->index = (uint32_t)at;
    self->device = ((hl_device_sim_device *)device)->index;
    self->undone = HAUL_NONE;
    const haul_status status =
        node->count ? hl_timeline_live_stream(&node->live, self->index, self->device, error)
                    : HAUL_OK;
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
void hl_device_sim_stream_free(haul_stream *stream)
{
    hl_device_sim_stream *self = (hl_device_sim_stream *)stream;
    hl_device_sim_node *node = hl_device_sim_node_of(stream->device);
    hl_device_sim_settle(node);
    node->streams[self->index] = NULL;
    free(self->waits);
    free(self);
}

haul_status hl_device_sim_record(haul_stream *stream, haul_event *event, haul_error *error)
{
    const hl_device_host_task nothing = {.kind = HL_DEVICE_TASK_NOTHING};
    return hl_device_sim_queue(stream, &hl_device_sim_point, NULL, &nothing, event, error);
}

/* Waits that no operation has taken yet get one, which takes no time. */
haul_status hl_device_sim_stream_wait(haul_stream *stream, haul_error *error)
{
    hl_device_sim_stream *self = (hl_device_sim_stream *)stream;
    HAUL_TRY(self->wait_count ? hl_device_sim_record(stream, NULL, error) : HAUL_OK);
    if (self->last)
        HAUL_TRY(hl_device_sim_wait(hl_device_sim_node_of(stream->device), self->last - 1, error));
    return HAUL_OK;
}

haul_status hl_device_sim_wait_for(hl_device_sim_stream *stream, uint64_t number, haul_error *error)
{
    if (!hl_base_grow(&stream->waits, &stream->wait_capacity, stream->wait_count + 1,
                      sizeof *stream->waits))
        return hl_base_fail_no_memory(error);
    stream->waits[stream->wait_count++] = number;
    return HAUL_OK;
}

haul_status hl_device_sim_wait_event(haul_stream *stream, haul_event *event, haul_error *error)
{
    return hl_device_sim_wait_for((hl_device_sim_stream *)stream,
                                  ((hl_device_sim_event *)event)->number, error);
}

haul_status hl_device_sim_event_new(haul_device *device, haul_event **event, haul_error *error)
{
    (void)device;
    return hl_device_event_alloc(sizeof(hl_device_sim_event), event, error);
}

void hl_device_sim_event_free(haul_event *event)
{
    const hl_device_sim_node *node = hl_device_sim_node_of(event->device);
    const uint64_t number = ((hl_device_sim_event *)event)->number;
    if (number >= node->base && number - node->base < node->count &&
        node->works[number - node->base].event == (hl_device_sim_event *)event)
        node->works[number - node->base].event = NULL;
    free(event);
}

haul_status hl_device_sim_event_wait(haul_event *event, haul_error *error)
{
    return hl_device_sim_wait(hl_device_sim_node_of(event->device),
                              ((hl_device_sim_event *)event)->number, error);
}

/* A question that is answered with no takes a little of the host's time: else who asks again would
 * ask for ever. */
haul_status hl_device_sim_event_done(haul_event *event, bool *done, haul_error *error)
{
    hl_device_sim_node *node = hl_device_sim_node_of(event->device);
    haul_span span;
    *done = hl_device_sim_ended(node, (hl_device_sim_event *)event, &span);
    if (*done)
        return hl_device_sim_event_wait(event, error);
    node->now_ns += POLL_NS;
    return HAUL_OK;
}

haul_status hl_device_sim_event_seconds(haul_event *from, haul_event *to, double *seconds,
                                        haul_error *error)
{
    hl_device_sim_node *node = hl_device_sim_node_of(from->device);
    haul_span first, last;
    if (!hl_device_sim_ended(node, (hl_device_sim_event *)from, &first) ||
        !hl_device_sim_ended(node, (hl_device_sim_event *)to, &last))
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "an operation that has not ended has no time");
    *seconds = (double)(last.end_ns - first.start_ns) * 1e-9;
    return HAUL_OK;
}
