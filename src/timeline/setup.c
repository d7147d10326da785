/* The lists that the engine walks: operations linked by stream and by thread, edges by the
 * operation that waits. All are made before the first event, so that the loop allocates nothing but
 * the heaps of waiting operations. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/pages.h"
#include "timeline/engine_parts.h"

/* hl_timeline_engine_release frees all that was allocated, also where the rest was not. */
static bool alloc(hl_timeline_engine *self)
{
    const haul_workload *workload = self->workload;
    const size_t count = workload->op_count + 1;
    self->stream_count = (uint32_t)workload->stream_count + 1;
    self->actor_count = self->stream_count + (uint32_t)workload->thread_count + 1;
    self->device_count = (uint32_t)workload->device_count + 1;
    const size_t devices = self->device_count;
    self->progress = hl_base_pages_alloc(count * sizeof *self->progress);
    self->streams = hl_base_pages_alloc(count * sizeof *self->streams);
    self->calls = hl_base_pages_alloc(count * sizeof *self->calls);
    self->actors = calloc(self->actor_count, sizeof *self->actors);
    self->servers = calloc(devices * HAUL_RESOURCES, sizeof *self->servers);
    self->lanes = malloc(2 * devices * sizeof *self->lanes);
    self->copying = calloc(4 * devices, sizeof *self->copying);
    if (workload->edge_count)
        self->edge_begin = hl_base_pages_alloc(count * sizeof *self->edge_begin);
    return self->progress && self->streams && self->calls && self->actors && self->servers &&
           self->lanes && self->copying && (self->edge_begin || !workload->edge_count) &&
           hl_timeline_occupancy_init(self) &&
           hl_timeline_event_queue_init(&self->events, self->actor_count);
}

/* Once all operations are known, for these tell whether there are gates. */
static bool alloc_gates(hl_timeline_engine *self)
{
    const size_t devices = self->workload->device_count + 1;
    if (!self->options->device.implicit_sync && !self->has_faults)
        return true;
    self->gates = calloc(devices * HL_TIMELINE_GATES, sizeof *self->gates);
    self->moved = malloc(devices * sizeof *self->moved);
    self->device_next =
        hl_base_pages_alloc((self->workload->op_count + 1) * sizeof *self->device_next);
    self->device_last = malloc(devices * sizeof *self->device_last);
    return self->gates && self->moved && self->device_next && self->device_last;
}

hl_timeline_actor hl_timeline_actor_idle(uint32_t device)
{
    return (hl_timeline_actor){.op = HAUL_NONE,
                               .next = HAUL_NONE,
                               .before = HAUL_NONE,
                               .edge = HAUL_NONE,
                               .blocker = HAUL_NONE,
                               .cause = HAUL_NONE,
                               .next_in_list = HAUL_NONE,
                               .due_ns = INT64_MAX,
                               .turn_ns = -1,
                               .first_late = HAUL_NONE,
                               .device = device};
}

/* Streams and threads without a head, resources without an operation. The last device stands for
 * "none". */
static void begin_idle(hl_timeline_engine *self)
{
    const haul_timeline_device *device = &self->options->device;
    for (int place = 0; place < 2; place++)
        self->extents[place] = (hl_timeline_extent){INT64_MAX, -1, HAUL_NONE};
    memset(self->calls, 0xff, (self->workload->op_count + 1) * sizeof *self->calls); /* HAUL_NONE */
    for (uint32_t a = 0; a < self->actor_count; a++) {
        const uint32_t on =
            a + 1 < self->stream_count ? self->workload->streams[a].device : HAUL_NONE;
        self->actors[a] = hl_timeline_actor_idle(on == HAUL_NONE ? self->device_count - 1 : on);
    }
    for (size_t d = 0; d < self->device_count; d++) {
        hl_timeline_server *servers = &self->servers[d * HAUL_RESOURCES];
        for (int kind = 0; kind < HAUL_RESOURCES; kind++)
            servers[kind] =
                (hl_timeline_server){.capacity = 1, .last_op = HAUL_NONE, .last_end_ns = -1};
        servers[HAUL_RESOURCE_STAGING].is_buffer = true;
        servers[HAUL_RESOURCE_KERNEL_SLOTS].capacity = device->kernels;
        servers[HAUL_RESOURCE_ENGINE_PEER].capacity =
            device->copy_engines > 2 ? device->copy_engines - 2 : 0;
        servers[HAUL_RESOURCE_MIGRATION].capacity = device->migrations;
        servers[HAUL_RESOURCE_NOWHERE].capacity = UINT32_MAX;
        self->lanes[2 * d] = self->lanes[2 * d + 1] = (hl_timeline_lane){.first = HAUL_NONE};
    }
}

