/* Arrays grow as operations come and become the workload's own without a copy; streams, threads and
 * shapes are kept once each, so that an operation names them by a number. */
#include "workload/builder.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/fail.h"
#include "base/grow.h"
#include "base/intervals.h"
#include "base/order.h"
#include "workload/collective_name.h"

static const size_t most_ops = (size_t)1 << HL_WORKLOAD_BUILDER_OPS_LOG2;

/* Sizes of records are set once: tables compare whole records byte for byte. */
void hl_workload_builder_init(hl_workload_builder *self)
{
    *self = (hl_workload_builder){
        .streams.size = sizeof(haul_workload_stream),
        .threads.size = sizeof(haul_workload_thread),
        .shapes.size = sizeof(haul_shape),
        .collectives.size = sizeof(haul_collective),
        .operands.size = sizeof(haul_operands),
        .rank = -1,
    };
}

void hl_workload_builder_init_from(hl_workload_builder *self, const haul_workload *from)
{
    hl_workload_builder_init(self);
    self->from = from;
    for (size_t s = 0; s < from->stream_count; s++)
        hl_workload_builder_stream(self, &from->streams[s]);
}

/* The builder may be used again afterwards. */
void hl_workload_builder_release(hl_workload_builder *self)
{
    hl_base_arena_release(&self->arena);
    hl_base_strings_release(&self->strings);
    free(self->ops);
    for (int i = 0; i < HL_WORKLOAD_ORIGINS; i++)
        free(self->origins[i]);
    free(self->edges);
    hl_base_records_release(&self->streams);
    hl_base_records_release(&self->threads);
    hl_base_records_release(&self->shapes);
    hl_base_records_release(&self->collectives);
    hl_base_records_release(&self->operands);
    free(self->ranges);
    free(self->mpi_calls);
    free(self->devices);
    free(self->losses.items);
    free(self->missing.items);
    free(self->repairs.items);
    hl_workload_builder_init(self);
}

/* After the first failure nothing grows, so that callers need not look between their steps. */
bool hl_workload_builder_grow(hl_workload_builder *self, void *items, size_t *capacity,
                              size_t needed, size_t item_size)
{
    if (!self->failed && !hl_base_grow(items, capacity, needed, item_size))
        self->failed = true;
    return !self->failed;
}

/* A wish: without the memory operations find room as they come. */
void hl_workload_builder_reserve(hl_workload_builder *self, uint64_t ops)
{
    if (ops < most_ops)
        (void)hl_base_grow(&self->ops, &self->op_capacity, (size_t)ops, sizeof *self->ops);
}

static uint32_t intern(hl_workload_builder *self, hl_base_records *records, const void *item)
{
    const uint32_t number = hl_base_records_add(records, item);
    self->failed |= number == HAUL_NONE;
    return number;
}

/* The failure of one string is the builder's: no operation is left with a wrong name. */
uint32_t hl_workload_builder_string(hl_workload_builder *self, const char *text, size_t length)
{
    const uint32_t id = hl_base_strings_add(&self->strings, text, length);
    self->failed |= id == HAUL_NONE;
    return id;
}

/* Devices are not compared: the caller knows which are the same. */
uint32_t hl_workload_builder_device(hl_workload_builder *self, uint64_t id)
{
    if (!hl_workload_builder_grow(self, &self->devices, &self->device_capacity,
                                  self->device_count + 1, sizeof *self->devices))
        return HAUL_NONE;
    self->devices[self->device_count] = (haul_workload_device){.id = id, .rank = -1};
    return (uint32_t)self->device_count++;
}

/* Records are compared byte for byte: their padding must be 0. */
uint32_t hl_workload_builder_stream(hl_workload_builder *self, const haul_workload_stream *stream)
{
    haul_workload_stream key;
    memset(&key, 0, sizeof key);
    key.device = stream->device;
    key.process = stream->process;
    key.context = stream->context;
    key.id = stream->id;
    key.name = stream->name;
    key.is_default = stream->is_default;
    return intern(self, &self->streams, &key);
}

