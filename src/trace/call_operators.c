#include "trace/call_operators.h"

#include <stdlib.h>

#include "base/intervals.h"
#include "workload/range_track.h"

void hl_trace_call_operators_add(hl_trace_call_operators *self, hl_workload_builder *built,
                                 const haul_named_range *span)
{
    if (span->dur_ns >= 0 && hl_base_is_recorded_time(span->start_ns) &&
        hl_workload_builder_grow(built, &self->spans, &self->capacity, self->count + 1,
                                 sizeof *self->spans))
        self->spans[self->count++] = *span;
}

void hl_trace_call_operators_join(hl_trace_call_operators *self, hl_workload_builder *built)
{
    hl_workload_range_track track = {.count = 0};
    if (!self->count || built->failed)
        return;
    uint32_t *const operators = hl_workload_builder_origins(built, HL_WORKLOAD_OPERATOR);
    built->failed |= !hl_workload_range_track_fill_any(&track, self->spans, self->count);
    for (size_t i = 0; !built->failed && i < built->op_count; i++) {
        const haul_op *const op = &built->ops[i];
        if (op->flags & HAUL_OP_HAS_CALL && op->thread != HAUL_NONE)
            operators[i] = hl_workload_range_track_name(&track, op->thread, op->call_ns);
    }
    free(track.changes);
}

void hl_trace_call_operators_release(hl_trace_call_operators *self)
{
    free(self->spans);
    *self = (hl_trace_call_operators){0};
}
