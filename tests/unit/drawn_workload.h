/* Random workloads without cycles, for the timeline. */
#ifndef HAUL_TESTS_DRAWN_WORKLOAD_H
#define HAUL_TESTS_DRAWN_WORKLOAD_H

#include <stdlib.h>
#include <string.h>

#include "haul/timeline.h"

enum {
    DRAWN_OPS = 4096,
    DRAWN_EDGES = 3 * DRAWN_OPS,
    DRAWN_STREAMS = 6,
    DRAWN_THREADS = 3,
    DRAWN_SHAPES = 5
};

typedef struct drawn_workload {
    haul_workload workload;
    haul_op ops[DRAWN_OPS];
    haul_edge edges[DRAWN_EDGES];
    haul_workload_stream streams[DRAWN_STREAMS];
    haul_workload_thread threads[DRAWN_THREADS];
    haul_workload_device devices[2];
    haul_shape shapes[DRAWN_SHAPES];
} drawn_workload;

static inline uint32_t draw(uint32_t limit)
{
    return (uint32_t)rand() % limit;
}

static inline void draw_op(drawn_workload *self, uint32_t i, uint32_t *last, int64_t *thread_ns)
{
    haul_op *op = &self->ops[i];
    const uint32_t thread = draw(DRAWN_THREADS + 1);
    *op = (haul_op){.kind = (uint8_t)draw(HAUL_OP_CALL + 1),
                    .direction = (uint8_t)draw(HAUL_DIRECTIONS),
                    .detail = (uint8_t)(draw(2)   ? draw(HAUL_MEMORIES)
                                        : draw(2) ? HAUL_MEMORY_MANAGED
                                                  : HAUL_MEMORY_PAGEABLE),
                    .start_ns = i ? op[-1].start_ns + draw(4) : 0,
                    .dur_ns = draw(5) * draw(8),
                    .name = HAUL_NONE,
                    .stream = draw(8) ? draw(DRAWN_STREAMS) : HAUL_NONE,
                    .thread = HAUL_NONE,
                    .stream_prev = HAUL_NONE,
                    .thread_prev = HAUL_NONE};
    if (op->kind == HAUL_OP_KERNEL)
        op->shape = draw(8) ? draw(DRAWN_SHAPES) : HAUL_NONE;
    if (thread == DRAWN_THREADS)
        return;
    op->thread = thread;
    op->thread_prev = last[thread];
    op->call_ns = thread_ns[thread] += i ? draw(12) : 0; /* the first at 0 */
    op->call_dur_ns = draw(10);
    op->flags = HAUL_OP_HAS_CALL;
    if (op->kind == HAUL_OP_COPY && !draw(3))
        op->flags |= HAUL_OP_BLOCKS;
    if (haul_op_on_host(op))
        op->call_ns = thread_ns[thread] = op->start_ns;
    last[thread] = i;
}

/* Edges lead from earlier operations to later ones, so there is no cycle. */
static inline void draw_workload(drawn_workload *self, uint32_t count, uint32_t edges_in_8)
{
    uint32_t last[DRAWN_THREADS];
    int64_t thread_ns[DRAWN_THREADS] = {0};
    size_t edges = 0;
    memset(last, 0xff, sizeof last);
    for (uint32_t i = 0; i < count; i++) {
        draw_op(self, i, last, thread_ns);
        for (uint32_t before = i > 5 ? i - 5 : 0; before < i; before++)
            if (draw(8) < edges_in_8 && edges < DRAWN_EDGES && !draw(3))
                self->edges[edges++] = (haul_edge){before, i};
    }
    for (uint32_t s = 0; s < DRAWN_STREAMS; s++)
        self->streams[s] =
            (haul_workload_stream){.device = s % 3 == 2 ? HAUL_NONE : s % 3, .id = s};
    for (uint32_t s = 0; s < DRAWN_SHAPES; s++)
        self->shapes[s] = (haul_shape){.grid = {1 + draw(6), 1 + draw(3), 1},
                                       .block = {32 * (1 + draw(8)), 1, 1 + draw(2)},
                                       .registers_per_thread = draw(64),
                                       .shared_bytes = draw(3) * 4096};
    self->workload = (haul_workload){
        .source = "drawn",
        .format = "drawn",
        .ops = self->ops,
        .op_count = count,
        .edges = self->edges,
        .edge_count = edges,
        .streams = self->streams,
        .stream_count = DRAWN_STREAMS,
        .threads = self->threads,
        .thread_count = DRAWN_THREADS,
        .devices = self->devices,
        .device_count = 2,
        .shapes = self->shapes,
        .shape_count = DRAWN_SHAPES,
    };
}

/* Each of the resources that are modelled where they are given, half of the time. */
static inline void draw_more(haul_timeline_device *device)
{
    if (draw(2))
        device->occupancy = (haul_occupancy){1 + draw(4), draw(2) * (1 + draw(8)), draw(2) * 512,
                                             draw(2) * 16384, draw(2) * 16384};
    device->queue_depth = draw(2) * (1 + draw(4));
    device->link_devices = draw(4);
    device->link_copies = draw(2) * 1.5;
    device->staging = draw(2);
    device->latency_ns[0] = draw(2) * draw(8);
    device->latency_ns[1] = draw(2) * draw(5);
    device->migrations = draw(3);
}

static inline haul_timeline_options draw_options(void)
{
    haul_timeline_options options = {
        .device =
            {
                .copy_engines = 1 + draw(4),
                .kernels = 1 + draw(3),
                .implicit_sync = draw(2),
                .busy_speed = {draw(2) ? 1 : 0.5, draw(2) ? 1 : 0.25},
                .chained_ns = {draw(4), draw(3)},
                .issue_ns = {draw(3), 0, draw(5)},
                .issue_on_return = {draw(2), draw(2), draw(2)},
                .kernel_gap_ns = draw(2) * draw(6),
                .memory_gap_ns = draw(2) * draw(9),
            },
        .release = draw(2) ? HAUL_RELEASE_HOST : HAUL_RELEASE_RECORDED,
    };
    if (draw(4))
        draw_more(&options.device);
    return options;
}

#endif
