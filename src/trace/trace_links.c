/* The order of operations: by start over the whole workload, by start on each stream, by call on
 * each thread. */
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "trace/thread_turns.h"
#include "trace/trace_builder.h"

/* Files are in order of start but for neighbours, which hl_base_order_sort takes in one pass. */
uint32_t *hl_trace_by_start(hl_trace_builder *self)
{
    hl_workload_builder *const built = &self->built;
    uint32_t *const order = hl_trace_scratch(self, built->op_count);
    for (uint32_t i = 0; order && i < built->op_count; i++)
        order[i] = i;
    const hl_base_keys starts = {.first = built->op_count ? &built->ops->start_ns : NULL,
                                 .stride = sizeof *built->ops,
                                 .flip = HL_KEYS_SIGNED};
    built->failed |=
        order && built->op_count && !hl_base_order_sort(order, built->op_count, &starts);
    return built->failed ? NULL : order;
}

/* Of operations that start together, the one called first comes first, then the kinds in their
 * order: tables of one kind and lists of all kinds then give one order. */
typedef struct tie {
    int64_t call_ns;
    uint32_t kind;
    uint32_t op;
} tie;

static int compare_ties(const void *a, const void *b)
{
    const tie *const x = a, *const y = b;
    const int call = hl_base_compare_signed(x->call_ns, y->call_ns);
    const int kind = hl_base_compare_unsigned(x->kind, y->kind);
    return call ? call : kind ? kind : hl_base_compare_unsigned(x->op, y->op);
}

static void order_ties(hl_workload_builder *built, uint32_t *order)
{
    tie *ties = NULL;
    size_t capacity = 0;
    for (size_t begin = 0, end; begin < built->op_count && !built->failed; begin = end) {
        const int64_t start_ns = built->ops[order[begin]].start_ns;
        for (end = begin + 1; end < built->op_count; end++)
            if (built->ops[order[end]].start_ns != start_ns)
                break;
        if (end - begin < 2 ||
            !hl_workload_builder_grow(built, &ties, &capacity, end - begin, sizeof *ties))
            continue;
        for (size_t i = begin; i < end; i++) {
            const haul_op *const op = &built->ops[order[i]];
            const bool is_called = op->flags & HAUL_OP_HAS_CALL;
            ties[i - begin] =
                (tie){is_called ? op->call_ns : INT64_MAX, (uint32_t)op->kind, order[i]};
        }
        hl_base_order_items(ties, end - begin, sizeof *ties, compare_ties);
        for (size_t i = begin; i < end; i++)
            order[i] = ties[i - begin].op;
    }
    free(ties);
}

/* An operation with its origins. */
typedef struct whole_op {
    haul_op op;
    uint32_t origins[HL_WORKLOAD_ORIGINS];
} whole_op;

static whole_op take_op(const hl_workload_builder *built, uint32_t at)
{
    whole_op taken = {.op = built->ops[at]};
    for (int k = 0; k < HL_WORKLOAD_ORIGINS; k++)
        taken.origins[k] = built->origins[k] ? built->origins[k][at] : HAUL_NONE;
    return taken;
}

static void put_op(hl_workload_builder *built, uint32_t at, const whole_op *taken)
{
    built->ops[at] = taken->op;
    for (int k = 0; k < HL_WORKLOAD_ORIGINS; k++)
        if (built->origins[k])
            built->origins[k][at] = taken->origins[k];
}

/* Puts the operation of number order[i] at i, along the permutation's cycles, so that no second
 * copy of the operations is needed. */
static void permute(hl_workload_builder *built, uint32_t *order)
{
    for (uint32_t begin = 0; begin < built->op_count; begin++) {
        if (order[begin] == begin)
            continue;
        const whole_op first = take_op(built, begin);
        uint32_t at = begin;
        while (order[at] != begin) {
            const uint32_t from = order[at];
            const whole_op next = take_op(built, from);
            put_op(built, at, &next);
            order[at] = at;
            at = from;
        }
        put_op(built, at, &first);
        order[at] = at;
    }
}

/* Groups the operations by thread: those of thread t are order[ends[t - 1]] to order[ends[t] - 1],
 * by start. The links to the operation before are still the room of the call's key. */
static uint32_t *group_by_thread(hl_trace_builder *self, size_t *ends)
{
    hl_workload_builder *built = &self->built;
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
    uint32_t *order = hl_trace_scratch(self, total);
    for (uint32_t i = 0; order && i < built->op_count; i++)
        if (built->ops[i].thread != HAUL_NONE)
            order[ends[built->ops[i].thread]++] = i;
    return order;
}

