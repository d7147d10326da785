/* Losses of a written profile: it is read back and set beside the workload that it was written
 * from, so that no loss goes unsaid, of whatever file. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/fail.h"
#include "haul/trace.h"
#include "trace/written_places.h"

/* Differences, in the order in which they are told. */
#define DIFFERENCE_LIST(X)                                                                         \
    X(OPS, "operations")                                                                           \
    X(TIMES, "times")                                                                              \
    X(KINDS, "kinds of copies and waits")                                                          \
    X(BYTES, "sizes of copies")                                                                    \
    X(NAMES, "names of operations")                                                                \
    X(CALLS, "API calls")                                                                          \
    X(STREAMS, "streams")                                                                          \
    X(THREADS, "threads")                                                                          \
    X(LAUNCHES, "launches of kernels")                                                             \
    X(COLLECTIVES, "sizes and groups of collectives")                                              \
    X(OPERANDS, "operands of kernels")                                                             \
    X(OPERATORS, "operators")                                                                      \
    X(LINES, "source lines")                                                                       \
    X(WAITS, "waits for an operation")                                                             \
    X(RANGES, "named ranges")                                                                      \
    X(DEVICES, "descriptions of GPUs")                                                             \
    X(RANKS, "ranks and hosts of GPUs")                                                            \
    X(LOSSES, "notes of what the profiler lost")                                                   \
    X(NOTES, "notes of what is missing or was repaired")                                           \
    X(ORIGIN, "the time of day and the rank")

typedef enum difference {
#define ENUM_OF(name, text) DIFFERENT_##name,
    DIFFERENCE_LIST(ENUM_OF)
#undef ENUM_OF
        DIFFERENCES
} difference;

static const char *const texts[] = {
#define TEXT_OF(name, text) text,
    DIFFERENCE_LIST(TEXT_OF)
#undef TEXT_OF
};

/* One of the two workloads, its operations in an order that no form of file changes. */
typedef struct side {
    const haul_workload *of;
    hl_trace_written_places places;
    uint32_t *order;
    uint32_t *place; /* of each operation in that order */
} side;

typedef struct sortable {
    const side *side;
    uint32_t op;
} sortable;

static uint64_t stream_id(const haul_workload *of, uint32_t stream)
{
    return stream == HAUL_NONE ? UINT64_MAX : of->streams[stream].id;
}

/* As the file has it; streams of two GPUs may have one id. */
static uint64_t device_id(const side *self, uint32_t stream)
{
    const uint32_t device = stream == HAUL_NONE ? HAUL_NONE : self->of->streams[stream].device;
    return device == HAUL_NONE ? UINT64_MAX : hl_trace_written_device(&self->places, device);
}

static uint64_t thread_id(const haul_workload *of, uint32_t thread)
{
    return thread == HAUL_NONE ? UINT64_MAX : of->threads[thread].id;
}

static int compare_ops(const void *a, const void *b)
{
    const sortable *const left = a, *const right = b;
    const haul_workload *const of = left->side->of, *const other = right->side->of;
    const haul_op *const x = &of->ops[left->op], *const y = &other->ops[right->op];
    int order = hl_base_compare_signed(x->start_ns, y->start_ns);
    if (!order)
        order = hl_base_compare_unsigned(x->kind, y->kind);
    if (!order)
        order = hl_base_compare_signed(x->dur_ns, y->dur_ns);
    if (!order)
        order = hl_base_compare_unsigned(device_id(left->side, x->stream),
                                         device_id(right->side, y->stream));
    if (!order)
        order = hl_base_compare_unsigned(stream_id(of, x->stream), stream_id(other, y->stream));
    if (!order)
        order = hl_base_compare_signed(x->call_ns, y->call_ns);
    if (!order)
        order = hl_base_compare_unsigned(thread_id(of, x->thread), thread_id(other, y->thread));
    if (!order)
        order = strcmp(haul_workload_string(of, x->name), haul_workload_string(other, y->name));
    return order ? order : hl_base_compare_unsigned(left->op, right->op);
}

static bool make_side(side *self, const haul_workload *of)
{
    const size_t count = of->op_count;
    sortable *const sorted = malloc((count + 1) * sizeof *sorted);
    *self = (side){.of = of,
                   .order = malloc((count + 1) * sizeof *self->order),
                   .place = malloc((count + 1) * sizeof *self->place)};
    const bool ready = sorted && self->order && self->place &&
                       !hl_trace_written_places_make(&self->places, of, NULL);
    for (uint32_t i = 0; ready && i < count; i++)
        sorted[i] = (sortable){self, i};
    if (ready && count)
        qsort(sorted, count, sizeof *sorted, compare_ops);
    for (uint32_t i = 0; ready && i < count; i++) {
        self->order[i] = sorted[i].op;
        self->place[sorted[i].op] = i;
    }
    free(sorted);
    return ready;
}

static void release_side(side *self)
{
    hl_trace_written_places_release(&self->places);
    free(self->order);
    free(self->place);
}