/* Behind the last of its stream so far, which an actor's `next` is while the lists are made. */
static void link_on_stream(hl_timeline_engine *self, uint32_t i)
{
    hl_timeline_actor *stream =
        &self->actors[hl_timeline_stream_actor(self, &self->workload->ops[i])];
    self->progress[i] = hl_timeline_progress_begin(stream->ended++);
    self->streams[i].next = HAUL_NONE;
    *(stream->op == HAUL_NONE ? &stream->op : &self->streams[stream->next].next) = i;
    stream->next = i;
}

/* A thread's calls form a chain, alone or with those of one that takes turns with it. A second
 * first, or two that follow one, is a profile that contradicts itself. */
static haul_status link_call(hl_timeline_engine *self, uint32_t i)
{
    const haul_workload *workload = self->workload;
    const haul_op *op = &workload->ops[i];
    const uint32_t before = op->thread_prev;
    if (before == HAUL_NONE) {
        hl_timeline_actor *thread = &self->actors[hl_timeline_thread_actor(self, op)];
        if (thread->op != HAUL_NONE)
            return hl_timeline_engine_fail(self, HAUL_STATUS_BAD_INPUT, i,
                                           "is the second first of its thread");
        thread->op = i;
        return HAUL_OK;
    }
    if (before >= workload->op_count || workload->ops[before].thread == HAUL_NONE)
        return hl_timeline_engine_fail(self, HAUL_STATUS_BAD_INPUT, i,
                                       "follows an operation that no thread called");
    if (self->calls[before].next != HAUL_NONE)
        return hl_timeline_engine_fail(self, HAUL_STATUS_BAD_INPUT, i,
                                       "follows an operation that another follows");
    self->calls[before].next = i;
    self->calls_ahead &= workload->ops[before].thread == op->thread;
    return HAUL_OK;
}

/* Operations without a thread: the host's one after another, `*last` being the place for the next;
 * the device's called at the start, or when they were in the profile where threads do not count. */
static haul_status link_op(hl_timeline_engine *self, uint32_t i, uint32_t **last)
{
    const haul_op *op = &self->workload->ops[i];
    const bool is_on_host = haul_op_on_host(op);
    HAUL_TRY(hl_timeline_engine_check_op(self, i));
    const int64_t called_ns = hl_timeline_called_ns(op);
    self->origin_ns = called_ns < self->origin_ns ? called_ns : self->origin_ns;
    if (is_on_host) {
        self->progress[i] = hl_timeline_progress_begin(0);
        self->streams[i].cause = HAUL_NONE;
    } else {
        link_on_stream(self, i);
    }
    if (op->thread != HAUL_NONE)
        return link_call(self, i);
    if (is_on_host) {
        **last = i;
        *last = &self->calls[i].next;
    } else {
        self->progress[i].start_ns = 0;
        self->unissued++;
    }
    return HAUL_OK;
}

/* One pass, for memory is what bounds it. Operations that are out of range are told before lists
 * that contradict themselves. */
static haul_status link_ops(hl_timeline_engine *self)
{
    const haul_workload *workload = self->workload;
    uint32_t *last = &self->actors[self->actor_count - 1].op;
    haul_status status = HAUL_OK;
    uint32_t i = 0;
    self->origin_ns = workload->op_count ? hl_timeline_time_limit_ns : 0;
    while (!status && i < workload->op_count)
        status = link_op(self, i++, &last);
    for (; status && i < workload->op_count; i++)
        HAUL_TRY(hl_timeline_engine_check_op(self, i));
    if (!self->unissued || self->options->release == HAUL_RELEASE_HOST)
        return status;
    for (i = 0; !status && i < workload->op_count; i++)
        if (workload->ops[i].thread == HAUL_NONE && !haul_op_on_host(&workload->ops[i]))
            self->progress[i].start_ns = workload->ops[i].start_ns - self->origin_ns;
    return status;
}

