/* Operators of PyTorch, of which an operation has the innermost that called for it. */
#ifndef HAUL_TRACE_CALL_OPERATORS_H
#define HAUL_TRACE_CALL_OPERATORS_H

#include "workload/builder.h"

/* Gives operations the operator of the innermost span in which they were called: spans have the
 * numbers of operators' names. Once all calls are joined. */
void hl_trace_call_operators_join(hl_workload_spans *operators, hl_workload_builder *built);

#endif
