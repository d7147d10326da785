/* Resources: which operations hold them, and which is next. A resource whose state changed is
 * dirty, and is looked at once when all that happens at the instant has happened. */

#include "base/fail.h"
#include "timeline/engine_parts.h"

static bool is_of_host(const haul_op *op, haul_memory memory)
{
    return haul_op_crosses_link(op) && op->detail == memory;
}

/* One copy engine serves both directions, two serve one each, a third serves peer copies; a copy
 * within the device takes its kernels' room. */
haul_resource_kind hl_timeline_resource_of(const haul_op *op, const haul_timeline_device *device)
{
    const unsigned engines = device->copy_engines;
    switch ((haul_op_kind)op->kind) {
    case HAUL_OP_COPY:
        if (op->direction == HAUL_DIRECTION_DTOD)
            return HAUL_RESOURCE_KERNEL_SLOTS;
        if (device->migrations && is_of_host(op, HAUL_MEMORY_MANAGED))
            return HAUL_RESOURCE_MIGRATION;
        if (!haul_op_crosses_link(op) && op->direction != HAUL_DIRECTION_PTOP)
            return HAUL_RESOURCE_NOWHERE;
        if (op->direction == HAUL_DIRECTION_HTOD || engines == 1)
            return HAUL_RESOURCE_ENGINE;
        return op->direction == HAUL_DIRECTION_PTOP && engines > 2 ? HAUL_RESOURCE_ENGINE_PEER
                                                                   : HAUL_RESOURCE_ENGINE_OUT;
    case HAUL_OP_MEMSET:
    case HAUL_OP_KERNEL:
        return HAUL_RESOURCE_KERNEL_SLOTS;
    case HAUL_OP_MESSAGE:
        return op->direction == HAUL_MESSAGE_CARRIED ? HAUL_RESOURCE_NETWORK
                                                     : HAUL_RESOURCE_NOWHERE;
    case HAUL_OP_SYNC:
    case HAUL_OP_CALL:
        break; /* on no stream */
    }
    return HAUL_RESOURCE_NOWHERE;
}

/* Each device has one of each kind, and operations of no device have those of the last. */
static hl_timeline_server *server_of(const hl_timeline_engine *self,
                                     const hl_timeline_actor *stream, haul_resource_kind resource)
{
    return &self->servers[(size_t)stream->device * HAUL_RESOURCES + resource];
}

static void mark(hl_timeline_engine *self, hl_timeline_server *server)
{
    if (server->is_dirty)
        return;
    server->is_dirty = true;
    server->next_dirty = self->dirty;
    self->dirty = server;
}

/* First come, first served: by the instant, of equals by the lower number. */
static void wait_for(hl_timeline_engine *self, uint32_t actor, haul_resource_kind resource)
{
    const hl_timeline_actor *stream = &self->actors[actor];
    hl_timeline_server *server = server_of(self, stream, resource);
    const hl_base_waiting_item item = {self->now_ns, stream->op, actor};
    if (hl_base_waiting_add(&server->waiting, item))
        mark(self, server);
    else
        hl_timeline_engine_stop(self, hl_base_fail_no_memory(self->error));
}

void hl_timeline_server_enter(hl_timeline_engine *self, uint32_t actor)
{
    const haul_timeline_device *device = &self->options->device;
    hl_timeline_actor *stream = &self->actors[actor];
    const haul_op *op = &self->workload->ops[stream->op];
    const haul_resource_kind resource = hl_timeline_resource_of(op, device);
    const bool on_engine =
        resource >= HAUL_RESOURCE_ENGINE && resource <= HAUL_RESOURCE_ENGINE_PEER;
    stream->resource = (uint8_t)resource;
    stream->state = HL_TIMELINE_ACTOR_QUEUED;
    if (resource == HAUL_RESOURCE_KERNEL_SLOTS && !device->kernels)
        hl_timeline_engine_stop(self, hl_timeline_engine_fail(self, HAUL_STATUS_ABSENT, stream->op,
                                                              "needs a device that runs kernels"));
    else if (on_engine && !device->copy_engines)
        hl_timeline_engine_stop(
            self, hl_timeline_engine_fail(self, HAUL_STATUS_ABSENT, stream->op,
                                          "needs a copy engine, and the device has none"));
    else
        wait_for(self, actor,
                 device->staging && is_of_host(op, HAUL_MEMORY_PAGEABLE) ? HAUL_RESOURCE_STAGING
                                                                         : resource);
}

