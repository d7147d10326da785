/* The workload of what was queued, and its times. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "device/sim_device.h"

static bool make_room(haul_sim_node *self, size_t more_edges)
{
    const size_t count = self->count + 1;
    return haul_grow(&self->ops, &self->op_capacity, count, sizeof *self->ops) &&
           haul_grow(&self->works, &self->work_capacity, count, sizeof *self->works) &&
           haul_grow(&self->spans, &self->span_capacity, count, sizeof *self->spans) &&
           haul_grow(&self->edges, &self->edge_capacity, self->edge_count + more_edges,
                     sizeof *self->edges);
}

/* The place of an operation, or HAUL_NONE where it has ended and is no longer kept. */
static uint32_t place_of(const haul_sim_node *self, uint64_t number)
{
    return number >= self->base ? (uint32_t)(number - self->base) : HAUL_NONE;
}

static void add_edges(haul_sim_node *self, const haul_sim_stream *stream)
{
    for (size_t i = 0; i < stream->wait_count; i++) {
        const uint32_t before = place_of(self, stream->waits[i]);
        if (before != HAUL_NONE)
            self->edges[self->edge_count++] = (haul_edge){before, (uint32_t)self->count};
    }
}

haul_status haul_sim_queue(haul_stream *stream, const haul_op *op, const haul_sim_work *work,
                           haul_event *event, haul_error *error)
{
    haul_sim_node *self = haul_sim_node_of(stream->device);
    haul_sim_stream *on = (haul_sim_stream *)stream;
    if (self->count >= HAUL_NONE - 1 || !make_room(self, on->wait_count))
        return haul_fail_no_memory(error);
    const size_t at = self->count;
    const size_t edges = self->edge_count;
    add_edges(self, on);
    on->wait_count = 0;
    haul_op *queued = &self->ops[at];
    *queued = *op;
    queued->start_ns = queued->call_ns = self->now_ns;
    queued->name = HAUL_NONE;
    queued->stream = on->index;
    queued->stream_prev = on->last ? place_of(self, on->last - 1) : HAUL_NONE;
    queued->thread_prev = at ? (uint32_t)at - 1 : HAUL_NONE;
    queued->flags = HAUL_OP_HAS_CALL;
    self->works[at] = *work;
    self->works[at].edge_begin = edges;
    self->works[at].event = (haul_sim_event *)event;
    on->last = self->base + at + 1;
    if (event)
        ((haul_sim_event *)event)->number = self->base + at;
    self->count++;
    self->undone++;
    return HAUL_OK;
}

static haul_status run_timeline(haul_sim_node *self, haul_error *error)
{
    const haul_workload_thread thread = {.id = 1};
    const haul_workload workload = {
        .source = "sim",
        .format = "sim",
        .ops = self->ops,
        .op_count = self->count,
        .edges = self->edges,
        .edge_count = self->edge_count,
        .streams = self->streams,
        .stream_count = self->stream_count,
        .threads = &thread,
        .thread_count = 1,
        .devices = self->devices,
        .device_count = self->device_count,
        .shapes = self->shapes,
        .shape_count = self->shape_count,
    };
    const haul_timeline_options options = {
        .device = self->device,
        .release = HAUL_RELEASE_RECORDED,
    };
    haul_timeline *timeline;
    const haul_status status = haul_timeline_run(&workload, &options, &timeline, error);
    if (status)
        return status;
    for (size_t i = 0; i < self->count; i++)
        self->spans[i] = (haul_span){timeline->ops[i].start_ns + timeline->origin_ns,
                                     timeline->ops[i].end_ns + timeline->origin_ns};
    self->timed = self->count;
    haul_timeline_free(timeline);
    return HAUL_OK;
}

/* What has ended by now stays as it is, whatever is queued later. */
static bool has_ended(const haul_sim_node *self, size_t at)
{
    return at < self->timed && self->spans[at].end_ns <= self->now_ns;
}

static bool is_idle(const haul_sim_node *self)
{
    for (size_t i = 0; i < self->count; i++)
        if (!has_ended(self, i))
            return false;
    return !self->undone;
}

/* Times go to their events, and all is forgotten: the next operation finds the devices idle. */
static void forget(haul_sim_node *self)
{
    for (size_t i = 0; i < self->count; i++) {
        haul_sim_event *event = self->works[i].event;
        if (event && event->number == self->base + i)
            event->span = self->spans[i];
    }
    self->base += self->count;
    self->count = self->timed = self->undone = 0;
    self->edge_count = 0;
    self->shape_count = 0;
}

static haul_status advance(haul_sim_node *self, size_t at, haul_error *error)
{
    if (has_ended(self, at))
        return HAUL_OK;
    const haul_status status = self->timed == self->count ? HAUL_OK : run_timeline(self, error);
    if (status)
        return status;
    const int64_t end_ns = self->spans[at].end_ns;
    if (self->time_limit_s > 0 && (double)(end_ns - self->now_ns) > 1e9 * self->time_limit_s)
        return haul_fail(error, HAUL_TIMED_OUT,
                         "the simulated device did not end its work within "
                         "%g s",
                         self->time_limit_s);
    self->now_ns = end_ns > self->now_ns ? end_ns : self->now_ns;
    return HAUL_OK;
}

haul_status haul_sim_wait(haul_sim_node *node, uint64_t number, haul_error *error)
{
    const uint32_t at = place_of(node, number);
    if (at == HAUL_NONE)
        return HAUL_OK;
    haul_status status = advance(node, at, error);
    if (!status)
        status = haul_sim_work_off(node, at, error);
    if (!status && is_idle(node))
        forget(node);
    return status;
}

void haul_sim_settle(haul_sim_node *node)
{
    if (!node->count)
        return;
    haul_status status = node->timed == node->count ? HAUL_OK : run_timeline(node, NULL);
    for (size_t i = 0; i < node->timed; i++)
        if (node->spans[i].end_ns > node->now_ns)
            node->now_ns = node->spans[i].end_ns;
    for (size_t i = 0; i < node->count && !status; i++)
        status = haul_sim_work_off(node, i, NULL);
    for (size_t i = 0; i < node->count; i++) /* that there was no memory for */
        if (node->works[i].kind == HAUL_SIM_KERNEL && !node->works[i].is_done)
            haul_host_call_release(&node->works[i].kernel);
    forget(node);
}

bool haul_sim_ended(haul_sim_node *node, const haul_sim_event *event, haul_span *span)
{
    const uint32_t at = place_of(node, event->number);
    if (at == HAUL_NONE) {
        *span = event->span;
        return true;
    }
    if (node->timed < node->count && !has_ended(node, at) && run_timeline(node, NULL))
        return false;
    *span = node->spans[at];
    return has_ended(node, at);
}
