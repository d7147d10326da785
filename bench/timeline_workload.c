#include "timeline_workload.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, STREAMS = 4096, STEP_NS = 1000, WAIT_EVERY = 1000, EVENT_EVERY = 16 };

/* Where threads and streams stand while a workload is drawn. */
typedef struct maker {
    haul_op *ops;
    haul_edge *edges;
    size_t edge_count;
    uint32_t last_on_stream[STREAMS];
    uint32_t last_of_thread[THREADS];
} maker;

static uint32_t scramble(uint64_t number)
{
    return (uint32_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

static void make_op(maker *self, uint32_t i, uint32_t streams, bool waits)
{
    static const uint8_t kinds[] = {HAUL_OP_COPY, HAUL_OP_KERNEL, HAUL_OP_KERNEL, HAUL_OP_COPY};
    const uint32_t random = scramble(i), thread = i % THREADS, stream = random % streams;
    const int64_t call_ns = (int64_t)i * STEP_NS;
    haul_op *op = &self->ops[i];
    const uint8_t kind = kinds[i / streams % 4];
    *op = (haul_op){.kind = kind,
                    .direction = i / streams % 4 ? HAUL_DIRECTION_DTOH : HAUL_DIRECTION_HTOD,
                    .detail = HAUL_MEMORY_PINNED,
                    .start_ns = call_ns + INT64_C(2) * STEP_NS,
                    .dur_ns =
                        200 + random % 1000 + (kind == HAUL_OP_KERNEL ? 3 * streams * STEP_NS : 0),
                    .call_ns = call_ns,
                    .call_dur_ns = STEP_NS,
                    .name = HAUL_NONE,
                    .stream = stream,
                    .thread = thread,
                    .stream_prev = HAUL_NONE,
                    .thread_prev = self->last_of_thread[thread],
                    .flags = HAUL_OP_HAS_CALL};
    uint32_t *last = &self->last_on_stream[stream];
    const uint32_t other = self->last_on_stream[(stream + 1) % streams];
    if (waits && i % WAIT_EVERY == WAIT_EVERY - 1) {
        op->kind = HAUL_OP_SYNC;
        op->dur_ns = STEP_NS;
        if (*last != HAUL_NONE)
            self->edges[self->edge_count++] = (haul_edge){*last, i};
    } else {
        if (i % EVENT_EVERY == 0 && other != HAUL_NONE)
            self->edges[self->edge_count++] = (haul_edge){other, i};
        *last = i;
    }
    self->last_of_thread[thread] = i;
}

haul_workload timeline_workload_make(uint32_t count, uint32_t streams, bool waits)
{
    maker self = {.ops = malloc(count * sizeof *self.ops),
                  .edges =
                      malloc((count / EVENT_EVERY + count / WAIT_EVERY + 2) * sizeof *self.edges)};
    haul_workload_stream *made_streams = calloc(streams, sizeof *made_streams);
    static haul_workload_thread threads[THREADS];
    static haul_workload_device devices[2];
    static const haul_shape shape = {.grid = {1, 1, 1}, .block = {128, 1, 1}};
    if (!self.ops || !self.edges || !made_streams)
        exit(1);
    memset(self.last_on_stream, 0xff, sizeof self.last_on_stream);
    memset(self.last_of_thread, 0xff, sizeof self.last_of_thread);
    for (uint32_t i = 0; i < count; i++)
        make_op(&self, i, streams, waits);
    for (uint32_t s = 0; s < streams; s++)
        made_streams[s] = (haul_workload_stream){.device = s % 2, .id = s};
    return (haul_workload){.source = "bench",
                           .format = "bench",
                           .ops = self.ops,
                           .op_count = count,
                           .edges = self.edges,
                           .edge_count = self.edge_count,
                           .streams = made_streams,
                           .stream_count = streams,
                           .threads = threads,
                           .thread_count = THREADS,
                           .devices = devices,
                           .device_count = 2,
                           .shapes = &shape,
                           .shape_count = 1};
}