/* A copy behind one of its direction costs the gap, not the latency (CCGrid 2014, section V). */
static int64_t chained(const hl_timeline_engine *self, const hl_timeline_server *server,
                       uint32_t op, int64_t dur_ns)
{
    const haul_op *ops = self->workload->ops;
    const unsigned direction = ops[op].direction;
    if (!haul_op_crosses_link(&ops[op]) || server->last_end_ns != self->now_ns ||
        ops[server->last_op].direction != direction)
        return dur_ns;
    const int64_t saved_ns = self->options->device.chained_ns[direction];
    return dur_ns > saved_ns ? dur_ns - saved_ns : 0;
}

/* A copy that follows another has the gap left of the latency; migrations follow each other. */
static double steady_share(const hl_timeline_engine *self, const hl_timeline_actor *stream,
                           int64_t saved_ns, int64_t dur_ns)
{
    const haul_op *op = &self->workload->ops[stream->op];
    const haul_timeline_device *device = &self->options->device;
    if (!haul_op_crosses_link(op) || dur_ns <= 0)
        return 0;
    const bool is_migration = stream->resource == HAUL_RESOURCE_MIGRATION;
    const int64_t paid_ns = is_migration ? device->chained_ns[op->direction] : saved_ns;
    const double steady_ns = (double)(device->latency_ns[op->direction] - paid_ns);
    return steady_ns <= 0 ? 0 : steady_ns < (double)dur_ns ? steady_ns / (double)dur_ns : 1;
}

static bool goes_over_link(const hl_timeline_actor *stream)
{
    static const unsigned elsewhere = 1U << HAUL_RESOURCE_KERNEL_SLOTS |
                                      1U << HAUL_RESOURCE_NETWORK | 1U << HAUL_RESOURCE_NOWHERE;
    return !(elsewhere >> stream->resource & 1);
}

/* The first operation begins a busy time, the last to leave ends it: a union, not a sum. */
static void hold(hl_timeline_engine *self, hl_timeline_server *server)
{
    server->ops++;
    if (!server->running++)
        server->busy_since_ns = self->now_ns;
}

static void let_go(hl_timeline_engine *self, hl_timeline_server *server, uint32_t op)
{
    server->last_op = op;
    server->last_end_ns = self->now_ns;
    if (!--server->running)
        server->busy_ns += self->now_ns - server->busy_since_ns;
    if (server->waiting.count)
        mark(self, server);
}

/* A stream's next operation lies far from this one where there are many streams, and is looked at
 * when this one ends, some events later: by then its lines have come from memory. An operation may
 * lie on two. */
static void find_next(const hl_timeline_engine *self, hl_timeline_actor *stream)
{
    const uint32_t next = self->streams[stream->op].next;
    stream->next = next;
    if (next == HAUL_NONE)
        return;
    const haul_op *op = &self->workload->ops[next];
    __builtin_prefetch(op);
    __builtin_prefetch(&op->thread);
    __builtin_prefetch(&self->progress[next], 1);
    __builtin_prefetch(&self->streams[next], 1);
    if (self->edge_begin)
        __builtin_prefetch(&self->edge_begin[next]);
}

/* The end is scheduled at full speed; where the copy shares its link or meets the other direction,
 * the lanes change that at once. */