static bool same_text(const haul_workload *a, uint32_t x, const haul_workload *b, uint32_t y)
{
    return !strcmp(haul_workload_string(a, x), haul_workload_string(b, y));
}

/* Numbers of processes are made anew; what tells threads and streams apart stays. */
static bool same_stream(const side *a, uint32_t x, const side *b, uint32_t y)
{
    if (x == HAUL_NONE || y == HAUL_NONE)
        return x == y;
    const haul_workload_stream *const s = &a->of->streams[x], *const t = &b->of->streams[y];
    return s->id == t->id && s->context == t->context && s->is_default == t->is_default &&
           device_id(a, x) == device_id(b, y);
}

static bool same_collective(const haul_workload *a, const haul_shape *x, const haul_workload *b,
                            const haul_shape *y)
{
    if (!x->collective || !y->collective)
        return x->collective == y->collective;
    const haul_collective *const s = &a->collectives[x->collective - 1];
    const haul_collective *const t = &b->collectives[y->collective - 1];
    return same_text(a, s->name, b, t->name) && same_text(a, s->data_type, b, t->data_type) &&
           same_text(a, s->group, b, t->group) && s->group_size == t->group_size &&
           s->elements_in == t->elements_in && s->elements_out == t->elements_out;
}

static void count_shape(const haul_workload *a, uint32_t x, const haul_workload *b, uint32_t y,
                        uint64_t *counts)
{
    static const haul_shape none = {0};
    const haul_shape *const s = x == HAUL_NONE ? &none : &a->shapes[x];
    const haul_shape *const t = y == HAUL_NONE ? &none : &b->shapes[y];
    counts[DIFFERENT_LAUNCHES] += memcmp(s, t, offsetof(haul_shape, collective)) != 0;
    counts[DIFFERENT_COLLECTIVES] += !same_collective(a, s, b, t);
    counts[DIFFERENT_OPERANDS] +=
        !s->operands != !t->operands ||
        (s->operands && memcmp(&a->operands[s->operands - 1], &b->operands[t->operands - 1],
                               sizeof *a->operands) != 0);
}

static void count_op(const side *left, const haul_op *x, const side *right, const haul_op *y,
                     uint64_t *counts)
{
    const haul_workload *const a = left->of, *const b = right->of;
    counts[DIFFERENT_TIMES] += x->start_ns != y->start_ns || x->dur_ns != y->dur_ns;
    counts[DIFFERENT_KINDS] += x->kind != y->kind || x->detail != y->detail ||
                               x->direction != y->direction || x->flags != y->flags;
    counts[DIFFERENT_CALLS] += x->call_ns != y->call_ns || x->call_dur_ns != y->call_dur_ns;
    counts[DIFFERENT_NAMES] += !same_text(a, x->name, b, y->name);
    counts[DIFFERENT_STREAMS] += !same_stream(left, x->stream, right, y->stream);
    counts[DIFFERENT_THREADS] +=
        (x->thread == HAUL_NONE) != (y->thread == HAUL_NONE) ||
        (x->thread != HAUL_NONE && a->threads[x->thread].id != b->threads[y->thread].id);
    const size_t i = (size_t)(x - a->ops), k = (size_t)(y - b->ops);
    counts[DIFFERENT_OPERATORS] += !same_text(a, haul_op_operator(a, i), b, haul_op_operator(b, k));
    counts[DIFFERENT_LINES] += !same_text(a, haul_op_line(a, i), b, haul_op_line(b, k)) ||
                               !same_text(a, haul_op_stack(a, i), b, haul_op_stack(b, k));
    if (x->kind != y->kind)
        return;
    counts[DIFFERENT_BYTES] += haul_op_has_bytes(x) && x->bytes != y->bytes;
    if (x->kind == HAUL_OP_KERNEL)
        count_shape(a, x->shape, b, y->shape, counts);
}

static int compare_edges(const void *a, const void *b)
{
    const haul_edge *const x = a, *const y = b;
    const int order = hl_base_compare_unsigned(x->after, y->after);
    return order ? order : hl_base_compare_unsigned(x->before, y->before);
}

/* The edges by the places of their operations, in order; NULL without memory. */
static haul_edge *sorted_edges(const side *self)
{
    const size_t count = self->of->edge_count;
    haul_edge *const edges = malloc((count + 1) * sizeof *edges);
    for (size_t i = 0; edges && i < count; i++)
        edges[i] = (haul_edge){self->place[self->of->edges[i].before],
                               self->place[self->of->edges[i].after]};
    if (edges && count)
        qsort(edges, count, sizeof *edges, compare_edges);
    return edges;
}

