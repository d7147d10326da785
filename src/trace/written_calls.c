/* A workload has no correlation ids any more: they are made anew, in order of call, so that a file
 * that is written from one that was read gives the same workload. */
#include "trace/written_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/order.h"

/* Operations of one thread whose calls began and ended together had one call, but for those of
 * different names. A kernel's name is not its call's. */
static bool same_call(const haul_op *a, const haul_op *b)
{
    const bool differ =
        a->name != b->name && a->kind != HAUL_OP_KERNEL && b->kind != HAUL_OP_KERNEL;
    return a->thread == b->thread && a->call_ns == b->call_ns && a->call_dur_ns == b->call_dur_ns &&
           haul_op_on_device(a) && haul_op_on_device(b) && !differ;
}

/* When a wait began, or an operation was called for at the latest. */
static int64_t called_ns(const haul_op *op)
{
    return op->flags & HAUL_OP_HAS_CALL ? op->call_ns : op->start_ns;
}

/* A stream's wait holds up the operation behind it on its stream: the edge is that one's. Of
 * several waits before one operation each takes another edge; waits come in order of their calls,
 * so the nearest before the operation's own is looked for from behind. */
static void find_stream_wait(hl_trace_written_calls *self, const haul_workload *workload,
                             const haul_edge *edge)
{
    enum { LOOKED_AT = 1 << 16 };
    const haul_op *const after = &workload->ops[edge->after];
    for (uint32_t i = edge->after, looked = 0; i-- > 0 && looked < LOOKED_AT; looked++) {
        const haul_op *const op = &workload->ops[i];
        if (op->kind == HAUL_OP_SYNC && op->detail == HAUL_SYNC_STREAM_WAIT &&
            op->stream == after->stream && self->waited[i] == HAUL_NONE &&
            called_ns(op) <= called_ns(after)) {
            self->waited[i] = edge->before;
            return;
        }
    }
}

static void find_waited(hl_trace_written_calls *self, const haul_workload *workload)
{
    memset(self->waited, 0xff, (workload->op_count + 1) * sizeof *self->waited);
    for (size_t i = 0; i < workload->edge_count; i++) {
        const haul_edge *const edge = &workload->edges[i];
        if (workload->ops[edge->after].kind == HAUL_OP_SYNC)
            self->waited[edge->after] = edge->before;
        else if (haul_op_on_device(&workload->ops[edge->before]))
            find_stream_wait(self, workload, edge);
    }
}

haul_status hl_trace_written_calls_make(hl_trace_written_calls *self, const haul_workload *workload,
                                        haul_error *error)
{
    const size_t count = workload->op_count;
    const haul_op *const ops = workload->ops;
    uint32_t *const order = malloc((count + 1) * sizeof *order);
    *self = (hl_trace_written_calls){.ids = calloc(count + 1, sizeof *self->ids),
                                     .first = malloc((count + 1) * sizeof *self->first),
                                     .waited = malloc((count + 1) * sizeof *self->waited)};
    size_t calls = 0;
    for (uint32_t i = 0; order && i < count; i++)
        if (ops[i].flags & HAUL_OP_HAS_CALL)
            order[calls++] = i;
    const hl_base_keys starts = {
        .first = count ? &ops->call_ns : NULL, .stride = sizeof *ops, .flip = HL_KEYS_SIGNED};
    if (!order || !self->ids || !self->first || !self->waited ||
        (calls && !hl_base_order_sort(order, calls, &starts))) {
        free(order);
        hl_trace_written_calls_release(self);
        return hl_base_fail_no_memory(error);
    }
    for (size_t i = 0; i < calls; i++) {
        const bool shared = i && same_call(&ops[order[i - 1]], &ops[order[i]]);
        if (!shared)
            self->first[self->count++] = order[i];
        else if (ops[self->first[self->count - 1]].kind == HAUL_OP_KERNEL)
            self->first[self->count - 1] = order[i]; /* whose name may be the call's */
        self->ids[order[i]] = self->count;
    }
    find_waited(self, workload);
    free(order);
    return HAUL_OK;
}

void hl_trace_written_calls_release(hl_trace_written_calls *self)
{
    free(self->ids);
    free(self->first);
    free(self->waited);
    *self = (hl_trace_written_calls){0};
}

const char *hl_trace_written_call_name(const haul_workload *workload, const haul_op *op)
{
    return op->kind == HAUL_OP_KERNEL ? "cudaLaunchKernel"
                                      : haul_workload_string(workload, op->name);
}
