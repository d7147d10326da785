/* Spans of threads, each with a name: which one is the innermost at a time. A large trace has
 * millions, so that those like nearly all take 12 bytes. */
#ifndef HAUL_WORKLOAD_SPANS_H
#define HAUL_WORKLOAD_SPANS_H

#include <stdbool.h>
#include <stddef.h>

#include "haul/workload.h"

/* Those of one thread. */
typedef struct hl_workload_span_list {
    void *items; /* haul_named_range where `is_wide`, which holds any; else packed */
    size_t count;
    size_t capacity;
    bool is_wide;
} hl_workload_span_list;

/* Zero is an empty list. */
typedef struct hl_workload_spans {
    hl_workload_span_list *threads; /* by number */
    size_t thread_count;
    size_t thread_capacity;
    size_t count;           /* of all threads */
    haul_named_range first; /* times and names are packed as distances from its own */
} hl_workload_spans;

/* The spans of each thread gone through in time. */
typedef struct hl_workload_span_walk {
    const hl_workload_spans *spans;
    struct hl_workload_span_place *threads;
    uint32_t *outer; /* of each span that was entered, the one of its thread that was open */
} hl_workload_span_walk;

/* Adds a span, whose `name` may be any number; one of no thread is left out. Returns false without
 * memory. */
bool hl_workload_spans_add(hl_workload_spans *self, const haul_named_range *span);

/* Span `number` of a thread. */
haul_named_range hl_workload_spans_at(const hl_workload_spans *self, uint32_t thread,
                                      size_t number);

/* Sorts the spans, which stay with the caller. Returns false without memory; call
 * hl_workload_span_walk_end in any case. */
bool hl_workload_span_walk_begin(hl_workload_span_walk *self, hl_workload_spans *spans);

/* The name of the innermost span of the thread at a time, or HAUL_NONE. Times of one thread come in
 * order. */
uint32_t hl_workload_span_walk_name(hl_workload_span_walk *self, uint32_t thread, int64_t time_ns);
void hl_workload_span_walk_end(hl_workload_span_walk *self);

/* Sets the name of each operation to that of the innermost span in which it was called, or
 * HAUL_NONE. Returns false without memory. */
bool hl_workload_spans_name_ops(hl_workload_spans *self, const haul_op *ops, size_t op_count,
                                uint32_t *names);

void hl_workload_spans_release(hl_workload_spans *self);

#endif
