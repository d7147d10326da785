/* Source lines of a Kineto trace. With with_stack=True each function of Python is an event, and
 * those that hold a launch are its call stack; PyTorch 1.8 to 1.10 wrote the stack with each
 * operator instead, and 'haul convert' writes it with each call. */
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/index.h"
#include "base/intervals.h"
#include "trace/kineto.h"

/* Frames of threads that call for nothing go: such a thread is none of the workload's. */
static void find_threads(hl_trace_kineto_reader *self)
{
    const haul_workload_thread *const threads = self->frame_threads.items;
    size_t kept = 0;
    for (size_t i = 0; i < self->frame_count; i++) {
        haul_named_range *const frame = &self->frames[i];
        frame->thread =
            hl_base_records_find(&self->builder->built.threads, &threads[frame->thread]);
        if (frame->thread != HAUL_NONE)
            self->frames[kept++] = *frame;
    }
    self->frame_count = kept;
}

/* The string of a function's line, or HAUL_NONE where it is not the program's own. */
static uint32_t find_line(hl_workload_builder *built, hl_base_json_text name)
{
    hl_trace_stack line;
    hl_trace_stack_begin(&line);
    (void)hl_trace_stack_add_python(&line, name.bytes, name.length);
    return line.length ? hl_workload_builder_string(built, line.text, line.length) : HAUL_NONE;
}

/* A program runs the same few thousand functions again and again. */
static uint32_t line_of_frame(hl_trace_kineto_reader *self, hl_base_json_text name)
{
    hl_workload_builder *const built = &self->builder->built;
    if (!self->frame_lines) {
        self->frame_lines = calloc(HL_TRACE_KINETO_NAMES, sizeof *self->frame_lines);
        built->failed |= !self->frame_lines;
    }
    if (built->failed || !name.length || name.length > sizeof self->frame_lines->text)
        return built->failed ? HAUL_NONE : find_line(built, name);
    hl_trace_kineto_frame_line *const met =
        &self->frame_lines[hl_base_hash(name.bytes, name.length) % HL_TRACE_KINETO_NAMES];
    if (met->length == name.length && !memcmp(met->text, name.bytes, name.length))
        return met->line;
    met->line = find_line(built, name);
    met->length = (uint8_t)name.length;
    memcpy(met->text, name.bytes, name.length);
    return met->line;
}

void hl_trace_kineto_keep_frame(hl_trace_kineto_reader *self)
{
    const haul_named_range frame = {
        .start_ns = hl_trace_kineto_number(self, HL_TRACE_KINETO_START),
        .dur_ns = hl_trace_kineto_number(self, HL_TRACE_KINETO_DUR),
        .name = line_of_frame(self, hl_trace_kineto_text(&self->event, HL_TRACE_KINETO_NAME)),
    };
    if (frame.name == HAUL_NONE || frame.dur_ns < 0 || !hl_base_is_recorded_time(frame.start_ns) ||
        !hl_workload_builder_grow(&self->builder->built, &self->frames, &self->frame_capacity,
                                  self->frame_count + 1, sizeof *self->frames))
        return;
    self->frames[self->frame_count] = frame;
    const haul_workload_thread thread = {
        .process = (uint64_t)hl_trace_kineto_number(self, HL_TRACE_KINETO_PID),
        .id = (uint64_t)hl_trace_kineto_number(self, HL_TRACE_KINETO_TID)};
    const uint32_t number = hl_base_records_add(&self->frame_threads, &thread);
    self->builder->built.failed |= number == HAUL_NONE;
    self->frames[self->frame_count++].thread = number;
}

void hl_trace_kineto_keep_stack(hl_trace_kineto_reader *self)
{
    const hl_base_json_text list = hl_trace_kineto_text(&self->event, HL_TRACE_KINETO_STACK);
    const bool is_call = self->event.category == HL_TRACE_KINETO_CALL;
    hl_workload_builder *const built = &self->builder->built;
    hl_trace_stack stack;
    if (!list.length)
        return;
    hl_trace_stack_begin(&stack);
    hl_trace_stack_add_list(&stack, list.bytes, list.length);
    const haul_named_range span = {
        .start_ns = hl_trace_kineto_number(self, HL_TRACE_KINETO_START),
        /* a call's is its own, and not that of calls which it makes */
        .dur_ns = is_call ? 1 : hl_trace_kineto_number(self, HL_TRACE_KINETO_DUR),
        .thread = hl_trace_kineto_thread(self),
        .name = hl_trace_source_lines_caller(&self->lines, built, &stack),
    };
    hl_workload_builder_span(built, &self->lines.spans, &span);
}

static int compare_frames(const void *a, const void *b)
{
    const haul_named_range *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return hl_base_compare_signed(y->dur_ns, x->dur_ns);
}

/* The stack of a frame within `caller`, a number of the lines' callers, or HAUL_NONE. */
static uint32_t stack_within(hl_trace_kineto_reader *self, const haul_named_range *frame,
                             uint32_t caller)
{
    hl_workload_builder *const built = &self->builder->built;
    hl_trace_stack stack;
    if (built->failed)
        return HAUL_NONE;
    hl_trace_stack_begin(&stack);
    const char *const line = built->strings.texts[frame->name];
    hl_trace_stack_add(&stack, line, strlen(line));
    if (caller != HAUL_NONE) {
        const char *const callers = hl_trace_source_lines_text(&self->lines, built, caller);
        hl_trace_stack_add(&stack, callers, strlen(callers));
    }
    return hl_trace_source_lines_caller(&self->lines, built, &stack);
}

typedef struct open_frame {
    int64_t end_ns;
    uint32_t thread;
    uint32_t caller;
} open_frame;

/* Frames are walked in order of start with those that are open: each is within the last of them. */
static void nest_frames(hl_trace_kineto_reader *self)
{
    hl_workload_builder *const built = &self->builder->built;
    open_frame *const open = malloc((self->frame_count + 1) * sizeof *open);
    size_t depth = 0;
    built->failed |= !open;
    for (size_t i = 0; !built->failed && i < self->frame_count; i++) {
        haul_named_range span = self->frames[i];
        while (depth) {
            const open_frame *const last = &open[depth - 1];
            if (last->thread == span.thread && last->end_ns > span.start_ns)
                break;
            depth--;
        }
        span.name = stack_within(self, &span, depth ? open[depth - 1].caller : HAUL_NONE);
        hl_workload_builder_span(built, &self->lines.spans, &span);
        open[depth++] = (open_frame){.end_ns = hl_base_end_of(span.start_ns, span.dur_ns),
                                     .thread = span.thread,
                                     .caller = span.name};
    }
    free(open);
}

/* Of a trace with both, the events are finer: their spans replace those of stacks. */
void hl_trace_kineto_name_lines(hl_trace_kineto_reader *self)
{
    if (!self->builder->built.failed)
        find_threads(self);
    if (self->frame_count && !self->builder->built.failed) {
        qsort(self->frames, self->frame_count, sizeof *self->frames, compare_frames);
        hl_workload_spans_release(&self->lines.spans);
        nest_frames(self);
    }
    hl_trace_kineto_name_backward(self);
    hl_trace_source_lines_join(&self->lines, &self->builder->built, NULL);
}
