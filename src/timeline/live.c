#include "timeline/live.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/grow.h"
#include "timeline/engine_parts.h"

haul_status hl_timeline_live_init(hl_timeline_live *self, const haul_timeline_device *device,
                                  size_t device_count, haul_error *error)
{
    *self = (hl_timeline_live){
        .options = {.device = *device, .release = HAUL_RELEASE_RECORDED},
        .workload = {.device_count = device_count},
        .engine = {.workload = &self->workload, .options = &self->options, .error = error},
    };
    return hl_timeline_engine_init(&self->engine);
}

void hl_timeline_live_release(hl_timeline_live *self)
{
    free(self->engine.ended);
    hl_timeline_engine_release(&self->engine);
    free(self->ops);
    free(self->edges);
    free(self->shapes);
    *self = (hl_timeline_live){.ops = NULL};
}

/* The actors for operations without a stream or a thread, of which there are none, follow those of
 * the streams. */
haul_status hl_timeline_live_stream(hl_timeline_live *self, uint32_t stream, uint32_t device,
                                    haul_error *error)
{
    hl_timeline_engine *engine = &self->engine;
    if (stream + 2 >= engine->actor_count) {
        const uint32_t before = engine->actor_count, count = 2 * stream + 16;
        hl_timeline_actor *actors = realloc(engine->actors, count * sizeof *actors);
        if (!actors)
            return hl_base_fail_no_memory(error);
        engine->actors = actors;
        if (!hl_timeline_event_queue_grow(&engine->events, before, count))
            return hl_base_fail_no_memory(error);
        for (uint32_t a = before; a < count; a++)
            actors[a] = hl_timeline_actor_idle(engine->device_count - 1);
        engine->actor_count = count;
        engine->stream_count = count - 1;
    }
    engine->actors[stream].device = device;
    return HAUL_OK;
}

static bool make_room(hl_timeline_live *self, size_t edges)
{
    hl_timeline_engine *engine = &self->engine;
    const size_t count = self->workload.op_count + 2;
    size_t *room = self->op_capacity;
    const bool made =
        hl_base_grow(&self->ops, &room[0], count, sizeof *self->ops) &&
        hl_base_grow(&engine->progress, &room[1], count, sizeof *engine->progress) &&
        hl_base_grow(&engine->streams, &room[2], count, sizeof *engine->streams) &&
        hl_base_grow(&engine->edge_begin, &room[3], count, sizeof *engine->edge_begin) &&
        hl_base_grow(&engine->ended, &room[4], count, sizeof *engine->ended) &&
        (!engine->gates ||
         hl_base_grow(&engine->device_next, &room[5], count, sizeof *engine->device_next)) &&
        hl_base_grow(&self->edges, &self->edge_capacity, self->workload.edge_count + edges,
                     sizeof *self->edges);
    self->workload.ops = self->ops;
    self->workload.edges = self->edges;
    return made;
}

static bool add_shape(hl_timeline_live *self, const haul_shape *shape)
{
    hl_timeline_engine *engine = &self->engine;
    const size_t at = self->workload.shape_count;
    if (!hl_base_grow(&self->shapes, &self->shape_capacity, at + 1, sizeof *self->shapes) ||
        (engine->needs &&
         !hl_base_grow(&engine->needs, &self->need_capacity, at + 2, sizeof *engine->needs)))
        return false;
    self->shapes[at] = *shape;
    self->workload.shapes = self->shapes;
    self->workload.shape_count++;
    if (engine->needs) {
        engine->needs[at] = hl_timeline_occupancy_need_of(engine, shape);
        engine->needs[at + 1] = hl_timeline_occupancy_need_of(engine, NULL);
    }
    return true;
}

haul_status hl_timeline_live_add(hl_timeline_live *self, const haul_op *op, const haul_shape *shape,
                                 const uint32_t *waits, size_t wait_count, haul_error *error)
{
    hl_timeline_engine *engine = &self->engine;
    haul_workload *workload = &self->workload;
    const uint32_t at = (uint32_t)workload->op_count;
    if (workload->op_count >= HAUL_NONE - 2 || workload->edge_count + wait_count >= HAUL_NONE ||
        !make_room(self, wait_count) || (shape && !add_shape(self, shape)))
        return hl_base_fail_no_memory(error);
    self->ops[at] = *op;
    self->ops[at].thread = 0; /* a migration without one answers a fault */
    if (shape)
        self->ops[at].shape = (uint32_t)workload->shape_count - 1;
    engine->edge_begin[at] = (uint32_t)workload->edge_count;
    for (size_t i = 0; i < wait_count; i++)
        self->edges[workload->edge_count++] = (haul_edge){waits[i], at};
    engine->edge_begin[at + 1] = (uint32_t)workload->edge_count;
    engine->progress[at] = hl_timeline_progress_begin(0);
    engine->progress[at].start_ns = op->start_ns > engine->now_ns ? op->start_ns : engine->now_ns;
    workload->op_count++;
    /* Behind the last operation of its stream, which may run; an idle stream looks at it. */
    hl_timeline_actor *stream = &engine->actors[op->stream];
    engine->streams[at].next = HAUL_NONE;
    if (stream->op == HAUL_NONE) {
        stream->op = at;
        stream->state = HL_TIMELINE_ACTOR_LOOKS;
        hl_timeline_engine_schedule(engine, op->stream, engine->progress[at].start_ns);
    } else if (stream->op == op->stream_prev && stream->state == HL_TIMELINE_ACTOR_RUNS) {
        stream->next = at;
    } else {
        engine->streams[op->stream_prev].next = at;
    }
    if (engine->gates)
        hl_timeline_gates_add(engine, at);
    return HAUL_OK;
}

haul_status hl_timeline_live_advance(hl_timeline_live *self, int64_t until_ns, uint32_t until_op,
                                     haul_error *error)
{
    self->engine.error = error;
    if (until_op != HAUL_NONE && hl_timeline_live_ended(self, until_op))
        return HAUL_OK;
    hl_timeline_engine_advance(&self->engine, until_ns, until_op);
    return self->engine.status;
}
