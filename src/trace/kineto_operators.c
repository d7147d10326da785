/* Operators of a Kineto trace: which one called for each operation, and the sizes of its tensors
 * for the kernels that were launched within it. */
#include <stdlib.h>

#include "base/compare.h"
#include "base/intervals.h"
#include "base/order.h"
#include "trace/kineto.h"

static void keep_span(hl_trace_kineto_reader *self, uint32_t name, uint32_t thread, int64_t dur_ns)
{
    hl_workload_builder_span(
        &self->builder->built, &self->scopes,
        &(haul_named_range){.start_ns = hl_trace_kineto_number(self, HL_TRACE_KINETO_START),
                            .dur_ns = dur_ns,
                            .name = name,
                            .thread = thread});
}

/* The span is the call's beginning alone, and not that of calls which it makes. */
void hl_trace_kineto_keep_call_operator(hl_trace_kineto_reader *self, uint32_t name)
{
    keep_span(self, name, hl_trace_kineto_thread(self), 1);
}

void hl_trace_kineto_keep_operator(hl_trace_kineto_reader *self, uint32_t name)
{
    const uint32_t thread = hl_trace_kineto_thread(self);
    keep_span(self, name, thread, hl_trace_kineto_number(self, HL_TRACE_KINETO_DUR));
    if (self->event.is_operator) {
        const haul_operands operands = hl_trace_kineto_operands(&self->event);
        if (operands.bytes && hl_workload_builder_grow(
                                  &self->builder->built, &self->operators, &self->operator_capacity,
                                  self->operator_count + 1, sizeof *self->operators)) {
            self->operators[self->operator_count++] = (hl_trace_kineto_span){
                .start_ns = hl_trace_kineto_number(self, HL_TRACE_KINETO_START),
                .dur_ns = hl_trace_kineto_number(self, HL_TRACE_KINETO_DUR),
                .thread = thread,
                .operands = hl_workload_builder_operands(&self->builder->built, &operands),
                .issued = HAUL_NONE,
            };
        }
    }
}

static int compare_spans(const void *a, const void *b)
{
    const hl_trace_kineto_span *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return hl_base_compare_signed(x->start_ns, y->start_ns);
}

/* The operator during which a thread made the call, or NULL: these are never within one another. */
static hl_trace_kineto_span *span_of(const hl_trace_kineto_reader *self,
                                     const hl_trace_host_call *call)
{
    const hl_trace_kineto_span sought = {.start_ns = call->start_ns, .thread = call->thread};
    const hl_base_sorted operators = {self->operators, self->operator_count, sizeof sought,
                                      compare_spans};
    const size_t before = hl_base_sorted_before(operators, &sought, true);
    hl_trace_kineto_span *const last = before ? &self->operators[before - 1] : NULL;
    /* times of a damaged file may be any: as unsigned numbers their difference is defined */
    const bool is_within =
        last && last->thread == call->thread && last->dur_ns >= 0 &&
        (uint64_t)call->start_ns - (uint64_t)last->start_ns <= (uint64_t)last->dur_ns;
    return is_within ? last : NULL;
}

static void set_operands(hl_trace_kineto_reader *self, uint32_t op, uint32_t operands)
{
    hl_workload_builder *const built = &self->builder->built;
    haul_shape shape = ((const haul_shape *)built->shapes.items)[built->ops[op].shape];
    shape.operands = operands;
    const uint32_t number = hl_workload_builder_shape(built, &shape);
    if (number != HAUL_NONE)
        built->ops[op].shape = number;
}

/* An operator that launches a kernel of one name twice has split its work, which halves tell
 * nothing of: neither is given its sizes. */
void hl_trace_kineto_join_operators(hl_trace_kineto_reader *self)
{
    const hl_workload_builder *const built = &self->builder->built;
    if (!self->operator_count || built->failed)
        return;
    qsort(self->operators, self->operator_count, sizeof *self->operators, compare_spans);
    for (size_t i = 0; i < self->call_count && !built->failed; i++) {
        const hl_trace_host_call call = hl_trace_kineto_call_at(self, i);
        hl_trace_kineto_span *const span = call.key ? span_of(self, &call) : NULL;
        const uint32_t op = span ? hl_trace_find_op(self->builder, call.key) : HAUL_NONE;
        if (op == HAUL_NONE || built->ops[op].kind != HAUL_OP_KERNEL ||
            built->ops[op].shape == HAUL_NONE)
            continue;
        if (span->issued != HAUL_NONE && built->ops[span->issued].name == built->ops[op].name) {
            set_operands(self, span->issued, 0);
            continue;
        }
        span->issued = op;
        set_operands(self, op, span->operands);
    }
}
