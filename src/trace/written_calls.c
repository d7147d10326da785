/* A workload has no correlation ids any more: they are made anew, in order of call, so that a file
 * that is written from one that was read gives the same workload. */
#include "trace/written_calls.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/order.h"

/* Operations of one thread whose calls began and ended together had one call. */
static bool same_call(const haul_op *a, const haul_op *b)
{
    return a->thread == b->thread && a->call_ns == b->call_ns && a->call_dur_ns == b->call_dur_ns &&
           haul_op_on_device(a) && haul_op_on_device(b);
}

haul_status haul_written_calls_make(haul_written_calls *self, const haul_workload *workload,
                                    haul_error *error)
{
    const size_t count = workload->op_count;
    const haul_op *const ops = workload->ops;
    uint32_t *const order = malloc((count + 1) * sizeof *order);
    *self = (haul_written_calls){.ids = calloc(count + 1, sizeof *self->ids),
                                 .first = malloc((count + 1) * sizeof *self->first)};
    size_t calls = 0;
    for (uint32_t i = 0; order && i < count; i++)
        if (ops[i].flags & HAUL_OP_HAS_CALL)
            order[calls++] = i;
    const haul_keys starts = {
        .first = count ? &ops->call_ns : NULL, .stride = sizeof *ops, .flip = HAUL_KEYS_SIGNED};
    if (!order || !self->ids || !self->first ||
        (calls && !haul_order_sort(order, calls, &starts))) {
        free(order);
        haul_written_calls_release(self);
        return haul_fail_no_memory(error);
    }
    for (size_t i = 0; i < calls; i++) {
        const bool shared = i && same_call(&ops[order[i - 1]], &ops[order[i]]);
        if (!shared)
            self->first[self->count++] = order[i];
        self->ids[order[i]] = self->count;
    }
    free(order);
    return HAUL_OK;
}

void haul_written_calls_release(haul_written_calls *self)
{
    free(self->ids);
    free(self->first);
    *self = (haul_written_calls){0};
}

const char *haul_written_call_name(const haul_workload *workload, const haul_op *op)
{
    return op->kind == HAUL_OP_KERNEL ? "cudaLaunchKernel"
                                      : haul_workload_string(workload, op->name);
}
