/* The order of operations: by start over the whole workload, by start on each stream, by call on
 * each thread. */
#include <stdlib.h>
#include <string.h>

#include "trace/trace_builder.h"

/* Files are in order of start but for neighbours, which haul_order_sort takes in one pass. */
uint32_t *haul_trace_by_start(haul_trace_builder *self)
{
    haul_builder *const built = &self->built;
    uint32_t *const order = haul_trace_scratch(self, built->op_count);
    for (uint32_t i = 0; order && i < built->op_count; i++)
        order[i] = i;
    const haul_keys starts = {.first = built->op_count ? &built->ops->start_ns : NULL,
                              .stride = sizeof *built->ops,
                              .flip = HAUL_KEYS_SIGNED};
    built->failed |= order && built->op_count && !haul_order_sort(order, built->op_count, &starts);
    return built->failed ? NULL : order;
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

/* Groups the operations by thread: those of thread t are order[ends[t - 1]] to order[ends[t] - 1],
 * by start. The links to the operation before are still the room of the call's key. */
static uint32_t *group_by_thread(haul_trace_builder *self, size_t *ends)
{
    haul_builder *built = &self->built;
    size_t total = 0;
    for (size_t i = 0; i < built->op_count; i++) {
        built->ops[i].thread_prev = HAUL_NONE;
        if (built->ops[i].thread == HAUL_NONE)
            continue;
        ends[built->ops[i].thread]++;
        total++;
    }
    for (size_t t = 0, sum = 0; t < built->threads.count; t++) {
        const size_t count = ends[t];
        ends[t] = sum;
        sum += count;
    }
    uint32_t *order = haul_trace_scratch(self, total);
    for (uint32_t i = 0; order && i < built->op_count; i++)
        if (built->ops[i].thread != HAUL_NONE)
            order[ends[built->ops[i].thread]++] = i;
    return order;
}

/* A thread's calls are in order of call, which is not that of start. */
static void link_threads(haul_trace_builder *self)
{
    haul_builder *built = &self->built;
    size_t *ends = calloc(built->threads.count + 1, sizeof *ends);
    uint32_t *order = ends ? group_by_thread(self, ends) : NULL;
    built->failed |= !order;
    const haul_keys keys = {&built->ops->call_ns, sizeof *built->ops, HAUL_KEYS_SIGNED};
    for (size_t t = 0, begin = 0; !built->failed && t < built->threads.count; begin = ends[t++]) {
        if (!haul_order_sort(order + begin, ends[t] - begin, &keys))
            built->failed = true;
        for (size_t i = begin + 1; i < ends[t]; i++)
            built->ops[order[i]].thread_prev = order[i - 1];
    }
    free(ends);
}

/* A copy blocks where its call returned after it had ended, unless the call is one that returns at
 * once and the copy was merely short. */
static void mark_blocking(haul_builder *built)
{
    for (size_t i = 0; i < built->op_count; i++) {
        haul_op *op = &built->ops[i];
        if (op->kind != HAUL_OP_COPY || !(op->flags & HAUL_OP_HAS_CALL) ||
            op->call_ns + op->call_dur_ns < op->start_ns + op->dur_ns)
            continue;
        const char *name = op->name < built->strings.count ? built->strings.texts[op->name] : "";
        if (op->detail != HAUL_PINNED || !strstr(name, "Async"))
            op->flags |= HAUL_OP_BLOCKS;
    }
}

/* Blocking copies are found first: their calls' keys share the room of the links. */
void haul_trace_links_make(haul_trace_builder *self)
{
    if (!self->built.op_count)
        return;
    mark_blocking(&self->built);
    uint32_t *const order = haul_trace_by_start(self);
    if (order)
        permute(self->built.ops, order, self->built.op_count);
    if (order)
        haul_builder_link_streams(&self->built);
    if (!self->built.failed)
        link_threads(self);
}
