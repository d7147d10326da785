/* The strategies as workloads: chunks in the order of the paper's figures. */
#include "overlap/schedule.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "overlap/formulas.h"
#include "workload/builder.h"

/* The most that a workload holds, in nanoseconds and in bytes. */
static const double most = 0x1p61;

/* A call that takes longer is no call. */
static const double call_most_s = 1;

typedef enum op_name { COPY_IN, KERNEL, COPY_OUT, MAPPED_KERNEL, MAPPED_WRITES, NAMES } op_name;

/* The copies of one direction, in chunks. */
typedef struct chunks {
    double bytes;
    double latency_s;
    double gap_s;
    double data_s; /* of one chunk */
} chunks;

typedef struct plan {
    hl_workload_builder builder;
    chunks in;
    chunks out;
    double kernel_s; /* of one chunk */
    double shared_bytes;
    double shared_s;            /* of copying them, without L+o */
    int64_t call_ns, called_ns; /* of one call; of those made so far */
    bool marks;
    uint32_t thread;      /* the host's */
    uint32_t first_chunk; /* the first chunk's copy in */
    uint32_t count;
    uint32_t device;
    uint32_t names[NAMES];
} plan;

/* Part i of what is cut into equal parts: rounded so that they add up to the whole. */
static int64_t part_ns(double each_s, uint32_t i)
{
    const double each_ns = 1e9 * each_s;
    return llround(each_ns * (i + 1.0)) - llround(each_ns * i);
}

/* As part_ns: parts differ by a byte at most. */
static uint64_t part_bytes(const plan *self, double bytes, uint32_t i)
{
    const double each = bytes / self->count;
    return (uint64_t)(llround(each * (i + 1.0)) - llround(each * i));
}

/* The time that a copy saves right behind another: (L+o) - g. */
static int64_t saved_ns(double latency_s, double gap_s)
{
    return gap_s < latency_s ? llround(1e9 * (latency_s - gap_s)) : 0;
}

/* Without a host thread where calls cost nothing, as in the paper's formulas. A mapped kernel's
 * writes are no call. */
static uint32_t add_op(plan *self, haul_op op, op_name name)
{
    op.name = self->names[name];
    op.thread = HAUL_NONE;
    if (self->call_ns && name != MAPPED_WRITES) {
        op.flags |= HAUL_OP_HAS_CALL;
        op.thread = self->thread;
        op.call_ns = self->called_ns;
        op.call_dur_ns = self->call_ns * (self->marks && name == COPY_IN ? 2 : 1);
        self->called_ns += op.call_dur_ns;
    }
    return hl_workload_builder_op(&self->builder, &op);
}

/* The builder returns the same stream for the same id. */
static uint32_t stream_of(plan *self, uint32_t i)
{
    return hl_workload_builder_stream(&self->builder,
                                      &(haul_workload_stream){.device = self->device, .id = i});
}

static uint32_t add_kernel(plan *self, uint32_t i, int64_t dur_ns, op_name name)
{
    const haul_op op = {
        .kind = HAUL_OP_KERNEL,
        .shape = HAUL_NONE,
        .stream = stream_of(self, i),
        .dur_ns = dur_ns,
    };
    return add_op(self, op, name);
}

/* The copy that all chunks need, on the first one's stream. */
static uint32_t add_shared(plan *self)
{
    const haul_op op = {
        .kind = HAUL_OP_COPY,
        .direction = HAUL_DIRECTION_HTOD,
        .detail = HAUL_MEMORY_PINNED,
        .stream = stream_of(self, 0),
        .bytes = (uint64_t)llround(self->shared_bytes),
        .dur_ns = llround(1e9 * (self->in.latency_s + self->shared_s)),
    };
    return add_op(self, op, COPY_IN);
}

/* Chunk i is on stream i: its stream orders copy in, kernel and copy back, so no edges are needed
 * but those to what all chunks share. */