/* A thread's calls are in order of call, which is not that of start. */
static void link_threads(hl_trace_builder *self)
{
    hl_workload_builder *built = &self->built;
    size_t *ends = calloc(built->threads.count + 1, sizeof *ends);
    uint32_t *order = ends ? group_by_thread(self, ends) : NULL;
    uint32_t two[2];
    built->failed |= !order;
    const hl_base_keys keys = {&built->ops->call_ns, sizeof *built->ops, HL_KEYS_SIGNED};
    for (size_t t = 0, begin = 0; !built->failed && t < built->threads.count; begin = ends[t++]) {
        if (!hl_base_order_sort(order + begin, ends[t] - begin, &keys))
            built->failed = true;
        for (size_t i = begin + 1; i < ends[t]; i++)
            built->ops[order[i]].thread_prev = order[i - 1];
    }
    if (!built->failed && hl_trace_threads_take_turns(built, order, ends, two)) {
        /* Two threads that take turns are one chain of calls. */
        size_t at[2];
        for (int i = 0; i < 2; i++)
            at[i] = two[i] ? ends[two[i] - 1] : 0;
        for (uint32_t before = HAUL_NONE; at[0] < ends[two[0]] || at[1] < ends[two[1]];) {
            const bool second = at[0] == ends[two[0]] ||
                                (at[1] < ends[two[1]] && built->ops[order[at[1]]].call_ns <
                                                             built->ops[order[at[0]]].call_ns);
            const uint32_t op = order[at[second]++];
            built->ops[op].thread_prev = before;
            before = op;
        }
    }
    free(ends);
}

/* Clocks may let a call return before the end of what it waited for, by so much (wait_edges.c). */
static const int64_t skew_ns = 20000;

static int64_t returned_after_ns(const haul_op *op)
{
    return op->call_ns + op->call_dur_ns - (op->start_ns + op->dur_ns);
}

/* With CUDA_LAUNCH_BLOCKING, and on a device that is the host, a launch returns when its kernel has
 * ended: half of the call at least was that wait, and the kernel was not merely short. Clocks may
 * let it return before the end by a tenth of the kernel at most. */
static bool is_blocking_launch(const haul_op *op)
{
    const int64_t not_short_ns = 20000, return_ns = 100000, since_ns = returned_after_ns(op);
    return (op->kind == HAUL_OP_KERNEL || op->kind == HAUL_OP_MEMSET) &&
           op->dur_ns >= not_short_ns && since_ns >= -skew_ns && since_ns >= -(op->dur_ns / 10) &&
           since_ns <= return_ns && op->dur_ns >= op->call_dur_ns / 2;
}

static bool may_block(const hl_workload_builder *built, const haul_op *op)
{
    const hl_base_strings *strings = &built->strings;
    const char *name = op->name < strings->count ? strings->texts[op->name] : "";
    return op->kind == HAUL_OP_COPY && (op->detail != HAUL_MEMORY_PINNED || !strstr(name, "Async"));
}

/* By clocks that differ the call may return before, in the copy's second half: it was a wait where
 * it was long, and for most of it what was queued on the stream before ran, up to the copy. */
static void mark_skewed_copies(hl_workload_builder *built)
{
    const int64_t long_ns = 5 * skew_ns;
    for (size_t i = 0; i < built->op_count; i++) {
        haul_op *op = &built->ops[i];
        const int64_t since_ns = returned_after_ns(op);
        if (!(op->flags & HAUL_OP_HAS_CALL) || op->stream_prev == HAUL_NONE || since_ns >= 0 ||
            since_ns < -skew_ns || since_ns < -(op->dur_ns / 2) || !may_block(built, op))
            continue;
        const haul_op *before = &built->ops[op->stream_prev];
        const int64_t free_ns = before->start_ns + before->dur_ns, busy_ns = free_ns - op->call_ns;
        if (busy_ns >= long_ns && busy_ns >= op->call_dur_ns / 2 &&
            op->start_ns - free_ns <= skew_ns)
            op->flags |= HAUL_OP_BLOCKS;
    }
}

/* A copy blocks where its call returned after it had ended, unless the call is one that returns at
 * once and the copy was merely short. Blocking copies are found first: their calls' keys share the
 * room of the links. */
void hl_trace_links_make(hl_trace_builder *self)
{
    if (!self->built.op_count)
        return;
    for (size_t i = 0; i < self->built.op_count; i++) {
        haul_op *op = &self->built.ops[i];
        if (op->flags & HAUL_OP_HAS_CALL &&
            (is_blocking_launch(op) || (returned_after_ns(op) >= 0 && may_block(&self->built, op))))
            op->flags |= HAUL_OP_BLOCKS;
    }
    uint32_t *const order = hl_trace_by_start(self);
    if (order)
        order_ties(&self->built, order);
    if (order && !self->built.failed)
        permute(&self->built, order);
    if (order && !self->built.failed)
        hl_workload_builder_link_streams(&self->built);
    if (!self->built.failed)
        mark_skewed_copies(&self->built);
    if (!self->built.failed)
        link_threads(self);
}
