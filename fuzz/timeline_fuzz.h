/* Workloads of any bytes on devices of any figures, for the targets that schedule them. */
#ifndef HAUL_FUZZ_TIMELINE_FUZZ_H
#define HAUL_FUZZ_TIMELINE_FUZZ_H

#include <stdlib.h>

#include "haul/timeline.h"

enum { MOST_OPS = 48, MOST_EDGES = 16, STREAMS = 4, THREADS = 2, DEVICES = 2, SHAPES = 2 };

typedef struct made {
    haul_workload workload;
    haul_timeline_options options;
    haul_op ops[MOST_OPS];
    haul_edge edges[MOST_EDGES];
    haul_workload_stream streams[STREAMS];
    haul_workload_thread threads[THREADS];
    haul_workload_device devices[DEVICES];
    haul_shape shapes[SHAPES];
} made;

typedef struct bytes {
    const uint8_t *at;
    size_t left;
} bytes;

static inline uint8_t take(bytes *self)
{
    if (!self->left)
        return 0;
    self->left--;
    return *self->at++;
}

/* Small numbers mostly, now and then one that should not be. */
static inline uint32_t take_index(bytes *self, uint32_t count)
{
    const uint8_t byte = take(self);
    if (byte >= 250)
        return byte == 255 ? HAUL_NONE : byte;
    return count ? byte % count : 0;
}

static inline int64_t take_time(bytes *self)
{
    static const int64_t odd[] = {-1, INT64_MIN, INT64_MAX, INT64_C(1) << 61, INT64_C(3) << 60};
    const uint8_t byte = take(self);
    return byte >= 251 ? odd[byte - 251] : byte % 50;
}

static inline double take_share(bytes *self)
{
    static const double odd[] = {0, -1, 1e-300, 1e300};
    const uint8_t byte = take(self);
    return byte >= 252 ? odd[byte - 252] : (1 + byte % 8) / 8.0;
}

static inline void take_device(bytes *from, haul_timeline_device *device)
{
    const uint8_t more = take(from);
    *device = (haul_timeline_device){
        .copy_engines = take(from) % 6,
        .kernels = take(from) % 5,
        .implicit_sync = more & 1,
        .busy_speed = {take_share(from), take_share(from)},
        .chained_ns = {more & 2 ? take_time(from) : 0, more & 2 ? take_time(from) : 0},
        .staging = more & 4,
        .migrations = more & 8 ? take(from) % 4 : 0,
        .link_devices = more & 16 ? take(from) % 4 : 0,
        .link_copies = more & 32 ? 2 * take_share(from) : 0,
        .queue_depth = more & 64 ? take(from) % 4 : 0,
    };
    device->latency_ns[HAUL_DIRECTION_HTOD] = device->chained_ns[HAUL_DIRECTION_DTOH];
    for (int i = 0; i < HAUL_OP_KINDS; i++) {
        device->issue_ns[i] = more & 2 ? take_time(from) : 0;
        device->issue_on_return[i] = take(from) & 1;
    }
    device->kernel_gap_ns = device->issue_ns[HAUL_OP_KERNEL];
    if (more & 128)
        device->occupancy =
            (haul_occupancy){take(from) % 4, take(from) % 9, 32U * (take(from) % 40),
                             64U * take(from), 256U * take(from)};
}

static inline void take_shapes(bytes *from, made *self)
{
    for (int s = 0; s < SHAPES; s++) {
        const uint32_t scale = take(from) == 255 ? UINT32_MAX / 16 : 1;
        self->shapes[s] = (haul_shape){.grid = {take(from) % 16U * scale, take(from) % 4U, 1},
                                       .block = {take(from) * scale, take(from) % 3U * scale, 1},
                                       .registers_per_thread = take(from),
                                       .shared_bytes = take(from) * scale};
    }
}

static inline void take_op(bytes *from, haul_op *op, const uint32_t *last)
{
    const uint8_t kind = take(from), flags = take(from);
    *op = (haul_op){.kind = kind >= 250 ? kind : kind % HAUL_OP_KINDS,
                    .direction = take(from) % HAUL_DIRECTIONS,
                    .detail = take(from) % HAUL_MEMORIES,
                    .start_ns = take_time(from),
                    .dur_ns = take_time(from),
                    .call_ns = take_time(from),
                    .call_dur_ns = take_time(from),
                    .name = HAUL_NONE,
                    .stream = take_index(from, STREAMS),
                    .thread = take_index(from, THREADS + 1),
                    .stream_prev = HAUL_NONE,
                    .flags = flags & (HAUL_OP_HAS_CALL | HAUL_OP_BLOCKS)};
    if (op->thread == THREADS)
        op->thread = HAUL_NONE;
    if (op->kind == HAUL_OP_KERNEL)
        op->shape = take_index(from, SHAPES);
    op->thread_prev = HAUL_NONE;
    if (op->thread < THREADS)
        op->thread_prev = flags & 128 ? take_index(from, MOST_OPS) : last[op->thread];
}

static inline int compare_edges(const void *a, const void *b)
{
    const haul_edge *x = a, *y = b;
    return (x->after > y->after) - (x->after < y->after);
}

static inline void make(bytes *from, made *self)
{
    uint32_t last[THREADS] = {HAUL_NONE, HAUL_NONE};
    const uint8_t how = take(from);
    take_device(from, &self->options.device);
    take_shapes(from, self);
    self->options.release = how & 1 ? HAUL_RELEASE_HOST : HAUL_RELEASE_RECORDED;
    const size_t edges = how >> 1 & 15;
    for (size_t e = 0; e < edges; e++)
        self->edges[e] = (haul_edge){take_index(from, MOST_OPS), take_index(from, MOST_OPS)};
    if (!(how & 32))
        qsort(self->edges, edges, sizeof *self->edges, compare_edges);
    for (uint32_t s = 0; s < STREAMS; s++)
        self->streams[s] = (haul_workload_stream){.device = s % (DEVICES + 1)};
    self->streams[2].device = how & 64 ? HAUL_NONE : 0;
    uint32_t count = 0;
    for (; from->left && count < MOST_OPS; count++) {
        take_op(from, &self->ops[count], last);
        if (self->ops[count].thread < THREADS)
            last[self->ops[count].thread] = count;
    }
    self->workload = (haul_workload){.source = "fuzz",
                                     .format = "fuzz",
                                     .ops = self->ops,
                                     .op_count = count,
                                     .edges = self->edges,
                                     .edge_count = edges,
                                     .streams = self->streams,
                                     .stream_count = STREAMS,
                                     .threads = self->threads,
                                     .thread_count = THREADS,
                                     .devices = self->devices,
                                     .device_count = DEVICES,
                                     .shapes = self->shapes,
                                     .shape_count = SHAPES};
}

#endif
