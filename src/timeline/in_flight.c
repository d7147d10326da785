#include "timeline/in_flight.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/intervals.h"

/* The called operations of a stream that have not ended, the oldest first. */
typedef struct queue {
    uint32_t oldest;
    uint32_t newest;
    uint32_t count;
} queue;

static void push(queue *self, uint32_t *next, uint32_t op)
{
    if (self->count++)
        next[self->newest] = op;
    else
        self->oldest = op;
    self->newest = op;
}

/* Takes out what had ended when the newest was called. */
static void drop_ended(queue *self, const haul_op *ops, const uint32_t *next)
{
    const int64_t called_ns = ops[self->newest].call_ns;
    while (self->count > 1 &&
           haul_end_of(ops[self->oldest].start_ns, ops[self->oldest].dur_ns) <= called_ns) {
        self->oldest = next[self->oldest];
        self->count--;
    }
}

haul_status haul_in_flight_most(const haul_workload *workload, uint32_t *most, haul_error *error)
{
    const size_t streams = workload->stream_count;
    queue *queues = calloc(streams + 1, sizeof *queues);
    uint32_t *next = calloc(workload->op_count + 1, sizeof *next);
    const bool ready = queues && next;
    uint32_t found = 0;
    for (uint32_t i = 0; ready && i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (op->kind > HAUL_OP_KERNEL || op->thread == HAUL_NONE)
            continue;
        queue *of = &queues[op->stream < streams ? op->stream : streams];
        push(of, next, i);
        drop_ended(of, workload->ops, next);
        found = of->count > found ? of->count : found;
    }
    free(next);
    free(queues);
    if (!ready)
        return haul_fail_no_memory(error);
    *most = found;
    return HAUL_OK;
}
