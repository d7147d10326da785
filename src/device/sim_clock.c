/* The timeline of what was queued, and the host's clock on it. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "device/sim_device.h"

/* The place of an operation, or HAUL_NONE where it has ended and is no longer kept. */
static uint32_t place_of(const hl_device_sim_node *self, uint64_t number)
{
    return number >= self->base ? (uint32_t)(number - self->base) : HAUL_NONE;
}

static haul_status add_to_timeline(hl_device_sim_node *self, hl_device_sim_stream *on,
                                   const haul_op *op, const haul_shape *shape, haul_error *error)
{
    haul_op queued = *op;
    queued.start_ns = queued.call_ns = self->now_ns;
    queued.name = HAUL_NONE;
    queued.stream = on->index;
    queued.stream_prev = on->last ? place_of(self, on->last - 1) : HAUL_NONE;
    queued.thread_prev = HAUL_NONE;
    uint32_t *waits = NULL;
    if (on->wait_count && !(waits = malloc(on->wait_count * sizeof *waits)))
        return hl_base_fail_no_memory(error);
    /* The operations that a stream waits for, as places; those that are no longer kept have ended.
     */
    size_t wait_count = 0;
    for (size_t i = 0; i < on->wait_count; i++) {
        const uint32_t place = place_of(self, on->waits[i]);
        if (place != HAUL_NONE)
            waits[wait_count++] = place;
    }
    const haul_status status =
        hl_timeline_live_add(&self->live, &queued, shape, waits, wait_count, error);
    free(waits);
    return status;
}

/* An event stands for the operation that was queued with it last. */
static void give_event(hl_device_sim_node *self, uint32_t at, hl_device_sim_event *event)
{
    const uint32_t before = place_of(self, event->number);
    if (before != HAUL_NONE && before < at && self->works[before].event == event)
        self->works[before].event = NULL;
    event->number = self->base + at;
    self->works[at].event = event;
}

haul_status hl_device_sim_queue(haul_stream *stream, const haul_op *op, const haul_shape *shape,
                                const hl_device_host_task *task, haul_event *event,
                                haul_error *error)
{
    hl_device_sim_node *self = hl_device_sim_node_of(stream->device);
    hl_device_sim_stream *on = (hl_device_sim_stream *)stream;
    if (!self->live.engine.actors) {
        /* Made for the first operation after all were forgotten, with the devices and streams that
         * there are. */
        haul_status status =
            hl_timeline_live_init(&self->live, &self->device, self->gpu_count, error);
        for (uint32_t i = 0; i < self->stream_count && !status; i++)
            if (self->streams[i]) {
                self->streams[i]->undone = HAUL_NONE;
                status = hl_timeline_live_stream(&self->live, i, self->streams[i]->device, error);
            }
        if (status)
            hl_timeline_live_release(&self->live);
        HAUL_TRY(status);
    }
    if (!hl_base_grow(&self->works, &self->work_capacity, self->count + 1, sizeof *self->works))
        return hl_base_fail_no_memory(error);
    HAUL_TRY(add_to_timeline(self, on, op, shape, error));
    const uint32_t at = (uint32_t)self->count++;
    const uint32_t before = on->last ? place_of(self, on->last - 1) : HAUL_NONE;
    self->works[at] = (hl_device_sim_work){.task = *task, .begin = at, .next = HAUL_NONE};
    if (before != HAUL_NONE)
        self->works[before].next = at;
    if (on->undone == HAUL_NONE)
        on->undone = at;
    on->wait_count = 0;
    on->last = self->base + at + 1;
    if (event)
        give_event(self, at, (hl_device_sim_event *)event);
    self->undone++;
    return HAUL_OK;
}

static haul_span span_of(const hl_device_sim_node *self, uint32_t at)
{
    const hl_timeline_progress *progress = self->live.engine.progress;
    return (haul_span){progress[self->works[at].begin].start_ns, progress[at].end_ns};
}

/* Times go to their events, and all is forgotten: the next operation finds the devices idle. */
static void forget(hl_device_sim_node *self)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->works[i].event)
            self->works[i].event->span = span_of(self, (uint32_t)i);
    self->base += self->count;
    self->count = self->undone = self->settled = 0;
    hl_timeline_live_release(&self->live);
}

/* First to the host's time, then on to the operation's end, at most to the time limit. */
static haul_status advance(hl_device_sim_node *self, uint32_t at, haul_error *error)
{
    const bool is_limited = self->time_limit_s > 0 && self->time_limit_s < 1e9;
    const int64_t most_ns =
        is_limited ? self->now_ns + (int64_t)(1e9 * self->time_limit_s) : INT64_MAX;
    HAUL_TRY(hl_timeline_live_advance(&self->live, self->now_ns, HAUL_NONE, error));
    HAUL_TRY(hl_timeline_live_advance(&self->live, most_ns, at, error));
    if (!hl_timeline_live_ended(&self->live, at)) {
        self->now_ns = most_ns;
        return haul_error_set(error, HAUL_STATUS_TIMED_OUT,
                              "the simulated device did not end its work within %g s",
                              self->time_limit_s);
    }
    const int64_t end_ns = self->live.engine.progress[at].end_ns;
    self->now_ns = end_ns > self->now_ns ? end_ns : self->now_ns;
    return HAUL_OK;
}

/* A number that is no longer kept is of work that ended: there is nothing to wait for. */
haul_status hl_device_sim_wait(hl_device_sim_node *node, uint64_t number, haul_error *error)
{
    const uint32_t at = place_of(node, number);
    if (at == HAUL_NONE)
        return HAUL_OK;
    haul_status status = advance(node, at, error);
    if (!status)
        status = hl_device_sim_work_off(node, at, error);
    if (!status && !node->undone && node->live.engine.finished == node->count)
        forget(node);
    return status;
}

/* Runs everything that is queued, so that what it uses can be freed. */
void hl_device_sim_settle(hl_device_sim_node *node)
{
    if (!node->count)
        return;
    haul_status status = hl_timeline_live_advance(&node->live, INT64_MAX, HAUL_NONE, NULL);
    if (node->live.engine.now_ns > node->now_ns)
        node->now_ns = node->live.engine.now_ns;
    for (uint32_t i = 0; i < node->count && !status; i++)
        status = hl_device_sim_work_off(node, i, NULL);
    for (size_t i = 0; i < node->count; i++) /* that there was no memory for */
        if (!node->works[i].is_done)
            hl_device_host_task_release(&node->works[i].task);
    forget(node);
}

/* Moves the devices to the host's time, not the host's clock. */
bool hl_device_sim_ended(hl_device_sim_node *node, const hl_device_sim_event *event,
                         haul_span *span)
{
    const uint32_t at = place_of(node, event->number);
    if (at == HAUL_NONE) {
        *span = event->span;
        return true;
    }
    if (hl_timeline_live_advance(&node->live, node->now_ns, HAUL_NONE, NULL) ||
        !hl_timeline_live_ended(&node->live, at))
        return false;
    *span = span_of(node, at);
    return true;
}