static void start_op(hl_timeline_engine *self, hl_timeline_server *server,
                     hl_base_waiting_item item)
{
    hl_timeline_actor *stream = &self->actors[item.actor];
    const haul_timeline_options *options = self->options;
    int64_t dur_ns = 0;
    if (options->duration)
        hl_timeline_engine_stop(self, options->duration(options->duration_state, self->workload,
                                                        item.op, &dur_ns, self->error));
    else
        dur_ns = options->durations_ns ? options->durations_ns[item.op]
                                       : self->workload->ops[item.op].dur_ns;
    if (dur_ns < 0 || dur_ns > hl_timeline_time_limit_ns)
        hl_timeline_engine_stop(
            self, hl_timeline_engine_fail(self, HAUL_STATUS_BAD_INPUT, item.op,
                                          "is given a duration that is negative or beyond "
                                          "2^61 ns"));
    if (self->status)
        return;
    const int64_t alone_ns = dur_ns;
    if (stream->resource != HAUL_RESOURCE_MIGRATION)
        dur_ns = chained(self, server, item.op, dur_ns);
    self->progress[item.op].start_ns = self->now_ns;
    find_next(self, stream);
    self->streams[item.op].cause = item.time_ns < self->now_ns ? server->last_op : stream->cause;
    stream->state = HL_TIMELINE_ACTOR_RUNS;
    hold(self, server);
    server->used += hl_timeline_occupancy_need(self, item.op).kernel;
    stream->since_ns = self->now_ns;
    stream->left_ns = (double)dur_ns;
    stream->speed = 1;
    hl_timeline_engine_schedule(self, item.actor, self->now_ns + dur_ns);
    if (self->gates)
        hl_timeline_gates_mark(self, stream->device);
    if (goes_over_link(stream)) {
        stream->steady = steady_share(self, stream, alone_ns - dur_ns, dur_ns);
        hl_timeline_copy_joins(self, item.actor);
    }
}

/* A kernel starts when one block of it has room (its others follow as room comes); it then holds
 * the room of all its blocks that run at once. */
static bool has_room(const hl_timeline_engine *self, const hl_timeline_server *server)
{
    return server->waiting.count && server->running < server->capacity &&
           server->used + hl_timeline_occupancy_need(self, server->waiting.heap[0].op).block <=
               hl_timeline_occupancy_all;
}

/* A copy that takes the staging buffer comes to its engine, for which it waits with the buffer
 * held, before any copy starts there. */
void hl_timeline_server_start(hl_timeline_engine *self)
{
    const bool has_buffers = self->options->device.staging;
    for (hl_timeline_server *server = self->dirty; has_buffers && server;
         server = server->next_dirty) {
        while (server->is_buffer && !self->status && has_room(self, server)) {
            const hl_base_waiting_item item = hl_base_waiting_take(&server->waiting);
            hl_timeline_actor *stream = &self->actors[item.actor];
            if (item.time_ns < self->now_ns)
                stream->cause = server->last_op;
            stream->is_staged = true;
            hold(self, server);
            wait_for(self, item.actor, (haul_resource_kind)stream->resource);
        }
    }
    while (self->dirty) {
        hl_timeline_server *server = self->dirty;
        self->dirty = server->next_dirty;
        server->is_dirty = false;
        while (!self->status && !server->is_buffer && has_room(self, server))
            start_op(self, server, hl_base_waiting_take(&server->waiting));
    }
}

void hl_timeline_server_leave(hl_timeline_engine *self, uint32_t actor)
{
    hl_timeline_actor *stream = &self->actors[actor];
    hl_timeline_server *server = server_of(self, stream, (haul_resource_kind)stream->resource);
    server->used -= hl_timeline_occupancy_need(self, stream->op).kernel;
    let_go(self, server, stream->op);
    if (stream->is_staged)
        let_go(self, server_of(self, stream, HAUL_RESOURCE_STAGING), stream->op);
    stream->is_staged = false;
    if (goes_over_link(stream))
        hl_timeline_copy_leaves(self, actor);
}
