/* The order of operations: by start over the whole workload, by start on each stream, by call on
 * each thread. */
#include <stdlib.h>

#include "workload/builder.h"

static bool ops_sorted(const haul_builder *self)
{
    for (size_t i = 1; i < self->op_count; i++)
        if (self->ops[i].start_ns < self->ops[i - 1].start_ns)
            return false;
    return true;
}

/* Puts the operation of number keys[i].index at i, along the permutation's cycles, so that no
 * second copy of the operations is needed. */
static void permute(haul_op *ops, haul_key *keys, size_t count)
{
    for (size_t begin = 0; begin < count; begin++) {
        if (keys[begin].index == begin)
            continue;
        const haul_op first = ops[begin];
        size_t at = begin;
        while (keys[at].index != begin) {
            const size_t from = keys[at].index;
            ops[at] = ops[from];
            keys[at].index = (uint32_t)at;
            at = from;
        }
        ops[at] = first;
        keys[at].index = (uint32_t)at;
    }
}

static void sort_ops(haul_builder *self)
{
    if (ops_sorted(self))
        return;
    haul_key *keys = haul_builder_scratch(self, self->op_count);
    if (!keys)
        return;
    for (size_t i = 0; i < self->op_count; i++)
        keys[i] = (haul_key){haul_key_of_signed(self->ops[i].start_ns), (uint32_t)i};
    if (haul_keys_sort(keys, self->op_count))
        permute(self->ops, keys, self->op_count);
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
        if (op->kind > HAUL_OP_KERNEL || op->stream == HAUL_NONE)
            continue;
        op->stream_prev = last[op->stream];
        last[op->stream] = (uint32_t)i;
    }
    free(last);
}

/* Groups the operations by thread: those of thread t are keys[ends[t - 1]] to keys[ends[t] - 1], by
 * start, each with its call's start as key. */
static haul_key *group_by_thread(haul_builder *self, size_t *ends)
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
    haul_key *keys = haul_builder_scratch(self, total);
    for (size_t i = 0; keys && i < self->op_count; i++) {
        const haul_op *op = &self->ops[i];
        if (op->thread != HAUL_NONE)
            keys[ends[op->thread]++] = (haul_key){haul_key_of_signed(op->call_ns), (uint32_t)i};
    }
    return keys;
}

static void link_threads(haul_builder *self)
{
    if (!self->threads.count)
        return;
    size_t *ends = calloc(self->threads.count, sizeof *ends);
    haul_key *keys = ends ? group_by_thread(self, ends) : NULL;
    self->failed |= !keys;
    for (size_t t = 0, begin = 0; !self->failed && t < self->threads.count; begin = ends[t++]) {
        if (!haul_keys_sort(keys + begin, ends[t] - begin))
            self->failed = true;
        for (size_t i = begin + 1; i < ends[t]; i++)
            self->ops[keys[i].index].thread_prev = keys[i - 1].index;
    }
    free(ends);
}

void haul_links_make(haul_builder *self)
{
    sort_ops(self);
    if (!self->failed)
        link_streams(self);
    if (!self->failed)
        link_threads(self);
}
