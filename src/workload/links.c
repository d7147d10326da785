/* The order of operations: by start over the whole workload, by start on each stream, by call on
 * each thread. */
#include <stdlib.h>
#include <string.h>

#include "workload/builder.h"

static bool ops_sorted(const haul_builder *self)
{
    for (size_t i = 1; i < self->op_count; i++)
        if (self->ops[i].start_ns < self->ops[i - 1].start_ns)
            return false;
    return true;
}

/* Puts the operation of number order[i] at i, along the permutation's cycles, so that no second
 * copy of the operations is needed. */
static void permute(haul_op *ops, uint32_t *order, size_t count)
{
    for (uint32_t begin = 0; begin < count; begin++) {
        if (order[begin] == begin)
            continue;
        const haul_op first = ops[begin];
        uint32_t at = begin;
        while (order[at] != begin) {
            const uint32_t from = order[at];
            ops[at] = ops[from];
            order[at] = at;
            at = from;
        }
        ops[at] = first;
        order[at] = at;
    }
}

static void sort_ops(haul_builder *self)
{
    if (ops_sorted(self))
        return;
    uint32_t *order = haul_builder_scratch(self, self->op_count);
    if (!order)
        return;
    for (uint32_t i = 0; i < self->op_count; i++)
        order[i] = i;
    const haul_keys keys = {&self->ops->start_ns, sizeof *self->ops, HAUL_KEYS_SIGNED};
    if (haul_order_sort(order, self->op_count, &keys))
        permute(self->ops, order, self->op_count);
    else
        self->failed = true;
}

static uint32_t *fill_none(size_t count)
{
    uint32_t *items = malloc((count + 1) * sizeof *items);
    if (items)
        for (size_t i = 0; i < count; i++)
            items[i] = HAUL_NONE;
    return items;
}

static void link_streams(haul_builder *self)
{
    uint32_t *last = fill_none(self->streams.count);
    if (!last) {
        self->failed = true;
        return;
    }
    for (size_t i = 0; i < self->op_count; i++) {
        haul_op *op = &self->ops[i];
        op->stream_prev = op->thread_prev = HAUL_NONE;
        if (!haul_op_on_device(op) || op->stream == HAUL_NONE)
            continue;
        op->stream_prev = last[op->stream];
        last[op->stream] = (uint32_t)i;
    }
    free(last);
}

/* Groups the operations by thread: those of thread t are order[ends[t - 1]] to order[ends[t] - 1],
 * by start. */
static uint32_t *group_by_thread(haul_builder *self, size_t *ends)
{
    size_t total = 0;
    for (size_t i = 0; i < self->op_count; i++)
        if (self->ops[i].thread != HAUL_NONE) {
            ends[self->ops[i].thread]++;
            total++;
        }
    for (size_t t = 0, sum = 0; t < self->threads.count; t++) {
        const size_t count = ends[t];
        ends[t] = sum;
        sum += count;
    }
    uint32_t *order = haul_builder_scratch(self, total);
    for (uint32_t i = 0; order && i < self->op_count; i++)
        if (self->ops[i].thread != HAUL_NONE)
            order[ends[self->ops[i].thread]++] = i;
    return order;
}

static void link_threads(haul_builder *self)
{
    if (!self->threads.count)
        return;
    size_t *ends = calloc(self->threads.count, sizeof *ends);
    uint32_t *order = ends ? group_by_thread(self, ends) : NULL;
    self->failed |= !order;
    const haul_keys keys = {&self->ops->call_ns, sizeof *self->ops, HAUL_KEYS_SIGNED};
    for (size_t t = 0, begin = 0; !self->failed && t < self->threads.count; begin = ends[t++]) {
        if (!haul_order_sort(order + begin, ends[t] - begin, &keys))
            self->failed = true;
        for (size_t i = begin + 1; i < ends[t]; i++)
            self->ops[order[i]].thread_prev = order[i - 1];
    }
    free(ends);
}

/* A copy blocks where its call returned after it had ended, unless the call is one that returns at
 * once and the copy was merely short. */
static void mark_blocking(haul_builder *self)
{
    for (size_t i = 0; i < self->op_count; i++) {
        haul_op *op = &self->ops[i];
        if (op->kind != HAUL_OP_COPY || !(op->flags & HAUL_OP_HAS_CALL) ||
            op->call_ns + op->call_dur_ns < op->start_ns + op->dur_ns)
            continue;
        const char *name = op->name < self->strings.count ? self->strings.texts[op->name] : "";
        if (op->detail != HAUL_PINNED || !strstr(name, "Async"))
            op->flags |= HAUL_OP_BLOCKS;
    }
}

void haul_links_make(haul_builder *self)
{
    if (!self->op_count)
        return;
    mark_blocking(self);
    sort_ops(self);
    if (!self->failed)
        link_streams(self);
    if (!self->failed)
        link_threads(self);
}
