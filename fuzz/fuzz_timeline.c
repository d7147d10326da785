/* Workloads of any bytes on devices of any figures: what is refused has a reason that names
 * something, and of what is scheduled the laws of the timeline hold, twice alike. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "haul/timeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

static uint8_t take(bytes *self)
{
    if (!self->left)
        return 0;
    self->left--;
    return *self->at++;
}

/* Small numbers mostly, now and then one that should not be. */
static uint32_t take_index(bytes *self, uint32_t count)
{
    const uint8_t byte = take(self);
    if (byte >= 250)
        return byte == 255 ? HAUL_NONE : byte;
    return count ? byte % count : 0;
}

static int64_t take_time(bytes *self)
{
    static const int64_t odd[] = {-1, INT64_MIN, INT64_MAX, INT64_C(1) << 61, INT64_C(3) << 60};
    const uint8_t byte = take(self);
    return byte >= 251 ? odd[byte - 251] : byte % 50;
}

static double take_share(bytes *self)
{
    static const double odd[] = {0, -1, 1e-300, 1e300};
    const uint8_t byte = take(self);
    return byte >= 252 ? odd[byte - 252] : (1 + byte % 8) / 8.0;
}

static void take_device(bytes *from, haul_timeline_device *device)
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
    device->latency_ns[HAUL_HTOD] = device->chained_ns[HAUL_DTOH];
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

static void take_shapes(bytes *from, made *self)
{
    for (int s = 0; s < SHAPES; s++) {
        const uint32_t scale = take(from) == 255 ? UINT32_MAX / 16 : 1;
        self->shapes[s] = (haul_shape){.grid = {take(from) % 16U * scale, take(from) % 4U, 1},
                                       .block = {take(from) * scale, take(from) % 3U * scale, 1},
                                       .registers_per_thread = take(from),
                                       .shared_bytes = take(from) * scale};
    }
}

static void take_op(bytes *from, haul_op *op, const uint32_t *last)
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

static int compare_edges(const void *a, const void *b)
{
    const haul_edge *x = a, *y = b;
    return (x->after > y->after) - (x->after < y->after);
}

static void make(bytes *from, made *self)
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

static bool on_device(const haul_op *op)
{
    return haul_op_on_device(op);
}

static uint32_t device_of(const made *self, const haul_op *op)
{
    return op->stream == HAUL_NONE ? HAUL_NONE : self->streams[op->stream].device;
}

/* Copies that hold the same engine of a device, or its staging buffer. */
static bool exclude(const made *self, const haul_op *a, const haul_op *b)
{
    const haul_timeline_device *device = &self->options.device;
    if (a->kind != HAUL_OP_COPY || b->kind != HAUL_OP_COPY || a->direction > HAUL_DTOH ||
        b->direction > HAUL_DTOH || device_of(self, a) != device_of(self, b))
        return false;
    if (device->staging && a->detail == HAUL_PAGEABLE && b->detail == HAUL_PAGEABLE)
        return true;
    if (device->migrations && (a->detail == HAUL_MANAGED || b->detail == HAUL_MANAGED))
        return false;
    return device->copy_engines == 1 || a->direction == b->direction;
}

static void check_pair(const made *self, const haul_timeline *timeline, uint32_t i, uint32_t k)
{
    const haul_op *a = &self->ops[i], *b = &self->ops[k];
    const haul_span *x = &timeline->ops[i], *y = &timeline->ops[k];
    if (a->stream == b->stream)
        assert(x->end_ns <= y->start_ns);
    if (exclude(self, a, b))
        assert(x->end_ns <= y->start_ns || y->end_ns <= x->start_ns);
}

static void check_laws(const made *self, const haul_timeline *timeline)
{
    const uint32_t count = (uint32_t)self->workload.op_count;
    for (uint32_t i = 0; i < count; i++) {
        assert(timeline->ops[i].start_ns >= 0);
        assert(timeline->ops[i].end_ns >= timeline->ops[i].start_ns);
        for (uint32_t k = i + 1; k < count; k++)
            if (on_device(&self->ops[i]) && on_device(&self->ops[k]))
                check_pair(self, timeline, i, k);
    }
    for (size_t e = 0; e < self->workload.edge_count; e++) {
        const haul_span *after = &timeline->ops[self->edges[e].after];
        assert(timeline->ops[self->edges[e].before].end_ns <=
               (on_device(&self->ops[self->edges[e].after]) ? after->start_ns : after->end_ns));
    }
    for (size_t r = 0; r < timeline->resource_count; r++) {
        const haul_resource *resource = &timeline->resources[r];
        assert(resource->busy_ns >= 0 && resource->idle_ns >= 0);
        assert(resource->busy_ns + resource->idle_ns == timeline->makespan_ns);
    }
    assert(timeline->critical_count <= count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes from = {data, size};
    static made self;
    memset(&self, 0, sizeof self);
    make(&from, &self);
    haul_timeline *timeline = NULL, *again = NULL;
    haul_error error = {0};
    const haul_status status = haul_timeline_run(&self.workload, &self.options, &timeline, &error);
    if (status) {
        assert(status == HAUL_BAD_INPUT || status == HAUL_ABSENT || status == HAUL_USAGE);
        assert(!timeline && error.text[0]);
        assert(status != HAUL_ABSENT || strstr(error.text, "operation "));
        return 0;
    }
    check_laws(&self, timeline);
    assert(!haul_timeline_run(&self.workload, &self.options, &again, &error));
    assert(!memcmp(timeline->ops, again->ops, timeline->op_count * sizeof *timeline->ops));
    haul_timeline_free(again);
    haul_timeline_free(timeline);
    return 0;
}
