/* Which source line called for each operation: spans of threads with their call stacks, and the
 * operations that were called within them. */
#ifndef HAUL_TRACE_SOURCE_LINES_H
#define HAUL_TRACE_SOURCE_LINES_H

#include "trace/frames.h"
#include "trace/id_map.h"
#include "workload/builder.h"

/* Begin with HL_TRACE_SOURCE_LINES. */
typedef struct hl_trace_source_lines {
    hl_base_records callers; /* a line and a stack: string ids */
    hl_workload_spans spans; /* `name` is a number of callers */
} hl_trace_source_lines;

typedef struct hl_trace_caller {
    uint32_t line;
    uint32_t stack;
} hl_trace_caller;

#define HL_TRACE_SOURCE_LINES ((hl_trace_source_lines){.callers.size = sizeof(hl_trace_caller)})

/* The number of a stack; HAUL_NONE for an empty one. */
uint32_t hl_trace_source_lines_caller(hl_trace_source_lines *self, hl_workload_builder *built,
                                      const hl_trace_stack *stack);

/* The text of a caller's stack. */
const char *hl_trace_source_lines_text(const hl_trace_source_lines *self,
                                       const hl_workload_builder *built, uint32_t caller);

/* Gives operations the line and the stack of the innermost span in which they were called, where
 * that has a caller; `map`, where it is not NULL, gives the callers of what spans are named by.
 * Once all calls are joined. */
void hl_trace_source_lines_join(hl_trace_source_lines *self, hl_workload_builder *built,
                                hl_trace_id_map *map);

void hl_trace_source_lines_release(hl_trace_source_lines *self);

#endif