/* A thread's fields have no padding, as a shape's have none. */
uint32_t hl_workload_builder_thread(hl_workload_builder *self, const haul_workload_thread *thread)
{
    return intern(self, &self->threads, thread);
}

uint32_t hl_workload_builder_shape(hl_workload_builder *self, const haul_shape *shape)
{
    return intern(self, &self->shapes, shape);
}

/* Numbers of operations have 31 bits, so that twice as many fit in 32. */
uint32_t hl_workload_builder_op(hl_workload_builder *self, const haul_op *op)
{
    self->failed |= self->op_count >= most_ops;
    if (!hl_workload_builder_grow(self, &self->ops, &self->op_capacity, self->op_count + 1,
                                  sizeof *self->ops))
        return HAUL_NONE;
    self->ops[self->op_count] = *op;
    return (uint32_t)self->op_count++;
}

uint32_t *hl_workload_builder_origins(hl_workload_builder *self, int kind)
{
    uint32_t **const made = &self->origins[kind];
    if (!*made && !self->failed) {
        *made = malloc((self->op_count + 1) * sizeof **made);
        self->failed |= !*made;
        if (*made)
            memset(*made, 0xff, self->op_count * sizeof **made);
    }
    return self->failed ? NULL : *made;
}

void hl_workload_builder_range(hl_workload_builder *self, const haul_named_range *range)
{
    if (hl_workload_builder_grow(self, &self->ranges, &self->range_capacity, self->range_count + 1,
                                 sizeof *self->ranges))
        self->ranges[self->range_count++] = *range;
}

void hl_workload_builder_span(hl_workload_builder *self, hl_workload_spans *spans,
                              const haul_named_range *span)
{
    if (span->dur_ns >= 0 && hl_base_is_recorded_time(span->start_ns) && !self->failed)
        self->failed = !hl_workload_spans_add(spans, span);
}

/* Numbered from 1, since 0 is a shape without one. */
uint32_t hl_workload_builder_collective(hl_workload_builder *self,
                                        const haul_collective *collective)
{
    const uint32_t number = intern(self, &self->collectives, collective);
    return number == HAUL_NONE ? 0 : number + 1;
}

uint32_t hl_workload_builder_operands(hl_workload_builder *self, const haul_operands *operands)
{
    const uint32_t number = intern(self, &self->operands, operands);
    return number == HAUL_NONE ? 0 : number + 1;
}

/* Texts are few and mostly literals: a list is looked through. */
void hl_workload_note_add(hl_workload_builder *self, hl_workload_note_list *list, uint64_t count,
                          const char *text)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->items[i].text, text)) {
            list->items[i].count += count;
            return;
        }
    const char *kept = hl_base_arena_string(&self->arena, text);
    self->failed |= !kept;
    if (hl_workload_builder_grow(self, &list->items, &list->capacity, list->count + 1,
                                 sizeof *list->items))
        list->items[list->count++] = (haul_note){.text = kept, .count = count};
}

/* Edges may come twice and in any order: they are sorted at the end. */
void hl_workload_builder_edge(hl_workload_builder *self, uint32_t before, uint32_t after)
{
    if (hl_workload_builder_grow(self, &self->edges, &self->edge_capacity, self->edge_count + 1,
                                 sizeof *self->edges))
        self->edges[self->edge_count++] = (haul_edge){before, after};
}

/* --- the workload */

/* Links operations to the one before them on their stream, or on their thread. */
static void link_ops(hl_workload_builder *self, bool of_threads)
{
    const size_t count = of_threads ? self->threads.count : self->streams.count;
    uint32_t *last = malloc((count + 1) * sizeof *last);
    if (last)
        memset(last, 0xff, count * sizeof *last);
    self->failed |= !last;
    for (uint32_t i = 0; last && i < self->op_count; i++) {
        haul_op *const op = &self->ops[i];
        uint32_t *const link = of_threads ? &op->thread_prev : &op->stream_prev;
        const uint32_t of = of_threads              ? op->thread
                            : haul_op_on_device(op) ? op->stream
                                                    : HAUL_NONE;
        *link = of == HAUL_NONE ? HAUL_NONE : last[of];
        if (of != HAUL_NONE)
            last[of] = i;
    }
    free(last);
}

