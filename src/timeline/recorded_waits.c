#include "timeline/recorded_waits.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/intervals.h"
#include "timeline/device_of.h"
#include "workload/op_class.h"

/* The operations of a stream that have not ended, the oldest first. */
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

/* Removes the operations that had ended when the newest was called. */
static void drop_ended(queue *self, const haul_op *ops, const uint32_t *next)
{
    const int64_t called_ns = ops[self->newest].call_ns;
    while (self->count > 1 &&
           haul_end_of(ops[self->oldest].start_ns, ops[self->oldest].dur_ns) <= called_ns) {
        self->oldest = next[self->oldest];
        self->count--;
    }
}

typedef struct walk {
    const haul_workload *workload;
    queue *queues;
    uint32_t *next;
} walk;

/* The queue of an operation's stream as its call found it, with itself the newest; NULL for an
 * operation of the host, or without a call. */
static queue *come_to(walk *self, uint32_t i)
{
    const haul_op *op = &self->workload->ops[i];
    const size_t streams = self->workload->stream_count;
    if (!haul_op_on_device(op))
        return NULL;
    queue *of = &self->queues[op->stream < streams ? op->stream : streams];
    push(of, self->next, i);
    if (op->thread == HAUL_NONE)
        return NULL;
    drop_ended(of, self->workload->ops, self->next);
    return of;
}

static void find_most(walk *self, haul_recorded_waits *found)
{
    for (uint32_t i = 0; i < self->workload->op_count; i++) {
        const queue *of = come_to(self, i);
        if (of && of->count > found->most)
            found->most = of->count;
    }
}

/* From the last end in its queue during a call to the call's return; the whole call where nothing
 * ended. */
static int64_t since_end_ns(const walk *self, const queue *of, const haul_op *called)
{
    const int64_t returned_ns = haul_end_of(called->call_ns, called->call_dur_ns);
    int64_t since_ns = called->call_dur_ns;
    for (uint32_t at = of->oldest; at != of->newest; at = self->next[at]) {
        const haul_op *op = &self->workload->ops[at];
        const int64_t end_ns = haul_end_of(op->start_ns, op->dur_ns);
        if (end_ns > returned_ns)
            break;
        if (end_ns > called->call_ns)
            since_ns = returned_ns - end_ns;
    }
    return since_ns;
}

/* The call of a pageable copy fills the driver's buffer, whatever the queue. */
static bool may_wait(const haul_op *op)
{
    return !(op->flags & HAUL_OP_BLOCKS) &&
           !(op->kind == HAUL_OP_COPY && op->detail == HAUL_PAGEABLE);
}

/* How many calls waited. */
static uint64_t find_waits(walk *self, uint32_t most, int64_t *call_durations_ns)
{
    const uint32_t full = most - most / 16;
    uint64_t waited = 0;
    for (uint32_t i = 0; i < self->workload->op_count; i++) {
        const haul_op *op = &self->workload->ops[i];
        const queue *of = come_to(self, i);
        call_durations_ns[i] = haul_call_dur_ns(op);
        if (!of || of->count < full || !may_wait(op))
            continue;
        call_durations_ns[i] = since_end_ns(self, of, op);
        waited += call_durations_ns[i] < op->call_dur_ns;
    }
    return waited;
}

static bool find(walk *self, haul_recorded_waits *found)
{
    find_most(self, found);
    if (found->most < HAUL_CUDA_QUEUE)
        return true;
    memset(self->queues, 0, (self->workload->stream_count + 1) * sizeof *self->queues);
    int64_t *calls_ns = malloc(self->workload->op_count * sizeof *calls_ns);
    if (!calls_ns)
        return false;
    if (find_waits(self, found->most, calls_ns))
        found->call_durations_ns = calls_ns;
    else
        free(calls_ns);
    return true;
}

haul_status haul_recorded_waits_find(const haul_workload *workload, haul_recorded_waits *found,
                                     haul_error *error)
{
    walk self = {
        .workload = workload,
        .queues = calloc(workload->stream_count + 1, sizeof *self.queues),
        .next = calloc(workload->op_count + 1, sizeof *self.next),
    };
    *found = (haul_recorded_waits){0};
    const bool done = self.queues && self.next && find(&self, found);
    free(self.next);
    free(self.queues);
    return done ? HAUL_OK : haul_fail_no_memory(error);
}

void haul_recorded_waits_release(haul_recorded_waits *self)
{
    free(self->call_durations_ns);
    free(self->delays);
    *self = (haul_recorded_waits){0};
}
