/* A sweep over the operations in order of start: between two starts a class of operations runs
 * until the latest of its ends. */
#include "haul/breakdown.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/intervals.h"
#include "base/order.h"

/* Copies of other directions than these are a class of their own. */
typedef enum op_class { CLASS_KERNEL, CLASS_IN, CLASS_OUT, CLASS_OTHER, CLASSES } op_class;

typedef struct sweep {
    const haul_workload *workload;
    const haul_span *spans;
    uint64_t kernels;
    uint64_t hidden;
    uint64_t both_ways;
    uint64_t exposed;
    uint64_t idle;
    int64_t now_ns;
    int64_t start_ns;
    int64_t end_ns;
    int64_t ends_ns[CLASSES];
    bool begun;
} sweep;

/* Memsets run where kernels do, and count as such. */
static op_class class_of(const haul_op *op)
{
    switch ((haul_op_kind)op->kind) {
    case HAUL_OP_COPY:
        return op->direction == HAUL_DIRECTION_HTOD   ? CLASS_IN
               : op->direction == HAUL_DIRECTION_DTOH ? CLASS_OUT
                                                      : CLASS_OTHER;
    case HAUL_OP_MESSAGE:
        return CLASS_OTHER;
    case HAUL_OP_MEMSET:
    case HAUL_OP_KERNEL:
    case HAUL_OP_SYNC:
    case HAUL_OP_CALL:
        break;
    }
    return CLASS_KERNEL;
}

/* Gives the time until then, interval by interval, to the sum that it belongs to. */
static void advance(sweep *self, int64_t until_ns)
{
    while (self->now_ns < until_ns) {
        const bool kernels = self->ends_ns[CLASS_KERNEL] > self->now_ns;
        int64_t next_ns = until_ns;
        int copies = -kernels;
        for (int c = 0; c < CLASSES; c++)
            if (self->ends_ns[c] > self->now_ns) {
                copies++;
                next_ns = self->ends_ns[c] < next_ns ? self->ends_ns[c] : next_ns;
            }
        uint64_t *part = kernels      ? copies ? &self->hidden : &self->kernels
                         : copies > 1 ? &self->both_ways
                         : copies     ? &self->exposed
                                      : &self->idle;
        *part += (uint64_t)next_ns - (uint64_t)self->now_ns;
        self->now_ns = next_ns;
    }
}

/* Classes hold their latest end, so overlapping operations of a class count once. */
static void add_op(sweep *self, uint32_t op)
{
    const haul_op *recorded = &self->workload->ops[op];
    const haul_span span =
        self->spans
            ? self->spans[op]
            : (haul_span){recorded->start_ns, hl_base_end_of(recorded->start_ns, recorded->dur_ns)};
    if (!self->begun) {
        self->begun = true;
        self->now_ns = self->start_ns = self->end_ns = span.start_ns;
        for (int c = 0; c < CLASSES; c++)
            self->ends_ns[c] = span.start_ns;
    }
    advance(self, span.start_ns);
    int64_t *end_ns = &self->ends_ns[class_of(recorded)];
    *end_ns = span.end_ns > *end_ns ? span.end_ns : *end_ns;
    self->end_ns = span.end_ns > self->end_ns ? span.end_ns : self->end_ns;
}

/* The device's operations in order of `spans`; NULL without memory. */
static uint32_t *order_by_start(const haul_workload *workload, const haul_span *spans,
                                size_t *count)
{
    uint32_t *order = malloc((workload->op_count + 1) * sizeof *order);
    *count = 0;
    for (uint32_t i = 0; order && i < workload->op_count; i++)
        if (haul_op_on_device(&workload->ops[i]))
            order[(*count)++] = i;
    const hl_base_keys starts = {&spans->start_ns, sizeof *spans, HL_KEYS_SIGNED};
    if (order && !hl_base_order_sort(order, *count, &starts)) {
        free(order);
        return NULL;
    }
    return order;
}

/* Recorded operations are in order of start already; a timeline's are not. */
haul_status haul_breakdown_make(const haul_workload *workload, const haul_span *spans,
                                haul_breakdown *breakdown, haul_error *error)
{
    sweep self = {.workload = workload, .spans = spans};
    size_t count = 0;
    uint32_t *order = spans ? order_by_start(workload, spans, &count) : NULL;
    if (spans && !order)
        return hl_base_fail_no_memory(error);
    for (size_t i = 0; i < count; i++)
        add_op(&self, order[i]);
    for (uint32_t i = 0; !spans && i < workload->op_count; i++)
        if (haul_op_on_device(&workload->ops[i]))
            add_op(&self, i);
    free(order);
    if (self.begun)
        advance(&self, self.end_ns);
    *breakdown = (haul_breakdown){
        .makespan_ns = hl_base_clamp_ns((uint64_t)self.end_ns - (uint64_t)self.start_ns),
        .kernels_ns = hl_base_clamp_ns(self.kernels),
        .hidden_ns = hl_base_clamp_ns(self.hidden),
        .both_ways_ns = hl_base_clamp_ns(self.both_ways),
        .exposed_ns = hl_base_clamp_ns(self.exposed),
        .idle_ns = hl_base_clamp_ns(self.idle),
    };
    return HAUL_OK;
}