/* How many edges one side alone has. */
static bool count_edges(const side *a, const side *b, uint64_t *count)
{
    haul_edge *const x = sorted_edges(a), *const y = sorted_edges(b);
    size_t i = 0, k = 0;
    while (x && y && (i < a->of->edge_count || k < b->of->edge_count)) {
        const int order = i == a->of->edge_count   ? 1
                          : k == b->of->edge_count ? -1
                                                   : compare_edges(&x[i], &y[k]);
        i += order <= 0;
        k += order >= 0;
        *count += order != 0;
    }
    free(x);
    free(y);
    return x && y;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static const haul_workload_device *device_of(const haul_workload *of, uint64_t id)
{
    for (size_t i = 0; i < of->device_count; i++)
        if (of->devices[i].id == id)
            return &of->devices[i];
    return NULL;
}

static bool same_device(const haul_workload_device *x, const haul_workload_device *y)
{
    return y && !strcmp(x->name ? x->name : "", y->name ? y->name : "") &&
           x->memory_bytes == y->memory_bytes && x->multiprocessors == y->multiprocessors &&
           x->compute_major == y->compute_major && x->compute_minor == y->compute_minor &&
           x->copy_engines == y->copy_engines && x->l2_bytes == y->l2_bytes &&
           (int64_t)x->clock_Hz == (int64_t)y->clock_Hz &&
           (int64_t)x->memory_bandwidth_Bps == (int64_t)y->memory_bandwidth_Bps;
}

/* How many streams something is on: others are not written. */
static bool count_streams(const haul_workload *of, uint64_t *count)
{
    bool *const used = calloc(of->stream_count + 1, sizeof *used);
    *count = 0;
    for (size_t i = 0; used && i < of->op_count; i++) {
        const uint32_t stream = of->ops[i].stream;
        if (stream == HAUL_NONE || used[stream])
            continue;
        used[stream] = true;
        ++*count;
    }
    free(used);
    return used != NULL;
}

static uint64_t count_notes(const haul_note *a, size_t a_count, const haul_note *b, size_t b_count)
{
    uint64_t different = distance(a_count, b_count);
    for (size_t i = 0; i < a_count && i < b_count; i++)
        different += a[i].count != b[i].count || strcmp(a[i].text, b[i].text) != 0;
    return different;
}

static bool count_all(const side *a, const side *b, uint64_t *counts)
{
    const haul_workload *const x = a->of, *const y = b->of;
    counts[DIFFERENT_OPS] = distance(x->op_count, y->op_count);
    counts[DIFFERENT_LOSSES] = count_notes(x->losses, x->loss_count, y->losses, y->loss_count);
    counts[DIFFERENT_NOTES] =
        count_notes(x->missing, x->missing_count, y->missing, y->missing_count) +
        count_notes(x->repairs, x->repair_count, y->repairs, y->repair_count);
    counts[DIFFERENT_ORIGIN] = x->rank != y->rank || x->epoch_ns != y->epoch_ns;
    for (size_t i = 0; i < x->device_count; i++) {
        const haul_workload_device *const mine = &x->devices[i];
        const haul_workload_device *const other =
            device_of(y, hl_trace_written_device(&a->places, i));
        counts[DIFFERENT_DEVICES] += !same_device(mine, other);
        counts[DIFFERENT_RANKS] +=
            other && (mine->rank != other->rank ||
                      strcmp(mine->host ? mine->host : "", other->host ? other->host : "") != 0);
    }
    uint64_t streams[2];
    if (!count_streams(x, &streams[0]) || !count_streams(y, &streams[1]))
        return false;
    counts[DIFFERENT_STREAMS] = distance(streams[0], streams[1]);
    counts[DIFFERENT_THREADS] = distance(x->thread_count, y->thread_count);
    counts[DIFFERENT_RANGES] = distance(x->range_count, y->range_count);
    for (size_t i = 0; x->range_count == y->range_count && i < x->range_count; i++)
        counts[DIFFERENT_RANGES] += x->ranges[i].start_ns != y->ranges[i].start_ns ||
                                    x->ranges[i].dur_ns != y->ranges[i].dur_ns ||
                                    !same_text(x, x->ranges[i].name, y, y->ranges[i].name);
    if (counts[DIFFERENT_OPS]) /* which is which cannot be told then */
        return true;
    for (size_t i = 0; i < x->op_count; i++)
        count_op(a, &x->ops[a->order[i]], b, &y->ops[b->order[i]], counts);
    return count_edges(a, b, &counts[DIFFERENT_WAITS]);
}

haul_status haul_trace_written_check(const haul_workload *workload, const char *path, char *text,
                                     size_t size, haul_error *error)
{
    haul_workload *read = NULL;
    uint64_t counts[DIFFERENCES] = {0};
    side a = {NULL}, b = {NULL};
    HAUL_TRY(haul_trace_load(path, &read, error));
    const bool done = make_side(&a, workload) && make_side(&b, read) && count_all(&a, &b, counts);
    release_side(&a);
    release_side(&b);
    haul_workload_free(read);
    if (!done)
        return hl_base_fail_no_memory(error);
    size_t used = 0;
    if (size)
        text[0] = '\0';
    for (int d = 0; d < DIFFERENCES; d++) {
        if (!counts[d] || used >= size)
            continue;
        const int added = snprintf(text + used, size - used, "%s%s (%" PRIu64 ")", used ? ", " : "",
                                   texts[d], counts[d]);
        used += added > 0 ? (size_t)added : 0;
    }
    return HAUL_OK;
}
