/* Resources: who holds them, who is next, and how fast copies go. */
#include <math.h>

#include "base/fail.h"
#include "timeline/engine_parts.h"

static haul_resource_kind engine_of(const haul_op *op, unsigned engines)
{
    if (op->direction == HAUL_HTOD || engines == 1)
        return HAUL_ENGINE;
    return op->direction == HAUL_PTOP && engines > 2 ? HAUL_ENGINE_PEER : HAUL_ENGINE_OUT;
}

static haul_resource_kind resource_of(const haul_op *op, unsigned engines)
{
    if (op->kind != HAUL_OP_COPY || op->direction == HAUL_DTOD)
        return HAUL_ROOM;
    if (op->direction == HAUL_HTOD || op->direction == HAUL_DTOH || op->direction == HAUL_PTOP)
        return engine_of(op, engines);
    return HAUL_NOWHERE;
}

static haul_server *server_of(const haul_engine *self, const haul_actor *stream)
{
    return &self->servers[(size_t)stream->device * HAUL_RESOURCES + stream->resource];
}

static void mark(haul_engine *self, haul_server *server)
{
    if (server->is_dirty)
        return;
    server->is_dirty = true;
    self->dirty[self->dirty_count++] = (uint32_t)(server - self->servers);
}

static haul_status check_resource(haul_engine *self, const haul_actor *stream)
{
    const haul_timeline_device *device = &self->options->device;
    if (stream->resource == HAUL_ROOM && !device->kernels)
        return haul_engine_fail(self, HAUL_ABSENT, stream->op,
                                "needs room on a device that has none for kernels");
    if (stream->resource != HAUL_ROOM && stream->resource != HAUL_NOWHERE && !device->copy_engines)
        return haul_engine_fail(self, HAUL_ABSENT, stream->op,
                                "needs a copy engine, and the device has none");
    return HAUL_OK;
}

void haul_server_enter(haul_engine *self, uint32_t actor)
{
    haul_actor *stream = &self->actors[actor];
    stream->resource =
        (uint8_t)resource_of(&self->workload->ops[stream->op], self->options->device.copy_engines);
    haul_status status = check_resource(self, stream);
    haul_server *server = server_of(self, stream);
    stream->state = HAUL_ACTOR_QUEUED;
    const haul_waiting_item item = {self->now_ns, stream->op, actor};
    if (!status && !haul_waiting_add(&server->waiting, item))
        status = haul_fail_no_memory(self->error);
    if (status)
        haul_engine_stop(self, status);
    else
        mark(self, server);
}

static int64_t duration_of(haul_engine *self, uint32_t op)
{
    const haul_timeline_options *options = self->options;
    if (!options->duration)
        return options->durations_ns ? options->durations_ns[op] : self->workload->ops[op].dur_ns;
    int64_t dur_ns = 0;
    const haul_status status =
        options->duration(options->duration_state, self->workload, op, &dur_ns, self->error);
    if (status)
        haul_engine_stop(self, status);
    return dur_ns;
}

/* A copy behind one of its direction costs the gap, not the latency (CCGrid 2014, section V). */
static int64_t chained(const haul_engine *self, const haul_server *server, uint32_t op,
                       int64_t dur_ns)
{
    const haul_op *ops = self->workload->ops;
    const unsigned direction = ops[op].direction;
    if (ops[op].kind != HAUL_OP_COPY || direction > HAUL_DTOH ||
        server->last_end_ns != self->now_ns || ops[server->last_op].direction != direction)
        return dur_ns;
    const int64_t saved_ns = self->options->device.chained_ns[direction];
    return dur_ns > saved_ns ? dur_ns - saved_ns : 0;
}

/* The server whose copies slow those of `server`, or NULL. */
static haul_server *opposite(const haul_engine *self, haul_server *server, unsigned resource)
{
    if (self->options->device.copy_engines < 2)
        return NULL;
    if (resource == HAUL_ENGINE)
        return server + (HAUL_ENGINE_OUT - HAUL_ENGINE);
    return resource == HAUL_ENGINE_OUT ? server - (HAUL_ENGINE_OUT - HAUL_ENGINE) : NULL;
}

static double busy_speed(const haul_engine *self, unsigned resource)
{
    return self->options->device.busy_speed[resource == HAUL_ENGINE ? HAUL_HTOD : HAUL_DTOH];
}

static void set_speed(haul_engine *self, uint32_t actor, double speed)
{
    haul_actor *stream = &self->actors[actor];
    if (stream->speed == speed)
        return;
    stream->left_ns -= (double)(self->now_ns - stream->since_ns) * stream->speed;
    stream->left_ns = fmax(stream->left_ns, 0);
    stream->since_ns = self->now_ns;
    stream->speed = speed;
    /* so long that the schedule refuses it, and the sum still fits */
    const double most_ns = 1.5 * (double)haul_time_limit_ns;
    haul_engine_schedule(self, actor,
                         self->now_ns + (int64_t)fmin(round(stream->left_ns / speed), most_ns));
}

static void start(haul_engine *self, haul_server *server, haul_waiting_item item)
{
    haul_actor *stream = &self->actors[item.actor];
    int64_t dur_ns = duration_of(self, item.op);
    if (dur_ns < 0 || dur_ns > haul_time_limit_ns)
        haul_engine_stop(self, haul_engine_fail(self, HAUL_BAD_INPUT, item.op,
                                                "is given a duration that is negative or beyond "
                                                "2^61 ns"));
    if (self->status)
        return;
    dur_ns = chained(self, server, item.op, dur_ns);
    self->spans[item.op].start_ns = self->now_ns;
    stream->next = self->cause[item.op];
    self->cause[item.op] = item.time_ns < self->now_ns ? server->last_op : stream->cause;
    stream->state = HAUL_ACTOR_RUNS;
    server->ops++;
    server->actor = item.actor;
    if (!server->running++)
        server->busy_since_ns = self->now_ns;
    stream->since_ns = self->now_ns;
    stream->left_ns = (double)dur_ns;
    stream->speed = 1;
    haul_engine_schedule(self, item.actor, self->now_ns + dur_ns);
    const haul_server *other = opposite(self, server, stream->resource);
    if (other && other->running) {
        set_speed(self, item.actor, busy_speed(self, stream->resource));
        set_speed(self, other->actor, busy_speed(self, self->actors[other->actor].resource));
    }
}

void haul_server_start(haul_engine *self)
{
    while (self->dirty_count) {
        haul_server *server = &self->servers[self->dirty[--self->dirty_count]];
        server->is_dirty = false;
        while (!self->status && server->waiting.count && server->running < server->capacity)
            start(self, server, haul_waiting_take(&server->waiting));
    }
}

void haul_server_leave(haul_engine *self, uint32_t actor)
{
    const haul_actor *stream = &self->actors[actor];
    haul_server *server = server_of(self, stream);
    server->last_op = stream->op;
    server->last_end_ns = self->now_ns;
    if (!--server->running)
        server->busy_ns += self->now_ns - server->busy_since_ns;
    if (server->waiting.count)
        mark(self, server);
    const haul_server *other = opposite(self, server, stream->resource);
    if (other && other->running)
        set_speed(self, other->actor, 1);
}
