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
    if (!self->count || built->failed)
        return;
    uint32_t *const operators = hl_workload_builder_origins(built, HL_WORKLOAD_OPERATOR);
    built->failed |=
        !operators || !hl_workload_range_names(self->spans, self->count, built->threads.count,
                                               built->ops, built->op_count, operators);
}

void hl_trace_call_operators_release(hl_trace_call_operators *self)
{
    free(self->spans);
    *self = (hl_trace_call_operators){0};
}
