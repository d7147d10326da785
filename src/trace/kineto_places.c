/* The streams and threads that events are on. */
#include <string.h>

#include "trace/kineto.h"

/* Whether the ids are those that `place` was last for; else they are now. */
static bool is_same(hl_trace_kineto_place *place, const int64_t ids[4])
{
    const bool same = place->known && !memcmp(place->ids, ids, sizeof place->ids);
    place->known = true;
    memcpy(place->ids, ids, sizeof place->ids);
    return same;
}

/* A stream is told by device, context, id and the process that haul wrote. One trace's events of
 * one stream come in runs, so the last is remembered. */
static uint32_t stream_of(hl_trace_kineto_reader *self, const int64_t ids[4])
{
    if (is_same(&self->stream, ids))
        return self->stream.number;
    const haul_workload_stream stream = {
        .device = hl_trace_device(self->builder, (uint64_t)ids[0], (uint64_t)ids[0]),
        .process = hl_trace_kineto_owner(ids[3]),
        .context = (uint64_t)ids[1],
        .id = (uint64_t)ids[2],
    };
    return self->stream.number = hl_workload_builder_stream(&self->builder->built, &stream);
}

uint32_t hl_trace_kineto_stream(hl_trace_kineto_reader *self, int64_t id)
{
    return stream_of(self, (int64_t[4]){hl_trace_kineto_either(self, HL_TRACE_KINETO_DEVICE,
                                                               HL_TRACE_KINETO_PID),
                                        hl_trace_kineto_number(self, HL_TRACE_KINETO_CONTEXT), id,
                                        hl_trace_kineto_number(self, HL_TRACE_KINETO_OWNER)});
}

uint32_t hl_trace_kineto_waited_stream(hl_trace_kineto_reader *self, int64_t id)
{
    const hl_trace_kineto_field device = hl_trace_kineto_has(&self->event, HL_TRACE_KINETO_DEVICE)
                                             ? HL_TRACE_KINETO_DEVICE
                                             : HL_TRACE_KINETO_PID;
    return stream_of(
        self,
        (int64_t[4]){
            hl_trace_kineto_either(self, HL_TRACE_KINETO_WAIT_DEVICE, device),
            hl_trace_kineto_either(self, HL_TRACE_KINETO_WAIT_CONTEXT, HL_TRACE_KINETO_CONTEXT), id,
            hl_trace_kineto_either(self, HL_TRACE_KINETO_WAIT_OWNER, HL_TRACE_KINETO_OWNER)});
}

/* Events of one thread come in long runs: the last one is remembered. */
uint32_t hl_trace_kineto_thread(hl_trace_kineto_reader *self)
{
    const int64_t process = hl_trace_kineto_number(self, HL_TRACE_KINETO_PID),
                  id = hl_trace_kineto_number(self, HL_TRACE_KINETO_TID);
    const haul_workload_thread thread = {.process = (uint64_t)process, .id = (uint64_t)id};
    if (!is_same(&self->thread, (int64_t[4]){process, id}))
        self->thread.number = hl_workload_builder_thread(&self->builder->built, &thread);
    return self->thread.number;
}
