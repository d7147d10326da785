#include "trace/source_lines.h"

#include <stdlib.h>
#include <string.h>

uint32_t hl_trace_source_lines_caller(hl_trace_source_lines *self, hl_workload_builder *built,
                                      const hl_trace_stack *stack)
{
    if (!stack->length || built->failed)
        return HAUL_NONE;
    const hl_trace_caller caller = {
        hl_workload_builder_string(built, stack->text, stack->line_length),
        hl_workload_builder_string(built, stack->text, stack->length)};
    const uint32_t number =
        built->failed ? HAUL_NONE : hl_base_records_add(&self->callers, &caller);
    built->failed |= number == HAUL_NONE;
    return number;
}

static const hl_trace_caller *caller_at(const hl_trace_source_lines *self, uint32_t caller)
{
    return &((const hl_trace_caller *)self->callers.items)[caller];
}

const char *hl_trace_source_lines_text(const hl_trace_source_lines *self,
                                       const hl_workload_builder *built, uint32_t caller)
{
    return built->strings.texts[caller_at(self, caller)->stack];
}

void hl_trace_source_lines_join(hl_trace_source_lines *self, hl_workload_builder *built,
                                hl_trace_id_map *map)
{
    if (!self->spans.count || built->failed)
        return;
    uint32_t *const callers = malloc((built->op_count + 1) * sizeof *callers);
    if (callers)
        memset(callers, 0xff, (built->op_count + 1) * sizeof *callers); /* HAUL_NONE */
    built->failed |=
        !callers || !hl_workload_spans_name_ops(&self->spans, built->ops, built->op_count, callers);
    /* A profile in which no operation has a line is one without lines. */
    for (size_t i = 0; !built->failed && i < built->op_count; i++) {
        const uint32_t caller =
            map ? (uint32_t)hl_trace_id_map_value(map, callers[i], 0, HAUL_NONE) : callers[i];
        if (caller >= self->callers.count)
            continue;
        uint32_t *const lines = hl_workload_builder_origins(built, HL_WORKLOAD_LINE);
        uint32_t *const stacks = hl_workload_builder_origins(built, HL_WORKLOAD_STACK);
        if (lines && stacks) {
            lines[i] = caller_at(self, caller)->line;
            stacks[i] = caller_at(self, caller)->stack;
        }
    }
    free(callers);
}

void hl_trace_source_lines_release(hl_trace_source_lines *self)
{
    hl_base_records_release(&self->callers);
    hl_workload_spans_release(&self->spans);
    *self = HL_TRACE_SOURCE_LINES;
}