/* Edges are sorted by the operation that waits, which the check enforces: where an operation's
 * begin is all that must be kept. */
static haul_status link_edges(hl_timeline_engine *self)
{
    const haul_workload *workload = self->workload;
    uint32_t at = 0;
    for (uint32_t e = 0; e < workload->edge_count; e++) {
        const haul_edge *edge = &workload->edges[e];
        if (edge->before >= workload->op_count || edge->after >= workload->op_count)
            return haul_error_set(self->error, HAUL_STATUS_BAD_INPUT,
                                  "edge %u joins operations %u and %u of %zu", e, edge->before,
                                  edge->after, workload->op_count);
        if (edge->before == edge->after)
            return hl_timeline_engine_fail(self, HAUL_STATUS_BAD_INPUT, edge->after,
                                           "waits for itself");
        if (e && edge->after < edge[-1].after)
            return hl_timeline_engine_fail(self, HAUL_STATUS_BAD_INPUT, edge->after,
                                           "has its edges out of order");
        while (at <= edge->after)
            self->edge_begin[at++] = e;
    }
    while (self->edge_begin && at <= workload->op_count)
        self->edge_begin[at++] = (uint32_t)workload->edge_count;
    return HAUL_OK;
}

/* So many calls before a call its lines are asked for: those of one event. */
enum { CALLS_FETCHED = 16 };

haul_status hl_timeline_engine_init(hl_timeline_engine *self)
{
    HAUL_TRY(hl_timeline_engine_check(self));
    if (!alloc(self))
        return hl_base_fail_no_memory(self->error);
    if (self->options->release == HAUL_RELEASE_HOST)
        self->queue_depth = self->options->device.queue_depth;
    begin_idle(self);
    self->calls_ahead = self->workload->thread_count > 0;
    HAUL_TRY(link_ops(self));
    if (!alloc_gates(self))
        return hl_base_fail_no_memory(self->error);
    if (self->gates)
        hl_timeline_gates_init(self);
    HAUL_TRY(link_edges(self));
    /* Streams look first at time 0, threads when their first call is due. */
    for (uint32_t a = 0; a < self->actor_count; a++) {
        hl_timeline_actor *actor = &self->actors[a];
        actor->next = HAUL_NONE;
        actor->ended = 0;
        if (actor->op == HAUL_NONE)
            continue;
        const int64_t called_ns = hl_timeline_called_ns(&self->workload->ops[actor->op]);
        actor->fetched = actor->op;
        for (int i = 0; i < CALLS_FETCHED && self->calls[actor->fetched].next != HAUL_NONE; i++)
            actor->fetched = self->calls[actor->fetched].next;
        actor->state = HL_TIMELINE_ACTOR_LOOKS;
        actor->due_ns = a < self->stream_count ? 0 : called_ns - self->origin_ns;
        hl_timeline_event_queue_set(&self->events, a, actor->due_ns);
    }
    return HAUL_OK;
}

/* Also after a failed init, so each list is checked. */
void hl_timeline_engine_release(hl_timeline_engine *self)
{
    const size_t servers = (size_t)self->device_count * HAUL_RESOURCES;
    for (size_t s = 0; self->servers && s < servers; s++)
        free(self->servers[s].waiting.heap);
    for (size_t g = 0; self->gates && g < (size_t)self->device_count * HL_TIMELINE_GATES; g++)
        free(self->gates[g].waiting.heap);
    free(self->progress);
    free(self->streams);
    free(self->calls);
    free(self->edge_begin);
    free(self->actors);
    free(self->servers);
    free(self->gates);
    free(self->moved);
    free(self->device_next);
    free(self->device_last);
    free(self->needs);
    free(self->lanes);
    free(self->copying);
    hl_timeline_event_queue_release(&self->events);
}
