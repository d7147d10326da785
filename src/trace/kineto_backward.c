/* Source lines of the backward pass. PyTorch's engine calls its operators on threads of its own,
 * which run no line of the program: a flow leads from each forward operator ("s") to the operator
 * that its gradient takes ("f"), whose work gets the forward operator's line, marked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "trace/kineto.h"

void hl_trace_kineto_keep_link(hl_trace_kineto_reader *self)
{
    if (hl_workload_builder_grow(&self->builder->built, &self->links, &self->link_capacity,
                                 self->link_count + 1, sizeof *self->links))
        self->links[self->link_count++] = (hl_trace_kineto_link){
            .id = hl_trace_kineto_number(self, HL_TRACE_KINETO_ID),
            .start_ns = hl_trace_kineto_number(self, HL_TRACE_KINETO_START),
            .of = {.process = (uint64_t)hl_trace_kineto_number(self, HL_TRACE_KINETO_PID),
                   .id = (uint64_t)hl_trace_kineto_number(self, HL_TRACE_KINETO_TID)},
            .caller = HAUL_NONE,
            .is_forward = self->event.phase == 's'};
}

/* The forward end of an id first. */
static int compare_ids(const void *a, const void *b)
{
    const hl_trace_kineto_link *const x = a, *const y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return y->is_forward - x->is_forward;
}

static int compare_starts(const void *a, const void *b)
{
    const hl_trace_kineto_link *const x = a, *const y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return hl_base_compare_signed(x->start_ns, y->start_ns);
}

/* The caller of the forward end, its innermost frame marked, as that of the backward one. */
static uint32_t backward_of(hl_trace_kineto_reader *self, uint32_t caller)
{
    static const char mark[] = " (backward)";
    hl_workload_builder *const built = &self->builder->built;
    char line[HL_TRACE_STACK_BYTES];
    hl_trace_stack stack;
    if (caller >= self->lines.callers.count || built->failed)
        return HAUL_NONE;
    const char *const text = hl_trace_source_lines_text(&self->lines, built, caller);
    const char *const joint = strstr(text, HL_TRACE_STACK_JOINT);
    const size_t length = joint ? (size_t)(joint - text) : strlen(text);
    if (length + sizeof mark > sizeof line)
        return HAUL_NONE;
    (void)snprintf(line, sizeof line, "%.*s%s", (int)length, text, mark);
    hl_trace_stack_begin(&stack);
    hl_trace_stack_add(&stack, line, strlen(line));
    if (joint) {
        const char *const callers = joint + strlen(HL_TRACE_STACK_JOINT);
        hl_trace_stack_add(&stack, callers, strlen(callers));
    }
    return hl_trace_source_lines_caller(&self->lines, built, &stack);
}

/* Gives forward ends their callers, and drops the ends of threads that call for nothing. */
static void find_callers(hl_trace_kineto_reader *self)
{
    const hl_base_records *const threads = &self->builder->built.threads;
    hl_workload_span_walk walk;
    size_t kept = 0;
    for (size_t i = 0; i < self->link_count; i++) {
        self->links[kept] = self->links[i];
        self->links[kept].thread = hl_base_records_find(threads, &self->links[kept].of);
        kept += self->links[kept].thread != HAUL_NONE;
    }
    self->link_count = kept;
    qsort(self->links, kept, sizeof *self->links, compare_starts);
    self->builder->built.failed |= !hl_workload_span_walk_begin(&walk, &self->lines.spans);
    for (size_t i = 0; i < kept && !self->builder->built.failed; i++)
        if (self->links[i].is_forward)
            self->links[i].caller =
                hl_workload_span_walk_name(&walk, self->links[i].thread, self->links[i].start_ns);
    hl_workload_span_walk_end(&walk);
}

/* Leaves the backward ends alone, each with its caller. Those of one forward operator follow it. */
static void join_ends(hl_trace_kineto_reader *self)
{
    hl_trace_kineto_link forward = {.caller = HAUL_NONE};
    size_t kept = 0;
    qsort(self->links, self->link_count, sizeof *self->links, compare_ids);
    for (size_t i = 0; i < self->link_count && !self->builder->built.failed; i++) {
        hl_trace_kineto_link link = self->links[i];
        if (link.is_forward)
            forward = link;
        else if (forward.is_forward && forward.id == link.id)
            link.caller = backward_of(self, forward.caller);
        if (!link.is_forward && link.caller != HAUL_NONE)
            self->links[kept++] = link;
    }
    self->link_count = kept;
    qsort(self->links, kept, sizeof *self->links, compare_starts);
}

/* An operator that begins where a flow ends is the flow's: its span calls from the line. */
static void add_spans(hl_trace_kineto_reader *self, uint32_t thread)
{
    hl_workload_builder *const built = &self->builder->built;
    for (size_t i = 0; i < self->scopes.threads[thread].count && !built->failed; i++) {
        haul_named_range span = hl_workload_spans_at(&self->scopes, thread, i);
        const hl_trace_kineto_link sought = {.thread = thread, .start_ns = span.start_ns};
        const hl_trace_kineto_link *const link =
            bsearch(&sought, self->links, self->link_count, sizeof sought, compare_starts);
        if (!link)
            continue;
        span.name = link->caller;
        hl_workload_builder_span(built, &self->lines.spans, &span);
    }
}

void hl_trace_kineto_name_backward(hl_trace_kineto_reader *self)
{
    const hl_workload_builder *const built = &self->builder->built;
    if (!self->link_count || !self->lines.spans.count || built->failed)
        return;
    find_callers(self);
    if (!built->failed)
        join_ends(self);
    for (uint32_t t = 0; self->link_count && t < self->scopes.thread_count && !built->failed; t++)
        add_spans(self, t);
}
