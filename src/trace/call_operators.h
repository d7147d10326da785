/* Operators of PyTorch, of which an operation has the innermost that called for it. */
#ifndef HAUL_TRACE_CALL_OPERATORS_H
#define HAUL_TRACE_CALL_OPERATORS_H

#include "trace/trace_builder.h"

/* Spans of threads, each with the number of an operator's name. Zero is an empty list. */
typedef struct hl_trace_call_operators {
    haul_named_range *spans;
    size_t count;
    size_t capacity;
} hl_trace_call_operators;

/* Adds a span; one whose times no recording has is left out. */
void hl_trace_call_operators_add(hl_trace_call_operators *self, hl_workload_builder *built,
                                 const haul_named_range *span);

/* Gives operations the operator of the innermost span in which they were called. Once all calls
 * are joined. */
void hl_trace_call_operators_join(hl_trace_call_operators *self, hl_workload_builder *built);

void hl_trace_call_operators_release(hl_trace_call_operators *self);

#endif
