/* Workloads written by hand, operation by operation. */
#ifndef HAUL_TESTS_BY_HAND_H
#define HAUL_TESTS_BY_HAND_H

#include <stdlib.h>
#include <string.h>

#include "haul/workload.h"

enum { BY_HAND_STREAMS = 8 };

/* Stream s is of device s / 4: two devices of four streams. */
typedef struct by_hand {
    haul_workload workload;
    haul_op *ops;
    haul_workload_stream streams[BY_HAND_STREAMS];
    haul_workload_device devices[2];
} by_hand;

static inline int by_hand_compare(const void *a, const void *b)
{
    const haul_op *x = a, *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static inline haul_op *by_hand_add(by_hand *self, haul_op_kind kind, int64_t start_ns,
                                   int64_t dur_ns)
{
    const size_t at = self->workload.op_count++;
    self->ops = realloc(self->ops, self->workload.op_count * sizeof *self->ops);
    self->ops[at] = (haul_op){.start_ns = start_ns,
                              .dur_ns = dur_ns,
                              .kind = (uint8_t)kind,
                              .name = HAUL_NONE,
                              .thread = HAUL_NONE,
                              .stream_prev = HAUL_NONE,
                              .thread_prev = HAUL_NONE};
    return &self->ops[at];
}

static inline haul_op *by_hand_copy(by_hand *self, haul_direction direction, haul_memory memory,
                                    uint64_t bytes, int64_t start_ns, int64_t dur_ns)
{
    haul_op *op = by_hand_add(self, HAUL_OP_COPY, start_ns, dur_ns);
    op->direction = (uint8_t)direction;
    op->detail = (uint8_t)memory;
    op->bytes = bytes;
    return op;
}

/* Call it once, after the last operation. */
static inline const haul_workload *by_hand_finish(by_hand *self)
{
    if (self->ops)
        qsort(self->ops, self->workload.op_count, sizeof *self->ops, by_hand_compare);
    for (unsigned s = 0; s < BY_HAND_STREAMS; s++)
        self->streams[s] = (haul_workload_stream){.device = s / 4, .id = s};
    self->devices[1].id = 1;
    self->workload.source = "by hand";
    self->workload.format = "by hand";
    self->workload.ops = self->ops;
    self->workload.streams = self->streams;
    self->workload.stream_count = BY_HAND_STREAMS;
    self->workload.devices = self->devices;
    self->workload.device_count = 2;
    return &self->workload;
}

/* So many kernels of one stream, so far apart, all called before the first starts; finishes. */
static inline const haul_workload *by_hand_row(by_hand *self, haul_workload_thread *thread,
                                               uint32_t count, int64_t dur_ns, int64_t gap_ns)
{
    for (uint32_t i = 0; i < count; i++) {
        haul_op *op =
            by_hand_add(self, HAUL_OP_KERNEL, 20000 + (int64_t)i * (dur_ns + gap_ns), dur_ns);
        op->shape = HAUL_NONE;
        op->stream_prev = i ? i - 1 : HAUL_NONE;
        op->thread = 0;
        op->thread_prev = op->stream_prev;
        op->call_ns = i;
        op->call_dur_ns = 1;
        op->flags = HAUL_OP_HAS_CALL;
    }
    by_hand_finish(self);
    self->workload.threads = thread;
    self->workload.thread_count = 1;
    return &self->workload;
}

static inline void by_hand_release(by_hand *self)
{
    free(self->ops);
    memset(self, 0, sizeof *self);
}

#endif