static void add_copies(plan *self, haul_direction direction)
{
    const bool is_in = direction == HAUL_DIRECTION_HTOD;
    const chunks *leg = is_in ? &self->in : &self->out;
    const uint32_t shared = is_in && self->shared_bytes > 0 ? add_shared(self) : HAUL_NONE;
    if (is_in)
        self->first_chunk = shared == HAUL_NONE ? 0 : shared + 1;
    for (uint32_t i = 0; leg->bytes > 0 && i < self->count; i++) {
        /* L+o and the data; of those behind the first so that less what is saved it is g and the
         * data, to the nanosecond in all of them together. */
        const haul_op op = {
            .kind = HAUL_OP_COPY,
            .direction = (uint8_t)direction,
            .detail = HAUL_MEMORY_PINNED,
            .stream = stream_of(self, i),
            .bytes = part_bytes(self, leg->bytes, i),
            .dur_ns = !i && shared == HAUL_NONE ? llround(1e9 * (leg->latency_s + leg->data_s))
                                                : saved_ns(leg->latency_s, leg->gap_s) +
                                                      part_ns(leg->gap_s + leg->data_s, i),
        };
        const uint32_t copy = add_op(self, op, is_in ? COPY_IN : COPY_OUT);
        if (i && shared != HAUL_NONE)
            hl_workload_builder_edge(&self->builder, shared, copy);
    }
}

/* A kernel and its writes begin together: when its data is there and those before have ended. The
 * streams and the room for kernels hold half of these, edges the rest. */
static void plan_hybrid(plan *self)
{
    add_copies(self, HAUL_DIRECTION_HTOD);
    uint32_t kernel = HAUL_NONE, writes = HAUL_NONE;
    for (uint32_t i = 0; i < self->count; i++) {
        const uint32_t kernel_before = kernel, writes_before = writes;
        const double drain_s = i + 1 == self->count ? self->out.latency_s : 0;
        kernel =
            add_kernel(self, i, part_ns(self->kernel_s, i) + llround(1e9 * drain_s), MAPPED_KERNEL);
        if (!(self->out.bytes > 0))
            continue;
        /* A mapped kernel's writes, as a copy beside it on a stream of their own. The last one
         * alone pays L+o: those before it follow one behind another. */
        const bool last = i + 1 == self->count;
        const chunks *out = &self->out;
        const haul_op op = {
            .kind = HAUL_OP_COPY,
            .direction = HAUL_DIRECTION_DTOH,
            .detail = HAUL_MEMORY_PINNED,
            .stream = stream_of(self, self->count),
            .bytes = part_bytes(self, out->bytes, i),
            .dur_ns = last ? llround(1e9 * (out->latency_s + out->data_s))
                           : part_ns(out->gap_s + out->data_s, i),
        };
        writes = add_op(self, op, MAPPED_WRITES);
        if (self->in.bytes > 0)
            hl_workload_builder_edge(&self->builder, self->first_chunk + i, writes);
        if (!i)
            continue;
        hl_workload_builder_edge(&self->builder, writes_before, kernel);
        hl_workload_builder_edge(&self->builder, kernel_before, writes);
    }
}

static chunks chunks_of(const haul_overlap_leg *leg, double bytes, uint32_t count)
{
    return (chunks){
        .bytes = bytes,
        .latency_s = leg->latency_s,
        .gap_s = leg->gap_s,
        .data_s = bytes * leg->per_byte_s / count,
    };
}

/* NaN compares false, so it is refused here as well. */
static bool is_held(double value)
{
    return value >= 0 && value <= most;
}

/* All copies together, not each: the timeline adds their times. */
static bool chunks_fit(const chunks *self, uint32_t count)
{
    const double each_s = fmax(self->latency_s, self->gap_s) + self->data_s;
    return is_held(self->bytes) && is_held(self->latency_s) && is_held(self->gap_s) &&
           is_held(self->data_s) && is_held(1e9 * count * each_s);
}

/* Breadth first, as in the paper's figures: all copies in, then all kernels, then all copies
 * back. */
static void plan_strategy(plan *self, haul_strategy strategy)
{
    static const char names[NAMES][16] = {"copy in", "kernel", "copy back", "mapped kernel",
                                          "mapped writes"};
    hl_workload_builder_reserve(&self->builder, 3 * (uint64_t)self->count);
    self->device = hl_workload_builder_device(&self->builder, 0);
    if (self->call_ns)
        self->thread = hl_workload_builder_thread(&self->builder, &(haul_workload_thread){.id = 1});
    for (int name = 0; name < NAMES; name++)
        self->names[name] =
            hl_workload_builder_string(&self->builder, names[name], strlen(names[name]));
    if (strategy == HAUL_STRATEGY_MAPPED) {
        add_kernel(self, 0, llround(1e9 * self->kernel_s), MAPPED_KERNEL);
    } else if (strategy == HAUL_STRATEGY_HYBRID) {
        plan_hybrid(self);
    } else { /* explicit with one chunk */
        add_copies(self, HAUL_DIRECTION_HTOD);
        for (uint32_t i = 0; i < self->count; i++)
            add_kernel(self, i, part_ns(self->kernel_s, i), KERNEL);
        add_copies(self, HAUL_DIRECTION_DTOH);
    }
}

