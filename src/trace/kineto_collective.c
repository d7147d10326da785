/* Collectives of older PyTorch (before 2.3): their kernels have no arguments, but the range that
 * the call was made in has: "nccl:all_to_all" with "Input Dims" and "Input type". */
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/intervals.h"
#include "trace/kineto.h"
#include "workload/collective_name.h"

static const char prefix[] = "nccl:";

/* The elements of the tensors that a range was given, by their dimensions; 0: not known. */
static uint64_t elements_of(const hl_trace_kineto_event *event)
{
    uint64_t sum = 0;
    for (int i = 0; i < HL_TRACE_KINETO_INPUTS; i++) {
        const hl_trace_kineto_list *sizes = &event->inputs[i].sizes;
        uint64_t product = sizes->count > 0;
        for (int k = 0; k < sizes->count; k++) {
            if (k == HL_TRACE_KINETO_RANK || sizes->items[k] < 0 ||
                (sizes->items[k] && product > (UINT64_C(1) << 53) / (uint64_t)sizes->items[k]))
                return 0;
            product *= (uint64_t)sizes->items[k];
        }
        sum += product;
    }
    return sum;
}

void hl_trace_kineto_keep_collective(hl_trace_kineto_reader *self, uint32_t thread)
{
    const hl_trace_kineto_event *event = &self->event;
    const hl_base_json_text name = hl_trace_kineto_text(event, HL_TRACE_KINETO_NAME);
    const hl_base_json_text type = hl_trace_kineto_text(event, HL_TRACE_KINETO_DATA_TYPE);
    const size_t skipped = sizeof prefix - 1;
    hl_workload_builder *const built = &self->builder->built;
    if (name.length <= skipped || memcmp(name.bytes, prefix, skipped) != 0 || !type.length ||
        !elements_of(event) ||
        !hl_workload_builder_grow(built, &self->collectives, &self->collective_capacity,
                                  self->collective_count + 1, sizeof *self->collectives))
        return;
    const int64_t start_ns = hl_trace_kineto_number(self, HL_TRACE_KINETO_START);
    self->collectives[self->collective_count++] = (hl_trace_kineto_collective){
        .start_ns = start_ns,
        .end_ns = hl_base_end_of(start_ns, hl_trace_kineto_number(self, HL_TRACE_KINETO_DUR)),
        .thread = thread,
        .name = hl_workload_builder_string(built, name.bytes + skipped, name.length - skipped),
        .data_type = hl_workload_builder_string(built, type.bytes, type.length),
        .elements = elements_of(event),
    };
}

static int by_start(const void *a, const void *b)
{
    const hl_trace_kineto_collective *x = a, *y = b;
    return hl_base_compare_signed(x->start_ns, y->start_ns);
}

/* The kernel that a call started, if it is a collective's without arguments. */
static haul_op *kernel_of(hl_trace_kineto_reader *self, const hl_trace_host_call *call)
{
    const uint32_t number = hl_trace_find_op(self->builder, call->key);
    haul_op *op = number == HAUL_NONE ? NULL : &self->builder->built.ops[number];
    if (!op || op->kind != HAUL_OP_KERNEL || op->shape == HAUL_NONE || op->name == HAUL_NONE)
        return NULL;
    const haul_shape *shapes = self->builder->built.shapes.items;
    return shapes[op->shape].collective ||
                   !hl_workload_is_collective_name(hl_trace_text_of(self->builder, op->name))
               ? NULL
               : op;
}

/* Both are in order of start, so that one walk finds the ranges. Ranges of one thread do not
 * overlap: a range is left when it has ended. */
void hl_trace_kineto_join_collectives(hl_trace_kineto_reader *self)
{
    hl_workload_builder *const built = &self->builder->built;
    if (!self->collective_count || built->failed)
        return;
    qsort(self->collectives, self->collective_count, sizeof *self->collectives, by_start);
    size_t begun = 0;
    for (size_t i = 0; i < self->call_count; i++) {
        const hl_trace_host_call call = hl_trace_kineto_call_at(self, i);
        while (begun < self->collective_count && self->collectives[begun].end_ns < call.start_ns)
            begun++;
        for (size_t c = begun; c < self->collective_count; c++) {
            const hl_trace_kineto_collective *in = &self->collectives[c];
            if (in->start_ns > call.start_ns)
                break;
            haul_op *op = in->thread == call.thread && call.start_ns <= in->end_ns && call.key
                              ? kernel_of(self, &call)
                              : NULL;
            if (!op)
                continue;
            haul_shape shape = ((const haul_shape *)built->shapes.items)[op->shape];
            const haul_collective collective = {.name = in->name,
                                                .data_type = in->data_type,
                                                .group = HAUL_NONE,
                                                .group_size = self->world_size,
                                                .elements_in = in->elements,
                                                .elements_out = in->elements};
            shape.collective = hl_workload_builder_collective(built, &collective);
            op->shape = hl_workload_builder_shape(built, &shape);
        }
    }
}
