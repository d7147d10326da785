#include "trace/call_operators.h"

void hl_trace_call_operators_join(hl_workload_spans *operators, hl_workload_builder *built)
{
    if (!operators->count || built->failed)
        return;
    uint32_t *const names = hl_workload_builder_origins(built, HL_WORKLOAD_OPERATOR);
    built->failed |=
        !names || !hl_workload_spans_name_ops(operators, built->ops, built->op_count, names);
}