/* For readers, which order threads by call themselves. */
void hl_workload_builder_link_streams(hl_workload_builder *self)
{
    link_ops(self, false);
}

static int compare_edges(const void *a, const void *b)
{
    const haul_edge *x = a, *y = b;
    const int order = hl_base_compare_unsigned(x->after, y->after);
    return order ? order : hl_base_compare_unsigned(x->before, y->before);
}

/* By their later ends, each once. */
static void sort_edges(hl_workload_builder *self)
{
    size_t sorted = 1, kept = 1;
    while (sorted < self->edge_count &&
           compare_edges(&self->edges[sorted - 1], &self->edges[sorted]) < 0)
        sorted++;
    if (sorted >= self->edge_count)
        return;
    qsort(self->edges, self->edge_count, sizeof *self->edges, compare_edges);
    for (size_t i = 1; i < self->edge_count; i++)
        if (compare_edges(&self->edges[i], &self->edges[kept - 1]))
            self->edges[kept++] = self->edges[i];
    self->edge_count = kept;
}

/* Ranges in order of start, the longest first: an outer one comes before those that it holds. */
static int compare_ranges(const void *a, const void *b)
{
    const haul_named_range *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return hl_base_compare_signed(y->dur_ns, x->dur_ns);
}

/* A file of two machines does not tell which device is in which. */
void hl_workload_builder_host(hl_workload_builder *self, const char *name, size_t length)
{
    if (!self->host && length) {
        self->host = hl_base_arena_text(&self->arena, name, length);
        self->failed |= !self->host;
    } else if (length && (strlen(self->host) != length || memcmp(self->host, name, length) != 0)) {
        self->host = "";
    }
}

/* Takes the arrays that no other workload shares. */
static void take_own(hl_workload_builder *self, hl_workload_owned_workload *owned)
{
    haul_workload *seen = &owned->seen;
    seen->thread_count = self->threads.count;
    seen->threads = hl_base_records_take(&self->threads);
    seen->shape_count = self->shapes.count;
    seen->shapes = hl_base_records_take(&self->shapes);
    seen->collective_count = self->collectives.count;
    seen->collectives = hl_base_records_take(&self->collectives);
    seen->operand_count = self->operands.count;
    seen->operands = hl_base_records_take(&self->operands);
    hl_base_shrink(&self->ranges, &self->range_capacity, self->range_count, sizeof *self->ranges);
    hl_base_order_items(self->ranges, self->range_count, sizeof *self->ranges, compare_ranges);
    seen->range_count = self->range_count;
    seen->ranges = self->ranges;
    seen->epoch_ns = self->epoch_ns;
    seen->rank = self->rank;
    for (size_t i = 0; self->host && *self->host && i < self->device_count; i++)
        if (!self->devices[i].host)
            self->devices[i].host = self->host;
    seen->device_count = self->device_count;
    seen->devices = self->devices;
    seen->loss_count = self->losses.count;
    seen->losses = self->losses.items;
    seen->missing_count = self->missing.count;
    seen->missing = self->missing.items;
    seen->repair_count = self->repairs.count;
    seen->repairs = self->repairs.items;
    self->losses = self->missing = self->repairs = (hl_workload_note_list){0};
    owned->arena = self->arena;
    owned->strings = self->strings;
    hl_base_index_release(&owned->strings.index); /* no text is sought in it any more */
    hl_base_shrink(&owned->strings.texts, &owned->strings.capacity, owned->strings.count,
                   sizeof *owned->strings.texts);
    self->devices = NULL;
    self->ranges = NULL;
    self->arena = (hl_base_arena){0};
    self->strings = (hl_base_strings){0};
}

