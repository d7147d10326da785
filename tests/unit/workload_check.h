/* The laws of every finished workload, whatever the profile. Stops the program where it does
 * not: for tests and fuzz targets. */
#ifndef HAUL_TESTS_WORKLOAD_CHECK_H
#define HAUL_TESTS_WORKLOAD_CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/workload.h"

#define HOLDS(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);         \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static inline void workload_check_op(const haul_workload *w, size_t i)
{
    const int64_t limit = INT64_C(1) << 61;
    const haul_op *op = &w->ops[i];
    HOLDS(op->kind < HAUL_OP_KINDS);
    HOLDS(op->dur_ns >= 0 && op->call_dur_ns >= 0);
    HOLDS(op->start_ns >= -limit && op->start_ns <= limit);
    HOLDS(op->call_ns >= -limit && op->call_ns <= limit);
    HOLDS(i == 0 || w->ops[i - 1].start_ns <= op->start_ns);
    HOLDS(op->stream == HAUL_NONE || op->stream < w->stream_count);
    HOLDS(op->thread == HAUL_NONE || op->thread < w->thread_count);
    HOLDS((op->thread != HAUL_NONE) == ((op->flags & HAUL_OP_HAS_CALL) != 0));
    HOLDS(op->flags & HAUL_OP_HAS_CALL || (op->call_ns == 0 && op->call_dur_ns == 0));
    HOLDS(haul_workload_string(w, op->name) != NULL);
    HOLDS(haul_workload_string(w, haul_op_operator(w, i)) != NULL);
    HOLDS((haul_op_line(w, i) == HAUL_NONE) == (haul_op_stack(w, i) == HAUL_NONE));
    HOLDS(!strncmp(haul_workload_string(w, haul_op_line(w, i)),
                   haul_workload_string(w, haul_op_stack(w, i)),
                   strlen(haul_workload_string(w, haul_op_line(w, i)))));
    if (op->kind == HAUL_OP_COPY)
        HOLDS(op->direction < HAUL_DIRECTIONS && op->detail < HAUL_MEMORIES);
    if (op->kind == HAUL_OP_KERNEL)
        HOLDS(op->shape < w->shape_count);
    if (op->kind == HAUL_OP_SYNC)
        HOLDS(op->detail <= HAUL_SYNC_CONTEXT && op->bytes == 0);
}

/* Each link is to the operation before in its order, and to none where there is none. */
static inline void workload_check_links(const haul_workload *w)
{
    uint32_t *last = malloc((w->stream_count + 1) * sizeof *last);
    size_t *behind = calloc(w->thread_count + 1, sizeof *behind);
    size_t *linked = calloc(w->thread_count + 1, sizeof *linked);
    unsigned char *taken = calloc(w->op_count + 1, 1);
    HOLDS(last && behind && linked && taken);
    size_t turns = 0;
    memset(last, 0xff, w->stream_count * sizeof *last);
    for (size_t i = 0; i < w->op_count; i++) {
        const haul_op *op = &w->ops[i];
        if (haul_op_on_device(op) && op->stream != HAUL_NONE) {
            HOLDS(op->stream_prev == last[op->stream]);
            last[op->stream] = (uint32_t)i;
        } else {
            HOLDS(op->stream_prev == HAUL_NONE);
        }
        if (op->thread != HAUL_NONE)
            behind[op->thread]++;
        if (op->thread_prev == HAUL_NONE)
            continue;
        HOLDS(op->thread_prev < w->op_count && op->thread_prev != i && !taken[op->thread_prev]);
        taken[op->thread_prev] = 1;
        const haul_op *before = &w->ops[op->thread_prev];
        HOLDS(before->thread < w->thread_count && before->call_ns <= op->call_ns);
        HOLDS(before->thread == op->thread ||
              w->threads[before->thread].process == w->threads[op->thread].process);
        turns += before->thread != op->thread;
        linked[op->thread]++;
    }
    size_t chained = 0; /* threads whose first call another's comes before */
    for (size_t t = 0; t < w->thread_count; t++) {
        chained += behind[t] && linked[t] == behind[t];
        HOLDS(linked[t] == behind[t] || linked[t] + 1 == behind[t]);
    }
    HOLDS(!chained == !turns);
    free(last);
    free(behind);
    free(linked);
    free(taken);
}

static inline void workload_check_edges(const haul_workload *w)
{
    const int64_t skew_ns = 20000;
    for (size_t i = 0; i < w->edge_count; i++) {
        const haul_edge *edge = &w->edges[i];
        HOLDS(edge->before < w->op_count && edge->after < w->op_count);
        HOLDS(i == 0 || edge->after > edge[-1].after ||
              (edge->after == edge[-1].after && edge->before > edge[-1].before));
        const haul_op *before = &w->ops[edge->before], *after = &w->ops[edge->after];
        const int64_t met_ns = after->start_ns + (after->kind == HAUL_OP_SYNC ? after->dur_ns : 0);
        HOLDS(edge->before != edge->after);
        HOLDS(haul_op_on_device(before) ||
              (haul_op_on_host(before) && after->kind == HAUL_OP_MESSAGE) ||
              (before->kind == HAUL_OP_SYNC && after->detail == HAUL_MEMORY_MANAGED &&
               after->kind == HAUL_OP_COPY && !(after->flags & HAUL_OP_HAS_CALL)));
        HOLDS(before->start_ns + before->dur_ns <= met_ns + skew_ns);
    }
}

static inline void workload_check_sums(const haul_workload *w)
{
    const uint64_t limit = UINT64_C(1) << 62;
    uint64_t ns = 0, bytes = 0, device_ops = 0, orphans = 0;
    for (size_t i = 0; i < w->op_count; i++) {
        const haul_op *op = &w->ops[i];
        ns += (uint64_t)op->dur_ns;
        HOLDS(ns <= limit);
        bytes += haul_op_has_bytes(op) ? op->bytes : 0;
        HOLDS(bytes <= limit);
        device_ops += haul_op_on_device(op);
        orphans += haul_op_on_device(op) && !(op->flags & HAUL_OP_HAS_CALL);
    }
    HOLDS(w->counts.device_ops == device_ops && w->counts.orphans == orphans);
}

static inline void workload_check_notes(const haul_note *notes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            HOLDS(strcmp(notes[i].text, notes[k].text) != 0);
}

static inline void workload_check(const haul_workload *w)
{
    HOLDS(w->source && w->format);
    for (size_t i = 0; i < w->op_count; i++)
        workload_check_op(w, i);
    for (size_t i = 0; i < w->stream_count; i++)
        HOLDS(w->streams[i].device == HAUL_NONE || w->streams[i].device < w->device_count);
    workload_check_links(w);
    workload_check_edges(w);
    workload_check_sums(w);
    workload_check_notes(w->missing, w->missing_count);
    workload_check_notes(w->repairs, w->repair_count);
}

#endif
