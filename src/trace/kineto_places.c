/* The streams and threads that events are on. */
#include "trace/kineto.h"

/* Whether the ids are those that `place` was last for; else they are now. */
static bool is_same(hl_trace_kineto_place *place, int64_t a, int64_t b, int64_t c)
{
    const bool same =
        place->known && place->ids[0] == a && place->ids[1] == b && place->ids[2] == c;
    place->known = true;
    place->ids[0] = a;
    place->ids[1] = b;
    place->ids[2] = c;
    return same;
}

/* Processes of a GPU's work are not named in a trace: a stream is told by device, context and id.
 * One trace's events of one stream come in runs, so the last is remembered. */
static uint32_t stream_of(hl_trace_kineto_reader *self, int64_t device, int64_t context, int64_t id)
{
    if (is_same(&self->stream, device, context, id))
        return self->stream.number;
    const haul_workload_stream stream = {
        .device = hl_trace_device(self->builder, (uint64_t)device, (uint64_t)device),
        .process = HL_TRACE_KINETO_PROCESS,
        .context = (uint64_t)context,
        .id = (uint64_t)id,
    };
    return self->stream.number = hl_workload_builder_stream(&self->builder->built, &stream);
}

uint32_t hl_trace_kineto_stream(hl_trace_kineto_reader *self, int64_t id)
{
    return stream_of(self,
                     hl_trace_kineto_either(self, HL_TRACE_KINETO_DEVICE, HL_TRACE_KINETO_PID),
                     hl_trace_kineto_number(self, HL_TRACE_KINETO_CONTEXT), id);
}

uint32_t hl_trace_kineto_waited_stream(hl_trace_kineto_reader *self, int64_t id)
{
    const hl_trace_kineto_field device = hl_trace_kineto_has(&self->event, HL_TRACE_KINETO_DEVICE)
                                             ? HL_TRACE_KINETO_DEVICE
                                             : HL_TRACE_KINETO_PID;
    return stream_of(
        self, hl_trace_kineto_either(self, HL_TRACE_KINETO_WAIT_DEVICE, device),
        hl_trace_kineto_either(self, HL_TRACE_KINETO_WAIT_CONTEXT, HL_TRACE_KINETO_CONTEXT), id);
}

/* Events of one thread come in long runs: the last one is remembered. */
uint32_t hl_trace_kineto_thread(hl_trace_kineto_reader *self)
{
    const int64_t process = hl_trace_kineto_number(self, HL_TRACE_KINETO_PID),
                  id = hl_trace_kineto_number(self, HL_TRACE_KINETO_TID);
    const haul_workload_thread thread = {.process = (uint64_t)process, .id = (uint64_t)id};
    if (!is_same(&self->thread, process, id, 0))
        self->thread.number = hl_workload_builder_thread(&self->builder->built, &thread);
    return self->thread.number;
}