/* Arrays shared with another workload stay with that one. */
static void take_all(hl_workload_builder *self, hl_workload_owned_workload *owned)
{
    haul_workload *seen = &owned->seen;
    owned->shares = self->from;
    if (self->from) {
        *seen = *self->from;
        owned->strings = ((const hl_workload_owned_workload *)self->from)->strings;
    } else {
        take_own(self, owned);
    }
    if (!self->from) {
        owned->mpi_calls = self->mpi_calls;
        owned->mpi_call_count = self->mpi_call_count;
        self->mpi_calls = NULL;
    }
    hl_base_shrink(&self->ops, &self->op_capacity, self->op_count, sizeof *self->ops);
    hl_base_shrink(&self->edges, &self->edge_capacity, self->edge_count, sizeof *self->edges);
    seen->ops = self->ops;
    seen->operators = self->origins[HL_WORKLOAD_OPERATOR];
    seen->lines = self->origins[HL_WORKLOAD_LINE];
    seen->stacks = self->origins[HL_WORKLOAD_STACK];
    seen->op_count = self->op_count;
    seen->edges = self->edges;
    seen->edge_count = self->edge_count;
    seen->stream_count = self->streams.count;
    seen->streams = hl_base_records_take(&self->streams);
    self->ops = NULL;
    memset(self->origins, 0, sizeof self->origins);
    self->edges = NULL;
}

/* Names of kernels are few, so each is looked at once. */
static void mark_collectives(const haul_workload *workload, haul_op *ops,
                             const hl_base_strings *names)
{
    enum { UNSEEN, OTHER, COLLECTIVE };
    unsigned char *seen = calloc(names->count + 1, 1);
    for (size_t i = 0; i < workload->op_count; i++) {
        haul_op *op = &ops[i];
        if (op->kind != HAUL_OP_KERNEL || op->name >= names->count)
            continue;
        unsigned char *of = seen ? &seen[op->name] : &(unsigned char){UNSEEN};
        if (*of == UNSEEN)
            *of = hl_workload_is_collective_name(names->texts[op->name]) ? COLLECTIVE : OTHER;
        if (*of == COLLECTIVE)
            op->flags |= HAUL_OP_COLLECTIVE;
    }
    free(seen);
}

/* Edges that were added twice count once; orphans are counted here, so that every builder's
 * workload has them. */
haul_status hl_workload_builder_hand_over(hl_workload_builder *self, const char *source,
                                          const char *format, haul_workload **workload,
                                          haul_error *error)
{
    const char *kept_source = hl_base_arena_string(&self->arena, source);
    const char *kept_format = hl_base_arena_string(&self->arena, format);
    hl_workload_owned_workload *owned = calloc(1, sizeof *owned);
    if (self->failed || self->arena.failed || !kept_source || !kept_format || !owned) {
        free(owned);
        hl_workload_builder_release(self);
        return hl_base_fail_no_memory(error);
    }
    sort_edges(self);
    take_all(self, owned);
    haul_workload *const seen = &owned->seen;
    mark_collectives(seen, (haul_op *)seen->ops, &owned->strings);
    seen->counts.device_ops = seen->counts.orphans = seen->counts.calls = 0;
    for (size_t i = 0; i < seen->op_count; i++) {
        const bool has_call = seen->ops[i].flags & HAUL_OP_HAS_CALL;
        const bool on_device = haul_op_on_device(&seen->ops[i]);
        seen->counts.device_ops += on_device;
        seen->counts.orphans += on_device && !has_call;
        seen->counts.calls += has_call;
    }
    if (!owned->shares) {
        seen->source = kept_source;
        seen->format = kept_format;
    }
    hl_workload_builder_release(self);
    *workload = seen;
    return HAUL_OK;
}

/* Operations were added in order, so the links are made by looking back once. */
haul_status hl_workload_builder_finish(hl_workload_builder *self, const char *source,
                                       const char *format, haul_workload **workload,
                                       haul_error *error)
{
    if (!self->failed) {
        hl_workload_builder_link_streams(self);
        link_ops(self, true);
    }
    return hl_workload_builder_hand_over(self, source, format, workload, error);
}