static uint32_t chunk_count(haul_strategy strategy, uint32_t streams)
{
    return haul_strategy_has_streams(strategy) && streams ? streams : 1;
}

/* Explicit and mapped copies are one chunk each, whatever the streams. Checks that times fit a
 * timeline before it builds anything. */
haul_status haul_overlap_workload(const haul_overlap_case *self, haul_strategy strategy,
                                  uint32_t streams, haul_workload **workload, haul_error *error)
{
    const uint32_t count = chunk_count(strategy, streams);
    const double shared_bytes = fmin(self->shared_bytes, self->in.bytes);
    const double launch_s = fmin(self->launch_s, self->kernel_s);
    /* how often mapped memory is written; copies move each byte once */
    const double writes = strategy == HAUL_STRATEGY_HYBRID ? self->out.times : 1;
    plan made = {
        .in = chunks_of(&self->in, self->in.bytes - shared_bytes, count),
        .out = chunks_of(&self->out, self->out.bytes * writes, count),
        .kernel_s = launch_s + (self->kernel_s - launch_s) / count,
        .shared_bytes = shared_bytes,
        .shared_s = shared_bytes * self->in.per_byte_s,
        .count = count,
        .call_ns = llround(1e9 * fmax(fmin(self->call_s, call_most_s), 0)),
        .marks = self->marks,
    };
    if (strategy == HAUL_STRATEGY_MAPPED)
        made.kernel_s = hl_overlap_mapped_both_ways(self);
    if (count > HAUL_OVERLAP_STREAMS_MOST)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "more than %d streams",
                              HAUL_OVERLAP_STREAMS_MOST);
    if (!(shared_bytes >= 0) || !(launch_s >= 0) || !chunks_fit(&made.in, count) ||
        !chunks_fit(&made.out, count) || !is_held(1e9 * made.kernel_s * count))
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "times or bytes are negative, or more than a timeline holds");
    hl_workload_builder_init(&made.builder);
    plan_strategy(&made, strategy);
    return hl_workload_builder_finish(&made.builder, haul_strategy_word(strategy), "overlap",
                                      workload, error);
}

/* The share of its speed that a copy in a row keeps under contention, which slows its bytes, not
 * its gap, but a timeline slows all of it: so much that it comes to the same. */
static double speed_of(const haul_overlap_leg *leg, double slowed_s, double times, double count)
{
    const double alone_s = leg->gap_s + leg->bytes * times * leg->per_byte_s / count;
    const double met_s = leg->gap_s + leg->bytes * times * slowed_s / count;
    return alone_s > 0 && met_s > alone_s ? alone_s / met_s : 1;
}

/* The hybrid's writes are not made by a copy engine, so that its two directions never share one;
 * nor does anything synchronise its streams. */
void hl_overlap_schedule_device(const haul_overlap_case *self, haul_strategy strategy,
                                uint32_t streams, haul_timeline_device *device)
{
    const haul_overlap_leg *in = &self->in, *out = &self->out;
    const bool hybrid = strategy == HAUL_STRATEGY_HYBRID;
    const double count = chunk_count(strategy, streams);
    const double in_s = hybrid ? in->mapped_per_byte_s : in->busy_per_byte_s;
    const double out_s = hybrid ? out->mapped_per_byte_s : out->busy_per_byte_s;
    *device = (haul_timeline_device){
        .copy_engines = hybrid || self->device == HAUL_TWO_ENGINES ? 2 : 1,
        .kernels = 1,
        .implicit_sync = !hybrid && self->device == HAUL_IMPLICIT_SYNC,
        .busy_speed = {speed_of(in, in_s, 1, count),
                       speed_of(out, out_s, hybrid ? out->times : 1, count)},
        .chained_ns = {saved_ns(in->latency_s, in->gap_s),
                       hybrid ? 0 : saved_ns(out->latency_s, out->gap_s)},
    };
}
