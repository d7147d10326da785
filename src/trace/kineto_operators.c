/* Operators of a Kineto trace: which one called for each operation; and, of those whose tensors'
 * sizes it tells (record_shapes=True), how many flops and bytes the kernels take that were launched
 * within them. */
#include <stdlib.h>

#include "base/intervals.h"
#include "base/order.h"
#include "trace/kineto.h"

/* The product, or 0 where a factor is not above 0 or it does not fit. */
static uint64_t times(uint64_t a, int64_t b)
{
    return b > 0 && a <= UINT64_MAX / (uint64_t)b ? a * (uint64_t)b : 0;
}

static uint64_t elements_of(const hl_trace_kineto_input *input)
{
    uint64_t elements = input->sizes.count <= HL_TRACE_KINETO_RANK && input->sizes.count > 0;
    for (int i = 0; i < input->sizes.count && elements; i++)
        elements = times(elements, input->sizes.items[i]);
    return elements;
}

/* The largest power of two up to 16, the bytes that one load takes at the most, that divides the
 * distance between two rows; 0 where there is none. */
static uint64_t divisor_of(uint64_t apart)
{
    uint64_t alignment = apart ? 16 : 0;
    while (alignment > 1 && apart % alignment)
        alignment /= 2;
    return alignment;
}

/* Elements lie side by side in one direction; in the other they are as far apart as its stride. */
static uint64_t alignment_of(const hl_trace_kineto_input *input)
{
    const int rank = input->strides.count;
    if (rank < 2 || rank > HL_TRACE_KINETO_RANK || !input->element_bytes)
        return 0;
    const int64_t a = input->strides.items[rank - 1], b = input->strides.items[rank - 2];
    return divisor_of(times((uint64_t)input->element_bytes, a == 1 ? b : a));
}

/* Two matrices, or two lists of as many; sizes that do not fit together make no product. */
static haul_operands product_of(const hl_trace_kineto_input *a, const hl_trace_kineto_input *b)
{
    const haul_operands none = {0};
    const int rank = a->sizes.count, bytes = a->element_bytes;
    const int64_t *const x = a->sizes.items, *const y = b->sizes.items;
    if ((rank != 2 && rank != 3) || b->sizes.count != rank || x[rank - 1] != y[rank - 2] ||
        (rank == 3 && x[0] != y[0]))
        return none;
    haul_operands made = {.batch = rank == 3 && x[0] > 0 ? (uint64_t)x[0] : rank == 2,
                          .rows = times(1, x[rank - 2]),
                          .columns = times(1, y[rank - 1]),
                          .inner = times(1, x[rank - 1])};
    const uint64_t of_a = times(elements_of(a), bytes), of_b = times(elements_of(b), bytes);
    const uint64_t result =
        times(times(times(made.batch, x[rank - 2]), y[rank - 1]), bytes ? bytes : 1);
    if (!of_a || !of_b || !result || of_a > UINT64_MAX / 4 || of_b > UINT64_MAX / 4 ||
        result > UINT64_MAX / 4)
        return none;
    made.bytes = of_a + of_b + result;
    const uint64_t of_rows[] = {alignment_of(a), alignment_of(b),
                                divisor_of(made.columns * (uint64_t)bytes)};
    made.alignment = of_rows[0];
    for (int i = 1; i < 3; i++)
        made.alignment = of_rows[i] < made.alignment ? of_rows[i] : made.alignment;
    return made;
}

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
    hl_trace_kineto_event *const event = &self->event;
    const hl_trace_kineto_operator *const is = event->is_operator;
    if (is) {
        const hl_trace_kineto_input *const first = &event->inputs[is->first];
        const haul_operands operands =
            is->is_product
                ? product_of(first, first + 1)
                : (haul_operands){
                      .bytes = times(times(elements_of(first), first->element_bytes), is->passes)};
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
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
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
