/* CUDA_CALLCHAINS has a row for each frame: a number of the stack, which calls name as their
 * callchainId, the depth from 0 for the innermost, function and file as strings
 * (docs.nvidia.com/nsight-systems, "SQLite Export Schema Reference"). */
#include "trace/nsys_stacks.h"
#include "trace/sqlite_rows.h"

#include <string.h>

static const char table[] = "CUDA_CALLCHAINS";

enum { COLUMN_ID, COLUMN_FUNCTION, COLUMN_MODULE, COLUMN_DEPTH };

#define COLUMNS                                                                                    \
    {                                                                                              \
        "id", "symbol", "module", "stackDepth"                                                     \
    }

static uint32_t name_at(hl_trace_nsys_stacks *self, const hl_trace_rows *rows, int column)
{
    return hl_trace_rows_is_int(rows, column)
               ? hl_trace_name(self->builder,
                               (uint64_t)hl_trace_rows_int(rows, column) & (INT64_MAX >> 1))
               : HAUL_NONE;
}

static void take_names(void *stacks, const hl_trace_rows *rows)
{
    (void)name_at(stacks, rows, COLUMN_FUNCTION);
    (void)name_at(stacks, rows, COLUMN_MODULE);
}

haul_status hl_trace_nsys_stacks_name(hl_trace_nsys_stacks *self, hl_trace_source *source,
                                      haul_error *error)
{
    static const hl_trace_scan scan = {table, take_names, COLUMNS, false};
    return hl_trace_source_scan(source, "", &scan, 1, self, error);
}

hl_trace_source_lines *hl_trace_nsys_stacks_lines(hl_trace_nsys_stacks *self,
                                                  const hl_trace_source *source)
{
    return hl_trace_source_has(source, table) ? &self->lines : NULL;
}

static const char *text_of(const hl_trace_nsys_stacks *self, uint32_t name)
{
    return name == HAUL_NONE ? "" : hl_trace_text_of(self->builder, name);
}

/* The stack whose rows have ended becomes a caller. */
static void end_stack(hl_trace_nsys_stacks *self)
{
    hl_workload_builder *const built = &self->builder->built;
    hl_trace_stack stack;
    hl_trace_stack_begin(&stack);
    for (int i = 0; i < HL_TRACE_NSYS_DEPTH && !built->failed; i++)
        hl_trace_stack_add_function(&stack, text_of(self, self->frames[i].function),
                                    text_of(self, self->frames[i].module));
    const uint32_t caller = hl_trace_source_lines_caller(&self->lines, built, &stack);
    if (self->stack && caller != HAUL_NONE)
        hl_trace_id_map_add(&self->callers, built, &(hl_trace_id_row){self->stack, {caller}});
    memset(self->frames, 0xff, sizeof self->frames);
}

/* Rows of one stack follow each other, in any order. */
static void take_frame(void *stacks, const hl_trace_rows *rows)
{
    hl_trace_nsys_stacks *const self = stacks;
    const int64_t stack = hl_trace_rows_int(rows, COLUMN_ID);
    const int64_t depth = hl_trace_rows_int_or(rows, COLUMN_DEPTH, -1);
    if (stack != self->stack)
        end_stack(self);
    self->stack = stack;
    if (depth >= 0 && depth < HL_TRACE_NSYS_DEPTH)
        self->frames[depth] = (hl_trace_nsys_frame){name_at(self, rows, COLUMN_FUNCTION),
                                                    name_at(self, rows, COLUMN_MODULE)};
}

haul_status hl_trace_nsys_stacks_join(hl_trace_nsys_stacks *self, hl_trace_source *source,
                                      haul_error *error)
{
    static const hl_trace_scan scan = {table, take_frame, COLUMNS, false};
    if (!self->lines.spans.count) /* no call has a stack */
        return HAUL_OK;
    memset(self->frames, 0xff, sizeof self->frames);
    HAUL_TRY(hl_trace_source_scan(source, "", &scan, 1, self, error));
    end_stack(self);
    hl_trace_source_lines_join(&self->lines, &self->builder->built, &self->callers);
    return HAUL_OK;
}

void hl_trace_nsys_stacks_release(hl_trace_nsys_stacks *self)
{
    hl_trace_source_lines_release(&self->lines);
    hl_trace_id_map_release(&self->callers);
}
